"""Pair counts, N_ab: the weight of the instances that prefer label a to label b."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from labelrank._arrays import FloatArray
from labelrank._memory import require_memory
from labelrank.supervision.graphs import as_graphs
from labelrank.supervision.weights import row_weights


def pair_counts(y: Any, sample_weight: Any = None, *, ties: float = 0.0) -> FloatArray:
    """Total weight of the instances that prefer each label to each other one.

    Parameters
    ----------
    y : array-like or data frame of shape (n_samples, n_labels), or PreferenceGraphs
        Ranks or graphs; the weight of an edge is its number of votes.
    sample_weight : array-like of shape (n_samples,), optional
        Non-negative weights of the instances.
    ties : float, default=0.0
        What a tied pair adds to each of its two sides: 0, or 0.5 to count it as half a vote for each.

    Returns
    -------
    ndarray of shape (n_labels, n_labels)
        ``N[a, b]``, with a diagonal of zeros.

    Examples
    --------
    >>> from labelrank.pairs import pair_counts
    >>> pair_counts([[1, 2, 3], [2, 1, float("nan")], [1, 2, 2]])
    array([[0., 2., 2.],
           [1., 0., 1.],
           [0., 0., 0.]])
    """
    from labelrank._kernels.pairs.counts import compare_columns

    if not (isinstance(ties, Real) and 0 <= float(ties) <= 1):
        raise ValueError(f"ties must be between 0 and 1, the vote of a tied pair for each side, got {ties!r}")
    graphs = as_graphs(y)
    k = graphs.shape[1]
    weight = row_weights(sample_weight, len(graphs))
    advice = "use a learner whose cost grows with the labels, such as LogLinearRanker"
    require_memory(32.0 * k**2, f"counting the pairs of {k} labels", advice)
    counts = np.zeros((k, k))
    if graphs.storage == "edges":
        votes = np.repeat(weight, graphs.edge_counts()) * graphs.edge_weights()
        np.add.at(counts, (graphs.better, graphs.worse), votes)
        return counts
    for rows, values in graphs.blocks_of_ranks():
        less, equal = compare_columns(values, weight[rows])
        counts += less + ties * equal
    return counts


def pair_shares(counts: Any) -> FloatArray:
    """Share of the votes for a in the pair of a and b: N_ab/(N_ab + N_ba).

    Parameters
    ----------
    counts : array-like of shape (..., n_labels, n_labels)
        Pair counts.

    Returns
    -------
    ndarray of the shape of `counts`
        1/2 where nothing is known and on the diagonal.

    Examples
    --------
    >>> from labelrank.pairs import pair_counts, pair_shares
    >>> pair_shares(pair_counts([[1, 2], [1, 2], [2, 1], [1, 1]]))
    array([[0.5       , 0.66666667],
           [0.33333333, 0.5       ]])
    """
    counts = np.asarray(counts, dtype=np.float64)
    if counts.ndim < 2 or counts.shape[-1] != counts.shape[-2] or not (counts >= 0).all():
        raise ValueError(
            f"counts must be square matrices of non-negative numbers, got an array of shape {counts.shape}; "
            "pair_counts computes them"
        )
    both = counts + np.swapaxes(counts, -1, -2)
    shares = np.divide(counts, both, out=np.full_like(counts, 0.5), where=both > 0)
    diagonal = np.arange(counts.shape[-1])
    shares[..., diagonal, diagonal] = 0.5
    return shares
