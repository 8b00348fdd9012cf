"""Utilities of labels for instances, from which the generators start."""

from __future__ import annotations

import numpy as np

from labelrank._arrays import FloatArray


def linear_utilities(rng: np.random.RandomState, X: FloatArray, n_labels: int) -> FloatArray:
    """u_l(x) = <w_l, x>, w_l normal: each label has mean 0 and, averaged over the w_l, variance 1."""
    n_features = X.shape[1]
    coef = rng.standard_normal((n_features, n_labels)) / np.sqrt(n_features)
    return np.asarray(X @ coef)


def nonlinear_utilities(rng: np.random.RandomState, X: FloatArray, n_labels: int, n_waves: int = 64) -> FloatArray:
    """u_l(x) = a sum of random cosines: a draw of a Gaussian process with an RBF kernel, variance 1.

    The length scale is sqrt(n_features) / 2, a third or so of the distance between two instances: smooth
    enough to be learned, far from a plane.
    """
    n_features = X.shape[1]
    frequencies = 2.0 * rng.standard_normal((n_features, n_waves)) / np.sqrt(n_features)
    phases = rng.uniform(0, 2 * np.pi, n_waves)
    weights = rng.standard_normal((n_waves, n_labels)) * np.sqrt(2 / n_waves)
    return np.asarray(np.cos(X @ frequencies + phases) @ weights)
