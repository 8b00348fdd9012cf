"""Rank matrices: one row per instance, one column per label.

A ranking is a row of **ranks**: smaller is better, equal is tied, NaN is not observed. Orders (lists of
labels, best first) exist only in the two converters :func:`ranks_from_orders` and :func:`orders_from_ranks`.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from labelrank._arrays import is_missing
from labelrank.supervision._inputs import (
    RANKS,
    SCORES,
    Labels,
    RankMatrix,
    float_matrix,
    label_names,
    like_input,
    object_array,
    refuse_infinity,
)
from labelrank.supervision._labels import check_labels, label_columns

# ------------------------------------------------------------------------------------------------------------
# Checking
# ------------------------------------------------------------------------------------------------------------


def check_rankings(
    y: Any, *, ensure_min_samples: int = 1, ensure_min_labels: int = 1, input_name: str = "y"
) -> RankMatrix:
    """Check a rank matrix and return it as float64.

    Parameters
    ----------
    y : array-like or data frame of shape (n_samples, n_labels)
        Ranks: smaller is better, equal is tied, NaN (None, a null) is not observed. Any finite numbers will
        do; only their order within a row counts.
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
    refuse_infinity(array, input_name, RANKS.infinite)
    return array


# ------------------------------------------------------------------------------------------------------------
# Converting
# ------------------------------------------------------------------------------------------------------------


def competition_ranks(values: RankMatrix) -> RankMatrix:
    """1 + the number of strictly smaller values in the row; NaN stays NaN."""
    from scipy.stats import rankdata  # scipy.stats alone would double the time of `import labelrank`

    missing = np.isnan(values)
    if missing.any():
        ranks = rankdata(np.where(missing, np.inf, values), method="min", axis=1)
        return np.where(missing, np.nan, ranks)
    return np.asarray(rankdata(values, method="min", axis=1), dtype=np.float64)


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
        A pandas or polars frame for such a frame, with the same columns (and index).

    Examples
    --------
    >>> from labelrank import ranks_from_scores
    >>> ranks_from_scores([[0.1, 0.7, 0.2], [5.0, 5.0, float("nan")]])
    array([[ 3.,  1.,  2.],
           [ 1.,  1., nan]])
    """
    return like_input(score_ranks(scores), scores)


def score_ranks(scores: Any) -> RankMatrix:
    """The same as an array, whatever `scores` is."""
    array = float_matrix(scores, "scores", "scores", SCORES)
    refuse_infinity(array, "scores", SCORES.infinite)
    return competition_ranks(-array)


def ranks_from_orders(
    orders: Iterable[Iterable[Any]],
    *,
    labels: Sequence[Any] | Labels | None = None,
    n_labels: int | None = None,
) -> RankMatrix:
    """Rank matrix of lists of labels, best first.

    Parameters
    ----------
    orders : iterable of iterables
        For each instance its labels from best to worst. A tuple, list or set inside an order is a group of
        tied labels. Labels that an order leaves out were not observed and get NaN; None and NaN are padding.
    labels : sequence, optional
        The names of the labels, in the order of the columns to come; without it, names are given columns in
        sorted order. Integers in `orders` are column indices, unless `labels` has integers among its names.
    n_labels : int, optional
        The number of columns when `orders` holds indices; by default one more than the largest index.

    Returns
    -------
    ndarray of shape (n_instances, n_labels)
        A rank is 1 + the number of labels before it.

    Examples
    --------
    >>> from labelrank import ranks_from_orders
    >>> ranks_from_orders([["tea", "water", "coffee"], ["coffee", ("tea", "water")]], labels=["coffee", "tea", "water"])
    array([[3., 1., 2.],
           [1., 2., 2.]])
    >>> ranks_from_orders([[2, 0], [1]], n_labels=3)
    array([[ 2., nan,  1.],
           [nan,  1., nan]])
    """
    rows = [_tied_groups(order, i) for i, order in enumerate(_each_order(orders))]
    used = object_array(label for row in rows for group in row for label in group)
    columns, _, size = label_columns(used, labels, n_labels, "orders")
    column_of_each = iter(columns.tolist())
    ranks = np.full((len(rows), size), np.nan)
    for i, row in enumerate(rows):
        rank = 1
        for group in row:
            for label in group:
                column = next(column_of_each)
                if not math.isnan(ranks[i, column]):
                    raise ValueError(f"orders names the label {label!r} twice in row {i}; an order has no repeats")
                ranks[i, column] = rank
            rank += len(group)
    return ranks


def _each_order(orders: Any) -> Iterable[Any]:
    if isinstance(orders, (str, bytes)):
        raise TypeError(f"orders must hold one list of labels per instance, got the string {orders!r}")
    if isinstance(orders, np.ma.MaskedArray):
        raise TypeError("orders is a masked array; pass lists of different lengths instead")
    if label_names(orders) is not None:
        return orders.to_numpy()  # a data frame iterates over its columns
    if not isinstance(orders, Iterable):
        raise TypeError(f"orders must hold one list of labels per instance, got {orders!r}")
    return orders


def _tied_groups(order: Any, i: int) -> list[list[Any]]:
    """Groups of tied labels, best first; padding left out."""
    if isinstance(order, (str, bytes)) or not isinstance(order, Iterable):
        raise TypeError(f"orders must hold one list of labels per instance; row {i} is {order!r}")
    items = order.tolist() if isinstance(order, np.ndarray) else order
    groups = [item if isinstance(item, (tuple, list, set, frozenset)) else (item,) for item in items]
    return [[label for label in group if not is_missing(label)] for group in groups]


def orders_from_ranks(y: Any, *, labels: Sequence[Any] | Labels | None = None) -> list[list[Any]]:
    """Lists of labels, best first, of a rank matrix.

    The inverse of :func:`ranks_from_orders`: tied labels come as a tuple, labels that were not observed are
    left out.

    Parameters
    ----------
    y : array-like, data frame or layered PreferenceGraphs of shape (n_samples, n_labels)
        Ranks. The column names of a data frame and the names of graphs serve as `labels`.
    labels : sequence, optional
        Names of the labels; by default column indices are returned.

    Returns
    -------
    list of lists

    Examples
    --------
    >>> from labelrank import orders_from_ranks
    >>> orders_from_ranks([[3, 1, 2], [1, 2, 2]], labels=["coffee", "tea", "water"])
    [['tea', 'water', 'coffee'], ['coffee', ('tea', 'water')]]
    """
    ranks = _ranks_of(y)
    names = labels if labels is not None else _names_of(y)
    if names is not None:
        names = check_labels(names, ranks.shape[1])
    columns = np.argsort(ranks, axis=1, kind="stable").tolist()  # NaN sorts last
    counts = np.sum(~np.isnan(ranks), axis=1).tolist()
    orders: list[list[Any]] = []
    for i, (row, count) in enumerate(zip(columns, counts, strict=True)):
        groups: list[list[Any]] = []
        last = math.nan
        for column in row[:count]:
            label = column if names is None else names[column]
            if ranks[i, column] == last:
                groups[-1].append(label)
            else:
                groups.append([label])
            last = ranks[i, column]
        orders.append([group[0] if len(group) == 1 else tuple(group) for group in groups])
    return orders


def _ranks_of(y: Any) -> RankMatrix:
    """Ranks of a rank matrix, or of layered graphs, which are known by their ``to_ranks``."""
    return y.to_ranks() if hasattr(y, "to_ranks") else check_rankings(y, ensure_min_samples=0)


def _names_of(y: Any) -> Labels | None:
    """Names of the labels of a data frame or of graphs, None when they have none."""
    if hasattr(y, "to_ranks"):
        return y.labels if y.has_names else None
    return label_names(y)


def from_top_k(y: Any, k: int | None = None) -> Any:
    """Complete rankings of which only the top was recorded: the labels without a rank are tied below the ranked ones.

    Missing because it was not asked (leave the NaN) and missing because it was not among the best (this
    function) are different things: a top list says that what it leaves out is worse than what it names.

    Parameters
    ----------
    y : array-like, data frame or layered PreferenceGraphs of shape (n_samples, n_labels)
        Ranks; NaN marks the labels that are not in the list. Labels that are absent in a graph are not in the list.
    k : int, optional
        Keep only the ranks up to `k` (1 + the number of better labels is at most k) and tie the rest below.

    Returns
    -------
    ndarray, data frame or PreferenceGraphs of shape (n_samples, n_labels)
        Complete ranks, from 1. A pandas or polars frame gives such a frame, with the same columns (and index), graphs
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
    ranks = competition_ranks(_ranks_of(y))
    if k is not None:
        if isinstance(k, bool) or not isinstance(k, numbers.Integral) or k < 1:
            raise ValueError(f"k must be a positive integer or None, got {k!r}")
        ranks[ranks > k] = np.nan
    listed = np.sum(~np.isnan(ranks), axis=1, keepdims=True)
    complete = np.where(np.isnan(ranks), listed + 1.0, ranks)
    if hasattr(y, "to_ranks"):
        return type(y).from_rankings(complete, labels=_names_of(y))
    return like_input(complete, y)
