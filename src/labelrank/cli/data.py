"""The data of a command: a built-in data set by its name, or a file."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from labelrank import datasets
from labelrank.supervision import as_graphs

SUFFIXES = (".csv", ".tsv", ".parquet", ".xarff", ".arff")
_TEXTS = (".csv", ".tsv", ".xarff", ".arff")  # also read with .gz or .bz2 appended


@dataclass(frozen=True)
class Problem:
    """A data set to run rankers on."""

    name: str
    data: Any
    target: Any

    @property
    def shape(self) -> dict[str, int]:
        """Numbers of instances, features and labels."""
        return {"instances": len(self.target), "features": self.data.shape[1], "labels": self.target.shape[1]}

    @property
    def n_empty(self) -> int:
        """Number of instances in which no label is preferred to another."""
        return int((as_graphs(self.target).edge_counts() == 0).sum())


def _synthetic(seed: int) -> Any:
    return datasets.make_label_ranking(n_samples=500, random_state=seed)


BUILT_IN: dict[str, Callable[[int], Any]] = {
    "iris": lambda seed: datasets.load_iris_rankings(return_X_y=True),
    "wine": lambda seed: datasets.load_wine_rankings(return_X_y=True),
    "digits": lambda seed: datasets.load_digits_rankings(return_X_y=True),
    "fried": lambda seed: datasets.load_fried(return_X_y=True),
    "synthetic": _synthetic,
}


@dataclass(frozen=True)
class FileOptions:
    """How to read a file: the options of the command line of these names."""

    labels: str | None = None
    scores: bool = False
    costs: bool = False
    unsolved: str | None = None
    ignore: str | None = None
    max_bytes: int | None = None

    def given(self, *names: str) -> list[str]:
        """Return those of the options that were given, as they are written."""
        return [f"--{name.replace('_', '-')}" for name in names if getattr(self, name) not in (None, False)]


def load(data: str, options: FileOptions, seed: int) -> Problem:
    """Load a built-in data set by name, or a file; errors speak of the options of the command line."""
    if data in BUILT_IN:
        if given := options.given(*(field.name for field in fields(options))):
            raise ValueError(f"{', '.join(given)} are for files, and {data} is a built-in data set")
        X, y = BUILT_IN[data](seed)
        return Problem(data, X, y)
    path = Path(data)
    if not path.is_file():
        raise ValueError(_no_such_data(data, path))
    bunch = _read(path, options)
    if not len(bunch.target) or not bunch.data.shape[1]:
        shape = f"{len(bunch.target)} instances and {bunch.data.shape[1]} features"
        raise ValueError(f"{path.name} has {shape}; at least one of each is needed")
    return Problem(path.name, bunch.data, bunch.target)


def columns(text: str) -> Any:
    """Return the columns that a text names: ``a,b,c`` is a list, ``/pattern/`` a pattern, anything else a prefix."""
    if len(text) > 2 and text.startswith("/") and text.endswith("/"):
        try:
            return re.compile(text[1:-1])
        except re.error as error:
            raise ValueError(f"{text} is not a pattern: {error}") from error
    if "," in text:
        return [name.strip() for name in text.split(",") if name.strip()]
    return text


def _suffix(path: Path) -> str | None:
    """The suffix that tells the format of a file, None if it is not known."""
    name = path.name.lower()
    bare = name.removesuffix(".gz").removesuffix(".bz2")
    return next((suffix for suffix in (SUFFIXES if bare == name else _TEXTS) if bare.endswith(suffix)), None)


# What an error of a reader says to pass, and how that is done here.
_ON_THE_COMMAND_LINE = {
    "label column": "--labels PREFIX, --labels a,b,c or --labels '/pattern/'",
    "labels names": "--labels PREFIX, --labels a,b,c or --labels '/pattern/'",
    "pass separator=": "a .csv file is read with commas, a .tsv file with tabs",
    "pass unsolved=": "--unsolved last or --unsolved missing, with --costs or --scores if the values are no ranks",
    "max_bytes=": "--max-bytes",
}


def _read(path: Path, options: FileOptions) -> Any:
    suffix = _suffix(path)
    if suffix is None:
        known = ", ".join(SUFFIXES)
        raise ValueError(
            f"the format of {path.name} is not known; known: {known} (text formats also with .gz and .bz2)"
        )
    arguments: dict[str, Any] = {} if options.max_bytes is None else {"max_bytes": options.max_bytes}
    reader: Callable[..., Any]
    ignore = [] if options.ignore is None else columns(options.ignore)
    if suffix in (".xarff", ".arff"):
        if given := options.given("labels", "scores", "costs", "unsolved"):
            raise ValueError(f"{', '.join(given)} are for tables; {path.name} names its labels itself")
        reader, arguments["ignore"] = datasets.read_xarff, ignore if isinstance(ignore, list) else [ignore]
    else:
        if options.scores and options.costs:
            raise ValueError("--scores says that larger is better, --costs that smaller is; give one of them")
        reader = datasets.read_parquet if suffix == ".parquet" else datasets.read_csv
        arguments["kind"] = "scores" if options.scores else "costs" if options.costs else "ranks"
        arguments |= {"unsolved": options.unsolved, "ignore": ignore}
        if options.labels is not None:
            arguments["labels"] = columns(options.labels)
        if suffix == ".tsv":
            arguments["separator"] = "\t"
    try:
        return reader(path, **arguments)
    except ValueError as error:
        for part, hint in _ON_THE_COMMAND_LINE.items():
            if part in str(error):
                raise ValueError(f"{error}. On the command line: {hint}") from error
        raise


def _no_such_data(data: str, path: Path) -> str:
    names = ", ".join(BUILT_IN)
    if path.is_dir():
        return f"{data} is a folder; give a file in it, or a built-in data set ({names})"
    near = difflib.get_close_matches(data.lower(), BUILT_IN, n=1)
    if near and path.suffix == "":
        return f"there is no data set or file {data!r}; did you mean {near[0]!r}? Built in: {names}"
    folder = list(path.parent.iterdir()) if path.parent.is_dir() else []
    beside = [p.name for p in folder if p.is_file() and _suffix(p) is not None]
    files = difflib.get_close_matches(path.name, beside, n=1)
    hint = f"; did you mean {str(path.parent / files[0])!r}?" if files else ""
    return f"there is no data set or file {data!r}{hint or '.'} Built in: {names}"
