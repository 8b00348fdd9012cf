"""Categorical features: which they are, and their values as numbers."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import numpy.typing as npt

from labelrank._arrays import is_missing


def categorical_mask(X: Any, categorical_features: Any) -> npt.NDArray[np.bool_]:
    """Which columns of X, an array or a data frame, are categories.

    `categorical_features` is a mask, indices, names, or "from_dtype": the columns of a frame with a categorical type.
    """
    names = column_names(X)
    n_features = X.shape[1]
    mask = np.zeros(n_features, dtype=bool)
    if categorical_features is None:
        return mask
    if isinstance(categorical_features, str):
        if categorical_features != "from_dtype":
            raise ValueError(
                'categorical_features must be None, "from_dtype", or a mask, indices or names of features, got '
                f"{categorical_features!r}"
            )
        if names is not None:
            mask[:] = [str(X[name].dtype).lower().startswith(("category", "categorical", "enum")) for name in names]
        return mask
    chosen = np.asarray(categorical_features, dtype=object).ravel()
    if all(isinstance(c, (bool, np.bool_)) for c in chosen) and len(chosen):
        if len(chosen) != n_features:
            raise ValueError(f"categorical_features is a mask of {len(chosen)} features, but X has {n_features}")
        return chosen.astype(bool)
    for c in chosen:
        if isinstance(c, str):
            if names is None or c not in names:
                raise ValueError(
                    f"categorical_features has the name {c!r}, which is not a column of X; "
                    + ("X has no column names" if names is None else f"it has {names}")
                )
            mask[names.index(c)] = True
        elif isinstance(c, numbers.Integral) and -n_features <= c < n_features:
            mask[int(c)] = True
        else:
            raise ValueError(
                f"categorical_features has the entry {c!r}; expected names or indices of the {n_features} features"
            )
    return mask


def column_names(X: Any) -> list[Any] | None:
    """Names of the columns of a data frame, None for anything else."""
    return list(X.columns) if hasattr(X, "columns") and hasattr(X, "__getitem__") else None


def learn_categories(X: Any, mask: npt.NDArray[np.bool_]) -> npt.NDArray[Any]:
    """The sorted values of each categorical column of a frame, in an object array; None for the other columns."""
    categories = np.empty(len(mask), dtype=object)
    for f, name in enumerate(column_names(X) or []):
        if mask[f]:
            values = {v for v in X[name].to_list() if not is_missing(v)}
            categories[f] = np.array(sorted(values, key=lambda v: (str(type(v)), v)), dtype=object)
    return categories


def encode(X: Any, categories: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """A data frame as numbers: the place of a category among those learned, -1 if it is new, NaN if missing."""
    columns = []
    for name, known in zip(column_names(X) or [], categories, strict=True):
        if known is None:
            try:
                columns.append(np.asarray(X[name].to_numpy(), dtype=np.float64))
            except ValueError as error:
                raise _not_a_number(name, error) from error
            continue
        place = {v: float(i) for i, v in enumerate(known)}
        columns.append(
            np.array([np.nan if is_missing(v) else place.get(v, -1.0) for v in X[name].to_list()], dtype=np.float64)
        )
    return np.column_stack(columns)


def refuse_strings(X: Any) -> None:
    """Say which column of X, a frame or an array, cannot be made numbers, and what to do about it."""
    names = column_names(X)
    if names is None:
        X = np.asarray(X, dtype=object)
    for f in range(X.shape[1] if len(X.shape) == 2 else 0):
        try:
            np.asarray(X[:, f] if names is None else X[names[f]].to_numpy(), dtype=np.float64)
        except ValueError as error:
            raise _not_a_number(f if names is None else names[f], error, framed=names is not None) from error


def _not_a_number(column: Any, error: Exception, *, framed: bool = True) -> ValueError:
    advice = "name it in categorical_features" if framed else "pass a data frame and name it in categorical_features"
    return ValueError(f"the column {column!r} of X is not numeric ({error}); if it has categories, {advice}")
