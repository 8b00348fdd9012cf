"""Orders, lists of labels from best to worst, turned into ranks and back."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from labelrank._arrays import FloatArray, is_missing
from labelrank.supervision.frames import frame_of, label_names
from labelrank.supervision.labels import check_labels, label_columns, require_matrix
from labelrank.supervision.rankings import ranks_of
from labelrank.supervision.vectors import Labels, object_array


def ranks_from_orders(
    orders: Iterable[Iterable[Any]],
    *,
    labels: Sequence[Any] | Labels | None = None,
    n_labels: int | None = None,
) -> FloatArray:
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
    require_matrix(len(rows), size, 8)
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
    frame = frame_of(orders)
    if frame is not None:
        return frame.to_numpy()  # a data frame iterates over its columns
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

    The inverse of :func:`ranks_from_orders`: tied labels come as a tuple, labels that were not observed are left out.

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
    ranks = ranks_of(y)
    names = labels if labels is not None else label_names(y)
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
