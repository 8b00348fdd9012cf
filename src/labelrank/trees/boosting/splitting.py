"""The best split of a node."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrank._arrays import BoolArray, FloatArray, IntArray

NO_LEFT_BINS = np.zeros(256, dtype=bool)


class Rules(NamedTuple):
    """Parameters of the kernels that evaluate splits."""

    n_labels: int
    l2: float  # of the values of a leaf
    min_weight: float  # of the rows of a leaf


class Split(NamedTuple):
    """A split of a node: by a bin of a feature or, if it is categorical, by a set of bins."""

    score: float  # of both sides
    feature: int
    bin: int
    missing_left: int  # whether missing values go left; -1 if the node has none
    left_bins: BoolArray  # (256,)


def find_split(
    histogram: FloatArray,
    features: IntArray,
    first: int,
    start: IntArray,
    is_categorical: BoolArray,
    total: FloatArray,
    rules: Rules,
    to_improve: float,
) -> Split | None:
    """Best split on some features of a histogram that starts at feature `first`; None if none exceeds `to_improve`."""
    from labelrank._kernels.trees.boosting.splitting import best_split

    found, left = np.array([to_improve, -1.0, 0.0, 0.0]), np.zeros(256, dtype=bool)
    best_split(histogram, features, first, start, is_categorical, total, rules, found, left)
    return _as_split(found, left, is_categorical)


def find_sparse_split(
    bins: Any,
    channels: npt.NDArray[np.float32],
    node_of_row: npt.NDArray[np.int32],
    node: int,
    features: IntArray,
    missing: IntArray,
    is_categorical: BoolArray,
    total: FloatArray,
    rules: Rules,
    to_improve: float,
) -> Split | None:
    """Best split of a node on some sparse features; None if none exceeds `to_improve`."""
    from labelrank._kernels.trees.boosting.splitting import best_sparse_split

    found, left = np.array([to_improve, -1.0, 0.0, 0.0]), np.zeros(256, dtype=bool)
    best_sparse_split(bins, channels, node_of_row, node, features, missing, is_categorical, total, rules, found, left)
    return _as_split(found, left, is_categorical)


def _as_split(found: FloatArray, left: BoolArray, is_categorical: BoolArray) -> Split | None:
    feature = int(found[1])
    if feature < 0:
        return None
    left = left if is_categorical[feature] else NO_LEFT_BINS
    return Split(float(found[0]), feature, int(found[2]), int(found[3]), left)
