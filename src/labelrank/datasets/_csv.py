"""CSV files as columns of text, with the line of every record."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from labelrank.datasets._files import DataFile, excerpt, malformed, repeated

Texts = list[str | None]
_WITH_COMMAS = re.compile(r"[+-]?\d[\d.]*(,\d+)+(\.\d+)?")  # 1,5 and 1,000 and 1.000,5


@dataclass(frozen=True)
class TextTable:
    """A CSV file: its columns by name, None where a value is missing, and the line on which each record starts."""

    file: DataFile
    columns: dict[str, Texts]
    lines: list[int]

    def numbers(self, name: str, *, finite: str = "") -> npt.NDArray[np.float64]:
        """A column of numbers, NaN where a value is missing; `finite` describes one that must not be infinite."""
        texts = self.columns[name]
        values = [_number(text) for text in texts]
        if None in values:
            record = values.index(None)
            raise malformed(
                self.file, self.lines[record], f"a number in the column {name!r}", excerpt(str(texts[record]))
            )
        array = np.array(values, dtype=np.float64)
        if finite and np.isinf(array).any():
            record = int(np.argmax(np.isinf(array)))
            raise malformed(self.file, self.lines[record], f"{finite} {name!r}", str(array[record]))
        for record in np.flatnonzero(np.abs(array) >= 2.0**53).tolist() if finite else []:
            if (digits := str(texts[record])).lstrip("+-").isdecimal() and int(digits) != int(array[record]):
                expected = f"an integer that a float represents exactly in the column {name!r}"
                raise malformed(self.file, self.lines[record], expected, excerpt(digits))
        return array

    def numbers_or_texts(self, name: str, *, mixed: bool) -> npt.NDArray[np.float64] | Texts:
        """A column of numbers if all its texts are numbers, else of texts; `mixed` allows both in one column."""
        texts = self.columns[name]
        values = [_number(text) for text in texts]
        if None not in values:
            return np.array(values, dtype=np.float64)
        n_known, n_texts = len(texts) - texts.count(None), values.count(None)
        record = values.index(None)
        if not mixed and all(text is None or _WITH_COMMAS.fullmatch(text) for text in texts):
            found = f'{excerpt(str(texts[record]))}; write numbers without commas, or pass nominal="keep"'
            raise malformed(self.file, self.lines[record], f"a number with a point in the column {name!r}", found)
        if n_texts < n_known and not mixed:
            raise malformed(
                self.file,
                self.lines[record],
                f"a number in the column {name!r}, as in {n_known - n_texts} of its {n_known} values",
                f"{excerpt(str(texts[record]))}; pass it in null_values if it means a missing value, or pass "
                'nominal="keep"',
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


def read_text_table(file: DataFile, *, separator: str = ",", null_values: Sequence[str] = ()) -> TextTable:
    """Read a CSV file; texts are stripped of blanks, and missing if they are empty or one of `null_values`."""
    return next(text_tables(file, separator=separator, null_values=null_values))


def text_tables(
    file: DataFile, *, separator: str = ",", null_values: Sequence[str] = (), batch: int | None = None
) -> Iterator[TextTable]:
    """Read a CSV file `batch` records at a time, by default all of them; there is at least one table."""
    if not isinstance(separator, str) or len(separator) != 1 or separator in '"\r\n':
        raise ValueError(f"separator must be one character, such as ',', ';' or a tab, got {separator!r}")
    records = _records(file, separator)
    line, header = next(records, (1, []))
    header = [name.strip() for name in header]
    _check_header(file, line, header, separator)
    if batch is None:
        records = _bounded(file, records, len(header))
    nulls = {"", *null_values}
    first = True
    while (part := list(islice(records, batch))) or first:
        for line, values in part:
            if len(values) != len(header):
                other = _other_separator(header, separator)
                hint = f"; if {other!r} separates the columns, pass separator={other!r}" if other else ""
                raise malformed(file, line, f"{len(header)} values, as in the header", f"{len(values)}{hint}")
        columns = zip(*(values for _, values in part), strict=True) if part else [()] * len(header)
        texts = [[None if (text := value.strip()) in nulls else text for value in column] for column in columns]
        yield TextTable(file, dict(zip(header, texts, strict=True)), [line for line, _ in part])
        first = False


def _records(file: DataFile, separator: str) -> Iterator[tuple[int, list[str]]]:
    """(number of its first line, values) of every record; blank lines are skipped."""
    lines = (line + "\n" for _, line in file.lines())
    reader = csv.reader(lines, delimiter=separator, strict=True)
    while True:
        start = reader.line_num + 1
        try:
            values = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            hint = "; raise it by csv.field_size_limit" if "field limit" in str(error) else ""
            found = f"a broken record ({error}){hint}"
            raise malformed(file, start, f"values separated by {separator!r}", found) from error
        if values:
            yield start, values


def _bounded(
    file: DataFile, records: Iterator[tuple[int, list[str]]], n_columns: int
) -> Iterator[tuple[int, list[str]]]:
    """The records, as long as a matrix of them is within the limit; short values take more as numbers than as text."""
    for n_records, record in enumerate(records, start=1):
        file.require(8 * n_records * n_columns, "the table as numbers")
        yield record


def _check_header(file: DataFile, line: int, header: list[str], separator: str) -> None:
    if not header:
        raise malformed(file, 1, "a header that names the columns", "an empty file")
    other = _other_separator(header, separator)
    if len(header) == 1 and other is not None:
        found = f"{excerpt(header[0])}; pass separator={other!r}"
        raise malformed(file, line, f"the names of columns, separated by {separator!r}", found)
    if twice := repeated(header):
        raise malformed(file, line, "a header with different names", f"the name {excerpt(twice[0])} twice")


def _other_separator(header: list[str], separator: str) -> str | None:
    """A usual separator in the first name of a header."""
    return next((mark for mark in ";\t," if mark != separator and mark in header[0]), None)
