"""An interior-point method for the duals of few coefficients: a dozen systems of equations, however hard the problem.

Projections need ever more epochs the more labels there are and the smaller the gap is to be. Newton's method on all
duals at once does not: its steps are few, and each costs a factorisation in the number of coefficients. It starts from
feasible duals and keeps them feasible, so that it can stop anywhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import lapack

from labelrank.losses.soft_margin import SoftMarginLoss

FloatArray = npt.NDArray[np.float64]

_STEPS = 6  # that are usual for each factor of ten in the number of duals
_MAX_STEPS = 300
_MEMORY = 2**24  # numbers
_SHARE = 0.1  # of the middle of the polyhedron in the first duals
_MARGIN = 0.1  # of the first multipliers, relative to targets and scores
_ROUNDED = 1e-8  # the relative gap from which rounding is in the way


def interior_cost(loss: SoftMarginLoss, n_features: int) -> float:
    """Operations of a solution, as slow as those of an epoch; infinite where it takes too much memory."""
    n, k = loss.shape
    size = k * n_features
    if size**2 + n * k * k + n * size > _MEMORY:
        return np.inf
    products = (n * size**2 + size**3 / 3) / 4  # in blocks, several at a time
    curvature = 4.0 * float(np.square(_sizes(loss), dtype=np.float64).sum()) + 2.0 * n * k * size
    return float(_STEPS * np.log10(10 + loss.n_duals) * (products + curvature + 200.0 * loss.n_duals))


def solve_interior(
    X: FloatArray, loss: SoftMarginLoss, duals: npt.NDArray[Any], bound: FloatArray, tol: float
) -> FloatArray:
    """Feasible duals with a gap of at most ``tol * primal``, unless rounding is in the way.

    Parameters
    ----------
    X : ndarray of shape (n_instances, n_features)
        Instances, with the feature of the intercept.
    loss : SoftMarginLoss
        The loss.
    duals : ndarray of shape (loss.n_duals,)
        Feasible duals to begin near; they are not changed.
    bound : ndarray of shape (n_subgraphs,)
        Largest sum of each subgraph.
    tol : float
        Relative gap to stop at.

    Returns
    -------
    ndarray of shape (loss.n_duals,)
    """
    from labelrank._kernels.solvers.soft_projection import interior as kernels
    from labelrank._kernels.solvers.soft_projection.ascent import collect, make_feasible

    (n, k), structure = loss.shape, loss.structure
    x, slack, z, theta = (
        duals.astype(np.float64),
        np.zeros(len(bound)),
        np.ones(loss.n_duals),
        np.zeros((len(bound), 2)),
    )
    way = dx, dslack, dz, dtheta = np.empty_like(x), np.empty_like(slack), np.empty_like(z), np.empty_like(theta)
    held, J, no_change = np.empty((n, k)), np.empty((n, k, k)), np.zeros((n, k))
    kernels.make_interior(x, slack, bound, _SHARE, structure)
    collect(0, n, x, held, structure)
    W = X.T @ held
    off = np.zeros_like(W)  # what rounding makes W differ by from that of the duals
    scores = X @ W
    unit = abs(loss.gamma).max() if loss.gamma.any() else 1.0
    kernels.enclose(scores, theta, _MARGIN * (unit + abs(scores).max(initial=0.0)), structure)
    gap, count = kernels.distances(scores, x, slack, theta, z, bound, structure)
    best, z_best, xi_best, reached = x.copy(), z.copy(), theta.sum(axis=1), np.inf
    for _ in range(_MAX_STEPS):
        xi = theta[:, 0] + theta[:, 1]
        relative = gap / (0.5 * np.vdot(W, W) + bound @ xi)
        if gap < reached:
            best, z_best, xi_best, reached = x.copy(), z.copy(), xi, gap
        if relative <= tol or not gap <= 10 * reached:
            break
        inverse, free = 1 / z, slack / xi
        ratio = x * inverse
        kernels.curvature(ratio, free, bound, J, structure)
        factor, failed = lapack.dpotrf(_system(X, J), lower=1, clean=0, overwrite_a=1)
        if failed:
            break
        fixed = (x, slack, theta, inverse, ratio, free)
        for part in way:
            part[:] = 0.0
        tau = 0.0
        for refine in (False, relative < 1e-4):  # first straight ahead, then towards the middle
            kernels.contributions(*fixed, tau, *way, no_change, bound, held, False, structure)
            dW = _solved(factor, X.T @ held + off)
            df = X @ dW
            if refine:  # for what rounding has left of the right-hand side
                kernels.contributions(*fixed, tau, *way, df, bound, held, False, structure)
                dW += _solved(factor, X.T @ held + off - dW)
                df = X @ dW
            kernels.contributions(*fixed, tau, *way, df, bound, held, True, structure)
            longest, linear, square = kernels.longest(x, slack, z, theta, *way, bound, structure)
            t = min(1.0, longest)
            tau = (max(gap + t * (linear + t * square), 0.0) / gap) ** 3 * gap / count
        t = min(1.0, min(max(0.9, 1 - relative), 0.9995) * longest)
        for part, step in ((x, dx), (slack, dslack), (z, dz), (theta, dtheta), (W, dW)):
            part += t * step
        collect(0, n, x, held, structure)
        off = X.T @ held - W
        gap = float(x @ z + slack @ (theta[:, 0] + theta[:, 1]))
    make_feasible(np.arange(n), best, bound, structure)
    if tol >= _ROUNDED:
        return best
    on_face = best * (best > z_best * np.repeat(bound, _sizes(loss)))
    capped = bound - kernels.sums(best, bound, structure) < xi_best * bound
    _climb_to_top(X, loss, on_face, bound, capped)
    return min(best, on_face, key=lambda found: _gap(X, loss, found, bound))


def _climb_to_top(X: FloatArray, loss: SoftMarginLoss, duals: FloatArray, bound: FloatArray, capped: Any) -> None:
    """Solve for the duals on their face, if they stay on it: some steps of the method of multipliers."""
    from labelrank._kernels.solvers.soft_projection import face as sopopo_face
    from labelrank._kernels.solvers.soft_projection import interior as sopopo_interior
    from labelrank._kernels.solvers.soft_projection.ascent import collect, make_feasible

    (n, k), structure = loss.shape, loss.structure
    rows, at = np.arange(n), loss.head[:, 1]
    sopopo_interior.bring_to(duals, bound, capped, structure)
    weight = 1e3 / max(np.einsum("ij,ij->i", X, X).max(), 1e-200)
    ratio, free = weight * (duals > 0), np.where(capped, 0.0, 1e8 * weight)
    active = np.where(sopopo_interior.sums(duals, bound, structure) > 0, bound, 0.0)
    J, held, gradient = np.empty((n, k, k)), np.empty((n, k)), np.empty_like(duals)
    sopopo_interior.curvature(ratio, free, active, J, structure)
    factor, failed = lapack.dpotrf(_system(X, J), lower=1, clean=0, overwrite_a=1)
    for _ in range(0 if failed else 8):
        collect(0, n, duals, held, structure)
        W = X.T @ held
        sopopo_face.face_gradient(rows, at, X @ W, duals, bound, gradient, structure)
        collect(0, n, weight * gradient, held, structure)
        W += _solved(factor, X.T @ held)
        sopopo_face.face_gradient(rows, at, X @ W, duals, bound, gradient, structure)
        if (duals + weight * gradient < 0).any():
            break
        duals += weight * gradient
        sopopo_interior.bring_to(duals, bound, capped, structure)
    make_feasible(rows, duals, bound, structure)


def _gap(X: FloatArray, loss: SoftMarginLoss, duals: FloatArray, bound: FloatArray) -> float:
    from labelrank._kernels.solvers.soft_projection.ascent import collect, terms

    n, k = loss.shape
    held = np.empty((n, k))
    collect(0, n, duals, held, loss.structure)
    W = X.T @ held
    slack, linear = terms(X @ W, 0, n, duals, bound, np.empty(n), loss.structure)
    return float(np.vdot(W, W) + slack - linear)


def _sizes(loss: SoftMarginLoss) -> npt.NDArray[Any]:
    """Number of duals of each subgraph."""
    return np.asarray(loss.sides[:, 1] - loss.sides[:, 0] + loss.sides[:, 3] - loss.sides[:, 2])


def _system(X: FloatArray, J: FloatArray) -> FloatArray:
    """I + Σ x xᵀ ⊗ J in its lower half; the coefficients of a label come together."""
    (n, d), k = X.shape, J.shape[1]
    H = np.empty((k * d, k * d), order="F")
    for l in range(k):  # noqa: E741 - the column of blocks from the diagonal down
        weighted = (J[:, l, l:, None] * X[:, None, :]).reshape(n, (k - l) * d)
        H[l * d :, l * d : (l + 1) * d] = weighted.T @ X
    H[np.arange(k * d), np.arange(k * d)] += 1.0
    return H


def _solved(factor: FloatArray, right: FloatArray) -> FloatArray:
    """The solution for a right-hand side of shape (n_features, n_labels)."""
    solution, _ = lapack.dpotrs(factor, right.T.ravel(), lower=1)
    return np.asarray(solution.reshape(right.T.shape).T)
