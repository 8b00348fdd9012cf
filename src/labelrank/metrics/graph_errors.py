r"""Errors on preference graphs: the share of subgraphs that a ranking disagrees with.

.. math:: \varepsilon = \frac1m \sum_{i=1}^m \frac{1}{s_i} \sum_{k=1}^{s_i} \delta(\hat\pi_i, G_{i,k}), \qquad
          \delta = 1 \text{ if an edge of } G_{i,k} \text{ is contradicted or tied by } \hat\pi_i

The decomposition :math:`G_i \to \{G_{i,1}, \dots, G_{i,s_i}\}` decides what is counted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from labelrank import decompositions
from labelrank._arrays import FloatArray, row_blocks
from labelrank.decompositions import Decomposition, get_decomposition
from labelrank.metrics.inputs import Average, graphs_and_ranks, mean_of
from labelrank.supervision import PreferenceGraphs


def generalized_error(
    y_true: Any,
    y_pred: Any,
    decomposition: str | Decomposition | Callable[..., Any],
    *,
    sample_weight: Any = None,
    average: Average = "mean",
) -> Any:
    """Mean over the instances of the share of subgraphs with an edge that the prediction contradicts or ties.

    Instances without subgraphs (without edges) are left out, and a warning counts them. With weighted subgraphs (or
    edges) the share is a share of weight.

    Parameters
    ----------
    y_true : rank matrix or PreferenceGraphs of shape (n_samples, n_labels)
        Observed preferences, with missing labels, ties and cycles.
    y_pred : rank matrix of shape (n_samples, n_labels)
        Predicted ranks, smaller is better.
    decomposition : str, Decomposition or callable
        How the graphs are cut: a name such as ``"domination"``, an object, or a function of one instance's graph; see
        :mod:`labelrank.decompositions`.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the instances.
    average : {"mean", None}, default="mean"
        None returns the value of each instance, NaN where it has none.

    Returns
    -------
    float, or ndarray of shape (n_samples,) with ``average=None``
        From 0 to 1.

    Examples
    --------
    >>> from labelrank.metrics import generalized_error
    >>> generalized_error([[1, 2, 3]], [[2, 1, 3]], "disagreement")
    0.333...
    >>> generalized_error([[1, 2, 3]], [[2, 1, 3]], lambda graph: [[edge] for edge in graph.edges if edge[0] == 0])
    0.5
    """
    return _error(y_true, y_pred, get_decomposition(decomposition), sample_weight, average, "generalized_error")


def zero_one_error(y_true: Any, y_pred: Any, *, sample_weight: Any = None, average: Average = "mean") -> Any:
    """Share of the instances of which at least one edge is contradicted or tied; see :func:`generalized_error`.

    Examples
    --------
    >>> from labelrank.metrics import zero_one_error
    >>> zero_one_error([[1, 2, 3], [1, 2, 3]], [[1, 2, 3], [2, 1, 3]])
    0.5
    """
    return _error(y_true, y_pred, decompositions.zero_one, sample_weight, average, "zero_one_error")


def disagreement_error(y_true: Any, y_pred: Any, *, sample_weight: Any = None, average: Average = "mean") -> Any:
    """Share of the edges that are contradicted or tied; see :func:`generalized_error`.

    Examples
    --------
    >>> from labelrank.metrics import disagreement_error
    >>> disagreement_error([[1, 2, 3]], [[2, 1, 3]])
    0.333...
    """
    return _error(y_true, y_pred, decompositions.disagreement, sample_weight, average, "disagreement_error")


def domination_error(y_true: Any, y_pred: Any, *, sample_weight: Any = None, average: Average = "mean") -> Any:
    """Share of the labels with outgoing edges that are not above all they beat; see :func:`generalized_error`.

    Examples
    --------
    >>> from labelrank.metrics import domination_error
    >>> domination_error([[1, 2, 3]], [[2, 1, 3]])
    0.5
    """
    return _error(y_true, y_pred, decompositions.domination, sample_weight, average, "domination_error")


def dominated_error(y_true: Any, y_pred: Any, *, sample_weight: Any = None, average: Average = "mean") -> Any:
    """Share of the labels with incoming edges that are not below all preferred to them; see :func:`generalized_error`.

    Examples
    --------
    >>> from labelrank.metrics import dominated_error
    >>> dominated_error([[1, 2, 3]], [[1, 3, 2]])
    0.5
    """
    return _error(y_true, y_pred, decompositions.dominated, sample_weight, average, "dominated_error")


def _error(
    y_true: Any, y_pred: Any, decomposition: Decomposition, sample_weight: Any, average: Average, name: str
) -> Any:
    graphs, ranks = graphs_and_ranks(y_true, y_pred)
    failed, total = _failed_subgraphs(graphs, ranks, decomposition)
    share = failed / np.where(total > 0, total, 1)
    # A decomposition of the user's own may leave a graph that has edges without subgraphs.
    uncut = "without edges" if total.all() or not graphs[total == 0].n_edges else "without subgraphs"
    return mean_of(share, total > 0, sample_weight, average, name, warn_about=uncut)


def _failed_subgraphs(
    graphs: PreferenceGraphs, ranks: FloatArray, decomposition: Decomposition
) -> tuple[FloatArray, FloatArray]:
    """Per instance the weight of the subgraphs that disagree, and of all."""
    layers = decomposition.layers(graphs)
    if layers is not None:
        from labelrank._kernels.metrics.level_errors import failed_subgraphs

        failed, total = failed_subgraphs(layers.levels, ranks, layers.depth, layers.kind)
        return failed, total
    failed, total = np.zeros(len(graphs)), np.zeros(len(graphs))
    for rows in row_blocks(*graphs.shape, entries=2**21):
        subgraphs = decomposition.cut(graphs[rows])
        wrong = subgraphs.disagree(ranks[rows])
        for sums, weight in ((failed, subgraphs.weight * wrong), (total, subgraphs.weight)):
            sums[rows] = np.bincount(subgraphs.instance, weights=weight, minlength=subgraphs.n_instances)
    return failed, total
