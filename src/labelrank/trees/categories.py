"""Categorical features: which they are, and their values as numbers."""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from labelrank._arrays import BoolArray, is_missing
from labelrank.supervision.frames import frame_of


class CategoriesMixin:
    """Mixin of learners that encode the categories of data frames as numbers."""

    categorical_features: Any
    categories_: npt.NDArray[Any]
    is_categorical_: BoolArray

    def _encode_fit(self, X: Any) -> Any:
        """Learn the categories of a data frame, and encode them."""
        for name in ("categories_", "is_categorical_"):  # a warm start without trees has those of the last fit
            vars(self).pop(name, None)
        frame = None if self.categorical_features is None else frame_of(X)
        if frame is None:
            return X
        self.is_categorical_ = categorical_mask(X, self.categorical_features)
        if not self.is_categorical_.any():
            return X
        self.categories_ = learn_categories(frame, self.is_categorical_)
        return encode(frame, self.categories_)

    def _encode(self, X: Any) -> Any:
        """Encode the categories of a data frame with the numbers learned in `fit`."""
        check_is_fitted(self)
        if not hasattr(self, "categories_"):
            return X
        frame = frame_of(X)
        if frame is None:
            raise ValueError(
                f"{type(self).__name__} was fitted on a data frame with categories; X must be such a frame, got "
                f"{type(X).__name__}"
            )
        return encode(frame, self.categories_)

    def _set_categorical(self, X: Any) -> None:
        """Set which features of X, validated, are categories, if it was not a data frame."""
        if not hasattr(self, "is_categorical_"):
            self.is_categorical_ = categorical_mask(X, self.categorical_features)

    def _check_X(self, X: Any) -> Any:
        return super()._check_X(self._encode(X))  # type: ignore[misc]


@contextmanager
def column_errors(X: Any) -> Iterator[None]:
    """Context in which an error about a column of X that is not numeric names the column, and says what to do."""
    try:
        yield
    except ValueError as error:
        if "could not convert" in str(error) or "Cannot cast" in str(error):
            raise _not_numeric(X, error) from error
        raise


def categorical_mask(X: Any, categorical_features: Any) -> BoolArray:
    """Which columns of X, an array or a data frame, are categories.

    `categorical_features` is a mask, indices, names, or "from_dtype": the columns of a frame with a categorical type.
    """
    frame, n_features = frame_of(X), X.shape[1]
    names = None if frame is None else frame.columns
    mask = np.zeros(n_features, dtype=bool)
    if categorical_features is None:
        return mask
    if isinstance(categorical_features, str):  # "from_dtype"
        if frame is not None:
            mask[:] = [dtype in (nw.Categorical, nw.Enum) for dtype in frame.schema.dtypes()]
        return mask
    chosen = np.asarray(categorical_features, dtype=object).ravel()
    if len(chosen) and all(isinstance(c, bool | np.bool_) for c in chosen):
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


def learn_categories(frame: nw.DataFrame[Any], mask: BoolArray) -> npt.NDArray[Any]:
    """Sorted values of each categorical column, in an object array; None for the other columns."""
    categories = np.empty(len(mask), dtype=object)
    for f in np.flatnonzero(mask):
        values = {v for v in frame.get_column(frame.columns[f]).to_list() if not is_missing(v)}
        categories[f] = np.array(sorted(values, key=lambda v: (str(type(v)), v)), dtype=object)
    return categories


def encode(frame: nw.DataFrame[Any], categories: npt.NDArray[Any]) -> Any:
    """Replace categories by their places among those learned: -1 if a category is new, NaN if it is missing.

    Columns are not checked here; scikit-learn compares them with those of ``fit``.
    """
    columns = []
    for name, known in zip(frame.columns, categories, strict=False):
        if known is not None:
            place = {v: float(i) for i, v in enumerate(known)}
            codes = [np.nan if is_missing(v) else place.get(v, -1.0) for v in frame.get_column(name).to_list()]
            columns.append(nw.new_series(name, codes, nw.Float64, backend=frame.implementation))
    return frame.with_columns(*columns).to_native()


def _not_numeric(X: Any, error: ValueError) -> ValueError:
    frame = frame_of(X)
    if frame is None:
        advice = "if X has categories, pass a data frame and name their columns in categorical_features"
        return ValueError(f"X is not numeric ({error}); {advice}")
    column = next(
        (name for name, dtype in frame.schema.items() if not (dtype.is_numeric() or dtype == nw.Boolean)), None
    )
    return ValueError(
        f"the column {column!r} of X is not numeric ({error}); if it has categories, name it in categorical_features"
    )
