"""One tree: grown by the kernel, pruned, and measured."""

from __future__ import annotations

from typing import Any

import numpy as np

from labelrank._kernels.trees.records import FloatArray, IntArray, Nodes, Rules, Sample, Workspace
from labelrank.aggregation.mallows import mean_distance

_TABLE = 2049  # entries of the table of theta
_LARGEST_THETA = 20.0  # of the table; the random ranking among the rows of a node keeps theta far below
_TOLERANCE = 1e-9  # ten weights of 0.1 are 1, whatever their sum in floating point


def theta_table(n_labels: int) -> FloatArray:
    """Theta of the Mallows model at equally spaced shares of discordant pairs from 0 to 1/2."""
    if n_labels < 2:
        return np.zeros(_TABLE)
    theta = np.linspace(_LARGEST_THETA, 0.0, _TABLE)
    n_pairs = n_labels * (n_labels - 1) / 2
    return np.interp(np.linspace(0.0, 0.5, _TABLE), mean_distance(theta, n_labels) / n_pairs, theta)


def grow_tree(
    sample: Sample, order: IntArray | None, rules: Rules, table: FloatArray | None, ccp_alpha: float, seed: int
) -> Nodes:
    """Grow a tree on the rows with positive weight, and prune it.

    `order` has the sorted features; it is None if thresholds are drawn at random. `table` is None for the pair Gini.
    """
    from labelrank._kernels.trees.growth import grow

    rows = np.flatnonzero(sample.weight)
    if order is not None:
        order = order[sample.weight[order & 0xFFFFFFFF] > 0].reshape(len(order), len(rows))
    values = np.empty(len(rows)) if order is None else None
    n_leaves = min(len(rows), rules.max_leaf_nodes or len(rows), 2 ** min(rules.max_depth, 40))
    nodes, work = _empty_nodes(sample, 2 * n_leaves + 1)
    tolerant = rules._replace(
        min_samples_split=rules.min_samples_split * (1 - _TOLERANCE),
        min_samples_leaf=rules.min_samples_leaf * (1 - _TOLERANCE),
    )
    size = grow(sample, tolerant, table, order, values, rows, np.array([seed], dtype=np.uint64), nodes, work)
    nodes = Nodes(*(array[:size].copy() for array in nodes))
    return prune(nodes, ccp_alpha) if ccp_alpha > 0 else nodes


def _empty_nodes(sample: Sample, size: int) -> tuple[Nodes, Workspace]:
    """Arrays for a tree with up to `size` nodes."""
    nodes = Nodes(
        left=np.full(size, -1, dtype=np.int32),
        right=np.full(size, -1, dtype=np.int32),
        feature=np.full(size, -1, dtype=np.int32),
        threshold=np.full(size, np.nan),
        missing_left=np.zeros(size, dtype=bool),
        weight=np.empty(size),
        n_rows=np.empty(size, dtype=np.int64),
        impurity=np.empty(size),
        balance=np.zeros((size, sample.n_pairs), dtype=np.float32),
    )
    n, n_sums = sample.signs.shape
    work = Workspace(
        sums=np.zeros((size, n_sums)),
        first=np.zeros(size, dtype=np.int64),
        depth=np.zeros(size, dtype=np.int64),
        code=np.zeros(size, dtype=np.int64),
        gain=np.empty(size),
        is_leaf=np.zeros(size, dtype=bool),
        queue=np.empty(size, dtype=np.int64),
        features=np.arange(len(sample.x)),
        goes_left=np.empty(n, dtype=np.uint8),
        items=np.empty(n, dtype=np.int64),
        start=np.empty(n_sums),
        left=np.empty(n_sums),
    )
    return nodes, work


def prune(nodes: Nodes, ccp_alpha: float) -> Nodes:
    """Prune a tree to its smallest subtree with the least impurity of the leaves + `ccp_alpha` times their number.

    A node becomes a leaf where its own impurity + `ccp_alpha` is not above the least possible below it. One pass from
    the last node to the first gives the same subtree as the pruning of the weakest links in scikit-learn.
    """
    cost = nodes.impurity * nodes.weight / nodes.weight[0] + ccp_alpha
    left, right = nodes.left.copy(), nodes.right.copy()
    for node in np.flatnonzero(left >= 0)[::-1]:
        below = cost[left[node]] + cost[right[node]]
        if cost[node] <= below * (1 + 1e-12):
            left[node] = right[node] = -1
        else:
            cost[node] = below
    kept = np.zeros(len(left), dtype=bool)
    kept[0] = True
    for node in np.flatnonzero(left >= 0):  # parents come first
        kept[[left[node], right[node]]] = kept[node]
    number = np.append(np.cumsum(kept, dtype=np.int32) - 1, np.int32(-1))  # of -1 is -1
    is_leaf = (left < 0)[kept]
    pruned: Any = {name: array[kept] for name, array in nodes._asdict().items()}
    pruned["left"], pruned["right"] = number[left[kept]], number[right[kept]]
    pruned["feature"][is_leaf], pruned["threshold"][is_leaf], pruned["missing_left"][is_leaf] = -1, np.nan, False
    return Nodes(**pruned)


def importances(nodes: Nodes, n_features: int) -> FloatArray:
    """Share of each feature in the decrease of the impurity; zeros if there was no decrease."""
    inner = np.flatnonzero(nodes.left >= 0)
    cost = nodes.impurity * nodes.weight
    decrease = cost[inner] - cost[nodes.left[inner]] - cost[nodes.right[inner]]
    total = np.bincount(nodes.feature[inner], weights=np.maximum(decrease, 0.0), minlength=n_features).astype(float)
    return total / total.sum() if total.sum() > 0 else total
