"""One pass of the perceptron of constraint classification, and keys that know rows by their content.

Rows of features are CSR arrays. Those of a dense matrix have no `indices` (an empty array): entry p of a row is feature
p. Graphs are levels (n, k), or, with ``levels.shape[1] == 0``, edges by `pointers`, `better`, `worse` and `votes`.
"""

import numpy as np

from labelrank._kernels.compile import kernel


@kernel
def perceptron_pass(
    order, data, indices, indptr, constant, levels, pointers, better, worse, votes, weight, margin, coef, moments, time
):
    """Visit the rows in `order`; change `coef` and `moments`, both (n_features + 1, n_labels), in place.

    `moments` is the sum of all changes times the weight that had been visited before, so that
    ``coef - moments / time`` is the mean of the coefficients after each visit. `constant` is the last feature.
    Returns the new `time`, and the weight of the constraints that were not satisfied.
    """
    d, k = coef.shape[0] - 1, coef.shape[1]
    dense = len(indices) == 0
    scores, step = np.empty(k), np.empty(k)
    violated = 0.0
    for i in order:
        first, last = indptr[i], indptr[i + 1]
        for y in range(k):
            scores[y] = constant * coef[d, y]
        for p in range(first, last):
            x, w = data[p], coef[p - first if dense else indices[p]]
            for y in range(k):
                scores[y] += x * w[y]
        if levels.shape[1]:
            lost = _step_of_levels(levels[i], scores, margin, step)
        else:
            start, stop = pointers[i], pointers[i + 1]
            lost = _step_of_edges(better[start:stop], worse[start:stop], votes[start:stop], scores, margin, step)
        if lost > 0.0:
            violated += lost * weight[i]
            for y in range(k):
                step[y] *= weight[i]
            for p in range(first, last):
                j = p - first if dense else indices[p]
                x, w, u = data[p], coef[j], moments[j]
                for y in range(k):
                    change = x * step[y]
                    w[y] += change
                    u[y] += time * change
            for y in range(k):
                change = constant * step[y]
                coef[d, y] += change
                moments[d, y] += time * change
        time += weight[i]
    return time, violated


@kernel
def _step_of_levels(levels, scores, margin, step):
    """Set step to the number of violated constraints that a label should win, less those that it should lose."""
    k = len(levels)
    lost = 0.0
    for y in range(k):
        step[y] = 0.0
    for a in range(k):
        if levels[a] < 0:
            continue
        for b in range(k):
            if levels[a] < levels[b] and scores[a] - scores[b] <= margin:
                step[a] += 1.0
                step[b] -= 1.0
                lost += 1.0
    return lost


@kernel
def _step_of_edges(better, worse, votes, scores, margin, step):
    lost = 0.0
    for y in range(len(step)):
        step[y] = 0.0
    for e in range(len(better)):
        a, b = better[e], worse[e]
        if scores[a] - scores[b] <= margin:
            step[a] += votes[e]
            step[b] -= votes[e]
            lost += votes[e]
    return lost


@kernel
def _mix(x):
    """A bijection of 64 bits under which every bit depends on all (splitmix64)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@kernel
def row_keys(data, bits, indices, indptr, levels, pointers, better, worse, votes, n_labels):
    """Keys of 128 bits (n, 2): equal for rows with the same features and the same graph, however it is stored.

    `bits` and `votes` are the features and the weights of the edges as unsigned integers. Features that are zero do not
    count, so that sparse and dense rows have the same keys.
    """
    n = len(indptr) - 1
    k = np.int64(n_labels)
    dense = len(indices) == 0
    keys = np.empty((n, 2), np.uint64)
    one = np.array([1.0]).view(np.uint64)[0]
    for half in range(2):
        seed = np.uint64(0x9E3779B97F4A7C15) if half == 0 else np.uint64(0xD1B54A32D192ED03)
        for i in range(n):
            key = seed
            for p in range(indptr[i], indptr[i + 1]):
                if data[p] != 0.0:
                    j = p - indptr[i] if dense else np.int64(indices[p])
                    key = _mix(_mix(key + np.uint64(j)) ^ bits[p])
            edges = np.uint64(0)  # a sum: the order of the edges does not count
            if levels.shape[1]:
                for a in range(k):
                    for b in range(k):
                        if 0 <= levels[i, a] < levels[i, b]:
                            edges += _mix(_mix(seed + np.uint64(a * k + b)) ^ one)
            else:
                for e in range(pointers[i], pointers[i + 1]):
                    pair = np.int64(better[e]) * k + np.int64(worse[e])
                    edges += _mix(_mix(seed + np.uint64(pair)) ^ votes[e])
            keys[i, half] = _mix(key ^ edges)
    return keys
