"""Training data of ranking trees: features, their sorted order, and rankings as signs of pairs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from labelrank._arrays import BoolArray, FloatArray, IntArray
from labelrank.supervision import PreferenceGraphs

ROW = 0xFFFFFFFF  # bits of an entry of `sorted_features` that are its row
_MISSING = 1 << 30  # code of a missing value, larger than all others
_LANES = 8  # pairs are padded to a multiple of it, so that loops over them are whole vector instructions


class Sample(NamedTuple):
    """Training rows of a tree."""

    x: FloatArray  # (n_features, n_samples), NaN is missing
    is_categorical: BoolArray  # (n_features,)
    signs: npt.NDArray[np.int8] | FloatArray  # (n_samples, n_sums), what a row of weight 1 adds to the sums of a node
    weight: FloatArray  # (n_samples,), or (1,) if all rows weigh the same
    n_pairs: int
    complete: bool  # whether every row orders every pair, by one vote


def make_sample(X: FloatArray, graphs: PreferenceGraphs, weight: FloatArray, is_categorical: BoolArray) -> Sample:
    """Arrange training data as the kernels read them."""
    pairs = graphs.pair_signs()
    votes = np.abs(pairs) if graphs.is_ranked else graphs.pair_totals()
    n, n_pairs = pairs.shape
    n_lanes = _LANES * max(1, -(-n_pairs // _LANES))
    complete = bool(((np.abs(pairs) == 1) & (votes == 1)).all())
    signs = np.zeros((n, n_lanes if complete else 2 * n_lanes), dtype=pairs.dtype)
    signs[:, :n_pairs] = pairs
    if not complete:
        signs[:, n_lanes : n_lanes + n_pairs] = votes
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
