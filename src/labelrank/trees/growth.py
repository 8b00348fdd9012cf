"""One tree: grown by the kernel, pruned, and measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrank._arrays import BoolArray, FloatArray, IntArray
from labelrank._threads import Stop
from labelrank.aggregation.mallows import mean_distance
from labelrank.trees.data import BY_LABELS, ROW, Sample, Sparse

_TABLE = 2049  # entries of the table of theta
_OWN = ("first", "values", "rows", "column", "zeros")  # buffers of `Sparse`, of each thread
_LARGEST_THETA = 20.0  # of the table; the random ranking among the rows of a node keeps theta far below


class Rules(NamedTuple):
    """Limits of a tree."""

    max_features: int
    max_depth: int
    min_samples_split: float
    min_samples_leaf: float
    max_leaf_nodes: int  # 0 is unlimited
    shrinkage: float
    random: bool  # whether thresholds are drawn


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
    balance: npt.NDArray[np.float32]  # (n_nodes, n_pairs), P(a before b) - P(b before a); or (n_nodes, n_labels + 1),
    # mean leads of the labels from -1 to 1, and the mean of their squares


class Buffers(NamedTuple):
    """Buffers of the search for a split."""

    items: IntArray  # (n_samples,)
    start: FloatArray  # (n_sums,)
    left: FloatArray  # (n_sums,)
    stop: Stop


class Workspace(NamedTuple):
    """What the growth of a tree needs to remember of its nodes, and buffers."""

    sums: FloatArray  # (n_nodes, n_sums), zeros at first
    square: FloatArray  # (n_nodes,), sum of the squares of the leads; -1 if targets are pairs
    first: IntArray  # (n_nodes,), where the rows of a node begin
    depth: IntArray  # (n_nodes,)
    value: FloatArray  # (n_nodes,), of the criterion
    gain: FloatArray  # (n_nodes,), of the split
    is_leaf: BoolArray  # (n_nodes,)
    queue: IntArray  # (n_nodes,), nodes that have a split and no children yet
    features: IntArray  # (n_features,), their numbers in random order
    goes_left: npt.NDArray[np.uint8]  # (n_samples,)
    buffers: Buffers


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
    csr: Sparse | None  # features, if they are sparse
    order: IntArray | None  # sorted features; None to draw thresholds at random, or if features are sparse
    table: FloatArray | None  # `theta_table` for the Mallows criterion; None for others
    rules: Rules
    ccp_alpha: float

    def grow(self, weight: FloatArray, seed: int, stop: Stop) -> Nodes:
        """Grow and prune a tree on the rows with positive weight; a part of it once ``stop[0]`` is set."""
        from labelrank._kernels.trees.growth import grow

        rules, rows, order, values, csr = self.rules, np.flatnonzero(weight), self.order, None, self.csr
        if csr is not None:  # threads share the matrix, but not the buffers
            buffers: Any = {name: np.empty_like(getattr(csr, name)) for name in _OWN}
            csr = csr._replace(**buffers)
        elif order is None:
            values = np.empty(len(rows))
        elif len(rows) == len(weight):
            order = order.copy()
        else:
            order = order[weight[order & ROW] > 0].reshape(len(order), len(rows))
        nodes, work = self._empty_nodes(2 * _most_leaves(rules, len(rows), float(weight.sum())) + 1, stop)
        state = np.array([seed], dtype=np.uint64)
        sample = self.sample._replace(weight=np.ones(1) if (weight == 1).all() else weight)
        size = grow(sample, rules, self.table, order, values, csr, rows, state, nodes, work)
        trimmed: Any = (array[:size].copy() for array in nodes)
        return prune(Nodes(*trimmed), self.ccp_alpha)

    def _empty_nodes(self, size: int, stop: Stop) -> tuple[Nodes, Workspace]:
        try:
            return _empty_nodes(self.sample, size, stop)
        except MemoryError as error:  # most systems count the pages that are used, and a tree may use few
            advice = "limit max_leaf_nodes, or raise min_samples_split"
            if not len(self.sample.squares):
                advice += f"; or {BY_LABELS}"
            raise MemoryError(f"a tree of up to {size} nodes does not fit into memory ({error}); {advice}") from error


def _most_leaves(rules: Rules, n_rows: int, weight: float) -> int:
    """Upper bound of the number of leaves of a tree, as splits need weight in the node and on both sides.

    With s = min_samples_split ≥ 2 m and m = min_samples_leaf, by induction a node of weight w ≥ s has no more than
    (w - s) / m + 2 leaves.
    """
    most = min(n_rows, rules.max_leaf_nodes or n_rows, 2 ** min(rules.max_depth, 40))
    split = max(rules.min_samples_split, 2 * rules.min_samples_leaf)
    by_weight = (weight * (1 + 1e-6) - split) / rules.min_samples_leaf + 2  # more than rounding errors of sums
    return max(1, int(min(most, by_weight)))


def _empty_nodes(sample: Sample, size: int, stop: Stop) -> tuple[Nodes, Workspace]:
    """Arrays for a tree with up to `size` nodes."""
    k, of_labels = sample.n_targets, len(sample.squares) > 0
    nodes = Nodes(
        left=np.full(size, -1, dtype=np.int32),
        right=np.full(size, -1, dtype=np.int32),
        feature=np.full(size, -1, dtype=np.int32),
        threshold=np.full(size, np.nan),
        missing_left=np.zeros(size, dtype=bool),
        weight=np.empty(size),
        n_rows=np.empty(size, dtype=np.int64),
        impurity=np.empty(size),
        balance=np.zeros((size, k + of_labels), dtype=np.float32),
    )
    if of_labels:  # above the root: the square of a label of a random ranking
        nodes.balance[0, k] = (k + 1) / (3 * max(k - 1, 1))
    n, n_sums = sample.signs.shape
    work = Workspace(
        sums=np.zeros((size, n_sums)),
        square=np.full(size, -1.0),
        first=np.zeros(size, dtype=np.int64),
        depth=np.zeros(size, dtype=np.int64),
        value=np.empty(size),
        gain=np.empty(size),
        is_leaf=np.zeros(size, dtype=bool),
        queue=np.empty(size, dtype=np.int64),
        features=np.arange(len(sample.is_categorical)),
        goes_left=np.empty(n, dtype=np.uint8),
        buffers=Buffers(np.empty(n, dtype=np.int64), _aligned(n_sums), _aligned(n_sums), stop),
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
