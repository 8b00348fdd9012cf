"""Standard output and standard error of a command."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


def printable(text: str) -> str:
    r"""Escape control characters in a text, so that it can be printed safely.

    Examples
    --------
    >>> from labelrank.cli.streams import printable
    >>> print(printable("tea\x1b[2J"))
    tea\x1b[2J
    """
    if text.isprintable():
        return text
    kept = [each if each.isprintable() or each in "\n\t" else each.encode("unicode_escape").decode() for each in text]
    return "".join(kept)


@contextmanager
def standard_streams(command: str) -> Iterator[None]:
    """Handle closed, full and non-Unicode standard streams of a command.

    If standard output is closed, the command ends before it computes anything. If writing fails, it ends with an error.
    Characters that the encoding does not support are escaped.
    """
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - stays open until the process ends
    if sys.stdout is None:
        _fail(command, "standard output is closed; send it to a file, or to /dev/null")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # missing if a test has replaced the stream
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except OSError as error:
        if error.filename is not None:  # an error about another file
            raise
        # The rest of the buffer must not be written again when the interpreter exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _fail(command, f"cannot write to standard output: {error.strerror or error}")


def _fail(command: str, message: str) -> None:
    print(f"{command}: error: {message}", file=sys.stderr)
    sys.exit(1)
