"""Centers of many neighborhoods: labels in the order of their votes, and the centers of completed rankings."""

from __future__ import annotations

import numpy as np

from labelrank._kernels.aggregation.mallows import (
    center_and_distance,
    discordance,
    pair_probabilities,
    theta_from_mean_distance,
    theta_from_pairs,
)
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
    """Write the center of each neighborhood of incomplete rankings, which are completed by their most probable extensions.

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
        center_and_distance(rows[:used], w[:used], center, max_rounds)
        for c in range(k):
            centers[i, order[c]] = center[c]


@kernel
def spreads(counts, centers, theta, likelihood, cap):
    q, k = centers.shape
    order = np.empty(k, np.int64)
    for i in range(q):
        if not likelihood:
            theta[i] = theta_from_pairs(counts[i], centers[i], cap)
            continue
        for a in range(k):
            order[int(centers[i, a]) - 1] = a
        total = counts[i, 0, 1] + counts[i, 1, 0] if k > 1 else 0.0
        mean = discordance(counts[i], order) / total if total > 0.0 else k * (k - 1) / 4.0
        theta[i] = theta_from_mean_distance(mean, k, cap)


@kernel
def mallows_pairs(centers, theta, out):
    q, k = centers.shape
    p = np.empty(k)
    for i in range(q):
        pair_probabilities(theta[i], p)
        for a in range(k):
            for b in range(k):
                apart = int(centers[i, b] - centers[i, a])
                out[i, a, b] = p[apart] if apart >= 0 else 1.0 - p[-apart]
