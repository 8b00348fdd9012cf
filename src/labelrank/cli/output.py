"""Output files of commands, which are written atomically."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from labelrank._atomic import atomic_path, target_of
from labelrank.cli.data import ARFF, PREFLIB, SVMLIGHT
from labelrank.cli.streams import printable

SUFFIXES = (".csv", ".tsv", ".parquet", ".jsonl", ".ndjson")


def check_output(path: Path, suffixes: tuple[str, ...] = (), inputs: Sequence[str | Path] = ()) -> None:
    """Raise ValueError if a file cannot be written, or is one of the inputs."""
    for name in inputs:
        if path.exists() and Path(name).exists() and path.samefile(name):
            raise ValueError(f"cannot save {path}: it is an input file; give the output another name")
    if suffixes and path.suffix.lower() not in suffixes:
        raise ValueError(f"cannot save {path}: the name must end in {', '.join(suffixes)}")
    target = target_of(path)
    if path.exists() and not os.access(path, os.W_OK):
        raise ValueError(f"cannot save {path}: permission denied")
    try:
        with tempfile.TemporaryFile(dir=target.parent):
            pass
    except OSError as error:
        raise ValueError(f"cannot save {path}: {(error.strerror or str(error)).lower()}") from error


def check_model(path: Path, data: str) -> None:
    """Raise ValueError if a model cannot be written, or has the suffix of a data format."""
    check_output(path, inputs=[data])
    bare = path.name.lower().removesuffix(".gz").removesuffix(".bz2")
    if bare.endswith((*SUFFIXES, *ARFF, *PREFLIB, *SVMLIGHT)):
        instead = path.with_name(path.name[: bare.rindex(".")] + ".lrk")
        raise ValueError(f"cannot save {path}: the suffix is that of a data file; use another, such as {instead}")


class RowWriter:
    """Write frames, or objects for JSON, to a file or to standard output.

    Parameters
    ----------
    path : Path or None
        The file, None for standard output.
    suffix : str
        The format.
    """

    def __init__(self, path: Path | None, suffix: str) -> None:
        self.is_json = suffix in (".jsonl", ".ndjson")
        self.separator = "\t" if suffix == ".tsv" else ","
        self.n_parts = 0
        self.parquet = path if suffix == ".parquet" else None
        self.file: Any = sys.stdout
        if path is not None and self.parquet is None:
            self.file = open(path, "w", encoding="utf-8", newline="")  # noqa: SIM115 - closed by `close`

    def write(self, part: Any) -> None:
        """Write a frame, or a list of objects for JSON."""
        if self.parquet is not None:
            part.write_parquet(self.parquet.with_name(f"part{self.n_parts}"))
        else:
            text = (
                "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in part)
                if self.is_json
                else part.write_csv(include_header=self.n_parts == 0, separator=self.separator)
            )
            self.file.write(printable(text) if self.file is sys.stdout and self.file.isatty() else text)
        self.n_parts += 1
        if self.file is sys.stdout:
            self.file.flush()

    def close(self) -> None:
        """Complete the file."""
        if self.parquet is not None:
            parts = [self.parquet.with_name(f"part{i}") for i in range(self.n_parts)]
            pl.scan_parquet(parts, glob=False).sink_parquet(self.parquet)
        elif self.file is not sys.stdout:
            self.file.close()


@contextmanager
def row_writer(path: Path | None, suffix: str) -> Iterator[RowWriter]:
    """Open a writer for a new file, or for standard output; incomplete files are removed."""
    if path is None:
        yield RowWriter(None, suffix)
        return
    with atomic_path(path) as partial:
        writer = RowWriter(partial, suffix)
        yield writer
        writer.close()
