"""Kemeny rankings: dynamic programming over subsets, and a local search by insertions."""

from __future__ import annotations

import numpy as np

from labelrank._kernels.compile import kernel


@kernel
def _cost_of_first(j, members, best, counts):
    """Lowest cost of an order of the labels in the bit set `members` that begins with label j."""
    rest = members ^ (1 << j)
    cost = best[rest]
    for i in range(counts.shape[0]):
        if rest >> i & 1:
            cost += counts[i, j]
    return cost


@kernel
def kemeny_exact(counts, tolerance):
    """Order of k labels of lowest cost: f(S) = min over its first label j of sum_{i in S} N_ij + f(S without j).

    counts : (k, k), N_ab is the cost of putting b before a. Of the orders whose costs are equal within `tolerance` the
    lexicographically first is returned.
    """
    k = counts.shape[0]
    best = np.zeros(1 << k)
    for members in range(1, 1 << k):
        best[members] = np.inf
        for j in range(k):
            if members >> j & 1:
                best[members] = min(best[members], _cost_of_first(j, members, best, counts))
    order = np.empty(k, dtype=np.int64)
    members = (1 << k) - 1
    for position in range(k):
        j = 0
        while not members >> j & 1 or _cost_of_first(j, members, best, counts) > best[members] + tolerance:
            j += 1
        order[position] = j
        members ^= 1 << j
    return order


@kernel
def improve_by_insertion(order, counts, tolerance):
    """Move single labels to their best places until no move decreases the cost of the order by more than `tolerance`.

    order : (k,) labels, best first; counts : (k, k) as in :func:`kemeny_exact`.
    """
    order = order.copy()
    k = len(order)
    moved = True
    while moved:
        moved = False
        for start in range(k):
            label = order[start]
            lowest, target = -tolerance, start
            change = 0.0
            for place in range(start - 1, -1, -1):  # overtake the labels before it, one by one
                change += counts[order[place], label] - counts[label, order[place]]
                if change < lowest:
                    lowest, target = change, place
            change = 0.0
            for place in range(start + 1, k):  # fall behind the labels after it
                change += counts[label, order[place]] - counts[order[place], label]
                if change < lowest:
                    lowest, target = change, place
            if target != start:
                step = 1 if target > start else -1
                for place in range(start, target, step):
                    order[place] = order[place + step]
                order[target] = label
                moved = True
    return order
