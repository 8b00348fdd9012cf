"""Data for the tests of the trees, and the nodes that their rows pass."""

import numpy as np

from labelrank import PreferenceGraphs

NAN = float("nan")


def make(n=60, d=3, k=4, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)).astype(np.float32).astype(float)
    utilities = np.sign(X @ rng.standard_normal((d, k))) + noise * rng.standard_normal((n, k))
    return X, np.argsort(np.argsort(-utilities, axis=1), axis=1) + 1.0


def rows_of_nodes(tree, X):
    """Training rows that pass each node."""
    path = tree.decision_path(X).tocsc()
    return [path.indices[path.indptr[i] : path.indptr[i + 1]].tolist() for i in range(path.shape[1])]


def parents_of_nodes(tree):
    """Parent of each node, -1 for the root."""
    parents = np.full(len(tree.feature_), -1)
    for node in np.flatnonzero(tree.feature_ >= 0):
        parents[[tree.children_left_[node], tree.children_right_[node]]] = node
    return parents


def depths_of_nodes(tree):
    depths = [0]
    for parent in parents_of_nodes(tree)[1:]:
        depths.append(depths[parent] + 1)
    return depths


def battles(n, k, seed):
    rng = np.random.default_rng(seed)
    rows = [
        [
            (a, b, float(rng.integers(1, 4))) if rng.random() < 0.6 else (b, a, 1.0)
            for a, b in zip(*np.triu_indices(k, 1), strict=True)
        ]
        for _ in range(n)
    ]
    flat = [(i, a, b, w) for i, row in enumerate(rows) for a, b, w in row]
    i, a, b, w = zip(*flat, strict=True)
    return PreferenceGraphs.from_pairs(i, a, b, w, n_instances=n, n_labels=k), rows
