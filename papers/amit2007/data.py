"""Examples and their relevant labels, to train on and to test on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from labelrank.datasets import fetch_rcv1_topics, make_multilabel_hierarchy, read_mulan
from labelrank.features import PivotedTfidfTransformer, RocchioSelector
from papers.frame.reuters import read_reuters

TEXT = ("reuters", "rcv1")
MULAN = ("emotions", "scene", "yeast", "enron", "flags")


@dataclass(frozen=True)
class Problem:
    """Examples and their relevant labels, to train on and to test on."""

    name: str
    X: Any
    Y: npt.NDArray[np.uint8]
    X_test: Any
    Y_test: npt.NDArray[np.uint8]

    @property
    def size(self) -> str:
        """The size in words."""
        return (
            f"{self.name}: {len(self.Y):,} examples to train on, {len(self.Y_test):,} to test on, "
            f"{self.X.shape[1]:,} features, {self.Y.shape[1]} labels, {self.Y.sum(axis=1).mean():.2f} of them relevant"
        )


@dataclass(frozen=True)
class Protocol:
    """Parameters of the experiment."""

    terms_per_topic: int = 100
    min_documents: int = 10  # in the training data, for a topic of Reuters-21578 to be a label
    train_share: float = 0.733  # of RCV1: 590,000 of 804,414
    rounds: int = 200
    smoothing: float = 0.0
    alphas: tuple[float, ...] = (100.0, 10.0, 1.0, 0.1)  # largest first: each fit starts from the one before
    max_iter: int = 200
    text_alphas: tuple[float, ...] = (10.0, 1.0, 0.1)
    text_max_iter: int = 60  # an iteration on text is expensive
    tol: float = 1e-5
    seed: int = 0

    def of(self, problem: Problem) -> Protocol:
        """Return the protocol with the penalties and iterations for a problem."""
        return replace(self, alphas=self.text_alphas, max_iter=self.text_max_iter) if problem.name in TEXT else self


QUICK = Protocol(terms_per_topic=15, rounds=30, alphas=(1.0, 0.1), max_iter=20, tol=1e-4)


def load(data: str, folder: Path | None, protocol: Protocol) -> list[Problem]:
    """Read a data set, or for ``"all"`` Reuters-21578 and the sets of Mulan."""
    if data == "rcv1":
        return [problem_of_rcv1(fetch_rcv1_topics(data_home=folder), protocol)]
    assert folder is not None
    if data == "all":
        return [_reuters(folder / "text", protocol), *(_mulan(name, folder / "multilabel" / name) for name in MULAN)]
    return [_reuters(folder, protocol) if data == "reuters" else _mulan(data, folder)]


def _reuters(folder: Path, protocol: Protocol) -> Problem:
    """Pivoted tf-idf and Rocchio selection, fitted on the training documents."""
    reuters = read_reuters(folder)
    Y = reuters.target.toarray()
    train, test = reuters.split == "train", reuters.split == "test"
    Y = Y[:, Y[train].sum(axis=0) >= protocol.min_documents]
    train, test = (np.flatnonzero(rows & Y.any(axis=1)) for rows in (train, test))
    # Lower case, words of two and more letters or digits, in at least three documents; no list of stop words.
    features = make_pipeline(
        CountVectorizer(min_df=3), PivotedTfidfTransformer(), RocchioSelector(protocol.terms_per_topic)
    )
    X = features.fit_transform([reuters.data[i] for i in train], Y[train])
    return Problem("reuters", X, Y[train], features.transform([reuters.data[i] for i in test]), Y[test])


def problem_of_rcv1(rcv1: Any, protocol: Protocol) -> Problem:
    """Return RCV1 as a problem: the older documents to train on, by their numbers, which grow with the date.

    The files hold normalized tf-idf and no counts, so the weights are taken as they are and only the selection of the
    terms is that of the paper.
    """
    train, test = np.split(
        np.argsort(rcv1.sample_id, kind="stable"), [round(protocol.train_share * len(rcv1.sample_id))]
    )
    return _selected("rcv1", sparse.csr_array(rcv1.data), rcv1.target, train, test, protocol)


def _mulan(name: str, folder: Path) -> Problem:
    """Sparse features divided by their largest value, dense ones standardized, as the training data have them."""
    train, test = (read_mulan(folder / f"{name}-{part}.arff") for part in ("train", "test"))
    scaler = (MaxAbsScaler() if sparse.issparse(train.data) else StandardScaler()).fit(train.data)
    return Problem(
        name, scaler.transform(train.data), _dense(train.target), scaler.transform(test.data), _dense(test.target)
    )


def generate(protocol: Protocol) -> list[Problem]:
    """Generate documents for a quick run."""
    X, Y, _ = make_multilabel_hierarchy(400, 200, n_labels=10, random_state=protocol.seed)
    return [_selected("generated", X, Y, np.arange(300), np.arange(300, 400), protocol)]


def _selected(name: str, X: Any, Y: Any, train: Any, test: Any, protocol: Protocol) -> Problem:
    """Documents with the terms that are selected on the training part."""
    selector = RocchioSelector(protocol.terms_per_topic).fit(X[train], Y[train])
    return Problem(name, selector.transform(X[train]), _dense(Y[train]), selector.transform(X[test]), _dense(Y[test]))


def _dense(Y: Any) -> npt.NDArray[np.uint8]:
    return np.asarray(Y.toarray() if hasattr(Y, "toarray") else Y, dtype=np.uint8)
