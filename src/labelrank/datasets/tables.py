"""CSV and Parquet files: a column per feature, a column per label."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.utils import Bunch

from labelrank._arrays import FloatArray
from labelrank._compat import validate_params
from labelrank.datasets._bunch import make_bunch, read_from
from labelrank.datasets._checks import COUNT, NOMINAL
from labelrank.datasets._columns import (
    Category,
    Column,
    Nominal,
    column_of_series,
    columns_of_frame,
    features_from_columns,
)
from labelrank.datasets._costs import KIND, UNSOLVED, Kind, Unsolved, ranks_from_values
from labelrank.datasets._csv import read_text_table
from labelrank.datasets._files import MAX_BYTES, DataFile, PathLike, listing, malformed, repeated
from labelrank.datasets._parquet import frame_from_parquet

Columns = str | Sequence[str] | re.Pattern[str]
_OPTIONS = {"kind": KIND, "unsolved": UNSOLVED, "nominal": NOMINAL, "max_categories": COUNT}


@validate_params(**_OPTIONS)
def read_csv(
    path: PathLike,
    *,
    labels: Columns = "rank_",
    kind: Kind = "ranks",
    unsolved: Unsolved | None = None,
    features: Columns | None = None,
    ignore: Columns = (),
    nominal: Nominal = "onehot",
    max_categories: int = 50,
    separator: str = ",",
    null_values: Sequence[str] = ("NA", "?"),
    encoding: str = "utf-8",
    as_frame: bool = False,
    max_bytes: int = MAX_BYTES,
) -> Bunch:
    r"""Read a CSV file with a column per feature and a column per label.

    Parameters
    ----------
    path : str or path-like
        The file, packed if its name ends in ``.gz`` or ``.bz2``. The first line names the columns.
    labels : str, list of str or compiled pattern, default="rank_"
        The label columns. A string is a prefix, which is removed to name the labels (``rank_tea`` is the label
        ``tea``); a list holds column names; a pattern must match the whole column name, and its first group, if it has
        one, names the label.
    kind : {"ranks", "scores", "costs"}, default="ranks"
        Content of the label columns: ranks (smaller is better), which are not changed, scores (larger is better) or
        costs (smaller is better), which are ranked.
    unsolved : {"last", "missing"}, optional
        Meaning of an empty cell of a label column. ``"last"``: the label failed, as a solver that timed out, and is
        tied below the others. ``"missing"``: it was not observed. An empty cell among ranks is not observed; among
        scores, costs and other numbers it is an error unless `unsolved` is given.
    features : str, list of str or compiled pattern, optional
        The feature columns, given like `labels`; by default all other columns. Their names are not shortened.
    ignore : str, list of str or compiled pattern, default=()
        Columns that are not features, such as an identifier.
    nominal : {"onehot", "keep"}, default="onehot"
        Treatment of text features. ``"onehot"``: a column of zeros and ones named ``column=value`` for each value, NaN
        in all of them where the value is missing; a column of numbers with commas (``1,5``) is an error. ``"keep"``: if
        there are text features, ``data`` is a data frame
        (polars, or pandas if polars is not installed), for a :class:`~sklearn.compose.ColumnTransformer`.
    max_categories : int, default=50
        Maximum number of values of a text feature for one-hot encoding. More values raise an error, since they are
        usually free text or identifiers.
    separator : str, default=","
        The character between two values.
    null_values : sequence of str, default=("NA", "?")
        Values that stand for a missing value, besides the empty one.
    encoding : str, default="utf-8"
        Encoding of the file. A byte order mark is ignored.
    as_frame : bool, default=False
        Return ``data`` and ``target`` as data frames with the names as columns (polars, or pandas if polars is not
        installed).
    max_bytes : int, default=2**30
        Limit of the unpacked file and of each matrix that is made of it.

    Returns
    -------
    Bunch
        - ``data``: ndarray of shape (n_samples, n_features), NaN where a value is missing (see `nominal`);
        - ``target``: ndarray of shape (n_samples, n_labels), ranks, NaN where a label was not observed;
        - ``feature_names``, ``label_names``: names of the features and labels;
        - ``DESCR``: description.

    See Also
    --------
    labelrank.PreferenceGraphs.from_pair_table : Files with one column per pair of labels.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from labelrank.datasets import read_csv
    >>> path = pathlib.Path(tempfile.mkdtemp(), "drinks.csv")
    >>> _ = path.write_text("age,sex,rank_tea,rank_beer\n30,f,1,2\n40,m,2,1\n50,m,1,\n")
    >>> drinks = read_csv(path)
    >>> drinks.target
    array([[ 1.,  2.],
           [ 2.,  1.],
           [ 1., nan]])
    >>> drinks.feature_names
    ['age', 'sex=f', 'sex=m']
    """
    with DataFile(path, encoding=encoding, max_bytes=max_bytes) as file:
        table = read_text_table(file, separator=separator, null_values=null_values)
        names = list(table.columns)
        label_columns, label_names = _select_labels(file, names, labels)
        feature_columns = _select_features(file, names, label_columns, features, ignore)
        finite = "a finite number in the label column"
        values = np.column_stack([table.numbers(name, finite=finite) for name in label_columns])
        columns: dict[str, Column] = {}
        for name in feature_columns:
            column = table.numbers_or_texts(name, mixed=nominal == "keep")
            columns[name] = Category(column) if isinstance(column, list) else column
        data, feature_names = features_from_columns(columns, len(table.lines), nominal, max_categories, file=file)
        target = ranks_from_values(file, values, kind, unsolved, label_names, table.lines)
        return _bunch(file, data, feature_names, target, label_names, kind, as_frame)


@validate_params(**_OPTIONS)
def read_parquet(
    path: PathLike,
    *,
    labels: Columns = "rank_",
    kind: Kind = "ranks",
    unsolved: Unsolved | None = None,
    features: Columns | None = None,
    ignore: Columns = (),
    nominal: Nominal = "onehot",
    max_categories: int = 50,
    as_frame: bool = False,
    max_bytes: int = MAX_BYTES,
) -> Bunch:
    """Read a Parquet file with a column per feature and a column per label.

    polars or pyarrow must be installed. They can end the process on a damaged file, so the file is read in a process of
    its own.

    Parameters
    ----------
    path : str or path-like
        The file.
    labels, kind, unsolved, features, ignore, nominal, max_categories, as_frame, max_bytes
        See :func:`read_csv`. The label columns must be numeric.

    Returns
    -------
    Bunch
        See :func:`read_csv`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import polars as pl
    >>> from labelrank.datasets import read_parquet
    >>> path = pathlib.Path(tempfile.mkdtemp(), "drinks.parquet")
    >>> pl.DataFrame({"age": [30, 40], "tea": [9.5, None], "beer": [3.0, 4.0]}).write_parquet(path)
    >>> read_parquet(path, labels=["tea", "beer"], kind="scores", unsolved="missing").target
    array([[ 1.,  2.],
           [nan,  1.]])
    """
    with DataFile(path, max_bytes=max_bytes) as file:
        frame = frame_from_parquet(file)
        label_columns, label_names = _select_labels(file, frame.columns, labels)
        feature_columns = _select_features(file, frame.columns, label_columns, features, ignore)
        values = np.column_stack([_label_values(file, frame[name], kind) for name in label_columns])
        frame = frame.select(feature_columns)
        columns = columns_of_frame(frame)
        data, feature_names = features_from_columns(
            columns, len(values), nominal, max_categories, frame=frame.to_native(), file=file
        )
        target = ranks_from_values(file, values, kind, unsolved, label_names)
        return _bunch(file, data, feature_names, target, label_names, kind, as_frame)


def _label_values(file: DataFile, series: Any, kind: Kind) -> FloatArray:
    column = column_of_series(series)
    if not isinstance(column, np.ndarray) or (kind == "ranks" and series.dtype == nw.Boolean):  # True would be last
        raise malformed(file, None, f"numbers in the label column {series.name!r}", f"the type {series.dtype}")
    if np.isinf(column).any():
        row = int(np.argmax(np.isinf(column)))
        raise malformed(file, None, f"finite numbers in the column {series.name!r}", f"{column[row]} in row {row}")
    if series.dtype.is_integer():
        for row in np.flatnonzero(np.abs(column) >= 2.0**53).tolist():
            if int(series[row]) != int(column[row]):
                expected = f"integers that floats represent exactly in the column {series.name!r}"
                raise malformed(file, None, expected, f"{series[row]} in row {row}")
    return column


def _bunch(
    file: DataFile,
    data: Any,
    feature_names: list[str],
    target: FloatArray,
    label_names: list[str],
    kind: str,
    as_frame: bool,
) -> Bunch:
    descr = f"{read_from(file, len(target), len(feature_names), len(label_names))} Columns of {kind}."
    return make_bunch(data, target, feature_names, label_names, descr, as_frame=as_frame, file=file)


def _select(file: DataFile, columns: list[str], wanted: Columns, argument: str) -> tuple[list[str], list[str]]:
    """The columns that a prefix, a list or a pattern selects, and their short names."""
    if isinstance(wanted, str):
        chosen = [name for name in columns if name.startswith(wanted)]
        return chosen, [name.removeprefix(wanted) for name in chosen]
    if isinstance(wanted, re.Pattern):
        matches = [(name, wanted.fullmatch(name)) for name in columns]
        found = [(name, match) for name, match in matches if match]
        short = [match[1] if match.re.groups and match[1] is not None else name for name, match in found]
        return [name for name, _ in found], short
    if not isinstance(wanted, Iterable):
        raise TypeError(
            f"{argument} must be a prefix, a list of column names or a compiled pattern, got {wanted!r} of type "
            f"{type(wanted).__name__}"
        )
    listed, known = list(wanted), set(columns)
    for name in listed:
        if name not in known:
            raise ValueError(f"{argument} names {name!r}, which is not a column of the file: {listing(columns)}")
    if twice := repeated(listed):
        raise ValueError(f"{argument} names the column {twice[0]!r} twice")
    return listed, listed


def _select_labels(file: DataFile, columns: list[str], labels: Columns) -> tuple[list[str], list[str]]:
    chosen, short = _select(file, columns, labels, "labels")
    if not chosen:
        what = f"starts with {labels!r}" if isinstance(labels, str) else f"is selected by {labels!r}"
        raise ValueError(
            f"there is no label column: none of {listing(columns)} {what}. Pass labels=, a prefix, a "
            "list of column names or a compiled pattern"
        )
    if twice := repeated(short):
        raise ValueError(f"labels gives two columns the same label name {twice[0]!r}")
    return chosen, short


def _select_features(
    file: DataFile, columns: list[str], labels: list[str], features: Columns | None, ignore: Columns
) -> list[str]:
    targets = set(labels)
    ignored = set() if ignore in ("", (), []) else set(_select(file, columns, ignore, "ignore")[0])
    if features is None:
        return [name for name in columns if name not in ignored and name not in targets]
    chosen = _select(file, columns, features, "features")[0]
    both = [name for name in chosen if name in targets]
    if both:
        raise ValueError(f"the column {both[0]!r} is named by features and by labels")
    return [name for name in chosen if name not in ignored]
