"""Access to data files for all readers: opening, unpacking, limits, decoding, and one type of error."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import os
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from numbers import Integral
from pathlib import Path
from typing import Any

PathLike = str | os.PathLike[str]

MAX_BYTES = 2**30
# Exceptions of parsers, of unpacking and of conversions. Others (TypeError, FileNotFoundError) are about arguments.
_FOREIGN = (ValueError, ArithmeticError, LookupError, EOFError, MemoryError, RecursionError, zlib.error)
_PACKED: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open}
_READABLE = 1000  # characters of an error
_CHUNK = 2**20  # bytes that are unpacked at once
_DIGITS = 18  # an integer of as many digits fits into 64 bits


class DataFileError(ValueError):
    r"""A data file cannot be read; the message has its name, the line, what was found and what to do.

    All functions ``labelrank.datasets.read_*`` raise it, and nothing else, for what is wrong in the content of a file.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from labelrank.datasets import DataFileError, read_csv
    >>> path = pathlib.Path(tempfile.mkdtemp(), "drinks.csv")
    >>> _ = path.write_text("age,rank_tea,rank_beer\n30,1,2\n40,first,1\n")
    >>> try:
    ...     read_csv(path)
    ... except DataFileError as error:
    ...     print(error)
    drinks.csv, line 3: expected a number in the column 'rank_tea', found 'first'
    """

    __module__ = "labelrank.datasets"  # where it is public

    def __init__(self, message: str) -> None:
        # Names and values are the file's, and may be of any length.
        super().__init__(message if len(message) <= _READABLE else f"{message[:600]} … {message[-300:]}")


def malformed(path: PathLike, line: int | None, expected: str, found: str) -> DataFileError:
    """The error for a file that breaks its format: where, what was expected, what was found."""
    return DataFileError(f"{_where(path, line)}: expected {expected}, found {found}")


def _where(path: PathLike, line: int | None) -> str:
    return Path(path).name if line is None else f"{Path(path).name}, line {line}"


def excerpt(text: str, length: int = 60) -> str:
    """The text in quotes, cut to a readable length."""
    text = text.rstrip("\r\n")
    return repr(text if len(text) <= length else text[: length - 1] + "…")


def listing(names: Any, most: int = 20) -> str:
    """Names in brackets, with an ellipsis in place of those that are too many to read."""
    names = list(names)
    shown = ", ".join(excerpt(name) if isinstance(name, str) else repr(name) for name in names[:most])
    return f"[{shown}]" if len(names) <= most else f"[{shown}, … ({len(names)} in all)]"


def repeated(names: Iterable[Any]) -> list[Any]:
    """The names that occur more than once."""
    return [name for name, count in Counter(names).items() if count > 1]


class DataFile(os.PathLike[str]):
    """Context for reading a file, in which errors in its content become a :class:`DataFileError`.

    Parameters
    ----------
    path : str or path-like
        The file, unpacked if its name ends in ``.gz`` or ``.bz2``.
    encoding : str, default="utf-8"
        Encoding of a text file.
    max_bytes : int, default=2**30
        Limit of the unpacked content, which is checked before parsing, and of the arrays that are made of it (see
        `require`).
    """

    def __init__(self, path: PathLike, *, encoding: str = "utf-8", max_bytes: int = MAX_BYTES) -> None:
        if not isinstance(max_bytes, Integral) or max_bytes < 1:
            raise ValueError(f"max_bytes must be a positive integer, got {max_bytes!r}")
        self.path: Path = Path(path)
        self.encoding: str = encoding
        self.max_bytes: int = max_bytes
        self.line: int | None = None  # the one that is being read
        self._is_measured: bool = self.path.suffix.lower() not in _PACKED

    def __fspath__(self) -> str:
        return str(self.path)

    def __enter__(self) -> DataFile:
        return self

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        if isinstance(error, _FOREIGN) and not isinstance(error, DataFileError):
            reason = str(error) if type(error) is ValueError else f"{type(error).__name__}: {error}"
            raise DataFileError(f"{_where(self, self.line)}: {reason}") from error

    def open(self) -> io.BufferedReader:
        """Open the unpacked content, which is known to be within its limit."""
        if not self._is_measured and self.path.is_file():  # a pipe can be read once only
            with self._content() as content:  # unpacking takes a small part of the time of parsing
                buffer = bytearray(_CHUNK)
                while content.readinto(buffer):
                    pass
            self._is_measured = True
        return io.BufferedReader(self._content(), 2**16)

    def _content(self) -> _BoundedContent:
        return _BoundedContent(self, _PACKED.get(self.path.suffix.lower(), open)(self.path, "rb"))

    def lines(self) -> Iterator[tuple[int, str]]:
        """(line number, line) of a text file, without line ends (LF, CRLF or CR) and byte order mark."""
        try:
            codecs.lookup(self.encoding)
            text = io.TextIOWrapper(self.open(), self.encoding, errors="labelrank.mark")
        except (LookupError, TypeError) as error:
            raise ValueError(f"encoding must be the name of a text encoding, got {self.encoding!r}") from error
        self.line = 1
        with text:
            try:
                for number, line in enumerate(text, start=1):
                    self.line = number
                    if not line.isascii():
                        self._check_marks(line)
                        line = line.removeprefix("\ufeff") if number == 1 else line
                    yield number, line.removesuffix("\n")
            except UnicodeError as error:
                found = f"something else ({error}); pass another encoding"
                raise malformed(self, self.line, f"text in the encoding {self.encoding}", found) from error
        self.line = None

    def _check_marks(self, line: str) -> None:
        if mark := re.search("[\udc00-\udcff]", line):
            bad = bytes([ord(mark[0]) - 0xDC00])
            likely = "utf-16" if self.line == 1 and mark.start() == 0 and bad in b"\xff\xfe" else "latin-1"
            found = f'the byte {bad!r}; pass another encoding, such as encoding="{likely}"'
            raise malformed(self, self.line, f"text in the encoding {self.encoding}", found)

    def integer(self, line: int | None, text: str, what: str, least: int = 0) -> int:
        """Parse an integer of at least `least`, and of 64 bits."""
        text = text.strip()
        if not text.isdecimal() or len(text) > _DIGITS or int(text) < least:
            raise malformed(self, line, f"{what}, an integer of at least {least}", excerpt(text))
        return int(text)

    def require(self, n_bytes: int, what: str) -> None:
        """Raise an error if `what` takes more bytes than the limit."""
        if n_bytes > self.max_bytes:
            raise DataFileError(
                f"{_where(self, self.line)}: {what} takes {n_bytes:,} bytes or more, and the limit is max_bytes="
                f"{self.max_bytes:,}; if the file is valid, pass a larger max_bytes"
            )


def _mark(error: UnicodeError) -> tuple[str, int]:
    """Decode a byte that is not text to a lone surrogate, so that the line which has it can be told."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return chr(0xDC00 + error.object[error.start]), error.end


codecs.register_error("labelrank.mark", _mark)


class _BoundedContent(io.RawIOBase):
    """The unpacked content of a file, up to its limit."""

    def __init__(self, file: DataFile, content: Any) -> None:
        self._file = file
        self._content = content
        self._n_bytes = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            n_bytes: int = self._content.readinto(buffer)
        except (EOFError, OSError, zlib.error) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            how = "bzip2" if self._file.path.suffix.lower() == ".bz2" else "gzip"
            found = f"something else ({error})"
            raise malformed(self._file, None, f"a complete file packed by {how}", found) from error
        self._n_bytes += n_bytes
        self._file.require(self._n_bytes, "the unpacked content")
        return n_bytes

    def close(self) -> None:
        self._content.close()
        super().close()
