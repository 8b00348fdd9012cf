"""A table of features becomes a matrix of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import polars as pl

Nominal = Literal["onehot", "keep"]

NOMINAL_CHOICES = ("onehot", "keep")


def features_from_frame(
    frame: pl.DataFrame, n_samples: int, nominal: Nominal, max_categories: int
) -> tuple[Any, list[str]]:
    """The columns of a frame as a float matrix (or the frame itself), and their names.

    Numbers and booleans become one column each, nulls NaN. A column of texts becomes a column ``name=value``
    per value that occurs; where the text is null, all of these are NaN. With ``nominal="keep"`` a frame that
    has texts is returned as it is.
    """
    import polars as pl

    for name, dtype in frame.schema.items():
        if not (dtype.is_numeric() or dtype == pl.Boolean or _is_text(dtype)):
            raise ValueError(
                f"the feature column {name!r} holds values of type {dtype}; expected numbers, booleans or "
                "text. Leave it out, or convert it first"
            )
    texts = [name for name, dtype in frame.schema.items() if _is_text(dtype)]
    if texts and nominal == "keep":
        return frame, frame.columns
    columns: list[npt.NDArray[np.float64]] = []
    names: list[str] = []
    for name in frame.columns:
        if name in texts:
            block, values = _one_hot(frame[name], max_categories)
            columns.append(block)
            names.extend(f"{name}={value}" for value in values)
        else:
            columns.append(numbers(frame[name])[:, np.newaxis])
            names.append(name)
    data = np.hstack(columns) if columns else np.empty((n_samples, 0))  # a frame without columns has no height
    return np.ascontiguousarray(data), names


def numbers(column: pl.Series) -> npt.NDArray[np.float64]:
    """A numeric or boolean column as float64, nulls as NaN."""
    import polars as pl

    return np.array(column.cast(pl.Float64).fill_null(float("nan")).to_numpy(), dtype=np.float64)


def _is_text(dtype: Any) -> bool:
    import polars as pl

    return dtype in (pl.String, pl.Categorical, pl.Enum)


def _one_hot(column: pl.Series, max_categories: int) -> tuple[npt.NDArray[np.float64], list[str]]:
    import polars as pl

    if isinstance(column.dtype, pl.Enum):  # a declared set of values, in its declared order
        values = column.dtype.categories.to_list()
    else:
        column = column.cast(pl.String)
        values = sorted(column.drop_nulls().unique().to_list())
        if len(values) > max_categories:
            raise ValueError(
                f"the feature column {column.name!r} has {len(values)} different texts, more than "
                f"max_categories={max_categories}. Leave it out (ignore=[{column.name!r}]), raise "
                'max_categories, or pass nominal="keep" and encode it yourself'
            )
    texts = column.cast(pl.String)
    codes = texts.replace_strict(values, list(range(len(values))), default=None, return_dtype=pl.Int64)
    block = np.zeros((len(column), len(values)))
    known = codes.is_not_null().to_numpy()
    block[np.flatnonzero(known), codes.drop_nulls().to_numpy()] = 1.0
    block[~known] = np.nan
    return block, values
