"""Histograms of a node: the sums of the channels of its rows, for every bin of every feature.

The channels of a row are its gradients G_1 … G_k, its curvatures H_1 … H_k and its weight, as float32. They are summed
as float64, where sums of up to a million such numbers of similar size are exact, so that neither the order of the rows
nor the subtraction of a sibling changes a histogram.
"""

import numpy as np

from labelrank._kernels.compile import kernel


@kernel
def fill_channels(channels, gradient, curvature, weight, smallest):
    """Write gradient, curvature (at least `smallest` times the gradient) and weight of the rows into `channels`."""
    n, k = gradient.shape
    for i in range(n):
        out = channels[i]
        for j in range(k):
            out[j] = gradient[i, j]
            out[k + j] = max(curvature[i, j], smallest * abs(gradient[i, j]))
        out[2 * k] = weight[i]


@kernel
def sum_channels(channels, rows, total):
    """Sum of the channels of some rows."""
    total[:] = 0.0
    for row in rows:
        values = channels[row]
        for c in range(len(total)):
            total[c] += values[c]


@kernel
def dense_histogram(bins, channels, rows, first, last, start, histogram):
    """Histogram of the features `first` to `last`; bin b of feature f is at ``start[f] - start[first] + b``.

    bins : uint8 (n_samples, n_features).
    """
    origin = start[first]
    histogram[: start[last] - origin] = 0.0
    n_channels = channels.shape[1]
    for row in rows:
        values, codes = channels[row], bins[row]
        for f in range(first, last):
            sums = histogram[np.uint64(start[f] - origin + codes[f])]
            for c in range(n_channels):
                sums[c] += values[c]


@kernel
def sparse_histogram(bins, channels, node_of_row, node, first, last, start, total, at_weight, histogram):
    """Histogram of the features `first` to `last` of sparse rows; absent entries have the rest of the total."""
    indptr, indices, codes, zero = bins
    origin, n_channels = start[first], channels.shape[1]
    histogram[: start[last] - origin] = 0.0
    rest = np.empty(n_channels)
    for f in range(first, last):
        here = histogram[start[f] - origin : start[f + 1] - origin]
        rest[:] = total
        for p in range(indptr[f], indptr[f + 1]):
            row = indices[p]
            if node_of_row[row] == node:
                values, sums = channels[row], here[codes[p]]
                for c in range(n_channels):
                    sums[c] += values[c]
                    rest[c] -= values[c]
        if rest[at_weight] > 0.0:
            here[zero[f]] += rest


@kernel
def subtract(parent, child):
    """Overwrite the histogram of the parent with that of the other child."""
    for b in range(len(parent)):
        for c in range(parent.shape[1]):
            parent[b, c] -= child[b, c]
