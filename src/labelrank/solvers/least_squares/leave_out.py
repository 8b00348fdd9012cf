r"""Scores of each group by the model of all other groups, in closed form and for all penalties at once.

Let :math:`Z_q` be the centered rows of group q in the eigenvectors of G, so that the fitted scores are :math:`Z_q D c`
with :math:`D = (\Lambda + \lambda I)^{-1}`. Without the group, the residuals are

.. math:: \tilde y_q - \tilde f_q^{(-q)} = (I - Z_q D Z_q^\top)^{-1} (\tilde y_q - Z_q D c) ,

a system of the size of the group. In the dual, :math:`Z_q = V_q \Lambda^{1/2}` and the matrix is
:math:`\lambda V_q D V_q^\top`, which has no difference in it; the direction that centering takes from every group has
no eigenvalue, and is removed from :math:`V_q` before.

The rounding error is about :math:`\varepsilon e_1 / \lambda`, with the largest eigenvalue :math:`e_1`. A penalty
below :math:`10^{-10} e_1` therefore has a result only if it does not matter: if all other eigenvalues are above that
limit, and no direction is left to the penalty alone without the group.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from labelrank._arrays import FloatArray
from labelrank.losses.squared import GroupedSquaredLoss
from labelrank.models.gram import KERNEL_BLOCK
from labelrank.solvers.least_squares.items import ItemSystem, Rows, center

_ACCURATE = 1e-10  # penalty, relative to the largest eigenvalue, from which on the error is about 1e-5 or less
_SINGULAR = 1e-6  # eigenvalue of a group's matrix below which it is not trusted under a smaller penalty


def held_out_scores(
    system: ItemSystem, loss: GroupedSquaredLoss, alphas: FloatArray, rows: Rows | None = None
) -> FloatArray:
    """Return the scores of every item by the model without its group, of shape (n_items, n_alphas).

    They are in the order of the loss, with a mean of zero in each group, and NaN if a penalty is too small for any
    accuracy. The system of all groups is decomposed; `rows` are those that it was built of, None in the dual.
    """
    system.decompose()
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        if rows is None:
            residuals = _dual_residuals(system, loss, alphas)
        else:
            residuals = _residuals(system, loss, alphas, rows)
    scale = np.where(loss.scale > 0, loss.scale, 1.0)
    return (loss.target[:, np.newaxis] - residuals) / scale[:, np.newaxis]


def _dual_residuals(system: ItemSystem, loss: GroupedSquaredLoss, alphas: FloatArray) -> FloatArray:
    values, V = system.values, system.directions
    limit = _ACCURATE * values.max(initial=0.0)
    has_value = (values > 0) & (values >= limit)
    residuals = np.zeros((len(loss), len(alphas)))
    if has_value.sum() == len(loss) - (len(loss.start) - 1):
        # Only centering has no eigenvalue: λ is a common factor of both sides, and any penalty will do.
        trusted = np.ones(len(alphas), dtype=bool)
        shifted = np.where(has_value, values, 1.0)[:, np.newaxis] + alphas
        weights = np.where(has_value[:, np.newaxis], shifted.min(axis=0) / shifted, 0.0)
    else:
        trusted = alphas >= limit
        weights = alphas[trusted] / (values[:, np.newaxis] + alphas[trusted])
    residuals[:, ~trusted] = np.nan
    weighted = system.target[:, np.newaxis] * weights
    for i, j in pairwise(loss.start.tolist()):
        if j - i < 2 or not trusted.any():
            continue  # a lone item has no pair, and its residual is 0
        # A reflection takes the direction of centering to the first coordinate, which is left out.
        v = loss.scale[i:j] / np.linalg.norm(loss.scale[i:j])
        v[0] += 1.0
        v *= np.sqrt(2) / np.linalg.norm(v)
        Z = V[i:j] - np.outer(v, v @ V[i:j])
        solved = np.zeros((j - i, int(trusted.sum())))
        solved[1:] = _solve_each(_quadratic_forms(Z[1:], weights), Z[1:] @ weighted)
        residuals[i:j, trusted] = solved - np.outer(v, v @ solved)
    return residuals


def _residuals(system: ItemSystem, loss: GroupedSquaredLoss, alphas: FloatArray, rows: Rows) -> FloatArray:
    values, directions = system.values, system.directions
    largest = values.max(initial=0.0)
    limit, cut = _ACCURATE * largest, len(values) * np.finfo(float).eps * largest
    small = alphas < limit
    none = values <= cut
    shrunk = 1.0 / (values[:, np.newaxis] + alphas)
    shrunk[np.ix_(none, small)] = 0.0
    residuals = np.empty((len(loss), len(alphas)))
    refused = small & ((values[:, np.newaxis] + alphas < limit) & ~none[:, np.newaxis]).any(axis=0)
    checked = np.flatnonzero(small & ~refused)
    fitted = system.target[:, np.newaxis] * shrunk
    for part in _blocks_of_groups(loss, KERNEL_BLOCK // max(len(directions), 1)):
        block, code = rows(part), loss.code[part]
        center(block, code - code[0], loss.scale[part])
        Z = block @ directions
        residual = loss.target[part, np.newaxis] - Z @ fitted
        for group in range(int(code[0]), int(code[-1]) + 1):
            i, j = loss.start[group] - part.start, loss.start[group + 1] - part.start
            matrices = np.eye(j - i) - _quadratic_forms(Z[i:j], shrunk)
            if len(checked):
                refused[checked] |= np.linalg.eigvalsh(matrices[checked])[:, 0] < _SINGULAR
            residuals[part][i:j] = _solve_each(matrices, residual[i:j])
    residuals[:, refused] = np.nan
    return residuals


def _blocks_of_groups(loss: GroupedSquaredLoss, n_rows: int) -> list[slice]:
    """Slices of items that never cut a group, of about `n_rows` items: a larger group is a block of its own."""
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
