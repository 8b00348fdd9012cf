"""Signs of pairs: which label of each pair is preferred in each instance."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrank._arrays import FloatArray
from labelrank._memory import require_memory
from labelrank.supervision.graphs import PreferenceGraphs, as_graphs


class PairSums(NamedTuple):
    """The compared pairs low < high of each instance of graphs stored as edges, both directions together."""

    instance: npt.NDArray[np.intp]
    low: npt.NDArray[np.intp]
    high: npt.NDArray[np.intp]
    balance: FloatArray  # votes for low less those for high
    total: FloatArray  # votes


def pair_sums(graphs: PreferenceGraphs) -> PairSums:
    """Sum the votes of each compared pair of graphs stored as edges."""
    edges, weight = graphs.to_edges(), graphs.edge_weights()
    order, starts = edges.by_pair()
    sign = np.where(edges.better < edges.worse, 1.0, -1.0)
    balance, total = (
        np.add.reduceat(votes[order], starts) if len(starts) else np.empty(0) for votes in (sign * weight, weight)
    )
    instance, better, worse = edges.take(order[starts])
    return PairSums(instance, np.minimum(better, worse), np.maximum(better, worse), balance, total)


def pair_signs(y: Any) -> npt.NDArray[np.int8] | npt.NDArray[np.float64]:
    """Sign of each pair a < b in each instance: positive where a is preferred, negative where b is.

    Parameters
    ----------
    y : array-like or data frame of shape (n_samples, n_labels), or PreferenceGraphs
        Ranks or graphs.

    Returns
    -------
    ndarray of shape (n_samples, n_labels * (n_labels - 1) / 2)
        A column for each of the pairs (0, 1), (0, 2), ..., (1, 2), ..., in the order of ``np.triu_indices(n_labels,
        1)``; 0 where neither label is preferred. int8 with 1 and -1, or float64 if the edges have weights: the weight
        for a less that for b.

    Examples
    --------
    >>> from labelrank.pairs import pair_signs
    >>> pair_signs([[1, 2, 3], [2, 1, float("nan")]])
    array([[ 1,  1,  1],
           [-1,  0,  0]], dtype=int8)
    """
    graphs = as_graphs(y)
    n, k = graphs.shape
    n_pairs = k * (k - 1) // 2
    what = f"the signs of {n} instances for the {n_pairs} pairs of {k} labels"
    require_memory(2.0 * n * n_pairs, what, "use a learner whose cost grows with the labels, such as LogLinearRanker")
    if graphs.storage == "edges":
        return _by_column(graphs, "balance")
    by_pair = np.empty((n_pairs, n), dtype=np.int8)
    for rows, values in graphs.blocks_of_ranks():
        columns = np.ascontiguousarray(values.T)  # a comparison is one pass over neighboring numbers
        first = 0
        for a in range(k - 1):
            others = columns[a + 1 :]
            before, behind = columns[a] < others, columns[a] > others
            np.subtract(before.view(np.int8), behind.view(np.int8), out=by_pair[first : first + k - 1 - a, rows])
            first += k - 1 - a
    return by_pair.T


def pair_totals(y: Any) -> npt.NDArray[np.int8] | npt.NDArray[np.float64]:
    """Votes that each instance has on each pair of labels, whichever of them is preferred.

    Parameters
    ----------
    y : array-like or data frame of shape (n_samples, n_labels), or PreferenceGraphs
        Ranks or graphs.

    Returns
    -------
    ndarray of shape (n_samples, n_labels * (n_labels - 1) / 2)
        Pairs as in :func:`pair_signs`; its absolute values unless an instance has both directions of a pair.

    Examples
    --------
    >>> from labelrank import PreferenceGraphs
    >>> from labelrank.pairs import pair_signs, pair_totals
    >>> graphs = PreferenceGraphs.from_pairs([0, 0], [0, 1], [1, 0], [3.0, 1.0], conflicts="keep")
    >>> pair_signs(graphs), pair_totals(graphs)
    (array([[2.]]), array([[4.]]))
    """
    graphs = as_graphs(y)
    return np.abs(pair_signs(graphs)) if graphs.is_ranked else _by_column(graphs, "total")


def _by_column(graphs: PreferenceGraphs, name: str) -> npt.NDArray[np.int8] | npt.NDArray[np.float64]:
    """A field of :class:`PairSums` in a matrix with a column per pair."""
    n, k = graphs.shape
    matrix = np.zeros((n, k * (k - 1) // 2), dtype=np.int8 if graphs.weight is None else np.float64)
    sums = pair_sums(graphs)
    matrix[sums.instance, sums.low * (2 * k - sums.low - 1) // 2 + sums.high - sums.low - 1] = getattr(sums, name)
    return matrix
