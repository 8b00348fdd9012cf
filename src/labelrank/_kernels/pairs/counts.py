"""Pair counts summed over the rows of a rank matrix."""

from __future__ import annotations

import numpy as np

from labelrank._kernels.compile import kernel

_ROWS = 512  # rows of a block, which stays in the cache while all pairs of its columns are compared


# "reassoc" allows the compiler to vectorize the sums; unlike "fast", it keeps comparisons with NaN exact.
@kernel(fastmath={"reassoc"})
def compare_columns(values, weight):
    """Total weight of the rows with ``values[:, a] < values[:, b]``, and of those with equal values.

    values : (n, k), comparisons with NaN are false; weight : (n,). Returns two (k, k) matrices.
    """
    n, k = values.shape
    less, equal = np.zeros((k, k)), np.zeros((k, k))
    columns, w = np.empty((k, _ROWS)), np.empty(_ROWS)
    for start in range(0, n, _ROWS):
        rows = min(_ROWS, n - start)
        for i in range(rows):
            w[i] = weight[start + i]
            for a in range(k):
                columns[a, i] = values[start + i, a]
        for a in range(k):
            for b in range(a + 1, k):
                below, above, same = 0.0, 0.0, 0.0
                for i in range(rows):
                    x, y = columns[a, i], columns[b, i]
                    below += w[i] if x < y else 0.0
                    above += w[i] if x > y else 0.0
                    same += w[i] if x == y else 0.0
                less[a, b] += below
                less[b, a] += above
                equal[a, b] += same
                equal[b, a] += same
    return less, equal
