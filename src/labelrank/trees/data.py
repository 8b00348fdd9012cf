"""Training data of ranking trees: features, their sorted order, and rankings as signs of pairs or leads of labels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrank._arrays import BoolArray, FloatArray, IntArray
from labelrank._memory import require_memory
from labelrank.pairs import leads
from labelrank.supervision import PreferenceGraphs

ROW = 0xFFFFFFFF  # bits of an entry of `sorted_features` that are its row
_MISSING = 1 << 30  # code of a missing value, larger than all others
BY_LABELS = 'use criterion="vote_variance", whose cost grows with the labels'
_LANES = 8  # pairs are padded to a multiple of it, so that loops over them are whole vector instructions


class Sample(NamedTuple):
    """Training rows of a tree."""

    x: FloatArray  # (n_features, n_samples), NaN is missing; (0, 0) if features are sparse
    is_categorical: BoolArray  # (n_features,)
    signs: npt.NDArray[Any]  # (n_samples, n_sums), what a row of weight 1 adds to the sums of a node
    squares: FloatArray  # (n_samples,), sum of S²/M over the labels; (0,) if the targets are pairs
    weight: FloatArray  # (n_samples,), or (1,) if all rows weigh the same
    n_targets: int  # pairs or labels
    unit: float  # M of a target in a complete row: 1 for a pair, n_labels - 1 for a label
    complete: bool  # whether every row orders every pair, by one vote


class Sparse(NamedTuple):
    """Sparse features of the training rows, and buffers for the entries of a node."""

    indptr: IntArray
    indices: npt.NDArray[np.int32]
    data: FloatArray
    first: IntArray  # (n_features + 2,), where the entries of each feature begin
    values: FloatArray  # (n_entries,)
    rows: npt.NDArray[np.int32]  # (n_entries,)
    column: FloatArray  # (n_samples,), one feature
    zeros: FloatArray  # (n_sums,), of the rows without an entry


def make_sample(X: Any, graphs: PreferenceGraphs, weight: FloatArray, mask: BoolArray, of_labels: bool) -> Sample:
    """Arrange training data as the kernels read them; `mask` says which features are categories."""
    n, k = graphs.shape
    x = np.empty((0, 0)) if sparse.issparse(X) else np.ascontiguousarray(X.T)
    if of_labels:
        lead, total = leads(graphs)
        squares = np.divide(lead**2, total, out=np.zeros_like(lead), where=total > 0).sum(axis=1)
        unit = max(k - 1.0, 1.0)
        signs = _lanes(lead, None if (total == k - 1).all() else total, _leads_dtype(graphs, k))
        return Sample(x, mask, signs, squares, weight, k, unit, bool((total == k - 1).all()))
    n_pairs = k * (k - 1) // 2
    complete = graphs.is_strict
    # Signs and, unless all are 1, votes, and the lanes of both.
    size, advice = (2.0 if complete else 4.0) * n * n_pairs * (1 if graphs.weight is None else 8), BY_LABELS
    require_memory(size, f"a tree on {n} rows and the {n_pairs} pairs of {k} labels", advice)
    pairs = graphs.pair_signs()
    votes = None
    if not complete:
        votes = np.abs(pairs) if graphs.is_ranked else graphs.pair_totals()
        complete = bool((np.abs(pairs) == 1).all()) and bool((votes == 1).all())
    signs = _lanes(pairs, None if complete else votes, pairs.dtype)
    return Sample(x, mask, signs, np.empty(0), weight, n_pairs, 1.0, complete)


def make_sparse(X: Any, n_sums: int) -> Sparse:
    """Arrange sparse features, a CSR matrix without duplicates, as the kernels read them."""
    X = X.copy()
    X.eliminate_zeros()
    n_entries = max(1, int(np.diff(X.indptr).sum()))
    return Sparse(
        X.indptr.astype(np.int64),
        X.indices.astype(np.int32),
        X.data,
        np.zeros(X.shape[1] + 2, dtype=np.int64),
        np.empty(n_entries),
        np.empty(n_entries, dtype=np.int32),
        np.empty(X.shape[0]),
        np.empty(n_sums),
    )


def _lanes(sums: npt.NDArray[Any], totals: npt.NDArray[Any] | None, dtype: Any) -> npt.NDArray[Any]:
    """S of each row, padded to whole vectors, and M unless it is the same everywhere."""
    n, width = sums.shape
    n_lanes = _LANES * max(1, -(-width // _LANES))
    lanes = np.zeros((n, n_lanes * (1 + (totals is not None))), dtype=dtype)
    lanes[:, :width] = sums
    if totals is not None:
        lanes[:, n_lanes : n_lanes + width] = totals
    return lanes


def _leads_dtype(graphs: PreferenceGraphs, n_labels: int) -> Any:
    if graphs.weight is not None:
        return np.float64
    return np.min_scalar_type(-n_labels)  # a label leads by less than n_labels


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


def has_missing(X: Any) -> BoolArray:
    """Which columns of a matrix have missing values."""
    if hasattr(X, "tocsc"):
        found = np.zeros(X.shape[1], dtype=bool)
        found[X.tocsr().indices[np.isnan(X.data)]] = True
        return found
    return np.asarray(np.isnan(X.min(axis=0, initial=np.inf)))
