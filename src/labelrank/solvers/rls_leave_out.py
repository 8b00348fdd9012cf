r"""Scores of each group by the model of all other groups, in closed form and for all penalties at once.

Let :math:`Z_q` be the rows of group q in the eigenvectors of G, so that the fitted scores are :math:`Z_q D c` with
:math:`D = (\Lambda + \lambda I)^{-1}`. Without the group, the residuals are

.. math:: \tilde y_q - \tilde f_q^{(-q)} = (I - Z_q D Z_q^\top)^{-1} (\tilde y_q - Z_q D c) ,

a system of the size of the group. In the dual, :math:`Z_q = V_q \Lambda^{1/2}` and the matrix is
:math:`\lambda V_q D V_q^\top`, which has no difference in it.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from labelrank.solvers.rls import Rows, block_rows, shrink
from labelrank.solvers.rls_groups import FloatArray, GroupedItems

_SMALL = 48  # items of a group up to which all penalties are one product


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
        In the order of `items`.
    """
    from labelrank._kernels.groups import centre_rows

    shrunk = shrink(values, alphas)
    fitted = target[:, np.newaxis] * shrunk
    left = 1 - values[:, np.newaxis] * shrunk  # λ / (e + λ)
    np.copyto(left, alphas * shrunk, where=shrunk > 0)
    residuals = np.empty((len(items), len(alphas)))
    y = items.centred_y
    for a, b in items.blocks(block_rows(len(directions))):
        inner = items.segments(a, b)
        if rows is None:
            Z = directions[a:b]
            residual = Z @ (target[:, np.newaxis] * left)
        else:
            block = rows(a, b)
            mean = np.empty(block.shape[1])
            centre_rows(block, inner, items.scale[a:b], mean, mean.copy())
            Z = block @ directions
            residual = y[a:b, np.newaxis] - Z @ fitted
        for i, j in pairwise(inner.tolist()):
            if rows is None:
                matrices = _quadratic_forms(Z[i:j], left)
            else:
                matrices = np.eye(j - i) - _quadratic_forms(Z[i:j], shrunk)
            residuals[a + i : a + j] = _solve_each(matrices, residual[i:j])
    scale = np.where(items.scale > 0, items.scale, 1.0)
    return (y[:, np.newaxis] - residuals) / scale[:, np.newaxis]


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
