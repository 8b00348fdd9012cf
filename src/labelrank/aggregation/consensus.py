"""One ranking for many: Borda, Copeland and Kemeny.

All three run on the k × k matrix of pair counts, N_ab = the weight of the instances that prefer label a to label b, and
accept what the rankers accept: a rank matrix with ties and missing labels, or ``PreferenceGraphs``.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import numpy.typing as npt

from labelrank._compat import check_sample_weight
from labelrank.supervision import PreferenceGraphs, check_rankings, ranks_from_scores

__all__ = ["borda", "borda_scores", "copeland", "copeland_scores", "kemeny", "pair_counts", "pair_shares"]

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]

_ROUNDING = 1e-10  # relative; what differs by less is a tie that the order of summation pulled apart
_LARGEST_EXACT = 20  # 2^20 subsets: 8 MB and about a second
_BLOCK = 2**20  # entries of a temporary float copy of levels


def pair_counts(y: Any, sample_weight: Any = None) -> Matrix:
    """Count how often each label is preferred to each other one.

    Parameters
    ----------
    y : array-like or data frame of shape (n_samples, n_labels), or PreferenceGraphs
        Ranks (NaN is not observed, equal is tied: neither counts), or graphs; the weight of an edge is its number of
        votes.
    sample_weight : array-like of shape (n_samples,), optional
        Non-negative weights of the instances.

    Returns
    -------
    ndarray of shape (n_labels, n_labels)
        ``N[a, b]``, the total weight of the instances that prefer a to b.

    Examples
    --------
    >>> from labelrank.aggregation.consensus import pair_counts
    >>> pair_counts([[1, 2, 3], [2, 1, float("nan")], [1, 2, 2]])
    array([[0., 2., 2.],
           [1., 0., 1.],
           [0., 0., 0.]])
    """
    y, weight = _check(y, sample_weight)
    if isinstance(y, PreferenceGraphs) and y.storage == "edges":
        return _edge_votes(y, weight)
    return _compare_columns(y, weight)[0]


def pair_shares(counts: Any) -> Matrix:
    """Share of the votes for a in the pair of a and b: N_ab/(N_ab + N_ba).

    Parameters
    ----------
    counts : array-like of shape (n_labels, n_labels)
        What :func:`pair_counts` returns.

    Returns
    -------
    ndarray of shape (n_labels, n_labels)
        1/2 where nothing is known and on the diagonal.

    Examples
    --------
    >>> from labelrank.aggregation.consensus import pair_counts, pair_shares
    >>> pair_shares(pair_counts([[1, 2], [1, 2], [2, 1], [1, 1]]))
    array([[0.5       , 0.66666667],
           [0.33333333, 0.5       ]])
    """
    counts = np.asarray(counts, dtype=np.float64)
    both = counts + counts.T
    return np.divide(counts, both, out=np.full_like(counts, 0.5), where=both > 0)


def borda_scores(y: Any, sample_weight: Any = None) -> Vector:
    """Mean number of Borda votes per instance, with the generalisation to missing labels.

    A ranking of m of the n labels gives (m − r + 1)(n + 1)/(m + 1) votes to the label at rank r and (n + 1)/2 votes to
    a label that it leaves out: the votes to be expected if all completions were equally likely. Tied labels share the
    mean of their positions. With complete rankings that is the plain Borda count, n votes for the first label, 1 for
    the last.

    Graphs stored as edges have no positions. There a label has 1 + Σ_b N_ab/(N_ab + N_ba) votes, with 1/2 for a pair of
    which nothing is known; on complete rankings the two are the same.

    Parameters
    ----------
    y : array-like or data frame of shape (n_samples, n_labels), or PreferenceGraphs
        Ranks or graphs.
    sample_weight : array-like of shape (n_samples,), optional
        Non-negative weights of the instances.

    Returns
    -------
    ndarray of shape (n_labels,)
        Larger is better. Scores that differ by no more than rounding are made equal.

    Examples
    --------
    >>> from labelrank.aggregation.consensus import borda_scores
    >>> borda_scores([[1, 2, 3], [2, 1, 3]])
    array([2.5, 2.5, 1. ])
    >>> borda_scores([[1, 2, float("nan")]])
    array([2.66666667, 1.33333333, 2.        ])
    """
    y, weight = _check(y, sample_weight)
    if isinstance(y, PreferenceGraphs) and y.storage == "edges":
        return _equal_within_rounding(0.5 + pair_shares(_edge_votes(y, weight)).sum(axis=1))
    n = y.shape[1]
    total = weight.sum()
    if total == 0:
        return np.full(n, (n + 1) / 2)
    observed = _observed(y)
    if observed is None:
        less, equal = _compare_columns(y, weight)
        votes = less.sum(axis=1) + (equal.sum(axis=1) + equal.diagonal()) / 2
    else:
        # m − r + 1 is the number of labels ranked below, half of those tied with it, and the label itself.
        less, equal = _compare_columns(y, weight * ((n + 1) / (observed.sum(axis=1) + 1)))
        votes = less.sum(axis=1) + (equal.sum(axis=1) + equal.diagonal()) / 2
        votes += (n + 1) / 2 * (total - weight @ observed)
    return _equal_within_rounding(votes / total)


def borda(y: Any, sample_weight: Any = None) -> Vector:
    """Consensus ranking by (generalized) Borda count; see :func:`borda_scores`.

    Parameters
    ----------
    y : array-like or data frame of shape (n_samples, n_labels), or PreferenceGraphs
        Ranks or graphs.
    sample_weight : array-like of shape (n_samples,), optional
        Non-negative weights of the instances.

    Returns
    -------
    ndarray of shape (n_labels,)
        Ranks from 1; labels with the same score are tied.

    Examples
    --------
    >>> from labelrank.aggregation.consensus import borda
    >>> borda([[1, 2, 3], [1, 3, 2], [float("nan"), 1, 2]])
    array([1., 2., 3.])
    """
    return _ranks(borda_scores(y, sample_weight))


def copeland_scores(y: Any, sample_weight: Any = None) -> Vector:
    """Number of pairwise majorities won.

    A label scores 1 for each label that it beats (N_ab > N_ba) and 1/2 for each even pair, also one of which nothing is
    known.

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
    >>> from labelrank.aggregation.consensus import copeland_scores
    >>> copeland_scores([[1, 2, 3], [1, 3, 2]])
    array([2. , 0.5, 0.5])
    """
    return _majorities(pair_counts(y, sample_weight)).sum(axis=1) - 0.5  # the diagonal


def copeland(y: Any, sample_weight: Any = None) -> Vector:
    """Consensus ranking by the number of pairwise majorities won; see :func:`copeland_scores`.

    Parameters
    ----------
    y : array-like or data frame of shape (n_samples, n_labels), or PreferenceGraphs
        Ranks or graphs.
    sample_weight : array-like of shape (n_samples,), optional
        Non-negative weights of the instances.

    Returns
    -------
    ndarray of shape (n_labels,)
        Ranks from 1; labels with the same score are tied.

    Examples
    --------
    >>> from labelrank.aggregation.consensus import copeland
    >>> copeland([[1, 2, 3], [2, 3, 1], [1, 2, 3]])
    array([1., 2., 3.])
    >>> copeland([[1, 2, 3], [2, 3, 1], [3, 1, 2]])  # Condorcet's paradox: each beats one and loses to one
    array([1., 1., 1.])
    """
    return _ranks(copeland_scores(y, sample_weight))


def kemeny(y: Any, sample_weight: Any = None, *, max_exact: int = 15) -> Vector:
    """Consensus ranking that disagrees with as few preferences as possible.

    Minimises Σ N_ba over the pairs with a before b: for complete rankings the sum of the Kendall distances, which makes
    it the centre of the Mallows model with the largest likelihood.

    Where all labels of one group beat all labels of another, every optimal ranking puts the one above the other. What
    is left to solve are the groups within which majorities are cyclic or even. A group of up to `max_exact` labels is
    solved exactly by dynamic programming over its subsets. A larger one starts from the Borda order, and single labels
    are moved as long as a move to another place helps: no move of one label can improve the result, and it is usually
    but not always optimal.

    Parameters
    ----------
    y : array-like or data frame of shape (n_samples, n_labels), or PreferenceGraphs
        Ranks or graphs.
    sample_weight : array-like of shape (n_samples,), optional
        Non-negative weights of the instances.
    max_exact : int, default=15
        The size up to which a group is solved exactly, from 0 to 20. Time and memory double with each label.

    Returns
    -------
    ndarray of shape (n_labels,)
        Ranks 1, ..., n_labels without ties. Of several optimal rankings the exact method returns the one that agrees
        with Borda the earliest: the first place goes to the label with the best Borda score that any of them has
        there (the lowest index, if equal), and so on down the places.

    Examples
    --------
    >>> from labelrank.aggregation.consensus import kemeny
    >>> kemeny([[1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4], [4, 1, 2, 3], [4, 1, 2, 3]])
    array([1., 2., 3., 4.])
    """
    if not isinstance(max_exact, numbers.Integral) or not 0 <= max_exact <= _LARGEST_EXACT:
        raise ValueError(f"max_exact must be an integer from 0 to {_LARGEST_EXACT}, got {max_exact!r}")
    y, weight = _check(y, sample_weight)
    counts = pair_counts(y, weight)
    preference = np.argsort(-borda_scores(y, weight), kind="stable")
    order = np.concatenate(
        [_kemeny_order(group, counts, int(max_exact)) for group in _majority_groups(counts, preference)]
    )
    ranks = np.empty(len(order))
    ranks[order] = np.arange(1, len(order) + 1)
    return ranks


# ---------------------------------------------------------------------------------------------------------------
# Pair counts
# ---------------------------------------------------------------------------------------------------------------


def _check(y: Any, sample_weight: Any) -> tuple[Any, Vector]:
    """A rank matrix or graphs, and a weight for each instance."""
    if not isinstance(y, PreferenceGraphs):
        y = check_rankings(y)
    elif not y.shape[0] or not y.shape[1]:
        raise ValueError(
            f"y has {y.shape[0]} instances and {y.shape[1]} labels; a consensus needs at least one of each"
        )
    if sample_weight is None:
        return y, np.ones(y.shape[0])
    weight = check_sample_weight(
        sample_weight,
        np.empty((y.shape[0], 0)),
        dtype=np.float64,
        ensure_non_negative=True,
        allow_all_zero_weights=True,
    )
    return y, weight


def _edge_votes(graphs: PreferenceGraphs, weight: Vector) -> Matrix:
    k = graphs.shape[1]
    votes = np.repeat(weight, np.diff(graphs.indptr))
    if graphs.weight is not None:
        votes = votes * graphs.weight
    cells = graphs.better.astype(np.intp) * k + graphs.worse
    # Without a single edge bincount forgets that the votes are floats.
    return np.bincount(cells, weights=votes, minlength=k * k).astype(np.float64).reshape(k, k)


def _compare_columns(y: Any, weight: Vector) -> tuple[Matrix, Matrix]:
    """Weight of the instances that prefer a to b, and of those that tie them."""
    from labelrank._kernels.aggregation.consensus import compare_columns

    if not isinstance(y, PreferenceGraphs):
        return compare_columns(y, weight)
    levels, k = y.levels, y.shape[1]
    less, equal = np.zeros((k, k)), np.zeros((k, k))
    block = max(1, _BLOCK // k)
    for start in range(0, len(levels), block):
        part = levels[start : start + block]
        more = compare_columns(np.where(part < 0, np.nan, part), weight[start : start + block])
        less += more[0]
        equal += more[1]
    return less, equal


def _observed(y: Any) -> npt.NDArray[np.bool_] | None:
    """Which labels were observed, None when all were."""
    observed = y.levels >= 0 if isinstance(y, PreferenceGraphs) else ~np.isnan(y)
    return None if observed.all() else observed


def _majorities(counts: Matrix) -> Matrix:
    """1 where a beats b, 0 where it loses, 1/2 where they are even and on the diagonal."""
    margin = counts - counts.T
    decided = np.abs(margin) > _ROUNDING * (counts + counts.T)
    return np.where(decided, margin > 0, 0.5)


def _equal_within_rounding(scores: Vector) -> Vector:
    """Scores with each run of values that are next to each other, up to rounding, set to the largest of them."""
    order = np.argsort(-scores, kind="stable")
    ordered = scores[order]
    drop = ordered[:-1] - ordered[1:] > _ROUNDING * np.maximum(1.0, np.abs(ordered[:-1]))
    first = np.maximum.accumulate(np.where(np.r_[True, drop], np.arange(len(scores)), 0))
    equalised = np.empty_like(scores)
    equalised[order] = ordered[first]
    return equalised


def _ranks(scores: Vector) -> Vector:
    return ranks_from_scores(scores[np.newaxis, :])[0]


# ---------------------------------------------------------------------------------------------------------------
# Kemeny
# ---------------------------------------------------------------------------------------------------------------


def _majority_groups(counts: Matrix, preference: npt.NDArray[np.intp]) -> list[npt.NDArray[np.intp]]:
    """Strongly connected groups of "wins or is even against", best group first, each in the order of `preference`.

    Of two groups all labels of one beat all labels of the other, so every ranking with the fewest disagreements puts
    the one group above the other.
    """
    from scipy.sparse.csgraph import connected_components

    majorities = _majorities(counts)
    n_groups, group_of = connected_components(majorities > 0, directed=True, connection="strong")
    groups = [preference[group_of[preference] == group] for group in range(n_groups)]
    # The labels of a better group win against all labels of a worse one, and so does each in its mean.
    wins = majorities.sum(axis=1)
    return sorted(groups, key=lambda group: -float(np.mean(wins[group])))


def _kemeny_order(group: npt.NDArray[np.intp], counts: Matrix, max_exact: int) -> npt.NDArray[np.intp]:
    """Labels of one group, best first; `group` lists them in the order that breaks ties."""
    if len(group) == 1:
        return group
    from labelrank._kernels.aggregation.consensus import improve_by_insertion, kemeny_exact

    within = np.ascontiguousarray(counts[np.ix_(group, group)])
    tolerance = 1e-12 * float(within.sum())
    if len(group) <= max_exact:
        return group[kemeny_exact(within, tolerance)]
    return group[improve_by_insertion(np.arange(len(group)), within, tolerance)]
