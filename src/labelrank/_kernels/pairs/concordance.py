"""Pairs of labels of two rank matrices, compared row by row.

Rows are taken in blocks that are transposed into a small buffer: the inner loop then runs over rows, without branches
and over neighbouring numbers, which the compiler turns into vector instructions. NaN compares as neither smaller nor
larger, so a pair with an unobserved label drops out by itself.
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


@kernel
def pair_table(true, pred):
    """Per row over the pairs with both labels observed.

    Returns Σ sign·sign, the number untied in `true`, untied in `pred`, untied in both, and the number of pairs.
    """
    n, k = true.shape
    table = np.zeros((5, n))
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
        score, in_true, in_pred = table[0, start:stop], table[1, start:stop], table[2, start:stop]
        in_both, count = table[3, start:stop], table[4, start:stop]
        for i in range(k):
            ai, bi = a[i], b[i]
            for j in range(i + 1, k):
                aj, bj = a[j], b[j]
                for r in range(m):
                    s = (1.0 if ai[r] > aj[r] else 0.0) - (1.0 if ai[r] < aj[r] else 0.0)
                    t = (1.0 if bi[r] > bj[r] else 0.0) - (1.0 if bi[r] < bj[r] else 0.0)
                    seen = (1.0 if ai[r] == ai[r] else 0.0) * (1.0 if aj[r] == aj[r] else 0.0)
                    score[r] += s * t
                    in_true[r] += s * s
                    in_pred[r] += t * t * seen
                    in_both[r] += s * s * t * t
                    count[r] += seen
    return table


@kernel
def group_disagreements(y, f, weight, start, stop):
    """Per group of consecutive items: the mean of ½|sign Δy − sign Δf| over pairs, weighted by products of weights."""
    share = np.zeros(len(start))
    for g in range(len(start)):
        unit = weight[start[g] : stop[g]].max()
        wrong, total = 0.0, 0.0
        for i in range(start[g], stop[g]):
            for j in range(i + 1, stop[g]):
                dy = (1.0 if y[i] > y[j] else 0.0) - (1.0 if y[i] < y[j] else 0.0)
                df = (1.0 if f[i] > f[j] else 0.0) - (1.0 if f[i] < f[j] else 0.0)
                pair = weight[i] / unit * (weight[j] / unit)
                wrong += 0.5 * abs(dy - df) * pair
                total += pair
        share[g] = wrong / total
    return share
