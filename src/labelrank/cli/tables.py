"""Read tables (CSV, Parquet, JSON lines) as columns of numbers and texts, at once or in batches."""

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
_ENTRIES = 2**22  # number of entries of a Parquet file to read at once
NUMBER, TEXT = pl.Float64(), pl.String()
_TRUTH = {"true": 1.0, "false": 0.0}  # numbers, as the unquoted true and false of JSON and Parquet


@dataclass(frozen=True)
class Table:
    """Some rows of a file: columns of texts (CSV), of objects (JSON lines) or of polars (Parquet)."""

    name: str
    columns: Mapping[str, Any]
    rows: Sequence[int]  # position of each row in the file
    unit: str = "line"  # unit of the positions, "line" or "row"
    parsed: bool = True  # whether strings may be numbers

    def __len__(self) -> int:
        return len(self.rows)

    def error(self, row: int, expected: str, found: Any) -> DataFileError:
        """Return the error for a row."""
        text = excerpt(found if isinstance(found, str) else repr(found))
        return DataFileError(f"{self.name}, {self.unit} {self.rows[row]}: expected {expected}, found {text}")

    def series(self, name: str, dtype: Any = None) -> pl.Series:
        """Return a column as numbers or texts; without `dtype`, as numbers if all values are."""
        column = self.columns[name]
        if isinstance(column, pl.Series):
            made = self._of_polars(name, column, dtype)
            return self._finite(made) if made.dtype == NUMBER else made
        if dtype is None:
            dtype = NUMBER if self._numbers(column, self.parsed) is not None else TEXT
        if dtype == TEXT:
            bad = next((i for i, value in enumerate(column) if isinstance(value, (list, dict))), None)
            if bad is not None:
                raise self.error(bad, f"a number or a text in the column {name!r}", column[bad])
            return pl.Series(name, [value if value is None else _text(value) for value in column], TEXT)
        return self._finite(pl.Series(name, self.numbers(name), NUMBER))

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
        if self.parsed:  # the column is a list of strings
            texts = pl.Series(column, dtype=TEXT)
            read = texts.cast(NUMBER, strict=False)
            if texts.len() and read.null_count() == texts.len():
                read = texts.str.to_lowercase().replace_strict(_TRUTH, default=None, return_dtype=NUMBER)
            if read.null_count() == texts.null_count():  # otherwise try Python, which parses a few more formats
                return read.to_numpy()
        values = [_number(value, parsed) for value in column]
        return None if None in values else np.array(values, dtype=np.float64)

    def values(self, name: str) -> list[Any]:
        """Return a column as a list of the values in the file."""
        column = self.columns[name]
        return column.to_list() if isinstance(column, pl.Series) else list(column)

    def _of_polars(self, name: str, column: pl.Series, dtype: Any) -> pl.Series:
        if column.null_count() == len(column):  # of any type
            return pl.Series(name, [None] * len(column), dtype or NUMBER)
        number = column.dtype.is_numeric() or column.dtype == pl.Boolean
        if not number and column.dtype not in (pl.String, pl.Categorical, pl.Enum):
            told = f"the column {name!r} has values of type {column.dtype}, expected numbers or texts"
            ignore = "exclude it with --ignore, or " if dtype is None else ""  # a model needs its columns
            raise DataFileError(f"{self.name}: {told}; {ignore}convert it")
        wanted = dtype or (NUMBER if number else TEXT)
        made = column.cast(wanted, strict=False)
        bad = (made.is_null() & column.is_not_null()).arg_true()
        if len(bad):
            raise self.error(bad[0], f"a number in the column {name!r}", column[bad[0]])
        return made.fill_nan(None) if wanted == NUMBER else made

    def _finite(self, column: pl.Series) -> pl.Series:
        bad = column.is_infinite().arg_true()
        if len(bad):
            raise self.error(bad[0], f"a finite number in the column {column.name!r}", str(column[bad[0]]))
        return column.fill_nan(None)


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
    """Return the suffix of a table, without that of compression; None if the file is not a table."""
    name = path.name.lower()
    bare = name.removesuffix(".gz").removesuffix(".bz2")
    suffix = next((suffix for suffix in TABLES if bare.endswith(suffix)), None)
    return None if suffix == ".parquet" and bare != name else suffix


def read_tables(
    file: DataFile, separator: str | None = None, batch: int | None = None, needed: Sequence[str] = ()
) -> Iterator[Table]:
    """Read a table in parts of `batch` rows, by default at once; yields at least one part.

    Every JSON line must have the columns that are `needed`.
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
    """Return a table of numbered JSON lines; keys that a line lacks are missing values."""
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
        # Read several batches at once, because each read decompresses whole pages.
        step = batch * max(1, _ENTRIES // (batch * max(1, len(scan.collect_schema()))))
        for start in range(0, max(n_rows, 1), step):
            read = scan.slice(start, step).collect()
            for first in range(0, max(len(read), 1), batch):
                frame = read[first : first + batch]
                places = range(start + first, start + first + len(frame))
                yield Table(file.path.name, dict(zip(frame.columns, frame, strict=True)), places, "row")
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise malformed(file, None, "a Parquet file", f"something else ({str(error)[:300]})") from error
