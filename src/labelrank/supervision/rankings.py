"""Rank matrices: one row per instance, one column per label.

A ranking is a row of **ranks**: smaller is better, equal is tied, NaN is not observed. Orders (lists of labels, best
first) exist only in the two converters of :mod:`labelrank.supervision.orders`.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from labelrank._arrays import FloatArray, competition_ranks
from labelrank.supervision.frames import label_names, like_input
from labelrank.supervision.matrices import SCORES, float_matrix


def check_rankings(
    y: Any, *, ensure_min_samples: int = 1, ensure_min_labels: int = 1, input_name: str = "y"
) -> FloatArray:
    """Check a rank matrix and return it as float64.

    Parameters
    ----------
    y : array-like or data frame of shape (n_samples, n_labels)
        Ranks: smaller is better, equal is tied, NaN (None, a null) is not observed. They may be any finite numbers;
        only their order within a row matters.
    ensure_min_samples, ensure_min_labels : int, default=1
        The least number of rows and columns.
    input_name : str, default="y"
        The name used in error messages.

    Returns
    -------
    ndarray of shape (n_samples, n_labels)
        A C-contiguous float64 array; the input itself when it is one already.

    Examples
    --------
    >>> from labelrank import check_rankings
    >>> check_rankings([[1, 2, 3], [2, None, 1]])
    array([[ 1.,  2.,  3.],
           [ 2., nan,  1.]])
    """
    array = float_matrix(y, input_name, "ranks")
    if len(array) < ensure_min_samples:
        raise ValueError(
            f"{input_name} has {len(array)} sample(s) (shape={array.shape}) while a minimum of "
            f"{ensure_min_samples} is required"
        )
    if array.shape[1] < ensure_min_labels:
        raise ValueError(
            f"{input_name} has {array.shape[1]} label(s) (shape={array.shape}) while a minimum of "
            f"{ensure_min_labels} is required"
        )
    return array


def ranks_of(y: Any) -> FloatArray:
    """Ranks of a rank matrix, or of layered graphs; only their order within a row matters."""
    return y.rank_values() if hasattr(y, "rank_values") else check_rankings(y, ensure_min_samples=0)


def ranks_from_scores(scores: Any) -> Any:
    """Rank matrix of a score matrix: the larger the score, the better the rank.

    A rank is 1 + the number of labels of the row with a strictly larger score, so equal scores are tied
    (``[9, 5, 5, 1]`` becomes ``[1, 2, 2, 4]``); a NaN score is a label that was not observed.

    Parameters
    ----------
    scores : array-like or data frame of shape (n_samples, n_labels)
        Finite numbers or NaN.

    Returns
    -------
    ndarray or data frame of shape (n_samples, n_labels)
        A frame gives a frame of the same library, with the same columns (and index).

    Examples
    --------
    >>> from labelrank import ranks_from_scores
    >>> ranks_from_scores([[0.1, 0.7, 0.2], [5.0, 5.0, float("nan")]])
    array([[ 3.,  1.,  2.],
           [ 1.,  1., nan]])
    """
    return like_input(score_ranks(scores), scores)


def score_ranks(scores: Any) -> FloatArray:
    """Ranks of scores as an array, whatever `scores` is."""
    return competition_ranks(-float_matrix(scores, "scores", "scores", SCORES))


def from_top_k(y: Any, k: int | None = None) -> Any:
    """Complete rankings of which only the top was recorded: labels without a rank are tied below the ranked ones.

    A label can be missing because it was not asked about (leave the NaN) or because it was not among the best (use this
    function): a top list says that the labels it leaves out are worse than those it names.

    Parameters
    ----------
    y : array-like, data frame or layered PreferenceGraphs of shape (n_samples, n_labels)
        Ranks; NaN marks the labels that are not in the list. Labels that are absent in a graph are not in the list.
    k : int, optional
        Keep only the ranks up to `k` (1 + the number of better labels is at most k) and tie the rest below.

    Returns
    -------
    ndarray, data frame or PreferenceGraphs of shape (n_samples, n_labels)
        Complete ranks, from 1. A frame gives a frame of the same library, with the same columns (and index), and graphs
        give graphs.

    Examples
    --------
    >>> from labelrank import from_top_k, ranks_from_orders
    >>> from_top_k(ranks_from_orders([[2, 0], [1]], n_labels=4))
    array([[2., 3., 1., 3.],
           [2., 1., 2., 2.]])
    >>> from_top_k([[1, 2, 3, 4]], k=2)
    array([[1., 2., 3., 3.]])
    """
    ranks = competition_ranks(ranks_of(y))
    if k is not None:
        if isinstance(k, bool) or not isinstance(k, numbers.Integral) or k < 1:
            raise ValueError(f"k must be a positive integer or None, got {k!r}")
        ranks[ranks > k] = np.nan
    listed = np.sum(~np.isnan(ranks), axis=1, keepdims=True)
    complete = np.where(np.isnan(ranks), listed + 1.0, ranks)
    if hasattr(y, "rank_values"):
        return type(y).from_rankings(complete, labels=label_names(y))
    return like_input(complete, y)
