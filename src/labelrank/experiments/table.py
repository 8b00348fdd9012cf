"""A table as a paper prints it: mean and spread over the folds, our numbers beside the printed ones."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
Grid = tuple[list[str], list[list[tuple[str, bool]]]]

FORMATS = ("table", "csv", "markdown", "rst")
_ASCII = str.maketrans({"×": "x", "±": "+-", "–": "-", "−": "-"})


@dataclass(frozen=True)
class Table:
    """Numbers of several runs in rows and columns.

    Parameters
    ----------
    title : str
        What it shows.
    stub : str
        What the rows are.
    rows, columns : sequence of str
        Names.
    values : array-like of shape (n_rows, n_columns, n_runs)
        One number per fold; NaN where there is none.
    printed : sequence of sequences of str, optional
        What the paper prints, in its own digits, ``""`` where it prints nothing.
    digits : int or sequence of int, default=3
        Digits after the point, for all columns or for each.
    best : {"smallest", "largest", None}, default="smallest"
        Which mean of a column is marked.
    spread : bool, default=True
        Whether the standard deviation (of a sample: n - 1) follows the mean.

    Examples
    --------
    >>> from labelrank.experiments import Table
    >>> table = Table("errors", "trained with", ["a", "b"], ["0-1"], [[[0.5, 0.7]], [[0.3, 0.3]]], [["0.63"], ["0.59"]])
    >>> print(table.render("markdown"))
    **errors**
    <BLANKLINE>
    | trained with | 0-1 | paper |
    |---|---:|---:|
    | a | 0.600 ± 0.141 | 0.63 |
    | b | **0.300 ± 0.000** | 0.59 |
    """

    title: str
    stub: str
    rows: Sequence[str]
    columns: Sequence[str]
    values: Any
    printed: Sequence[Sequence[str]] | None = None
    digits: int | Sequence[int] = 3
    best: str | None = "smallest"
    spread: bool = True

    def __post_init__(self) -> None:
        values = np.asarray(self.values, dtype=np.float64)
        if values.ndim != 3 or values.shape[:2] != (len(self.rows), len(self.columns)):
            expected = f"({len(self.rows)}, {len(self.columns)}, n_runs)"
            raise ValueError(f"values has shape {values.shape}, expected {expected}")
        object.__setattr__(self, "values", values)

    def mean(self) -> FloatArray:
        """Means over the runs, NaN where there is none."""
        n = self._count()
        return np.divide(np.nansum(self.values, axis=2), n, out=np.full(n.shape, np.nan), where=n > 0)

    def std(self) -> FloatArray:
        """Standard deviations of a sample; NaN where there are fewer than two runs."""
        n = self._count()
        squares = np.nansum((self.values - self.mean()[:, :, None]) ** 2, axis=2)
        return np.sqrt(np.divide(squares, n - 1, out=np.full(n.shape, np.nan), where=n > 1))

    def is_best(self) -> npt.NDArray[np.bool_]:
        """Which means are the best of their column."""
        mean = self.mean()
        if self.best is None:
            return np.zeros(mean.shape, dtype=bool)
        signed = np.where(np.isnan(mean), np.inf, mean if self.best == "smallest" else -mean)
        return np.asarray(np.isclose(signed, signed.min(axis=0), rtol=1e-9, atol=1e-12) & ~np.isnan(mean))

    def render(self, how: str = "table") -> str:
        """The table as text: ``"table"``, ``"csv"``, ``"markdown"`` or ``"rst"``."""
        return Report([], [self]).render(how)

    def _count(self) -> npt.NDArray[np.intp]:
        return np.asarray((~np.isnan(self.values)).sum(axis=2))

    def _grid(self) -> Grid:
        """Header and rows of (text, whether it is the best); a column of printed numbers follows each that has any."""
        mean, std, best = self.mean(), self.std(), self.is_best()
        digits = [self.digits] * len(self.columns) if isinstance(self.digits, int) else list(self.digits)
        header = [self.stub]
        body: list[list[tuple[str, bool]]] = [[(row, False)] for row in self.rows]
        for j, column in enumerate(self.columns):
            header.append(column)
            for i, line in enumerate(body):
                line.append((_number(mean[i, j], std[i, j] if self.spread else np.nan, digits[j]), bool(best[i, j])))
            if self.printed is not None and any(row[j] for row in self.printed):
                header.append("paper")
                for line, row in zip(body, self.printed, strict=True):
                    line.append((row[j] or "–", False))
        return header, body


def _number(mean: float, std: float, digits: int) -> str:
    if np.isnan(mean):
        return "–"
    return f"{mean:.{digits}f}" if np.isnan(std) else f"{mean:.{digits}f} ± {std:.{digits}f}"


@dataclass(frozen=True)
class Report:
    """What an experiment gives: how it was run, its tables, and what they say.

    Examples
    --------
    >>> from labelrank.experiments import Report, Table
    >>> table = Table("errors", "trained with", ["a"], ["0-1"], [[[0.5]]])
    >>> print(Report(["5-fold cross-validation"], [table], ["a is best"]).render("rst"))
    5-fold cross-validation
    <BLANKLINE>
    .. list-table:: errors
       :header-rows: 1
    <BLANKLINE>
       * - trained with
         - 0-1
       * - a
         - **0.500**
    <BLANKLINE>
    - a is best
    """

    protocol: Sequence[str]
    tables: Sequence[Table]
    findings: Sequence[str] = field(default=())

    def render(self, how: str = "table") -> str:
        """The report as text: ``"table"``, ``"csv"``, ``"markdown"`` or ``"rst"``."""
        forms: dict[str, Callable[[], str]] = {
            "table": self._text,
            "csv": self._csv,
            "markdown": self._markdown,
            "rst": self._rst,
        }
        if how not in forms:
            raise ValueError(f"there is no format {how!r}; known: {', '.join(forms)}")
        return forms[how]()

    def print(self, how: str = "table") -> None:
        """Print to standard output, with colours on a terminal."""
        if how != "table":
            print(self.render(how))
            return
        from rich.console import Console

        console = Console() if sys.stdout.isatty() else Console(width=10_000, color_system=None)
        self._print_to(console)

    def _text(self) -> str:
        from rich.console import Console

        buffer = io.StringIO()
        self._print_to(Console(file=buffer, width=10_000, color_system=None))
        return buffer.getvalue().rstrip("\n")

    def _print_to(self, console: Any) -> None:
        from rich import box
        from rich.measure import Measurement
        from rich.table import Table as RichTable
        from rich.text import Text

        def plain(text: str) -> str:
            return text.translate(_ASCII) if console.options.ascii_only else text

        for line in self.protocol:
            console.print(Text(plain(line), style="dim"))
        for table in self.tables:
            header, rows = table._grid()
            drawn = RichTable(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
            for i, name in enumerate(header):
                drawn.add_column(plain(name), justify="right" if i else "left", no_wrap=True)
            for row in rows:
                marked = [("* " if best else "") + text for text, best in row]
                styles = ["bold green" if best else "" for _, best in row]
                drawn.add_row(*(Text(plain(t), style=style) for t, style in zip(marked, styles, strict=True)))
            wide = console.options.update(width=10_000)
            # Lines that the terminal breaks are better than a table with holes.
            console.width = max(console.width, Measurement.get(console, wide, drawn).minimum)
            console.print()
            console.print(Text(plain(table.title), style="bold"))
            console.print(drawn)
        if self.findings:
            console.print()
        for line in self.findings:
            console.print(Text(plain(f"- {line}")), soft_wrap=True)

    def _markdown(self) -> str:
        parts = ["\n".join(f"{line}  " for line in self.protocol).rstrip()] if self.protocol else []
        for table in self.tables:
            header, rows = table._grid()
            lines = [f"**{table.title}**", "", "| " + " | ".join(header) + " |", "|---|" + "---:|" * (len(header) - 1)]
            lines += ["| " + " | ".join(f"**{text}**" if best else text for text, best in row) + " |" for row in rows]
            parts.append("\n".join(lines))
        if self.findings:
            parts.append("\n".join(f"- {line}" for line in self.findings))
        return "\n\n".join(parts)

    def _rst(self) -> str:
        parts = ["\n".join(f"| {line}" for line in self.protocol)] if len(self.protocol) > 1 else list(self.protocol)
        for table in self.tables:
            header, rows = table._grid()
            lines = [f".. list-table:: {table.title}", "   :header-rows: 1", ""]
            for row in [[(name, False) for name in header], *rows]:
                texts = [f"**{text}**" if best else text for text, best in row]
                lines += [f"   {'*' if i == 0 else ' '} - {text}" for i, text in enumerate(texts)]
            parts.append("\n".join(lines))
        if self.findings:
            parts.append("\n".join(f"- {line}" for line in self.findings))
        return "\n\n".join(parts)

    def _csv(self) -> str:
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(["table", "row", "column", "mean", "std", "runs", "printed"])
        for table in self.tables:
            mean, std, count = table.mean(), table.std(), table._count()
            for i, row in enumerate(table.rows):
                for j, column in enumerate(table.columns):
                    numbers = ["" if np.isnan(x) else repr(float(x)) for x in (mean[i, j], std[i, j])]
                    printed = table.printed[i][j] if table.printed is not None else ""
                    writer.writerow([table.title, row, column, *numbers, int(count[i, j]), printed])
        return buffer.getvalue().rstrip("\n")
