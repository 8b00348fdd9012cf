"""Files of JSON lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from labelrank.datasets._files import MAX_BYTES, DataFile, malformed

Value = TypeVar("Value")


def read_json_lines(path: Path, convert: Callable[[Any], Value], max_bytes: int = MAX_BYTES) -> Iterator[Value]:
    """Yield the converted value of each line that is not empty; ``.gz`` and ``.bz2`` are unpacked.

    What is not JSON, and an error of `convert`, is a :class:`~labelrank.datasets.DataFileError` with the line.
    """
    with DataFile(path, max_bytes=max_bytes) as file:
        for number, line in file.lines():
            if line.strip():
                try:
                    value = json.loads(line)
                except json.JSONDecodeError as error:
                    raise malformed(file, number, "JSON", f"something else ({error.msg})") from error
                yield convert(value)


def checked(value: Any, kind: type | tuple[type, ...], what: str) -> Any:
    """Return a value of JSON if it is of the right type."""
    if not isinstance(value, kind) or isinstance(value, bool):
        names = " or ".join(each.__name__ for each in (kind if isinstance(kind, tuple) else (kind,)))
        raise ValueError(f"expected {what} of type {names}, found {type(value).__name__}")
    return value
