"""Plackett-Luce weights of many neighbourhoods, by Newton's method.

With x = log v, the log-likelihood of the choice of label a from the set S is x_a - log(sum over S of exp(x_b)), which
is concave. A prior keeps the weights of labels that always win finite: each label wins and loses `prior` times against
a label of weight 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from labelrank._kernels.compile import kernel

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

_LONGEST = 2.0  # step of Newton's method: weights stay far from overflow


@kernel
def _read_rows(neighbors: Any, weights: Any, ranks: Matrix, order: Indices, level: Indices, w: Vector) -> int:
    """The observed labels of each neighbour, worst first, and their levels; returns how many neighbours have weight.

    order : (m, k), -1 after the last observed label; level : (m, k), 0 is the worst.
    """
    k = ranks.shape[1]
    used = 0
    for j in range(neighbors.shape[0]):
        if weights[j] <= 0.0:
            continue
        row = ranks[neighbors[j]]
        observed = 0
        for a in range(k):
            if row[a] == row[a]:
                place = observed
                while place > 0 and row[order[used, place - 1]] < row[a]:
                    order[used, place] = order[used, place - 1]
                    place -= 1
                order[used, place] = a
                observed += 1
        for c in range(observed):
            new = c > 0 and row[order[used, c]] != row[order[used, c - 1]]
            level[used, c] = 0 if c == 0 else level[used, c - 1] + new
        for c in range(observed, k):
            order[used, c] = -1
        w[used] = weights[j]
        used += 1
    return used


@kernel
def _add_choices(
    j: int, order: Indices, level: Indices, w: float, x: Vector, v: Vector, slope: Vector, bend: Matrix, sums: Matrix
) -> float:
    """Add the choices of ranking j to the gradient and the lower half of minus the Hessian; their log-likelihood.

    A label is chosen among itself and all observed labels that are not ranked before it; tied labels are each chosen
    from the same set. The last level makes no choice. sums : (3, k), for the function's use.
    """
    observed = 0
    total = 0.0
    while observed < order.shape[1] and order[j, observed] >= 0:
        total += v[order[j, observed]]
        sums[0, observed] = total
        observed += 1
    # Down from the best level: a label is in the sets of its own level and of all levels above it. The logarithm of the
    # product of the sums is taken once, and before the product leaves the range of the numbers.
    chosen, product, logs, first, second = 0.0, 1.0, 0.0, 0.0, 0.0
    c = observed - 1
    while c >= 0:
        size, own = 1, level[j, c]
        while c - size >= 0 and level[j, c - size] == own:
            size += 1
        if own > 0:
            part = 1.0 / sums[0, c]
            first += w * size * part
            second += w * size * part * part
            for _ in range(size):
                product *= sums[0, c]
                if not 1e-200 < product < 1e200:
                    logs += np.log(product)
                    product = 1.0
        for d in range(c, c - size, -1):
            if own > 0:
                chosen += x[order[j, d]]
                slope[order[j, d]] += w
            sums[1, d] = first
            sums[2, d] = second
        c -= size
    value = w * (chosen - logs - np.log(product))
    for c in range(observed):
        a = order[j, c]
        slope[a] -= v[a] * sums[1, c]
        bend[a, a] += v[a] * sums[1, c] - v[a] * v[a] * sums[2, c]
        for d in range(c):  # the sets with both are those of the levels from the better one up
            b = order[j, d]
            bend[max(a, b), min(a, b)] -= v[a] * v[b] * sums[2, c]
    return value


@kernel
def _add_pairs(counts: Matrix, x: Vector, v: Vector, slope: Vector, bend: Matrix) -> float:
    """The same for pair counts, in which every pair is a choice of its own (Bradley-Terry)."""
    k = counts.shape[0]
    value = 0.0
    for a in range(k):
        for b in range(a):
            both = counts[a, b] + counts[b, a]
            if both > 0.0:
                p = v[a] / (v[a] + v[b])
                value += counts[a, b] * x[a] + counts[b, a] * x[b] - both * np.log(v[a] + v[b])
                slope[a] += counts[a, b] - both * p
                slope[b] += counts[b, a] - both * (1.0 - p)
                q = both * p * (1.0 - p)
                bend[a, a] += q
                bend[b, b] += q
                bend[a, b] -= q
    return value


@kernel
def _solve(bend: Matrix, slope: Vector, step: Vector) -> None:
    """Newton step: bend^-1 slope by Cholesky factors, which overwrite the lower half of `bend`."""
    k = slope.shape[0]
    for a in range(k):
        for b in range(a + 1):
            total = bend[a, b]
            for c in range(b):
                total -= bend[a, c] * bend[b, c]
            bend[a, b] = np.sqrt(max(total, 1e-300)) if a == b else total / bend[b, b]
    for a in range(k):
        total = slope[a]
        for c in range(a):
            total -= bend[a, c] * step[c]
        step[a] = total / bend[a, a]
    for a in range(k - 1, -1, -1):
        total = step[a]
        for c in range(a + 1, k):
            total -= bend[c, a] * step[c]
        step[a] = total / bend[a, a]


@kernel
def _start(prior: float, x: Vector, v: Vector, slope: Vector, bend: Matrix) -> float:
    """Weights, and the prior's part of gradient, Hessian and value."""
    k = x.shape[0]
    value = 0.0
    for a in range(k):
        v[a] = np.exp(x[a])
        p = v[a] / (1.0 + v[a])
        value += prior * (x[a] - 2.0 * np.log1p(v[a]))
        slope[a] = prior * (1.0 - 2.0 * p)
        for b in range(k):
            bend[a, b] = 0.0
        bend[a, a] = 2.0 * prior * p * (1.0 - p)
    return value


@kernel
def _move(x: Vector, before: Vector, step: Vector, length: float) -> None:
    for a in range(x.shape[0]):
        x[a] = before[a] + length * step[a]


@kernel
def _turn(x: Vector, before: Vector, bend: Matrix, slope: Vector, step: Vector) -> float:
    """Start a new step at x; returns its largest entry."""
    size = 0.0
    _solve(bend, slope, step)
    for a in range(x.shape[0]):
        before[a] = x[a]
        size = max(size, abs(step[a]))
    return size


@kernel
def log_weights_of_ranks(
    neighbors: Indices, weights: Matrix, out: Matrix, ranks: Matrix, prior: float, tol: float, max_iter: int
) -> float:
    """Write x of each neighbourhood, (q, k); returns the largest last step of all."""
    q, m = neighbors.shape
    k = ranks.shape[1]
    order, level, w = np.empty((m, k), np.int64), np.empty((m, k), np.int64), np.empty(m)
    v, slope, step, before = np.empty(k), np.empty(k), np.empty(k), np.empty(k)
    bend, sums = np.empty((k, k)), np.empty((3, k))
    worst = 0.0
    for i in range(q):
        used = _read_rows(neighbors[i], weights[i], ranks, order, level, w)
        x = out[i]
        for a in range(k):
            x[a] = 0.0
        best, size, length = -np.inf, np.inf, 1.0
        for _ in range(max_iter):
            value = _start(prior, x, v, slope, bend)
            for j in range(used):
                value += _add_choices(j, order, level, w[j], x, v, slope, bend, sums)
            if value < best - 1e-12 * abs(best):
                length *= 0.5
            else:
                best = value
                size = _turn(x, before, bend, slope, step)
                length = min(1.0, _LONGEST / max(size, _LONGEST))
            _move(x, before, step, length)
            if size <= tol:
                break
        worst = max(worst, size)
    return worst


@kernel
def log_weights_of_counts(counts: Any, out: Matrix, prior: float, tol: float, max_iter: int) -> float:
    """The same from pair counts, (q, k, k)."""
    q, k = out.shape
    v, slope, step, before, bend = np.empty(k), np.empty(k), np.empty(k), np.empty(k), np.empty((k, k))
    worst = 0.0
    for i in range(q):
        x = out[i]
        for a in range(k):
            x[a] = 0.0
        best, size, length = -np.inf, np.inf, 1.0
        for _ in range(max_iter):
            value = _start(prior, x, v, slope, bend)
            value += _add_pairs(counts[i], x, v, slope, bend)
            if value < best - 1e-12 * abs(best):
                length *= 0.5
            else:
                best = value
                size = _turn(x, before, bend, slope, step)
                length = min(1.0, _LONGEST / max(size, _LONGEST))
            _move(x, before, step, length)
            if size <= tol:
                break
        worst = max(worst, size)
    return worst
