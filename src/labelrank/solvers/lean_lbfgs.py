"""L-BFGS in the memory of a few coefficient vectors, for more coefficients than SciPy's has room for.

SciPy's solver takes some 30 coefficient vectors with its shortest useful history. Here are the same two loops, with the
history in 32 bits (a correction is an estimate; iterates, gradients and sums keep their 64), steps tried in place, and
SciPy's line search along them: 4 vectors beside one for each correction.
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.linalg.blas import daxpy
from scipy.optimize import line_search

from labelrank.solvers.state import FloatArray

Evaluate = Callable[[FloatArray], tuple[float, FloatArray]]

# As SciPy's L-BFGS has them: sufficient decrease and curvature of a step, and what counts as no decrease.
_DECREASE, _CURVATURE = 1e-3, 0.9
_UNITS = (1.0, 1e-3, 1e-6, 1e-9, 1e-12)
NO_DECREASE = 64 * np.finfo(float).eps


def iterates(
    evaluate: Evaluate, coef: FloatArray, width: FloatArray, *, history: int
) -> Iterator[tuple[float, FloatArray]]:
    """Value and gradient at the start and after every step.

    `coef` is moved in place, and is at the last iterate whenever this pauses.

    Ends where the value no longer decreases. An exception in `evaluate` leaves `coef` at the last iterate too.

    Parameters
    ----------
    evaluate : callable
        Value and gradient at a point; the gradient is a new array.
    coef : ndarray of shape (n_features, ...), C-contiguous
        Start.
    width : ndarray of shape (n_features,)
        About the root of the second derivative along each row of coefficients.
    history : int
        Number of corrections kept.
    """
    from labelrank._kernels.solvers.corrections import descend, keep

    rows = (len(width), -1)
    direction = np.empty(coef.shape).reshape(rows)
    moved, bent = np.empty((2, history, coef.size), dtype=np.float32)
    products = np.empty(history)
    order: deque[int] = deque()  # of the corrections kept, the oldest first
    value, gradient = evaluate(coef)
    yield value, gradient
    while True:
        kept = np.array(order, dtype=np.intp)
        slope = descend(moved, bent, products, kept, width, gradient.reshape(rows), direction)
        found = None
        for unit in _UNITS[: 1 if order else None]:  # without corrections the length of the first step is a guess
            if found is None and slope < 0:
                found = _along(evaluate, coef, direction.reshape(-1), value, slope, unit)
        if found is None:
            if not order:
                return
            order.clear()  # the corrections mislead: once more, straight down
            continue
        step, after, gradient_after = found
        np.subtract(gradient_after, gradient, out=gradient)
        if len(order) == history:
            order.popleft()
        slot = next(c for c in range(history) if c not in order)
        change, pair = gradient.reshape(rows), (moved[slot].reshape(rows), bent[slot].reshape(rows))
        products[slot] = keep(step, direction, change, width, *pair)
        if 0 < products[slot] < np.inf:
            order.append(slot)
        decrease = value - after
        value, gradient = after, gradient_after
        del gradient_after, found, change  # one gradient is held, not two
        yield value, gradient
        if decrease <= NO_DECREASE * max(abs(value), abs(value + decrease), 1.0):
            return


def _along(
    evaluate: Evaluate, coef: FloatArray, direction: FloatArray, value: float, slope: float, unit: float
) -> tuple[float, float, FloatArray] | None:
    """A step along `direction` with enough decrease, value and gradient there, and `coef` moved; None if there is none.

    The public line search of SciPy takes vectors; it is given the line, on which it tries the step `unit` first.
    """
    point = coef.reshape(-1)
    at = 0.0
    known: tuple[float, FloatArray] | None = None

    def move(step: float) -> None:
        nonlocal at
        daxpy(direction, point, a=step - at)
        at = step

    def value_at(step: FloatArray) -> float:
        nonlocal known
        known = None  # its memory is free for the next
        move(float(step[0]))
        known = evaluate(coef)
        return known[0] if np.isfinite(known[0]) else np.inf

    def slope_at(step: FloatArray) -> FloatArray:
        if known is None or float(step[0]) != at:
            value_at(step)
        assert known is not None
        return np.array([float(known[1].reshape(-1) @ direction)])

    line: dict[str, Any] = {"xk": np.zeros(1), "pk": np.array([unit]), "gfk": np.array([slope]), "old_fval": value}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = line_search(value_at, slope_at, **line, c1=_DECREASE, c2=_CURVATURE, maxiter=30)[0]
    except BaseException:
        move(0.0)
        raise
    if found is None:
        move(0.0)
        return None
    step = float(found) * unit
    if step != at or known is None:
        value_at(np.array([step]))
        assert known is not None
    return step, known[0], known[1]
