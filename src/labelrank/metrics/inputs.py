"""Checks of the arguments of metrics, and averages over instances."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from labelrank._arrays import BoolArray, FloatArray
from labelrank.supervision import PreferenceGraphs, as_graphs, is_graphs, label_names, stacklevel_of_user
from labelrank.supervision.matrices import SCORES, Advice, float_matrix
from labelrank.supervision.names import in_order_of
from labelrank.supervision.vectors import Labels
from labelrank.supervision.weights import row_weights

Average = Literal["mean"] | None

_PREDICTED_RANKS = replace(
    SCORES,
    ragged="a prediction ranks every label",
    text="a prediction holds the rank of each label; for label names in order of preference use ranks_from_orders",
    sparse="a prediction ranks every label. Pass {name}.toarray() if entries that are not stored have rank 0",
    masked="a prediction ranks every label",
    booleans="of which the smaller one, False, would be the better rank; pass ranks, or ranks_from_scores({name})",
    infinite="a prediction ranks every label: replace an infinite rank by the largest finite rank of its row plus 1. "
    "For scores use ranks_from_scores, with finite scores",
)
_PREDICTED_SCORES = replace(
    SCORES,
    ragged="a prediction has a score for every label",
    text="scores are numbers, larger is better",
    masked="a prediction has a score for every label",
    infinite="use a large finite number for a label that is certainly relevant or irrelevant",
)


def graphs_and_ranks(y_true: Any, y_pred: Any) -> tuple[PreferenceGraphs, FloatArray]:
    """Observed preferences, and complete predicted ranks of the same shape, columns aligned by name."""
    graphs = as_graphs(y_true, input_name="y_true")
    return graphs, predicted_ranks(y_pred, label_names(graphs), graphs.shape, "y_true")


def predicted_ranks(y_pred: Any, names: Labels | None, shape: tuple[int, ...], of: str) -> FloatArray:
    """Complete predicted ranks of a shape, columns in the order of the `names` of the argument called `of`."""
    ranks = _complete_matrix(y_pred, "y_pred", "ranks", _PREDICTED_RANKS)
    ranks = in_order_of(names, ranks, label_names(y_pred), (of, "y_pred"))
    if ranks.shape != shape:
        raise ValueError(f"{of} and y_pred have different shapes: {shape} and {ranks.shape}")
    return ranks


def true_and_predicted_ranks(y_true: Any, y_pred: Any) -> tuple[FloatArray, FloatArray]:
    """Observed ranks, NaN where not observed, and complete predicted ranks of the same shape."""
    graphs, ranks = graphs_and_ranks(y_true, y_pred)
    try:
        return graphs.rank_values(), ranks
    except ValueError as error:
        raise ValueError(f"this metric needs rankings, and y_true holds other graphs: {error}") from error


def check_predicted_scores(Y_score: Any) -> FloatArray:
    """Predicted scores: one for every label."""
    return _complete_matrix(Y_score, "Y_score", "scores", _PREDICTED_SCORES)


def _complete_matrix(y: Any, name: str, what: str, advice: Advice) -> FloatArray:
    if is_graphs(y):
        raise TypeError(f"{name} must be a matrix of {what}, got PreferenceGraphs; {advice.ragged}")
    matrix = float_matrix(y, name, what, advice)
    if np.isnan(np.sum(matrix)):
        row = int(np.argmax(np.isnan(matrix).any(axis=1)))
        raise ValueError(f"{name} contains NaN, first in row {row}; {advice.ragged}")
    return matrix


def mean_of(
    values: FloatArray,
    counted: BoolArray,
    sample_weight: Any,
    average: Average,
    name: str,
    *,
    warn_about: str | None = None,
) -> Any:
    """Weighted mean of `values` over the instances that are `counted`; NaN with a warning when there are none.

    With ``average=None`` the values themselves, NaN for instances that do not count.
    """
    weight = None if sample_weight is None else row_weights(sample_weight, len(values))[counted]
    if average is None:
        return np.where(counted, values, np.nan)
    if weight is not None:  # only their ratios count; their sum must neither overflow nor vanish
        weight = np.ldexp(weight, -np.frexp(weight.max(initial=0.0))[1])
    if average != "mean":
        raise ValueError(f'average must be "mean" or None, got {average!r}')
    left_out = int(len(values) - np.count_nonzero(counted))
    if left_out and warn_about is not None:
        first = int(np.argmin(counted))
        warnings.warn(
            f"{name} leaves out {left_out} of {len(values)} instances {warn_about} (first: row {first})",
            UserWarning,
            stacklevel=stacklevel_of_user(),
        )
    if left_out == len(values) or (weight is not None and not weight.sum() > 0):
        warnings.warn(
            f"{name} is undefined: no instance has a weight and anything to compare",
            UndefinedMetricWarning,
            stacklevel=stacklevel_of_user(),
        )
        return float("nan")
    return float(np.average(values[counted] if left_out else values, weights=weight))
