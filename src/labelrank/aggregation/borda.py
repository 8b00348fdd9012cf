"""Consensus by Borda count."""

from __future__ import annotations

from typing import Any

from labelrank._arrays import FloatArray
from labelrank.aggregation.inputs import graphs_and_weight, ranks_of_scores


def borda_scores(y: Any, sample_weight: Any = None) -> FloatArray:
    """Mean number of Borda votes per instance, generalized to missing labels.

    A ranking of m of the n labels gives (m − r + 1)(n + 1)/(m + 1) votes to the label at rank r and (n + 1)/2 votes to
    a label that it leaves out: the expected votes if all completions were equally likely. Tied labels have the mean
    of their ranks. On complete rankings that is the plain Borda count, n votes for the first label, 1 for the last.

    Graphs stored as edges have no ranks. There a label has 1 + Σ_b N_ab/(N_ab + N_ba) votes, with 1/2 for a pair
    without observations. On complete rankings both definitions agree.

    Parameters
    ----------
    y : array-like or data frame of shape (n_samples, n_labels), or PreferenceGraphs
        Ranks or graphs.
    sample_weight : array-like of shape (n_samples,), optional
        Non-negative weights of the instances.

    Returns
    -------
    ndarray of shape (n_labels,)
        Larger is better. Scores that differ only by rounding errors are made equal.

    Examples
    --------
    >>> from labelrank.aggregation import borda_scores
    >>> borda_scores([[1, 2, 3], [2, 1, 3]])
    array([2.5, 2.5, 1. ])
    >>> borda_scores([[1, 2, float("nan")]])
    array([2.66666667, 1.33333333, 2.        ])
    """
    from labelrank._kernels.pairs.votes import level_ties

    graphs, weight = graphs_and_weight(y, sample_weight)
    scores = graphs.mean_votes(weight)
    level_ties(scores[None, :])
    return scores


def borda(y: Any, sample_weight: Any = None) -> FloatArray:
    """Consensus ranking by (generalized) Borda count; see :func:`borda_scores`.

    Takes the same arguments and returns ranks from 1; labels with the same score are tied.

    Examples
    --------
    >>> from labelrank.aggregation import borda
    >>> borda([[1, 2, 3], [1, 3, 2], [float("nan"), 1, 2]])
    array([1., 2., 3.])
    """
    return ranks_of_scores(borda_scores(y, sample_weight))
