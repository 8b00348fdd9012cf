"""Conversion of table columns to matrices of features, and of data frames of any library by narwhals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrank._arrays import FloatArray
from labelrank.datasets._files import DataFile, excerpt, repeated
from labelrank.supervision.frames import installed

Nominal = Literal["onehot", "keep"]
_COLUMN = 2**14  # bytes that a column of a frame costs beyond its entries


class Category(NamedTuple):
    """A column of texts, None where one is missing; `values` are the declared ones, None if there are none."""

    texts: Sequence[str | None]
    values: Sequence[str] | None = None


Column = FloatArray | Category


def features_from_columns(
    columns: Mapping[Any, Column],
    n_samples: int,
    nominal: Nominal,
    max_categories: int,
    *,
    frame: Any = None,
    file: DataFile | None = None,
) -> tuple[Any, list[str]]:
    """The columns as a matrix, or as a frame, and their names.

    Numbers become one column each. A column of texts becomes a column ``name=value`` per value, all of them NaN where
    the text is missing. With ``nominal="keep"`` and a column of texts, the result is `frame`, by default a new one.
    """
    if nominal == "keep" and any(isinstance(column, Category) for column in columns.values()):
        return new_frame(columns) if frame is None else frame, [str(name) for name in columns]
    values = {name: _values(name, column, max_categories) for name, column in columns.items()}
    names: list[str] = []
    for name, listed in values.items():
        names += [str(name)] if listed is None else [f"{name}={value}" for value in listed]
    if file is not None:
        file.require(8 * n_samples * len(names), "the matrix of features")
    data = np.empty((n_samples, len(names)))
    start = 0
    for name, column in columns.items():
        if isinstance(column, Category):
            place = {value: i for i, value in enumerate(values[name] or ())}
            codes = np.array([-1 if text is None else place[text] for text in column.texts], dtype=np.intp)
            data[:, start : start + len(place)] = one_hot(codes, len(place))
            start += len(place)
        else:
            data[:, start] = column
            start += 1
    return data, names


def one_hot(codes: npt.NDArray[np.intp], n_values: int) -> FloatArray:
    """A column of zeros and ones per value; rows of NaN where the code is negative."""
    block = np.zeros((len(codes), n_values))
    known = codes >= 0
    block[np.flatnonzero(known), codes[known]] = 1.0
    block[~known] = np.nan
    return block


def _values(name: Any, column: Column, max_categories: int) -> Sequence[str] | None:
    """The values of a column of texts, None for a column of numbers."""
    if not isinstance(column, Category):
        return None
    if column.values is not None:
        return column.values
    values = sorted({text for text in column.texts if text is not None})
    if len(values) > max_categories:
        raise ValueError(
            f"the feature column {name!r} has {len(values)} different texts, more than max_categories="
            f'{max_categories}. Leave it out (ignore=[{name!r}]), raise max_categories, or pass nominal="keep" and '
            "encode it yourself"
        )
    return values


# ------------------------------------------------------------------------------------------------------------
# Frames
# ------------------------------------------------------------------------------------------------------------


def columns_of_frame(frame: Any) -> dict[Any, Column]:
    """The columns of a narwhals frame, which must hold numbers or texts."""
    columns: dict[Any, Column] = {}
    for series in frame.iter_columns():
        column = column_of_series(series)
        if column is None:
            raise ValueError(
                f"the feature column {series.name!r} holds values of type {series.dtype}; expected numbers, booleans "
                "or text. Leave it out, or convert it first"
            )
        columns[series.name] = column
    return columns


def column_of_series(series: Any) -> Column | None:
    """A column of a narwhals frame as numbers or texts; None if it holds neither."""
    import narwhals as nw

    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        return np.array(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    missing = series.is_null().to_list()
    values = [None if absent else value for value, absent in zip(series.to_list(), missing, strict=True)]
    if series.dtype in (nw.String, nw.Categorical, nw.Enum):
        declared = list(series.dtype.categories) if isinstance(series.dtype, nw.Enum) else None
        return Category([None if value is None else str(value) for value in values], declared)
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, (Real, Decimal)) for value in known):  # objects of pandas
        return np.array([np.nan if value is None else float(value) for value in values])
    return None


def new_frame(columns: Mapping[Any, Column]) -> Any:
    """A polars frame, or a pandas frame where polars is not installed."""
    import narwhals as nw

    lists = {
        name: list(column.texts)
        if isinstance(column, Category)
        else [None if np.isnan(value) else value for value in column.tolist()]
        for name, column in columns.items()
    }
    library = installed(("polars", "pandas"), 'nominal="keep" returns a data frame and')
    return nw.from_dict(lists, backend=library).to_native()


def frame_of_matrix(matrix: Any, names: Iterable[Any], file: DataFile | None = None) -> Any:
    """A polars frame (pandas where polars is not installed) of an array or a sparse matrix; others stay as they are."""
    import narwhals as nw

    if not isinstance(matrix, np.ndarray) and not hasattr(matrix, "toarray"):  # a frame, or graphs, which have names
        return matrix
    if file is not None:
        per_column = matrix.shape[0] * matrix.dtype.itemsize + _COLUMN
        file.require(matrix.shape[1] * per_column, "the dense frame (as_frame)")
    dense = np.asarray(matrix if isinstance(matrix, np.ndarray) else matrix.toarray())
    columns = [str(name) for name in names]
    if twice := repeated(columns):
        raise ValueError(f"as_frame needs columns of different names, and {excerpt(twice[0])} is there twice")
    frame = nw.from_numpy(dense, schema=columns, backend=installed(("polars", "pandas"), "as_frame=True"))
    # polars has null for what is missing; pandas has NaN
    return (frame.with_columns(nw.all().fill_nan(None)) if dense.dtype.kind == "f" else frame).to_native()
