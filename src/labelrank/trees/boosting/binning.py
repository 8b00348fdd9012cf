"""Binned features: at most 255 bins for each feature and one for missing values, a byte for each entry."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrank._arrays import BoolArray, FloatArray, IntArray

Codes = npt.NDArray[np.uint8]
MAX_BINS = 255


class SparseCodes(NamedTuple):
    """Bins of a sparse matrix by columns; absent entries are in the bin of zero."""

    indptr: IntArray  # (n_features + 1,)
    indices: npt.NDArray[np.int32]  # rows
    codes: Codes
    zero: npt.NDArray[np.int64]  # (n_features,), the bin of zero


class Binning(NamedTuple):
    """Bins of the features.

    A number x is in bin b if ``edges[b - 1] < x <= edges[b]``; the bin of a category is its index in `edges`. An
    additional last bin is for missing values and for categories without a bin.
    """

    edges: npt.NDArray[Any]  # (n_features,) of float arrays: thresholds, or the categories in ascending order
    is_categorical: BoolArray

    @property
    def missing(self) -> IntArray:
        """Bin of missing values of each feature, equal to the number of other bins."""
        return np.array([len(edges) for edges in self.edges], dtype=np.int64) + ~self.is_categorical

    @property
    def start(self) -> IntArray:
        """Where the bins of each feature begin in a histogram of all features."""
        return np.concatenate([[0], np.cumsum(self.missing + 1)])

    def transform(self, X: Any) -> Codes | SparseCodes:
        """Bins of the rows of a matrix."""
        if not hasattr(X, "tocsc"):
            codes = np.empty(X.shape, dtype=np.uint8)
            for f in range(X.shape[1]):
                codes[:, f] = self._of_values(X[:, f], f)
            return codes
        X = X.tocsc()
        codes = np.empty(len(X.data), dtype=np.uint8)
        for f in range(X.shape[1]):
            column = slice(X.indptr[f], X.indptr[f + 1])
            codes[column] = self._of_values(X.data[column], f)
        zero = np.array([self._of_values(np.zeros(1), f)[0] for f in range(X.shape[1])], dtype=np.int64)
        return SparseCodes(X.indptr.astype(np.int64), X.indices.astype(np.int32), codes, zero)

    def transform_rows(self, X: Any) -> Codes:
        """Bins of the rows of a matrix as a dense array, for prediction; a sparse X should have few rows."""
        binned = self.transform(X)
        if not isinstance(binned, SparseCodes):
            return binned
        codes = np.tile(binned.zero.astype(np.uint8), (X.shape[0], 1))
        codes[binned.indices, np.repeat(np.arange(X.shape[1]), np.diff(binned.indptr))] = binned.codes
        return codes

    def _of_values(self, values: FloatArray, f: int) -> npt.NDArray[Any]:
        edges, missing = self.edges[f], len(self.edges[f]) + (not self.is_categorical[f])
        place = np.searchsorted(edges, values)
        if self.is_categorical[f]:
            known = place < len(edges)
            known[known] = edges[place[known]] == values[known]
            return np.where(known, place, missing)
        return np.where(np.isnan(values), missing, place)


class Column(NamedTuple):
    """Distinct values of a feature without NaN, in ascending order, and the weight of the rows with each."""

    values: FloatArray
    weight: FloatArray


def columns_of(X: Any, weight: FloatArray) -> Iterator[Column]:
    """Distinct values of each feature; X is an array or a CSC matrix, NaN is missing."""
    if not hasattr(X, "tocsc"):
        for f in range(X.shape[1]):
            yield _distinct(X[:, f], weight)
        return
    total = float(weight.sum())
    for f in range(X.shape[1]):
        column = slice(X.indptr[f], X.indptr[f + 1])
        values, heavy = X.data[column], weight[X.indices[column]]
        if len(values) < X.shape[0]:
            values, heavy = np.append(values, 0.0), np.append(heavy, total - heavy.sum())
        yield _distinct(values, heavy)


def merged(columns: list[Column]) -> Column:
    """Merge the distinct values of a feature over parts of the rows."""
    return _distinct(*(np.concatenate(arrays) for arrays in zip(*columns, strict=True)))


def edges_of(column: Column, is_categorical: bool, max_bins: int) -> FloatArray:
    """Edges of bins of about equal weight; with at most `max_bins` distinct values, each has its own bin.

    If there are more than `max_bins` categories, the heaviest get bins.
    """
    if is_categorical:
        heaviest = np.argsort(-column.weight, kind="stable")[:max_bins]
        return np.sort(column.values[heaviest])
    return _thresholds(*column, max_bins)


def _distinct(values: FloatArray, weight: FloatArray) -> Column:
    """Distinct values and their weights; values of weight 0 are left out."""
    kept = ~np.isnan(values) & (weight > 0)
    if not kept.all():
        values, weight = values[kept], weight[kept]
    if not len(values):
        return Column(values, weight)
    if (weight == weight[0]).all():
        values, weight = np.sort(values), np.broadcast_to(weight[0], values.shape)
    else:
        order = np.argsort(values, kind="stable")
        values, weight = values[order], weight[order]
    first = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    return Column(values[first], np.add.reduceat(weight, first))


def _thresholds(values: FloatArray, weight: FloatArray, max_bins: int) -> FloatArray:
    """Thresholds between distinct values: midpoints, or quantiles."""
    if len(values) < 2:
        return np.empty(0)
    middle = np.maximum(values[:-1], np.minimum(values[:-1] / 2 + values[1:] / 2, np.nextafter(values[1:], -np.inf)))
    if len(values) <= max_bins:
        return middle
    # A quantile is a value or, if the weight up to a value is exactly that of the quantile, the midpoint to the next.
    cumulated = np.cumsum(weight)
    wanted = cumulated[-1] * np.arange(1, max_bins) / max_bins
    at = np.searchsorted(cumulated, wanted * (1 - 1e-12))
    exact = (np.abs(cumulated[at] - wanted) <= 1e-12 * cumulated[-1]) & (at < len(middle))
    return np.unique(np.where(exact, middle[np.minimum(at, len(middle) - 1)], values[at]))
