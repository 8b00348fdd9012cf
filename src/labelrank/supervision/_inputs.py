"""Reading what the caller passed: matrices of numbers and vectors, with errors that say what to do instead."""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrank._arrays import is_missing

RankMatrix = npt.NDArray[np.float64]
Labels = npt.NDArray[Any]


def object_array(items: Iterable[Any]) -> npt.NDArray[Any]:
    """A vector of objects; tuples stay tuples."""
    listed = list(items)
    array = np.empty(len(listed), dtype=object)
    for i, item in enumerate(listed):
        array[i] = item
    return array


def label_names(y: Any) -> Labels | None:
    """Column names of a pandas or polars frame, None for anything else.

    Examples
    --------
    >>> import polars as pl
    >>> from labelrank.supervision import label_names
    >>> label_names(pl.DataFrame({"red": [1, 2], "blue": [2, 1]}))
    array(['red', 'blue'], dtype=object)
    """
    columns = getattr(y, "columns", None)
    if columns is None or not hasattr(y, "to_numpy"):
        return None
    return object_array(columns)


def like_input(array: npt.NDArray[Any], y: Any) -> Any:
    """`array` as a frame of the kind of `y` with its columns (and index), or as it is when `y` is no frame."""
    if label_names(y) is None:
        return array
    if hasattr(y, "iloc"):  # pandas
        return type(y)(array, index=y.index, columns=y.columns)
    return type(y)(array, schema=list(y.columns)).fill_nan(None)  # polars says null for what is missing


# ------------------------------------------------------------------------------------------------------------
# Matrices
# ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Advice:
    """What to do about input that is no matrix of numbers; ``{name}`` stands for the argument."""

    ragged: str
    text: str
    sparse: str
    masked: str
    infinite: str
    vector: str = "for one instance pass {name}[np.newaxis, :]"


RANKS = Advice(
    ragged="for ragged lists of labels, best first, use ranks_from_orders",
    text="for label names in order of preference use ranks_from_orders",
    sparse="a rank matrix needs NaN for what was not observed. For an indicator of relevant labels use "
    "PreferenceGraphs.from_multilabel",
    masked="mark unobserved labels with NaN instead: {name}.astype(float).filled(np.nan)",
    infinite="mark a label that was not observed with NaN, and rank a label below all others with the largest rank of "
    "its row plus 1",
    vector="for one instance pass {name}[np.newaxis, :], for a vector of classes use PreferenceGraphs.from_multiclass",
)
SCORES = Advice(
    ragged="give every label of a row a score, NaN for one that is not known",
    text="scores are numbers, larger is better; for label names in order of preference use ranks_from_orders",
    sparse="if 0 is the score that is meant, pass {name}.toarray()",
    masked="mark a score that is not known with NaN instead: {name}.astype(float).filled(np.nan)",
    infinite="use a large finite number for a label that is certainly best or worst, NaN for one that is not known",
)


def float_matrix(y: Any, name: str, what: str, advice: Advice = RANKS) -> RankMatrix:
    """`y` as a C-contiguous, two-dimensional float64 array, nulls as NaN."""
    if isinstance(y, np.ma.MaskedArray):
        raise TypeError(
            f"{name} is a masked array, and scikit-learn drops masks on the way; {advice.masked.format(name=name)}"
        )
    if sparse.issparse(y):
        raise TypeError(
            f"{name} is a sparse matrix, in which an absent entry means 0; {advice.sparse.format(name=name)}"
        )
    if isinstance(y, (str, bytes)):
        raise TypeError(f"{name} must be a matrix of {what}, got the string {y!r}")
    if label_names(y) is not None:
        array = _frame_values(y)
    else:
        try:
            array = np.asarray(y)
        except ValueError as error:
            raise ValueError(
                f"{name} must be a matrix (n_samples, n_labels) with rows of equal length; {advice.ragged}"
            ) from error
    if array.dtype.kind not in "biuf":
        array = _numbers_from_objects(array, name, what, advice.text)
    if array.ndim != 2:
        hint = f"; {advice.vector.format(name=name)}" if array.ndim == 1 else ""
        # "Reshape your data" is the phrase scikit-learn's users look for.
        raise ValueError(
            f"{name} must be a matrix of {what} of shape (n_samples, n_labels), got {array.ndim} dimension(s), "
            f"shape {array.shape}{hint}. Reshape your data"
        )
    return np.ascontiguousarray(array, dtype=np.float64)


def _frame_values(y: Any) -> npt.NDArray[Any]:
    """Values of a data frame, nulls as NaN; columns that are no numbers come as objects."""
    if not hasattr(y, "iloc"):
        return np.asarray(y.to_numpy())
    # pandas: nullable columns need to be told what NA becomes, and text would be parsed if float were asked for.
    are_numbers = all(getattr(dtype, "kind", "O") in "biuf" for dtype in y.dtypes)
    return np.asarray(y.to_numpy(dtype=np.float64 if are_numbers else object, na_value=np.nan))


def _numbers_from_objects(array: npt.NDArray[Any], name: str, what: str, if_not_numbers: str) -> npt.NDArray[Any]:
    if array.dtype.kind == "c":
        raise ValueError(f"{name} must be a matrix of {what}. Complex data not supported")
    odd = array.ravel()[:1].tolist()
    if array.dtype.kind == "O":
        flat = array.ravel().tolist()
        odd = [v for v in flat if not (isinstance(v, (numbers.Real, np.bool_, Decimal)) or is_missing(v))]
        if not odd:
            values = [math.nan if is_missing(v) else float(v) for v in flat]
            return np.array(values, dtype=np.float64).reshape(array.shape)
    value = odd[0] if odd else array.dtype
    raise TypeError(
        f"{name} must be a matrix of {what}, and holds {value!r} of type {type(value).__name__}; {if_not_numbers}"
    )


def refuse_infinity(array: RankMatrix, name: str, advice: str) -> None:
    """An error that names the first infinity, if there is one (NaN is none)."""
    # A sum is finite unless an entry is not (or the sum overflows), and costs one pass without a temporary.
    with np.errstate(invalid="ignore", over="ignore"):
        total = float(np.sum(array))
    if math.isfinite(total):
        return
    positions = np.argwhere(np.isinf(array))
    if len(positions):
        row, column = positions[0].tolist()
        raise ValueError(f"{name} contains infinity, first at row {row}, column {column}; {advice}")


# ------------------------------------------------------------------------------------------------------------
# Vectors
# ------------------------------------------------------------------------------------------------------------


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
    """Whether a value counts as an index: an integer, or a float without fraction; True and False do not."""
    if isinstance(value, (bool, np.bool_)):
        return False
    return isinstance(value, (int, np.integer)) or (
        isinstance(value, (float, np.floating)) and float(value).is_integer()
    )


def all_integers(values: npt.NDArray[Any]) -> bool:
    """Whether a vector could hold indices."""
    return values.dtype.kind in "iu" or all(is_integer(value) for value in values.tolist())


def check_size(value: Any, name: str) -> int | None:
    """A number of labels or instances: an integer from 0, or None."""
    if value is None:
        return None
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be an integer of at least 0, got {value!r} of type {type(value).__name__}")
    if not is_integer(value) or value < 0:
        raise ValueError(f"{name} must be an integer of at least 0, got {value!r}")
    return int(float(value))


def check_indices(values: npt.NDArray[Any], size: int | None, name: str, size_name: str) -> npt.NDArray[np.intp]:
    """A vector of indices from 0, below `size` if that is given."""
    if not all_integers(values):
        odd = next(value for value in values.tolist() if not is_integer(value))
        raise ValueError(f"{name} must hold integers from 0, got {odd!r}")
    indices = values.astype(np.intp)
    negative = indices < 0
    if negative.any():
        at = int(np.argmax(negative))
        raise ValueError(f"{name} holds {indices[at]} in entry {at}; indices start at 0")
    if size is not None and (indices >= size).any():
        at = int(np.argmax(indices >= size))
        raise ValueError(f"{name} holds {indices[at]} in entry {at}, but {size_name}={size}")
    return indices


def row_index(key: Any, n_rows: int) -> slice | npt.NDArray[Any]:
    """An index of rows, as NumPy takes it, that always keeps the axis of the rows."""
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


def stacklevel_of_user() -> int:
    """For ``warnings.warn``: the first frame that is neither ours nor scikit-learn's.

    Decorators and helpers put frames between the user's line and ours that a fixed number does not know of.
    """
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in ("labelrank", "sklearn"):
        level, frame = level + 1, frame.f_back
    return level
