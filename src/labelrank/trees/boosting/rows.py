"""Rows for boosting: bins, scores and derivatives, sorted by the nodes of the growing tree."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrank._arrays import BoolArray, FloatArray, row_blocks
from labelrank.losses import Loss
from labelrank.trees.boosting.binning import Binning, Codes, SparseCodes
from labelrank.trees.boosting.splitting import Split

# A row that is ranked very wrong has a gradient, but hardly any curvature: this bounds Newton steps by its inverse.
_SMALLEST_CURVATURE = 1e-3
ENTRIES = 2**16  # scores of a block of rows whose derivatives are computed at a time
_LANES = 4  # channels are padded to a multiple of it


class NodeRows(NamedTuple):
    """The rows of a node, together."""

    n_rows: int
    total: FloatArray  # (n_channels,), sums of the channels


class BoostedRows:
    """Binned rows with their scores and, while a tree grows, their nodes.

    For rows that are partitioned over a cluster, another class has these methods; see
    :class:`labelrank.dask.boosting.PartitionedRows`.

    Parameters
    ----------
    bins : Codes or SparseCodes
        Bins of the rows: first those of `train`, then those of `validation`.
    binning : Binning
        The bins.
    train : Loss
        Loss of the training rows.
    validation : Loss, optional
        Loss of the held-out rows.
    scores : ndarray of shape (n_rows, n_labels)
        Scores to start from; changed in place.

    Attributes
    ----------
    n_train, n_labels, n_channels, n_bytes : int
        Number of training rows, of labels and of channels; size of bins and scores.
    weights : tuple of float
        Total weights of the training rows and of the held-out rows; None for the latter if there are none.
    """

    def __init__(
        self, bins: Codes | SparseCodes, binning: Binning, train: Loss, validation: Loss | None, scores: FloatArray
    ) -> None:
        self.bins, self.train, self.validation, self.scores = bins, train, validation, scores
        self.is_categorical, self.missing, self.start = binning.is_categorical, binning.missing, binning.start
        self.n_train, self.n_labels = train.shape
        self.is_sparse, n_rows = isinstance(bins, SparseCodes), len(scores)
        self.weights = (train.total_weight, None if validation is None else validation.total_weight)
        self.n_channels = self.width(self.n_labels)
        self.channels = np.zeros((self.n_train, self.n_channels), dtype=np.float32)
        self.n_bytes = scores.nbytes + (0 if isinstance(bins, SparseCodes) else bins.nbytes)
        self.node_of_row = np.full(n_rows if self.is_sparse else 0, -1, dtype=np.int32)
        self.sides, self.buffer = np.empty(n_rows, dtype=np.uint8), np.empty(n_rows, dtype=np.int32)
        self.places: dict[int, tuple[int, int]] = {}  # of a node: its rows are rows[first:last]

    @staticmethod
    def width(n_labels: int) -> int:
        """Number of channels: gradients and curvatures of the labels and a weight, padded to whole vectors."""
        return _LANES * -(-(2 * n_labels + 1) // _LANES)

    def losses(self) -> tuple[float, float]:
        """Losses of the training rows, whose derivatives are kept for the next tree, and of the held-out rows."""
        from labelrank._kernels.trees.boosting.histogram import fill_channels

        value = held_out = 0.0
        for rows in row_blocks(*self.train.shape, ENTRIES):
            scores = self.scores[rows]
            gradient, curvature = np.empty(scores.shape), np.empty(scores.shape)
            value += self.train.value_and_derivatives(scores, gradient, curvature, rows)
            fill_channels(self.channels[rows], gradient, curvature, self.train.weight[rows], _SMALLEST_CURVATURE)
        if self.validation is not None:
            scores = self.scores[self.n_train :]
            for rows in row_blocks(*self.validation.shape, ENTRIES):
                held_out += self.validation.value(scores[rows], rows)
        return value, held_out

    # --- while a tree grows

    def begin(self, drawn: BoolArray | None) -> NodeRows:
        """Put the training rows, or those that are drawn, into the root of a new tree."""
        used = np.ones(len(self.scores), dtype=bool)
        used[self.n_train :] = False
        if drawn is not None:
            used[: self.n_train] = drawn
        self.rows: npt.NDArray[np.int32] = np.flatnonzero(used).astype(np.int32)
        self.others: npt.NDArray[np.int32] = np.flatnonzero(~used).astype(np.int32)
        self.node_of_row.fill(-1)
        self.places = {0: (0, len(self.rows))}
        return self._node(0)

    def part(self, parent: int, split: Split, children: tuple[int, int]) -> tuple[NodeRows, NodeRows]:
        """Sort the rows of a node into its two children."""
        first, last = self.places[parent]
        middle = self._sort(self.rows, first, last, split)
        self.places[children[0]], self.places[children[1]] = (first, middle), (middle, last)
        return self._node(children[0]), self._node(children[1])

    def histogram(self, node: int, first: int, last: int, out: FloatArray) -> None:
        """Write the sums of the channels in each bin of the features `first` to `last` into `out`."""
        from labelrank._kernels.trees.boosting.histogram import dense_histogram, sparse_histogram

        if not self.is_sparse:
            dense_histogram(self.bins, self.channels, self.rows_of(node), first, last, self.start, out)
            return
        self.mark(node)
        total = self._node(node).total
        sparse_histogram(
            self.bins, self.channels, self.node_of_row, node, first, last, self.start, total, 2 * self.n_labels, out
        )

    def add(self, tree: Any) -> None:
        """Add the grown tree, as :class:`~labelrank.trees.boosting.prediction.Trees`, to the scores."""
        from labelrank._kernels.trees.boosting.growth import add_to_rows

        for leaf in np.flatnonzero(tree.left < 0).tolist():
            add_to_rows(self.rows_of(leaf), tree.value[leaf], self.scores)
        todo = [(0, 0, len(self.others))]
        while todo:
            node, first, last = todo.pop()
            if tree.left[node] < 0:
                add_to_rows(self.others[first:last], tree.value[node], self.scores)
            elif first < last:
                feature, at_bin, missing_left = tree.feature[node], tree.bin[node], tree.missing_left[node]
                left_bins = tree.left_bins[tree.category_set[node]]
                split = Split(0.0, int(feature), int(at_bin), int(missing_left), left_bins)
                middle = self._sort(self.others, first, last, split)
                todo += [(int(tree.left[node]), first, middle), (int(tree.right[node]), middle, last)]

    def rows_of(self, node: int) -> npt.NDArray[np.int32]:
        """Rows of a node."""
        first, last = self.places[node]
        return self.rows[first:last]

    def mark(self, node: int) -> None:
        """Write the number of a node into ``node_of_row`` for its rows."""
        self.node_of_row[self.rows_of(node)] = node

    def _node(self, node: int) -> NodeRows:
        from labelrank._kernels.trees.boosting.histogram import sum_channels

        rows, total = self.rows_of(node), np.empty(self.n_channels)
        sum_channels(self.channels, rows, total)
        return NodeRows(len(rows), total)

    def _sort(self, rows: npt.NDArray[np.int32], first: int, last: int, split: Split) -> int:
        """Sort ``rows[first:last]`` by a split; return where those of the right side begin."""
        from labelrank._kernels.trees.boosting.growth import part_dense, part_sparse

        f = split.feature
        how = (f, bool(self.is_categorical[f]), split.bin, int(self.missing[f]), split.missing_left > 0)
        part = part_sparse if self.is_sparse else part_dense
        return int(part(self.bins, rows, first, last, how, split.left_bins, self.sides, self.buffer))
