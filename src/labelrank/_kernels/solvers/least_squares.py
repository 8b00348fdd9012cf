"""Centring within groups: rows of a block of features, and columns of a block of kernel values, both in place."""

import numpy as np

from labelrank._kernels.compile import kernel


@kernel
def centre_rows(block, start, scale, first, last):
    """Subtract from the rows of each segment their weighted mean, then multiply row i by ``scale[i]``.

    The rows of segment s are ``start[s]:start[s + 1]``; within a segment the weights are proportional to the squares of
    `scale`. The means of the first and of the last segment are written to `first` and `last`.
    """
    n_columns = block.shape[1]
    mean = np.empty(n_columns)
    for s in range(len(start) - 1):
        mean[:] = 0.0
        total = 0.0
        for i in range(start[s], start[s + 1]):
            total += scale[i] * scale[i]
        for i in range(start[s], start[s + 1]):
            share = scale[i] * scale[i] / total if total > 0 else 1.0 / (start[s + 1] - start[s])
            for j in range(n_columns):
                mean[j] += share * block[i, j]
        for i in range(start[s], start[s + 1]):
            for j in range(n_columns):
                block[i, j] = (block[i, j] - mean[j]) * scale[i]
        if s == 0:
            first[:] = mean
        if s == len(start) - 2:
            last[:] = mean


@kernel
def pair_weights(weight, start):
    """Sum of w_i w_j over the pairs i < j of each segment, without the cancellation of (W² − Σ w²) / 2."""
    out = np.zeros(len(start) - 1)
    for s in range(len(start) - 1):
        before = 0.0
        for i in range(start[s], start[s + 1]):
            out[s] += weight[i] * before
            before += weight[i]
    return out


@kernel
def centre_columns(block, start, scale):
    """The same for the columns: those of segment s are ``start[s]:start[s + 1]``."""
    share = np.empty(block.shape[1])
    for s in range(len(start) - 1):
        total = 0.0
        for j in range(start[s], start[s + 1]):
            total += scale[j] * scale[j]
        for j in range(start[s], start[s + 1]):
            share[j] = scale[j] * scale[j] / total if total > 0 else 1.0 / (start[s + 1] - start[s])
    for i in range(block.shape[0]):
        for s in range(len(start) - 1):
            mean = 0.0
            for j in range(start[s], start[s + 1]):
                mean += share[j] * block[i, j]
            for j in range(start[s], start[s + 1]):
                block[i, j] = (block[i, j] - mean) * scale[j]
