"""Sparse features of a tree: the entries of a node by feature, and the search for a split among them.

`csr` is :class:`labelrank.trees.data.Sparse`: the matrix, and buffers for the entries of one node. Rows without an
entry have the value 0; their sums are those of the node minus those of the entries, so they take no time.
"""

import numpy as np

from labelrank._kernels.compile import kernel
from labelrank._kernels.trees.splits import BETTER, Split, add_row, between, midpoint, value_of

_FAST = {"contract", "reassoc", "nsz"}


@kernel
def spread(csr, f, rows):
    """Write the values of feature f in some rows to ``csr.column``."""
    for row in rows:
        low, high = csr.indptr[row], csr.indptr[row + 1]
        while low < high:
            middle = (low + high) // 2
            if csr.indices[middle] < f:
                low = middle + 1
            else:
                high = middle
        found = low < csr.indptr[row + 1] and csr.indices[low] == f
        csr.column[row] = csr.data[low] if found else 0.0


@kernel
def gather(csr, rows):
    """Write the entries of some rows to ``csr.values`` and ``csr.rows``, those of feature f from ``first[f]`` on."""
    first = csr.first
    first[:] = 0
    for row in rows:
        for e in range(csr.indptr[row], csr.indptr[row + 1]):
            first[csr.indices[e] + 2] += 1
    for f in range(2, first.shape[0]):
        first[f] += first[f - 1]
    for row in rows:
        for e in range(csr.indptr[row], csr.indptr[row + 1]):
            f = csr.indices[e] + 1
            csr.values[first[f]] = csr.data[e]
            csr.rows[first[f]] = row
            first[f] += 1


@kernel(error_model="numpy", fastmath=_FAST)
def sparse_threshold(sample, f, csr, n_rows, uniform, total, whole, table, least, buffers, best):
    """Try all thresholds, or one, of feature f in a node of `n_rows` rows whose entries were gathered.

    uniform : negative to try all, or the relative position of the one between the smallest and the largest value.
    Returns whether the feature has more than one value, and the best of `best` and the splits found.
    """
    signs, weight, start, left, zeros = sample.signs, sample.weight, buffers.start, buffers.left, csr.zeros
    entries = csr.values[csr.first[f] : csr.first[f + 1]]
    n = entries.shape[0]
    if n == 0:
        return False, best
    order = np.argsort(entries)  # missing values last
    rows = csr.rows[csr.first[f] : csr.first[f + 1]]
    known, below = n, 0
    while known > 0 and entries[order[known - 1]] != entries[order[known - 1]]:
        known -= 1
    while below < known and entries[order[below]] < 0.0:
        below += 1
    n_missing, n_zeros = n - known, n_rows - n
    n_items = known + (n_zeros > 0)  # the zeros are one item, before that of entry `below`
    if n_items == 0:
        return False, best
    low = 0.0 if n_zeros and below == 0 else entries[order[0]]
    high = 0.0 if n_zeros and below == known else entries[order[known - 1]]
    if low == high and n_missing == 0:
        return False, best
    categorical = sample.is_categorical[f]
    threshold = np.inf if low == high else between(low, high, uniform)
    if categorical and uniform >= 0.0:
        above = high
        for i in range(known):
            v = entries[order[i]]
            above = v if threshold <= v < above else above
        threshold = 0.0 if n_zeros and threshold <= 0.0 < above else above
    zeros_w = whole if n_zeros else 0.0
    for p in range(zeros.shape[0]):
        zeros[p] = total[p] if n_zeros else 0.0
    for i in range(n if n_zeros else 0):
        zeros_w += subtract_row(zeros, signs, weight, rows[order[i]])
    start[:] = 0.0
    start_w = 0.0
    for with_missing in range(2 if n_missing and low < high else 1):
        for i in range(known, n if with_missing else known):
            start_w += add_row(start, signs, weight, rows[order[i]])
        for p in range(start.shape[0]):
            left[p] = start[p]
        w, e, v = start_w, 0, low
        for item in range(n_items):
            if n_zeros and item == below:
                for p in range(left.shape[0]):
                    left[p] += zeros[p]
                w += zeros_w
            else:
                w += add_row(left, signs, weight, rows[order[e]])
                e += 1
            last = item + 1 == n_items
            after = np.inf
            if not last:
                after = 0.0 if n_zeros and item + 1 == below else entries[order[e]]
                if v == after:
                    continue
            chosen = uniform < 0.0 or (v == threshold if categorical else v <= threshold < after) or low == high
            full = last and not categorical and (with_missing or n_missing == 0)
            if chosen and not full and w >= least and whole - w >= least:
                found = value_of(left, w, total, whole, sample, table)
                if found > best.value * BETTER:
                    at = threshold
                    if categorical:
                        at = v
                    elif last:
                        at = np.inf  # known values go left, missing ones right
                    elif uniform < 0.0:
                        at = midpoint(v, after)
                    best = Split(found, at, with_missing == 1)
            v = after
            if categorical:  # one category against the rest
                for p in range(start.shape[0]):
                    left[p] = start[p]
                w = start_w
    return True, best


@kernel(inline="always")
def subtract_row(sums, signs, weight, row):
    """Subtract a row from sums and return minus its weight."""
    w = -weight[row if weight.shape[0] > 1 else 0]
    for p in range(sums.shape[0]):
        sums[p] += w * signs[row, p]
    return w
