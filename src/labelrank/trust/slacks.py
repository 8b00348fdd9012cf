r"""Slacks of a ranking: by how much its scores contradict the observed preferences.

The slack of a subgraph is :math:`\max_{(a \succ b)} (f_b - f_a)_+` over its edges, the soft-margin loss without
margins. If the pairs whose scores differ by more than t are asserted, one of them contradicts the subgraph if and only
if its slack is larger than t.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrank._arrays import FloatArray, competition_ranks
from labelrank.decompositions import Subgraphs, get_decomposition
from labelrank.supervision import PreferenceGraphs


class Slacks(NamedTuple):
    """Slacks of the parts of some instances; the weights of the parts of an instance sum to 1."""

    row: npt.NDArray[np.intp]
    slack: FloatArray
    weight: FloatArray


def slacks_of_parts(graphs: PreferenceGraphs, scores: FloatArray, decomposition: Any) -> Slacks:
    """Slacks of the subgraphs of a decomposition.

    Parameters
    ----------
    graphs : PreferenceGraphs of shape (n_samples, n_labels)
        Observed preferences. Instances without an edge have no slack.
    scores : ndarray of shape (n_samples, n_labels)
        Scores, larger is better.
    decomposition : str, Decomposition or callable
        The decomposition; ``"zero_one"`` for one part per instance.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import as_graphs
    >>> from labelrank.trust.slacks import slacks_of_parts
    >>> slacks_of_parts(as_graphs([[1, 2, 3]]), np.array([[0.5, 0.75, 0.25]]), "zero_one").slack
    array([0.25])
    """
    s: Subgraphs = get_decomposition(decomposition).cut(graphs)
    if not len(s):
        return Slacks(np.empty(0, dtype=np.intp), np.empty(0), np.empty(0))
    row_of_member = np.repeat(np.arange(s.n_instances), np.diff(s.member_ptr))
    f = np.append(scores[row_of_member, s.members], 0.0)  # a range may end after the last member
    worst = np.minimum.reduceat(f, np.column_stack([s.better_start, s.better_stop]).ravel())[::2]
    best = np.maximum.reduceat(f, np.column_stack([s.worse_start, s.worse_stop]).ravel())[::2]
    slack = np.maximum(np.maximum.reduceat(best - worst, s.block_ptr[:-1]), 0.0)
    total = np.bincount(s.instance, weights=s.weight, minlength=s.n_instances)
    return Slacks(s.instance, slack, s.weight / total[s.instance])


def slacks_of_top(graphs: PreferenceGraphs, scores: FloatArray, k: int) -> Slacks:
    """Largest amount by which a score of the true top k is below the k-th largest score.

    The true top k are the observed labels with a rank of at most k among them, ties included. Rows without an observed
    pair have no slack.
    """
    try:
        ranks = competition_ranks(graphs.rank_values())
    except ValueError as error:
        raise ValueError(f'target="top_k" needs rankings, but y has other graphs: {error}') from error
    rows = np.flatnonzero(graphs.has_pairs())
    lowest = np.where(ranks[rows] <= k, scores[rows], np.inf).min(axis=1, initial=np.inf)
    return Slacks(rows, np.maximum(kth_largest(scores[rows], k) - lowest, 0.0), np.ones(len(rows)))


def kth_largest(scores: FloatArray, k: int) -> FloatArray:
    """The k-th largest score of each row."""
    at = max(scores.shape[1] - k, 0)
    return np.asarray(np.partition(scores, at, axis=1)[:, at])


def smallest_threshold(slack: FloatArray, weight: FloatArray, total: float, alpha: float) -> float:
    r"""Smallest t at which the risk is controlled: :math:`(\sum_{s > t} w_s + 1) / (n + 1) \le \alpha`.

    Infinity if there are too few rows for any t. With one part per row this is the
    :math:`\lceil (n + 1)(1 - \alpha) \rceil`-th smallest slack.

    Parameters
    ----------
    slack, weight : ndarray of shape (n_parts,)
        Slacks of parts, and their weights.
    total : float
        Number (weight) of calibration rows n.
    alpha : float
        Largest risk.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank.trust.slacks import smallest_threshold
    >>> smallest_threshold(np.arange(9.0), np.ones(9), 9, 0.2)
    7.0
    >>> smallest_threshold(np.arange(9.0), np.ones(9), 9, 0.05)
    inf
    """
    budget = alpha * (total + 1.0) - 1.0
    if budget < -1e-9:
        return np.inf
    values, place = np.unique(np.append(slack, 0.0), return_inverse=True)
    mass = np.bincount(place, weights=np.append(weight, 0.0))
    beyond = np.append(mass[::-1].cumsum()[::-1][1:], 0.0)  # weight of the larger slacks
    return float(values[np.argmax(beyond <= budget + 1e-9)])
