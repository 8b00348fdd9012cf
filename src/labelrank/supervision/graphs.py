"""Preference graphs, one per instance: an edge from a label to each label it is preferred to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeGuard

import numpy as np

from labelrank.supervision.battles import Conflicts, simple_edges
from labelrank.supervision.edges import Edges, join_edges
from labelrank.supervision.frames import label_names
from labelrank.supervision.hierarchy import layers_from_hierarchy
from labelrank.supervision.indicators import class_levels, relevance_levels, relevance_matrix
from labelrank.supervision.labels import check_labels, columns_of_parts
from labelrank.supervision.levels import dense_levels
from labelrank.supervision.pair_methods import PairMethods
from labelrank.supervision.pair_tables import read_pair_table
from labelrank.supervision.rankings import check_rankings, score_ranks
from labelrank.supervision.storage import GraphStorage
from labelrank.supervision.vectors import check_indices, check_size, vector
from labelrank.supervision.weights import pair_weights


class PreferenceGraphs(PairMethods, GraphStorage):
    """Preference graphs of many instances over one set of labels.

    Build them with one of the constructors; the arguments of the class itself are not checked.

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

    Graphs have ``len``, ``shape`` and row indexing by slice, mask and index array, so that scikit-learn can split them.

    Attributes
    ----------
    shape : tuple
        ``(n_instances, n_labels)``.
    labels : ndarray of shape (n_labels,)
        Names of the labels, by default 0, 1, ...
    storage : {"levels", "edges"}
        How the graphs are stored.
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

    @classmethod
    def from_rankings(cls, y: Any, *, labels: Any = None) -> PreferenceGraphs:
        """Graphs of a rank matrix: smaller is better, equal is tied (no edge), NaN is not observed (absent label).

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
        Y : array-like, sparse matrix or data frame of shape (n_samples, n_labels), or iterable of sets
            1 for relevant labels, 0 for others, or one set of labels per instance. NaN in a dense matrix is a label of
            which nothing is known. Sets hold names, whose columns are in the order of `labels` or sorted, or indices.
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
        Y : array-like, sparse matrix or data frame of shape (n_samples, n_labels), or iterable of sets
            The nodes that each instance is labeled with, 1 in a matrix; their ancestors may be included or not.
        parents : mapping {child: parent} or int array of shape (n_labels,)
            The tree; see :mod:`labelrank.supervision.hierarchy`. With an array, -1 marks a node without parent. The
            keys of a mapping are label names, or column indices when `Y` has no names.
        n_layers : int, default=3
            Layers by tree distance to the nearest correct leaf; all below the last are collapsed into it.
        labels : sequence, optional
            Names of the labels.

        Returns
        -------
        PreferenceGraphs
            Over the same labels as `Y`. A label that is an inner node stands for its dummy child: "this, and nothing
            more specific". An instance without labels has an empty graph.

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

        Graphs are simple. A self-loop, a repeated edge, or both directions of one pair in one instance is an error,
        unless `conflicts` says how to resolve it; cycles of three and more labels are allowed.

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
            In column ``a:b``: 1 when a is preferred, -1 when b is, 0 for a tie, and NaN or null if the pair was not
            asked. Ties and pairs that were not asked make no edge.
        pairs : sequence of str or of tuples, optional
            The columns to read: names of columns, or for an array one ``"a:b"`` or ``(a, b)`` per column. By default
            all columns of a data frame whose name contains `sep`.
        sep : str, default=":"
            Separator of the two labels in a column name.
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
        """Join graphs over the same labels along the instances.

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


def as_graphs(y: Any, *, ensure_min_samples: int = 0, input_name: str = "y") -> PreferenceGraphs:
    """Turn what a user passes into preference graphs.

    Parameters
    ----------
    y : PreferenceGraphs, or array-like or data frame of shape (n_samples, n_labels)
        Graphs are returned as they are; a rank matrix is checked and kept without a copy, and its levels are computed
        when they are needed. The column names of a frame become the names of the labels.
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
    graphs = y
    if not is_graphs(y):
        ranks = check_rankings(y, ensure_min_samples=0, ensure_min_labels=0, input_name=input_name)
        graphs = PreferenceGraphs(ranks=ranks, n_labels=ranks.shape[1], labels=label_names(y))
    if len(graphs) < ensure_min_samples:
        raise ValueError(
            f"{input_name} has {len(graphs)} sample(s) (shape={graphs.shape}) while a minimum of {ensure_min_samples} "
            "is required"
        )
    return graphs


def is_graphs(y: Any) -> TypeGuard[PreferenceGraphs]:
    """Return whether `y` is :class:`PreferenceGraphs`, and not a matrix that :func:`as_graphs` would turn into them."""
    return isinstance(y, PreferenceGraphs)
