"""Errors that are not the user's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Failure(ValueError):
    """A command cannot do with these data what it was asked for; the status is 1."""


@contextmanager
def failing(what: str) -> Iterator[None]:
    """Turn errors of a computation into a :class:`Failure`."""
    try:
        yield
    except (ValueError, ArithmeticError, LookupError) as error:
        if isinstance(error, Failure):
            raise
        raise Failure(f"{what}: {error}") from error
