"""How good the top of a predicted ranking is."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from labelrank.metrics.inputs import Average, mean_of, true_and_predicted_ranks
from labelrank.supervision import ranks_from_scores


def _check_k(k: Any) -> int:
    if isinstance(k, bool) or not isinstance(k, numbers.Integral) or k < 1:
        raise ValueError(f"k must be a positive integer, got {k!r}")
    return int(k)


def top_k_accuracy(
    y_true: Any, y_pred: Any, *, k: int = 1, sample_weight: Any = None, average: Average = "mean"
) -> Any:
    """Share of the instances whose best label is among the first `k` of the prediction.

    Only observed labels are looked at, in the truth and in the prediction. When several labels are tied for the best,
    one of them suffices; labels that are tied in the prediction share the last of their places. Instances with fewer
    than two observed labels, or with all of them tied, are left out.

    Parameters
    ----------
    y_true : rank matrix or layered PreferenceGraphs of shape (n_samples, n_labels)
        Observed rankings.
    y_pred : rank matrix of shape (n_samples, n_labels)
        Predicted ranks.
    k : int, default=1
        Length of the top.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the instances.
    average : {"mean", None}, default="mean"
        None returns the value of each instance, NaN where it has none.

    Examples
    --------
    >>> from labelrank.metrics import top_k_accuracy
    >>> top_k_accuracy([[1, 2, 3], [2, 1, 3]], [[1, 2, 3], [1, 3, 2]]), top_k_accuracy([[2, 1, 3]], [[1, 2, 3]], k=2)
    (0.5, 1.0)
    """
    k = _check_k(k)
    true, pred = true_and_predicted_ranks(y_true, y_pred)
    missing = np.isnan(true)
    low = np.min(np.where(missing, np.inf, true), axis=1, initial=np.inf)
    high = np.max(np.where(missing, -np.inf, true), axis=1, initial=-np.inf)
    best = true == low[:, None]
    # Rank from below and turn it round: the place of a label is the number of labels at or before it.
    from_below = ranks_from_scores(np.where(missing, np.nan, pred))
    place = np.sum(~missing, axis=1, keepdims=True) + 1 - from_below
    hit = (best & (place <= k)).any(axis=1)
    return mean_of(hit.astype(np.float64), low < high, sample_weight, average, "top_k_accuracy")


def ndcg(
    y_true: Any, y_pred: Any, *, k: int | None = None, sample_weight: Any = None, average: Average = "mean"
) -> Any:
    r"""Normalized discounted cumulative gain of the predicted order.

    The gain of a label is the number of observed labels that are strictly worse,

    .. math:: \mathrm{DCG} = \sum_{p=1}^{k} \frac{g(\text{label at place } p)}{\log_2(p + 1)},

    divided by that of the true order; labels that are tied in the prediction share the mean of their gains. Averaged
    over the instances with an observed pair.

    Parameters
    ----------
    y_true : rank matrix or layered PreferenceGraphs of shape (n_samples, n_labels)
        Observed rankings.
    y_pred : rank matrix of shape (n_samples, n_labels)
        Predicted ranks.
    k : int, optional
        Look at the first `k` places only.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the instances.
    average : {"mean", None}, default="mean"
        None returns the value of each instance, NaN where it has none.

    Examples
    --------
    >>> from labelrank.metrics import ndcg
    >>> ndcg([[1, 2, 3]], [[1, 2, 3]]), ndcg([[1, 2, 3]], [[3, 2, 1]])
    (1.0, 0.61...)
    """
    k = None if k is None else _check_k(k)
    true, pred = true_and_predicted_ranks(y_true, y_pred)
    missing = np.isnan(true)
    gain = np.nan_to_num(ranks_from_scores(true) - 1.0)  # ranked from below: the number of strictly worse labels
    dcg, ideal = (
        _dcg(gain, np.where(missing, np.inf, pred), k),
        _dcg(gain, np.where(missing, np.inf, true), k),
    )
    return mean_of(dcg / np.where(ideal > 0, ideal, 1), ideal > 0, sample_weight, average, "ndcg")


def _dcg(gain: Any, ranks: Any, k: int | None) -> Any:
    """Discounted gain of each row, tied places sharing the mean of their discounts."""
    from scipy.stats import rankdata

    n_labels = gain.shape[1]
    discount = 1 / np.log2(np.arange(n_labels) + 2.0)
    if k is not None:
        discount[k:] = 0
    cumulative = np.concatenate([[0.0], np.cumsum(discount)])
    if not n_labels:
        return np.zeros(len(gain))
    first = rankdata(ranks, method="min", axis=1).astype(np.intp) - 1
    last = rankdata(ranks, method="max", axis=1).astype(np.intp)
    return (gain * (cumulative[last] - cumulative[first]) / (last - first)).sum(axis=1)
