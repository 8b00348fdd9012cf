r"""Sparse features less what their group has in common, where that would cancel.

A constant for each group and column changes no difference within a group, so a column may be shifted in each group by
itself. Where a column is filled in at least half of a group, it is: large values that are almost equal, or a constant
column, would leave nothing but rounding errors in :math:`X^\top D X` less the groups' means. In the other groups at
least half of the sum of squares is left, for equal weights, and zeros remain zeros.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from labelrank.solvers.least_squares.groups import FloatArray, GroupedItems


def shifted_columns(X: Any, items: GroupedItems) -> Any:
    r"""A matrix :math:`\tilde X` with :math:`L \tilde X = L X`, of no more than twice the entries.

    Parameters
    ----------
    X : sparse matrix of shape (n_items, n_features)
        The items' rows in their order.
    items : GroupedItems
        Groups and weights.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from labelrank.solvers.least_squares.groups import group_items
    >>> from labelrank.solvers.least_squares.sparse import shifted_columns
    >>> items = group_items(np.zeros(4), [0, 0, 0, 0], np.ones(4), "pairs")
    >>> shifted_columns(sparse.csr_array([[1e9, 0], [1e9 + 1, 0], [1e9, 5], [1e9 + 1, 0]]), items).toarray()
    array([[-0.5,  0. ],
           [ 0.5,  0. ],
           [-0.5,  5. ],
           [ 0.5,  0. ]])
    """
    X = sparse.csr_array(X, copy=True)
    X.sum_duplicates()
    n, d = X.shape
    if not X.nnz:
        return X
    row = np.repeat(np.arange(n), np.diff(X.indptr))
    weight, size = items.scale**2, np.diff(items.start)
    cell = items.code[row].astype(np.int64) * d + X.indices  # group and column
    cells, first, inverse, filled = np.unique(cell, return_index=True, return_inverse=True, return_counts=True)
    group, column = cells // d, cells % d
    chosen = 2 * filled >= size[group]
    origin = np.where(chosen, X.data[first], 0.0)
    group, column, origin_of_chosen = group[chosen], column[chosen], origin[chosen]
    # All rows of the chosen cells, and their values less the first one of the cell: exact where they are alike.
    length = size[group]
    end = np.cumsum(length)
    which = np.repeat(np.arange(len(group)), length)
    inner_row = items.start[group][which] + np.arange(end[-1] if len(end) else 0) - (end - length)[which]
    start_at = sparse.csr_array((-origin_of_chosen[which], (inner_row, column[which])), shape=(n, d))
    shifted = sparse.csr_array(X + start_at)
    # The mean of these differences, weighted.
    total = np.bincount(items.code, weight, minlength=len(size))
    share = np.where(total[items.code] > 0, weight / np.where(total > 0, total, 1.0)[items.code], 1 / size[items.code])
    sums = np.bincount(inverse, share[row] * (X.data - origin[inverse]), minlength=len(cells))
    weight_filled = np.bincount(inverse, share[row], minlength=len(cells))
    mean: FloatArray = (sums - origin * (1 - weight_filled) * (filled < size[cells // d]))[chosen]
    return sparse.csr_array(shifted - sparse.csr_array((mean[which], (inner_row, column[which])), shape=(n, d)))
