"""Errors on sets of relevant labels, from scores: larger is better, a label is predicted when its score is above 0."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from labelrank._arrays import BoolArray, FloatArray, row_blocks
from labelrank.decompositions import Decomposition, get_covering
from labelrank.metrics.inputs import Average, check_predicted_scores, mean_of
from labelrank.supervision import PreferenceGraphs, is_graphs, label_names
from labelrank.supervision.indicators import relevance_levels, rows_of_sets
from labelrank.supervision.names import in_order_of


def _check_sets(Y_true: Any, Y_score: Any) -> tuple[PreferenceGraphs, FloatArray]:
    """Graphs of relevant sets, and scores of the same shape, columns aligned by name."""
    if isinstance(Y_true, Iterator):
        Y_true = list(Y_true)  # it is looked at twice
    scores = check_predicted_scores(Y_score)
    graphs = Y_true if is_graphs(Y_true) else _relevant_sets(Y_true, Y_score, scores.shape[1])
    scores = in_order_of(label_names(graphs), scores, label_names(Y_score), ("Y_true", "Y_score"))
    graphs.set_levels("a metric of sets")
    if scores.shape != graphs.shape:
        raise ValueError(f"Y_true and Y_score have different shapes: {graphs.shape} and {scores.shape}")
    return graphs, scores


def _relevant_and_scores(Y_true: Any, Y_score: Any) -> tuple[BoolArray, FloatArray]:
    """Which labels are relevant, all of them known, and scores of the same shape."""
    graphs, scores = _check_sets(Y_true, Y_score)
    levels = graphs.set_levels()
    if (levels < 0).any():
        row = int(np.argmax((levels < 0).any(axis=1)))
        raise ValueError(f"Y_true contains NaN, first in row {row}; this metric needs to know every label")
    return levels == 0, scores


def _relevant_sets(Y_true: Any, Y_score: Any, n_labels: int) -> PreferenceGraphs:
    """Graphs of relevant sets; sets do not say how many labels there are, the scores do."""
    columns = label_names(Y_score)
    sets = rows_of_sets(Y_true, "Y_true", named=columns is not None)
    named = {item for row in sets or () for item in row if isinstance(item, str)}
    if columns is None and named and len(named) != n_labels:
        raise ValueError(
            f"Y_true names {len(named)} labels, and Y_score has {n_labels} columns without names; pass Y_score as a "
            "data frame, or PreferenceGraphs.from_multilabel(Y_true, labels=[...]) with the labels of all columns"
        )
    levels, names = relevance_levels(Y_true, None if sets is None else columns, n_labels, "Y_true")
    return PreferenceGraphs(levels=levels, n_labels=levels.shape[1], labels=names)


def covering_error(
    Y_true: Any,
    Y_score: Any,
    covering: str | Decomposition | Callable[..., Any],
    *,
    sample_weight: Any = None,
    average: Average = "mean",
) -> Any:
    """Mean number of cover elements, per example, with at least one label on the wrong side of zero.

    Parameters
    ----------
    Y_true : 0/1 matrix (dense or sparse), sets of labels, or PreferenceGraphs of shape (n_samples, n_labels)
        The relevant labels; NaN is not known and left out of its element.
    Y_score : array-like or data frame of shape (n_samples, n_labels)
        Scores; a label is predicted when its score is above 0, so that a 0/1 prediction may be passed as well.
    covering : str, Covering or callable
        ``"zero_one"``, ``"hamming"``, ``"two_sets"``, ``"weighted_positive"``, ``"weighted_negative"``, an object such
        as ``weighted_positive(3)``, or a function of the boolean vector of relevant labels that returns the elements.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the examples.
    average : {"mean", None}, default="mean"
        None returns the value of each instance, NaN where it has none.

    Examples
    --------
    >>> from labelrank.metrics import covering_error
    >>> Y, S = [[1, 1, 0, 0]], [[2.0, -1.0, -1.0, 0.5]]
    >>> [covering_error(Y, S, name) for name in ("zero_one", "hamming", "two_sets", "weighted_positive")]
    [1.0, 2.0, 2.0, 7.0]
    >>> covering_error(Y, S, lambda relevant: [(0, 1), (2, 3), (2, 3)])
    3.0
    """
    cover = get_covering(covering)
    graphs, scores = _check_sets(Y_true, Y_score)
    failed = np.zeros(len(graphs))
    for rows in row_blocks(*graphs.shape, entries=2**21):
        elements = cover.cut(graphs[rows])
        side = np.where(scores[rows] > 0, -1.0, 1.0)  # as ranks: predicted labels before the dummy, the others after it
        wrong = elements.disagree(np.column_stack([side, np.zeros(len(side))]))
        failed[rows] = np.bincount(elements.instance, weights=elements.weight * wrong, minlength=len(side))
    return mean_of(failed, np.ones(len(failed), dtype=bool), sample_weight, average, "covering_error")


def one_error(Y_true: Any, Y_score: Any, *, sample_weight: Any = None, average: Average = "mean") -> Any:
    """Share of the examples whose label of highest score is not relevant.

    When several labels share the highest score, all of them must be relevant. Examples without a relevant label are
    left out, and a warning counts them.

    Parameters
    ----------
    Y_true : 0/1 matrix (dense or sparse), sets of labels, or PreferenceGraphs of shape (n_samples, n_labels)
        The relevant labels.
    Y_score : array-like or data frame of shape (n_samples, n_labels)
        Scores, larger is better.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the examples.
    average : {"mean", None}, default="mean"
        None returns the value of each instance, NaN where it has none.

    Examples
    --------
    >>> from labelrank.metrics import one_error
    >>> one_error([[1, 0, 0], [0, 1, 1]], [[0.9, 0.1, 0.0], [0.7, 0.2, 0.1]])
    0.5
    """
    relevant, scores = _relevant_and_scores(Y_true, Y_score)
    top = scores == scores.max(axis=1, keepdims=True, initial=-np.inf)
    wrong = (top & ~relevant).any(axis=1)
    counted: BoolArray = np.any(relevant, axis=1)
    about = "without a relevant label"
    return mean_of(wrong.astype(np.float64), counted, sample_weight, average, "one_error", warn_about=about)


def coverage(Y_true: Any, Y_score: Any, *, sample_weight: Any = None, average: Average = "mean") -> Any:
    """Mean number of labels, from the top, that must be looked at to see all relevant ones.

    Agrees with :func:`sklearn.metrics.coverage_error`: 1 at best when there is a relevant label (the paper on label
    covering counts from 0 instead), 0 for an example without any; tied labels count in full.

    Takes the arguments of :func:`one_error`.

    Examples
    --------
    >>> from labelrank.metrics import coverage
    >>> coverage([[1, 0, 0], [0, 0, 1]], [[0.9, 0.1, 0.0], [0.7, 0.2, 0.1]])
    2.0
    """
    relevant, scores = _relevant_and_scores(Y_true, Y_score)
    lowest = np.min(np.where(relevant, scores, np.inf), axis=1, initial=np.inf)
    depth = (scores >= lowest[:, None]).sum(axis=1).astype(np.float64)
    return mean_of(depth, np.ones(len(depth), dtype=bool), sample_weight, average, "coverage")


def average_precision(Y_true: Any, Y_score: Any, *, sample_weight: Any = None, average: Average = "mean") -> Any:
    """Mean over the relevant labels of the share of relevant labels among those ranked at or above them.

    Agrees with :func:`sklearn.metrics.label_ranking_average_precision_score`; an example without relevant labels, or
    without others, counts 1.

    Takes the arguments of :func:`one_error`.

    Examples
    --------
    >>> from labelrank.metrics import average_precision
    >>> average_precision([[1, 0, 1]], [[0.9, 0.5, 0.1]])
    0.833...
    """
    relevant, scores = _relevant_and_scores(Y_true, Y_score)
    values = _precision_of_rows(relevant, scores)
    return mean_of(values, np.ones(len(values), dtype=bool), sample_weight, average, "average_precision")


def _precision_of_rows(relevant: BoolArray, scores: FloatArray) -> FloatArray:
    from scipy.stats import rankdata

    count = relevant.sum(axis=1)
    if not relevant.shape[1]:
        return np.ones(len(relevant))
    above = rankdata(-scores, method="max", axis=1)
    above_relevant = rankdata(np.where(relevant, -scores, np.inf), method="max", axis=1)
    precision = np.where(relevant, above_relevant / above, 0.0).sum(axis=1) / np.maximum(count, 1)
    return np.where((count == 0) | (count == relevant.shape[1]), 1.0, precision)
