"""Matrices of numbers, checked with errors that say what to do instead."""

from __future__ import annotations

import math
import numbers
from collections.abc import Set
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrank._arrays import FloatArray, is_missing
from labelrank.supervision.frames import frame_of

_EXACT = 2**53  # the largest integer up to which floats tell all of them apart


@dataclass(frozen=True)
class Advice:
    """Advice in errors about input that is no matrix of numbers; ``{name}`` stands for the argument."""

    ragged: str
    text: str
    sparse: str
    masked: str
    infinite: str
    vector: str = "for one instance pass {name}[np.newaxis, :]"
    booleans: str = ""  # which are refused; without it they are 0 and 1
    sets: str = ""  # of labels, one per instance; without it, `text`
    classes: str = ""  # names, one per instance; without it, `text`


RANKS = Advice(
    ragged="for ragged lists of labels, best first, use ranks_from_orders; for lists of relevant labels use "
    "PreferenceGraphs.from_multilabel",
    text="for label names in order of preference use ranks_from_orders",
    sparse="a rank matrix needs NaN for what was not observed. For an indicator of relevant labels use "
    "PreferenceGraphs.from_multilabel",
    masked="mark unobserved labels with NaN instead: {name}.astype(float).filled(np.nan)",
    infinite="mark a label that was not observed with NaN, and rank a label below all others with the largest rank of "
    "its row plus 1",
    vector="for one instance pass {name}[np.newaxis, :], for a vector of classes use PreferenceGraphs.from_multiclass",
    booleans="of which the smaller one, False, would be the better rank; for relevant labels use "
    "PreferenceGraphs.from_multilabel, for ranks pass {name}.astype(int)",
    sets="for sets of relevant labels use PreferenceGraphs.from_multilabel",
    classes="for one class per instance use PreferenceGraphs.from_multiclass",
)
SCORES = Advice(
    ragged="give every label of a row a score, NaN for one that is not known",
    text="scores are numbers, larger is better; for label names in order of preference use ranks_from_orders",
    sparse="pass {name}.toarray() if entries that are not stored have score 0",
    masked="mark a score that is not known with NaN instead: {name}.astype(float).filled(np.nan)",
    infinite="use a large finite number for a label that is certainly best or worst, NaN for one that is not known",
)


def float_matrix(y: Any, name: str, what: str, advice: Advice = RANKS) -> FloatArray:
    """`y` as a C-contiguous, two-dimensional float64 array of finite numbers, with NaN for what is missing."""
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
    frame = frame_of(y)
    if frame is not None and nw.Boolean in frame.schema.dtypes():
        _refuse_booleans(name, what, advice)
    try:
        array = np.asarray(y) if frame is None else frame.to_numpy()
    except ValueError as error:
        raise ValueError(
            f"{name} must be a matrix (n_samples, n_labels) with rows of equal length; {advice.ragged}"
        ) from error
    if array.dtype.kind == "b":
        _refuse_booleans(name, what, advice)
    if array.dtype.kind not in "biuf":
        array = _numbers_from_objects(array, name, what, advice)
    elif array.dtype.kind in "iu" and array.size and (array.max() > _EXACT or array.min() < -_EXACT):
        _refuse_rounding(name, int(array.max() if array.max() > _EXACT else array.min()))
    elif array.dtype.kind == "f" and array.ndim == 2 and not isinstance(y, np.ndarray):
        _refuse_rounded(y, frame, array, name)
    if array.ndim != 2:
        hint = f"; {advice.vector.format(name=name)}" if array.ndim == 1 else ""
        # "Reshape your data" is the phrase of scikit-learn.
        raise ValueError(
            f"{name} must be a matrix of {what} of shape (n_samples, n_labels), got {array.ndim} dimension(s), "
            f"shape {array.shape}{hint}. Reshape your data"
        )
    array = np.ascontiguousarray(array, dtype=np.float64)
    _refuse_infinity(array, name, advice.infinite)
    return array


def _numbers_from_objects(array: npt.NDArray[Any], name: str, what: str, advice: Advice) -> FloatArray:
    if array.dtype.kind == "c":
        raise ValueError(f"{name} must be a matrix of {what}. Complex data not supported")
    odd = flat = array.ravel().tolist()
    if array.dtype.kind == "O":
        odd = [v for v in flat if not (isinstance(v, (numbers.Real, np.bool_, Decimal)) or is_missing(v))]
        if any(isinstance(v, (bool, np.bool_)) for v in flat):
            _refuse_booleans(name, what, advice)
        if not odd:
            large = next((v for v in flat if isinstance(v, numbers.Integral) and abs(int(v)) > _EXACT), None)
            if large is not None:
                _refuse_rounding(name, int(large))
            values = [math.nan if is_missing(v) else float(v) for v in flat]
            return np.array(values, dtype=np.float64).reshape(array.shape)
    value = odd[0] if odd else array.dtype
    if isinstance(value, Set):
        hint = advice.sets or advice.text
    elif array.ndim == 1:
        hint = advice.classes or advice.text
    elif any(isinstance(v, str) and is_number(v) for v in odd):
        hint = f"numbers in quotes are text, which np.asarray({name}, dtype=float) turns into numbers; {advice.text}"
    else:
        hint = advice.text
    raise TypeError(f"{name} must be a matrix of {what}, and holds {value!r} of type {type(value).__name__}; {hint}")


def _refuse_booleans(name: str, what: str, advice: Advice) -> None:
    if advice.booleans:
        raise TypeError(f"{name} must be a matrix of {what}, and holds booleans, {advice.booleans.format(name=name)}")


def _refuse_rounded(y: Any, frame: nw.DataFrame[Any] | None, array: npt.NDArray[Any], name: str) -> None:
    """Raise for large integers that became floats because other entries are missing or are no integers."""
    least, most = (reduce(array, axis=0, initial=0.0) for reduce in (np.fmin.reduce, np.fmax.reduce))
    columns = np.flatnonzero(np.maximum(-least, most) >= _EXACT).tolist()
    if not columns:
        return
    if frame is None:
        values = np.asarray(y, dtype=object)[:, columns].ravel().tolist()
    else:
        series = (frame.get_column(frame.columns[column]) for column in columns)
        values = [value for s in series if s.dtype.is_integer() for value in s.to_list()]
    for value in values:
        if isinstance(value, numbers.Integral) and abs(int(value)) > _EXACT:
            _refuse_rounding(name, int(value))


def _refuse_rounding(name: str, value: int) -> None:
    found = str(value) if abs(value) < 10**30 else f"an integer of {value.bit_length()} bits"
    raise ValueError(
        f"{name} holds {found}, but floats represent integers exactly up to 2**53 only; subtract a constant from "
        "each row, or divide"
    )


def is_number(text: str) -> bool:
    """Return whether text can be read as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _refuse_infinity(array: FloatArray, name: str, advice: str) -> None:
    # A sum is finite unless an entry is not (or the sum overflows), and costs one pass without a temporary.
    with np.errstate(invalid="ignore", over="ignore"):
        total = float(np.sum(array))
    if math.isfinite(total):
        return
    positions = np.argwhere(np.isinf(array))
    if len(positions):
        row, column = positions[0].tolist()
        raise ValueError(f"{name} contains infinity, first at row {row}, column {column}; {advice}")
