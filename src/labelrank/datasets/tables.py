"""CSV and Parquet files: a column per feature, a column per label."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np
from sklearn.utils import Bunch

from labelrank._arrays import FloatArray
from labelrank._compat import StrOptions, validate_params
from labelrank.datasets._bunch import make_bunch, read_from
from labelrank.datasets._checks import COUNT, NOMINAL
from labelrank.datasets._columns import (
    Category,
    Column,
    Nominal,
    column_of_series,
    columns_of_frame,
    features_from_columns,
    installed,
)
from labelrank.datasets._csv import read_text_table
from labelrank.datasets._files import PathLike, malformed
from labelrank.supervision import ranks_from_scores

Columns = str | Sequence[str] | re.Pattern[str]
_OPTIONS = {"kind": [StrOptions({"ranks", "scores"})], "nominal": NOMINAL, "max_categories": COUNT}


@validate_params(**_OPTIONS)
def read_csv(
    path: PathLike,
    *,
    labels: Columns = "rank_",
    kind: Literal["ranks", "scores"] = "ranks",
    features: Columns | None = None,
    ignore: Columns = (),
    nominal: Nominal = "onehot",
    max_categories: int = 50,
    separator: str = ",",
    null_values: Sequence[str] = ("NA", "?"),
    encoding: str = "utf-8",
) -> Bunch:
    r"""Read a CSV file with a column per feature and a column per label.

    Parameters
    ----------
    path : str or path-like
        The file, packed by gzip if its name ends in ``.gz``. The first line names the columns.
    labels : str, list of str or compiled pattern, default="rank_"
        The label columns. A string is a prefix, which is removed to name the labels (``rank_tea`` is the label
        ``tea``); a list holds column names; a pattern must match the whole column name, and its first group, if it has
        one, names the label.
    kind : {"ranks", "scores"}, default="ranks"
        Content of the label columns: ranks (smaller is better), which are not changed, or scores (larger is better).
    features : str, list of str or compiled pattern, optional
        The feature columns, given like `labels`; by default all other columns. Their names are not shortened.
    ignore : str, list of str or compiled pattern, default=()
        Columns that are not features, such as an identifier.
    nominal : {"onehot", "keep"}, default="onehot"
        Treatment of text features. ``"onehot"``: a column of zeros and ones named ``column=value`` for each value, NaN
        in all of them where the value is missing. ``"keep"``: if there are text features, ``data`` is a data frame
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
    table = read_text_table(path, separator=separator, null_values=null_values, encoding=encoding)
    names = list(table.columns)
    label_columns, label_names = _select_labels(path, names, labels)
    feature_columns = _select_features(path, names, label_columns, features, ignore)
    values = [table.numbers(name, finite="a finite number in the label column") for name in label_columns]
    columns: dict[str, Column] = {}
    for name in feature_columns:
        column = table.numbers_or_texts(name, mixed=nominal == "keep")
        columns[name] = Category(column) if isinstance(column, list) else column
    with _file_in_errors(path):
        data, feature_names = features_from_columns(columns, len(table.lines), nominal, max_categories)
    return _bunch(path, data, feature_names, values, label_names, kind)


@validate_params(**_OPTIONS)
def read_parquet(
    path: PathLike,
    *,
    labels: Columns = "rank_",
    kind: Literal["ranks", "scores"] = "ranks",
    features: Columns | None = None,
    ignore: Columns = (),
    nominal: Nominal = "onehot",
    max_categories: int = 50,
) -> Bunch:
    """Read a Parquet file with a column per feature and a column per label.

    One of polars, pyarrow and pandas must be installed.

    Parameters
    ----------
    path : str or path-like
        The file.
    labels, kind, features, ignore, nominal, max_categories
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
    >>> read_parquet(path, labels=["tea", "beer"], kind="scores").target
    array([[ 1.,  2.],
           [nan,  1.]])
    """
    frame = _read_parquet(path)
    label_columns, label_names = _select_labels(path, frame.columns, labels)
    feature_columns = _select_features(path, frame.columns, label_columns, features, ignore)
    values = []
    for name in label_columns:
        column = column_of_series(frame[name])
        if not isinstance(column, np.ndarray):
            raise malformed(path, None, f"numbers in the label column {name!r}", f"the type {frame[name].dtype}")
        if np.isinf(column).any():
            row = int(np.argmax(np.isinf(column)))
            raise malformed(path, None, f"finite numbers in the column {name!r}", f"{column[row]} in row {row}")
        values.append(column)
    frame = frame.select(feature_columns)
    with _file_in_errors(path):
        columns = columns_of_frame(frame)
        data, feature_names = features_from_columns(columns, len(values[0]), nominal, max_categories, frame.to_native())
    return _bunch(path, data, feature_names, values, label_names, kind)


def _read_parquet(path: PathLike) -> Any:
    import narwhals as nw

    library = installed(("polars", "pyarrow", "pandas"), "read_parquet")
    with open(path, "rb") as file:
        try:
            return nw.read_parquet(file, backend=library)
        except ImportError:
            raise
        except Exception as error:  # every library has its own
            raise malformed(path, None, "a Parquet file", f"something else ({error})") from error


@contextmanager
def _file_in_errors(path: PathLike) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{Path(path).name}: {error}") from error


def _bunch(
    path: PathLike, data: Any, feature_names: list[str], values: list[FloatArray], label_names: list[str], kind: str
) -> Bunch:
    ranks = np.column_stack(values)
    target = ranks_from_scores(ranks) if kind == "scores" else ranks
    descr = f"{read_from(path, len(target), len(feature_names), len(label_names))} Columns of {kind}."
    return make_bunch(data, target, feature_names, label_names, descr)


def _select(path: PathLike, columns: list[str], wanted: Columns, argument: str) -> tuple[list[str], list[str]]:
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
    listed = list(wanted)
    for name in listed:
        if name not in columns:
            raise ValueError(f"{argument} names {name!r}, which is not a column of {Path(path).name}: {columns}")
    if len(set(listed)) < len(listed):
        raise ValueError(f"{argument} names a column twice: {listed}")
    return listed, listed


def _select_labels(path: PathLike, columns: list[str], labels: Columns) -> tuple[list[str], list[str]]:
    chosen, short = _select(path, columns, labels, "labels")
    if not chosen:
        what = f"starts with {labels!r}" if isinstance(labels, str) else f"is selected by {labels!r}"
        raise ValueError(
            f"{Path(path).name} has no label column: none of {columns} {what}. Pass labels=, a prefix, a "
            "list of column names or a compiled pattern"
        )
    if len(set(short)) < len(short):
        raise ValueError(f"labels gives two columns the same label name: {short}")
    return chosen, short


def _select_features(
    path: PathLike, columns: list[str], labels: list[str], features: Columns | None, ignore: Columns
) -> list[str]:
    ignored = set() if ignore in ("", (), []) else set(_select(path, columns, ignore, "ignore")[0])
    if features is None:
        return [name for name in columns if name not in ignored and name not in labels]
    chosen = _select(path, columns, features, "features")[0]
    both = [name for name in chosen if name in labels]
    if both:
        raise ValueError(f"the column {both[0]!r} is named by features and by labels")
    return [name for name in chosen if name not in ignored]
