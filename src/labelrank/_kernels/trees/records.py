"""Records of arrays and numbers that the kernels of the trees take and return."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


class Sample(NamedTuple):
    """Training rows of a tree."""

    x: FloatArray  # (n_features, n_samples), NaN is missing
    is_categorical: BoolArray  # (n_features,)
    signs: npt.NDArray[np.int8] | FloatArray  # (n_samples, n_sums), what a row of weight 1 adds to the sums of a node
    weight: FloatArray  # (n_samples,)
    n_pairs: int
    complete: bool  # whether every row orders every pair, by one vote


class Rules(NamedTuple):
    """Limits of a tree."""

    max_features: int
    max_depth: int
    min_samples_split: float
    min_samples_leaf: float
    max_leaf_nodes: int  # 0 is unlimited
    shrinkage: float


class Split(NamedTuple):
    """A split of a node."""

    value: float  # of the criterion, larger is better
    threshold: float
    code: int  # of the largest value that goes left, if the feature is sorted
    missing_left: bool


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
    code: IntArray  # (n_nodes,), of the split
    gain: FloatArray  # (n_nodes,), of the split
    is_leaf: BoolArray  # (n_nodes,)
    queue: IntArray  # (n_nodes,), nodes that have a split and no children yet
    features: IntArray  # (n_features,), their numbers in random order
    goes_left: npt.NDArray[np.uint8]  # (n_samples,)
    items: IntArray  # (n_samples,)
    start: FloatArray  # (n_sums,)
    left: FloatArray  # (n_sums,)


class Trees(NamedTuple):
    """Splits of many trees, one tree after the other; children are counted from the root of their tree."""

    offsets: IntArray  # (n_trees + 1,), where the nodes of each tree begin
    left: npt.NDArray[np.int32]
    right: npt.NDArray[np.int32]
    feature: npt.NDArray[np.int32]
    threshold: FloatArray
    missing_left: BoolArray
    is_categorical: BoolArray  # (n_features,)
