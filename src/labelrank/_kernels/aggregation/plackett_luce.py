"""Plackett-Luce weights of many groups of rankings, by Newton's method.

With x = log v, the log-likelihood of the choice of label a from the set S is x_a - log(sum over S of exp(x_b)), which
is concave. A ranking is a sequence of choices, an edge a choice between two labels (Bradley-Terry). A prior keeps the
weights of labels that always win finite: each label wins and loses `prior` times against a label of weight 1.
"""

from __future__ import annotations

import numpy as np

from labelrank._kernels.compile import kernel

_LONGEST = 2.0  # step of Newton's method: weights stay far from overflow


@kernel
def _read_rows(neighbors, weights, rows, order, level, w, counts):
    """Read the rankings of a neighborhood, or the counts of its edges; return the number of rankings.

    order : (m, k), the observed labels of each ranking, worst first, and -1 after the last; level : (m, k), 0 is the
    worst; w : (m,), their weights; counts : (k, k), summed edges.
    """
    used = 0
    k = rows.values.shape[1]
    for j in range(neighbors.shape[0]):
        if weights[j] <= 0.0:
            continue
        for e in range(rows.indptr[neighbors[j]], rows.indptr[neighbors[j] + 1]):
            counts[rows.better[e], rows.worse[e]] += weights[j] * rows.weight[e]
        if k == 0:
            continue
        row = rows.values[neighbors[j]]
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
def _add_choices(order, level, w, x, v, slope, bend, sums):
    """Add the choices of a ranking to the gradient and the lower half of minus the Hessian; return the log-likelihood.

    A label is chosen among itself and all observed labels that are not ranked before it; tied labels are each chosen
    from the same set. The last level makes no choice. sums : (3, k), a buffer.
    """
    observed = 0
    total = 0.0
    while observed < order.shape[0] and order[observed] >= 0:
        total += v[order[observed]]
        sums[0, observed] = total
        observed += 1
    # Down from the best level: a label is in the sets of its own level and of all levels above it. The logarithm of the
    # product of the sums is taken once, and before the product overflows or underflows.
    chosen, product, logs, first, second = 0.0, 1.0, 0.0, 0.0, 0.0
    c = observed - 1
    while c >= 0:
        size, own = 1, level[c]
        while c - size >= 0 and level[c - size] == own:
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
                chosen += x[order[d]]
                slope[order[d]] += w
            sums[1, d] = first
            sums[2, d] = second
        c -= size
    value = w * (chosen - logs - np.log(product))
    for c in range(observed):
        a = order[c]
        slope[a] -= v[a] * sums[1, c]
        bend[a, a] += v[a] * sums[1, c] - v[a] * v[a] * sums[2, c]
        for d in range(c):  # both are in the sets of the level of the better one and of all levels above it
            b = order[d]
            bend[max(a, b), min(a, b)] -= v[a] * v[b] * sums[2, c]
    return value


@kernel
def _add_pairs(counts, x, v, slope, bend):
    """Add the choices of pair counts, where every pair is a separate choice; return the log-likelihood."""
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
def _solve(bend, slope, step):
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
def _start(prior, x, v, slope, bend):
    """Write the weights, and the terms of the prior in gradient and Hessian; return that of the log-likelihood."""
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
def log_weights(neighbors, weights, out, rows, prior, tol, max_iter):
    """Write the log weights of each neighborhood to `out`, (q, k); return the largest last step of Newton's method.

    neighbors, weights : (q, m); rows : :class:`labelrank.pairs.PairRows`. Steps that reduce the likelihood are halved.
    """
    q, m = neighbors.shape
    k = out.shape[1]
    order, level, w = np.empty((m, k), np.int64), np.empty((m, k), np.int64), np.empty(m)
    v, slope, step, before = np.empty(k), np.empty(k), np.empty(k), np.empty(k)
    bend, sums = np.empty((k, k)), np.empty((3, k))
    worst = 0.0
    for i in range(q):
        counts = np.zeros((k, k))
        used = _read_rows(neighbors[i], weights[i], rows, order, level, w, counts)
        x = out[i]
        for a in range(k):
            x[a] = 0.0
        best, size, length = -np.inf, np.inf, 1.0
        for _ in range(max_iter):
            value = _start(prior, x, v, slope, bend) + _add_pairs(counts, x, v, slope, bend)
            for j in range(used):
                value += _add_choices(order[j], level[j], w[j], x, v, slope, bend, sums)
            if value < best - 1e-12 * abs(best):
                length *= 0.5
            else:
                best, size = value, 0.0
                _solve(bend, slope, step)
                for a in range(k):
                    before[a] = x[a]
                    size = max(size, abs(step[a]))
                length = min(1.0, _LONGEST / max(size, _LONGEST))
            for a in range(k):
                x[a] = before[a] + length * step[a]
            if size <= tol:
                break
        worst = max(worst, size)
    return worst
