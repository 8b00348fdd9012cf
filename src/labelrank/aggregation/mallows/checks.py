"""Checks of centers, spreads and numbers of labels."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np

from labelrank._arrays import FloatArray
from labelrank.supervision import check_rankings, ranks_from_scores


def check_count(name: str, value: Any, minimum: int = 1) -> int:
    """Return an integer of at least `minimum`, or raise."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < minimum:
        raise ValueError(f"{name} must be an integer of at least {minimum}, got {value!r}")
    return int(value)


def check_theta(theta: Any) -> float:
    """Return a number of at least 0, infinity included, or raise."""
    if isinstance(theta, bool) or not isinstance(theta, numbers.Real) or not 0 <= float(theta) <= math.inf:
        raise ValueError(f"theta must be a number of at least 0 (infinity is allowed), got {theta!r}")
    return float(theta)


def check_numbers(values: Any, name: str, *, infinity: bool) -> FloatArray:
    """Return an array of any shape with numbers of at least 0, or raise."""
    array = np.asarray(values, dtype=np.float64)
    bad = ~(array >= 0) | (np.isinf(array) & (not infinity))
    if bad.any():
        kind = "numbers" if infinity else "finite numbers"
        raise ValueError(f"{name} must be {kind} of at least 0, got {array[bad].flat[0]}")
    return array


def check_center(center: Any) -> FloatArray:
    """Return the ranks 1, ..., n of a ranking given by any numbers without ties, or raise."""
    values = np.asarray(center, dtype=np.float64)
    if values.ndim != 1:
        raise ValueError(f"center must be one ranking of shape (n_labels,), got an array of shape {values.shape}")
    values = check_rankings(values[np.newaxis, :], input_name="center")
    if np.isnan(values).any():
        raise ValueError("center must rank every label, but has missing ranks (NaN); complete it first")
    ranks: FloatArray = ranks_from_scores(-values)[0]
    if len(np.unique(ranks)) < len(ranks):
        raise ValueError(f"center must have no ties, got {values[0].tolist()}; break them first")
    return ranks
