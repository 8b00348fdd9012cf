"""One pass of the perceptron of constraint classification."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from labelrank._kernels.compile import kernel


class SparseRows(NamedTuple):
    """Features in compressed sparse rows."""

    data: npt.NDArray[np.float64]
    indices: npt.NDArray[np.int32]
    indptr: npt.NDArray[np.int32]


@kernel
def perceptron_pass(order, features, constraints, weight, constant, margin, coef, moments, time):
    """Visit the rows in `order`, and update `coef` and `moments`, both (n_features + 1, n_labels), in place.

    constraints : :class:`labelrank.pairs.PairRows`; constant : the last feature. `moments` is the sum of all updates,
    each times the total weight of the visits before it, so that ``coef - moments / time`` is the mean of the
    coefficients over all visits. Returns the new `time` and the weight of the violated constraints.
    """
    d, k = coef.shape[0] - 1, coef.shape[1]
    scores, step = np.empty(k), np.empty(k)
    violated = 0.0
    for i in order:
        first, last = features.indptr[i], features.indptr[i + 1]
        for y in range(k):
            scores[y] = constant * coef[d, y]
        for p in range(first, last):
            x, w = features.data[p], coef[features.indices[p]]
            for y in range(k):
                scores[y] += x * w[y]
        lost = _violations(i, constraints, scores, margin, step)
        if lost > 0.0:
            violated += lost * weight[i]
            for y in range(k):
                step[y] *= weight[i]
                coef[d, y] += constant * step[y]
                moments[d, y] += time * constant * step[y]
            for p in range(first, last):
                x, w, u = features.data[p], coef[features.indices[p]], moments[features.indices[p]]
                for y in range(k):
                    w[y] += x * step[y]
                    u[y] += time * x * step[y]
        time += weight[i]
    return time, violated


@kernel
def _violations(i, constraints, scores, margin, step):
    """Write to `step` the violated constraints that each label should win minus those that it should lose.

    Returns the weight of the violated constraints.
    """
    lost = 0.0
    step[:] = 0.0
    ranks = constraints.values[i]
    for a in range(ranks.shape[0]):
        for b in range(ranks.shape[0]):
            if ranks[a] < ranks[b] and scores[a] - scores[b] <= margin:
                step[a] += 1.0
                step[b] -= 1.0
                lost += 1.0
    for e in range(constraints.indptr[i], constraints.indptr[i + 1]):
        a, b, votes = constraints.better[e], constraints.worse[e], constraints.weight[e]
        if scores[a] - scores[b] <= margin:
            step[a] += votes
            step[b] -= votes
            lost += votes
    return lost
