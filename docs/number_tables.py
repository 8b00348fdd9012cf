"""Directives and marks for tables of numbers: foldable blocks, the best of a row in bold, significant digits.

Classes of a table: ``best-max`` and ``best-min`` set the best number of each row in bold, ``significant`` shows numbers
with three significant digits. Columns headed *paper* are not compared.
"""

from __future__ import annotations

import html
import math
import re
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive

NUMBER = re.compile(r"[-−+]?\d*\.?\d+")


class Details(Directive):
    """A block that is folded until its title is clicked."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Parse the content and put it between the two tags."""
        start = f"<details><summary>{html.escape(self.arguments[0])}</summary>"
        block = nodes.container(classes=["folded"])
        self.state.nested_parse(self.content, self.content_offset, block)
        return [nodes.raw("", start, format="html"), block, nodes.raw("", "</details>", format="html")]


def _value(entry: nodes.Element) -> float | None:
    found = NUMBER.match(entry.astext().strip())
    return float(found[0].replace("−", "-")) if found else None


def _significant(text: str) -> str:
    value = float(text)
    digits = 4 if value == 0 else min(4, max(0, 2 - math.floor(math.log10(abs(value)))))
    return f"{value:,.{digits}f}" if value else "0"


def mark(app: Any, doctree: nodes.document) -> None:
    """Format the numbers of the tables of a page as their classes say."""
    for table in doctree.findall(nodes.table):
        classes = table["classes"]
        head = next(table.findall(nodes.thead), None)
        if head is None or not {"best-max", "best-min", "significant"} & set(classes):
            continue
        names = [entry.astext() for entry in head.findall(nodes.entry)]
        compared = [j for j in range(1, len(names)) if names[j] != "paper"]
        for row in next(table.findall(nodes.tbody)).findall(nodes.row):
            entries = list(row.findall(nodes.entry))
            values = {j: _value(entries[j]) for j in compared}
            known = [value for value in values.values() if value is not None]
            best = max(known) if "best-max" in classes else min(known)
            for j, value in values.items():
                text = next(entries[j].findall(nodes.Text), None)
                if value is None or text is None:
                    continue
                words = _significant(text) if "significant" in classes else str(text)
                bold = value == best and bool({"best-max", "best-min"} & set(classes))
                text.parent.replace(text, nodes.strong("", words) if bold else nodes.Text(words))


def setup(app: Any) -> dict[str, bool]:
    """Register the directive and the marks."""
    app.add_directive("details", Details)
    app.connect("doctree-read", mark)
    return {"parallel_read_safe": True}
