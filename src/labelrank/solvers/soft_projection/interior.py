"""Interior-point method for all duals at once, for problems with few coefficients.

Projections need more epochs for a larger C and for a smaller gap. Newton's method does not: it takes a few dozen steps,
each with one factorization whose size is the number of coefficients. It starts from feasible duals and keeps them
feasible, so it can stop at any step.

With a slack ζ for each subgraph the duals satisfy Σα + ζ = Σβ + ζ = bound. The multipliers θ_A and θ_B of the two
equations bound the shortfalls of the two sides from above; a dual x has the distance z ≥ 0 of its shortfall from that
bound, and ζ has ξ = θ_A + θ_B ≥ 0. At the optimum all x z and ζ ξ are zero, and their sum is the duality gap.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import lapack

from labelrank._arrays import FloatArray, IntArray
from labelrank.decompositions.subgraphs import expand_ranges

_MAX_STEPS = 300
_SHARE = 0.1  # weight of the center of the polyhedron in the starting point
_MARGIN = 0.1  # of the first multipliers, relative to targets and shortfalls


def solve_interior(X: FloatArray, blocks: Any, n_labels: int, duals: Any, tol: float) -> FloatArray:
    """Return duals with a gap of at most ``tol * primal``, or the smallest gap that rounding allows.

    Parameters
    ----------
    X : ndarray of shape (n_instances, n_features)
        Instances, including the feature of the intercept.
    blocks : BipartiteBlocks
        The subgraphs.
    n_labels : int
        Number of labels.
    duals : Duals
        Feasible duals to start near; they are not changed.
    tol : float
        Relative gap to stop at.

    Returns
    -------
    ndarray of shape (n_duals,)
        Feasible up to rounding.
    """
    from labelrank._kernels.solvers.soft_projection.interior import curvature

    bound = duals.C * blocks.weight
    entries = _entries(blocks, bound > 0.0, (len(X), n_labels))
    kept, bound = np.repeat(bound > 0.0, sizes_of(blocks)), bound[bound > 0.0]
    J = np.empty((len(X), n_labels, n_labels))
    at = _start(entries, duals.value[kept].astype(np.float64), bound, X)
    best, reached = at.x, np.inf
    for _ in range(_MAX_STEPS):
        gap = at.gap
        relative = gap / (0.5 * np.vdot(at.W, at.W) + bound @ at.xi)
        if gap < reached:
            best, reached = at.x, gap
        if relative <= tol or not gap <= 10 * reached:
            break
        curvature(entries.start, entries.row, entries.label, at.x / at.z, at.slack / at.xi, J)
        factor, failed = lapack.dpotrf(_system(X, J), lower=1, clean=0, overwrite_a=1)
        if failed:
            break
        off = X.T @ entries.contributions(at.x) - at.W  # rounding error of the steps so far
        step = _Point(*(np.zeros_like(values) for values in at))
        tau = 0.0
        for refine in (False, relative < 1e-4):  # first straight ahead, then toward the center
            last, dW = step, np.zeros_like(at.W)
            for _ in range(1 + refine):  # the second time for the rounding error of the first
                ahead = _newton(entries, at, bound, last, tau, X @ dW)
                dW = dW + _solved(factor, X.T @ entries.contributions(ahead.x) + off - dW)
            step = _newton(entries, at, bound, last, tau, X @ dW)._replace(W=dW)
            longest = at.longest(step)
            tau = (max(at.moved(min(1.0, longest), step).gap, 0.0) / gap) ** 3 * gap / (len(at.x) + len(bound))
        at = at.moved(min(1.0, min(max(0.9, 1 - relative), 0.9995) * longest), step)
    found = np.zeros(len(duals.value))
    found[kept] = best
    return found


class _Entries(NamedTuple):
    """Flat arrays of the duals of some subgraphs; A and B of subgraph s are the sides 2 s and 2 s + 1."""

    start: IntArray  # of each side, and the end
    side: IntArray  # of each entry
    row: IntArray  # instance of each subgraph
    label: IntArray  # of each entry
    cell: IntArray  # index of each entry's score in the flat scores
    sign: FloatArray  # 1 in A, -1 in B
    goal: FloatArray  # target times sign
    shape: tuple[int, int]  # of the scores

    def sums(self, values: FloatArray) -> FloatArray:
        """Return the sums over the sides, of shape (n_subgraphs, 2)."""
        return np.add.reduceat(values, self.start[:-1]).reshape(-1, 2)

    def contributions(self, values: FloatArray) -> FloatArray:
        """Return Σα − Σβ of each label of each instance."""
        sums = np.bincount(self.cell, self.sign * values, minlength=self.shape[0] * self.shape[1])
        return np.asarray(sums, dtype=np.float64).reshape(self.shape)


def _entries(blocks: Any, used: npt.NDArray[np.bool_], shape: tuple[int, int]) -> _Entries:
    """Return the entries of the subgraphs that are used."""
    ends = blocks.sides[used].reshape(-1, 2)
    side, member = expand_ranges(ends[:, 0], ends[:, 1])
    row = np.repeat(np.arange(shape[0]), np.diff(blocks.head[:, 0]))[used]
    label, sign = blocks.members[member], np.where(side % 2, -1.0, 1.0)
    return _Entries(
        start=np.append(0, np.cumsum(ends[:, 1] - ends[:, 0], dtype=np.intp)),
        side=side,
        row=row,
        label=label,
        cell=row[side // 2] * shape[1] + label,
        sign=sign,
        goal=sign * blocks.gamma[member] if len(blocks.gamma) else np.where(side % 2, 0.0, 1.0),
        shape=shape,
    )


class _Point(NamedTuple):
    """A point of the method, or a step from one."""

    x: FloatArray  # (n_entries,)
    z: FloatArray  # (n_entries,)
    slack: FloatArray  # (n_subgraphs,)
    xi: FloatArray  # (n_subgraphs,)
    W: FloatArray  # (n_features, n_labels)

    @property
    def gap(self) -> float:
        """Duality gap."""
        return float(self.x @ self.z + self.slack @ self.xi)

    def moved(self, t: float, step: _Point) -> _Point:
        """Return the point after a fraction of a step."""
        return _Point(*(values + t * change for values, change in zip(self, step, strict=True)))

    def longest(self, step: _Point) -> float:
        """Return the fraction of a step at which the first number becomes zero."""
        pairs = list(zip(self, step, strict=True))[:4]
        return min(float((v[d < 0] / -d[d < 0]).min(initial=np.inf)) for v, d in pairs)


def _start(entries: _Entries, x: FloatArray, bound: FloatArray, X: FloatArray) -> _Point:
    """Mix feasible duals with the center of their polyhedron; multipliers exceed all shortfalls by a margin."""
    center = 0.5 * np.repeat(bound, 2) / np.diff(entries.start)
    x = (1 - _SHARE) * x + _SHARE * center[entries.side]
    W = X.T @ entries.contributions(x)
    short = entries.goal - entries.sign * (X @ W).ravel()[entries.cell]
    margin = _MARGIN * (abs(entries.goal).max(initial=0.0) + abs(short).max(initial=0.0))
    theta = np.maximum.reduceat(short, entries.start[:-1]).reshape(-1, 2)
    theta += margin + 0.5 * np.maximum(margin - theta.sum(axis=1, keepdims=True), 0.0)
    z = theta.ravel()[entries.side] - short
    return _Point(x, z, bound - entries.sums(x)[:, 0], np.asarray(theta.sum(axis=1)), W)


def _newton(entries: _Entries, at: _Point, bound: FloatArray, last: _Point, tau: float, df: FloatArray) -> _Point:
    """Return a step toward x z = τ when the scores change by `df`, with the second-order terms of the step `last`."""
    moved = entries.sign * df.ravel()[entries.cell]
    ratio, free = at.x / at.z, at.slack / at.xi
    aim, aim_slack = (tau - last.x * last.z) / at.z, (tau - last.slack * last.xi) / at.xi
    sum_a, sum_b = entries.sums(ratio).T
    side_a, side_b = entries.sums(aim - ratio * moved).T
    det = sum_a * sum_b + free * (sum_a + sum_b)
    # Bounds far above the sums of the duals would round away differences of the two sides, so they are kept separate.
    rest, across = aim_slack - bound, free * (side_a - side_b)
    up_a, up_b = (side_a + rest) * sum_b, (side_b + rest) * sum_a
    theta, xi = np.column_stack([up_a + across, up_b - across]) / det[:, np.newaxis], (up_a + up_b) / det
    z = theta.ravel()[entries.side] + moved
    return _Point(aim - at.x - ratio * z, z, aim_slack - at.slack - free * xi, xi, np.zeros_like(at.W))


def sizes_of(blocks: Any) -> npt.NDArray[Any]:
    """Return the number of duals of each subgraph."""
    return np.asarray(blocks.sides[:, 1] - blocks.sides[:, 0] + blocks.sides[:, 3] - blocks.sides[:, 2])


def _system(X: FloatArray, J: FloatArray) -> FloatArray:
    """Return the lower half of I + Σ x xᵀ ⊗ J; the coefficients of a label are contiguous."""
    (n, d), k = X.shape, J.shape[1]
    H = np.empty((k * d, k * d), order="F")
    for l in range(k):  # noqa: E741 - the column of blocks from the diagonal down
        weighted = (J[:, l, l:, None] * X[:, None, :]).reshape(n, (k - l) * d)
        H[l * d :, l * d : (l + 1) * d] = weighted.T @ X
    H[np.arange(k * d), np.arange(k * d)] += 1.0
    return H


def _solved(factor: FloatArray, right: FloatArray) -> FloatArray:
    """Return the solution for a right-hand side of shape (n_features, n_labels)."""
    solution, _ = lapack.dpotrs(factor, right.T.ravel(), lower=1)
    return np.asarray(solution.reshape(right.T.shape).T)
