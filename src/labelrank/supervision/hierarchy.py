"""Label trees turned into layers: the nearer a label is to a correct one in the tree, the better its layer.

The labels are nodes of a rooted tree and an instance has some of them. The leaves are ranked. A node that is not a leaf
gets a dummy child for the instances that end at that node; the dummy child goes by the name of the node, so the labels
that are ranked are exactly the labels that were given.

The layer of a leaf for an instance follows from the tree distance to the nearest correct leaf: 0 for correct leaves,
1 for their siblings (distance 2), 2 for distance 3, and so on; all below the last layer are collapsed into it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrank._arrays import row_blocks
from labelrank._memory import require_memory

_ROOT = object()  # above all nodes that have no parent


def _parent_mapping(parents: Any, labels: Sequence[Any]) -> dict[Any, Any]:
    """{child: parent} of a mapping, or of an array with one parent index per label (-1: none)."""
    if isinstance(parents, Mapping):
        return {child: parent for child, parent in parents.items() if parent is not None}
    array = np.asarray(parents)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise TypeError(
            "parents must be a mapping {child: parent} or an integer array with the index of each label's parent "
            f"(-1 for none), got {type(parents).__name__} with dtype {array.dtype} and shape {array.shape}"
        )
    if len(array) != len(labels):
        raise ValueError(f"parents has {len(array)} entries, but there are {len(labels)} labels; give one per label")
    if array.size and (array.max() >= len(labels) or array.min() < -1):
        i = int(np.flatnonzero((array >= len(labels)) | (array < -1))[0])
        raise ValueError(f"parents[{i}] is {array[i]}; expected an index from 0 to {len(labels) - 1}, or -1 for none")
    return {labels[i]: labels[j] for i, j in enumerate(array.tolist()) if j >= 0}


def _path_from_root(node: Any, parent_of: dict[Any, Any]) -> list[Any]:
    """The nodes from the root down to `node`, both included."""
    path, seen = [node], {node}
    while path[-1] in parent_of:
        parent = parent_of[path[-1]]
        if parent in seen:
            raise ValueError(f"parents has a cycle through {parent!r}; a label tree must not have cycles")
        seen.add(parent)
        path.append(parent)
    path.append(_ROOT)
    return path[::-1]


class LabelTree:
    """The tree as two matrices over labels: which is above which, and how far the leaves are apart.

    Parameters
    ----------
    parents : mapping {child: parent} or int array of shape (n_labels,)
        The tree. A mapping may have nodes that are no labels; an array holds, for each label, the index of
        its parent or -1. Nodes without a parent hang below one common root.
    labels : sequence
        The labels.

    Attributes
    ----------
    above : bool array of shape (n_labels, n_labels)
        ``above[a, b]``: b is a proper ancestor of a.
    distance : int array of shape (n_labels, n_labels)
        Number of tree edges between the leaves of a and b; a label that is an inner node stands for its dummy
        child.

    Examples
    --------
    >>> from labelrank.supervision.hierarchy import LabelTree
    >>> tree = LabelTree({"cat": "animal", "dog": "animal", "oak": "plant"}, ["animal", "cat", "dog", "oak"])
    >>> tree.distance
    array([[0, 2, 2, 4],
           [2, 0, 2, 4],
           [2, 2, 0, 4],
           [4, 4, 4, 0]])
    """

    def __init__(self, parents: Any, labels: Sequence[Any]) -> None:
        labels = list(labels)
        parent_of = _parent_mapping(parents, labels)
        nodes = set(parent_of) | set(parent_of.values())
        if isinstance(parents, Mapping):
            nodes |= set(parents)
            unknown = [label for label in labels if label not in nodes]
            if unknown:
                raise ValueError(f"the label {unknown[0]!r} is not a node of the tree given by parents")
        for node in parent_of:  # those too that no label hangs below
            _path_from_root(node, parent_of)
        inner = set(parent_of.values())
        paths = [_path_from_root(label, parent_of) for label in labels]
        # The leaf of a label hangs below the last node of its trunk.
        trunks = [path if label in inner else path[:-1] for label, path in zip(labels, paths, strict=True)]
        column = {node: i for i, node in enumerate(dict.fromkeys(node for trunk in trunks for node in trunk))}
        require_memory(
            24.0 * len(labels) ** 2, f"distances of {len(labels)} labels", "leave out labels that never occur"
        )
        on_trunk = np.zeros((len(labels), len(column)), dtype=np.int32)
        for i, trunk in enumerate(trunks):
            on_trunk[i, [column[node] for node in trunk]] = 1
        length = on_trunk.sum(axis=1)
        common = on_trunk @ on_trunk.T  # shared nodes are the first ones of both trunks
        self.distance: npt.NDArray[np.intp] = (length[:, None] + length - 2 * (common - 1)).astype(np.intp)
        np.fill_diagonal(self.distance, 0)

        column_of = {label: i for i, label in enumerate(labels)}
        self.above = np.zeros((len(labels), len(labels)), dtype=bool)
        for i, path in enumerate(paths):
            self.above[i, [column_of[node] for node in path[:-1] if node in column_of]] = True

    def layers(self, n_layers: int) -> npt.NDArray[np.int8]:
        """Layer of each label (columns) when one label (row) is the correct one."""
        return np.minimum(np.maximum(self.distance - 1, 0), n_layers - 1).astype(np.int8)

    def ends(self, indicator: sparse.csr_array) -> sparse.csr_array:
        """The labels at which an instance ends: those that have no descendant among its labels."""
        above = sparse.csr_array(self.above.astype(np.int32))
        passed = (indicator.astype(np.int32) @ above).astype(bool)
        ends = indicator.astype(bool) > passed
        ends.sort_indices()
        return sparse.csr_array(ends)


def layers_from_hierarchy(
    indicator: sparse.csr_array, parents: Any, labels: Sequence[Any], n_layers: int
) -> npt.NDArray[np.int8]:
    """Layer of each label for each instance, -1 throughout for an instance without labels; O(n_labels) per instance."""
    if not isinstance(n_layers, (int, np.integer)) or not 2 <= n_layers <= 127:
        raise ValueError(f"n_layers must be an integer from 2 to 127, got {n_layers!r}")
    tree = LabelTree(parents, labels)
    layers = tree.layers(int(n_layers))
    ends = tree.ends(indicator)
    result = np.full(indicator.shape, -1, dtype=np.int8)
    labeled = np.flatnonzero(np.diff(ends.indptr))
    first = ends.indptr[labeled]  # the ends of an instance follow each other, those of no instance come between
    bounds = np.append(first, ends.nnz)
    for some in row_blocks(len(labeled), indicator.shape[1] * _most_ends(bounds)):
        start, stop = bounds[some.start], bounds[some.stop]
        nearest = layers[ends.indices[start:stop]]
        result[labeled[some]] = np.minimum.reduceat(nearest, first[some] - start, axis=0)
    return result


def _most_ends(bounds: npt.NDArray[Any]) -> int:
    """The largest number of ends of one instance, so that a block of instances is small whatever they have."""
    return int(np.diff(bounds).max(initial=1))
