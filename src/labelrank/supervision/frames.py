"""Data frames of any library, in and out, by narwhals."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from labelrank.supervision.vectors import Labels, object_array


def frame_of(y: Any) -> nw.DataFrame[Any] | None:
    """Wrap a data frame (pandas, polars, or another library that narwhals supports); None for anything else."""
    if isinstance(y, np.ndarray | list | tuple):
        return None
    if isinstance(y, nw.DataFrame):
        return y
    try:
        frame = nw.from_native(y, eager_only=True, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise ValueError(f"the columns of a data frame must have different names; {error}") from error
    return frame if isinstance(frame, nw.DataFrame) else None


def label_names(y: Any) -> Labels | None:
    """Names of the labels of a data frame (its columns) or of graphs; None if there are none.

    Examples
    --------
    >>> import polars as pl
    >>> from labelrank.supervision import label_names
    >>> label_names(pl.DataFrame({"red": [1, 2], "blue": [2, 1]}))
    array(['red', 'blue'], dtype=object)
    """
    if hasattr(y, "has_names"):  # PreferenceGraphs
        return y.labels if y.has_names else None
    frame = frame_of(y)
    return None if frame is None else object_array(frame.columns)


def like_input(array: npt.NDArray[np.float64], y: Any) -> Any:
    """`array` in the columns of the frame `y`, with its names and index; `array` itself if `y` is no frame."""
    frame = frame_of(y)
    if frame is None:
        return array
    columns = zip(frame.columns, array.T, strict=True)
    series = [nw.new_series(name, column, nw.Float64, backend=frame.implementation) for name, column in columns]
    # polars has null for what is missing; pandas has NaN
    return frame.with_columns(*series).with_columns(nw.all().fill_nan(None)).to_native()
