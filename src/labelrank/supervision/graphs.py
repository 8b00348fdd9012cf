"""Preference graphs, one per instance: an edge from a label to each label it is preferred to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeGuard

import numpy as np

from labelrank.supervision.edges import join_edges
from labelrank.supervision.frames import label_names
from labelrank.supervision.hierarchy import layers_from_hierarchy
from labelrank.supervision.html import HtmlTable
from labelrank.supervision.indicators import class_levels, relevance_levels, relevance_matrix
from labelrank.supervision.labels import check_labels
from labelrank.supervision.levels import dense_levels
from labelrank.supervision.pair_constructors import PairConstructors
from labelrank.supervision.pair_methods import PairMethods
from labelrank.supervision.rankings import check_rankings, score_ranks


class PreferenceGraphs(PairMethods, PairConstructors, HtmlTable):
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
    battles: "a beat b"                  :meth:`from_battles` (a data frame), :meth:`from_pairs` (arrays)
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
    """Return whether `y` is a :class:`labelrank.PreferenceGraphs`, and not a matrix of ranks."""
    return isinstance(y, PreferenceGraphs)
