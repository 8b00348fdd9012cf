"""Partial orders: the part of a ranking that pair probabilities or score gaps assert."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from labelrank._arrays import BoolArray, FloatArray
from labelrank.supervision.graphs import PreferenceGraphs


def transitive_core(relation: BoolArray) -> BoolArray:
    r"""Largest part of asymmetric relations that is transitive by its neighborhoods.

    A pair :math:`a \succ b` stays if every label below b is below a, and every label above a is above b. What stays is
    transitive and asymmetric, a strict partial order. A relation that is one already stays as it is, and a cycle loses
    all of its pairs.

    Parameters
    ----------
    relation : bool ndarray of shape (n_samples, n_labels, n_labels)
        Whether a is preferred to b; never both ways.

    Returns
    -------
    bool ndarray of shape (n_samples, n_labels, n_labels)

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank.pairs import transitive_core
    >>> cycle = np.zeros((1, 4, 4), dtype=bool)
    >>> cycle[0, [0, 1, 2, 0, 1, 2], [1, 2, 0, 3, 3, 3]] = True  # 0, 1 and 2 beat each other, and all beat 3
    >>> np.argwhere(transitive_core(cycle)[0]).tolist()
    [[0, 3], [1, 3], [2, 3]]
    """
    above = relation.astype(np.float32)
    apart = 1.0 - above
    lost = np.matmul(apart, above.transpose(0, 2, 1))  # labels below b that are not below a
    lost += np.matmul(above.transpose(0, 2, 1), apart)  # labels above a that are not above b
    return relation & (lost == 0.0)


def asserted_pairs(proba: FloatArray, ranks: FloatArray, threshold: float) -> BoolArray:
    """Pairs of each ranking with a probability above a threshold, as strict partial orders.

    Parameters
    ----------
    proba : ndarray of shape (n_samples, n_labels, n_labels)
        P(a before b), with P(b before a) = 1 - P(a before b).
    ranks : ndarray of shape (n_samples, n_labels)
        The ranking, which no asserted pair contradicts.
    threshold : float
        At least 0.5.

    Returns
    -------
    bool ndarray of shape (n_samples, n_labels, n_labels)
        The :func:`transitive_core` of the pairs above the threshold.
    """
    before = ranks[:, :, np.newaxis] < ranks[:, np.newaxis, :]
    return transitive_core((proba > threshold) & before)


def share_of_pairs(proba: FloatArray, ranks: FloatArray) -> FloatArray:
    """Expected share of the pairs that a ranking orders as the truth does; half a pair where it ties; 1 without pairs.

    Parameters
    ----------
    proba : ndarray of shape (n_samples, n_labels, n_labels)
        P(a before b).
    ranks : ndarray of shape (n_samples, n_labels)
        The ranking.

    Returns
    -------
    ndarray of shape (n_samples,)
    """
    k = ranks.shape[1]
    if k < 2:
        return np.ones(len(ranks))
    a, b = np.triu_indices(k, 1)
    sign = np.sign(ranks[:, b] - ranks[:, a])  # 1 where a is before b
    return np.asarray(0.5 + (sign * (proba[:, a, b] - 0.5)).mean(axis=1))


def buckets_of_scores(scores: FloatArray, gap: FloatArray) -> FloatArray:
    """Ranks with ties: sorted scores are cut where neighbors differ by more than `gap`, of shape (n_samples,)."""
    n, k = scores.shape
    order = np.argsort(-scores, axis=1, kind="stable")
    with np.errstate(invalid="ignore"):  # infinity less infinity is no step
        steps = -np.diff(np.take_along_axis(scores, order, axis=1), axis=1)
    first = np.zeros((n, k), dtype=np.intp)  # place of the first label of each bucket
    first[:, 1:] = np.where(steps > gap[:, np.newaxis], np.arange(1, k), 0)
    ranks = np.empty(order.shape)
    np.put_along_axis(ranks, order, np.maximum.accumulate(first, axis=1) + 1.0, axis=1)
    return ranks


def graphs_of_relation(relation: BoolArray, labels: npt.NDArray[Any] | None = None) -> PreferenceGraphs:
    """Graphs with an edge for each pair of a relation.

    Parameters
    ----------
    relation : bool ndarray of shape (n_samples, n_labels, n_labels)
        Whether a is preferred to b; never both ways.
    labels : ndarray of shape (n_labels,), optional
        Names of the labels.

    Returns
    -------
    PreferenceGraphs
    """
    n, k = relation.shape[:2]
    instance, better, worse = np.nonzero(relation)
    if labels is None or np.array_equal(labels, np.arange(k)):
        return PreferenceGraphs.from_pairs(instance, better, worse, n_instances=n, n_labels=k)
    return PreferenceGraphs.from_pairs(instance, labels[better], labels[worse], n_instances=n, labels=labels)
