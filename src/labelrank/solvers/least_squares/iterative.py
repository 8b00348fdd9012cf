"""Least squares on pairs for sparse features, matrix-free: neither m x m nor d x d."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from labelrank.solvers.least_squares.groups import FloatArray, GroupedItems
from labelrank.solvers.least_squares.sparse import shifted_columns
from labelrank.supervision import stacklevel_of_user


@dataclass
class Iterations:
    """A solution, the number of iterations, and its residual relative to the right-hand side."""

    solution: FloatArray
    n_iter: int
    gap: float


def conjugate_gradients(
    product: Callable[[FloatArray], FloatArray],
    right: FloatArray,
    *,
    tol: float,
    max_iter: int,
    inverse_diagonal: FloatArray | float = 1.0,
) -> Iterations:
    """Solve a symmetric positive semi-definite system; the best iterate where rounding allows no convergence.

    The residual that the iterations carry along drifts from the true one. Where the true one is above `tol`, they start
    again from there, as long as that helps: 0 is what a system that yields nothing ends with.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank.solvers.least_squares.iterative import conjugate_gradients
    >>> A = np.array([[3.0, 1.0], [1.0, 2.0]])
    >>> conjugate_gradients(lambda z: A @ z, np.array([4.0, 3.0]), tol=1e-10, max_iter=10).solution.round(9)
    array([1., 1.])
    """
    size = float(np.linalg.norm(right))
    best = np.zeros_like(right)
    if not size:
        return Iterations(best, 0, 0.0)
    gap, steps = 1.0, 0
    with np.errstate(over="ignore", invalid="ignore"):
        while gap > tol and steps < max_iter:
            z, taken = _descend(product, right, best, tol * size, max_iter - steps, inverse_diagonal)
            steps += taken
            found = float(np.linalg.norm(product(z) - right)) / size
            improved = found < gap
            enough = found < 0.5 * gap
            if improved:
                best, gap = z, found
            if not enough:
                break
    return Iterations(best, steps, gap)


def _descend(
    product: Callable[[FloatArray], FloatArray],
    right: FloatArray,
    start: FloatArray,
    goal: float,
    max_iter: int,
    inverse_diagonal: FloatArray | float,
) -> tuple[FloatArray, int]:
    """Conjugate gradients from `start`: the iterate of the smallest residual, and the number of iterations."""
    z, best = start.copy(), start
    r = right - product(z) if start.any() else right.copy()
    smallest = float(np.linalg.norm(r))
    s = inverse_diagonal * r
    p, rs = s, float(r @ s)
    for step in range(1, max_iter + 1):
        Ap = product(p)
        curvature = float(p @ Ap)
        if not 0 < curvature < np.inf:
            return best, step
        z = z + rs / curvature * p
        r = r - rs / curvature * Ap
        norm = float(np.linalg.norm(r))
        if norm < smallest:
            best, smallest = z, norm
        if norm <= goal or not norm < np.inf:
            return best, step
        s = inverse_diagonal * r
        old, rs = rs, float(r @ s)
        p = s + rs / old * p
    return best, max_iter


def solve_iteratively(
    X: Any, items: GroupedItems, alpha: float, *, tol: float = 1e-10, max_iter: int = 2000
) -> FloatArray:
    r"""Coefficients of the features: :math:`(X^\top L X + \alpha I) w = X^\top L y` by conjugate gradients.

    Parameters
    ----------
    X : sparse matrix of shape (n, n_features)
        Features of the items, in the order of the data.
    items : GroupedItems
        Scores and groups.
    alpha : float
        Penalty.
    tol : float
        Residual to stop at, relative to the right-hand side.
    max_iter : int
        Number of iterations at most; stopping there is a warning.
    """
    X = shifted_columns(sparse.csr_array(X)[items.order], items)
    weight = items.scale**2

    def laplacian(p: FloatArray) -> FloatArray:
        return weight * (p - items.mean_of(p))

    def product(w: FloatArray) -> FloatArray:
        return np.asarray(X.T @ laplacian(X @ w)) + alpha * w

    right = np.asarray(X.T @ laplacian(items.y))
    # Jacobi: the diagonal of XᵀDX bounds that of the system from above and is near it for sparse features.
    diagonal = np.asarray(X.multiply(X).T @ weight) + alpha
    if not (np.isfinite(diagonal).all() and np.isfinite(right).all()):
        raise ValueError("products of the features are too large for floating point numbers: scale X and y")
    found = conjugate_gradients(product, right, tol=tol, max_iter=max_iter, inverse_diagonal=1 / diagonal)
    if found.gap > tol:
        warnings.warn(
            f"conjugate gradients stopped after {found.n_iter} iterations with a residual of {found.gap:.2g}, "
            f"tol={tol:g}; scale the features or take a larger alpha",
            ConvergenceWarning,
            stacklevel=stacklevel_of_user(),
        )
    return found.solution
