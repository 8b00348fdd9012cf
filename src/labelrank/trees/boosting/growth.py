"""One tree: grown leaf by leaf, the split with the largest gain first."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from labelrank._arrays import BoolArray, FloatArray, IntArray
from labelrank.trees.boosting.binning import Binning
from labelrank.trees.boosting.histogram import Histograms
from labelrank.trees.boosting.rows import BoostedRows, NodeRows
from labelrank.trees.boosting.splitting import Rules, Split, find_sparse_split, find_split

_ROUNDING = 1e-10  # smaller gains, relative to the score of the node, are rounding errors
_ENTRIES = 2**17  # rows times features from which on threads are faster


class Limits(NamedTuple):
    """Limits of a tree."""

    max_leaf_nodes: int
    max_depth: int
    max_features: float  # share of the features that are tried in a node


@dataclass
class Node:
    """A node of a growing tree."""

    number: int
    n_rows: int
    depth: int
    total: FloatArray  # sums of the channels
    score: float
    slot: int = -1  # of its histogram, -1 if it is not kept
    split: Split | None = None
    left: Node | None = None
    right: Node | None = None

    @property
    def gain(self) -> float:
        """Gain of the split."""
        return 0.0 if self.split is None else self.split.score - self.score


class Grower:
    """Grows trees on the channels of binned rows.

    Parameters
    ----------
    rows : BoostedRows
        The rows.
    binning : Binning
        The bins.
    rules, limits : Rules, Limits
        Constraints on splits and trees.
    n_threads : int
        Number of threads over features; the tree does not depend on it.
    """

    def __init__(self, rows: BoostedRows, binning: Binning, rules: Rules, limits: Limits, n_threads: int = 1) -> None:
        self.rows, self.rules, self.limits = rows, rules, limits
        self.histograms = Histograms(rows, binning.start)
        self.is_categorical, self.missing = binning.is_categorical, binning.missing
        self.threads = ThreadPoolExecutor(n_threads) if n_threads > 1 else None
        self.n_threads = n_threads

    def grow(self, drawn: BoolArray | None, rng: np.random.Generator) -> list[Node]:
        """Grow a tree on all training rows, or on those drawn; return its nodes, a parent before its children."""
        self.rng = rng
        self.free = list(range(len(self.histograms.pool)))
        self.heap: list[tuple[float, int, Node]] = []
        nodes = [self._node(0, self.rows.begin(drawn), 0)]
        self._find_splits(None, nodes)
        n_leaves = 1
        while self.heap and n_leaves < self.limits.max_leaf_nodes:
            parent = heapq.heappop(self.heap)[2]
            assert parent.split is not None
            numbers = (len(nodes), len(nodes) + 1)
            sides = self.rows.part(parent.number, parent.split, numbers)
            left, right = (
                self._node(number, side, parent.depth + 1) for number, side in zip(numbers, sides, strict=True)
            )
            parent.left, parent.right = left, right
            nodes += [left, right]
            n_leaves += 1
            parent.split = self._with_side_of_missing(parent, heavier_left=self._weight(left) > self._weight(right))
            if n_leaves < self.limits.max_leaf_nodes:
                self._find_splits(parent, [left, right])
        return nodes

    # --- nodes

    def _node(self, number: int, rows: NodeRows, depth: int) -> Node:
        from labelrank._kernels.trees.boosting.splitting import score

        return Node(number, rows.n_rows, depth, rows.total, score(rows.total, self.rules.n_labels, self.rules.l2))

    def _weight(self, node: Node) -> float:
        return float(node.total[2 * self.rules.n_labels])

    def _with_side_of_missing(self, parent: Node, heavier_left: bool) -> Split:
        """The split of a node; if it has no missing values, they go to the heavier side."""
        split = parent.split
        assert split is not None
        if split.missing_left >= 0:
            return split
        left_bins = split.left_bins
        if self.is_categorical[split.feature]:
            left_bins = left_bins.copy()
            left_bins[self.missing[split.feature]] = heavier_left
        return split._replace(missing_left=int(heavier_left), left_bins=left_bins)

    # --- histograms and splits

    def _find_splits(self, parent: Node | None, nodes: list[Node]) -> None:
        """Find the best splits of new nodes, with the histogram of the parent if it is kept."""
        wanted = [
            node
            for node in nodes
            if node.depth < self.limits.max_depth and self._weight(node) >= 2 * self.rules.min_weight
        ]
        if parent is not None and parent.slot >= 0:
            small, large = sorted(nodes, key=lambda node: node.n_rows)
            if large in wanted:
                self._find_by_subtraction(parent, small, large, wanted)
                wanted = []
            else:
                self.free.append(parent.slot)
        for node in wanted:
            if self.rows.is_sparse:
                self._find_sparse(node)
            else:
                self._find_alone(node)
        for node in nodes:
            if node.split is not None:
                heapq.heappush(self.heap, (-node.gain, node.number, node))
            elif node.slot >= 0:
                self.free.append(node.slot)

    def _find_sparse(self, node: Node) -> None:
        self.rows.mark(node.number)
        features, to_improve = self._draw_features(), node.score * (1 + _ROUNDING)

        def work(first: int, last: int) -> Split | None:
            return find_sparse_split(
                self.rows.bins, self.rows.channels, self.rows.node_of_row, node.number,
                features[(features >= first) & (features < last)], self.missing, self.is_categorical, node.total,
                self.rules, to_improve,
            )  # fmt: skip

        self._keep_best(node, self._over_features(self.histograms.blocks[0], work, node.n_rows))

    def _find_alone(self, node: Node) -> None:
        features = self._draw_features()
        slot = self._take_slot()
        for block in self.histograms.blocks:

            def work(first: int, last: int, block: tuple[int, int] = block) -> Split | None:
                histogram = self.histograms.build(slot, node.number, first, last, block[0])
                return self._find(node, histogram, features, first, last)

            self._keep_best(node, self._over_features(block, work, node.n_rows))
        if self.histograms.kept:
            node.slot = slot
        else:
            self.free.append(slot)

    def _find_by_subtraction(self, parent: Node, small: Node, large: Node, wanted: list[Node]) -> None:
        from labelrank._kernels.trees.boosting.histogram import subtract

        small.slot, large.slot = self._take_slot(), parent.slot
        features = [self._draw_features() for _ in wanted]

        def work(first: int, last: int) -> list[Split | None]:
            histogram = self.histograms.build(small.slot, small.number, first, last)
            other = self.histograms.view(large.slot, first, last)
            subtract(other, histogram)
            of_node = {small.number: histogram, large.number: other}
            return [
                self._find(node, of_node[node.number], tried, first, last)
                for node, tried in zip(wanted, features, strict=True)
            ]

        found = self._over_features(self.histograms.blocks[0], work, small.n_rows)
        for node, splits in zip(wanted, zip(*found, strict=True), strict=True):
            self._keep_best(node, splits)

    def _find(self, node: Node, histogram: FloatArray, features: IntArray, first: int, last: int) -> Split | None:
        tried = features[(features >= first) & (features < last)]
        start, to_improve = self.histograms.start, node.score * (1 + _ROUNDING)
        return find_split(histogram, tried, first, start, self.is_categorical, node.total, self.rules, to_improve)

    def _keep_best(self, node: Node, found: Any) -> None:
        for split in found:
            if split is not None and (node.split is None or split.score > node.split.score):
                node.split = split

    def _over_features(self, block: tuple[int, int], work: Callable[..., Any], n_rows: int) -> list[Any]:
        """Results of `work` on the features of a block, in their order."""
        first, last = block
        if self.threads is None or n_rows * (last - first) < _ENTRIES:
            return [work(first, last)]
        edges = np.linspace(first, last, min(self.n_threads, last - first) + 1).astype(int).tolist()
        return list(self.threads.map(work, edges[:-1], edges[1:]))

    def _draw_features(self) -> IntArray:
        """Features to try in a node."""
        n = len(self.missing)
        if self.limits.max_features >= 1:
            return np.arange(n)
        n_tried = max(1, int(np.ceil(self.limits.max_features * n)))
        return np.sort(self.rng.choice(n, n_tried, replace=False))

    def _take_slot(self) -> int:
        """Slot for a histogram; if none is free, that of the leaf with the smallest gain."""
        if not self.free:
            poorest = min((entry[2] for entry in self.heap if entry[2].slot >= 0), key=lambda node: node.gain)
            self.free.append(poorest.slot)
            poorest.slot = -1
        return self.free.pop()
