"""Pair counts of single rows and of neighborhoods, for rankings and edges.

`rows` is a :class:`labelrank.pairs.PairRows`.
"""

from __future__ import annotations

from labelrank._kernels.compile import kernel


@kernel(inline="always")  # takes half the time of a call for a few labels
def add_counts(rows, i, w, tie, counts):
    """Add w times the preferences of row i to `counts`, (k, k); `tie` is the share of each side in a tied pair.

    The diagonal is meaningless.
    """
    row, tied = rows.values[i], w * tie
    for a in range(row.shape[0]):  # without branches, so that the compiler vectorizes it
        x, into = row[a], counts[a]
        for b in range(row.shape[0]):
            into[b] += (w if x < row[b] else 0.0) + (tied if x == row[b] else 0.0)
    for e in range(rows.indptr[i], rows.indptr[i + 1]):
        counts[rows.better[e], rows.worse[e]] += w * rows.weight[e]


@kernel
def counts_of_neighbors(neighbors, weights, counts, rows, tie):
    """Add the pair counts of each neighborhood to `counts`, (q, k, k).

    neighbors, weights : (q, m), indices of rows and their weights; entries with weight zero are skipped.
    """
    for i in range(neighbors.shape[0]):
        for j in range(neighbors.shape[1]):
            if weights[i, j] > 0.0:
                add_counts(rows, neighbors[i, j], weights[i, j], tie, counts[i])
