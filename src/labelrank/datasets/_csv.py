"""CSV files as columns of text: polars reads them, the csv module checks what polars passes over."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from labelrank.datasets._files import PathLike, excerpt, malformed, read_lines

if TYPE_CHECKING:
    import polars as pl


def records(path: PathLike, *, separator: str = ",", encoding: str = "utf-8") -> Iterator[tuple[int, list[str]]]:
    """(number of its first line, values) of every record; a blank line is none."""
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


def read_text_columns(
    path: PathLike, *, separator: str = ",", null_values: Sequence[str] = (), encoding: str = "utf-8"
) -> pl.DataFrame:
    """A CSV file as a frame of texts, stripped of blanks; nulls where a text is empty or in `null_values`.

    Every record must have as many values as the header; this is checked first, since polars fills up short
    records.
    """
    import polars as pl

    header, n_records, plain = _check_records(path, separator, encoding)
    frame = None
    if plain:
        try:
            with open(path, "rb") as file:
                frame = pl.read_csv(file, infer_schema=False, separator=separator).rename(str.strip)
        except (pl.exceptions.PolarsError, OSError):
            frame = None
    if frame is None or frame.columns != header or frame.height != n_records:
        # Blank lines, stray quotes, other encodings: slower, and the same for every file that passed the
        # check.
        rows = [values for _, values in records(path, separator=separator, encoding=encoding)][1:]
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(header)
        frame = pl.DataFrame(
            [pl.Series(name, column, dtype=pl.String) for name, column in zip(header, columns, strict=True)]
        )
    nulls = ["", *null_values]
    return frame.with_columns(pl.all().str.strip_chars()).with_columns(
        pl.when(pl.all().is_in(nulls)).then(None).otherwise(pl.all()).name.keep()
    )


def _check_records(path: PathLike, separator: str, encoding: str) -> tuple[list[str], int, bool]:
    """The header, the number of records below it, and whether polars may read the file."""
    stream = records(path, separator=separator, encoding=encoding)
    line, header = next(stream, (1, []))
    if not header:
        raise malformed(path, 1, "a header that names the columns", "an empty file")
    header = [name.strip() for name in header]
    other = next((mark for mark in ";\t," if mark != separator and mark in header[0]), None)
    if len(header) == 1 and other is not None:
        found = f"{excerpt(header[0])}; pass separator={other!r}"
        raise malformed(path, line, f"the names of columns, separated by {separator!r}", found)
    repeated = [name for i, name in enumerate(header) if name in header[:i]]
    if repeated:
        raise malformed(path, line, "a header with different names", f"the name {repeated[0]!r} twice")
    n_records = 0
    for line, values in stream:
        n_records += 1
        if len(values) != len(header):
            raise malformed(path, line, f"{len(header)} values, as in the header", f"{len(values)}")
    plain = encoding.lower().replace("_", "-") in ("utf-8", "utf8", "ascii")
    return header, n_records, plain


def line_of_record(path: PathLike, record: int, *, separator: str = ",", encoding: str = "utf-8") -> int:
    """The line on which a record below the header starts; counted only when an error needs it."""
    for i, (line, _) in enumerate(records(path, separator=separator, encoding=encoding)):
        if i == record + 1:
            return line
    raise AssertionError(f"{path} has no record {record}")


def numeric_column(path: PathLike, texts: pl.Series, where: Callable[[int], int]) -> npt.NDArray[np.float64]:
    """Texts that must be numbers as float64, nulls as NaN."""
    import polars as pl

    values = texts.cast(pl.Float64, strict=False)
    bad = texts.is_not_null() & values.is_null()
    if bad.any():
        record = int(bad.arg_max() or 0)
        raise malformed(path, where(record), f"a number in the column {texts.name!r}", repr(texts[record]))
    return np.array(values.fill_null(float("nan")).to_numpy(), dtype=np.float64)
