"""Sets of relevant labels: 0/1 matrices (dense, sparse, data frames), iterables of sets, and single classes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrank._arrays import is_missing, pointers, row_blocks
from labelrank.supervision.frames import frame_of, label_names
from labelrank.supervision.labels import check_labels, label_columns, require_matrix, sorted_names
from labelrank.supervision.matrices import RANKS, float_matrix, is_number
from labelrank.supervision.vectors import Labels, object_array, vector


def relevance_levels(
    Y: Any, labels: Any = None, n_labels: int | None = None, name: str = "Y"
) -> tuple[npt.NDArray[np.int8], Labels | None]:
    """Levels 0 (relevant), 1 (irrelevant) and -1 (not known), and the names of the labels.

    `n_labels` is for sets of indices, which need not name the last labels; a matrix has its own number.
    """
    names = label_names(Y) if labels is None else check_labels(labels)
    sets = rows_of_sets(Y, name, named=labels is not None)
    if sets is None and not sparse.issparse(Y):
        return _levels_of_dense(Y, name), names
    if sets is not None:
        indicator, names = _indicator_of_sets(sets, names, n_labels, name)
    else:
        indicator = _check_sparse(Y, name)
    require_matrix(*indicator.shape, 1)
    levels = np.ones(indicator.shape, dtype=np.int8)
    rows = np.repeat(np.arange(indicator.shape[0]), np.diff(indicator.indptr))
    levels[rows, indicator.indices] = 0
    return levels, names


def class_levels(y: Any, labels: Any, n_labels: int | None) -> tuple[npt.NDArray[np.int8], Labels | None]:
    """Levels 0 (the class), 1 (the other labels) and -1 (all of them, where the class is not known), and the names."""
    classes = vector(y, "y", missing_ok=True)
    known = np.array([not is_missing(c) for c in classes], dtype=bool)
    if labels is None and n_labels is None:
        labels = sorted_names(classes[known], "y")
    columns, names, n_labels = label_columns(classes[known], labels, n_labels, "y")
    require_matrix(len(classes), n_labels, 1)
    levels = np.ones((len(classes), n_labels), dtype=np.int8)
    levels[np.flatnonzero(known), columns] = 0
    levels[~known] = -1
    return levels, names


def relevance_matrix(Y: Any, labels: Any) -> tuple[sparse.csr_array, Labels | None]:
    """Sparse matrix of the relevant labels, and the names of the labels."""
    names = label_names(Y) if labels is None else check_labels(labels)
    sets = rows_of_sets(Y, "Y", named=labels is not None)
    if sets is not None:
        return _indicator_of_sets(sets, names, None, "Y")
    if sparse.issparse(Y):
        return _check_sparse(Y, "Y"), names
    levels = _levels_of_dense(Y, "Y")
    unknown = (levels < 0).any(axis=1)
    if unknown.any():
        row = int(np.argmax(unknown))
        raise ValueError(f"Y has unknown labels (NaN), first in row {row}; a hierarchy needs 0 or 1 throughout")
    return sparse.csr_array(levels == 0), names


def rows_of_sets(Y: Any, name: str, *, named: bool) -> Sequence[Any] | None:
    """The rows of an iterable of sets (or lists of names), None for a matrix.

    `named` says that the labels have been given names, so that digits in a list are names too.
    """
    if sparse.issparse(Y) or frame_of(Y) is not None or isinstance(Y, (str, bytes)):
        return None
    if hasattr(Y, "__array__"):  # an array or a series; of objects it may hold sets
        Y = np.asarray(Y)
        if Y.ndim != 1 or Y.dtype.kind != "O":
            return None
    elif not isinstance(Y, Iterable):
        return None
    rows = [row.tolist() if isinstance(row, np.ndarray) else row for row in Y]  # a series of polars holds arrays
    for i, row in enumerate(rows):
        if isinstance(row, (str, bytes)):
            raise TypeError(
                f"{name} must hold one set of labels per instance, and row {i} is the string {row!r}; write "
                f"{{{row!r}}}, or use from_multiclass for one class per instance"
            )
    of_sets = any(isinstance(row, (set, frozenset)) for row in rows)
    # Rows of numbers are a matrix, even when they have different lengths: then an error says to pass sets.
    of_names = any(isinstance(item, str) for row in rows if isinstance(row, (list, tuple)) for item in row)
    if not (of_sets or of_names):
        return None
    for i, row in enumerate(rows):
        if not isinstance(row, Collection):
            raise TypeError(
                f"{name} must hold one set of labels per instance, and row {i} is {row!r}; write set() for no label"
            )
    if not of_sets and not named and _look_like_a_matrix(rows):
        raise TypeError(
            f"{name} holds rows of equal length of numbers in quotes (first: {rows[0]!r}); for a matrix of 0 and 1 "
            f"pass np.asarray({name}, dtype=float), for label names pass sets: [set(row) for row in {name}]"
        )
    return rows


def _look_like_a_matrix(rows: Sequence[Any]) -> bool:
    """Whether all rows have the same length and hold nothing but numbers as text."""
    return len({len(row) for row in rows}) == 1 and all(
        isinstance(item, str) and is_number(item) for row in rows for item in row
    )


def _indicator_of_sets(
    sets: Sequence[Any], names: Labels | None, n_labels: int | None, name: str
) -> tuple[sparse.csr_array, Labels | None]:
    items = object_array(item for row in sets for item in row)
    columns, names, n_labels = label_columns(items, names, n_labels, name)
    data = np.ones(len(columns), dtype=bool)
    indicator = sparse.csr_array((data, columns, pointers([len(row) for row in sets])), shape=(len(sets), n_labels))
    indicator.sum_duplicates()
    return indicator, names


def _check_sparse(Y: Any, name: str) -> sparse.csr_array:
    if Y.ndim != 2:
        raise ValueError(f"{name} must be a matrix (n_samples, n_labels), got {Y.ndim} dimension(s)")
    indicator = sparse.csr_array(Y)
    if indicator.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be a matrix of 0 and 1, and holds {indicator.dtype}")
    odd = indicator.data[(indicator.data != 0) & (indicator.data != 1)]
    if odd.size:
        raise ValueError(f"{name} must be a matrix of 0 and 1, and holds {odd[0]}")
    if (indicator.data == 0).any():
        indicator = indicator.copy()  # the arrays may be the caller's
        indicator.eliminate_zeros()
    if not indicator.has_canonical_format:
        indicator = indicator.copy()
        indicator.sum_duplicates()
    return indicator


def _levels_of_dense(Y: Any, name: str) -> npt.NDArray[np.int8]:
    whole_numbers = isinstance(Y, np.ndarray) and Y.ndim == 2 and Y.dtype.kind in "biu"
    if whole_numbers and not isinstance(Y, np.ma.MaskedArray):
        array: npt.NDArray[Any] = Y  # no copy of a large matrix as float
    else:
        advice = replace(
            RANKS,
            ragged=f"for labels as lists of different lengths pass sets: [set(row) for row in {name}]",
            text="for label names pass one set per instance",
            masked="mark a label that is not known with NaN instead: {name}.astype(float).filled(np.nan)",
            infinite="expected 0, 1 or NaN (not known)",
            booleans="",
        )
        array = float_matrix(Y, name, "0 and 1", advice)
    levels = np.empty(array.shape, dtype=np.int8)
    for rows in row_blocks(*array.shape):
        part = array[rows]
        relevant, irrelevant = part == 1, part == 0
        odd = ~(relevant | irrelevant | (part != part))
        if odd.any():
            row, column = np.argwhere(odd)[0]
            raise ValueError(
                f"{name} must be a matrix of 0 and 1 (NaN: not known), and holds {part[row, column]} in row "
                f"{rows.start + row}, column {column}; for a rank matrix use from_rankings, for scores from_scores"
            )
        levels[rows] = np.where(relevant, np.int8(0), np.where(irrelevant, np.int8(1), np.int8(-1)))
    return levels
