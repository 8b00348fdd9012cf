"""Parts of a report: sections, tables, figures, and formatted numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

_FILTERED = 8  # tables with more rows can be filtered
_LONGEST = 200  # largest number of characters of a text from the data


class Bar(NamedTuple):
    """Positions in percent of the width of a cell: both ends of a bar, and of its error."""

    start: float
    end: float
    low: float | None = None
    high: float | None = None
    negative: bool = False


class Cell(NamedTuple):
    """Text of a cell, and the key for sorting, by default the text."""

    text: str
    sort: float | str | None = None
    bar: Bar | None = None


@dataclass(frozen=True)
class Table:
    """Rows that can be sorted by every column and, if there are many, filtered."""

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    kind: str = field(default="table", init=False)

    @property
    def filtered(self) -> bool:
        """Whether there are enough rows for a filter."""
        return len(self.rows) > _FILTERED

    @property
    def numeric(self) -> list[bool]:
        """Whether each column is numeric, and therefore aligned right and first sorted in descending order."""
        if not self.rows:
            return [False] * len(self.columns)
        return [
            any(isinstance(cell.sort, float) for cell in column)
            and all(isinstance(cell.sort, float) or cell.text == DASH for cell in column)
            for column in zip(*self.rows, strict=True)
        ]


@dataclass(frozen=True)
class Figure:
    """An SVG figure with a text alternative."""

    svg: Any
    alt: str
    caption: str
    inverted: bool = False  # colors stay as drawn and are inverted in dark mode
    kind: str = field(default="figure", init=False)


@dataclass(frozen=True)
class Cards:
    """Key figures: name, value, error, and a value to compare with."""

    cards: Sequence[tuple[str, str, str, str]]
    kind: str = field(default="cards", init=False)


@dataclass(frozen=True)
class Case:
    """One instance with its explanation."""

    title: str
    facts: Sequence[tuple[str, str]]
    table: Table | None
    reason: str
    kind: str = field(default="case", init=False)


@dataclass(frozen=True)
class Code:
    """Text of a program or an estimator, folded."""

    title: str
    text: str
    kind: str = field(default="code", init=False)


@dataclass(frozen=True)
class Section:
    """A part of a report.

    Attributes
    ----------
    key : str
        Anchor.
    title : str
        Heading.
    lead : str
        What the section shows and on how many rows; for an empty section, why there is nothing.
    blocks : sequence
        Tables, figures and so on.
    finding : str
        Its result in a sentence for the beginning of the report.
    """

    key: str
    title: str
    lead: str
    blocks: Sequence[Any] = ()
    finding: str = ""


DASH = "–"
_SPACE = "\N{NO-BREAK SPACE}"


def number(value: float, digits: int = 3) -> str:
    """A number with some digits behind the point; a dash for NaN.

    Examples
    --------
    >>> from labelrank.report.parts import number
    >>> number(-0.1234), number(float("nan"))
    ('−0.123', '–')
    """
    if not math.isfinite(value):
        return DASH
    text = f"{value:.{digits}f}"
    return text.replace("-", "−") if float(text) else text.removeprefix("-")


def plus_minus(error: float, text: Callable[[float], str] = number) -> str:
    """Format the error of a number, without line breaks; empty if it is unknown."""
    return f"±{_SPACE}{text(error)}" if math.isfinite(error) else ""


def count(value: float) -> str:
    """Format an integer with commas."""
    return f"{value:,.0f}"


def share(value: float) -> str:
    """Format a share in percent, without line breaks; a dash for NaN.

    Examples
    --------
    >>> from labelrank.report.parts import share
    >>> [text.replace("\N{NO-BREAK SPACE}", " ") for text in map(share, (0.5, 0.0004, 0.99996, 1.0))]
    ['50.0 %', '< 0.1 %', '> 99.9 %', '100 %']
    """
    if not math.isfinite(value):
        return DASH
    if value in (0.0, 1.0):
        return f"{100 * value:.0f}{_SPACE}%"
    text = "< 0.1" if 0 < value < 0.0005 else "> 99.9" if 0.9995 < value < 1 else f"{100 * value:.1f}"
    return text.replace(" ", _SPACE).replace("-", "−") + f"{_SPACE}%"


def compact(value: Any) -> str:
    """Format a value from the data: numbers with four digits, anything else as truncated text."""
    if isinstance(value, float):
        return f"{value:.4g}"
    text = " ".join(str(value).split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def number_cell(value: float, digits: int = 3, bar: Bar | None = None) -> Cell:
    """Cell of a number."""
    return Cell(number(value, digits), float(value) if math.isfinite(value) else None, bar)


def count_cell(value: float) -> Cell:
    """Cell of a whole number."""
    return Cell(count(value), float(value))


def share_cell(value: float, *, bar: bool = False) -> Cell:
    """Cell of a share, with a bar if asked for."""
    known = math.isfinite(value)
    drawn = Bar(0.0, 100 * value) if bar and known else None
    return Cell(share(value), float(value) if known else None, drawn)


def bars(values: Sequence[float], errors: Sequence[float]) -> list[Bar | None]:
    """Bars from 0 for values with errors, all on one scale; None for NaN."""
    pairs = [(v, e if math.isfinite(e) else 0.0) for v, e in zip(values, errors, strict=True)]
    known = [(v, e) for v, e in pairs if math.isfinite(v)]
    low = min([0.0, *(v - e for v, e in known)])
    width = (max([0.0, *(v + e for v, e in known)]) - low) or 1.0

    def place(value: float) -> float:
        return round(100 * (value - low) / width, 2)

    return [
        Bar(place(min(v, 0.0)), place(max(v, 0.0)), place(v - e) if e else None, place(v + e) if e else None, v < 0)
        if math.isfinite(v)
        else None
        for v, e in pairs
    ]
