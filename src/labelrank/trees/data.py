"""What a ranking tree is grown on: features with their sorted order, and rankings as signs of pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from labelrank.supervision import PreferenceGraphs

FloatArray = npt.NDArray[np.float64]
_BLOCK = 8  # lanes come in blocks of so many
_MISSING = 1 << 30


@dataclass(frozen=True)
class TreeData:
    """Training set of trees; what it holds is shared by all trees of a forest.

    Attributes
    ----------
    x : ndarray of shape (n_features, n_samples)
        Features, NaN where missing.
    order : int64 ndarray of shape (n_features, n_samples), or None
        For each feature, (code of the value) * 2^32 + row in ascending order; None where thresholds are drawn.
    lanes : int8 or float32 ndarray of shape (n_samples, n_lanes)
        For each pair a < b: N_ab - N_ba of the row; and `width` lanes further on, unless all pairs of all rows are
        ordered by one vote, N_ab + N_ba.
    observed : ndarray of shape (n_samples,)
        Sum of N_ab + N_ba over the pairs.
    categorical : bool ndarray of shape (n_features,)
        Which features are categories.
    n_labels, n_pairs, width : int
        Numbers of labels, of pairs, and of lanes with padding.
    complete : bool
        Whether every pair of every row is ordered, by one vote.
    unit : float
        What one vote counts in `lanes` and `observed`: 1, or a power of two where edges have huge or tiny weights.
    vote_range : float
        The largest number of votes of a row about a pair as a multiple of the smallest.
    """

    x: FloatArray
    order: npt.NDArray[np.int64] | None
    lanes: npt.NDArray[np.int8] | npt.NDArray[np.float32]
    observed: FloatArray
    categorical: npt.NDArray[np.bool_]
    n_labels: int
    n_pairs: int
    width: int
    complete: bool
    unit: float
    vote_range: float


def tree_data(X: FloatArray, y: Any, categorical: npt.NDArray[np.bool_], *, sort: bool) -> TreeData:
    """`X` and `y`, as they come from ``_validate_fit``, prepared for trees; sorted unless thresholds are random."""
    x = np.ascontiguousarray(X.T)
    k = y.shape[1]
    n_pairs = k * (k - 1) // 2
    width = _BLOCK * max(1, -(-n_pairs // _BLOCK))
    difference, votes = _pairs(y, n_pairs)
    unit, vote_range = 1.0, 1.0
    if votes.dtype == np.float64 and votes.any():  # edges, which can have any weight
        largest = float(votes.max())
        unit, vote_range = unit_for(largest), largest / float(votes[votes > 0].min())
        difference, votes = (difference * unit).astype(np.float32), (votes * unit).astype(np.float32)
    complete = bool((votes == 1).all()) if n_pairs else True
    # Rows are visited in the order of each feature: the smaller they are, the more of them are in the cache.
    small = votes.dtype == np.int8 or votes.size == 0 or bool(votes.max() <= np.iinfo(np.int8).max)
    small = small and all(part.dtype == np.int8 or bool((part == np.rint(part)).all()) for part in (votes, difference))
    lanes = np.zeros((len(X), width if complete else 2 * width), dtype=np.int8 if small else np.float32)
    lanes[:, :n_pairs] = difference
    if not complete:
        lanes[:, width : width + n_pairs] = votes
    return TreeData(
        x=x,
        order=_sorted_codes(x) if sort else None,
        lanes=lanes,
        observed=np.full(len(X), float(n_pairs)) if complete else votes.sum(axis=1, dtype=np.float64),
        categorical=categorical,
        n_labels=k,
        n_pairs=n_pairs,
        width=width,
        complete=complete,
        unit=unit,
        vote_range=vote_range,
    )


def unit_for(largest: float) -> float:
    """The power of two that brings huge or tiny weights near 1, so that their squares are in the range of float32."""
    return 1.0 if 2.0**-20 <= largest <= 2.0**20 else float(2.0 ** -np.round(np.log2(largest)))


def _pairs(y: Any, n_pairs: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """For each row and pair a < b, N_ab - N_ba and N_ab + N_ba; of edges as float64, else as int8."""
    n, k = y.shape
    if isinstance(y, PreferenceGraphs) and y.storage == "edges":
        edges = y.to_edges()
        weight = np.ones(y.n_edges) if y.weight is None else y.weight
        low, high = np.minimum(edges.better, edges.worse), np.maximum(edges.better, edges.worse)
        pair = low * (2 * k - low - 1) // 2 + high - low - 1
        cell = edges.instance * n_pairs + pair
        sign = np.where(edges.better < edges.worse, weight, -weight)
        sums = [np.bincount(cell, weights=w, minlength=n * n_pairs).reshape(n, n_pairs) for w in (sign, weight)]
        return sums[0], sums[1]
    ranks = np.where(y.levels < 0, np.nan, y.levels) if isinstance(y, PreferenceGraphs) else y
    columns = np.ascontiguousarray(ranks.T)  # along rows, a comparison is one pass over neighbouring numbers
    difference = np.empty((n_pairs, n), dtype=np.int8)
    pair = 0
    for a in range(k):
        for b in range(a + 1, k):
            before, behind = columns[a] < columns[b], columns[a] > columns[b]
            np.subtract(before.view(np.int8), behind.view(np.int8), out=difference[pair])
            pair += 1
    return difference.T, np.abs(difference.T)


def _sorted_codes(x: FloatArray) -> npt.NDArray[np.int64]:
    order = np.empty(x.shape, dtype=np.int64)
    for f, values in enumerate(x):
        rows = np.argsort(values)  # equal values share a code, whatever their order
        ordered = values[rows]
        codes = np.zeros(len(rows), dtype=np.int64)
        np.cumsum(ordered[1:] != ordered[:-1], out=codes[1:])
        if np.isnan(ordered[-1:]).any():  # missing values are behind all others
            codes[np.isnan(ordered)] = _MISSING
        codes <<= 32
        np.bitwise_or(codes, rows, out=order[f])
    return order
