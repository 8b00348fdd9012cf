"""Random problems for the fuzzer of the learners: small, with everything that a learner must not stumble over."""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from labelrank import PreferenceGraphs


class Problem(NamedTuple):
    """What a learner is fitted with, and the same for an oracle."""

    X: Any  # dense, or sparse, or sparse with entries in parts
    y: Any  # ranks or graphs
    weight: Any  # None, or the weights
    data: np.ndarray  # X
    ranks: np.ndarray | None  # None if y has edges
    edges: list  # of each row: (better, worse, votes)
    weights: np.ndarray  # never None
    counted: np.ndarray  # rows with a pair and a weight

    @property
    def n_labels(self):
        return self.y.shape[1]


def features(rng, n, d):
    """Features of different scales, with constant, integer and mostly zero columns, and equal rows."""
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-2, 3, d)
    for column in range(d):
        kind = rng.integers(8)
        if kind == 0:
            X[:, column] = rng.integers(-1, 2)
        elif kind == 1:
            X[:, column] = rng.integers(-2, 3, n)
        elif kind == 2:
            X[rng.random(n) < 0.7, column] = 0.0
    if rng.random() < 0.2 and n > 1:
        X[0] = X[-1]
    return X


def form_of(rng, X):
    """X dense, sparse, or sparse with entries in parts; in C or Fortran order."""
    kind = rng.integers(4)
    if kind == 0:
        return np.asfortranarray(X)
    if kind == 1:
        return sparse.csr_array(X)
    if kind == 2:
        whole = sparse.csr_array(X)
        data = np.column_stack([1.5 * whole.data, -0.5 * whole.data]).ravel()
        return sparse.csr_array((data, np.repeat(whole.indices, 2), 2 * whole.indptr), shape=X.shape)
    return X.copy()


def weights_of(rng, n, integral=False):
    """None, or weights with zeros among them, in any unit."""
    kind = rng.integers(4)
    if kind == 0:
        return None
    if kind == 1 or integral:
        return rng.integers(0, 4, n).astype(float)
    weight = rng.exponential(size=n) * 10.0 ** rng.integers(-3, 4)
    return np.where(rng.random(n) < 0.2, 0.0, weight)


def rankings(rng, n, k, ties=True, missing=True):
    """Ranks of any size, with ties, missing labels and rows without any pair."""
    ranks = rng.permuted(np.tile(np.arange(1.0, k + 1), (n, 1)), axis=1)
    if ties and rng.random() < 0.5:
        ranks = np.ceil(ranks / 2)
    if missing and rng.random() < 0.5:
        ranks[rng.random((n, k)) < 0.3] = np.nan
    return ranks


def battles(rng, n, k, votes=True):
    """Edges of each row, with cycles: (better, worse, votes)."""
    rows = []
    for _ in range(n):
        row = []
        for a in range(k):
            for b in range(a + 1, k):
                if rng.random() < 0.6:
                    pair = (a, b) if rng.random() < 0.5 else (b, a)
                    row.append((*pair, float(rng.integers(1, 4)) if votes else 1.0))
        rows.append(row)
    return rows


def draw(rng, *, kinds=("ranks", "graphs", "edges"), votes=True, integral=False, ties=True, missing=True, sizes=(8, 4)):
    """A problem with an observed pair that has a weight."""
    while True:
        n, k, d = int(rng.integers(1, sizes[0] + 1)), int(rng.integers(2, sizes[1] + 1)), int(rng.integers(1, 4))
        kind = kinds[rng.integers(len(kinds))]
        if kind == "edges":
            ranks, edges = None, battles(rng, n, k, votes)
            flat = [(i, *edge) for i, row in enumerate(edges) for edge in row]
            if not flat:
                continue
            i, a, b, v = (np.array(column) for column in zip(*flat, strict=True))
            y = PreferenceGraphs.from_pairs(i, a, b, v if votes else None, n_instances=n, n_labels=k)
        else:
            ranks = rankings(rng, n, k, ties, missing)
            edges = [[(a, b, 1.0) for a in range(k) for b in range(k) if row[a] < row[b]] for row in ranks]
            y = ranks.copy() if kind == "ranks" else PreferenceGraphs.from_rankings(ranks)
        weight = weights_of(rng, n, integral)
        weights = np.ones(n) if weight is None else weight
        counted = np.array([bool(row) for row in edges]) & (weights > 0)
        if counted.any():
            X = features(rng, n, d)
            return Problem(form_of(rng, X), y, weight, X, ranks, edges, weights, counted)
