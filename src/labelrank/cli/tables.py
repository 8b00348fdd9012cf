"""Tables in files (CSV, Parquet, JSON lines) as columns of numbers and texts, whole or some rows at a time."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from labelrank.cli.columns import missing_columns
from labelrank.datasets._csv import text_tables
from labelrank.datasets._files import DataFile, DataFileError, excerpt, malformed
from labelrank.datasets._parquet import frame_from_parquet

NULLS = ("NA", "?")  # as in read_csv
_ENTRIES = 2**22  # of a Parquet file that are read at once
NUMBER, TEXT = pl.Float64(), pl.String()


@dataclass(frozen=True)
class Table:
    """Some rows of a file: columns of texts (CSV), of objects (JSON lines) or of polars (Parquet)."""

    name: str
    columns: Mapping[str, Any]
    rows: Sequence[int]  # where each row is in the file
    unit: str = "line"  # of these places, or "row"
    parsed: bool = True  # whether strings may be numbers

    def __len__(self) -> int:
        return len(self.rows)

    def error(self, row: int, expected: str, found: Any) -> DataFileError:
        """Return the error for a row."""
        text = excerpt(found if isinstance(found, str) else repr(found))
        return DataFileError(f"{self.name}, {self.unit} {self.rows[row]}: expected {expected}, found {text}")

    def series(self, name: str, dtype: Any = None) -> pl.Series:
        """Return a column as numbers or texts; without `dtype`, as numbers if there are no others."""
        column = self.columns[name]
        if isinstance(column, pl.Series):
            return self._of_polars(name, column, dtype)
        if dtype is None:
            dtype = NUMBER if self._numbers(column, self.parsed) is not None else TEXT
        if dtype == TEXT:
            bad = next((i for i, value in enumerate(column) if isinstance(value, (list, dict))), None)
            if bad is not None:
                raise self.error(bad, f"a number or a text in the column {name!r}", column[bad])
            return pl.Series(name, [value if value is None else _text(value) for value in column], TEXT)
        return pl.Series(name, self.numbers(name), NUMBER).fill_nan(None)

    def numbers(self, name: str) -> Any:
        """Return a column of numbers as an array, NaN where one is missing."""
        column = self.columns[name]
        if isinstance(column, pl.Series):
            return self._of_polars(name, column, NUMBER).to_numpy()
        values = self._numbers(column, True)
        if values is None:
            row = next(i for i, value in enumerate(column) if _number(value) is None)
            raise self.error(row, f"a number in the column {name!r}", column[row])
        return values

    def _numbers(self, column: list[Any], parsed: bool) -> Any:
        """A list as an array of numbers, NaN where one is missing; None if a value is not a number."""
        if self.parsed:  # a list of texts
            read = pl.Series(column, dtype=TEXT).cast(NUMBER, strict=False)
            if read.null_count() == column.count(None):  # Python knows a few more ways to write a number
                return read.to_numpy()
        values = [_number(value, parsed) for value in column]
        return None if None in values else np.array(values, dtype=np.float64)

    def values(self, name: str) -> list[Any]:
        """Return a column as a list of what is in the file."""
        column = self.columns[name]
        return column.to_list() if isinstance(column, pl.Series) else list(column)

    def _of_polars(self, name: str, column: pl.Series, dtype: Any) -> pl.Series:
        number = column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Null)
        if not number and column.dtype not in (pl.String, pl.Categorical, pl.Enum):
            raise DataFileError(
                f"{self.name}: the column {name!r} holds values of type {column.dtype}; expected numbers or texts: "
                "leave it out with --ignore, or convert it"
            )
        wanted = dtype or (NUMBER if number else TEXT)
        made = column.cast(wanted, strict=False)
        bad = (made.is_null() & column.is_not_null()).arg_true()
        if len(bad):
            raise self.error(bad[0], f"a number in the column {name!r}", column[bad[0]])
        return made.fill_nan(None) if wanted == NUMBER else made


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _number(value: Any, parsed: bool = True) -> float | None:
    """NaN for a missing value, None if it is not a number."""
    if value is None:
        return math.nan
    if isinstance(value, str) and (not parsed or "_" in value):
        return None
    try:
        return float(value) if isinstance(value, (str, Real)) else None
    except (ValueError, OverflowError):
        return None


JSON_LINES = (".jsonl", ".ndjson")
TABLES = (".csv", ".tsv", *JSON_LINES, ".parquet")


def table_suffix(path: Path) -> str | None:
    """Return the suffix of a table, without that of packing; None if the file is none."""
    name = path.name.lower()
    bare = name.removesuffix(".gz").removesuffix(".bz2")
    suffix = next((suffix for suffix in TABLES if bare.endswith(suffix)), None)
    return None if suffix == ".parquet" and bare != name else suffix


def read_tables(
    file: DataFile, separator: str | None = None, batch: int | None = None, needed: Sequence[str] = ()
) -> Iterator[Table]:
    """Read a table, `batch` rows at a time, by default all of them; there is at least one part.

    Every line of JSON must have the columns that are `needed`.
    """
    suffix = table_suffix(file.path)
    if suffix == ".parquet":
        yield from _parquet(file, batch)
    elif suffix in JSON_LINES:
        yield from _json_lines(file, batch, needed)
    else:
        separator = separator or ("\t" if suffix == ".tsv" else ",")
        for table in text_tables(file, separator=separator, null_values=NULLS, batch=batch):
            yield Table(file.path.name, table.columns, table.lines)


def _json_lines(file: DataFile, batch: int | None, needed: Sequence[str]) -> Iterator[Table]:
    lines = ((number, line) for number, line in file.lines() if line.strip())
    first = True
    while (part := list(islice(lines, batch))) or first:
        yield table_of_lines(file.path.name, part, needed)
        first = False


def table_of_lines(name: str, lines: Sequence[tuple[int, str]], needed: Sequence[str] = ()) -> Table:
    """Return a table of JSON lines, which come with their numbers; what a line leaves out is missing."""
    records = []
    for number, line in lines:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise malformed(name, number, "a JSON object", f"{excerpt(line)} ({error})") from error
        if not isinstance(record, dict):
            raise malformed(name, number, 'a JSON object such as {"age": 31}', excerpt(line))
        if wrong := missing_columns(needed, list(record), f"{name}, line {number}"):
            raise DataFileError(wrong)
        records.append(record)
    names = dict.fromkeys(key for record in records for key in record)
    columns = {key: [record.get(key) for record in records] for key in names}
    return Table(name, columns, [number for number, _ in lines], parsed=False)


def _parquet(file: DataFile, batch: int | None) -> Iterator[Table]:
    if batch is None:
        frame = frame_from_parquet(file).to_native()
        yield Table(file.path.name, dict(zip(frame.columns, frame, strict=True)), range(len(frame)), "row")
        return
    try:
        scan = pl.scan_parquet(file.path)
        n_rows = scan.select(pl.len()).collect().item()
        # A read that is not of a few batches unpacks the same pages again and again.
        step = batch * max(1, _ENTRIES // (batch * max(1, len(scan.collect_schema()))))
        for start in range(0, max(n_rows, 1), step):
            read = scan.slice(start, step).collect()
            for first in range(0, max(len(read), 1), batch):
                frame = read[first : first + batch]
                places = range(start + first, start + first + len(frame))
                yield Table(file.path.name, dict(zip(frame.columns, frame, strict=True)), places, "row")
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise malformed(file, None, "a Parquet file", f"something else ({str(error)[:300]})") from error
