"""Subgraphs of many preference graphs as flat arrays: the output of a decomposition.

Every subgraph is a union of blocks A × B: an edge from each label of A to each label of B. A single edge is a
block with one label on each side, a star one with one label on one side. The two sides of a block are slices of
one array of labels, `members`, so that labels sorted by level serve all blocks of an instance and nothing of
size A × B is stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrank._memory import require_memory
from labelrank.supervision.vectors import is_integer

IntArray = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Subgraph:
    """A subgraph, as returned by a user-defined decomposition: blocks of labels and a weight.

    In a graph of weighted edges the weight multiplies the mean weight of the subgraph's edges.

    Examples
    --------
    >>> from labelrank.decompositions import Subgraph
    >>> Subgraph.between([0, 1], [2]).edges()
    [(0, 2), (1, 2)]
    >>> Subgraph.of_edges([(0, 1), (1, 2)], weight=2.0)
    Subgraph(blocks=(((0,), (1,)), ((1,), (2,))), weight=2.0)
    """

    blocks: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    weight: float = 1.0

    @classmethod
    def between(cls, better: Iterable[int], worse: Iterable[int], weight: float = 1.0) -> Subgraph:
        """All edges from the labels of `better` to the labels of `worse`."""
        return cls(((tuple(_label(a) for a in better), tuple(_label(b) for b in worse)),), weight)

    @classmethod
    def of_edges(cls, edges: Iterable[tuple[int, int]], weight: float = 1.0) -> Subgraph:
        """The given edges ``(better, worse)``."""
        stars: dict[int, list[int]] = {}
        for better, worse in edges:
            stars.setdefault(_label(better), []).append(_label(worse))
        return cls(tuple(((better,), tuple(worse)) for better, worse in stars.items()), weight)

    def edges(self) -> list[tuple[int, int]]:
        """All edges ``(better, worse)``."""
        return [(a, b) for better, worse in self.blocks for a in better for b in worse]


def _label(value: Any) -> int:
    if not is_integer(value):
        raise TypeError(f"a subgraph must consist of label indices, integers from 0, got {value!r}")
    return int(value)


class Blocks(NamedTuple):
    """The arrays of :class:`Subgraphs`, for kernels."""

    members: IntArray
    member_ptr: IntArray
    subgraph_ptr: IntArray
    block_ptr: IntArray
    better_start: IntArray
    better_stop: IntArray
    worse_start: IntArray
    worse_stop: IntArray
    weight: npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Subgraphs:
    """The subgraphs of all instances, as flat arrays.

    Attributes
    ----------
    n_labels : int
        Number of labels, the dummy label of a covering (the last) included.
    members : int array
        Labels; instance i has ``members[member_ptr[i]:member_ptr[i + 1]]``.
    subgraph_ptr : int array of shape (n_instances + 1,)
        Instance i has the subgraphs ``subgraph_ptr[i]:subgraph_ptr[i + 1]``.
    block_ptr : int array of shape (n_subgraphs + 1,)
        Subgraph s has the blocks ``block_ptr[s]:block_ptr[s + 1]``, at least one.
    better_start, better_stop, worse_start, worse_stop : int arrays of shape (n_blocks,)
        The two sides of block b are ``members[better_start[b]:better_stop[b]]`` and
        ``members[worse_start[b]:worse_stop[b]]``, neither of them empty.
    weight : float array of shape (n_subgraphs,)
        Weight of a disagreement with the subgraph.
    """

    n_labels: int
    members: IntArray
    member_ptr: IntArray
    subgraph_ptr: IntArray
    block_ptr: IntArray
    better_start: IntArray
    better_stop: IntArray
    worse_start: IntArray
    worse_stop: IntArray
    weight: npt.NDArray[np.float64] = field(repr=False)

    def __len__(self) -> int:
        return len(self.weight)

    @property
    def n_instances(self) -> int:
        """Number of instances, those without subgraphs included."""
        return len(self.subgraph_ptr) - 1

    @property
    def instance(self) -> IntArray:
        """The instance of each subgraph."""
        return np.repeat(np.arange(self.n_instances), np.diff(self.subgraph_ptr))

    @property
    def blocks(self) -> Blocks:
        """The arrays as kernels take them."""
        return Blocks(*(getattr(self, name) for name in Blocks._fields))

    def edge_counts(self) -> IntArray:
        """Number of edges of each subgraph."""
        edges = (self.better_stop - self.better_start) * (self.worse_stop - self.worse_start)
        return np.add.reduceat(edges, self.block_ptr[:-1]) if len(self) else np.empty(0, dtype=np.intp)

    def of(self, instance: int) -> list[Subgraph]:
        """The subgraphs of one instance, for inspection.

        Examples
        --------
        >>> from labelrank import as_graphs
        >>> from labelrank.decompositions import domination
        >>> [subgraph.edges() for subgraph in domination.cut(as_graphs([[1, 2, 3]])).of(0)]
        [[(0, 1), (0, 2)], [(1, 2)]]
        """
        found = []
        for s in range(self.subgraph_ptr[instance], self.subgraph_ptr[instance + 1]):
            blocks = []
            for b in range(self.block_ptr[s], self.block_ptr[s + 1]):
                better = self.members[self.better_start[b] : self.better_stop[b]]
                worse = self.members[self.worse_start[b] : self.worse_stop[b]]
                blocks.append((tuple(better.tolist()), tuple(worse.tolist())))
            found.append(Subgraph(tuple(blocks), float(self.weight[s])))
        return found

    def disagree(self, ranks: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Whether `ranks`, of shape (n_instances, n_labels), contradict or tie an edge of each subgraph.

        A block A × B agrees when the worst rank in A is strictly better than the best rank in B; a rank of
        NaN agrees with nothing.
        """
        if ranks.shape != (self.n_instances, self.n_labels):
            raise ValueError(f"ranks has shape {ranks.shape}, expected {(self.n_instances, self.n_labels)}")
        if not len(self):
            return np.zeros(0, dtype=bool)
        rows = np.repeat(np.arange(self.n_instances), np.diff(self.member_ptr))
        values = ranks[rows, self.members]
        worst = _reduce_slices(np.maximum, values, self.better_start, self.better_stop)
        best = _reduce_slices(np.minimum, values, self.worse_start, self.worse_stop)
        return np.logical_or.reduceat(~(worst < best), self.block_ptr[:-1])


def _reduce_slices(ufunc: np.ufunc, values: npt.NDArray[Any], start: IntArray, stop: IntArray) -> npt.NDArray[Any]:
    """Reduction of each (non-empty, possibly overlapping) slice of `values`."""
    if (stop - start == 1).all():
        return values[start]
    ends = np.column_stack([start, stop]).ravel()
    return np.asarray(ufunc.reduceat(np.append(values, values[-1]), ends)[::2])


def expand_ranges(start: IntArray, stop: IntArray) -> tuple[IntArray, IntArray]:
    """Return the numbers of all ranges and the index of the range of each number.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank.decompositions.subgraphs import expand_ranges
    >>> expand_ranges(np.array([2, 7]), np.array([5, 8]))
    (array([0, 0, 0, 1]), array([2, 3, 4, 7]))
    """
    counts = stop - start
    total = int(counts.sum())
    advice = 'use decomposition="domination" or "levels", whose size is linear in the labels'
    require_memory(80.0 * total, f"a decomposition into {total} subgraphs", advice)
    which = np.repeat(np.arange(len(start)), counts)
    first = np.cumsum(counts) - counts
    return which, np.arange(len(which)) - first[which] + start[which]


def pointers(rows: IntArray, n_rows: int) -> IntArray:
    """CSR-like pointers of sorted row numbers."""
    ptr = np.zeros(n_rows + 1, dtype=np.intp)
    np.cumsum(np.bincount(rows, minlength=n_rows), out=ptr[1:])
    return ptr


def one_block_each(
    n_labels: int,
    members: IntArray,
    member_ptr: IntArray,
    rows: IntArray,
    better: tuple[IntArray, IntArray],
    worse: tuple[IntArray, IntArray],
    weight: npt.NDArray[np.float64] | None = None,
) -> Subgraphs:
    """Subgraphs of one block each; `rows` is the instance of each, in ascending order."""
    return Subgraphs(
        n_labels=n_labels,
        members=members,
        member_ptr=member_ptr,
        subgraph_ptr=pointers(rows, len(member_ptr) - 1),
        block_ptr=np.arange(len(rows) + 1),
        better_start=better[0],
        better_stop=better[1],
        worse_start=worse[0],
        worse_stop=worse[1],
        weight=np.ones(len(rows)) if weight is None else weight,
    )


def from_lists(rows: Sequence[Sequence[Subgraph]], n_labels: int) -> Subgraphs:
    """Flat arrays of subgraphs given one list per instance."""
    members: list[int] = []
    member_ptr, subgraph_ptr, block_ptr = [0], [0], [0]
    sides: list[tuple[int, int, int, int]] = []
    weight: list[float] = []
    for subgraphs in rows:
        for subgraph in subgraphs:
            for better, worse in subgraph.blocks:
                start = len(members)
                members += better + worse
                sides.append((start, start + len(better), start + len(better), len(members)))
            block_ptr.append(len(sides))
            weight.append(subgraph.weight)
        subgraph_ptr.append(len(weight))
        member_ptr.append(len(members))
    columns = np.array(sides, dtype=np.intp).reshape(-1, 4)
    return Subgraphs(
        n_labels=n_labels,
        members=np.array(members, dtype=np.intp),
        member_ptr=np.array(member_ptr, dtype=np.intp),
        subgraph_ptr=np.array(subgraph_ptr, dtype=np.intp),
        block_ptr=np.array(block_ptr, dtype=np.intp),
        better_start=columns[:, 0],
        better_stop=columns[:, 1],
        worse_start=columns[:, 2],
        worse_stop=columns[:, 3],
        weight=np.array(weight, dtype=np.float64),
    )
