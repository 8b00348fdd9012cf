"""Weights of instances and of pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from labelrank._arrays import FloatArray
from labelrank._compat import check_sample_weight, num_samples


def row_weights(sample_weight: Any, n_rows: int) -> FloatArray:
    """Non-negative weights, one per instance; ones for None."""
    if sample_weight is None or not (n_rows or num_samples(sample_weight)):
        return np.ones(n_rows)
    return check_sample_weight(
        sample_weight,
        np.empty((n_rows, 0)),
        dtype=np.float64,
        ensure_non_negative=True,
        allow_all_zero_weights=True,
    )


def fit_weights(sample_weight: Any, n_rows: int) -> FloatArray:
    """Non-negative weights for a fit, one per instance, with a sum that can be divided by; ones for None."""
    weight = check_sample_weight(sample_weight, np.empty((n_rows, 0)), dtype=np.float64, ensure_non_negative=True)
    with np.errstate(over="ignore"):
        check_total_weight(weight.sum())
    return weight


def check_total_weight(total: float) -> None:
    """Raise if sample weights sum to a number by which losses cannot be divided."""
    if not np.isfinite(total):
        raise ValueError("sample_weight sums to infinity; divide the weights by their largest")
    if 0 < total < np.finfo(np.float64).tiny:
        raise ValueError(f"sample_weight sums to {total:g}, too little to divide by; divide the weights by it")


def pair_weights(weight: Any, n_pairs: int) -> FloatArray | None:
    """Positive, finite weights, one per pair; None stays None."""
    if weight is None:
        return None
    try:
        array = np.asarray(weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"weight must hold one positive number for each of {n_pairs} pairs; {error}") from error
    if array.shape != (n_pairs,):
        raise ValueError(f"weight has shape {array.shape}, expected one weight for each of {n_pairs} pairs")
    sound = np.isfinite(array) & (array > 0)
    if not sound.all():
        at = int(np.argmin(sound))
        raise ValueError(f"weight must be positive and finite, got {array[at]} in entry {at}; drop such pairs")
    with np.errstate(over="ignore"):
        total = array.sum()
    if not np.isfinite(total):
        raise ValueError("weight sums to infinity; divide the weights by their largest")
    return array
