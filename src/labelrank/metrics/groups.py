"""Errors on scored items in groups: parses of a sentence, documents of a query."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import check_array, check_consistent_length

from labelrank._arrays import FloatArray
from labelrank.supervision.groups import group_codes
from labelrank.supervision.weights import row_weights

_LARGE = 4096  # items of a group from which counting pair by pair is slower than sorting


def group_disagreement(y_true: Any, y_score: Any, groups: Any, sample_weight: Any = None) -> float:
    r"""Disagreement of scores with true scores within groups.

    .. math:: \frac{1}{n_q (n_q - 1)} \sum_{i \ne j} \tfrac12 |\operatorname{sign}(y_i - y_j)
              - \operatorname{sign}(f_i - f_j)|

    for the :math:`n_q` items of group q, averaged over the groups with two items or more. A contradicted pair counts 1,
    a pair that is tied on one side only counts ½.

    Parameters
    ----------
    y_true : array-like of shape (n_items,)
        True scores, larger is better.
    y_score : array-like of shape (n_items,)
        Predicted scores, larger is better.
    groups : array-like of shape (n_items,), or None
        Group of each item: any names, in any order. None is a single group of all items.
    sample_weight : array-like of shape (n_items,), optional
        Non-negative weights of the items; a pair has the product of two, relative to the other pairs of its group.
        Items of weight zero are left out.

    Returns
    -------
    float
        From 0 to 1; NaN with a warning when every group has a single item.

    Examples
    --------
    >>> from labelrank.metrics import group_disagreement
    >>> group_disagreement([3, 2, 1, 1, 2], [0.9, 0.1, 0.5, 0.3, 0.4], ["a", "a", "a", "b", "b"])  # (1/3 + 0) / 2
    0.166...
    """
    from labelrank._kernels.metrics.groups import group_disagreements

    y, f = _scores(y_true, "y_true"), _scores(y_score, "y_score")
    check_consistent_length(y, f)
    code = np.zeros(len(y), dtype=np.intp) if groups is None else group_codes(groups, len(y))
    weight = row_weights(sample_weight, len(y))
    order = np.argsort(code, kind="stable")
    order = order[weight[order] > 0]
    y, f, weight, code = y[order], f[order], weight[order], code[order]
    start = np.flatnonzero(np.diff(code, prepend=-1))
    stop = np.append(start[1:], len(code))[: len(start)]
    start, stop = start[stop - start > 1], stop[stop - start > 1]
    if not len(start):
        warnings.warn("group_disagreement is undefined: no group has two items", UndefinedMetricWarning, stacklevel=2)
        return float("nan")
    by_sorting = (stop - start > _LARGE) & (sample_weight is None)
    share = np.empty(len(start))
    share[~by_sorting] = group_disagreements(y, f, weight, start[~by_sorting], stop[~by_sorting])
    for g in np.flatnonzero(by_sorting):
        share[g] = _disagreement_of_large_group(y[start[g] : stop[g]], f[start[g] : stop[g]])
    return float(np.mean(share))


def _scores(values: Any, name: str) -> FloatArray:
    scores: FloatArray = check_array(values, ensure_2d=False, dtype=np.float64, input_name=name, ensure_min_samples=0)
    if scores.ndim != 1:
        raise ValueError(f"{name} must hold one score per item, got shape {scores.shape}")
    return scores


def _disagreement_of_large_group(y: FloatArray, f: FloatArray) -> float:
    """Mean of ½|sign Δy − sign Δf| over the pairs, from Kendall's tau-b in O(n log n)."""
    from scipy.stats import kendalltau

    def tied(*columns: FloatArray) -> int:
        _, counts = np.unique(np.stack(columns), axis=1, return_counts=True)
        return int((counts * (counts - 1) // 2).sum())

    pairs = len(y) * (len(y) - 1) // 2
    in_y, in_f, in_both = tied(y), tied(f), tied(y, f)
    tau = kendalltau(y, f).statistic
    balance = 0.0 if np.isnan(tau) else tau * np.sqrt(float(pairs - in_y) * float(pairs - in_f))
    untied = pairs - in_y - in_f + in_both
    return float((untied - np.rint(balance)) / 2 + (in_y + in_f - 2 * in_both) / 2) / pairs
