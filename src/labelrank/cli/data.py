"""The data of a command: a built-in data set by its name, or a file."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labelrank import datasets
from labelrank.supervision import as_graphs

SUFFIXES = (".csv", ".tsv", ".parquet", ".xarff", ".arff")
_TEXTS = (".csv", ".tsv", ".xarff", ".arff")  # also read with .gz appended


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


def load(data: str, *, labels: str | None, scores: bool, ignore: str | None, seed: int) -> Problem:
    """Load a built-in data set by name, or a file; errors speak of the options of the command line."""
    if data in BUILT_IN:
        if labels is not None or scores or ignore is not None:
            raise ValueError(f"--labels, --scores and --ignore are for files, and {data} is a built-in data set")
        X, y = BUILT_IN[data](seed)
        return Problem(data, X, y)
    path = Path(data)
    if not path.is_file():
        raise ValueError(_no_such_data(data, path))
    bunch = _read(path, labels, scores, ignore)
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
    kinds = _TEXTS if name.endswith(".gz") else SUFFIXES
    return next((suffix for suffix in kinds if name.removesuffix(".gz").endswith(suffix)), None)


def _read(path: Path, labels: str | None, scores: bool, ignore: str | None) -> Any:
    suffix = _suffix(path)
    if suffix is None:
        known = ", ".join(SUFFIXES)
        raise ValueError(f"the format of {path.name} is not known; known: {known} (text formats also with .gz)")
    if suffix in (".xarff", ".arff"):
        if labels is not None or scores:
            raise ValueError(f"--labels and --scores are for tables; {path.name} names its labels itself")
        names = columns(ignore) if ignore is not None else []
        return datasets.read_xarff(path, ignore=names if isinstance(names, list) else [names])
    options: dict[str, Any] = {"kind": "scores" if scores else "ranks"}
    if labels is not None:
        options["labels"] = columns(labels)
    if ignore is not None:
        options["ignore"] = columns(ignore)
    try:
        if suffix == ".parquet":
            return datasets.read_parquet(path, **options)
        return datasets.read_csv(path, separator="\t" if suffix == ".tsv" else ",", **options)
    except ValueError as error:
        if "label column" in str(error) or "labels names" in str(error):
            raise ValueError(
                f"{error}. On the command line: --labels PREFIX, --labels a,b,c or --labels '/pattern/'"
            ) from error
        if "pass separator=" in str(error):
            raise ValueError(
                f"{error}. On the command line: a .csv file is read with commas, a .tsv file with tabs"
            ) from error
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
