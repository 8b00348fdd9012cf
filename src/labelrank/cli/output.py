"""Files that commands write: each appears under its name when it is complete."""

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

from labelrank.cli.data import ARFF, PREFLIB, SVMLIGHT
from labelrank.cli.streams import printable

SUFFIXES = (".csv", ".tsv", ".parquet", ".jsonl", ".ndjson")


def check_output(path: Path, suffixes: tuple[str, ...] = (), inputs: Sequence[str | Path] = ()) -> None:
    """Raise an error before anything is read if a file cannot be written, or is one of the inputs."""
    for name in inputs:
        if path.exists() and Path(name).exists() and path.samefile(name):
            raise ValueError(f"cannot write {path}: it is the file to be read; give the output another name")
    if suffixes and path.suffix.lower() not in suffixes:
        raise ValueError(f"cannot write {path}: the name must end in {', '.join(suffixes)}")
    if not path.parent.is_dir():
        raise ValueError(f"cannot write {path}: there is no folder {path.parent}")
    if path.is_dir():
        raise ValueError(f"cannot write {path}: it is a folder; add the name of a file")
    if path.exists() and not os.access(path, os.W_OK):
        raise ValueError(f"cannot write {path}: permission denied")
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise ValueError(f"cannot write {path}: {(error.strerror or str(error)).lower()}") from error


def check_model(path: Path, data: str) -> None:
    """Raise an error before anything is read if a model cannot be written, or would have the name of data."""
    check_output(path, inputs=[data])
    bare = path.name.lower().removesuffix(".gz").removesuffix(".bz2")
    if bare.endswith((*SUFFIXES, *ARFF, *PREFLIB, *SVMLIGHT)):
        instead = path.with_name(path.name[: bare.rindex(".")] + ".lrk")
        raise ValueError(f"cannot write {path}: the name is that of data; give the model another, such as {instead}")


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Give a new folder; the file ``result`` in it takes the place of `path` when nothing goes wrong."""
    with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
        yield Path(folder)
        result = Path(folder, "result")
        with open(result, "rb") as file:
            os.fsync(file.fileno())
        os.replace(result, path)


class RowWriter:
    """Writes frames, or objects for JSON, one after the other, to a file or to standard output.

    Parameters
    ----------
    path : Path or None
        The file, None for standard output.
    suffix : str
        The format.
    """

    def __init__(self, path: Path | None, suffix: str, folder: Path | None = None) -> None:
        self.is_json = suffix in (".jsonl", ".ndjson")
        self.separator = "\t" if suffix == ".tsv" else ","
        self.n_parts = 0
        self.parts = folder if suffix == ".parquet" else None
        self.file: Any = sys.stdout
        if path is not None and self.parts is None:
            self.file = open(path, "w", encoding="utf-8", newline="")  # noqa: SIM115 - closed by `close`

    def write(self, part: Any) -> None:
        """Write a frame, or a list of objects for JSON."""
        if self.parts is not None:
            part.write_parquet(self.parts / f"{self.n_parts:06}.parquet")
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
        if self.parts is not None:
            pl.scan_parquet(self.parts / "*.parquet").sink_parquet(self.parts / "result")
        elif self.file is not sys.stdout:
            self.file.close()


@contextmanager
def row_writer(path: Path | None, suffix: str) -> Iterator[RowWriter]:
    """Open a writer for a new file, or for standard output; nothing is left of a file that is not completed."""
    if path is None:
        yield RowWriter(None, suffix)
        return
    with atomic_folder(path) as folder:
        writer = RowWriter(folder / "result", suffix, folder)
        yield writer
        writer.close()
