"""Consensus by the Plackett-Luce model, in which a ranking is a sequence of choices among the remaining labels."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from labelrank._arrays import FloatArray
from labelrank.aggregation.inputs import graphs_and_weight, ranks_of_scores
from labelrank.pairs import pair_rows
from labelrank.supervision import stacklevel_of_user

PRIOR = 0.1  # wins and losses of each label against a label of weight 1, which keep the weights finite
TOL, MAX_ITER = 1e-8, 100  # of Newton's method for the logarithms of the weights; ten iterations are enough


def plackett_luce_scores(y: Any, sample_weight: Any = None) -> FloatArray:
    r"""Logarithms of the weights of a Plackett-Luce model.

    Label a is chosen from a set S of labels with probability :math:`v_a / \sum_{b \in S} v_b`; a ranking chooses its
    first label among all that it observes, its second among the rest, and so on. Tied labels are each chosen from the
    same set. Each edge of a graph stored as edges is a choice between its two labels, as in the Bradley-Terry model. A
    weak prior keeps the weights finite: each label also wins and loses 0.1 times against a label of weight 1.

    Parameters
    ----------
    y : array-like or data frame of shape (n_samples, n_labels), or PreferenceGraphs
        Ranks or graphs.
    sample_weight : array-like of shape (n_samples,), optional
        Non-negative weights of the instances.

    Returns
    -------
    ndarray of shape (n_labels,)
        Larger is better.

    Examples
    --------
    >>> from labelrank.aggregation import plackett_luce_scores
    >>> plackett_luce_scores([[1, 2, 3], [1, 3, 2], [2, 1, 3]]).round(1)
    array([ 1.1, -0.1, -0.9])
    """
    from labelrank._kernels.aggregation.plackett_luce import log_weights
    from labelrank._kernels.pairs.votes import level_ties

    graphs, weight = graphs_and_weight(y, sample_weight)
    found, everyone = np.empty((1, graphs.shape[1])), np.arange(len(graphs))[np.newaxis]
    change = log_weights(everyone, weight[np.newaxis], found, pair_rows(graphs), PRIOR, TOL, MAX_ITER)
    warn_of_change(change)
    level_ties(found)
    return found[0]


def plackett_luce(y: Any, sample_weight: Any = None) -> FloatArray:
    """Consensus ranking by the weights of a Plackett-Luce model; see :func:`plackett_luce_scores`.

    Takes the same arguments and returns ranks from 1; labels with the same weight are tied.

    Examples
    --------
    >>> from labelrank.aggregation import plackett_luce
    >>> plackett_luce([[1, 2, 3], [1, 3, 2], [2, 1, 3]])
    array([1., 2., 3.])
    """
    return ranks_of_scores(plackett_luce_scores(y, sample_weight))


def warn_of_change(change: float) -> None:
    """Warn if the weights have not converged; `change` is the last step of their logarithms."""
    if change > TOL:
        warnings.warn(
            f"Plackett-Luce weights did not converge: after {MAX_ITER} iterations their relative change is still "
            f"{change:.1e}",
            ConvergenceWarning,
            stacklevel=stacklevel_of_user(),
        )
