"""Consensus with the fewest disagreements."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import numpy.typing as npt

from labelrank._arrays import FloatArray
from labelrank.aggregation.borda import borda_scores
from labelrank.aggregation.copeland import majorities
from labelrank.aggregation.inputs import graphs_and_weight

_LARGEST_EXACT = 20  # 2^20 subsets: 8 MB and about a second


def kemeny(y: Any, sample_weight: Any = None, *, max_exact: int = 15) -> FloatArray:
    """Consensus ranking that disagrees with as few preferences as possible.

    Minimizes Σ N_ba over the pairs with a before b: for complete rankings the sum of the Kendall distances, which makes
    it the center of the Mallows model with the largest likelihood.

    If all labels of one group beat all labels of another, every optimal ranking puts the first group above the second.
    This leaves the groups within which majorities are cyclic or even. A group of up to `max_exact` labels is solved
    exactly by dynamic programming over its subsets. A larger group starts from the Borda order, and single labels are
    moved until no such move improves the result, which is usually but not always optimal.

    Parameters
    ----------
    y : array-like or data frame of shape (n_samples, n_labels), or PreferenceGraphs
        Ranks or graphs.
    sample_weight : array-like of shape (n_samples,), optional
        Non-negative weights of the instances.
    max_exact : int, default=15
        Size of the largest group that is solved exactly, at most 20. Time and memory double with each label.

    Returns
    -------
    ndarray of shape (n_labels,)
        Ranks 1, ..., n_labels without ties. If several rankings are optimal, the exact method fills the places from
        the first to the last, each with the label of the best Borda score (if equal, of the lowest index) that an
        optimal ranking has there.

    Examples
    --------
    >>> from labelrank.aggregation import kemeny
    >>> kemeny([[1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4], [4, 1, 2, 3], [4, 1, 2, 3]])
    array([1., 2., 3., 4.])
    """
    if not isinstance(max_exact, numbers.Integral) or not 0 <= max_exact <= _LARGEST_EXACT:
        raise ValueError(f"max_exact must be an integer from 0 to {_LARGEST_EXACT}, got {max_exact!r}")
    graphs, weight = graphs_and_weight(y, sample_weight)
    counts = graphs.pair_counts(weight)
    preference = np.argsort(-borda_scores(graphs, weight), kind="stable")
    groups = [_order_of_group(group, counts, int(max_exact)) for group in _majority_groups(counts, preference)]
    ranks = np.empty(len(counts))
    ranks[np.concatenate(groups)] = np.arange(1, len(counts) + 1)
    return ranks


def _majority_groups(counts: FloatArray, preference: npt.NDArray[np.intp]) -> list[npt.NDArray[np.intp]]:
    """Strongly connected components of "wins or is even against", best first, each in the order of `preference`."""
    from scipy.sparse.csgraph import connected_components

    wins = majorities(counts)
    n_groups, group_of = connected_components(wins > 0, directed=True, connection="strong")
    groups = [preference[group_of[preference] == group] for group in range(n_groups)]
    # The labels of a better group beat all labels of a worse one, so they win more on average.
    return sorted(groups, key=lambda group: -float(np.mean(wins[group].sum(axis=1))))


def _order_of_group(group: npt.NDArray[np.intp], counts: FloatArray, max_exact: int) -> npt.NDArray[np.intp]:
    """Labels of one group, best first; `group` lists them in the order that breaks ties."""
    if len(group) == 1:
        return group
    from labelrank._kernels.aggregation.kemeny import improve_by_insertion, kemeny_exact

    within = np.ascontiguousarray(counts[np.ix_(group, group)])
    tolerance = 1e-12 * float(within.sum())
    if len(group) <= max_exact:
        return group[kemeny_exact(within, tolerance)]
    return group[improve_by_insertion(np.arange(len(group)), within, tolerance)]
