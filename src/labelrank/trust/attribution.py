"""Contributions of features to the difference between the scores of two labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from labelrank._arrays import FloatArray, row_blocks

Attribution = tuple[float, FloatArray]  # base and contributions, which add up to the difference


def linear(ranker: Any, x: Any, a: int, b: int) -> Attribution:
    """Coefficients times features; `x` is one row."""
    row = x.toarray() if hasattr(x, "toarray") else np.asarray(x, dtype=np.float64)
    weights = ranker.coef_[a] - ranker.coef_[b]
    base = ranker.intercept_[a] - ranker.intercept_[b] if np.ndim(ranker.intercept_) else 0.0
    return float(base), weights * row.ravel()


def along_paths(
    values: FloatArray,
    offsets: npt.NDArray[Any],
    parents: npt.NDArray[Any],
    feature: npt.NDArray[Any],
    leaves: npt.NDArray[Any],
    n_features: int,
) -> Attribution:
    """Changes of the value along the path from the root to the leaf of each tree, summed over the trees.

    Parameters
    ----------
    values : ndarray of shape (n_nodes,)
        Value of each node of all trees.
    offsets : int ndarray of shape (n_trees + 1,)
        First node of each tree.
    parents : int ndarray of shape (n_nodes,)
        Parent of each node, counted over all trees; -1 for roots.
    feature : int ndarray of shape (n_nodes,)
        Feature of each split.
    leaves : int ndarray of shape (n_trees,)
        Leaf of the instance in each tree, counted over all trees.
    n_features : int
        Number of features.
    """
    contributions = np.zeros(n_features)
    nodes = np.asarray(leaves)
    while len(nodes):
        above = parents[nodes]
        nodes, above = nodes[above >= 0], above[above >= 0]
        np.add.at(contributions, feature[above], values[nodes] - values[above])
        nodes = above
    return float(values[offsets[:-1]].sum()), contributions


def by_permutation(
    difference: Callable[[Any], FloatArray],
    mixed: Callable[[npt.NDArray[np.intp]], Any],
    n_features: int,
    n_background: int,
    n_permutations: int,
    random_state: Any,
) -> Attribution:
    """Shapley values estimated from sampled permutations of the features.

    Each permutation starts from a background row and replaces its features one by one by those of the instance. The
    contribution of a feature is the change of the difference. The contributions always add up exactly.

    Parameters
    ----------
    difference : callable
        Difference of the two scores of each row.
    mixed : callable
        Combines features of the instance and the background to rows, for an array of shape (n_rows, n_features) of row
        numbers: 0 is the instance, and i > 0 the row i - 1 of the background.
    n_features, n_background, n_permutations : int
        Sizes.
    random_state : int or None
        Seed.
    """
    rng = np.random.default_rng(random_state)
    draws = [(rng.permutation(n_features), 1 + rng.integers(n_background)) for _ in range(n_permutations)]
    contributions, base = np.zeros(n_features), 0.0
    for part in row_blocks(n_permutations, n_features * (n_features + 1)):  # many rows at once: less overhead
        rows = np.empty((part.stop - part.start, n_features + 1, n_features), dtype=np.intp)
        for own, (order, start) in zip(rows, draws[part], strict=True):
            own[:] = start
            for step, column in enumerate(order, start=1):
                own[step:, column] = 0
        values = difference(mixed(rows.reshape(-1, n_features))).reshape(len(rows), -1)
        for own, (order, _) in zip(values, draws[part], strict=True):
            contributions[order] += np.diff(own)
        base += float(values[:, 0].sum())
    return base / n_permutations, contributions / n_permutations
