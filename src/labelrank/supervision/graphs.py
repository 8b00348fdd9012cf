"""Preference graphs, one per instance: an edge from a label to each label it is preferred to.

Two storages, one interface. *Levels* is an integer matrix: each label of an instance has a level (0 is best)
or is absent (-1), and there is an edge from every label to all labels of a worse level. It covers rankings,
sets of relevant labels, classes and layers, and never holds an edge. *Edges* is three flat arrays, for what
is not layered: battles, contradictions, cycles.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from labelrank._arrays import FloatArray, row_blocks
from labelrank.supervision._inputs import (
    Labels,
    RankMatrix,
    check_indices,
    check_size,
    label_names,
    object_array,
    row_index,
    vector,
)
from labelrank.supervision._labels import check_labels, columns_of_parts
from labelrank.supervision.battles import Conflicts, read_pair_table, simple_edges
from labelrank.supervision.edges import Edges, edges_of_rows, edges_through_dummy, join_edges
from labelrank.supervision.hierarchy import layers_from_hierarchy
from labelrank.supervision.indicators import class_levels, relevance_levels, relevance_matrix
from labelrank.supervision.levels import (
    dense_levels,
    edge_counts,
    edges_of_levels,
    levels_of_edges,
    smallest_dtype,
    without_lone_levels,
)
from labelrank.supervision.rankings import check_rankings, score_ranks
from labelrank.supervision.weights import pair_weights


class PreferenceGraphs:
    """Preference graphs of many instances over one set of labels.

    Build them with one of the constructors; the class itself is only given arrays that are known to be sound.

    ===================================  ==========================================================================
    what you have                        constructor
    ===================================  ==========================================================================
    a rank matrix                        :meth:`from_rankings`
    a score matrix                       :meth:`from_scores`
    a set of relevant labels             :meth:`from_multilabel`
    one class per instance               :meth:`from_multiclass`
    labels in a tree                     :meth:`from_hierarchy`
    battles: "a beat b"                  :meth:`from_pairs`
    a column per pair, 1 / 0 / -1        :meth:`from_pair_table`
    ===================================  ==========================================================================

    Graphs have ``len``, ``shape`` and row indexing by slice, mask and index array, so that scikit-learn can
    split them.

    Attributes
    ----------
    shape : tuple
        ``(n_instances, n_labels)``.
    labels : ndarray of shape (n_labels,)
        Names of the labels, by default 0, 1, ...
    storage : {"levels", "edges"}
        How the graphs are kept.
    n_edges : int
        Number of edges of all graphs together.

    Examples
    --------
    >>> from labelrank import PreferenceGraphs
    >>> graphs = PreferenceGraphs.from_rankings([[1, 2, 3], [2, float("nan"), 1]])
    >>> graphs
    PreferenceGraphs(2 instances, 3 labels, 4 edges, storage='levels')
    >>> PreferenceGraphs.from_pairs([0, 0, 0], [0, 1, 2], [1, 2, 0]).is_layered  # a cycle
    False
    """

    def __init__(
        self,
        *,
        n_labels: int,
        levels: npt.NDArray[Any] | None = None,
        ranks: FloatArray | None = None,
        indptr: npt.NDArray[Any] | None = None,
        better: npt.NDArray[Any] | None = None,
        worse: npt.NDArray[Any] | None = None,
        weight: npt.NDArray[np.float64] | None = None,
        labels: Any = None,
    ) -> None:
        self._levels, self._ranks = levels, ranks  # ranks are turned into levels when these are needed
        self._indptr, self._better, self._worse = indptr, better, worse
        self._weight = weight
        by_row = levels if levels is not None else ranks if ranks is not None else indptr[:-1]  # type: ignore[index]
        self.shape: tuple[int, int] = (len(by_row), int(n_labels))
        self._labels = None if labels is None else check_labels(labels, n_labels)
        self._n_edges: int | None = None
        self._is_layered: bool | None = True if indptr is None else None

    # --- Constructors

    @classmethod
    def from_rankings(cls, y: Any, *, labels: Any = None) -> PreferenceGraphs:
        """Graphs of a rank matrix: smaller is better, equal is tied (no edge), NaN is not observed (absent).

        Parameters
        ----------
        y : array-like or data frame of shape (n_samples, n_labels)
            Ranks.
        labels : sequence, optional
            Names of the labels; by default the column names of a data frame.

        Examples
        --------
        >>> from labelrank import PreferenceGraphs
        >>> PreferenceGraphs.from_rankings([[1, 2, 2, 4]]).levels
        array([[0, 1, 1, 2]], dtype=int8)
        """
        ranks = check_rankings(y, ensure_min_samples=0)
        names = labels if labels is not None else label_names(y)
        return cls(levels=dense_levels(ranks), n_labels=ranks.shape[1], labels=names)

    @classmethod
    def from_scores(cls, scores: Any, *, labels: Any = None) -> PreferenceGraphs:
        """Graphs of a score matrix: larger is better, equal is tied, NaN is not observed.

        Examples
        --------
        >>> from labelrank import PreferenceGraphs
        >>> PreferenceGraphs.from_scores([[0.2, 0.9, 0.2]]).levels
        array([[1, 0, 1]], dtype=int8)
        """
        names = labels if labels is not None else label_names(scores)
        return cls.from_rankings(score_ranks(scores), labels=names)

    @classmethod
    def from_multilabel(cls, Y: Any, *, labels: Any = None) -> PreferenceGraphs:
        """Graphs of sets of relevant labels: each relevant label is preferred to each label that is not.

        Parameters
        ----------
        Y : 0/1 matrix (dense, sparse or data frame) of shape (n_samples, n_labels), or iterable of sets of
        labels
            NaN in a dense matrix is a label of which nothing is known. Sets hold names (with `labels`, or
            sorted) or indices.
        labels : sequence, optional
            Names of the labels.

        Examples
        --------
        >>> from labelrank import PreferenceGraphs
        >>> PreferenceGraphs.from_multilabel([[1, 0, 0], [1, 1, 0]]).levels
        array([[0, 1, 1],
               [0, 0, 1]], dtype=int8)
        >>> PreferenceGraphs.from_multilabel([{"tax"}, {"tax", "law"}], labels=["law", "sport", "tax"]).n_edges
        4
        """
        levels, names = relevance_levels(Y, labels)
        return cls(levels=levels, n_labels=levels.shape[1], labels=names)

    @classmethod
    def from_multiclass(cls, y: Any, *, labels: Any = None, n_labels: int | None = None) -> PreferenceGraphs:
        """Graphs of one class per instance: the class is preferred to every other label.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Classes: names, or column indices when `n_labels` is given. None or NaN is an unknown class.
        labels : sequence, optional
            All classes, in the order of the columns; by default the sorted classes that occur.
        n_labels : int, optional
            Number of labels when `y` holds indices.

        Examples
        --------
        >>> from labelrank import PreferenceGraphs
        >>> graphs = PreferenceGraphs.from_multiclass(["no", "yes", "no"])
        >>> graphs.labels, graphs.levels
        (array(['no', 'yes'], dtype=object), array([[0, 1],
               [1, 0],
               [0, 1]], dtype=int8))
        """
        levels, names = class_levels(y, labels, n_labels)
        return cls(levels=levels, n_labels=levels.shape[1], labels=names)

    @classmethod
    def from_hierarchy(cls, Y: Any, parents: Any, n_layers: int = 3, *, labels: Any = None) -> PreferenceGraphs:
        """Graphs of labels in a tree: correct leaves above their siblings, siblings above the rest.

        Parameters
        ----------
        Y : 0/1 matrix (dense, sparse or data frame) of shape (n_samples, n_labels), or iterable of sets of
        labels
            The nodes that each instance is labelled with; ancestors may be given along or left out.
        parents : mapping {child: parent} or int array of shape (n_labels,)
            The tree; see :mod:`labelrank.supervision.hierarchy`. With an array, -1 marks a node without
            parent. The keys of a mapping are label names, or column indices when `Y` has no names.
        n_layers : int, default=3
            Layers by tree distance to the nearest correct leaf; all below the last are collapsed into it.
        labels : sequence, optional
            Names of the labels.

        Returns
        -------
        PreferenceGraphs
            Over the same labels as `Y`. A label that is an inner node stands for its dummy child: "this, and
            nothing more specific". An instance without labels has an empty graph.

        Examples
        --------
        >>> from labelrank import PreferenceGraphs
        >>> parents = {"cat": "animal", "dog": "animal", "oak": "plant"}
        >>> names = ["animal", "cat", "dog", "oak", "plant"]
        >>> PreferenceGraphs.from_hierarchy([{"animal", "cat"}, {"plant"}], parents, labels=names).levels
        array([[1, 0, 1, 2, 2],
               [2, 2, 2, 1, 0]], dtype=int8)
        """
        indicator, names = relevance_matrix(Y, labels)
        n_labels = indicator.shape[1]
        nodes = range(n_labels) if names is None else check_labels(names, n_labels).tolist()
        levels = layers_from_hierarchy(indicator, parents, nodes, n_layers)
        return cls(levels=levels, n_labels=n_labels, labels=names)

    @classmethod
    def from_pairs(
        cls,
        instance: Any,
        better: Any,
        worse: Any,
        weight: Any = None,
        *,
        n_instances: int | None = None,
        n_labels: int | None = None,
        labels: Any = None,
        conflicts: Conflicts = "error",
    ) -> PreferenceGraphs:
        """Graphs of battles: in instance i, label `better` won against label `worse`.

        Graphs are simple. A self-loop, a repeated edge, or both directions of one pair in one instance is an
        error, unless `conflicts` says how to resolve it; cycles of three and more labels are fine.

        Parameters
        ----------
        instance : array-like of int of shape (n_pairs,)
            Row of X that the pair belongs to, in any order; rows may have no pair.
        better, worse : array-like of shape (n_pairs,)
            Names of labels, or their indices: integers are indices unless there are integers among `labels`.
        weight : array-like of shape (n_pairs,), optional
            Positive weights (numbers of votes).
        n_instances, n_labels : int, optional
            By default one more than the largest index.
        labels : sequence, optional
            Names of the labels; by default names are sorted.
        conflicts : {"error", "drop", "keep_majority"}, default="error"
            ``"drop"`` removes self-loops and all pairs given in both directions, and joins repeated edges.
            ``"keep_majority"`` removes self-loops and keeps, of a pair given several times, the direction
            with more votes (summed weights, or counts); an even vote is removed. The weights of joined edges
            are summed.

        Examples
        --------
        >>> from labelrank import PreferenceGraphs
        >>> PreferenceGraphs.from_pairs([0, 0, 1], [2, 2, 0], [0, 1, 1]).to_edges()
        Edges(instance=array([0, 0, 1]), better=array([2, 2, 0]), worse=array([0, 1, 1]))
        """
        winners, losers = vector(better, "better"), vector(worse, "worse")
        columns, names, n_labels = columns_of_parts({"better": winners, "worse": losers}, labels, n_labels)
        n_instances = check_size(n_instances, "n_instances")
        rows = check_indices(vector(instance, "instance"), n_instances, "instance", "n_instances")
        if not len(rows) == len(winners) == len(losers):
            raise ValueError(
                f"instance, better and worse have different lengths: {len(rows)}, {len(winners)}, {len(losers)}"
            )
        n_instances = int(rows.max(initial=-1)) + 1 if n_instances is None else n_instances
        edges, votes = simple_edges(
            Edges(rows, *columns),
            pair_weights(weight, len(rows)),
            n_labels,
            conflicts,
            lambda at: f"pair {at} (instance {rows[at]})",
            names,
        )
        return cls._from_sorted_edges(edges, votes, n_instances, n_labels, names)

    @classmethod
    def from_pair_table(
        cls,
        table: Any,
        pairs: Sequence[Any] | None = None,
        *,
        sep: str = ":",
        labels: Any = None,
        conflicts: Conflicts = "error",
    ) -> PreferenceGraphs:
        """Graphs of a table with one column per pair of labels.

        Parameters
        ----------
        table : data frame, or array-like of shape (n_samples, n_pairs)
            In column ``a:b``: 1 when a is preferred, -1 when b is, 0 for a tie, empty (NaN, null) for not
            asked. Ties and pairs that were not asked make no edge.
        pairs : sequence of str or of tuples, optional
            The columns to read: names of columns, or for an array one ``"a:b"`` or ``(a, b)`` per column. By
            default all columns of a data frame whose name holds `sep`.
        sep : str, default=":"
            What stands between the two labels in a column name.
        labels : sequence, optional
            Names of the labels; by default those of the pairs, in order of appearance.
        conflicts : {"error", "drop", "keep_majority"}, default="error"
            As in :meth:`from_pairs`.

        Examples
        --------
        >>> import polars as pl
        >>> from labelrank import PreferenceGraphs
        >>> table = pl.DataFrame({"age": [31, 45], "tea:milk": [1, -1], "milk:water": [0, None], "tea:water": [1, 1]})
        >>> graphs = PreferenceGraphs.from_pair_table(table)
        >>> graphs.labels, graphs.n_edges
        (array(['tea', 'milk', 'water'], dtype=object), 4)
        """
        read = read_pair_table(table, pairs, sep, labels)
        n_labels = len(read.labels)
        edges, _ = simple_edges(read.pairs, None, n_labels, conflicts, read.where, read.labels)
        return cls._from_sorted_edges(edges, None, read.n_rows, n_labels, read.labels)

    @classmethod
    def concatenate(cls, parts: Iterable[PreferenceGraphs]) -> PreferenceGraphs:
        """One after the other: graphs over the same labels joined along the instances.

        Examples
        --------
        >>> from labelrank import PreferenceGraphs
        >>> a, b = PreferenceGraphs.from_rankings([[1, 2]]), PreferenceGraphs.from_pairs([0], [1], [0])
        >>> PreferenceGraphs.concatenate([a, b])
        PreferenceGraphs(2 instances, 2 labels, 2 edges, storage='edges')
        """
        parts = list(parts)
        if not parts:
            raise ValueError("concatenate needs at least one PreferenceGraphs")
        first = parts[0]
        for i, part in enumerate(parts):
            if not isinstance(part, PreferenceGraphs):
                raise TypeError(f"concatenate takes PreferenceGraphs, got {type(part).__name__} at position {i}")
            if not np.array_equal(part.labels, first.labels):
                raise ValueError(f"part {i} has the labels {part.labels}, part 0 has {first.labels}; they must agree")
        if all(part.is_ranked for part in parts):
            return first._of_levels(np.concatenate([part.levels for part in parts]))
        weighted = any(part.weight is not None for part in parts)
        return cls._from_sorted_edges(
            join_edges([part.to_edges() for part in parts], [len(part) for part in parts]),
            np.concatenate([part.edge_weights() for part in parts]) if weighted else None,
            sum(len(part) for part in parts),
            first.shape[1],
            first._labels,
        )

    @classmethod
    def _from_sorted_edges(
        cls,
        edges: Edges,
        weight: npt.NDArray[np.float64] | None,
        n_instances: int,
        n_labels: int,
        labels: Labels | None,
    ) -> PreferenceGraphs:
        dtype = smallest_dtype(n_labels)
        return cls(
            indptr=edges.pointers(n_instances),
            better=edges.better.astype(dtype),
            worse=edges.worse.astype(dtype),
            weight=weight,
            n_labels=n_labels,
            labels=labels,
        )

    def _of_levels(self, levels: npt.NDArray[Any]) -> PreferenceGraphs:
        """Other levels over the same labels."""
        return PreferenceGraphs(levels=levels, n_labels=self.shape[1], labels=self._labels)

    # --- Looking at them

    @property
    def storage(self) -> Literal["levels", "edges"]:
        """How the graphs are kept."""
        return "levels" if self._indptr is None else "edges"

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
            self._levels, self._ranks = dense_levels(self._ranks), None
        return self._levels

    @property
    def indptr(self) -> npt.NDArray[np.int64]:
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
    def weight(self) -> npt.NDArray[np.float64] | None:
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

    def edge_counts(self) -> npt.NDArray[np.int64]:
        """Number of edges of each instance."""
        return edge_counts(self.levels) if self.is_ranked else np.diff(self.indptr)

    def has_pairs(self) -> npt.NDArray[np.bool_]:
        """Whether each instance prefers a label to another one."""
        if self._ranks is None:
            return self.edge_counts() > 0
        columns = np.ascontiguousarray(self._ranks.T)  # much faster than reductions of short rows
        return np.fmin.reduce(columns, initial=np.inf) < np.fmax.reduce(columns, initial=-np.inf)

    def observed(self) -> npt.NDArray[np.bool_]:
        """Which labels were observed in each instance, of shape (n_instances, n_labels): ranked, or end of an edge."""
        if self._ranks is not None:
            return ~np.isnan(self._ranks)
        if self.is_ranked:
            return self.levels >= 0
        seen, edges = np.zeros(self.shape, dtype=bool), self.to_edges()
        seen[edges.instance, edges.better] = seen[edges.instance, edges.worse] = True
        return seen

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

    @property
    def is_layered(self) -> bool:
        """Whether every graph consists of levels: all edges between different levels, none within."""
        if self._is_layered is None:
            self._is_layered = all(levels is not None for _, levels in self._levels_by_block())
        return self._is_layered

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return (
            f"PreferenceGraphs({self.shape[0]} instance{'s' * (self.shape[0] != 1)}, {self.shape[1]} labels, "
            f"{self.n_edges} edges, storage={self.storage!r})"
        )

    def __eq__(self, other: object) -> bool:
        """Same labels and same edges with the same weights, whatever the storage."""
        if not isinstance(other, PreferenceGraphs):
            return NotImplemented
        if self.shape != other.shape or not np.array_equal(self.labels, other.labels):
            return False
        if self.is_ranked and other.is_ranked:
            if np.array_equal(self.levels, other.levels):
                return True
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
            "PreferenceGraphs do not turn into an array by themselves; to_ranks() gives a rank matrix when they are "
            "layered, to_edges() their edges"
        )

    # --- Taking rows

    def __getitem__(self, key: Any) -> PreferenceGraphs:
        key = row_index(key, len(self))
        if self._ranks is not None:
            return PreferenceGraphs(ranks=self._ranks[key], n_labels=self.shape[1], labels=self._labels)
        if self.is_ranked:
            return self._of_levels(self.levels[key])
        indptr, edges = edges_of_rows(self.indptr, np.arange(len(self))[key])
        return PreferenceGraphs(
            indptr=indptr,
            better=self.better[edges],
            worse=self.worse[edges],
            weight=None if self._weight is None else self._weight[edges],
            n_labels=self.shape[1],
            labels=self._labels,
        )

    def __iter__(self) -> Iterator[PreferenceGraphs]:
        """Graphs of one instance each."""
        return (self[i] for i in range(len(self)))

    # --- Turning them into something else

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

    def to_levels(self) -> PreferenceGraphs:
        """The same graphs stored as levels; an error when they are not layered."""
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

    def to_ranks(self) -> RankMatrix:
        """Rank matrix of layered graphs: the level plus 1, NaN for absent labels."""
        levels = self.to_levels().levels
        return np.where(levels < 0, np.nan, levels + 1.0)

    def with_dummy(self) -> PreferenceGraphs:
        """Graphs of relevant sets with one more label, the last, that stands between relevant and irrelevant.

        Each relevant label (level 0) is preferred to the dummy and the dummy to each irrelevant one (level
        1); there are no other edges. A covering of the labels is a decomposition of this graph.

        Examples
        --------
        >>> from labelrank import PreferenceGraphs
        >>> PreferenceGraphs.from_multilabel([[1, 0]]).with_dummy().to_edges()
        Edges(instance=array([0, 0]), better=array([0, 2]), worse=array([2, 1]))
        """
        names = None if self._labels is None else object_array([*self._labels, "(dummy)"])
        edges = edges_through_dummy(self.to_levels().levels)
        return self._from_sorted_edges(edges, None, len(self), self.shape[1] + 1, names)

    def without_labels(self, hidden: npt.NDArray[np.bool_]) -> PreferenceGraphs:
        """A copy in which the labels of `hidden`, a mask of the shape of the graphs, are absent."""
        hidden = np.asarray(hidden, dtype=bool)
        if hidden.shape != self.shape:
            raise ValueError(f"hidden has shape {hidden.shape}, the graphs have {self.shape}")
        if self.is_ranked:
            return self._of_levels(np.where(hidden, self.levels.dtype.type(-1), self.levels))
        edges = self.to_edges()
        kept = ~(hidden[edges.instance, edges.better] | hidden[edges.instance, edges.worse])
        weight = None if self._weight is None else self._weight[kept]
        return self._from_sorted_edges(edges.take(kept), weight, len(self), self.shape[1], self._labels)

    def _levels_by_block(self) -> Iterator[tuple[int, npt.NDArray[Any] | None]]:
        """First row and levels of edge graphs by block of rows, None for a block with a graph that is not layered."""
        for rows in row_blocks(*self.shape):
            edges = slice(self.indptr[rows.start], self.indptr[rows.stop])
            counts = np.diff(self.indptr[rows.start : rows.stop + 1])
            yield rows.start, levels_of_edges(counts, self.better[edges], self.worse[edges], self.shape[1])

    # --- Ranks and pairs

    def rank_values(self) -> FloatArray:
        """Ranks as they were given, or levels: a matrix of which only the order within a row matters.

        NaN is not observed. An error for graphs stored as edges, which have no ranks.
        """
        if self._ranks is not None:
            return self._ranks
        return np.where(self.levels < 0, np.nan, self.levels)

    def blocks_of_ranks(self) -> Iterator[tuple[slice, FloatArray]]:
        """Iterate over blocks of rows and their :meth:`rank_values`, without a float copy of all levels."""
        if self._ranks is not None:
            yield slice(0, len(self)), self._ranks
            return
        for rows in row_blocks(*self.shape):
            yield rows, self[rows].rank_values()

    def pair_counts(self, sample_weight: Any = None, *, ties: float = 0.0) -> FloatArray:
        """Weight of the instances that prefer each label to each other one; see :func:`labelrank.pairs.pair_counts`.

        Examples
        --------
        >>> from labelrank import as_graphs
        >>> as_graphs([[1, 2, 3], [2, 1, float("nan")], [1, 2, 2]]).pair_counts()
        array([[0., 2., 2.],
               [1., 0., 1.],
               [0., 0., 0.]])
        """
        from labelrank.pairs import pair_counts

        return pair_counts(self, sample_weight, ties=ties)

    def pair_signs(self) -> npt.NDArray[Any]:
        """Sign of each pair a < b in each instance: positive where a is preferred, negative where b is.

        One column for each of the pairs (0, 1), (0, 2), ..., (1, 2), ...; see :func:`labelrank.pairs.pair_signs`.

        Examples
        --------
        >>> from labelrank import as_graphs
        >>> as_graphs([[1, 2, 3], [2, 1, float("nan")]]).pair_signs()
        array([[ 1,  1,  1],
               [-1,  0,  0]], dtype=int8)
        """
        from labelrank.pairs import pair_signs

        return pair_signs(self)

    def label_pairs(self, sample_weight: Any = None) -> Iterator[Any]:
        """Iterate over the pairs of labels i < j with the instances that prefer one of the two.

        Yields :class:`labelrank.pairs.LabelPair` with the fields i, j, rows, first and weight.
        """
        from labelrank.pairs import label_pairs

        return label_pairs(self, sample_weight)

    def votes(self) -> FloatArray:
        """Borda votes of each instance; see :func:`labelrank.pairs.votes` for missing labels, ties and edges.

        Examples
        --------
        >>> from labelrank import as_graphs
        >>> as_graphs([[1, 2, 3], [1, 2, float("nan")]]).votes().round(2)
        array([[3.  , 2.  , 1.  ],
               [2.67, 1.33, 2.  ]])
        """
        from labelrank.pairs import votes

        return votes(self)

    def mean_votes(self, sample_weight: Any = None) -> FloatArray:
        """Mean Borda votes of all instances; see :func:`labelrank.pairs.mean_votes`."""
        from labelrank.pairs import mean_votes

        return mean_votes(self, sample_weight)

    def concordance(self, ranks: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Weight of the pairs on which rankings agree less that of those on which they do not, and of all pairs.

        Both per instance; see :func:`labelrank.pairs.concordance`.

        Examples
        --------
        >>> import numpy as np
        >>> from labelrank import as_graphs
        >>> as_graphs([[1, 2, 3], [1, 2, float("nan")]]).concordance(np.array([[1.0, 3.0, 2.0], [2.0, 1.0, 3.0]]))
        (array([ 1., -1.]), array([3., 1.]))
        """
        from labelrank.pairs import concordance

        return concordance(self, ranks)

    def pair_rows(self) -> Any:
        """Pairs of each instance as the arrays that kernels read; see :class:`labelrank.pairs.PairRows`."""
        from labelrank.pairs import pair_rows

        return pair_rows(self)


def as_graphs(y: Any, *, ensure_min_samples: int = 0, input_name: str = "y") -> PreferenceGraphs:
    """Turn what a user passes into preference graphs.

    Parameters
    ----------
    y : PreferenceGraphs, or array-like or data frame of shape (n_samples, n_labels)
        Graphs are returned as they are; a rank matrix is checked and kept, not copied, until its levels are needed. The
        column names of a frame become the names of the labels.
    ensure_min_samples : int, default=0
        The least number of instances.
    input_name : str, default="y"
        The name used in error messages.

    Returns
    -------
    PreferenceGraphs

    Examples
    --------
    >>> from labelrank import as_graphs
    >>> as_graphs([[1, 2, 3]])
    PreferenceGraphs(1 instance, 3 labels, 3 edges, storage='levels')
    """
    if isinstance(y, PreferenceGraphs):
        if len(y) < ensure_min_samples:
            raise ValueError(
                f"{input_name} has {len(y)} sample(s) (shape={y.shape}) while a minimum of {ensure_min_samples} is "
                "required"
            )
        return y
    ranks = check_rankings(y, ensure_min_samples=ensure_min_samples, input_name=input_name)
    return PreferenceGraphs(ranks=ranks, n_labels=ranks.shape[1], labels=label_names(y))
