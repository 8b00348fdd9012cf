"""Storage of preference graphs, as levels or as edges: attributes, rows, conversions.

*Levels* is an integer matrix: each label of an instance has a level (0 is best) or is absent (-1), and there is an edge
from every label to all labels of a worse level. It covers rankings, sets of relevant labels, classes and layers, and
never holds an edge. *Edges* is three flat arrays, for what is not layered: battles, contradictions, cycles.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from labelrank._arrays import BoolArray, FloatArray, IntArray, row_blocks
from labelrank.supervision.edges import Edges, edges_of_rows, edges_through_dummy
from labelrank.supervision.labels import check_labels
from labelrank.supervision.levels import (
    dense_levels,
    edge_counts,
    edges_of_levels,
    levels_of_edges,
    smallest_dtype,
    without_lone_levels,
)
from labelrank.supervision.vectors import Labels, object_array, row_index


class GraphStorage:
    """Base of :class:`~labelrank.PreferenceGraphs`; the arrays that it is given are not checked."""

    def __init__(
        self,
        *,
        n_labels: int,
        levels: npt.NDArray[Any] | None = None,
        ranks: FloatArray | None = None,
        indptr: npt.NDArray[Any] | None = None,
        better: npt.NDArray[Any] | None = None,
        worse: npt.NDArray[Any] | None = None,
        weight: FloatArray | None = None,
        labels: Any = None,
    ) -> None:
        self._levels, self._ranks = levels, ranks  # ranks are turned into levels when these are needed
        self._indptr, self._better, self._worse, self._weight = indptr, better, worse, weight
        by_row = levels if levels is not None else ranks if ranks is not None else indptr[:-1]  # type: ignore[index]
        self.shape: tuple[int, int] = (len(by_row), int(n_labels))
        self._labels = None if labels is None else check_labels(labels, n_labels)
        self._n_edges: int | None = None
        self._is_layered: bool | None = True if indptr is None else None

    def __getstate__(self) -> dict[str, Any]:
        """State without cached values, so that it does not depend on which of them were computed."""
        levels = self._levels if self._ranks is None else None
        return {**vars(self), "_levels": levels, "_n_edges": None, "_is_layered": True if self.is_ranked else None}

    @classmethod
    def _from_sorted_edges(
        cls, edges: Edges, weight: FloatArray | None, n_instances: int, n_labels: int, labels: Labels | None
    ) -> Self:
        dtype = smallest_dtype(n_labels)
        return cls(
            indptr=edges.pointers(n_instances),
            better=edges.better.astype(dtype),
            worse=edges.worse.astype(dtype),
            weight=weight,
            n_labels=n_labels,
            labels=labels,
        )

    def _of_levels(self, levels: npt.NDArray[Any]) -> Self:
        """Other levels over the same labels."""
        return type(self)(levels=levels, n_labels=self.shape[1], labels=self._labels)

    # --- Attributes

    @property
    def storage(self) -> Literal["levels", "edges"]:
        """How the graphs are stored."""
        return "levels" if self.is_ranked else "edges"

    @property
    def is_ranked(self) -> bool:
        """Whether the labels of each instance have ranks; False if only edges between them are known."""
        return self._indptr is None

    @property
    def labels(self) -> Labels:
        """Names of the labels, by default 0, 1, ..."""
        return np.arange(self.shape[1]) if self._labels is None else self._labels

    @property
    def has_names(self) -> bool:
        """Whether the labels were given names."""
        return self._labels is not None

    @property
    def levels(self) -> npt.NDArray[Any]:
        """Integer matrix (n_instances, n_labels): level of each label, 0 is best, -1 is absent; levels storage only."""
        if self._levels is None:
            if self._ranks is None:
                raise AttributeError("graphs stored as edges have no levels; use to_levels() if they are layered")
            self._levels = dense_levels(self._ranks)
        return self._levels

    @property
    def indptr(self) -> IntArray:
        """Edges storage: instance i has the edges ``indptr[i]:indptr[i + 1]``."""
        return self._edge_array("indptr")

    @property
    def better(self) -> npt.NDArray[Any]:
        """Edges storage: the preferred label of each edge."""
        return self._edge_array("better")

    @property
    def worse(self) -> npt.NDArray[Any]:
        """Edges storage: the other label of each edge."""
        return self._edge_array("worse")

    def _edge_array(self, name: str) -> npt.NDArray[Any]:
        if self.is_ranked:
            raise AttributeError(f"graphs stored as levels have no array {name!r}; to_edges() lists their edges")
        array: npt.NDArray[Any] = getattr(self, f"_{name}")
        return array

    @property
    def weight(self) -> FloatArray | None:
        """Weights of the edges, None when all are 1."""
        return self._weight

    def edge_weights(self) -> FloatArray:
        """Weight of each edge of :meth:`to_edges`, 1 where none were given."""
        return np.ones(self.n_edges) if self._weight is None else self._weight

    @property
    def n_edges(self) -> int:
        """Number of edges of all graphs together."""
        if self._n_edges is None:
            self._n_edges = int(self.edge_counts().sum())
        return self._n_edges

    def edge_counts(self) -> IntArray:
        """Number of edges of each instance."""
        return edge_counts(self.levels) if self.is_ranked else np.diff(self.indptr)

    def has_pairs(self) -> BoolArray:
        """Whether each instance prefers a label to another one."""
        if self._ranks is None:
            return self.edge_counts() > 0
        columns = np.ascontiguousarray(self._ranks.T)  # much faster than reductions of short rows
        return np.fmin.reduce(columns, initial=np.inf) < np.fmax.reduce(columns, initial=-np.inf)

    def compared_labels(self, rows: BoolArray) -> BoolArray:
        """Which labels are compared with another one in some instances; `rows` is a mask of instances with pairs.

        In a ranking that has a pair, no observed label is tied with all others.
        """
        seen = np.zeros(self.shape[1], dtype=bool)
        if not self.is_ranked:
            chosen = np.repeat(rows, np.diff(self.indptr))
            seen[self.better[chosen]] = seen[self.worse[chosen]] = True
            return seen
        for block in row_blocks(*self.shape):
            if seen.all():
                break
            seen |= self[block][rows[block]].observed().any(axis=0)
        return seen

    def observed(self) -> BoolArray:
        """Which labels were observed in each instance, of shape (n_instances, n_labels): ranked, or end of an edge."""
        if self._ranks is not None:
            return ~np.isnan(self._ranks)
        if self.is_ranked:
            return self.levels >= 0
        seen, edges = np.zeros(self.shape, dtype=bool), self.to_edges()
        seen[edges.instance, edges.better] = seen[edges.instance, edges.worse] = True
        return seen

    @property
    def is_layered(self) -> bool:
        """Whether every graph consists of levels: all edges between different levels, none within."""
        if self._is_layered is None:
            self._is_layered = all(levels is not None for _, levels in self._levels_by_block())
        return self._is_layered

    @property
    def is_complete(self) -> bool:
        """Whether all labels of all instances have ranks."""
        return self.is_ranked and bool(self.observed().all())

    @property
    def is_strict(self) -> bool:
        """Whether all labels of all instances have different ranks."""
        if not self.is_complete:
            return False
        return all((np.diff(np.sort(values, axis=1), axis=1) > 0).all() for _, values in self.blocks_of_ranks())

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return (
            f"PreferenceGraphs({self.shape[0]} instance{'s' * (self.shape[0] != 1)}, {self.shape[1]} labels, "
            f"{self.n_edges} edges, storage={self.storage!r})"
        )

    def __eq__(self, other: object) -> bool:
        """Whether labels, edges and weights are equal, whatever the storage."""
        if not isinstance(other, GraphStorage):
            return NotImplemented
        if self.shape != other.shape or not np.array_equal(self.labels, other.labels):
            return False
        if self.is_ranked and other.is_ranked:
            return np.array_equal(without_lone_levels(self.levels), without_lone_levels(other.levels))
        if not np.array_equal(self.edge_counts(), other.edge_counts()):
            return False
        mine, theirs = self.to_edges(), other.to_edges()
        if not all(np.array_equal(a, b) for a, b in zip(mine, theirs, strict=True)):
            return False
        return np.array_equal(self.edge_weights(), other.edge_weights())

    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None  # so that array == graphs asks __eq__ above, instead of making an array of the graphs

    def __array__(self, *args: Any, **kwargs: Any) -> npt.NDArray[Any]:
        raise TypeError(
            "PreferenceGraphs are not converted to an array implicitly; use to_ranks() for a rank matrix if they are "
            "layered, or to_edges() for their edges"
        )

    # --- Rows

    def __getitem__(self, key: Any) -> Self:
        key = row_index(key, len(self))
        if self._ranks is not None:
            return type(self)(ranks=self._ranks[key], n_labels=self.shape[1], labels=self._labels)
        if self.is_ranked:
            return self._of_levels(self.levels[key])
        indptr, edges = edges_of_rows(self.indptr, np.arange(len(self))[key])
        return type(self)(
            indptr=indptr,
            better=self.better[edges],
            worse=self.worse[edges],
            weight=None if self._weight is None else self._weight[edges],
            n_labels=self.shape[1],
            labels=self._labels,
        )

    def __iter__(self) -> Iterator[Self]:
        """Iterate over graphs of one instance each."""
        return (self[i] for i in range(len(self)))

    # --- Conversions

    def to_edges(self) -> Edges:
        """All edges as three flat arrays, sorted by instance, preferred label and other label.

        Examples
        --------
        >>> from labelrank import PreferenceGraphs
        >>> PreferenceGraphs.from_rankings([[2, 1], [1, 1]]).to_edges()
        Edges(instance=array([0]), better=array([1]), worse=array([0]))
        """
        if self.is_ranked:
            return Edges(*edges_of_levels(self.levels))
        rows = np.repeat(np.arange(len(self)), np.diff(self.indptr))
        return Edges(rows, self.better.astype(np.intp), self.worse.astype(np.intp))

    def to_levels(self) -> Self:
        """Convert to graphs stored as levels; an error when they are not layered."""
        if self.is_ranked:
            return self
        if self._weight is not None:
            raise ValueError("weighted edges cannot be stored as levels")
        parts = []
        for start, levels in self._levels_by_block():
            if levels is None:
                row = next(i for i in range(start, len(self)) if not self[i].is_layered)
                raise ValueError(f"the graph of instance {row} is not layered (it has a cycle or lacks an edge)")
            parts.append(levels)
        matrix = np.concatenate(parts) if parts else np.empty(self.shape, dtype=np.int8)
        return self._of_levels(matrix)

    def _levels_by_block(self) -> Iterator[tuple[int, npt.NDArray[Any] | None]]:
        """First row and levels of edge graphs by block of rows, None for a block with a graph that is not layered."""
        for rows in row_blocks(*self.shape):
            edges = slice(self.indptr[rows.start], self.indptr[rows.stop])
            counts = np.diff(self.indptr[rows.start : rows.stop + 1])
            yield rows.start, levels_of_edges(counts, self.better[edges], self.worse[edges], self.shape[1])

    def to_ranks(self) -> FloatArray:
        """Rank matrix of layered graphs: the level plus 1, NaN for absent labels."""
        levels = self.to_levels().levels
        return np.where(levels < 0, np.nan, levels + 1.0)

    def rank_values(self) -> FloatArray:
        """Ranks of layered graphs as they were given, or levels: only the order within a row matters, NaN is absent."""
        if self._ranks is not None:
            return self._ranks
        levels = self.to_levels().levels
        return np.where(levels < 0, np.nan, levels)

    def blocks_of_ranks(self) -> Iterator[tuple[slice, FloatArray]]:
        """Iterate over blocks of rows and their :meth:`rank_values`, without a float copy of all levels."""
        if self._ranks is not None:
            yield slice(0, len(self)), self._ranks
            return
        for rows in row_blocks(*self.shape):
            yield rows, self[rows].rank_values()

    def without_ranks(self) -> Self:
        """Graphs that hold levels in place of the ranks they were made of, in an eighth of the memory."""
        return self if self._ranks is None else self._of_levels(self.levels)

    def set_levels(self, needed_by: str = "a set of relevant labels") -> npt.NDArray[Any]:
        """Levels of sets of relevant labels: 0 relevant, 1 irrelevant, -1 not known.

        An error that names what they are `needed_by` if there are more than two levels.
        """
        levels = self.to_levels().levels
        if levels.max(initial=0) > 1:
            row = int(np.argmax((levels > 1).any(axis=1)))
            raise ValueError(
                f"{needed_by} needs labels that are relevant or not, and instance {row} has "
                f"{int(levels[row].max()) + 1} levels; build the graphs with PreferenceGraphs.from_multilabel"
            )
        return levels

    def with_dummy(self) -> Self:
        """Graphs of relevant sets with one more label, the last, that stands between relevant and irrelevant.

        Each relevant label (level 0) is preferred to the dummy and the dummy to each irrelevant one (level 1); there
        are no other edges. A covering of the labels is a decomposition of this graph.

        Examples
        --------
        >>> from labelrank import PreferenceGraphs
        >>> PreferenceGraphs.from_multilabel([[1, 0]]).with_dummy().to_edges()
        Edges(instance=array([0, 0]), better=array([0, 2]), worse=array([2, 1]))
        """
        names = None if self._labels is None else object_array([*self._labels, "(dummy)"])
        edges = edges_through_dummy(self.set_levels("with_dummy"))
        return self._from_sorted_edges(edges, None, len(self), self.shape[1] + 1, names)

    def without_labels(self, hidden: BoolArray) -> Self:
        """Copy in which the labels of `hidden`, a mask of the shape of the graphs, are absent."""
        hidden = np.asarray(hidden, dtype=bool)
        if hidden.shape != self.shape:
            raise ValueError(f"hidden has shape {hidden.shape}, the graphs have {self.shape}")
        if self.is_ranked:
            return self._of_levels(np.where(hidden, self.levels.dtype.type(-1), self.levels))
        edges = self.to_edges()
        kept = ~(hidden[edges.instance, edges.better] | hidden[edges.instance, edges.worse])
        weight = None if self._weight is None else self._weight[kept]
        return self._from_sorted_edges(edges.take(kept), weight, len(self), self.shape[1], self._labels)
