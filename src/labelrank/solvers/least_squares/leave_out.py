r"""Scores of each group by the model of all other groups, in closed form and for all penalties at once.

Let :math:`Z_q` be the rows of group q in the eigenvectors of G, so that the fitted scores are :math:`Z_q D c` with
:math:`D = (\Lambda + \lambda I)^{-1}`. Without the group, the residuals are

.. math:: \tilde y_q - \tilde f_q^{(-q)} = (I - Z_q D Z_q^\top)^{-1} (\tilde y_q - Z_q D c) ,

a system of the size of the group. In the dual, :math:`Z_q = V_q \Lambda^{1/2}` and the matrix is
:math:`\lambda V_q D V_q^\top`, which has no difference in it; the direction that centring takes from every group has
no eigenvalue, and is taken out of :math:`V_q` before.

The rounding error is about :math:`\varepsilon e_1 / \lambda`, with the largest eigenvalue :math:`e_1`. A penalty
below :math:`10^{-10} e_1` is therefore answered only where it does not matter: where the other eigenvalues are above
that, and leaving out the group leaves no direction to the penalty alone.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from labelrank.solvers.least_squares.groups import FloatArray, GroupedItems
from labelrank.solvers.least_squares.systems import Rows, block_rows

_SMALL = 48  # items of a group up to which all penalties are one product
ACCURATE = 1e-10  # penalty, relative to the largest eigenvalue, from which on the error is about 1e-5 or less
_SINGULAR = 1e-6  # eigenvalue of a group's matrix below which it is not trusted under a smaller penalty


def held_out_scores(
    values: FloatArray,
    target: FloatArray,
    directions: FloatArray,
    items: GroupedItems,
    alphas: FloatArray,
    rows: Rows | None,
) -> FloatArray:
    """Scores of every item by the model without its group, each group's mean zero.

    Parameters
    ----------
    values, target : ndarray of shape (n,)
        Eigenvalues of G, and b in the coordinates of its eigenvectors.
    directions : ndarray of shape (n_columns, n)
        What takes a row of `rows` to these coordinates; in the dual the eigenvectors themselves.
    items : GroupedItems
        The training set.
    alphas : ndarray of shape (n_alphas,)
        Penalties.
    rows : callable, optional
        Rows of features or kernel values, as for the system; None in the dual.

    Returns
    -------
    ndarray of shape (n_items, n_alphas)
        In the order of `items`; NaN where a penalty is too small for any accuracy.
    """
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        residuals = (
            _dual_residuals(values, target, directions, items, alphas)
            if rows is None
            else _residuals(values, target, directions, items, alphas, rows)
        )
    scale = np.where(items.scale > 0, items.scale, 1.0)
    return (items.centred_y[:, np.newaxis] - residuals) / scale[:, np.newaxis]


def _dual_residuals(
    values: FloatArray, target: FloatArray, V: FloatArray, items: GroupedItems, alphas: FloatArray
) -> FloatArray:
    limit = ACCURATE * values.max(initial=0.0)
    has_value = (values > 0) & (values >= limit)
    residuals = np.zeros((len(items), len(alphas)))
    if has_value.sum() == len(items) - (len(items.start) - 1):
        # Centring alone has no eigenvalue: λ is a common factor of both sides, and any will do.
        trusted = np.ones(len(alphas), dtype=bool)
        shifted = np.where(has_value, values, 1.0)[:, np.newaxis] + alphas
        weights = np.where(has_value[:, np.newaxis], shifted.min(axis=0) / shifted, 0.0)
    else:
        trusted = alphas >= limit
        weights = alphas[trusted] / (values[:, np.newaxis] + alphas[trusted])
    residuals[:, ~trusted] = np.nan
    weighted = target[:, np.newaxis] * weights
    for i, j in pairwise(items.start.tolist()):
        if j - i < 2 or not trusted.any():
            continue  # a lone item has no pair, and its residual is 0
        # A reflection takes the direction of centring to the first coordinate, which is left out.
        v = items.scale[i:j] / np.linalg.norm(items.scale[i:j])
        v[0] += 1.0
        v *= np.sqrt(2) / np.linalg.norm(v)
        Z = V[i:j] - np.outer(v, v @ V[i:j])
        solved = np.zeros((j - i, int(trusted.sum())))
        solved[1:] = _solve_each(_quadratic_forms(Z[1:], weights), Z[1:] @ weighted)
        residuals[i:j, trusted] = solved - np.outer(v, v @ solved)
    return residuals


def _residuals(
    values: FloatArray,
    target: FloatArray,
    directions: FloatArray,
    items: GroupedItems,
    alphas: FloatArray,
    rows: Rows,
) -> FloatArray:
    from labelrank._kernels.solvers.least_squares import centre_rows

    largest = values.max(initial=0.0)
    limit, cut = ACCURATE * largest, len(values) * np.finfo(float).eps * largest
    small = alphas < limit
    none = values <= cut
    shrunk = 1.0 / (values[:, np.newaxis] + alphas)
    shrunk[np.ix_(none, small)] = 0.0
    residuals = np.empty((len(items), len(alphas)))
    refused = small & ((values[:, np.newaxis] + alphas < limit) & ~none[:, np.newaxis]).any(axis=0)
    checked = np.flatnonzero(small & ~refused)
    fitted = target[:, np.newaxis] * shrunk
    y = items.centred_y
    for a, b in items.blocks(block_rows(len(directions))):
        inner = items.segments(a, b)
        block = rows(a, b)
        mean = np.empty(block.shape[1])
        centre_rows(block, inner, items.scale[a:b], mean, mean.copy())
        Z = block @ directions
        residual = y[a:b, np.newaxis] - Z @ fitted
        for i, j in pairwise(inner.tolist()):
            matrices = np.eye(j - i) - _quadratic_forms(Z[i:j], shrunk)
            if len(checked):
                refused[checked] |= np.linalg.eigvalsh(matrices[checked])[:, 0] < _SINGULAR
            residuals[a + i : a + j] = _solve_each(matrices, residual[i:j])
    residuals[:, refused] = np.nan
    return residuals


def _quadratic_forms(Z: FloatArray, weights: FloatArray) -> FloatArray:
    """Z diag(w) Zᵀ for every column w of the weights: shape (n_alphas, n_q, n_q)."""
    n, n_alphas = len(Z), weights.shape[1]
    forms = np.empty((n_alphas, n, n))
    if n > _SMALL:
        for k in range(n_alphas):
            np.matmul(Z * weights[:, k], Z.T, out=forms[k])
        return forms
    # Products of a row with those before it, times all weights: the buffer stays in the cache.
    buffer = np.empty_like(Z)
    both = np.empty((n * (n + 1) // 2, n_alphas))
    first = 0
    for i in range(n):
        np.multiply(Z[i], Z[: i + 1], out=buffer[: i + 1])
        np.matmul(buffer[: i + 1], weights, out=both[first : first + i + 1])
        first += i + 1
    lower = np.tril_indices(n)
    forms[:, lower[0], lower[1]] = both.T
    forms[:, lower[1], lower[0]] = both.T
    return forms


def _solve_each(matrices: FloatArray, residual: FloatArray) -> FloatArray:
    right = np.ascontiguousarray(residual.T)[:, :, np.newaxis]
    try:
        solved = np.linalg.solve(matrices, right)
    except np.linalg.LinAlgError:  # nothing is left of the penalty in double precision
        solved = np.linalg.pinv(matrices, hermitian=True) @ right
    return np.asarray(solved[:, :, 0].T)
