"""Agreement of two rankings: Kendall's tau and its relatives, Spearman's rho.

All are computed on ranks, never on orders, over the labels that were observed, instance by instance.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from labelrank._arrays import FloatArray, competition_ranks
from labelrank.metrics.inputs import Average, graphs_and_ranks, mean_of, true_and_predicted_ranks
from labelrank.supervision import as_graphs


def kendall_tau(y_true: Any, y_pred: Any, *, sample_weight: Any = None, average: Average = "mean") -> Any:
    r"""Kendall's tau over observed pairs: the mean of +1 for each agreeing and -1 for each contradicted pair.

    .. math:: \tau_i = \frac{1}{|P_i|} \sum_{(a, b) \in P_i} \operatorname{sign}(\hat\pi_i(b) - \hat\pi_i(a)),
              \qquad P_i = \{(a, b): a \text{ is preferred to } b \text{ in instance } i\}

    averaged over the instances that have a pair. A pair that is tied in the prediction counts 0.

    Parameters
    ----------
    y_true : rank matrix or PreferenceGraphs of shape (n_samples, n_labels)
        Observed preferences, with missing labels and ties. Weights of edges weigh the pairs of an instance; of a pair
        with both directions, 3 votes to 1 count 1/2 for a prediction that follows the majority.
    y_pred : rank matrix of shape (n_samples, n_labels)
        Predicted ranks, smaller is better; :func:`labelrank.ranks_from_scores` makes them from scores.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the instances.
    average : {"mean", None}, default="mean"
        None returns the value of each instance, NaN where it has none.

    Returns
    -------
    float, or ndarray of shape (n_samples,) with ``average=None``
        From -1 to 1; NaN with a warning when no instance has a pair.

    Examples
    --------
    >>> from labelrank.metrics import kendall_tau
    >>> kendall_tau([[1, 2, 3], [1, 2, float("nan")]], [[1, 3, 2], [2, 1, 3]])  # (1/3 - 1) / 2
    -0.333...
    """
    graphs, ranks = graphs_and_ranks(y_true, y_pred)
    balance, total = graphs.concordance(ranks)
    return mean_of(balance / np.where(total > 0, total, 1), total > 0, sample_weight, average, "kendall_tau")


def kendall_tau_b(y_true: Any, y_pred: Any, *, sample_weight: Any = None, average: Average = "mean") -> Any:
    r"""Kendall's tau-b: corrected for ties on both sides.

    .. math:: \tau_b = \frac{C - D}{\sqrt{(n_0 - n_1)(n_0 - n_2)}}

    with C agreeing and D contradicted pairs among the :math:`n_0` pairs of observed labels, of which :math:`n_1` are
    tied in `y_true` and :math:`n_2` in `y_pred`. Averaged over the instances that are not all tied; a prediction that
    ties all observed labels counts 0.

    Takes the arguments of :func:`kendall_tau`, but `y_true` must hold rankings or layered graphs.

    Examples
    --------
    >>> from labelrank.metrics import kendall_tau_b
    >>> kendall_tau_b([[1, 2, 2]], [[1, 2, 3]])
    0.816...
    """
    true, pred = true_and_predicted_ranks(y_true, y_pred)
    balance, untied = as_graphs(true).concordance(pred)
    scale = np.sqrt(untied * _untied_pairs(np.where(np.isnan(true), np.nan, pred)))
    return mean_of(balance / np.where(scale > 0, scale, 1), untied > 0, sample_weight, average, "kendall_tau_b")


def kendall_tau_x(y_true: Any, y_pred: Any, *, sample_weight: Any = None, average: Average = "mean") -> Any:
    r"""Kendall's tau-x of Emond and Mason: a tie on both sides agrees fully, a tie on one side counts 0.

    .. math:: \tau_x = \frac{1}{m(m - 1)} \sum_{a \ne b} A_{ab} B_{ab}, \qquad
              A_{ab} = +1 \text{ if a is before or tied with b, else } -1

    over the m observed labels of an instance, averaged over the instances with two or more. It is the measure for
    rankings with ties, for which tau-b can be undefined.

    Takes the arguments of :func:`kendall_tau`, but `y_true` must hold rankings or layered graphs.

    Examples
    --------
    >>> from labelrank.metrics import kendall_tau_x
    >>> kendall_tau_x([[1, 2, 2]], [[1, 2, 2]]), kendall_tau_x([[1, 2, 2]], [[1, 2, 3]])
    (1.0, 0.666...)
    """
    true, pred = true_and_predicted_ranks(y_true, y_pred)
    balance, _ = as_graphs(true).concordance(pred)
    size = np.sum(~np.isnan(true), axis=1)
    pairs = size * (size - 1) / 2
    # Different numbers for labels that differ on one side at least.
    combined = competition_ranks(true) * (true.shape[1] + 1) + competition_ranks(pred)
    agreeing_ties = pairs - _untied_pairs(combined)
    return mean_of((balance + agreeing_ties) / np.maximum(pairs, 1), pairs > 0, sample_weight, average, "kendall_tau_x")


def _untied_pairs(ranks: FloatArray) -> FloatArray:
    """Number of pairs of observed labels of each row with different ranks."""
    return as_graphs(ranks).concordance(np.zeros(ranks.shape))[1]


def spearman_rho(y_true: Any, y_pred: Any, *, sample_weight: Any = None, average: Average = "mean") -> Any:
    """Spearman's rho: the correlation of the ranks of the observed labels, tied labels sharing their mean rank.

    Averaged over the instances that are not all tied; a prediction that ties all observed labels counts 0.

    Takes the arguments of :func:`kendall_tau`, but `y_true` must hold rankings or layered graphs.

    Examples
    --------
    >>> from labelrank.metrics import spearman_rho
    >>> spearman_rho([[1, 2, 3, 4]], [[1, 2, 4, 3]])
    0.8
    """
    true, pred = true_and_predicted_ranks(y_true, y_pred)
    missing = np.isnan(true)
    a, b = _centered_mean_ranks(true, missing), _centered_mean_ranks(pred, missing)
    scale = np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))
    rho = np.minimum(1.0, np.maximum(-1.0, (a * b).sum(axis=1) / np.where(scale > 0, scale, 1)))
    return mean_of(rho, (a != 0).any(axis=1), sample_weight, average, "spearman_rho")


def _centered_mean_ranks(values: FloatArray, missing: Any) -> FloatArray:
    """Mean ranks of the observed values of each row minus their average, 0 where not observed."""
    from scipy.stats import rankdata

    if not values.shape[1]:
        return values
    ranks = rankdata(np.where(missing, np.inf, values), method="average", axis=1)
    center = (np.sum(~missing, axis=1, keepdims=True) + 1) / 2
    return np.where(missing, 0.0, ranks - center)
