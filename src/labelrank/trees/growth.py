"""One tree: grown by the kernel, pruned, and measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrank._arrays import BoolArray, FloatArray, IntArray
from labelrank.aggregation.mallows import mean_distance
from labelrank.trees.data import ROW, Sample

_TABLE = 2049  # entries of the table of theta
_LARGEST_THETA = 20.0  # of the table; the random ranking among the rows of a node keeps theta far below


class Rules(NamedTuple):
    """Limits of a tree."""

    max_features: int
    max_depth: int
    min_samples_split: float
    min_samples_leaf: float
    max_leaf_nodes: int  # 0 is unlimited
    shrinkage: float


class Nodes(NamedTuple):
    """Nodes of a tree, a parent before its children; -1 and NaN stand for the children and the split of a leaf."""

    left: npt.NDArray[np.int32]
    right: npt.NDArray[np.int32]
    feature: npt.NDArray[np.int32]
    threshold: FloatArray
    missing_left: BoolArray
    weight: FloatArray
    n_rows: IntArray
    impurity: FloatArray
    balance: npt.NDArray[np.float32]  # (n_nodes, n_pairs), P(a before b) - P(b before a)


class Workspace(NamedTuple):
    """What the growth of a tree needs to remember of its nodes, and buffers."""

    sums: FloatArray  # (n_nodes, n_sums), zeros at first
    first: IntArray  # (n_nodes,), where the rows of a node begin
    depth: IntArray  # (n_nodes,)
    value: FloatArray  # (n_nodes,), of the criterion
    gain: FloatArray  # (n_nodes,), of the split
    is_leaf: BoolArray  # (n_nodes,)
    queue: IntArray  # (n_nodes,), nodes that have a split and no children yet
    features: IntArray  # (n_features,), their numbers in random order
    goes_left: npt.NDArray[np.uint8]  # (n_samples,)
    items: IntArray  # (n_samples,)
    start: FloatArray  # (n_sums,)
    left: FloatArray  # (n_sums,)


def theta_table(n_labels: int) -> FloatArray:
    """Theta of the Mallows model at the shares of discordant pairs u⁴ / 2, for equally spaced u from 0 to 1.

    Theta grows like the logarithm of a small share: in a pure node of many rows, equally spaced shares would be too far
    apart to tell it.
    """
    if n_labels < 2:
        return np.zeros(_TABLE)
    theta = np.linspace(_LARGEST_THETA, 0.0, 4 * _TABLE)
    n_pairs = n_labels * (n_labels - 1) / 2
    return np.interp(0.5 * np.linspace(0.0, 1.0, _TABLE) ** 4, mean_distance(theta, n_labels) / n_pairs, theta)


@dataclass(frozen=True)
class Grower:
    """Grows trees on one sample by one set of rules."""

    sample: Sample
    order: IntArray | None  # sorted features; None to draw thresholds at random
    table: FloatArray | None  # `theta_table` for the Mallows criterion; None for the pair Gini
    rules: Rules
    ccp_alpha: float

    def grow(self, weight: FloatArray, seed: int) -> Nodes:
        """Grow and prune a tree on the rows with positive weight."""
        from labelrank._kernels.trees.growth import grow

        rules, rows, order, values = self.rules, np.flatnonzero(weight), self.order, None
        if order is None:
            values = np.empty(len(rows))
        elif len(rows) == len(weight):
            order = order.copy()
        else:
            order = order[weight[order & ROW] > 0].reshape(len(order), len(rows))
        n_leaves = min(len(rows), rules.max_leaf_nodes or len(rows), 2 ** min(rules.max_depth, 40))
        nodes, work = _empty_nodes(self.sample, 2 * n_leaves + 1)
        state = np.array([seed], dtype=np.uint64)
        sample = self.sample._replace(weight=np.ones(1) if (weight == 1).all() else weight)
        size = grow(sample, rules, self.table, order, values, rows, state, nodes, work)
        trimmed: Any = (array[:size].copy() for array in nodes)
        return prune(Nodes(*trimmed), self.ccp_alpha)


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
        value=np.empty(size),
        gain=np.empty(size),
        is_leaf=np.zeros(size, dtype=bool),
        queue=np.empty(size, dtype=np.int64),
        features=np.arange(len(sample.x)),
        goes_left=np.empty(n, dtype=np.uint8),
        items=np.empty(n, dtype=np.int64),
        start=_aligned(n_sums),
        left=_aligned(n_sums),
    )
    return nodes, work


def _aligned(size: int) -> FloatArray:
    """An array that begins at a cache line, which no vector then crosses."""
    array = np.empty(size + 7)
    first = -array.ctypes.data // 8 % 8
    return array[first : first + size]


def prune(nodes: Nodes, ccp_alpha: float) -> Nodes:
    """Prune a tree to its smallest subtree with the least impurity of the leaves + `ccp_alpha` times their number.

    A node becomes a leaf where its own impurity + `ccp_alpha` is not above the least possible below it. One pass from
    the last node to the first gives the same subtree as the pruning of the weakest links in scikit-learn.
    """
    if ccp_alpha == 0:
        return nodes
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
