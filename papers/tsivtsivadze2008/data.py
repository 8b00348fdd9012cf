"""Scored items in groups: parses of sentences, and graded documents of queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from labelrank.datasets._files import DataFile
from labelrank.datasets.svmlight import explain_svmlight
from papers.tsivtsivadze2008.parses import Parse, read_parses
from papers.tsivtsivadze2008.paths import path_counts

IntArray = npt.NDArray[np.intp]
FloatArray = npt.NDArray[np.float64]

PARSES = "pud_linkgrammar_parses_1-500.jsonl"


@dataclass(frozen=True)
class Protocol:
    """Parameters of the experiment."""

    n_basis: int = 5  # items of a group that the basic learners are trained on; the basis of the sparse ones
    n_more: int = 15  # further items of a group, for the sparse learners
    n_folds: int = 10
    n_draws: int = 5  # the first is the table, the others show how much it depends on the draw
    alphas: tuple[float, ...] = (1e-5, 1e-4, 0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
    seed: int = 0


QUICK = Protocol(n_basis=3, n_more=5, n_folds=3, n_draws=2, alphas=(0.1, 1.0, 10.0))


@dataclass(frozen=True)
class Problem:
    """Scored items in groups, and the kernels to choose from.

    `views` are matrices of features of the same items. A kernel names the view that it is for: ``{"view": ...,
    "kernel": "linear" or "rbf", "gamma": ...}``. Half of the groups, drawn at random, are for training, unless `test`
    marks the test items.
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


def load(data: str, folder: Path | None, protocol: Protocol) -> Problem:
    """Read parses or graded documents."""
    assert folder is not None
    return problem_of_parses("parse", *read_parses(folder / PARSES)) if data == "parse" else _documents(folder)


def problem_of_parses(name: str, parses: Sequence[Parse], y: Any, groups: Any) -> Problem:
    """Return parses with the counts of their paths, whose products are the kernels."""
    views = {
        "links": path_counts(parses, 1),
        "paths": path_counts(parses, 2),
        "paths and words": path_counts(parses, 2, words=True),
    }
    kernels = [{"view": view, "kernel": "linear"} for view in views]
    return Problem(name, ("sentences", "parses"), views, kernels, np.asarray(y), np.asarray(groups))


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
    """Read features and grades from ``rank.PART``, in the SVMlight format, and the query of each document.

    ``rank.PART.query`` has the number of documents of each query, one a line.
    """
    with DataFile(folder / f"rank.{part}", encoding="latin-1") as file:
        try:
            with file.open() as content:
                X, y = load_svmlight_file(content)
        except (ValueError, OverflowError) as error:
            explain_svmlight(file, error)
            raise
    with DataFile(folder / f"rank.{part}.query") as file:
        sizes = [file.integer(number, line, "the number of documents") for number, line in file.lines() if line.strip()]
        if sum(sizes) != len(y):
            raise ValueError(f"counts {sum(sizes)} documents, and rank.{part} has {len(y)}")
    return sparse.csr_array(X), np.asarray(y, dtype=np.float64), np.repeat(np.arange(len(sizes)), sizes)


def generate(protocol: Protocol) -> Problem:
    """Generate random parses: some link classes are worth more than others, and some sentences are easier."""
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
            value = np.mean([worth[kind[0]] for _, _, kind in parse.links])
            y.append(round(level + value + 0.05 * rng.normal(), 2))
            groups.append(sentence)
    return problem_of_parses("generated", parses, y, groups)


def _random_parse(rng: np.random.Generator, words: Sequence[str], classes: Sequence[str]) -> Parse:
    """A planar tree: each word is linked to a word at its left that no other link covers."""
    links, open_words = [], [0]
    for word in range(1, len(words) + 1):
        open_words = open_words[: rng.integers(1, len(open_words) + 1)]
        links.append((open_words[-1], word, f"{rng.choice(classes)}s"))
        open_words.append(word)
    return Parse(["LEFT-WALL", *words, "RIGHT-WALL"], links)
