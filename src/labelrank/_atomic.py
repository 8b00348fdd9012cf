"""Atomic writes: a file appears under its name once it is complete, or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield the path of a new file to be written, which replaces `path` if the block does not raise.

    The new file has the name of the target and is in a temporary folder next to it, which the block may use for other
    files. If `path` is a symbolic link, its target is replaced. The permissions of a replaced file are kept.
    """
    target = target_of(path)
    prefix = f".{target.name[:50]}."  # a file name has at most 255 bytes
    try:
        with tempfile.TemporaryDirectory(prefix=prefix, dir=target.parent) as folder:
            partial = Path(folder, target.name)
            yield partial
            with partial.open("r+b") as file:
                os.fsync(file.fileno())
            with suppress(FileNotFoundError):
                shutil.copymode(target, partial)
            os.replace(partial, target)
    except OSError as error:
        temporary = str(target.parent / prefix)
        if not error.strerror or not str(error.filename or temporary).startswith(temporary):
            raise  # the error is about another file
        raise type(error)(f"cannot save {path}: {error.strerror.lower()}") from error


def target_of(path: str | os.PathLike[str]) -> Path:
    """Resolve the links of a path; raise OSError if no file can be written there."""
    path = Path(path)
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"cannot save {path}: there is no folder {target.parent}")
    if target.is_dir():
        raise IsADirectoryError(f"cannot save {path}: it is a folder; add the name of a file")
    if target.exists() and not target.is_file():
        raise OSError(f"cannot save {path}: it is a device or a pipe, which a file cannot replace")
    return target
