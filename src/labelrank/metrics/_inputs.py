"""Checking what a metric is called with, and averaging over instances."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils.validation import _check_sample_weight

from labelrank.supervision import PreferenceGraphs, check_rankings, label_names

FloatArray = npt.NDArray[np.float64]


def check_predicted_ranks(y_pred: Any, shape: tuple[int, int]) -> FloatArray:
    """Predicted ranks: complete, and of the shape of y_true."""
    if isinstance(y_pred, PreferenceGraphs):
        raise TypeError("y_pred must be a rank matrix, got PreferenceGraphs; a prediction ranks every label")
    ranks = check_rankings(y_pred, ensure_min_samples=0, input_name="y_pred")
    if ranks.shape != shape:
        raise ValueError(f"y_true and y_pred have different shapes: {shape} and {ranks.shape}")
    if np.isnan(np.sum(ranks)):
        row = int(np.flatnonzero(np.isnan(ranks).any(axis=1))[0])
        raise ValueError(f"y_pred contains NaN, first in row {row}; a prediction ranks every label")
    return ranks


def check_same_labels(y_true: Any, y_pred: Any) -> None:
    """Refuse frames whose columns are named alike but stand in another order."""
    true = y_true.labels if isinstance(y_true, PreferenceGraphs) and y_true.has_names else label_names(y_true)
    pred = label_names(y_pred)
    if true is not None and pred is not None and list(true) != list(pred):
        raise ValueError(f"y_true and y_pred name different labels: {list(true)} and {list(pred)}")


def true_ranks(y_true: Any) -> FloatArray:
    """True ranks, NaN where not observed; layered graphs are turned into them."""
    if isinstance(y_true, PreferenceGraphs):
        try:
            return y_true.to_ranks()
        except ValueError as error:
            raise ValueError(f"this metric needs rankings, and y_true holds other graphs: {error}") from error
    return check_rankings(y_true, ensure_min_samples=0, input_name="y_true")


def average(
    values: FloatArray,
    counted: npt.NDArray[np.bool_],
    sample_weight: Any,
    name: str,
    *,
    warn_about: str | None = None,
    stacklevel: int = 3,
) -> float:
    """Weighted mean of `values` over the instances that are `counted`; NaN with a warning when there are none."""
    weight = None
    if sample_weight is not None:
        weight = _check_sample_weight(sample_weight, np.empty((len(values), 1)), ensure_non_negative=True)
    left_out = int(len(values) - np.count_nonzero(counted))
    if left_out and warn_about is not None:
        first = int(np.argmin(counted))
        warnings.warn(
            f"{name} leaves out {left_out} of {len(values)} instances {warn_about} (first: row {first})",
            UserWarning,
            stacklevel=stacklevel,
        )
    if weight is not None:
        weight = weight[counted]
    if left_out == len(values) or (weight is not None and not weight.sum() > 0):
        warnings.warn(
            f"{name} is undefined: no instance has anything to compare",
            UndefinedMetricWarning,
            stacklevel=stacklevel,
        )
        return float("nan")
    return float(np.average(values if not left_out else values[counted], weights=weight))
