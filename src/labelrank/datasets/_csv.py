"""CSV files as columns of text, with the line of every record."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from labelrank.datasets._files import PathLike, excerpt, malformed, read_lines

Texts = list[str | None]


@dataclass(frozen=True)
class TextTable:
    """A CSV file: its columns by name, None where a value is missing, and the line on which each record starts."""

    path: PathLike
    columns: dict[str, Texts]
    lines: list[int]

    def numbers(self, name: str, *, finite: str = "") -> npt.NDArray[np.float64]:
        """A column of numbers, NaN where a value is missing; `finite` describes one that must not be infinite."""
        texts = self.columns[name]
        values = [_number(text) for text in texts]
        if None in values:
            record = values.index(None)
            raise malformed(self.path, self.lines[record], f"a number in the column {name!r}", repr(texts[record]))
        array = np.array(values, dtype=np.float64)
        if finite and np.isinf(array).any():
            record = int(np.argmax(np.isinf(array)))
            raise malformed(self.path, self.lines[record], f"{finite} {name!r}", str(array[record]))
        return array

    def numbers_or_texts(self, name: str, *, mixed: bool) -> npt.NDArray[np.float64] | Texts:
        """A column of numbers if all its texts are numbers, else of texts; `mixed` allows both in one column."""
        texts = self.columns[name]
        values = [_number(text) for text in texts]
        if None not in values:
            return np.array(values, dtype=np.float64)
        n_known, n_texts = len(texts) - texts.count(None), values.count(None)
        if n_texts < n_known and not mixed:
            record = values.index(None)
            raise malformed(
                self.path,
                self.lines[record],
                f"a number in the column {name!r}, as in {n_known - n_texts} of its {n_known} values",
                f'{texts[record]!r}; pass it in null_values if it means a missing value, or pass nominal="keep"',
            )
        return texts


def _number(text: str | None) -> float | None:
    """Parse a number: NaN if the text is a missing value, None if it is not a number."""
    if text is None:
        return math.nan
    try:
        return float(text) if "_" not in text else None
    except ValueError:
        return None


def read_text_table(
    path: PathLike, *, separator: str = ",", null_values: Sequence[str] = (), encoding: str = "utf-8"
) -> TextTable:
    """Read a CSV file; texts are stripped of blanks, and missing if they are empty or one of `null_values`."""
    records = _records(path, separator, encoding)
    line, header = next(records, (1, []))
    header = [name.strip() for name in header]
    _check_header(path, line, header, separator)
    nulls = {"", *null_values}
    columns: list[Texts] = [[] for _ in header]
    lines = []
    for line, values in records:
        if len(values) != len(header):
            raise malformed(path, line, f"{len(header)} values, as in the header", f"{len(values)}")
        lines.append(line)
        for column, value in zip(columns, values, strict=True):
            text = value.strip()
            column.append(None if text in nulls else text)
    return TextTable(path, dict(zip(header, columns, strict=True)), lines)


def _records(path: PathLike, separator: str, encoding: str) -> Iterator[tuple[int, list[str]]]:
    """(number of its first line, values) of every record; blank lines are skipped."""
    lines = (line + "\n" for _, line in read_lines(path, encoding))
    reader = csv.reader(lines, delimiter=separator, strict=True)
    while True:
        start = reader.line_num + 1
        try:
            values = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise malformed(path, start, f"values separated by {separator!r}", f"a broken record ({error})") from error
        if values:
            yield start, values


def _check_header(path: PathLike, line: int, header: list[str], separator: str) -> None:
    if not header:
        raise malformed(path, 1, "a header that names the columns", "an empty file")
    other = next((mark for mark in ";\t," if mark != separator and mark in header[0]), None)
    if len(header) == 1 and other is not None:
        found = f"{excerpt(header[0])}; pass separator={other!r}"
        raise malformed(path, line, f"the names of columns, separated by {separator!r}", found)
    repeated = [name for i, name in enumerate(header) if name in header[:i]]
    if repeated:
        raise malformed(path, line, "a header with different names", f"the name {repeated[0]!r} twice")
