"""Fits that succeed or leave the estimator as it was."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any


@contextmanager
def refitting(estimator: Any, keep: bool = False) -> Any:
    """Start a fit without fitted attributes; if it raises, restore those of the last fit.

    With ``warm_start=True``, or with `keep`, for ``partial_fit``, the attributes are kept.
    """
    state = vars(estimator)
    before = {name: value for name, value in state.items() if name.endswith("_")}
    if not (keep or getattr(estimator, "warm_start", False)):
        for name in before:
            del state[name]
    try:
        yield before
    except BaseException:
        for name in [name for name in state if name.endswith("_")]:
            del state[name]
        state.update(before)
        raise
