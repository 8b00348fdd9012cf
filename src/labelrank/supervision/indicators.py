"""Sets of relevant labels: 0/1 matrices (dense, sparse, data frames) and iterables of sets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrank.supervision._inputs import Labels, float_matrix, label_names, object_array, refuse_infinity
from labelrank.supervision._labels import check_labels, label_columns
from labelrank.supervision.levels import row_blocks


def relevance_levels(Y: Any, labels: Any) -> tuple[npt.NDArray[np.int8], Labels | None]:
    """Levels 0 (relevant), 1 (irrelevant) and -1 (not known), and the names of the labels."""
    names = label_names(Y) if labels is None else check_labels(labels)
    sets = _rows_of_sets(Y)
    if sets is None and not sparse.issparse(Y):
        return _levels_of_dense(Y), names
    indicator, names = _indicator_of_sets(sets, names) if sets is not None else (_check_sparse(Y), names)
    levels = np.ones(indicator.shape, dtype=np.int8)
    rows = np.repeat(np.arange(indicator.shape[0]), np.diff(indicator.indptr))
    levels[rows, indicator.indices] = 0
    return levels, names


def relevance_matrix(Y: Any, labels: Any) -> tuple[sparse.csr_array, Labels | None]:
    """Sparse matrix of the relevant labels, and the names of the labels."""
    names = label_names(Y) if labels is None else check_labels(labels)
    sets = _rows_of_sets(Y)
    if sets is not None:
        return _indicator_of_sets(sets, names)
    if sparse.issparse(Y):
        return _check_sparse(Y), names
    levels = _levels_of_dense(Y)
    unknown = (levels < 0).any(axis=1)
    if unknown.any():
        row = int(np.argmax(unknown))
        raise ValueError(f"Y has unknown labels (NaN), first in row {row}; a hierarchy needs 0 or 1 throughout")
    return sparse.csr_array(levels == 0), names


def _rows_of_sets(Y: Any) -> Sequence[Any] | None:
    """The rows of an iterable of sets (or lists of names), None for a matrix."""
    if sparse.issparse(Y) or label_names(Y) is not None or isinstance(Y, (str, bytes)):
        return None
    if hasattr(Y, "__array__"):  # an array or a series; of objects it may hold sets
        Y = np.asarray(Y)
        if Y.ndim != 1 or Y.dtype.kind != "O":
            return None
    elif not isinstance(Y, Iterable):
        return None
    rows = list(Y)
    for i, row in enumerate(rows):
        if isinstance(row, (str, bytes)):
            raise TypeError(
                f"Y must hold one set of labels per instance, and row {i} is the string {row!r}; write {{{row!r}}}, or "
                "use from_multiclass for one class per instance"
            )
    of_sets = any(isinstance(row, (set, frozenset)) for row in rows)
    # Rows of numbers are a matrix, even when they have different lengths: then an error says to pass sets.
    of_names = any(isinstance(item, str) for row in rows if isinstance(row, (list, tuple)) for item in row)
    return rows if of_sets or of_names else None


def _indicator_of_sets(sets: Sequence[Any], names: Labels | None) -> tuple[sparse.csr_array, Labels | None]:
    items = object_array(item for row in sets for item in row)
    columns, names, n_labels = label_columns(items, names, None, "Y")
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in sets])])
    data = np.ones(len(columns), dtype=bool)
    indicator = sparse.csr_array((data, columns, indptr), shape=(len(sets), n_labels))
    indicator.sum_duplicates()
    return indicator, names


def _check_sparse(Y: Any) -> sparse.csr_array:
    if Y.ndim != 2:
        raise ValueError(f"Y must be a matrix (n_samples, n_labels), got {Y.ndim} dimension(s)")
    indicator = sparse.csr_array(Y)
    if indicator.dtype.kind not in "biuf":
        raise ValueError(f"Y must be a matrix of 0 and 1, and holds {indicator.dtype}")
    odd = indicator.data[(indicator.data != 0) & (indicator.data != 1)]
    if odd.size:
        raise ValueError(f"Y must be a matrix of 0 and 1, and holds {odd[0]}")
    if (indicator.data == 0).any():
        indicator = indicator.copy()  # the arrays may be the caller's
        indicator.eliminate_zeros()
    if not indicator.has_canonical_format:
        indicator = indicator.copy()
        indicator.sum_duplicates()
    return indicator


def _levels_of_dense(Y: Any) -> npt.NDArray[np.int8]:
    whole_numbers = isinstance(Y, np.ndarray) and Y.ndim == 2 and Y.dtype.kind in "biu"
    if whole_numbers and not isinstance(Y, np.ma.MaskedArray):
        array: npt.NDArray[Any] = Y  # no copy of a large matrix as float
    else:
        array = float_matrix(
            Y,
            "Y",
            "0 and 1",
            if_ragged="for labels as lists of different lengths pass sets: [set(row) for row in Y]",
            if_not_numbers="for label names pass one set per instance",
        )
        refuse_infinity(array, "Y", "expected 0, 1 or NaN (not known)")
    levels = np.empty(array.shape, dtype=np.int8)
    for rows in row_blocks(*array.shape):
        part = array[rows]
        relevant, irrelevant = part == 1, part == 0
        odd = ~(relevant | irrelevant | (part != part))
        if odd.any():
            row, column = np.argwhere(odd)[0]
            raise ValueError(
                f"Y must be a matrix of 0 and 1 (NaN: not known), and holds {part[row, column]} in row "
                f"{rows.start + row}, column {column}; for a rank matrix use from_rankings, for scores from_scores"
            )
        levels[rows] = np.where(relevant, np.int8(0), np.where(irrelevant, np.int8(1), np.int8(-1)))
    return levels
