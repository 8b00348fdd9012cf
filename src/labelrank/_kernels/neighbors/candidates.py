"""Votes for many numbers of neighbors: one pass over the neighbors of a query serves all candidates."""

from __future__ import annotations

import numpy as np

from labelrank._kernels.compile import kernel
from labelrank._kernels.pairs.rows import add_counts
from labelrank._kernels.pairs.votes import votes_of_counts

UNIFORM, DISTANCE, DUDANI = 0, 1, 2
_ROUNDING = 1e-10  # relative; a sum of weights that is this close below a candidate counts as equal


@kernel(inline="always")
def _add(rows, votes, j, w, sums):
    """Add w times the votes of row j, or its pair counts if `votes` has no columns, to `sums`."""
    for a in range(votes.shape[1]):
        sums[0, a] += w * votes[j, a]
    if votes.shape[1] == 0:
        add_counts(rows, j, w, 0.5, sums)


@kernel
def votes_of_candidates(neighbors, distances, share, candidates, kind, rows, votes, out):
    """Write the votes of the nearest ``candidates[c]`` neighbors to ``out[c]``, (q, k).

    neighbors, distances, share : (q, m), nearest first, with their sample weights; candidates : ascending, at most the
    sum of the weights; kind : weights of the distances; rows : PairRows; votes : (n, k), or (n, 0) to add up pairs.

    With Dudani's weights (d_k - d_j)/(d_k - d_1) the sum of the votes v_j is, up to a factor, (d_k - d_1) sum_j v_j -
    sum_j (d_j - d_1) v_j, so that two sums serve every k.
    """
    q, m = neighbors.shape
    k = out.shape[2]
    size = 1 if votes.shape[1] else k
    near, far, now = np.empty((size, k)), np.empty((size, k)), np.empty((size, k))
    for i in range(q):
        near[:] = 0.0
        far[:] = 0.0
        count, total, total_far, c = 0.0, 0.0, 0.0, 0
        for j in range(m):
            s, d, row = share[i, j], distances[i, j], neighbors[i, j]
            width = d - distances[i, 0]
            factor = 1.0
            if kind == DISTANCE and d > 0.0:  # if there are neighbors at distance zero, only these count
                factor = 1.0 / d if distances[i, 0] > 0.0 else 0.0
            while c < len(candidates) and candidates[c] <= (count + s) * (1.0 + _ROUNDING):
                if kind == DUDANI and width > 0.0:  # the farthest neighbor has weight zero
                    weight = width * total - total_far
                    for a in range(size):
                        for b in range(k):
                            left = width * near[a, b] - far[a, b]
                            now[a, b] = left if left > 1e-13 * width * near[a, b] else 0.0  # rounding errors
                else:
                    part = factor * min(candidates[c] - count, s)
                    weight = total + part
                    for a in range(size):
                        for b in range(k):
                            now[a, b] = near[a, b]
                    _add(rows, votes, row, part, now)
                if votes.shape[1]:
                    for a in range(k):
                        out[c, i, a] = now[0, a] / weight
                else:
                    votes_of_counts(now, out[c, i])
                c += 1
            if c == len(candidates):
                break
            count += s
            total += factor * s
            total_far += width * s
            _add(rows, votes, row, factor * s, near)
            if kind == DUDANI:
                _add(rows, votes, row, width * s, far)
