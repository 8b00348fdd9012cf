"""Names of labels, and the columns that they stand for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from labelrank._memory import require_memory
from labelrank.supervision.vectors import Labels, all_integers, check_indices, check_size, is_integer, object_array


def check_labels(labels: Any, n_labels: int | None = None) -> Labels:
    """Names of labels as a vector of objects, without repeats and as many as there are labels."""
    if isinstance(labels, (str, bytes)):
        raise TypeError(f"labels must be a sequence of names, got the string {labels!r}")
    if not isinstance(labels, Iterable):
        raise TypeError(f"labels must be a sequence of names, got {labels!r} of type {type(labels).__name__}")
    names = object_array(labels)
    if n_labels is not None and len(names) != n_labels:
        raise ValueError(f"labels has {len(names)} names, but there are {n_labels} labels")
    try:
        different = set(names)
    except TypeError as error:
        raise TypeError(f"labels must hold names, such as texts or numbers; {error}") from error
    if len(different) != len(names):
        raise ValueError(f"labels has repeated names: {names.tolist()}")
    return names


def sorted_names(values: npt.NDArray[Any], name: str) -> Labels:
    """The different names that occur, sorted."""
    try:
        return object_array(sorted(set(values.tolist())))
    except TypeError as error:
        raise TypeError(f"{name} mixes label names that cannot be sorted; pass labels=[...]") from error


def label_columns(
    values: npt.NDArray[Any], labels: Any, n_labels: int | None, name: str
) -> tuple[npt.NDArray[np.intp], Labels | None, int]:
    """Column of each value, the names of all columns (None if they have only numbers), and their number.

    Integers are column indices, unless there are integers among `labels`: then they are names like any other.
    Names without `labels` get their columns in sorted order.
    """
    (columns,), names, size = columns_of_parts({name: values}, labels, n_labels)
    if names is not None and all_integers(values) and not any(map(is_integer, names)):  # columns, or names as numbers?
        column_of = {label: i for i, label in enumerate(names)}
        for column in np.unique(columns).tolist():
            if column_of.get(str(column), column) != column:
                raise ValueError(
                    f"{name} holds {column}, the column of {names[column]!r}, while labels has the text '{column}' "
                    "elsewhere; give both as texts, or both as integers"
                )
    return columns, names, size


def require_matrix(n_rows: int, n_labels: int, n_bytes: int) -> None:
    """Raise MemoryError if a matrix with so many bytes for each row and label is too large."""
    require_memory(
        float(n_bytes) * n_rows * n_labels,
        f"a matrix of {n_rows} rows and {n_labels} labels",
        "integers are columns; if they are names, pass labels=[...]",
    )


def columns_of_parts(
    parts: Mapping[str, npt.NDArray[Any]], labels: Any, n_labels: int | None
) -> tuple[list[npt.NDArray[np.intp]], Labels | None, int]:
    """Columns of several vectors over the same labels, each with its name for an error, and names and number of all."""
    name = " and ".join(parts)
    values = np.concatenate(list(parts.values()))  # integers, or objects when one of the parts holds objects
    n_labels = check_size(n_labels, "n_labels")
    if labels is None and not all_integers(values):
        labels = sorted_names(values, name)
        if n_labels is not None and n_labels != len(labels):
            raise ValueError(
                f"{name} holds {len(labels)} different names, but n_labels={n_labels}; pass labels=[...] to name "
                "them all"
            )
    if labels is None:
        columns = [check_indices(part, n_labels, part_name, "n_labels") for part_name, part in parts.items()]
        largest = max(int(part.max(initial=-1)) for part in columns)
        return columns, None, largest + 1 if n_labels is None else n_labels
    names = check_labels(labels)
    if n_labels is not None and n_labels != len(names):
        raise ValueError(f"n_labels={n_labels} does not fit labels, which has {len(names)} names")
    if all_integers(values) and not any(is_integer(label) for label in names):
        size, what = len(names), "the number of labels"
        return [check_indices(part, size, part_name, what) for part_name, part in parts.items()], names, size
    column_of = {label: i for i, label in enumerate(names)}
    return [_named_columns(part, column_of, part_name) for part_name, part in parts.items()], names, len(names)


def _named_columns(values: npt.NDArray[Any], column_of: dict[Any, int], name: str) -> npt.NDArray[np.intp]:
    try:
        return np.fromiter((column_of[value] for value in values.tolist()), dtype=np.intp, count=len(values))
    except KeyError as error:
        raise ValueError(
            f"{name} names the label {error.args[0]!r}, which is not in labels={list(column_of)}"
        ) from None
