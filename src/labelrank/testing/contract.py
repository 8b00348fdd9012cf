"""Helpers of the checks: reporting, fitting and comparing estimators."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from labelrank._arrays import FloatArray

TOLERANCE = 1e-3  # relative to the range of the scores, for rounding and early stopping

Check = Callable[[Any], None]


def clause(check: Check) -> Check:
    """Report all errors of a check as AssertionError, starting with the name of the estimator."""

    @functools.wraps(check)
    def checked(estimator: Any) -> None:
        name = type(estimator).__name__
        try:
            check(estimator)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from error
        except Exception as error:
            what = str(inspect.getdoc(check)).rstrip(".")
            raise AssertionError(f"{name}: {type(error).__name__} in {check.__name__} ({what}): {error}") from error

    return checked


def expect(condition: Any, message: str) -> None:
    """Raise an AssertionError with the message unless the condition holds."""
    if not condition:
        raise AssertionError(message)


@contextmanager
def quiet() -> Iterator[None]:
    """Ignore warnings, which the small problems may cause."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def fitted(estimator: Any, X: Any, y: Any, what: str, **fit_params: Any) -> Any:
    """Fit a clone; report an error of ``fit`` as AssertionError."""
    return refitted(clone(estimator), X, y, what, **fit_params)


def refitted(estimator: Any, X: Any, y: Any, what: str, **fit_params: Any) -> Any:
    """Fit the estimator itself; report an error of ``fit`` as AssertionError."""
    try:
        with quiet():
            result = estimator.fit(X, y, **fit_params)
    except Exception as error:
        raise AssertionError(f"fit must learn from {what}, but raises {type(error).__name__}: {error}") from error
    expect(result is estimator, f"fit must return the estimator itself, not {result!r}")
    return estimator


def raises(call: Any, *args: Any, **kwargs: Any) -> Exception | None:
    """Return the exception that a call raises, or None."""
    try:
        with quiet():
            call(*args, **kwargs)
    except Exception as error:
        return error
    return None


def agree(first: FloatArray, second: FloatArray) -> bool:
    """Whether scores are equal up to rounding and early stopping."""
    scale = np.ptp(first) + np.abs(first).max(initial=0)
    return first.shape == second.shape and bool(np.allclose(first, second, rtol=0, atol=TOLERANCE * scale + 1e-12))


def is_deterministic(estimator: Any) -> bool:
    """Whether the same data in another form must give the same model."""
    return not get_tags(estimator).non_deterministic
