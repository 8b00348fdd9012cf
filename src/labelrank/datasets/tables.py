"""CSV and Parquet files: a column per feature, a column per label."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.utils import Bunch

from labelrank.datasets._bunch import make_bunch, read_from
from labelrank.datasets._checks import check_choice, check_count
from labelrank.datasets._csv import line_of_record, numeric_column, read_text_columns
from labelrank.datasets._features import NOMINAL_CHOICES, Nominal, features_from_frame, numbers
from labelrank.datasets._files import PathLike, malformed
from labelrank.datasets._utilities import Matrix
from labelrank.supervision import ranks_from_scores

if TYPE_CHECKING:
    import polars as pl

Columns = str | Sequence[str] | re.Pattern[str]


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
        The file; one that ends in ``.gz`` is unpacked. Its first line names the columns.
    labels : str, list of str or compiled pattern, default="rank_"
        The label columns. A text is a prefix, which is cut off to name the labels (``rank_tea`` is the label
        ``tea``); a list holds column names; a pattern must match the whole column name, and its first group,
        if it has one, names the label.
    kind : {"ranks", "scores"}, default="ranks"
        What the label columns hold: ranks, smaller is better, taken as they are; or scores, larger is better.
    features : str, list of str or compiled pattern, optional
        The feature columns, given in the same way (names are kept whole); by default all others.
    ignore : str, list of str or compiled pattern, default=()
        Columns that are not features, such as an identifier.
    nominal : {"onehot", "keep"}, default="onehot"
        What to do with features that are texts. ``"onehot"``: a column of zeros and ones named
        ``column=value`` for each value, NaN in all of them where the value is missing. ``"keep"``: when there
        are such features, ``data`` is a polars frame, for a :class:`~sklearn.compose.ColumnTransformer`.
    max_categories : int, default=50
        The most values a text feature may have to be one-hot encoded; free text or an identifier is an error.
    separator : str, default=","
        The character between two values.
    null_values : sequence of str, default=("NA", "?")
        Texts that mean a missing value, besides the empty one.
    encoding : str, default="utf-8"
        The encoding of the file. A byte order mark is ignored.

    Returns
    -------
    Bunch
        - ``data``: ndarray of shape (n_samples, n_features), NaN where a value is missing (see `nominal`);
        - ``target``: ndarray of shape (n_samples, n_labels), ranks, NaN where a label was not observed;
        - ``feature_names``, ``label_names``: names;
        - ``DESCR``: where it comes from.

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
    _check_options(kind, nominal, max_categories)
    texts = read_text_columns(path, separator=separator, null_values=null_values, encoding=encoding)
    label_columns, label_names = _select_labels(path, texts.columns, labels)
    feature_columns = _select_features(path, texts.columns, label_columns, features, ignore)

    def where(record: int) -> int:
        return line_of_record(path, record, separator=separator, encoding=encoding)

    values = np.column_stack([numeric_column(path, texts[name], where) for name in label_columns])
    typed = texts.select(feature_columns).with_columns(
        [_number_or_text(path, texts[name], where, nominal) for name in feature_columns]
    )
    return _table_bunch(path, typed, values, label_names, kind, nominal, max_categories, where, label_columns)


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

    Parameters
    ----------
    path : str or path-like
        The file.
    labels : str, list of str or compiled pattern, default="rank_"
        The label columns, which must be numeric. A text is a prefix, which is cut off to name the labels; a
        list holds column names; a pattern must match the whole column name, and its first group, if it has
        one, names the label.
    kind : {"ranks", "scores"}, default="ranks"
        What the label columns hold: ranks, smaller is better, taken as they are; or scores, larger is better.
    features : str, list of str or compiled pattern, optional
        The feature columns, given in the same way; by default all others.
    ignore : str, list of str or compiled pattern, default=()
        Columns that are not features, such as an identifier.
    nominal : {"onehot", "keep"}, default="onehot"
        What to do with features that are texts; see :func:`read_csv`.
    max_categories : int, default=50
        The most values a text feature may have to be one-hot encoded.

    Returns
    -------
    Bunch
        The same as :func:`read_csv` returns.

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
    import polars as pl

    _check_options(kind, nominal, max_categories)
    with open(path, "rb") as file:
        try:
            frame = pl.read_parquet(file)
        except pl.exceptions.PolarsError as error:
            raise malformed(path, None, "a Parquet file", f"something else ({error})") from error
    label_columns, label_names = _select_labels(path, frame.columns, labels)
    feature_columns = _select_features(path, frame.columns, label_columns, features, ignore)
    for name in label_columns:
        if not (frame[name].dtype.is_numeric() or frame[name].dtype == pl.Boolean):
            raise malformed(path, None, f"numbers in the label column {name!r}", f"the type {frame[name].dtype}")
    values = np.column_stack([numbers(frame[name]) for name in label_columns])
    typed = frame.select(feature_columns)
    return _table_bunch(path, typed, values, label_names, kind, nominal, max_categories, None, label_columns)


def _check_options(kind: Any, nominal: Any, max_categories: Any) -> None:
    check_choice("kind", kind, ("ranks", "scores"))
    check_choice("nominal", nominal, NOMINAL_CHOICES)
    check_count("max_categories", max_categories)


def _table_bunch(
    path: PathLike,
    features: pl.DataFrame,
    values: Matrix,
    label_names: list[str],
    kind: str,
    nominal: Nominal,
    max_categories: int,
    where: Callable[[int], int] | None,
    label_columns: list[str],
) -> Bunch:
    infinite = np.argwhere(np.isinf(values))
    if len(infinite):
        row, column = infinite[0].tolist()
        place = f"the label column {label_columns[column]!r}"
        if where is None:
            raise malformed(path, None, f"finite numbers in {place}", f"{values[row, column]} in row {row}")
        raise malformed(path, where(row), f"a finite number in {place}", str(values[row, column]))
    try:
        data, feature_names = features_from_frame(features, len(values), nominal, max_categories)
    except ValueError as error:
        raise ValueError(f"{Path(path).name}: {error}") from error
    target = ranks_from_scores(values) if kind == "scores" else values
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


def _number_or_text(path: PathLike, texts: pl.Series, where: Callable[[int], int], nominal: Nominal) -> pl.Series:
    """A column of numbers when all its texts are numbers, of texts when none is; a mixture is an error."""
    import polars as pl

    values = texts.cast(pl.Float64, strict=False)
    bad = texts.is_not_null() & values.is_null()
    if not bad.any():
        return values
    n_bad, n_known = int(bad.sum()), len(texts) - texts.null_count()
    if n_bad < n_known and nominal != "keep":
        record = int(bad.arg_max() or 0)
        raise malformed(
            path,
            where(record),
            f"a number in the column {texts.name!r}, as in {n_known - n_bad} of its {n_known} values",
            f'{texts[record]!r}; pass it in null_values if it means a missing value, or pass nominal="keep"',
        )
    return texts
