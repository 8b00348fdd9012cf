"""One pass of the perceptron of constraint classification."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from labelrank._kernels.compile import kernel


class Rows(NamedTuple):
    """Features in compressed sparse rows."""

    data: npt.NDArray[np.float64]
    indices: npt.NDArray[np.int32]
    indptr: npt.NDArray[np.int32]


class Constraints(NamedTuple):
    """Graphs: levels of shape (n, k), or edges where `levels` has no columns."""

    levels: npt.NDArray[np.int32]
    pointers: npt.NDArray[np.int64]
    better: npt.NDArray[np.int32]
    worse: npt.NDArray[np.int32]
    votes: npt.NDArray[np.float64]


@kernel
def perceptron_pass(order, rows, constraints, weight, constant, margin, coef, moments, time):
    """Visit the rows in `order`; update `coef` and `moments`, both (n_features + 1, n_labels), in place.

    `moments` is the sum of all updates, each times the total weight of the visits before it, so that
    ``coef - moments / time`` is the mean of the coefficients over all visits. The last feature is `constant`. Returns
    the new `time` and the weight of the violated constraints.
    """
    d, k = coef.shape[0] - 1, coef.shape[1]
    scores, step = np.empty(k), np.empty(k)
    violated = 0.0
    for i in order:
        first, last = rows.indptr[i], rows.indptr[i + 1]
        for y in range(k):
            scores[y] = constant * coef[d, y]
        for p in range(first, last):
            x, w = rows.data[p], coef[rows.indices[p]]
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
                x, w, u = rows.data[p], coef[rows.indices[p]], moments[rows.indices[p]]
                for y in range(k):
                    w[y] += x * step[y]
                    u[y] += time * x * step[y]
        time += weight[i]
    return time, violated


@kernel
def _violations(i, constraints, scores, margin, step):
    """Write into `step` the violated constraints that each label should win less those that it should lose.

    Returns the weight of the violated constraints.
    """
    k = len(scores)
    lost = 0.0
    for y in range(k):
        step[y] = 0.0
    if constraints.levels.shape[1]:
        levels = constraints.levels[i]
        for a in range(k):
            for b in range(k):
                if 0 <= levels[a] < levels[b] and scores[a] - scores[b] <= margin:
                    step[a] += 1.0
                    step[b] -= 1.0
                    lost += 1.0
    else:
        for e in range(constraints.pointers[i], constraints.pointers[i + 1]):
            a, b, votes = constraints.better[e], constraints.worse[e], constraints.votes[e]
            if scores[a] - scores[b] <= margin:
                step[a] += votes
                step[b] -= votes
                lost += votes
    return lost
