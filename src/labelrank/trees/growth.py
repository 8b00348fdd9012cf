"""One tree: grown by the kernel, pruned, and measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrank.aggregation.mallows import mean_distance
from labelrank.trees.data import FloatArray, TreeData, unit_for

_TABLE = 2049  # entries of the table of theta
_WIDE = 1e6  # from this ratio of the largest to the smallest weight on, sums are kept in float64
_TOLERANCE = 1e-9  # ten weights of 0.1 are 1, whatever their sum in floating point


@dataclass(frozen=True)
class Growth:
    """How trees are grown; the limits as numbers, whatever the user gave."""

    table: FloatArray | None  # of theta for the Mallows criterion; None for the pair Gini
    prior: float
    max_features: int
    max_depth: int
    min_samples_split: float
    min_samples_leaf: float
    max_leaf_nodes: int
    shrinkage: float
    ccp_alpha: float


class Nodes(NamedTuple):
    """The nodes of a tree, a parent before its children.

    Children are -1 in a leaf, and so is the feature. `balance` has P(a before b) - P(b before a) for each pair a < b.
    """

    left: npt.NDArray[np.int32]
    right: npt.NDArray[np.int32]
    feature: npt.NDArray[np.int32]
    threshold: FloatArray
    missing_left: npt.NDArray[np.bool_]
    weight: FloatArray
    n_rows: npt.NDArray[np.int64]
    impurity: FloatArray
    balance: npt.NDArray[np.float32]


def theta_table(n_labels: int, largest: float) -> FloatArray:
    """Theta at equally spaced shares of discordant pairs from 0 to 1/2, not above `largest`."""
    theta = np.linspace(largest, 0.0, _TABLE)
    n_pairs = n_labels * (n_labels - 1) / 2
    shares = np.linspace(0.0, 0.5, _TABLE)
    if not n_pairs:
        return np.zeros(_TABLE)
    return np.interp(shares, mean_distance(theta, n_labels) / n_pairs, theta)


def grow_tree(data: TreeData, weight: FloatArray, growth: Growth, seed: int, *, only: bool = False) -> Nodes:
    """Grow a tree on the rows with positive weight, and prune it; the `only` tree on these data may overwrite them."""
    from labelrank._kernels.trees.growth import grow

    rows = np.flatnonzero(weight)
    order = data.order
    if len(rows) < len(weight) and order is not None:
        kept = weight > 0
        order = order[kept[order & 0xFFFFFFFF]].reshape(len(order), len(rows))
    elif order is not None and not only:
        order = order.copy()
    # Equal weights are one number, which need not be looked up row by row.
    equal = len(rows) == len(weight) and bool((weight == 1).all())
    factor, observed, unit, wide = np.ones(1), data.observed, 1.0, data.vote_range > _WIDE
    if equal and data.complete:
        observed = np.array([float(data.n_pairs)])
    if not equal:
        largest = float(weight.max())
        unit = unit_for(largest)
        factor = weight * unit
        observed = data.observed * factor
        wide = bool(largest / weight[rows].min() * data.vote_range > _WIDE)
    min_split, min_leaf = (
        limit * unit * (1 - _TOLERANCE) for limit in (growth.min_samples_split, growth.min_samples_leaf)
    )
    vote = unit * data.unit
    n, n_lanes = len(rows), data.lanes.shape[1]
    n_leaves = min(max(n, 1), growth.max_leaf_nodes or n, 2 ** min(growth.max_depth, 40))
    size = 2 * n_leaves + 1
    ints, floats = np.empty((size, 7), dtype=np.int64), np.empty((size, 5))
    totals, balance = np.empty((size, n_lanes)), np.empty((size, data.n_pairs), dtype=np.float32)
    balance[0] = 0.0  # above the root
    size = grow(
        data.x, order, rows, data.lanes, factor, observed, data.categorical, data.width, growth.prior * vote,
        growth.table, growth.max_features, growth.max_depth, min_split, min_leaf, growth.max_leaf_nodes,
        growth.shrinkage * vote, np.array([seed], dtype=np.uint64), np.arange(len(data.x)),
        *np.zeros((4, n_lanes), dtype=np.float64 if wide else np.float32), np.zeros(5), np.zeros(len(weight), np.uint8),
        np.empty(n, dtype=np.int64), np.empty(n if order is None else 1), ints, floats, totals, balance,
        np.empty(size, dtype=np.int64)
    )  # fmt: skip
    left, feature, missing_left, counts = ints[:size, :4].T
    threshold, weights, _, cost, _ = floats[:size].T
    inner = left >= 0
    nodes = Nodes(
        left=left.astype(np.int32),
        right=np.where(inner, left + 1, -1).astype(np.int32),
        feature=feature.astype(np.int32),
        threshold=np.where(inner, threshold, np.nan),
        missing_left=(missing_left == 1) & inner,
        weight=weights / unit,
        n_rows=counts.copy(),
        impurity=cost / np.maximum(weights, np.finfo(float).tiny) / (data.unit if growth.table is None else 1.0),
        balance=balance[:size].copy(),
    )
    return prune(nodes, growth.ccp_alpha) if growth.ccp_alpha > 0 else nodes


def prune(nodes: Nodes, ccp_alpha: float) -> Nodes:
    """The smallest subtree with the least (impurity of its leaves + `ccp_alpha` * their number).

    A node becomes a leaf where its own impurity + `ccp_alpha` is not above the least of what hangs below: one pass
    from the last node to the first gives what scikit-learn's pruning of the weakest links gives.
    """
    risk = nodes.impurity * nodes.weight / nodes.weight[0] + ccp_alpha
    least = risk.copy()
    left, right = nodes.left.copy(), nodes.right.copy()
    for node in range(len(left) - 1, -1, -1):
        if left[node] < 0:
            continue
        below = least[left[node]] + least[right[node]]
        if risk[node] <= below * (1 + 1e-12):
            left[node] = right[node] = -1
        else:
            least[node] = below
    kept = np.zeros(len(left), dtype=bool)
    kept[0] = True
    for node in np.flatnonzero(left >= 0).tolist():  # parents come first
        if kept[node]:
            kept[left[node]] = kept[right[node]] = True
    number = np.cumsum(kept, dtype=np.int32) - 1
    inner = (left >= 0)[kept]
    rest: Any = {name: value[kept] for name, value in nodes._asdict().items()}
    rest["left"] = np.where(inner, number[left[kept]], -1).astype(np.int32)
    rest["right"] = np.where(inner, number[right[kept]], -1).astype(np.int32)
    rest["feature"] = np.where(inner, rest["feature"], -1).astype(np.int32)
    rest["threshold"] = np.where(inner, rest["threshold"], np.nan)
    rest["missing_left"] = rest["missing_left"] & inner
    return Nodes(**rest)


def importances(nodes: Nodes, n_features: int) -> FloatArray:
    """Decrease of the impurity by the splits on each feature, as shares of 1; zeros if there was no decrease."""
    inner = np.flatnonzero(nodes.left >= 0)
    risk = nodes.impurity * nodes.weight
    decrease = risk[inner] - risk[nodes.left[inner]] - risk[nodes.right[inner]]
    shares = np.bincount(nodes.feature[inner], weights=np.maximum(decrease, 0.0), minlength=n_features)
    total: FloatArray = shares.astype(np.float64)  # integers if there is no split at all
    return total / total.sum() if total.sum() > 0 else total
