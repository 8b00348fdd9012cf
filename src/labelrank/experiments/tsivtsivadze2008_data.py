"""The data sets of :mod:`labelrank.experiments.tsivtsivadze2008`, and how its tables are made of them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

IntArray = npt.NDArray[np.intp]
FloatArray = npt.NDArray[np.float64]

DATA = ("parse", "letor")
PARSES = "pud_linkgrammar_parses_1-500.jsonl"


@dataclass(frozen=True)
class Protocol:
    """How a table is made."""

    n_basis: int = 5  # items of a group that the basic learners are trained on; the basis of the sparse ones
    n_more: int = 15  # further items of a group, for the sparse learners
    n_folds: int = 10
    n_draws: int = 5  # the first is the table, the others say how much it depends on what was drawn
    alphas: tuple[float, ...] = (1e-5, 1e-4, 0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
    seed: int = 0


QUICK = Protocol(n_basis=3, n_more=5, n_folds=3, n_draws=2, alphas=(0.1, 1.0, 10.0))


@dataclass(frozen=True)
class Problem:
    """Scored items in groups, and the kernels to choose from.

    `views` are matrices of features of the same items. A kernel says which of them it is for: ``{"view": ..., "kernel":
    "linear" or "rbf", "gamma": ...}``. Half of the groups, drawn at random, are for training, unless `test` says which
    items are not.
    """

    name: str
    words: tuple[str, str]  # what groups and items are called
    views: Mapping[str, sparse.csr_array]
    kernels: Sequence[Mapping[str, Any]]
    y: FloatArray
    groups: IntArray
    test: npt.NDArray[np.bool_] | None = None

    @property
    def size(self) -> str:
        """The size in words."""
        features = ", ".join(f"{view} {X.shape[1]:,}" for view, X in self.views.items())
        groups, items = self.words
        return (
            f"{self.name}: {len(np.unique(self.groups)):,} {groups}, {len(self.y):,} {items}; "
            f"features of the kernels: {features}"
        )


@dataclass(frozen=True)
class Draw:
    """Items of one draw: those of the basic learners, those of the sparse ones (with the former), the test."""

    basic: IntArray
    sparse: IntArray
    test: IntArray


def draw_of(problem_groups: IntArray, test: Any, protocol: Mapping[str, Any], draw: int) -> Draw:
    """Draw training groups, where they are not given, and items of them."""
    rng = np.random.default_rng([protocol["seed"], draw])
    names = np.unique(problem_groups)
    if test is None:
        in_test = np.isin(problem_groups, rng.permutation(names)[len(names) // 2 :])
    else:
        in_test = np.asarray(test)
    basic, every = [], []
    for name in names:
        items = rng.permutation(np.flatnonzero(problem_groups == name))
        if not in_test[items[0]]:
            basic.append(items[: protocol["n_basis"]])
            every.append(items[: protocol["n_basis"] + protocol["n_more"]])
    return Draw(np.sort(np.concatenate(basic)), np.sort(np.concatenate(every)), np.flatnonzero(in_test))


def load_problem(data: str, folder: str | os.PathLike[str] | None) -> Problem:
    """A data set, its features ready."""
    if data not in DATA:
        raise ValueError(f"there is no data set {data!r}; known: {', '.join(DATA)}")
    if folder is None:
        home = os.environ.get("LABELRANK_DATA")
        if not home:
            raise ValueError(
                "the data sets do not come with the library: give the folder of the files (folder=, --folder), or set "
                "LABELRANK_DATA; a quick run (quick=True, --quick) needs no files"
            )
        folder = Path(home) / ("parse" if data == "parse" else "letor/lightgbm")
    return _parses(Path(folder)) if data == "parse" else _documents(Path(folder))


# --- Parses


def _parses(folder: Path) -> Problem:
    from labelrank.datasets.parses import read_parses

    if not (folder / PARSES).is_file():
        raise FileNotFoundError(f"there is no file {PARSES} in {folder}")
    bunch = read_parses(folder / PARSES)
    return problem_of_parses("parse", bunch.data, bunch.target, bunch.groups)


def problem_of_parses(name: str, parses: Sequence[Mapping[str, Any]], y: Any, groups: Any) -> Problem:
    """Parses with the kernels of :class:`~labelrank.features.ParsePathVectorizer`.

    Which paths there are is learned from all parses, without their scores: the kernel of two parses then depends on
    these two alone, as that of a graph kernel does.
    """
    from labelrank.features.parse_graphs import ParsePathVectorizer

    vectorizers = {
        "links": ParsePathVectorizer(1),
        "paths": ParsePathVectorizer(2),
        "paths and words": ParsePathVectorizer(2, words=True),
    }
    views = {view: vectorizer.fit_transform(parses) for view, vectorizer in vectorizers.items()}
    kernels = [{"view": view, "kernel": "linear"} for view in views]
    return Problem(name, ("sentences", "parses"), views, kernels, np.asarray(y), np.asarray(groups))


# --- Documents


def _documents(folder: Path) -> Problem:
    """Graded documents of queries; the Gaussian kernel on their features, which are from 0 to 1."""
    train, test = (read_graded_documents(folder, part) for part in ("train", "test"))
    n_features = max(train[0].shape[1], test[0].shape[1])
    rows = [sparse.csr_array((X.data, X.indices, X.indptr), (X.shape[0], n_features)) for X, _, _ in (train, test)]
    y = np.concatenate([train[1], test[1]])
    groups = np.concatenate([train[2], test[2] + train[2].max() + 1])
    in_test = np.arange(len(y)) >= len(train[1])
    kernels = [{"view": "features", "kernel": "rbf", "gamma": gamma} for gamma in (0.001, 0.003, 0.01, 0.03)]
    views = {"features": sparse.csr_array(sparse.vstack(rows))}
    return Problem("letor", ("queries", "documents"), views, kernels, y, groups, in_test)


def read_graded_documents(folder: Path, part: str) -> tuple[sparse.csr_array, FloatArray, IntArray]:
    """Features and grades of ``rank.PART``, in the SVMlight format, and the query of each document.

    ``rank.PART.query`` has the number of documents of each query, one a line.
    """
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(folder / f"rank.{part}"))
    sizes = np.loadtxt(folder / f"rank.{part}.query", dtype=np.intp, ndmin=1)
    if sizes.sum() != len(y):
        raise ValueError(f"rank.{part}.query counts {sizes.sum()} documents, rank.{part} has {len(y)}")
    return sparse.csr_array(X), np.asarray(y, dtype=np.float64), np.repeat(np.arange(len(sizes)), sizes)


# --- A quick run


def generated_problem(protocol: Protocol) -> Problem:
    """Random sentences with random parses: some link classes are worth more than others, some sentences are easier."""
    rng = np.random.default_rng(protocol.seed)
    classes = list("ABCDEFGH")
    worth = dict(zip(classes, rng.normal(size=len(classes)), strict=True))
    parses, y, groups = [], [], []
    for sentence in range(40):
        words = [f"w{i}.{rng.choice(['n', 'v', 'a'])}" for i in range(rng.integers(6, 12))]
        level = 0.3 * rng.normal()
        for _ in range(8):
            parse = _random_parse(rng, words, classes)
            parses.append(parse)
            value = np.mean([worth[kind[0]] for _, _, kind in parse["links"]])
            y.append(round(level + value + 0.05 * rng.normal(), 2))
            groups.append(sentence)
    return problem_of_parses("generated", parses, y, groups)


def _random_parse(rng: np.random.Generator, words: Sequence[str], classes: Sequence[str]) -> dict[str, Any]:
    """A planar tree: each word is linked to a word at its left that no other link covers."""
    links, open_words = [], [0]
    for word in range(1, len(words) + 1):
        open_words = open_words[: rng.integers(1, len(open_words) + 1)]
        links.append((open_words[-1], word, f"{rng.choice(classes)}s"))
        open_words.append(word)
    return {"words": ["LEFT-WALL", *words, "RIGHT-WALL"], "links": links}
