"""Borda votes: of each instance, of pair counts, and their mean over all instances."""

from __future__ import annotations

from typing import Any

import numpy as np

from labelrank._arrays import FloatArray, competition_ranks
from labelrank.pairs.counts import pair_counts
from labelrank.pairs.signs import pair_sums
from labelrank.supervision.graphs import as_graphs
from labelrank.supervision.weights import row_weights


def votes(y: Any) -> FloatArray:
    r"""Borda votes of each instance, generalized to missing labels, ties and edges.

    A ranking of m of the n labels gives (m − r + 1)(n + 1)/(m + 1) votes to the label at rank r and (n + 1)/2 votes to
    a label that it leaves out: the expected votes if all completions were equally likely. Tied labels share the mean
    of their places. A complete ranking gives n votes to its first label and 1 to its last.

    Graphs stored as edges have no ranks. There a label has 1 vote, 1 more for each label that it is preferred to, and
    1/2 for each label that it is not compared with; of a pair with both directions each label has its share.

    Parameters
    ----------
    y : array-like or data frame of shape (n_samples, n_labels), or PreferenceGraphs
        Ranks or graphs.

    Returns
    -------
    ndarray of shape (n_samples, n_labels)

    Examples
    --------
    >>> from labelrank.pairs import votes
    >>> votes([[1, 2, 3], [1, 2, float("nan")]]).round(2)
    array([[3.  , 2.  , 1.  ],
           [2.67, 1.33, 2.  ]])
    """
    from labelrank._kernels.pairs.votes import votes_of_rankings

    graphs = as_graphs(y)
    n, k = graphs.shape
    if graphs.storage == "edges":
        sums = pair_sums(graphs)
        lead = sums.balance / sums.total
        won, lost = (
            np.bincount(sums.instance * k + label, weights=lead, minlength=n * k).reshape(n, k)
            for label in (sums.low, sums.high)
        )
        return (k + 1) / 2 + (won - lost) / 2
    found = np.empty((n, k))
    for rows, values in graphs.blocks_of_ranks():
        votes_of_rankings(values, found[rows])
    return found


def leads(y: Any) -> tuple[FloatArray, FloatArray]:
    """Comparisons that each label wins less those that it loses, and their number, in each instance.

    Parameters
    ----------
    y : array-like or data frame of shape (n_samples, n_labels), or PreferenceGraphs
        Ranks or graphs; the weight of an edge is its number of comparisons.

    Returns
    -------
    lead : ndarray of shape (n_samples, n_labels)
        Sum of the signs of the pairs of a label.
    total : ndarray of shape (n_samples, n_labels)
        Sum of their absolute values; 0 for a label that is not compared with any other.

    Examples
    --------
    >>> from labelrank.pairs import leads
    >>> leads([[1, 2, 3], [1, 2, float("nan")]])
    (array([[ 2.,  0., -2.],
           [ 1., -1.,  0.]]), array([[2., 2., 2.],
           [1., 1., 0.]]))
    """
    graphs = as_graphs(y)
    n, k = graphs.shape
    won, lost = np.zeros((n, k)), np.zeros((n, k))
    if graphs.storage == "edges":
        edges, weight = graphs.to_edges(), graphs.edge_weights()
        np.add.at(won, (edges.instance, edges.better), weight)
        np.add.at(lost, (edges.instance, edges.worse), weight)
    else:
        for rows, values in graphs.blocks_of_ranks():
            lost[rows], won[rows] = (np.nan_to_num(competition_ranks(v) - 1) for v in (values, -values))
    return won - lost, won + lost


def votes_of_counts(counts: Any) -> FloatArray:
    r"""Borda votes of pair counts: :math:`1 + \sum_b N_{ab} / (N_{ab} + N_{ba})`, 1/2 for a pair without counts.

    Each pair is decided by the instances that compare its labels, however often other pairs are compared. On counts of
    complete rankings these are the mean Borda votes.

    Parameters
    ----------
    counts : array-like of shape (n_labels, n_labels) or (n_counts, n_labels, n_labels)
        Pair counts.

    Returns
    -------
    ndarray of shape (n_labels,) or (n_counts, n_labels)
    """
    from labelrank._kernels.pairs.votes import votes_of_all_counts

    counts = np.ascontiguousarray(counts, dtype=np.float64)
    found = np.empty(counts.shape[:-1])
    k = counts.shape[-1]
    votes_of_all_counts(counts.reshape(-1, k, k), found.reshape(-1, k))
    return found


def mean_votes(y: Any, sample_weight: Any = None) -> FloatArray:
    """Mean Borda votes of all instances.

    Rankings have the weighted mean of :func:`votes`, graphs stored as edges the votes of their pair counts.

    Parameters
    ----------
    y : array-like or data frame of shape (n_samples, n_labels), or PreferenceGraphs
        Ranks or graphs.
    sample_weight : array-like of shape (n_samples,), optional
        Non-negative weights of the instances.

    Returns
    -------
    ndarray of shape (n_labels,)
        (n_labels + 1)/2 for every label if the weights sum to zero.
    """
    graphs = as_graphs(y)
    if graphs.storage == "edges":
        return votes_of_counts(pair_counts(graphs, sample_weight))
    weight = row_weights(sample_weight, len(graphs))
    total = float(weight.sum())
    if total == 0:
        return np.full(graphs.shape[1], (graphs.shape[1] + 1) / 2)
    return np.asarray(weight @ votes(graphs) / total)
