"""Implementation of ``labelrank predict``: read, predict and write rows in chunks."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from labelrank.cli.columns import select
from labelrank.cli.output import row_writer
from labelrank.cli.predictions import Predictor, as_frame, as_records
from labelrank.cli.progress import spinner
from labelrank.cli.saved import SavedModel
from labelrank.cli.tables import NUMBER, Table, table_of_lines

_CHUNK = 2**16  # number of bytes of standard input to read at once


def predict_rows(
    saved: SavedModel,
    data: str,
    output: Path | None,
    top: int | None = None,
    explain: bool = False,
    keep: str | None = None,
    as_json: bool = False,
    separator: str | None = None,
    encoding: str | None = None,
) -> None:
    """Predict the rows of a file, or of standard input, and write them."""
    if output is not None and as_json:
        raise ValueError("--json is for standard output; name the file .jsonl to get JSON lines")
    piped = data == "-"
    suffix = output.suffix.lower() if output is not None else ".jsonl" if piped or as_json else ".csv"
    predictor = Predictor(saved.model, saved.labels, top, explain)
    parts = _piped(saved) if piped else saved.batches(data, separator, encoding)
    with row_writer(output, suffix) as writer, spinner("predicting", quiet=output is None):
        for table, X in parts:
            if keep is not None and table is None:
                raise ValueError("--keep is for tables (.csv, .tsv, .parquet, .jsonl)")
            kept = (
                None if keep is None else _kept(table, keep, {} if suffix in (".csv", ".tsv") else saved.schema or {})
            )
            found = predictor(X) if X.shape[0] else predictor.nothing()
            writer.write(as_records(found, kept) if writer.is_json else as_frame(found, kept))


def _kept(table: Any, keep: str, schema: dict[str, Any]) -> pl.DataFrame:
    """Columns to copy from the file; text columns that are numeric features of the model become numbers."""
    chosen = select(list(table.columns), keep, "--keep", table.name)
    is_text = [schema.get(name) == NUMBER and isinstance(table.columns[name], list) for name in chosen]
    return pl.DataFrame(
        [table.series(name, NUMBER) if text else pl.Series(name, table.values(name))
         for name, text in zip(chosen, is_text, strict=True)]
    )  # fmt: skip


def _piped(saved: SavedModel) -> Iterator[tuple[Table, Any]]:
    """Rows of standard input, as many as have arrived, so that a single line is answered immediately."""
    arrived: Any = sys.stdin.buffer
    rest, number = b"", 0
    while True:
        chunk = arrived.read1(_CHUNK)
        *lines, rest = (rest + chunk).split(b"\n")
        if not chunk and rest:
            lines, rest = [rest], b""
        numbered = [(number + i, line.decode("utf-8", "replace")) for i, line in enumerate(lines, start=1)]
        number += len(lines)
        numbered = [(at, line) for at, line in numbered if line.strip()]
        for start in range(0, len(numbered), saved.batch):
            part = numbered[start : start + saved.batch]
            try:
                yield _of_lines(saved, part)
            except ValueError:  # answer the lines before the invalid one
                yield from (_of_lines(saved, [line]) for line in part)
        if not chunk:
            return


def _of_lines(saved: SavedModel, lines: list[tuple[int, str]]) -> tuple[Table, Any]:
    table = table_of_lines("standard input", lines, list(saved.schema or ()))
    return table, saved.instances(table)
