"""Tables as text for a terminal, as Markdown and as reStructuredText."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table as RichTable
from rich.text import Text

from labelrank.cli.streams import printable

_ASCII = str.maketrans({"×": "x", "±": "+-", "↓": "-", "–": "-", "−": "-", "µ": "u", "≈": "~"})
_NO_LIMIT = 10_000  # width for pipes, for which rich would assume 80 columns


@dataclass(frozen=True)
class TextTable:
    """Table of texts, in which the best cells are marked.

    Parameters
    ----------
    title : str
        Printed above the table unless empty.
    header : sequence of str
        Names of the columns; the first column names the rows.
    rows : sequence of sequences of str
        Texts of the cells.
    best : sequence of sequences of bool
        Which cells are marked.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    best: Sequence[Sequence[bool]]

    def bold(self) -> list[list[str]]:
        """Return the rows with the marked cells in bold, for Markdown and reStructuredText."""
        return [
            [f"**{text}**" if marked else text for text, marked in zip(row, marks, strict=True)]
            for row, marks in zip(self.rows, self.best, strict=True)
        ]


@dataclass(frozen=True)
class TextReport:
    """Report with lines about the protocol, tables, and lines of findings.

    Examples
    --------
    >>> from labelrank.cli.table import TextReport, TextTable
    >>> table = TextTable("errors", ["trained", "0-1"], [["a", "0.5"], ["b", "0.3"]], [[False, False], [False, True]])
    >>> print(TextReport(["5-fold cross-validation"], [table], ["b is best"]).render("markdown"))
    5-fold cross-validation
    <BLANKLINE>
    **errors**
    <BLANKLINE>
    | trained | 0-1 |
    |---|---:|
    | a | 0.5 |
    | b | **0.3** |
    <BLANKLINE>
    - b is best
    """

    protocol: Sequence[str]
    tables: Sequence[TextTable]
    findings: Sequence[str] = ()
    footnote: str = ""

    def render(self, how: str = "table") -> str:
        """Return the report as ``"table"`` (plain text), ``"markdown"`` or ``"rst"``."""
        if how == "markdown":
            return self._join("\n".join(f"{line}  " for line in self.protocol).rstrip(), _markdown)
        if how == "rst":
            lines = [f"| {line}" for line in self.protocol] if len(self.protocol) > 1 else self.protocol
            return self._join("\n".join(lines), _rst)
        buffer = io.StringIO()
        self._draw(Console(file=buffer, width=_NO_LIMIT, color_system=None))
        return buffer.getvalue().rstrip("\n")

    def print(self, how: str = "table") -> None:
        """Print to standard output, with colors on a terminal."""
        if how != "table":
            text, encoding = self.render(how), sys.stdout.encoding or "utf-8"
            print(text if encoding.lower().startswith("utf") else text.translate(_ASCII))
        else:
            self._draw(Console() if sys.stdout.isatty() else Console(width=_NO_LIMIT, color_system=None))

    def _join(self, protocol: str, form: Any) -> str:
        findings = "\n".join(f"- {line}" for line in self.findings)
        return "\n\n".join(part for part in (protocol, *map(form, self.tables), findings, self.footnote) if part)

    def _draw(self, console: Console) -> None:
        def plain(text: str) -> str:
            text = printable(text)
            return text.translate(_ASCII) if console.options.ascii_only else text

        for line in self.protocol:
            console.print(Text(plain(line), style="dim"))
        for table in self.tables:
            drawn = RichTable(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
            for i, name in enumerate(table.header):
                texts = [row[i] for row in table.rows]
                # On a narrow terminal only cells such as "* 0.395 ± 0.018" may wrap.
                breaks = any("±" in text for text in texts)
                width = max(8, *map(len, name.split())) if breaks else max(map(len, [name, *texts]))
                side: Any = "right" if i else "left"
                drawn.add_column(plain(name), justify=side, no_wrap=not breaks, min_width=width)
            for row, marks in zip(table.rows, table.best, strict=True):
                stars = ["* " if mark and i else "" for i, mark in enumerate(marks)]
                styles = ["bold green" if mark else "" for mark in marks]
                drawn.add_row(*map(Text, [star + plain(text) for star, text in zip(stars, row, strict=True)], styles))
            # On still narrower terminals, wrapped lines are better than truncated cells.
            unlimited = console.options.update(width=_NO_LIMIT)
            console.width = max(console.width, Measurement.get(console, unlimited, drawn).minimum)
            console.print()
            if table.title:
                console.print(Text(plain(table.title), style="bold"))
            console.print(drawn)
        if self.findings or self.footnote:
            console.print()
        for line in self.findings:
            console.print(Text(plain(f"- {line}")), soft_wrap=True)
        if self.footnote:
            console.print(Text(plain(self.footnote), style="dim"))


def _markdown(table: TextTable) -> str:
    lines = [f"**{table.title}**", ""] if table.title else []
    lines += ["| " + " | ".join(table.header) + " |", "|---|" + "---:|" * (len(table.header) - 1)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in table.bold())])


def _rst(table: TextTable) -> str:
    lines = [f".. list-table:: {table.title}", "   :header-rows: 1", ""]
    for row in [table.header, *table.bold()]:
        lines += [f"   {' ' if i else '*'} - {text}" for i, text in enumerate(row)]
    return "\n".join(lines)
