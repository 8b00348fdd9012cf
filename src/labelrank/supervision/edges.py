"""Edges of all graphs as flat arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrank._arrays import pointers


class Edges(NamedTuple):
    """Flat arrays of edges: in instance ``instance[e]`` label ``better[e]`` is preferred to ``worse[e]``."""

    instance: npt.NDArray[np.intp]
    better: npt.NDArray[np.intp]
    worse: npt.NDArray[np.intp]

    def take(self, chosen: npt.NDArray[Any]) -> Edges:
        """Some of the edges."""
        return Edges(*(array[chosen] for array in self))

    def sorting(self) -> npt.NDArray[np.intp]:
        """The order by instance, preferred label, other label."""
        return np.lexsort((self.worse, self.better, self.instance))

    def by_pair(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """The order by instance and pair of labels, whichever is preferred, and where each pair begins in it."""
        low, high = np.minimum(self.better, self.worse), np.maximum(self.better, self.worse)
        order = np.lexsort((high, low, self.instance))  # a single key of the three could outgrow 64 bits
        changed = [np.diff(key[order], prepend=-1) != 0 for key in (self.instance, low, high)]
        return order, np.flatnonzero(np.logical_or.reduce(changed))

    def pointers(self, n_instances: int) -> npt.NDArray[np.int64]:
        """Where the edges of each instance begin and end, when they are sorted."""
        return pointers(np.bincount(self.instance, minlength=n_instances))


def join_edges(parts: Sequence[Edges], sizes: Sequence[int]) -> Edges:
    """Edges of graphs one after the other, `sizes` instances in each part."""
    offsets = np.cumsum([0, *sizes[:-1]])
    instance = np.concatenate([part.instance + offset for part, offset in zip(parts, offsets, strict=True)])
    return Edges(
        instance, np.concatenate([part.better for part in parts]), np.concatenate([part.worse for part in parts])
    )


def edges_of_rows(
    indptr: npt.NDArray[np.int64], rows: npt.NDArray[np.intp]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """New pointers and the positions of the edges of some instances."""
    counts = np.diff(indptr)[rows]
    chosen = pointers(counts)
    return chosen, np.repeat(indptr[rows] - chosen[:-1], counts) + np.arange(chosen[-1])


def edges_through_dummy(levels: npt.NDArray[Any]) -> Edges:
    """Edges from relevant labels (level 0) to one more label, the last, and from it to irrelevant ones (level 1)."""
    dummy = levels.shape[1]
    rows, columns = np.nonzero(levels >= 0)
    relevant = levels[rows, columns] == 0
    edges = Edges(rows, np.where(relevant, columns, dummy), np.where(relevant, dummy, columns))
    return edges.take(edges.sorting())
