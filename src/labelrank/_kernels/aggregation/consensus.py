"""Loops of :mod:`labelrank.aggregation.consensus`: comparing columns, Kemeny's dynamic programme, insertion moves."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from labelrank._kernels.compile import kernel

Matrix = npt.NDArray[np.float64]

_ROWS = 512  # rows of a block: a block of columns stays in the cache while all pairs of them are compared


# "reassoc" lets the compiler sum in several lanes; comparisons with NaN stay exact, which "fast" would not promise.
@kernel(fastmath={"reassoc"})
def compare_columns(values: Matrix, weight: Matrix) -> tuple[Matrix, Matrix]:
    """Total weight of the rows with ``values[:, a] < values[:, b]``, and of those with equal values.

    values : (n, k), NaN compares with nothing; weight : (n,). Returns two (k, k) matrices; the diagonal of the second
    is the weight of the rows in which the column is not NaN.
    """
    n, k = values.shape
    less, equal = np.zeros((k, k)), np.zeros((k, k))
    columns, w = np.empty((k, _ROWS)), np.empty(_ROWS)
    for start in range(0, n, _ROWS):
        rows = min(_ROWS, n - start)
        for i in range(rows):
            w[i] = weight[start + i]
            for a in range(k):
                columns[a, i] = values[start + i, a]
        for a in range(k):
            for b in range(a, k):
                below, above, same = 0.0, 0.0, 0.0
                for i in range(rows):
                    x, y = columns[a, i], columns[b, i]
                    below += w[i] if x < y else 0.0
                    above += w[i] if x > y else 0.0
                    same += w[i] if x == y else 0.0
                less[a, b] += below
                less[b, a] += above
                equal[a, b] += same
                if a != b:
                    equal[b, a] += same
    return less, equal


@kernel
def kemeny_exact(counts: Matrix, tolerance: float) -> npt.NDArray[np.int64]:
    """Cheapest order of k labels: f(S) = min over its first label j of sum_{i in S} N_ij + f(S without j).

    counts : (k, k), N_ab is what it costs to put b before a. Of the orders that cost the same within `tolerance` the
    first in the alphabet of label indices is returned.
    """
    k = counts.shape[0]
    best = np.zeros(1 << k)
    for members in range(1, 1 << k):
        lowest = np.inf
        for j in range(k):
            if members >> j & 1:
                rest = members ^ (1 << j)
                cost = best[rest]
                for i in range(k):
                    if rest >> i & 1:
                        cost += counts[i, j]
                lowest = min(lowest, cost)
        best[members] = lowest
    order = np.empty(k, dtype=np.int64)
    members = (1 << k) - 1
    for position in range(k):
        for j in range(k):
            if members >> j & 1:
                rest = members ^ (1 << j)
                cost = best[rest]
                for i in range(k):
                    if rest >> i & 1:
                        cost += counts[i, j]
                if cost <= best[members] + tolerance:
                    order[position] = j
                    members = rest
                    break
    return order


@kernel
def improve_by_insertion(order: Any, counts: Matrix, tolerance: float) -> npt.NDArray[np.int64]:
    """Move single labels to their best places until no such move lowers the cost of the order by more than `tolerance`.

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
