"""Grown trees as arrays, and their predictions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed

from labelrank._arrays import BoolArray, FloatArray, IntArray, row_blocks
from labelrank._threads import n_threads
from labelrank.trees.boosting.binning import Binning
from labelrank.trees.boosting.growth import Node

_ENTRIES = 2**22  # bins of a block of rows


class Trees(NamedTuple):
    """Nodes of many trees, one tree after the other, a parent before its children."""

    offsets: IntArray  # (n_trees + 1,), where the nodes of each tree begin
    left: npt.NDArray[np.int32]  # children, counted from the root of their tree; -1 for a leaf
    right: npt.NDArray[np.int32]
    feature: npt.NDArray[np.int32]  # -1 for a leaf
    bin: npt.NDArray[np.uint8]  # the last one that goes left
    threshold: FloatArray  # of the bin; NaN for a leaf and for categories
    missing_left: BoolArray
    category_set: npt.NDArray[np.int32]  # row of left_bins, 0 if the split is not by categories
    value: FloatArray  # (n_nodes, n_labels), contribution of a leaf to the scores
    gain: FloatArray
    n_rows: IntArray
    left_bins: BoolArray  # (n_sets, 256), bins that go left


def as_trees(nodes: list[Node], binning: Binning, n_labels: int, l2: float, learning_rate: float) -> Trees:
    """A grown tree as arrays, with Newton steps as values."""
    trees = no_trees(n_labels, len(nodes))._replace(offsets=np.array([0, len(nodes)]))
    left_bins = [trees.left_bins[0]]
    for node in nodes:
        i, split = node.number, node.split
        if split is None or node.left is None or node.right is None:
            continue
        trees.left[i], trees.right[i] = node.left.number, node.right.number
        trees.feature[i], trees.bin[i], trees.missing_left[i] = split.feature, split.bin, split.missing_left
        trees.gain[i] = node.gain
        if binning.is_categorical[split.feature]:
            trees.category_set[i] = len(left_bins)
            left_bins.append(split.left_bins)
        else:  # beyond the last threshold there are only missing values
            edges = binning.edges[split.feature]
            trees.threshold[i] = edges[split.bin] if split.bin < len(edges) else np.inf
    for node in nodes:
        trees.n_rows[node.number] = node.n_rows
        g, h = node.total[:n_labels], node.total[n_labels : 2 * n_labels] + l2
        trees.value[node.number] = -learning_rate * np.divide(g, h, out=np.zeros(n_labels), where=h > 0)
    return trees._replace(left_bins=np.array(left_bins))


def no_trees(n_labels: int, n_nodes: int = 0) -> Trees:
    """No trees, with arrays for `n_nodes` leaves."""
    return Trees(
        offsets=np.zeros(1, dtype=np.int64),
        left=np.full(n_nodes, -1, dtype=np.int32),
        right=np.full(n_nodes, -1, dtype=np.int32),
        feature=np.full(n_nodes, -1, dtype=np.int32),
        bin=np.zeros(n_nodes, dtype=np.uint8),
        threshold=np.full(n_nodes, np.nan),
        missing_left=np.zeros(n_nodes, dtype=bool),
        category_set=np.zeros(n_nodes, dtype=np.int32),
        value=np.zeros((n_nodes, n_labels)),
        gain=np.zeros(n_nodes),
        n_rows=np.zeros(n_nodes, dtype=np.int64),
        left_bins=np.zeros((1, 256), dtype=bool),
    )


def join(parts: list[Trees]) -> Trees:
    """Concatenate trees."""
    joined: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in Trees._fields}
    n_nodes = np.cumsum([0, *(len(part.left) for part in parts)])
    n_sets = np.cumsum([0, *(len(part.left_bins) - 1 for part in parts)])
    shifted = [
        np.where(part.category_set > 0, part.category_set + n, 0) for part, n in zip(parts, n_sets, strict=False)
    ]
    joined["category_set"] = np.concatenate(shifted).astype(np.int32)
    joined["left_bins"] = np.concatenate([parts[0].left_bins[:1], *(part.left_bins[1:] for part in parts)])
    joined["offsets"] = np.concatenate([[0], *(part.offsets[1:] + n for part, n in zip(parts, n_nodes, strict=False))])
    return Trees(**joined)


def _of_used_features(trees: Trees, binning: Binning) -> tuple[Trees, Binning, IntArray]:
    """Leave out the features that no tree splits by, which need not be binned; return the indices of the others too."""
    inner = trees.left >= 0
    used, place = np.unique(trees.feature[inner], return_inverse=True)
    feature = np.full_like(trees.feature, -1)
    feature[inner] = place
    few = Binning(binning.edges[used], binning.is_categorical[used])
    return trees._replace(feature=feature), few, used.astype(np.int64)


def add_scores(
    trees: Trees, binning: Binning, X: Any, scores: FloatArray, first: int, last: int, n_jobs: int | None = None
) -> None:
    """Add the trees `first` to `last` to the scores of the rows of X, block by block."""
    from labelrank._kernels.trees.boosting.prediction import add_trees

    trees, binning, used = _of_used_features(trees, binning)
    missing = binning.missing

    def add(rows: slice) -> None:
        codes = binning.transform_rows(X[rows][:, used])
        add_trees(trees, first, last, codes, missing, binning.is_categorical, scores[rows])

    blocks = list(row_blocks(X.shape[0], len(used), _ENTRIES))
    if n_threads(n_jobs) < 2 or len(blocks) < 2:
        for rows in blocks:
            add(rows)
    else:
        Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(add)(rows) for rows in blocks)


def leaves(trees: Trees, binning: Binning, X: Any) -> IntArray:
    """Number of the leaf of each row in each tree, of shape (n_samples, n_trees)."""
    from labelrank._kernels.trees.boosting.prediction import add_trees

    trees, binning, used = _of_used_features(trees, binning)
    codes, missing = binning.transform_rows(X[:, used]), binning.missing
    numbered = trees._replace(value=np.arange(len(trees.left), dtype=np.float64)[:, np.newaxis])
    found = np.empty((len(codes), len(trees.offsets) - 1), dtype=np.int64)
    for t, first in enumerate(trees.offsets[:-1]):
        node = np.zeros((len(codes), 1))
        add_trees(numbered, t, t + 1, codes, missing, binning.is_categorical, node)
        found[:, t] = node[:, 0] - first
    return found
