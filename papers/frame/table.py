"""A table as a paper prints it: mean and spread over runs, with the printed numbers beside ours."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from labelrank.cli.table import TextReport, TextTable

FloatArray = npt.NDArray[np.float64]

FORMATS = ("table", "csv", "markdown", "rst")


@dataclass(frozen=True)
class Table:
    """Numbers of several runs in rows and columns.

    Parameters
    ----------
    title : str
        What the table shows.
    stub : str
        What the rows are.
    rows, columns : sequence of str
        Names.
    values : array-like of shape (n_rows, n_columns) or (n_rows, n_columns, n_runs)
        Numbers; NaN where there is none.
    printed : sequence of sequences of str, optional
        What the paper prints, in its own digits; ``""`` where it prints nothing.
    digits : int or sequence of int, default=3
        Digits after the decimal point, for all columns or for each.
    best : sequence of str or str, optional
        Which mean of a column is marked, ``"smallest"``, ``"largest"`` or ``""``; for all columns or for each.
    spread : bool, default=True
        Whether the standard deviation of the runs (with n - 1) follows the mean.

    Examples
    --------
    >>> from papers.frame import Report, Table
    >>> table = Table("errors", "trained with", ["a", "b"], ["0-1"], [[[0.5, 0.7]], [[0.3, 0.3]]], [["0.63"], ["0.59"]])
    >>> print(Report([], [table]).render("markdown"))
    **errors**
    <BLANKLINE>
    | trained with | 0-1 | paper |
    |---|---:|---:|
    | a | 0.600 ± 0.141 | 0.63 |
    | b | 0.300 ± 0.000 | 0.59 |
    """

    title: str
    stub: str
    rows: Sequence[str]
    columns: Sequence[str]
    values: Any
    printed: Sequence[Sequence[str]] | None = None
    digits: int | Sequence[int] = 3
    best: str | Sequence[str] = ""
    spread: bool = True

    def __post_init__(self) -> None:
        values = np.asarray(self.values, dtype=np.float64)
        values = values[:, :, np.newaxis] if values.ndim == 2 else values
        if values.ndim != 3 or values.shape[:2] != (len(self.rows), len(self.columns)):
            expected = f"({len(self.rows)}, {len(self.columns)}, n_runs)"
            raise ValueError(f"values has shape {values.shape}, expected {expected}")
        object.__setattr__(self, "values", values)

    def count(self) -> npt.NDArray[np.intp]:
        """Return the number of runs of each entry."""
        return np.asarray((~np.isnan(self.values)).sum(axis=2))

    def mean(self) -> FloatArray:
        """Return the means over the runs, NaN where there is no run."""
        n = self.count()
        return np.divide(np.nansum(self.values, axis=2), n, out=np.full(n.shape, np.nan), where=n > 0)

    def std(self) -> FloatArray:
        """Return the standard deviations of the runs, NaN where there are fewer than two."""
        n = self.count()
        squares = np.nansum((self.values - self.mean()[:, :, None]) ** 2, axis=2)
        return np.sqrt(np.divide(squares, n - 1, out=np.full(n.shape, np.nan), where=n > 1))

    def is_best(self) -> npt.NDArray[np.bool_]:
        """Return which means are the best of their column."""
        best = np.array([self.best] * len(self.columns) if isinstance(self.best, str) else list(self.best))
        mean = self.mean()
        signed = np.where(np.isnan(mean), np.inf, np.where(best == "largest", -mean, mean))
        nearest = np.isclose(signed, signed.min(axis=0), rtol=1e-9, atol=1e-12)
        return np.asarray(nearest & ~np.isnan(mean) & (best != ""))

    def texts(self) -> TextTable:
        """Return the table as texts; each column that the paper prints is followed by what it prints."""
        mean, std, best = self.mean(), self.std(), self.is_best()
        digits = [self.digits] * len(self.columns) if isinstance(self.digits, int) else list(self.digits)
        header, rows, marks = [self.stub], [[row] for row in self.rows], [[False] for _ in self.rows]
        for j, column in enumerate(self.columns):
            printed = [row[j] for row in self.printed] if self.printed is not None else []
            header += [column, "paper"] if any(printed) else [column]
            for i in range(len(rows)):
                rows[i].append(_number(mean[i, j], std[i, j] if self.spread else np.nan, digits[j]))
                marks[i].append(bool(best[i, j]))
                if any(printed):
                    rows[i].append(f"0{printed[i]}" if printed[i].startswith(".") else printed[i] or "–")
                    marks[i].append(False)
        return TextTable(self.title, header, rows, marks)


def _number(mean: float, std: float, digits: int) -> str:
    if np.isnan(mean):
        return "–"
    return f"{mean:.{digits}f}" if np.isnan(std) else f"{mean:.{digits}f} ± {std:.{digits}f}"


@dataclass(frozen=True)
class Report:
    """What an experiment returns: how it was run, its tables, and what they show."""

    protocol: Sequence[str]
    tables: Sequence[Table]
    findings: Sequence[str] = ()

    def render(self, how: str = "table") -> str:
        """Return the report as ``"table"`` (plain text), ``"csv"``, ``"markdown"`` or ``"rst"``."""
        return self._csv() if how == "csv" else self._texts().render(how)

    def print(self, how: str = "table") -> None:
        """Print to standard output, with colors on a terminal."""
        if how == "csv":
            print(self._csv())
        else:
            self._texts().print(how)

    def _texts(self) -> TextReport:
        return TextReport(self.protocol, [table.texts() for table in self.tables], self.findings)

    def _csv(self) -> str:
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(["table", "row", "column", "mean", "std", "runs", "printed"])
        for table in self.tables:
            mean, std, count = table.mean(), table.std(), table.count()
            for i, row in enumerate(table.rows):
                for j, column in enumerate(table.columns):
                    numbers = ["" if np.isnan(x) else repr(float(x)) for x in (mean[i, j], std[i, j])]
                    printed = table.printed[i][j] if table.printed is not None else ""
                    writer.writerow([table.title, row, column, *numbers, int(count[i, j]), printed])
        return buffer.getvalue().rstrip("\n")
