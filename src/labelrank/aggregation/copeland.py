"""Consensus by pairwise majorities."""

from __future__ import annotations

from typing import Any

import numpy as np

from labelrank._arrays import FloatArray
from labelrank.aggregation.inputs import graphs_and_weight, ranks_of_scores

_ROUNDING = 1e-10  # relative; smaller differences of counts are rounding errors, and the pair is even


def copeland_scores(y: Any, sample_weight: Any = None) -> FloatArray:
    """Number of pairwise majorities won.

    A label scores 1 for each label that it beats (N_ab > N_ba) and 1/2 for each even pair, including pairs without
    observations.

    Parameters
    ----------
    y : array-like or data frame of shape (n_samples, n_labels), or PreferenceGraphs
        Ranks or graphs.
    sample_weight : array-like of shape (n_samples,), optional
        Non-negative weights of the instances.

    Returns
    -------
    ndarray of shape (n_labels,)
        From 0 to n_labels - 1, larger is better.

    Examples
    --------
    >>> from labelrank.aggregation import copeland_scores
    >>> copeland_scores([[1, 2, 3], [1, 3, 2]])
    array([2. , 0.5, 0.5])
    """
    graphs, weight = graphs_and_weight(y, sample_weight)
    return majorities(graphs.pair_counts(weight)).sum(axis=1) - 0.5  # the diagonal


def copeland(y: Any, sample_weight: Any = None) -> FloatArray:
    """Consensus ranking by the number of pairwise majorities won; see :func:`copeland_scores`.

    Takes the same arguments and returns ranks from 1; labels with the same score are tied.

    Examples
    --------
    >>> from labelrank.aggregation import copeland
    >>> copeland([[1, 2, 3], [2, 3, 1], [1, 2, 3]])
    array([1., 2., 3.])
    >>> copeland([[1, 2, 3], [2, 3, 1], [3, 1, 2]])  # Condorcet's paradox: each beats one and loses to one
    array([1., 1., 1.])
    """
    return ranks_of_scores(copeland_scores(y, sample_weight))


def majorities(counts: FloatArray) -> FloatArray:
    """Matrix of 1 where a beats b, 0 where it loses, 1/2 where they are even and on the diagonal."""
    margin = counts - counts.T
    decided = np.abs(margin) > _ROUNDING * (counts + counts.T)
    return np.where(decided, margin > 0, 0.5)
