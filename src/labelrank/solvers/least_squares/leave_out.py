r"""Leave-group-out and leave-pair-out scores, for all penalties at once.

Let :math:`Z_q` be the centered rows of group q in the eigenvectors of G, so that the fitted scores are :math:`Z_q D c`
with :math:`D = (\Lambda + \lambda I)^{-1}`. Without the group, the residuals are

.. math:: \tilde y_q - \tilde f_q^{(-q)} = N^{-1} r , \qquad N = I - Z_q D Z_q^\top, \quad r = \tilde y_q - Z_q D c ,

a system of the size of the group. In the dual, :math:`Z_q = V_q \Lambda^{1/2}` and :math:`N = \lambda V_q D V_q^\top`,
without cancellation. The direction that centering removes from every group is dropped by a reflection, whose other
columns are B.

Leaving out a pair removes its two items, and changes the factor of the remaining pairs of the group from :math:`s` to
:math:`c s`. With this factor :math:`B (cI + (1 - c) N)^{-1} r` are the residuals and
:math:`E = B N (cI + (1 - c) N)^{-1} B^\top` is the identity minus the hat matrix, including the mean of the group. The
residuals of the pair h by the model without it solve :math:`E_{hh} e_h = r_h`, a system of two equations.

The rounding error is about :math:`\varepsilon e_1 / \lambda`, with the largest eigenvalue :math:`e_1`. For a penalty
below :math:`10^{-10} e_1` there is therefore a result only if the penalty hardly matters: if all other eigenvalues are
above that limit, and no direction is determined by the penalty alone without the group.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrank._arrays import FloatArray, row_blocks
from labelrank.losses.squared import GroupedSquaredLoss
from labelrank.models.gram import KERNEL_BLOCK
from labelrank.solvers.least_squares.items import ItemSystem, Rows, center

IntArray = npt.NDArray[np.intp]
_ACCURATE = 1e-10  # penalty, relative to the largest eigenvalue, from which on the error is about 1e-5 or less
_SINGULAR = 1e-6  # eigenvalue of a group's matrix below which it is not trusted under a smaller penalty


def held_out_scores(
    system: ItemSystem, loss: GroupedSquaredLoss, alphas: FloatArray, rows: Rows | None = None
) -> FloatArray:
    """Return the scores of every item by the model without its group, of shape (n_items, n_alphas).

    They are in the order of the loss, with a mean of zero in each group, and NaN if a penalty is too small for any
    accuracy. The system of all groups is decomposed; `rows` are those that it was built from, None in the dual.
    """
    residuals, lost = np.zeros((len(loss), len(alphas))), np.zeros(len(alphas), dtype=bool)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        for group in _groups(system, loss, alphas, rows, lost):
            residuals[group.items, group.kept] = group.reflected(_solve_each(group.N, group.r))
    residuals[:, lost] = np.nan
    scale = np.where(loss.scale > 0, loss.scale, 1.0)
    return (loss.target[:, np.newaxis] - residuals) / scale[:, np.newaxis]


def held_out_differences(
    system: ItemSystem, loss: GroupedSquaredLoss, alphas: FloatArray, rows: Rows | None = None
) -> tuple[IntArray, FloatArray]:
    """Return all pairs within groups, and the difference of their scores by the model without the two items.

    Returns
    -------
    pairs : ndarray of shape (n_pairs, 2)
        Items in the order of the loss.
    differences : ndarray of shape (n_pairs, n_alphas)
        Score of the first item minus that of the second; NaN if a penalty is too small for any accuracy.
    """
    lost = np.zeros(len(alphas), dtype=bool)
    pairs, differences = [np.empty((0, 2), dtype=np.intp)], [np.empty((0, len(alphas)))]
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        for group in _groups(system, loss, alphas, rows, lost):
            first, second = np.triu_indices(group.items.stop - group.items.start, 1)
            found = np.zeros((len(first), len(alphas)))
            found[:, group.kept] = _pair_differences(group, loss, first, second)
            pairs.append(np.column_stack([first, second]) + group.items.start)
            differences.append(found)
    scores = np.concatenate(differences)
    scores[:, lost] = np.nan
    return np.concatenate(pairs), scores


# --- Groups


class _Group(NamedTuple):
    """The system of the residuals of one group, in the coordinates of a reflection that drops the group's mean."""

    items: slice
    v: FloatArray  # of the reflection I - v vᵀ, of norm √2
    kept: IntArray  # penalties that are not too small
    N: FloatArray  # of shape (n_kept, n - 1, n - 1), up to a factor
    r: FloatArray  # of shape (n - 1, n_kept), up to the same factor
    factor: FloatArray  # of shape (n_kept,)

    def reflected(self, values: FloatArray) -> FloatArray:
        """Return B times some columns."""
        full = np.concatenate([np.zeros_like(values[:1]), values])
        return full - np.outer(self.v, self.v @ full)


def _groups(
    system: ItemSystem, loss: GroupedSquaredLoss, alphas: FloatArray, rows: Rows | None, lost: Any
) -> Iterator[_Group]:
    """Yield all groups of two or more items; in the end `lost` marks the penalties that are too small."""
    system.decompose()
    return _dual_groups(system, loss, alphas, lost) if rows is None else _row_groups(system, loss, alphas, rows, lost)


def _dual_groups(system: ItemSystem, loss: GroupedSquaredLoss, alphas: FloatArray, lost: Any) -> Iterator[_Group]:
    values, V = system.values, system.directions
    limit = _ACCURATE * values.max(initial=0.0)
    has_value = (values > 0) & (values >= limit)
    if has_value.sum() == len(loss) - (len(loss.start) - 1):
        # Only the directions of centering have the eigenvalue 0: λ is a common factor of both sides and cancels.
        shifted = np.where(has_value, values, 1.0)[:, np.newaxis] + alphas
        factor = alphas / shifted.min(axis=0)
        weights = np.where(has_value[:, np.newaxis], shifted.min(axis=0) / shifted, 0.0)
    else:
        lost[:] = alphas < limit
        factor = np.ones(len(alphas))[~lost]
        weights = alphas[~lost] / (values[:, np.newaxis] + alphas[~lost])
    weighted, kept = system.target[:, np.newaxis] * weights, np.flatnonzero(~lost)
    for i, j in pairwise(loss.start.tolist()):
        if j - i > 1 and len(kept):
            v = _reflection(loss.scale[i:j])
            Z = (V[i:j] - np.outer(v, v @ V[i:j]))[1:]
            yield _Group(slice(i, j), v, kept, _quadratic_forms(Z, weights), Z @ weighted, factor)


def _row_groups(
    system: ItemSystem, loss: GroupedSquaredLoss, alphas: FloatArray, rows: Rows, lost: Any
) -> Iterator[_Group]:
    values, directions = system.values, system.directions
    largest = values.max(initial=0.0)
    limit, cut = _ACCURATE * largest, len(values) * np.finfo(float).eps * largest
    small = alphas < limit
    none = values <= cut
    shrunk = 1.0 / (values[:, np.newaxis] + alphas)
    shrunk[np.ix_(none, small)] = 0.0
    lost[:] = small & ((values[:, np.newaxis] + alphas < limit) & ~none[:, np.newaxis]).any(axis=0)
    checked = np.flatnonzero(small & ~lost)
    fitted = system.target[:, np.newaxis] * shrunk
    for part in _blocks_of_groups(loss, KERNEL_BLOCK // max(len(directions), 1)):
        block, code = rows(part), loss.code[part]
        center(block, code - code[0], loss.scale[part])
        Z = block @ directions
        residual = loss.target[part, np.newaxis] - Z @ fitted
        for group in range(int(code[0]), int(code[-1]) + 1):
            items = slice(int(loss.start[group]), int(loss.start[group + 1]))
            own = slice(items.start - part.start, items.stop - part.start)
            if items.stop - items.start < 2:
                continue  # a lone item has no pair, and its residual is 0
            v = _reflection(loss.scale[items])
            Zq, r = ((M - np.outer(v, v @ M))[1:] for M in (Z[own], residual[own]))
            N = np.eye(len(r)) - _quadratic_forms(Zq, shrunk)
            if len(checked):
                lost[checked] |= np.linalg.eigvalsh(N[checked])[:, 0] < _SINGULAR
            yield _Group(items, v, np.arange(len(alphas)), N, r, np.ones(len(alphas)))


def _reflection(scale: FloatArray) -> FloatArray:
    """Return v such that I - v vᵀ maps the direction of centering to the first coordinate."""
    v = scale / np.linalg.norm(scale)
    v[0] += 1.0
    return np.asarray(v * (np.sqrt(2) / np.linalg.norm(v)))


def _blocks_of_groups(loss: GroupedSquaredLoss, n_rows: int) -> list[slice]:
    """Split the items into slices of whole groups, of at most `n_rows` items; a larger group is a slice by itself."""
    bounds = [0]
    for start, stop in pairwise(loss.start.tolist()):
        if stop - bounds[-1] > n_rows and start > bounds[-1]:
            bounds.append(start)
    return [slice(a, b) for a, b in pairwise([*bounds, len(loss)]) if b > a]


def _quadratic_forms(Z: FloatArray, weights: FloatArray) -> FloatArray:
    """Z diag(w) Zᵀ for every column w of the weights: shape (n_alphas, n_q, n_q)."""
    forms = np.empty((weights.shape[1], len(Z), len(Z)))
    for form, weight in zip(forms, np.ascontiguousarray(weights.T), strict=True):
        np.matmul(Z * weight, Z.T, out=form)
    return forms


def _solve_each(matrices: FloatArray, residual: FloatArray) -> FloatArray:
    right = np.ascontiguousarray(residual.T)[:, :, np.newaxis]
    try:
        solved = np.linalg.solve(matrices, right)
    except np.linalg.LinAlgError:  # nothing is left of the penalty in double precision
        solved = np.linalg.pinv(matrices, hermitian=True) @ right
    return np.asarray(solved[:, :, 0].T)


# --- Pairs


def _pair_differences(group: _Group, loss: GroupedSquaredLoss, first: IntArray, second: IntArray) -> FloatArray:
    """Return the differences of scores of the pairs of a group, of shape (n_pairs, n_kept)."""
    y, scale, weight = loss.y[group.items], loss.scale[group.items], loss.weight[group.items]
    if len(y) == 2:  # nothing is left of the group
        residual = group.reflected(_solve_each(group.N, group.r)) / scale[:, np.newaxis]
        return np.asarray((y[0] - y[1]) - (residual[:1] - residual[1:]))
    errors = np.empty((len(first), len(group.kept)))
    equal = weight.min() == weight.max()  # then the factor of all pairs is that of the first
    for k, (factor, N) in enumerate(zip(group.factor, group.N, strict=True)):
        values, U = np.linalg.eigh(N)
        F, along = group.reflected(U), group.r[:, k] @ U
        for part in [slice(None)] if equal else row_blocks(len(first), len(y), KERNEL_BLOCK):
            i, j = first[part], second[part]
            c = _rescaling(weight, i[:1], j[:1], loss.weighting) if equal else _rescaling(weight, i, j, loss.weighting)
            g = 1.0 / (c + (1.0 - c) * factor * values)
            if equal:
                r, E = F @ (g[0] * along), (F * (g[0] * values)) @ F.T
                r_i, r_j, E_ii, E_ij, E_jj = r[i], r[j], E[i, i], E[i, j], E[j, j]
            else:
                r_i, r_j = (np.sum(F[a] * g * along, axis=1) for a in (i, j))
                g *= values
                E_ii, E_ij, E_jj = (np.sum(F[a] * g * F[b], axis=1) for a, b in ((i, i), (i, j), (j, j)))
            det = E_ii * E_jj - E_ij**2
            errors[part, k] = (E_jj * r_i - E_ij * r_j) / det / scale[i] - (E_ii * r_j - E_ij * r_i) / det / scale[j]
    return np.asarray((y[first] - y[second])[:, np.newaxis] - errors)


def _rescaling(weight: FloatArray, i: IntArray, j: IntArray, weighting: str) -> FloatArray:
    """Factor of the other pairs of a group without the items i and j, relative to that with them, as (n_pairs, 1)."""
    left = np.tile(weight / weight.max(), (len(i) + 1, 1))  # the last row with all items
    left[np.arange(len(i)), i] = left[np.arange(len(i)), j] = 0.0
    s = left.sum(axis=1, keepdims=True)
    if weighting == "groups":  # relative to the sum over pairs, in which nothing cancels
        pairs = np.sum(left[:, 1:] * np.cumsum(left[:, :-1], axis=1), axis=1, keepdims=True)
        s = np.divide(s, pairs, out=np.full_like(s, s[-1, 0] / pairs[-1, 0]), where=pairs > 0)
    return np.asarray(s[:-1] / s[-1])
