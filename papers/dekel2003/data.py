"""Documents as features, and the order of their topics as graphs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from labelrank import PreferenceGraphs
from labelrank.datasets import fetch_rcv1_topics, make_multilabel_hierarchy
from labelrank.features import LogCountTransformer
from papers.frame.reuters import read_reuters


@dataclass(frozen=True)
class Protocol:
    """Parameters of the experiment."""

    n_folds: int = 5
    seed: int = 0
    n_layers: int = 3
    n_words: int = 3200
    selection: str = "disagreement"  # words are chosen once for all four, and not by the one that the paper finds best
    alphas: tuple[float, ...] = (3.0, 0.3, 0.03)  # largest first: each fit starts from the one before
    max_iter: int = 75
    tol: float = 1e-6
    boosting_steps: int = 100


QUICK = Protocol(n_folds=3, n_words=100, alphas=(1.0, 0.1), max_iter=20, tol=1e-4, boosting_steps=10)


@dataclass(frozen=True)
class Corpus:
    """Documents as features, and the known preferences between their topics."""

    name: str
    features: sparse.csr_array
    graphs: PreferenceGraphs

    @property
    def size(self) -> str:
        """The size in words."""
        edges = self.graphs.edge_counts()
        documents, words = self.features.shape
        return (
            f"{self.name}: {documents:,} documents, {words:,} words, {self.graphs.shape[1]} topics, "
            f"{edges.mean():,.0f} edges per graph (median {np.median(edges):,.0f})"
        )


def load(data: str, folder: Path | None, protocol: Protocol) -> Corpus:
    """Read Reuters-21578 from its folder, or RCV1 from the `data_home` of scikit-learn."""
    if data == "reuters":
        assert folder is not None
        reuters = read_reuters(folder)
        # Lower case, words of two and more letters or digits, in at least three documents; no list of stop words.
        counts = CountVectorizer(min_df=3).fit_transform(reuters.data)
        return _corpus(data, LogCountTransformer().fit_transform(counts), reuters, protocol)
    # As many as the January 1997 of the paper; the files have no dates. Nor counts: the weights are taken as they are.
    rcv1 = fetch_rcv1_topics(n_samples=66_000, data_home=folder)
    return _corpus(data, rcv1.data, rcv1, protocol)


def _corpus(name: str, features: Any, bunch: Any, protocol: Protocol) -> Corpus:
    """Documents with a topic, and the layers of the tree as their graphs."""
    labels = bunch.label_names.tolist()
    graphs = PreferenceGraphs.from_hierarchy(bunch.target, bunch.parents, protocol.n_layers, labels=labels)
    rows = np.flatnonzero(graphs.edge_counts())
    return Corpus(name, sparse.csr_array(features)[rows], graphs[rows])


def generate(protocol: Protocol) -> Corpus:
    """Generate documents for a quick run."""
    X, Y, parents = make_multilabel_hierarchy(240, 200, n_labels=10, random_state=protocol.seed)
    return Corpus("generated", X, PreferenceGraphs.from_hierarchy(Y, parents, protocol.n_layers))
