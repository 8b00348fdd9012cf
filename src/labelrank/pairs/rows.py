"""The observed pairs of each instance as flat arrays, for kernels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from labelrank._arrays import FloatArray, IntArray
from labelrank.supervision.graphs import as_graphs


class PairRows(NamedTuple):
    """Preferences of n instances over k labels, as the kernels of ``_kernels/pairs`` read them.

    Instances are rankings (`values` with k columns, no edges) or lists of edges (`values` without columns), so that a
    loop over the columns followed by a loop over the edges sees every pair once and needs no case distinction.

    Attributes
    ----------
    values : ndarray of shape (n, k) or (n, 0)
        Ranks of which only the order within a row matters; NaN is not observed.
    indptr : ndarray of shape (n + 1,)
        Instance i has the edges ``indptr[i]:indptr[i + 1]``.
    better, worse : ndarray of shape (n_edges,)
        Labels of the edges.
    weight : ndarray of shape (n_edges,)
        Weights of the edges.
    """

    values: FloatArray
    indptr: IntArray
    better: IntArray
    worse: IntArray
    weight: FloatArray


def pair_rows(y: Any) -> PairRows:
    """Arrays of graphs for kernels that look at the pairs of single instances.

    Parameters
    ----------
    y : array-like or data frame of shape (n_samples, n_labels), or PreferenceGraphs
        Ranks or graphs.

    Returns
    -------
    PairRows
    """
    graphs = as_graphs(y)
    if graphs.storage == "edges":
        indptr, better, worse = (array.astype(np.int64) for array in (graphs.indptr, graphs.better, graphs.worse))
        return PairRows(np.empty((len(graphs), 0)), indptr, better, worse, graphs.edge_weights())
    nothing = np.empty(0, dtype=np.int64)
    indptr = np.zeros(len(graphs) + 1, dtype=np.int64)
    return PairRows(np.ascontiguousarray(graphs.rank_values()), indptr, nothing, nothing, np.empty(0))
