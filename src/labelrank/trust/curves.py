"""Reliability curves of probabilities, and risk-coverage curves of confidences."""

from __future__ import annotations

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from labelrank._arrays import FloatArray
from labelrank._compat import check_sample_weight
from labelrank.supervision import as_graphs


class ReliabilityCurve(NamedTuple):
    """Predicted and observed shares of bins of pairs."""

    predicted: FloatArray  # mean probability of the bin
    observed: FloatArray  # share of its pairs that were observed in this order
    weight: FloatArray  # of its pairs


class RiskCoverageCurve(NamedTuple):
    """Mean loss of the most confident instances, for each share of instances."""

    coverage: FloatArray
    risk: FloatArray


def reliability_curve(y: Any, proba: Any, *, n_bins: int = 10, sample_weight: Any = None) -> ReliabilityCurve:
    """Observed share of pairs in the predicted order, by predicted probability.

    Every observed pair counts once, in the direction that was predicted to be more probable.

    Parameters
    ----------
    y : rank matrix or PreferenceGraphs of shape (n_samples, n_labels)
        Observed preferences; ties and missing pairs are ignored.
    proba : ndarray of shape (n_samples, n_labels, n_labels)
        P(i before j).
    n_bins : int, default=10
        Number of bins of equal width from 0.5 to 1. Empty bins are omitted.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the instances.

    Returns
    -------
    ReliabilityCurve
        `predicted`, `observed` and `weight`, one number for each bin.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank.trust import reliability_curve
    >>> proba = np.array([[[0.5, 0.9], [0.1, 0.5]]] * 4)
    >>> reliability_curve([[1, 2], [1, 2], [1, 2], [2, 1]], proba).observed
    array([0.75])
    """
    if isinstance(n_bins, bool) or not isinstance(n_bins, Integral) or n_bins < 1:
        raise ValueError(f"n_bins must be an integer ≥ 1, got {n_bins!r}")
    probability, right, weight = _pairs(y, proba, sample_weight)
    place = np.minimum(((probability - 0.5) * 2 * n_bins).astype(np.intp), n_bins - 1)
    total, sum_p, sum_right = (
        np.bincount(place, weights=weight * each, minlength=n_bins).astype(np.float64)
        for each in (np.ones(len(place)), probability, right)
    )
    used = total > 0
    return ReliabilityCurve(sum_p[used] / total[used], sum_right[used] / total[used], total[used])


def expected_calibration_error(y: Any, proba: Any, *, n_bins: int = 10, sample_weight: Any = None) -> float:
    """Mean distance between predicted and observed shares of pairs, over the bins of the reliability curve.

    Parameters
    ----------
    y, proba, n_bins, sample_weight
        As in :func:`reliability_curve`.

    Returns
    -------
    float
        From 0 to 1; NaN without any observed pair.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank.trust import expected_calibration_error
    >>> proba = np.array([[[0.5, 0.9], [0.1, 0.5]]] * 4)
    >>> round(expected_calibration_error([[1, 2], [1, 2], [1, 2], [2, 1]], proba), 2)
    0.15
    """
    curve = reliability_curve(y, proba, n_bins=n_bins, sample_weight=sample_weight)
    if not len(curve.weight):
        return float("nan")
    return float(np.average(np.abs(curve.predicted - curve.observed), weights=curve.weight))


def risk_coverage_curve(loss: Any, confidence: Any) -> RiskCoverageCurve:
    """Mean loss of the instances that are kept when the least confident are rejected.

    Parameters
    ----------
    loss : array-like of shape (n_samples,)
        Loss of each instance, such as ``1 - kendall_tau(y, ranks, average=None)``; NaN is ignored.
    confidence : array-like of shape (n_samples,)
        Confidence in each prediction. Instances with equal confidence are kept or rejected together.

    Returns
    -------
    RiskCoverageCurve
        `coverage`, increasing up to 1, and `risk`.

    Examples
    --------
    >>> from labelrank.trust import risk_coverage_curve
    >>> curve = risk_coverage_curve([0.0, 0.5, 1.0], [0.9, 0.8, 0.7])
    >>> curve.coverage.round(2).tolist(), curve.risk.tolist()
    ([0.33, 0.67, 1.0], [0.0, 0.25, 0.5])
    """
    lost, sure = np.asarray(loss, dtype=np.float64), np.asarray(confidence, dtype=np.float64)
    if lost.ndim != 1 or lost.shape != sure.shape:
        raise ValueError(f"loss and confidence must have the same length, got shapes {lost.shape} and {sure.shape}")
    known = ~np.isnan(lost)
    if np.isnan(sure[known]).any():
        raise ValueError("confidence must not contain NaN")
    lost, sure = lost[known], sure[known]
    order = np.argsort(-sure, kind="stable")
    last = np.flatnonzero(np.append(np.diff(sure[order]) != 0, True)[: len(order)])
    return RiskCoverageCurve((last + 1.0) / max(len(lost), 1), np.cumsum(lost[order])[last] / (last + 1.0))


def area_under_risk_coverage(loss: Any, confidence: Any) -> float:
    """Mean risk over all coverages; smaller is better.

    The area of an uninformative confidence is the mean loss; the smallest possible area is that of
    ``confidence = -loss``.

    Parameters
    ----------
    loss, confidence : array-like of shape (n_samples,)
        As in :func:`risk_coverage_curve`.

    Returns
    -------
    float
        NaN without any instance.

    Examples
    --------
    >>> from labelrank.trust import area_under_risk_coverage
    >>> area_under_risk_coverage([0.0, 0.5, 1.0], [0.9, 0.8, 0.7])
    0.25
    """
    curve = risk_coverage_curve(loss, confidence)
    if not len(curve.risk):
        return float("nan")
    return float(np.diff(curve.coverage, prepend=0.0) @ curve.risk)


def _pairs(y: Any, proba: Any, sample_weight: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Probability of the more probable direction of each observed pair, whether it was observed, and its weight."""
    graphs, proba = as_graphs(y), np.asarray(proba, dtype=np.float64)
    n, k = graphs.shape
    if proba.shape != (n, k, k):
        raise ValueError(f"proba must have shape {(n, k, k)} for these labels, got {proba.shape}")
    if not ((proba >= 0) & (proba <= 1)).all() or not np.allclose(proba + proba.transpose(0, 2, 1), 1.0):
        raise ValueError("proba must be probabilities with P(i before j) + P(j before i) = 1")
    weight = check_sample_weight(sample_weight, np.empty((n, 0)), dtype=np.float64, ensure_non_negative=True)
    edges = graphs.to_edges()
    p = proba[edges.instance, edges.better, edges.worse]
    right = np.where(p == 0.5, 0.5, p > 0.5)
    return np.maximum(p, 1 - p), right, graphs.edge_weights() * weight[edges.instance]
