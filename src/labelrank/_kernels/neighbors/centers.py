"""Centers of many neighborhoods: labels in the order of their votes, and the centers of completed rankings."""

from __future__ import annotations

import numpy as np

from labelrank._kernels.aggregation.completion import center_of_completed
from labelrank._kernels.compile import kernel
from labelrank._kernels.pairs.votes import order_by_votes


@kernel
def centers_of_votes(votes, prior, centers):
    """Write the ranks 1..k, most votes first; `prior`, larger is better, breaks ties. All have the shape (q, k)."""
    q, k = votes.shape
    order = np.empty(k, np.int64)
    for i in range(q):
        order_by_votes(votes[i], prior[i], order)
        for c in range(k):
            centers[i, order[c]] = c + 1.0


@kernel
def completed_centers(neighbors, weights, prior, centers, ranks, max_rounds):
    """Write the center of each neighborhood of incomplete rankings, which are completed with respect to it.

    neighbors, weights : (q, m), indices of rows of `ranks` and their weights; prior : (q, k), what breaks ties, larger
    is better; centers : (q, k).
    """
    q, m = neighbors.shape
    k = ranks.shape[1]
    rows, w, center = np.empty((m, k)), np.empty(m), np.empty(k)
    order = np.empty(k, np.int64)
    for i in range(q):
        order_by_votes(prior[i], prior[i], order)
        used = 0
        for j in range(m):
            if weights[i, j] > 0.0:
                row = ranks[neighbors[i, j]]
                # Ties go to the smaller index, so the labels are numbered in the order that breaks them.
                for c in range(k):
                    rows[used, c] = row[order[c]]
                w[used] = weights[i, j]
                used += 1
        center_of_completed(rows[:used], w[:used], center, max_rounds)
        for c in range(k):
            centers[i, order[c]] = center[c]
