"""Conjugate gradients for symmetric positive semi-definite systems, given by matrix-vector products."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from labelrank._arrays import FloatArray
from labelrank.solvers.base import Run

Product = Callable[[FloatArray], FloatArray]


def conjugate_gradients(
    product: Product,
    right: FloatArray,
    run: Run,
    value: Callable[[FloatArray, FloatArray], float],
    inverse_diagonal: FloatArray | float = 1.0,
) -> None:
    """Solve ``product(z) = right``, starting from the coefficients of a run; its gap is the relative residual.

    The residual that the iterations update drifts from the true one. If the true one is above the tolerance, the
    iterations restart from it, as long as that helps. The run ends with the iterate of the smallest true residual.

    Parameters
    ----------
    product : callable
        Product of the matrix with an array of the shape of `right`.
    right : ndarray
        Right-hand side.
    run : Run
        Records the iterations.
    value : callable
        Value of the objective, given z and its residual.
    inverse_diagonal : ndarray or float
        Inverse of the diagonal of the matrix, approximately: the preconditioner.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank.solvers.base import Run, Stop
    >>> from labelrank.solvers.least_squares.conjugate_gradients import conjugate_gradients
    >>> A = np.array([[3.0, 1.0], [1.0, 2.0]])
    >>> run = Run(np.zeros(2), Stop(max_iter=10, tol=1e-10), None)
    >>> conjugate_gradients(lambda z: A @ z, np.array([4.0, 3.0]), run, lambda z, r: 0.0)
    >>> run.state.coef.round(9), run.state.n_iter
    (array([1., 1.]), 2)
    """
    size = float(np.linalg.norm(right)) or 1.0
    state, tol = run.state, run.stop.tol
    best = state.coef
    residual = right - product(best) if best.any() else right
    gap = float(np.linalg.norm(residual)) / size
    if run.step(best, value(best, residual), gap):
        return
    with np.errstate(over="ignore", invalid="ignore"):
        while True:
            z = _descend(product, best, residual, size, run, value, inverse_diagonal)
            asked = state.converged and state.gap > tol  # a callback has ended the run
            residual = right - product(z)
            found, last = float(np.linalg.norm(residual)) / size, gap
            if found < gap:
                best, gap = z, found
            state.coef, state.gap, state.converged = best, gap, asked or gap <= tol
            if state.converged or state.n_iter >= run.stop.max_iter:
                return
            if not found < 0.5 * last:
                state.message = "rounding errors prevent a smaller one"
                return


def _descend(
    product: Product,
    z: FloatArray,
    residual: FloatArray,
    size: float,
    run: Run,
    value: Callable[[FloatArray, FloatArray], float],
    inverse_diagonal: FloatArray | float,
) -> FloatArray:
    """Iterate from z until the run ends or numbers overflow; return the iterate of the smallest residual."""
    best, smallest = z, np.inf
    r, s = residual, inverse_diagonal * residual
    p, rs = s, float(np.vdot(r, s))
    while True:
        q = product(p)
        curvature = float(np.vdot(p, q))
        if not 0 < curvature < np.inf:
            return best
        z = z + rs / curvature * p
        r = r - rs / curvature * q
        gap = float(np.linalg.norm(r)) / size
        if not gap < np.inf:
            return best
        if gap < smallest:
            best, smallest = z, gap
        if run.step(z, value(z, r), gap):
            return best
        s = inverse_diagonal * r
        old, rs = rs, float(np.vdot(r, s))
        p = s + rs / old * p
