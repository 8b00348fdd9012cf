"""Errors that are not caused by wrong usage."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Failure(ValueError):
    """A command failed on valid usage; the exit status is 1."""


@contextmanager
def failing(what: str) -> Iterator[None]:
    """Turn errors of a computation into a :class:`Failure`."""
    try:
        yield
    except (ValueError, ArithmeticError, LookupError) as error:
        if isinstance(error, Failure):
            raise
        raise Failure(f"{what}: {error}") from error
