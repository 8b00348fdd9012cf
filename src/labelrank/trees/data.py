"""Training data of ranking trees: features, their sorted order, and rankings as signs of pairs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from labelrank._kernels.trees.records import BoolArray, FloatArray, IntArray, Sample
from labelrank.supervision import PreferenceGraphs

_LANES = 8  # pairs are padded to a multiple of it, which makes whole vector instructions
_MISSING = 1 << 30  # code of a missing value, larger than all others


def make_sample(X: FloatArray, graphs: PreferenceGraphs, weight: FloatArray, is_categorical: BoolArray) -> Sample:
    """Training data as the kernels read them."""
    pairs = _pair_signs(graphs)
    n, n_pairs = pairs.shape
    n_lanes = _LANES * max(1, -(-n_pairs // _LANES))
    complete = bool((np.abs(pairs) == 1).all())
    signs = np.zeros((n, n_lanes if complete else 2 * n_lanes), dtype=pairs.dtype)
    signs[:, :n_pairs] = pairs
    if not complete:
        signs[:, n_lanes : n_lanes + n_pairs] = np.abs(pairs)
    return Sample(np.ascontiguousarray(X.T), is_categorical, signs, weight, n_pairs, complete)


def sorted_features(x: FloatArray) -> IntArray:
    """Sort each feature once, for all nodes of all trees.

    Parameters
    ----------
    x : ndarray of shape (n_features, n_samples)
        Features, NaN is missing.

    Returns
    -------
    ndarray of shape (n_features, n_samples)
        For each feature, (code of the value) * 2^32 + row in ascending order. Codes are 0, 1, ... in the order of the
        values, and equal values have the same code.
    """
    order = np.empty(x.shape, dtype=np.int64)
    for f, values in enumerate(x):
        rows = np.argsort(values)
        ordered = values[rows]
        codes = np.zeros(len(rows), dtype=np.int64)
        np.cumsum(ordered[1:] != ordered[:-1], out=codes[1:])
        codes[np.isnan(ordered)] = _MISSING
        order[f] = (codes << 32) | rows
    return order


def _pair_signs(y: PreferenceGraphs) -> npt.NDArray[np.int8] | FloatArray:
    n, k = y.shape
    n_pairs = k * (k - 1) // 2
    if y.storage == "edges":
        edges = y.to_edges()
        low, high = np.minimum(edges.better, edges.worse), np.maximum(edges.better, edges.worse)
        signs = np.zeros((n, n_pairs), dtype=np.int8 if y.weight is None else np.float64)
        column = low * (2 * k - low - 1) // 2 + high - low - 1
        signs[edges.instance, column] = np.where(edges.better < edges.worse, 1, -1) * (
            1 if y.weight is None else y.weight
        )
        return signs
    columns = np.where(y.levels < 0, np.nan, y.levels).T.copy()
    by_pair = np.empty((n_pairs, n), dtype=np.int8)
    for pair, (a, b) in enumerate(zip(*np.triu_indices(k, 1), strict=True)):
        before, behind = columns[a] < columns[b], columns[a] > columns[b]
        np.subtract(before.view(np.int8), behind.view(np.int8), out=by_pair[pair])
    return by_pair.T
