"""Weights of the neighbors of each query: how much of each is among the first k, and how much its distance counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from labelrank._arrays import BoolArray, FloatArray

Weights = Literal["uniform", "distance", "dudani"] | Callable[[Any], Any]


def first_of_weight(share: FloatArray, k: float) -> FloatArray:
    """Cut off weights where their sum reaches k.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank.neighbors.weights import first_of_weight
    >>> first_of_weight(np.array([[1.0, 3.0, 2.0, 1.0]]), 5)
    array([[1., 3., 1., 0.]])
    """
    before = np.cumsum(share, axis=1) - share
    return np.clip(k - before, 0.0, share)


def neighbor_weights(weights: Weights, distances: FloatArray, share: FloatArray) -> FloatArray:
    """Weights of neighbors: their shares times the weights of their distances, scaled to the sum of the shares.

    Parameters
    ----------
    weights : {"uniform", "distance", "dudani"} or callable
        How distances are weighted.
    distances, share : ndarray of shape (n_queries, n_neighbors)
        Distances, ascending, and sample weights; 0 is not counted.

    Returns
    -------
    ndarray of shape (n_queries, n_neighbors)
    """
    if weights == "uniform":
        return share
    counted = share > 0
    if callable(weights):
        by_distance = np.asarray(weights(distances), dtype=np.float64)
        if by_distance.shape != distances.shape:
            raise ValueError(
                f"weights returned an array of shape {by_distance.shape} for distances of shape {distances.shape}"
            )
        if not (np.isfinite(by_distance) & (by_distance >= 0))[counted].all():
            raise ValueError("weights returned a number that is negative, infinite or NaN")
    else:
        by_distance = (inverse if weights == "distance" else dudani)(distances, counted)
    weighted = np.where(counted, share * by_distance, 0.0)
    total = weighted.sum(axis=1, keepdims=True)
    return weighted * np.divide(share.sum(axis=1, keepdims=True), total, out=np.zeros_like(total), where=total > 0)


def inverse(distances: FloatArray, counted: BoolArray) -> FloatArray:
    """1/distance; if counted neighbors are at distance zero, 1 for those at zero and 0 for the others."""
    at_zero = counted & (distances == 0)
    weights = np.divide(1.0, distances, out=np.zeros_like(distances), where=distances > 0)
    return np.where(at_zero.any(axis=1, keepdims=True), at_zero.astype(np.float64), weights)


def dudani(distances: FloatArray, counted: BoolArray) -> FloatArray:
    """From 1 for the nearest counted neighbor linearly down to 0 for the farthest; 1 if all are equally far."""
    nearest = np.where(counted, distances, np.inf).min(axis=1, keepdims=True)
    farthest = np.where(counted, distances, -np.inf).max(axis=1, keepdims=True)
    span = farthest - nearest
    return np.divide(farthest - distances, span, out=np.ones_like(distances), where=span > 0)
