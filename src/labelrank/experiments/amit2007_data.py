"""The data sets of :mod:`labelrank.experiments.amit2007`, and how its tables are made of them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

MULAN = ("emotions", "scene", "yeast", "enron", "flags")
DATA = ("reuters", *MULAN, "rcv1", "all")


@dataclass(frozen=True)
class Protocol:
    """How a table is made."""

    terms_per_topic: int = 100
    min_documents: int = 10  # in the training data, for a topic of Reuters-21578 to be a label
    train_share: float = 0.733  # of RCV1: 590,000 of 804,414
    rounds: int = 200
    smoothing: float = 0.0
    alphas: tuple[float, ...] = (100.0, 10.0, 1.0, 0.1)  # largest first: each fit starts from the one before
    max_iter: int = 200
    tol: float = 1e-5
    seed: int = 0


TEXT = Protocol(alphas=(10.0, 1.0, 0.1), max_iter=60)  # an iteration is dear there
QUICK = Protocol(terms_per_topic=15, rounds=30, alphas=(1.0, 0.1), max_iter=20, tol=1e-4)


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


def load_problem(data: str, folder: str | os.PathLike[str] | None, protocol: Protocol) -> Problem:
    """A data set, its features ready."""
    if data not in DATA or data == "all":
        raise ValueError(f"there is no data set {data!r}; known: {', '.join(DATA)}")
    if data == "rcv1":
        return _rcv1(folder, protocol)
    if data == "reuters":
        return _reuters(data_home(None) / "text" if folder is None else Path(folder), protocol)
    return _mulan(data, data_home(None) / "multilabel" / data if folder is None else Path(folder))


def data_home(folder: str | os.PathLike[str] | None) -> Path:
    """The folder with all data sets: the one that is given, else that of LABELRANK_DATA."""
    home = folder or os.environ.get("LABELRANK_DATA")
    if not home:
        raise ValueError(
            "the data sets do not come with the library: give the folder of the files (folder=, --folder), or set "
            "LABELRANK_DATA; a quick run (quick=True, --quick) needs no files"
        )
    return Path(home)


def _reuters(folder: Path, protocol: Protocol) -> Problem:
    """Pivoted tf-idf and Rocchio selection, fitted on the training documents."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.pipeline import make_pipeline

    from labelrank.datasets import read_reuters21578
    from labelrank.features import PivotedTfidfTransformer, RocchioSelector

    reuters = read_reuters21578(folder)
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


def _rcv1(folder: str | os.PathLike[str] | None, protocol: Protocol) -> Problem:
    from labelrank.datasets import fetch_rcv1_topics

    return problem_of_rcv1(fetch_rcv1_topics(data_home=folder), protocol)


def problem_of_rcv1(rcv1: Any, protocol: Protocol) -> Problem:
    """RCV1 as a problem: the older documents to train on, by their numbers, which grow with the date.

    The files hold normalised tf-idf and no counts, so the weights are taken as they are and only the selection of the
    terms is that of the paper.

    Parameters
    ----------
    rcv1 : Bunch
        What :func:`~labelrank.datasets.topics_of_rcv1` returns.
    protocol : Protocol
        Share of the documents to train on, and number of terms per topic.

    Returns
    -------
    Problem
    """
    from labelrank.features import RocchioSelector

    order = np.argsort(rcv1.sample_id, kind="stable")
    train, test = np.split(order, [round(protocol.train_share * len(order))])
    X, Y = sparse.csr_array(rcv1.data), rcv1.target
    selector = RocchioSelector(protocol.terms_per_topic).fit(X[train], Y[train])
    return Problem(
        "rcv1", selector.transform(X[train]), Y[train].toarray(), selector.transform(X[test]), Y[test].toarray()
    )


def _mulan(name: str, folder: Path) -> Problem:
    """Sparse features divided by their largest value, dense ones standardised, as the training data have them."""
    from sklearn.preprocessing import MaxAbsScaler, StandardScaler

    from labelrank.datasets import read_mulan

    train, test = (read_mulan(folder / f"{name}-{part}.arff") for part in ("train", "test"))
    scaler = (MaxAbsScaler() if sparse.issparse(train.data) else StandardScaler()).fit(train.data)
    return Problem(
        name, scaler.transform(train.data), _dense(train.target), scaler.transform(test.data), _dense(test.target)
    )


def _dense(Y: Any) -> npt.NDArray[np.uint8]:
    return np.asarray(Y.toarray() if hasattr(Y, "toarray") else Y, dtype=np.uint8)


def generated_problem(protocol: Protocol) -> Problem:
    """Documents for a quick run."""
    from labelrank.datasets import make_multilabel_hierarchy
    from labelrank.features import RocchioSelector

    X, Y, _ = make_multilabel_hierarchy(400, 200, n_labels=10, random_state=protocol.seed)
    selector = RocchioSelector(protocol.terms_per_topic).fit(X[:300], Y[:300])
    return Problem(
        "generated", selector.transform(X[:300]), _dense(Y[:300]), selector.transform(X[300:]), _dense(Y[300:])
    )
