"""Vectors of names and of indices, and single numbers, checked with errors that say what to do instead."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from labelrank._arrays import is_missing

Labels = npt.NDArray[Any]
_MANY = 2**48  # more rows or columns than any machine holds


def object_array(items: Iterable[Any]) -> npt.NDArray[Any]:
    """Vector of objects, in which tuples stay tuples."""
    listed = list(items)
    array = np.empty(len(listed), dtype=object)
    for i, item in enumerate(listed):
        array[i] = item
    return array


def vector(values: Any, name: str, *, missing_ok: bool = False) -> npt.NDArray[Any]:
    """One-dimensional array: integers as they are, anything else as objects."""
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array; drop the masked entries first: {name}.compressed()")
    if isinstance(values, (str, bytes)):
        raise TypeError(f"{name} must be a sequence, got the string {values!r}")
    try:
        array = np.asarray(values)
    except ValueError as error:  # rows of different lengths
        raise ValueError(f"{name} must be one-dimensional, and some of its entries are sequences") from error
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {array.shape}")
    if array.dtype.kind in "iu":
        return array
    # NumPy turns a list of names and numbers into text; the list itself still has both.
    objects = object_array(values if isinstance(values, (list, tuple)) else array.tolist())
    if not missing_ok:
        for i, value in enumerate(objects):
            if is_missing(value):
                raise ValueError(f"{name} has no value (None, NaN) in entry {i}; drop such entries")
    return objects


def is_integer(value: Any) -> bool:
    """Return whether a value can be an index: an integer, or a float without fraction, but not True or False."""
    if isinstance(value, (bool, np.bool_)):
        return False
    return isinstance(value, (int, np.integer)) or (
        isinstance(value, (float, np.floating)) and float(value).is_integer()
    )


def all_integers(values: npt.NDArray[Any]) -> bool:
    """Return whether a vector can hold indices."""
    return values.dtype.kind in "iu" or all(is_integer(value) for value in values.tolist())


def check_size(value: Any, name: str) -> int | None:
    """Return a number of labels or instances, which must be at least 0; None stays None."""
    if value is None:
        return None
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be an integer of at least 0, got {value!r} of type {type(value).__name__}")
    if not is_integer(value) or value < 0:
        raise ValueError(f"{name} must be an integer of at least 0, got {value!r}")
    if not value < _MANY:
        raise ValueError(f"{name} must be below {_MANY}, got {value!r}")
    return int(float(value))


def check_indices(values: npt.NDArray[Any], size: int | None, name: str, size_name: str) -> npt.NDArray[np.intp]:
    """Return a vector of indices, which must be at least 0, and below `size` if that is given."""
    if not all_integers(values):
        odd = next(value for value in values.tolist() if not is_integer(value))
        raise ValueError(f"{name} must hold integers from 0, got {odd!r}")
    negative, large = (np.asarray(beyond, dtype=bool) for beyond in (values < 0, values >= _MANY))
    if negative.any():
        at = int(np.argmax(negative))
        raise ValueError(f"{name} holds {values[at]} in entry {at}; indices start at 0")
    if large.any():
        at = int(np.argmax(large))
        raise ValueError(f"{name} holds {values[at]} in entry {at}; indices are 0, 1, ... and below {_MANY}")
    indices = values.astype(np.intp)
    if size is not None and (indices >= size).any():
        at = int(np.argmax(indices >= size))
        raise ValueError(f"{name} holds {indices[at]} in entry {at}, but {size_name}={size}")
    return indices


def row_index(key: Any, n_rows: int) -> slice | npt.NDArray[Any]:
    """Index of rows, as NumPy takes it, that always keeps the axis of the rows."""
    if isinstance(key, tuple):  # scikit-learn asks for y[rows, ...]
        rest = key[1:]
        if len(rest) != 1 or not (rest[0] is Ellipsis or (isinstance(rest[0], slice) and rest[0] == slice(None))):
            raise IndexError("PreferenceGraphs take an index of rows only; labels are fixed")
        key = key[0]
    if isinstance(key, slice):
        return key
    if isinstance(key, (int, np.integer)):
        if not -n_rows <= key < n_rows:
            raise IndexError(f"row {key} is out of range for {n_rows} instances")
        return np.array([key])
    rows = np.asarray(key)
    if rows.ndim != 1:
        raise IndexError(f"PreferenceGraphs take one index of rows, got {rows.ndim} dimensions")
    return rows if rows.size else rows.astype(np.intp)  # an empty list has no type of its own
