"""Text files and the error for what is wrong with them."""

from __future__ import annotations

import bz2
import gzip
import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

PathLike = str | os.PathLike[str]


def malformed(path: PathLike, line: int | None, expected: str, found: str) -> ValueError:
    """The error for a file that breaks its format: where, what was expected, what was found."""
    where = Path(path).name if line is None else f"{Path(path).name}, line {line}"
    return ValueError(f"{where}: expected {expected}, found {found}")


def excerpt(text: str, length: int = 60) -> str:
    """The text in quotes, cut to a readable length."""
    text = text.rstrip("\r\n")
    return repr(text if len(text) <= length else text[: length - 1] + "…")


def read_lines(path: PathLike, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """(line number, line) of a text file, without line ends and byte order mark; unpacks ``.gz`` and ``.bz2``."""
    unpack: Any = {".gz": gzip.open, ".bz2": bz2.open}.get(Path(path).suffix, open)
    with unpack(path, "rb") as lines:
        for number, line in enumerate(_universal_lines(_unpacked(path, lines)), start=1):
            if number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
            try:
                yield number, line.decode(encoding)
            except UnicodeDecodeError as error:
                bad = line[error.start : error.start + 1]
                raise malformed(path, number, f"text in the encoding {encoding}", f"the byte {bad!r}") from error


def _unpacked(path: PathLike, lines: Iterable[bytes]) -> Iterator[bytes]:
    """Lines of a file; raises an error that names it if it ends in ``.gz`` and is something else, or cut off."""
    try:
        yield from lines
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise malformed(path, None, "a complete file packed by gzip", f"something else ({error})") from error


def _universal_lines(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Lines ended by LF, CRLF or a lone CR."""
    for line in lines:
        body = line.removesuffix(b"\n").removesuffix(b"\r")
        if b"\r" in body:
            yield from body.split(b"\r")
        else:
            yield body
