"""Concordance of two rank matrices, row by row.

Blocks of rows are transposed into a small buffer, so that the inner loop runs over consecutive numbers without branches
and is vectorized. NaN compares as neither smaller nor larger, so pairs with an unobserved label do not count.
"""

import numpy as np

from labelrank._kernels.compile import kernel

_BUFFER = 16384  # numbers in one transposed block: it stays in the cache


@kernel
def concordance_of_rows(true, pred):
    """Per row: Σ sign(Δtrue)·sign(Δpred) over the pairs, and the number of pairs with Δtrue ≠ 0."""
    n, k = true.shape
    balance = np.zeros(n)
    pairs = np.zeros(n)
    rows = max(8, _BUFFER // max(k, 1))
    a = np.empty((k, rows))
    b = np.empty((k, rows))
    for start in range(0, n, rows):
        stop = min(start + rows, n)
        m = stop - start
        for r in range(m):
            for j in range(k):
                a[j, r] = true[start + r, j]
                b[j, r] = pred[start + r, j]
        score = balance[start:stop]
        count = pairs[start:stop]
        for i in range(k):
            ai, bi = a[i], b[i]
            for j in range(i + 1, k):
                aj, bj = a[j], b[j]
                for r in range(m):
                    s = (1.0 if ai[r] > aj[r] else 0.0) - (1.0 if ai[r] < aj[r] else 0.0)
                    t = (1.0 if bi[r] > bj[r] else 0.0) - (1.0 if bi[r] < bj[r] else 0.0)
                    score[r] += s * t
                    count[r] += s * s
    return balance, pairs
