"""Drawing rankings from Mallows models by repeated insertion."""

from __future__ import annotations

import numpy as np

from labelrank._arrays import FloatArray


def draw_around(rng: np.random.RandomState, centers: FloatArray, theta: float) -> FloatArray:
    """Draw one ranking per row from the Mallows model around that row: P(r) ~ exp(-theta * Kendall distance).

    centers : (n_samples, n_labels), ranks without ties; theta : at least 0, infinity included.

    Repeated insertion: the labels enter from best to worst, and the i-th one overtakes v of the i - 1 labels
    before it with probability proportional to exp(-theta * v). All rows take each step together.
    """
    n_samples, n_labels = centers.shape
    order = np.argsort(centers, axis=1, kind="stable")
    positions = np.zeros((n_samples, n_labels))  # of the labels in `order`
    for i in range(1, n_labels):
        uniform = rng.random_sample(n_samples)
        if theta > 0:
            # the inverse of the cumulative distribution of a geometric variable truncated at i
            overtaken = np.floor(np.log1p(uniform * np.expm1(-theta * (i + 1))) / -theta)
        else:
            overtaken = np.floor(uniform * (i + 1))
        place = i - np.minimum(overtaken, i)
        positions[:, :i] += positions[:, :i] >= place[:, np.newaxis]
        positions[:, i] = place
    drawn = np.empty_like(centers)
    np.put_along_axis(drawn, order, positions + 1, axis=1)
    return drawn
