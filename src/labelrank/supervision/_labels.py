"""Names of labels, and the columns that they stand for."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from labelrank.supervision._inputs import Labels, all_integers, check_indices, is_integer, object_array


def check_labels(labels: Any, n_labels: int | None = None) -> Labels:
    """Names of labels as a vector of objects, without repeats and as many as there are labels."""
    if isinstance(labels, (str, bytes)):
        raise TypeError(f"labels must be a sequence of names, got the string {labels!r}")
    names = object_array(labels)
    if n_labels is not None and len(names) != n_labels:
        raise ValueError(f"labels has {len(names)} names, but there are {n_labels} labels")
    if len(set(names)) != len(names):
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
    """Column of each value, the names of all columns (None when they are just numbered), and their number.

    Integers are column indices, unless there are integers among `labels`: then they are names like any other.
    Names without `labels` get their columns in sorted order.
    """
    if labels is None and not all_integers(values):
        labels = sorted_names(values, name)
        if n_labels is not None and n_labels != len(labels):
            raise ValueError(
                f"{name} holds {len(labels)} different names, but n_labels={n_labels}; pass labels=[...] to name "
                "them all"
            )
    if labels is None:
        columns = check_indices(values, n_labels, name, "n_labels")
        return columns, None, int(columns.max(initial=-1)) + 1 if n_labels is None else int(n_labels)
    names = check_labels(labels)
    if n_labels is not None and n_labels != len(names):
        raise ValueError(f"n_labels={n_labels} does not fit labels, which has {len(names)} names")
    if all_integers(values) and not any(is_integer(label) for label in names):
        return check_indices(values, len(names), name, "the number of labels"), names, len(names)
    column_of = {label: i for i, label in enumerate(names)}
    try:
        columns = np.fromiter((column_of[value] for value in values.tolist()), dtype=np.intp, count=len(values))
    except KeyError as error:
        raise ValueError(f"{name} names the label {error.args[0]!r}, which is not in labels={names.tolist()}") from None
    return columns, names, len(names)
