"""Completing incomplete rankings with respect to a center, and the Borda center of the completed rankings."""

from __future__ import annotations

import numpy as np

from labelrank._kernels.compile import kernel
from labelrank._kernels.pairs.votes import order_by_votes, votes_of_rankings


@kernel
def _observed_order(row, order):
    """Write the observed labels to the front of `order`, best first, and return their number."""
    observed = 0
    for a in range(row.shape[0]):
        if not np.isnan(row[a]):
            place = observed
            while place > 0 and row[order[place - 1]] > row[a]:
                order[place] = order[place - 1]
                place -= 1
            order[place] = a
            observed += 1
    return observed


@kernel
def _complete(row, order, observed, center, center_order, place, ends, out):
    """Write the most probable extension of `row` into `out`, both (k,).

    order : the observed labels, best first; center_order : all labels, best first in the center. Each missing label
    goes into the first of the gaps where it disagrees with the fewest observed labels; labels in one gap keep the order
    of the center. Tied labels stay together, nothing is put between them, and they get the mean of their ranks.

    Missing labels enter in the order of the center. Their best gaps have the same order (the change of the cost from
    one gap to the next decreases with the rank in the center), so the search for each starts at the last gap, and one
    pass over the row places all of them. place, ends : (k,), buffers: ranks in the center of the observed labels, and
    where a group of tied ones ends.
    """
    k = row.shape[0]
    for t in range(observed):
        place[t] = center[order[t]]
        ends[t] = t + 1 == observed or row[order[t]] < row[order[t + 1]]
    placed = 0  # labels with a rank
    taken = 0  # observed labels among them
    gap = 0
    for c in range(k + 1):
        stop = observed  # after the last missing label: all remaining labels
        if c < k:
            label = center_order[c]
            if row[label] == row[label]:
                continue
            r = center[label]
            cost, best, first = 0, 0, gap
            for t in range(first, observed):  # without branches
                cost += 1 - 2 * (place[t] < r)
                better = (cost < best) & ends[t]
                best = cost if better else best
                gap = t + 1 if better else gap
            stop = gap
        while taken < stop:  # groups of tied labels before the gap
            end = taken + 1
            while not ends[end - 1]:
                end += 1
            for t in range(taken, end):
                out[order[t]] = placed + 0.5 * (1 + end - taken)
            placed += end - taken
            taken = end
        if c < k:
            placed += 1
            out[label] = placed


@kernel
def complete_rankings(rows, center, out):
    """Write the most probable extension of each row into `out`, (n, k); center : (k,), ranks 1..k without ties."""
    k = rows.shape[1]
    order, center_order = np.empty(k, np.int64), np.empty(k, np.int64)
    place, ends = np.empty(k), np.empty(k, np.bool_)
    for a in range(k):
        center_order[int(center[a]) - 1] = a
    for i in range(rows.shape[0]):
        observed = _observed_order(rows[i], order)
        _complete(rows[i], order, observed, center, center_order, place, ends, out[i])


@kernel
def center_of_completed(rows, weights, center, max_rounds):
    """Borda center of incomplete rankings, which are completed with respect to it until it no longer changes.

    rows : (m, k) ranks, NaN is not observed; weights : (m,); center : (k,), overwritten with the ranks 1..k. The first
    center is that of the generalized Borda votes, whose order also breaks ties later; remaining ties are broken by
    index. Rows with fewer than two observed labels are left out.

    Returns the number of rounds, negative if the center still changed after `max_rounds` of them.
    """
    m, k = rows.shape
    initial, votes, out = np.zeros(k), np.empty((m, k)), np.empty(k)
    order, observed = np.empty((m, k), np.int64), np.zeros(m, np.int64)
    place, ends, center_order = np.empty(k), np.empty(k, np.bool_), np.empty(k, np.int64)
    votes_of_rankings(rows, votes)
    complete = True
    for i in range(m):
        if weights[i] > 0.0:
            observed[i] = _observed_order(rows[i], order[i])
        if observed[i] >= 2:
            complete = complete and observed[i] == k
            for a in range(k):
                initial[a] += weights[i] * votes[i, a]
    total = initial.copy()
    for rounds in range(max_rounds + 1):
        order_by_votes(total, initial, center_order)
        changed = rounds == 0
        for c in range(k):
            changed = changed or center[center_order[c]] != c + 1.0
        for c in range(k):
            center[center_order[c]] = c + 1.0
        if complete or not changed:
            return rounds
        if rounds == max_rounds:
            break
        for a in range(k):
            total[a] = 0.0
        for i in range(m):
            if observed[i] >= 2:
                _complete(rows[i], order[i], observed[i], center, center_order, place, ends, out)
                for a in range(k):
                    total[a] += weights[i] * (k + 1.0 - out[a])
    return -max_rounds
