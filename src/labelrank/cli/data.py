"""Read the data of a command: a built-in data set, a file, or a folder."""

from __future__ import annotations

import codecs
import difflib
import hashlib
import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy import sparse

from labelrank import datasets
from labelrank.auto.preprocessing import column_kinds
from labelrank.cli.columns import NoSuchColumn, missing_columns, select
from labelrank.cli.streams import printable
from labelrank.cli.tables import NUMBER, TABLES, TEXT, Table, read_tables, table_suffix
from labelrank.cli.target import look_like_labels, resolve, target_of
from labelrank.datasets._columns import frame_of_matrix
from labelrank.datasets._files import MAX_BYTES, DataFile, DataFileError, excerpt, listing
from labelrank.supervision import PreferenceGraphs, as_graphs, label_names

_FEW_CATEGORIES = 10  # up to which categories may begin with numbers, such as age groups
ARFF, PREFLIB, SVMLIGHT = (".xarff", ".arff"), (".soc", ".soi", ".toc", ".toi"), (".svm", ".svmlight", ".libsvm")


@dataclass(frozen=True)
class Problem:
    """Instances, their observed rankings, and the options they were read with."""

    name: str
    data: Any  # a frame with columns of numbers and texts, an array or a sparse matrix
    target: Any
    options: dict[str, Any] = field(default_factory=dict)  # of `read_data`, for files of the same kind
    like_labels: list[str] = field(default_factory=list)  # features with names like those of labels

    @property
    def shape(self) -> dict[str, int]:
        """Numbers of instances, features and labels."""
        return {"instances": len(self.target), "features": self.data.shape[1], "labels": self.target.shape[1]}

    @property
    def n_empty(self) -> int:
        """Number of instances in which no label is preferred to another."""
        return int((as_graphs(self.target).edge_counts() == 0).sum())

    @property
    def never_compared(self) -> list[Any]:
        """Labels that are in no pair, although others are."""
        graphs, names = as_graphs(self.target), label_names(self.target)
        compared = graphs.compared_labels(graphs.has_pairs())
        if not compared.any():
            return []
        return (np.arange(len(compared)) if names is None else names)[~compared].tolist()

    @property
    def text_columns(self) -> list[str] | None:
        """The text columns given as an option; None if they are to be guessed."""
        text = self.options.get("text")
        return None if text is None else list(select(self.data.columns, text, "--text", self.name))

    @property
    def identifiers(self) -> list[str]:
        """Columns that look like names or numbers of rows, which are not informative."""
        if not isinstance(self.data, pl.DataFrame) or len(self.data) < 10:
            return []
        return [series.name for series in self.data if _is_identifier(series, self._kinds[series.name])]

    @property
    def written_numbers(self) -> dict[str, str]:
        """Columns with many categories that all begin with a number, such as dates, and an example value of each."""
        return {name: values[0] for name, (values, begins) in self._many_categories.items() if begins.all()}

    @property
    def mixed_numbers(self) -> dict[str, str]:
        """Columns with many categories of which most are numbers, and an example of the others, such as NULL."""
        found = {}
        for name, (values, begins) in self._many_categories.items():
            numbers = values.cast(NUMBER, strict=False).is_not_null()
            if 2 * numbers.sum() > len(values) and not begins.all():
                found[name] = values.filter(~begins)[0]
        return found

    @cached_property
    def _many_categories(self) -> dict[str, tuple[pl.Series, pl.Series]]:
        """Known values of the columns with many categories, and whether they begin with a number."""
        if not isinstance(self.data, pl.DataFrame):
            return {}
        texts = [series.drop_nulls() for series in self.data if series.dtype == TEXT]
        return {
            series.name: (series, series.str.contains(r"^\W{0,2}\d"))
            for series in texts
            if self._kinds[series.name] == "category" and series.n_unique() > _FEW_CATEGORIES
        }

    @cached_property
    def _kinds(self) -> dict[Any, str]:
        """Whether a column of the frame has numbers, categories or text."""
        return dict(column_kinds(self.data, self.text_columns)[0])

    def with_data(self, data: Any) -> Problem:
        """Return a copy with other features."""
        return replace(self, data=data)

    def require(self, rows: int = 1) -> Problem:
        """Raise an error if there are too few rows, no features or no preferences to learn from."""
        n, m = self.shape["instances"], self.shape["features"]
        if n < rows or not m:
            raise DataFileError(f"{self.name} has {n} instances and {m} features; at least {rows} and 1 are needed")
        if self.n_empty == n:
            raise DataFileError(f"{self.name} has no instance in which a label is preferred to another")
        return self


def _is_identifier(series: pl.Series, kind: str) -> bool:
    """Whether categories are all distinct, or numbers are consecutive."""
    if kind == "number":
        return bool((series.diff().drop_nulls() == 1).all()) and series.null_count() == 0
    return kind == "category" and series.n_unique() == len(series)


BUILT_IN: dict[str, Callable[[int], Any]] = {
    "iris": lambda seed: datasets.load_iris_rankings(return_X_y=True),
    "wine": lambda seed: datasets.load_wine_rankings(return_X_y=True),
    "digits": lambda seed: datasets.load_digits_rankings(return_X_y=True),
    "fried": lambda seed: datasets.load_fried(return_X_y=True),
    "synthetic": lambda seed: datasets.make_label_ranking(n_samples=500, random_state=seed),
}


def read_data(
    data: str,
    *,
    labels: str | None = None,
    kind: str | None = None,
    text: str | None = None,
    ignore: str | None = None,
    unsolved: str | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    max_bytes: int | None = None,
    names: Sequence[Any] | None = None,
    types: Mapping[str, Any] | None = None,
    n_features: int | None = None,
    seed: int = 0,
) -> Problem:
    """Read the data of a command; the parameters are its options.

    Parameters
    ----------
    data : str
        Name of a built-in data set, or a path.
    labels, kind, text, ignore, unsolved, separator, encoding, max_bytes
        The options of these names; None if they were not given.
    names : sequence, optional
        Labels of a model; the data may contain only some of them.
    types : mapping, optional
        Types of the features of a model by name, because texts of the model may all look like numbers in the data.
        Other columns are not read.
    n_features : int, optional
        Number of features of a model, for sparse files.
    seed : int, default=0
        Seed of synthetic data.

    Examples
    --------
    >>> from labelrank.cli.data import read_data
    >>> read_data("iris").shape
    {'instances': 150, 'features': 4, 'labels': 3}
    """
    check_form(separator, encoding)
    path = Path(data)
    options = {"labels": labels, "kind": kind, "text": text, "ignore": ignore, "unsolved": unsolved}
    given = {name: str(value) for name, value in options.items() if value is not None}
    if data in BUILT_IN and not path.exists():
        if given:
            raise ValueError(f"--{', --'.join(given)} are for files, and {data} is a built-in data set")
        return Problem(data, *BUILT_IN[data](seed))
    how: dict[str, Any] = {"encoding": encoding or "utf-8", "max_bytes": max_bytes or MAX_BYTES}
    try:
        if path.is_file() and table_suffix(path):
            with DataFile(path, **how) as file:
                table = next(read_tables(file, separator))
            form = {name: value for name, value in (("separator", separator), ("encoding", encoding)) if value}
            return _from_table(table, given | form, names, types or {})
        suffix = format_of(path)
        problem = _from_reader(path, suffix, given, how, names, n_features)
    except NoSuchColumn:
        raise
    except ValueError as error:
        said = on_the_command_line(str(error))
        raise (DataFileError(said) if isinstance(error, DataFileError) else ValueError(said)) from error
    return problem


def check_form(separator: str | None, encoding: str | None) -> None:
    """Raise ValueError if these options are invalid."""
    if separator is not None and (len(separator) != 1 or separator in '"\r\n'):
        raise ValueError(f"--separator must be one character, such as ',', ';' or a tab; got {separator!r}")
    try:
        codecs.lookup(encoding or "utf-8")
    except LookupError as error:
        raise ValueError(
            f"--encoding must be the name of a text encoding, such as latin-1; got {encoding!r}"
        ) from error


def fingerprint(data: str) -> str | None:
    """Return the checksum of a file, or the name of a built-in data set."""
    if Path(data).is_file():
        with open(data, "rb") as file:
            return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"
    return data if data in BUILT_IN else None


def warn_columns(problem: Problem) -> None:
    """Warn about columns that should probably be excluded or converted."""

    def tell(what: str, columns: Sequence[str]) -> None:
        print(printable(f"labelrank: {what} --ignore {shlex.quote(','.join(columns))}"), file=sys.stderr)

    if problem.like_labels:
        told = f"{listing(problem.like_labels)} look like labels, but are used as features"
        tell(f"{told}; if they are not known in advance, give", problem.like_labels)
    for name, example in problem.written_numbers.items():
        told = f"the column {name!r} has texts such as {excerpt(example)}, which are treated as categories"
        tell(f"{told}; convert dates and amounts to numbers, or give", [name])
    for name, example in problem.mixed_numbers.items():
        told = f"the column {name!r} has numbers and texts such as {excerpt(example)}; all are treated as categories"
        tell(f"{told}; leave the cells of missing values empty, or give", [name])
    for name in problem.identifiers:
        if name not in problem.written_numbers | problem.mixed_numbers:
            tell(f"the column {name!r} has a different value in every row; if it is an identifier, give", [name])


def _from_table(table: Table, given: dict[str, Any], names: Sequence[Any] | None, types: Mapping[str, Any]) -> Problem:
    own = names is None  # otherwise the options are those of a model, and may name columns that are not needed
    ignored = select(list(table.columns), given["ignore"], "--ignore", table.name, own) if "ignore" in given else {}
    for option in ("labels", "text"):
        both = [part for part in given.get(option, "").split(",") if part in ignored]
        if both:
            raise ValueError(f"--ignore and --{option} both name the column {both[0]!r}; remove it from one of them")
    columns = {name: column for name, column in table.columns.items() if name not in ignored}
    table = replace(table, columns=columns)
    labels, kind, chosen = resolve(table, given.get("labels"), given.get("kind"))
    features = [column for column in columns if column not in chosen]
    if wrong := missing_columns(types, features, table.name):
        raise ValueError(wrong)
    features = [column for column in features if column in types or not types]
    texts = select(features, given["text"], "--text", table.name, own) if "text" in given else {}
    data = pl.DataFrame([table.series(column, TEXT if column in texts else types.get(column)) for column in features])
    target = target_of(table, kind, chosen, given.get("unsolved"), names)
    like_labels = [name for name in look_like_labels(features, chosen) if data[name].dtype == NUMBER]
    return Problem(table.name, data, target, given | {"labels": labels, "kind": kind}, like_labels)


def _from_reader(
    path: Path, suffix: str, given: dict[str, Any], how: dict[str, Any], names: Any, n_features: int | None
) -> Problem:
    """Read a file in a format that defines its labels."""
    allowed = {"aslib": {"kind", "unsolved"}, ".arff": {"labels", "ignore"}, ".xarff": {"ignore"}}.get(suffix, set())
    refused = [f"--{name}" for name in given if name not in allowed and (name, given[name]) != ("kind", "multilabel")]
    if refused:
        raise ValueError(f"{', '.join(refused)} are for tables only; remove them to read {path.name}")
    ignore = [part.strip() for part in given.get("ignore", "").split(",") if part.strip()]
    if suffix == "aslib":
        maximize = {"scores": True, "costs": False}.get(given.get("kind", ""))
        bunch = datasets.read_aslib(path, maximize=maximize, unsolved=given.get("unsolved"), **how)
    elif suffix == ".xarff":
        bunch = datasets.read_xarff(path, ignore=ignore, **how)
    elif suffix == ".arff":
        listed = [part.strip() for part in given["labels"].split(",")] if "labels" in given else None
        bunch = datasets.read_mulan(path, listed, ignore=ignore, **how)
    elif suffix in PREFLIB:
        bunch = datasets.read_preflib(path, **how)
    else:
        integers = None if names is None else [int(name) for name in names]
        bunch = datasets.read_svmlight_multilabel(
            path, labels=integers, n_features=n_features, max_bytes=how["max_bytes"]
        )
    data, target = bunch.data, bunch.target
    if suffix == ".arff" or suffix in SVMLIGHT:
        target = PreferenceGraphs.from_multilabel(target, labels=list(bunch.label_names))
    else:
        target = frame_of_matrix(target, bunch.label_names)
    return Problem(
        path.name, data if sparse.issparse(data) else frame_of_matrix(data, bunch.feature_names), target, given
    )


def format_of(path: Path) -> str:
    """Return the suffix of a file that is not a table, "aslib" for a folder; raise ValueError if it is unknown."""
    if path.is_dir():
        if not (path / "description.txt").is_file():
            raise ValueError(f"{path} is a folder without a description.txt; give a file in it, or an ASlib scenario")
        return "aslib"
    if not path.is_file():
        raise ValueError(_no_such_data(str(path), path))
    known = (*TABLES, *ARFF, *PREFLIB, *SVMLIGHT)
    bare = path.name.lower().removesuffix(".gz").removesuffix(".bz2")
    suffix = next((suffix for suffix in known if bare.endswith(suffix)), None)
    if suffix is None or suffix in TABLES:  # a compressed Parquet file
        raise ValueError(
            f"the format of {path.name} is unknown; supported are {', '.join(known)} (text formats also with .gz and "
            ".bz2) and folders of ASlib"
        )
    if suffix == ".arff":
        with DataFile(path, encoding="latin-1") as file:
            for _, line in file.lines():
                if line.lstrip().lower().startswith("@data"):
                    break
                if re.match(r"\s*@attribute\s.*\sranking\s*\{", line, re.IGNORECASE):
                    return ".xarff"
    return suffix


def _no_such_data(data: str, path: Path) -> str:
    names = ", ".join(BUILT_IN)
    near = difflib.get_close_matches(data.lower(), BUILT_IN, n=1)
    if near and path.suffix == "":
        return f"there is no data set or file {data!r}; did you mean {near[0]!r}? Built in: {names}"
    folder = list(path.parent.iterdir()) if path.parent.is_dir() else []
    known = (*TABLES, *ARFF, *PREFLIB, *SVMLIGHT)
    beside = [p.name for p in folder if re.sub(r"\.(gz|bz2)$", "", p.name.lower()).endswith(known)]
    files = difflib.get_close_matches(path.name, beside, n=1)
    hint = f"; did you mean {str(path.parent / files[0])!r}?" if files else ""
    return f"there is no data set or file {data!r}{hint or '.'} Built in: {names}"


# Phrases in the messages of readers, and their replacements on the command line.
_WORDS = (
    (r'unsolved="(\w+)"', r"--unsolved \1"),
    (r'encoding="([\w-]+)"', r"--encoding \1"),
    (r"separator='(\S+)'", r"--separator '\1'"),
    (r"another encoding", "another --encoding"),
    (r"max_bytes=([\d,]+)", r"--max-bytes \1"),
    (r"larger max_bytes", "larger --max-bytes"),
    (r"labels=, an XML file or a list of names", "--labels a,b,c"),
    (r"maximize=True or maximize=False", "--kind scores (larger is better) or --kind costs"),
    (r"\bpass (?=(a |another )?(larger )?--)", "give "),
    (r"^labels names", "--labels names"),
)


def on_the_command_line(message: str) -> str:
    """Rephrase an error message of a reader for the command line."""
    for pattern, words in _WORDS:
        message = re.sub(pattern, words, message)
    return message
