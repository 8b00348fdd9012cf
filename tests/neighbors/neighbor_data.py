"""Rankings, battles and queries of the tests of nearest neighbors."""

import numpy as np

from labelrank import PreferenceGraphs, as_graphs

NAN = float("nan")
N, D, K = 70, 3, 5
AGGREGATIONS = ["mallows", "mallows_completed", "borda", "plackett_luce"]
WEIGHTS = ["uniform", "distance", "dudani"]


def make(kind, seed=0, n=N):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, D))
    scores = X @ rng.standard_normal((D, K)) + 0.7 * rng.standard_normal((n, K))
    y = np.argsort(np.argsort(-scores, axis=1), axis=1) + 1.0
    if kind == "tied":
        y = np.ceil(y / 2)
    if kind == "missing":
        y[rng.random(y.shape) < 0.4] = NAN
    return X, y


def battles(n=N, seed=0):
    """Graphs with cycles and weights."""
    rng = np.random.default_rng(seed)
    i, a, b = (rng.integers(0, high, 6 * n) for high in (n, K, K))
    keep = a != b
    return PreferenceGraphs.from_pairs(
        i[keep], a[keep], b[keep], 1.0 + rng.integers(0, 3, keep.sum()), n_instances=n, n_labels=K,
        conflicts="keep_majority",
    )  # fmt: skip


def edges_of(y):
    edges = PreferenceGraphs.from_rankings(y).to_edges()
    return PreferenceGraphs.from_pairs(*edges, n_instances=len(y), n_labels=y.shape[1])


def with_pairs(X, y):
    """The rows that can be neighbors."""
    kept = as_graphs(y).has_pairs()
    return X[kept], y[kept]


QUERIES = np.random.default_rng(9).standard_normal((15, D))
