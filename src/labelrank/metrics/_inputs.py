"""Checking what a metric is called with, and averaging over instances."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import UndefinedMetricWarning

from labelrank._compat import check_sample_weight
from labelrank.supervision import PreferenceGraphs, check_rankings, label_names
from labelrank.supervision._inputs import RANKS, SCORES, Advice, float_matrix, refuse_infinity

FloatArray = npt.NDArray[np.float64]

_PREDICTED_RANKS = replace(
    RANKS,
    ragged="a prediction ranks every label",
    text="a prediction holds the rank of each label; for label names in order of preference use ranks_from_orders",
    sparse="a prediction ranks every label. Pass {name}.toarray() if 0 is the rank that is meant",
    masked="a prediction ranks every label",
    infinite="a prediction ranks every label: give the last one the largest rank of its row plus 1. For scores use "
    "ranks_from_scores, with finite scores",
    vector="for one instance pass {name}[np.newaxis, :]",
)
_PREDICTED_SCORES = replace(
    SCORES,
    ragged="a prediction has a score for every label",
    text="scores are numbers, larger is better",
    masked="a prediction has a score for every label",
    infinite="use a large finite number for a label that is certainly relevant or irrelevant",
)


def check_predicted_ranks(y_pred: Any, shape: tuple[int, int]) -> FloatArray:
    """Predicted ranks: complete, and of the shape of y_true."""
    if isinstance(y_pred, PreferenceGraphs):
        raise TypeError("y_pred must be a rank matrix, got PreferenceGraphs; a prediction ranks every label")
    ranks = _complete_matrix(y_pred, "y_pred", "ranks", _PREDICTED_RANKS)
    if ranks.shape != shape:
        raise ValueError(f"y_true and y_pred have different shapes: {shape} and {ranks.shape}")
    return ranks


def check_predicted_scores(Y_score: Any) -> FloatArray:
    """Predicted scores: one for every label."""
    if isinstance(Y_score, PreferenceGraphs):
        raise TypeError("Y_score must be a matrix of scores, got PreferenceGraphs; a prediction scores every label")
    return _complete_matrix(Y_score, "Y_score", "scores", _PREDICTED_SCORES)


def _complete_matrix(y: Any, name: str, what: str, advice: Advice) -> FloatArray:
    matrix = float_matrix(y, name, what, advice)
    refuse_infinity(matrix, name, advice.infinite)
    if np.isnan(np.sum(matrix)):
        row = int(np.flatnonzero(np.isnan(matrix).any(axis=1))[0])
        raise ValueError(f"{name} contains NaN, first in row {row}; {advice.ragged}")
    return matrix


def check_same_labels(y_true: Any, y_pred: Any, *, names: tuple[str, str] = ("y_true", "y_pred")) -> None:
    """Refuse frames whose columns are named alike but stand in another order."""
    true = y_true.labels if isinstance(y_true, PreferenceGraphs) and y_true.has_names else label_names(y_true)
    pred = label_names(y_pred)
    if true is not None and pred is not None and list(true) != list(pred):
        raise ValueError(
            f"{names[0]} and {names[1]} name different labels: {list(true)} and {list(pred)}; give the columns the "
            "same names and order"
        )


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
        weight = check_sample_weight(sample_weight, np.empty((len(values), 1)), ensure_non_negative=True)
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
