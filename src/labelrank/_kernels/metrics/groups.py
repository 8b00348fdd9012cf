"""Disagreement of scores within groups of items."""

import numpy as np

from labelrank._kernels.compile import kernel


@kernel
def group_disagreements(y, f, weight, start, stop):
    """Per group of consecutive items: the mean of ½|sign Δy − sign Δf| over pairs, weighted by products of weights."""
    share = np.zeros(len(start))
    for g in range(len(start)):
        unit = weight[start[g] : stop[g]].max()
        wrong, total = 0.0, 0.0
        for i in range(start[g], stop[g]):
            for j in range(i + 1, stop[g]):
                dy = (1.0 if y[i] > y[j] else 0.0) - (1.0 if y[i] < y[j] else 0.0)
                df = (1.0 if f[i] > f[j] else 0.0) - (1.0 if f[i] < f[j] else 0.0)
                pair = weight[i] / unit * (weight[j] / unit)
                wrong += 0.5 * abs(dy - df) * pair
                total += pair
        share[g] = wrong / total
    return share
