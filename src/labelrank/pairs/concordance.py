"""Concordance of rankings with the observed pairs of each instance."""

from __future__ import annotations

from typing import Any

import numpy as np

from labelrank._arrays import FloatArray
from labelrank.supervision.graphs import as_graphs

_MANY = 1000  # labels for which sorting is faster than comparing all pairs


def concordance(y: Any, ranks: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Weight of the pairs on which a ranking agrees less that of those on which it does not, and of all pairs.

    Parameters
    ----------
    y : array-like or data frame of shape (n_samples, n_labels), or PreferenceGraphs
        Ranks or graphs.
    ranks : ndarray of shape (n_samples, n_labels)
        A complete ranking for each instance; a pair that it ties counts 0 in the balance.

    Returns
    -------
    balance : ndarray of shape (n_samples,)
        Σ w sign(rank of the other label − rank of the preferred label) over the pairs of an instance.
    total : ndarray of shape (n_samples,)
        Σ w. Kendall's tau over the observed pairs is ``balance / total``.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank.pairs import concordance
    >>> concordance([[1, 2, 3], [1, 2, float("nan")]], np.array([[1.0, 3.0, 2.0], [2.0, 1.0, 3.0]]))
    (array([ 1., -1.]), array([3., 1.]))
    """
    from labelrank._kernels.pairs.concordance import concordance_of_rows

    graphs = as_graphs(y)
    ranks = np.asarray(ranks, dtype=np.float64)
    if ranks.shape != graphs.shape:
        raise ValueError(f"ranks has shape {ranks.shape}, expected {graphs.shape}: a rank for each label of y")
    if graphs.storage == "edges":
        edges, weight = graphs.to_edges(), graphs.edge_weights()
        signs = np.sign(ranks[edges.instance, edges.worse] - ranks[edges.instance, edges.better])
        balance, total = (
            np.bincount(edges.instance, weights=each, minlength=len(graphs)).astype(np.float64)
            for each in (weight * signs, weight)
        )
        return balance, total
    balance, total = np.empty(len(graphs)), np.empty(len(graphs))
    for rows, values in graphs.blocks_of_ranks():
        of_rows = _by_sorting if graphs.shape[1] > _MANY else concordance_of_rows
        balance[rows], total[rows] = of_rows(values, ranks[rows])
    return balance, total


def _by_sorting(true: FloatArray, pred: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Balance and total of rows with many labels, from tau-b, in O(n_labels log n_labels) each."""
    from scipy.stats import kendalltau  # scipy.stats alone would double the time of `import labelrank`

    balance, total = np.zeros(len(true)), np.zeros(len(true))
    for i, (a, b) in enumerate(zip(true, pred, strict=True)):
        observed = ~np.isnan(a)
        untied, other = (_untied(values[observed]) for values in (a, b))
        total[i] = untied
        if untied and other:
            tau = kendalltau(a[observed], b[observed]).statistic
            balance[i] = np.rint(tau * np.sqrt(untied) * np.sqrt(other))
    return balance, total


def _untied(values: FloatArray) -> float:
    """Number of pairs that are not tied."""
    counts = np.unique(values, return_counts=True)[1].astype(np.float64)
    return float(len(values) * (len(values) - 1.0) - counts @ (counts - 1.0)) / 2
