"""Standard output and standard error of a command, whatever they are connected to."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


def printable(text: str) -> str:
    r"""Return a text from a file as it may be shown: control characters are escaped, so that they control nothing.

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
    """Run a command whose output may go nowhere: to a closed or full file, or to one that is not Unicode.

    A closed standard output ends the command before it computes anything, one that cannot be written to ends it with a
    message. Characters that an encoding lacks are replaced.
    """
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - it stays open to the end
    if sys.stdout is None:
        _fail(command, "standard output is closed; send it to a file, or to /dev/null")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # not where a test has taken its place
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except OSError as error:
        if error.filename is not None:  # another file
            raise
        # What is left in the buffer must not be tried again when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _fail(command, f"cannot write to standard output: {error.strerror or error}")


def _fail(command: str, message: str) -> None:
    print(f"{command}: error: {message}", file=sys.stderr)
    sys.exit(1)
