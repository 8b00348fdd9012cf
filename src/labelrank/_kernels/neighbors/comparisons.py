"""Votes of incomplete rankings with equal weights: each row is compared once, and small integers are summed.

This is several times faster than comparing the labels of each neighbor of each query; see
``benchmarks/bench_neighbors.py``, claim 2.
"""

from __future__ import annotations

import numpy as np

from labelrank._kernels.compile import kernel
from labelrank._kernels.pairs.votes import votes_of_counts


@kernel
def compare_labels(values, table):
    """Write into ``table[i, a * k + b]`` 2 where row i ranks label a before label b, 1 where it ties them, else 0.

    values : (n, k), NaN is not observed; table : (n, k * k) of bytes.
    """
    n, k = values.shape
    for i in range(n):
        row = values[i]
        for a in range(k):
            for b in range(k):
                table[i, a * k + b] = 2 * (row[a] < row[b]) + (row[a] == row[b])


@kernel
def votes_of_comparisons(neighbors, out, table):
    """Write the votes of the pair counts of each neighborhood, (q, k); neighbors : (q, m), all of weight 1."""
    q, m = neighbors.shape
    k = out.shape[1]
    counts = np.empty((k, k), np.int32)
    flat = counts.reshape(k * k)
    for i in range(q):
        flat[:] = 0
        for j in range(m):
            row = table[neighbors[i, j]]
            for p in range(k * k):
                flat[p] += row[p]
        votes_of_counts(counts, out[i])
