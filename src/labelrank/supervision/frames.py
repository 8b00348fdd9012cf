"""Data frames of any library, in and out, by narwhals."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
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
    if nw.dependencies.is_polars_lazyframe(y):
        raise TypeError("a LazyFrame has no rows before it is computed; pass the data frame that its collect() returns")
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


def frame_like(X: Any, columns: Mapping[Any, npt.NDArray[Any]], rows: npt.NDArray[np.intp] | None = None) -> Any:
    """A new frame of the library that a frame or series `X` is from, with its index, or the index of some `rows`.

    For anything else it is a frame of polars, or of pandas if polars is not installed.
    """
    source = nw.from_native(X, eager_only=True, allow_series=True, pass_through=True)
    known = isinstance(source, nw.DataFrame | nw.Series)
    backend: Any = (
        source.implementation
        if known
        else nw.Implementation.from_string(installed(("polars", "pandas"), "a data frame of predictions"))
    )
    index = nw.maybe_get_index(source) if known else None
    values: dict[Any, Any] = dict(columns)
    if not backend.is_pandas_like():  # names are text there, and a column has one type
        values = {str(name): list(map(str, c)) if c.dtype == object else c for name, c in columns.items()}
        if len(values) < len(columns):
            raise ValueError(
                f"the labels {list(columns)} are not different as text, which names the columns of a "
                f"{backend.name.lower()} frame; rename one of them"
            )
    frame = nw.from_dict(values, backend=backend).to_native()
    if index is not None:
        frame.index = index if rows is None else index[rows]
    return frame


def installed(libraries: Sequence[str], purpose: str) -> Any:
    """Return the first of some libraries that is installed; an error names the purpose if none is."""
    for name in libraries:
        if importlib.util.find_spec(name) is not None:
            return name
    raise ImportError(f'{purpose} needs {" or ".join(libraries)}; install polars with: pip install "labelrank[cli]"')


def stacked_frames(frame: nw.DataFrame[Any], other: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
    """Rows of a frame, and below them those of another with the same columns in any order."""
    return nw.concat([frame, other.select(nw.col(*frame.columns))], how="vertical")
