"""Predictions of one tree or many: leaves, means over trees, scores, spread, and paths."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed
from scipy import sparse
from scipy.special import ndtr

from labelrank._arrays import BoolArray, FloatArray, IntArray, row_blocks
from labelrank._threads import n_threads
from labelrank.aggregation.mallows import spread_of_counts
from labelrank.supervision import ranks_from_scores

ROWS = 256  # rows for a thread, at least
ENTRIES = 2**22  # of a block of rows: features of sparse rows that are made dense, or values of a prediction
_LEAST = 1e-12  # variance of leads


class Trees(NamedTuple):
    """Splits of many trees, one tree after the other; children are counted from the root of their tree."""

    offsets: IntArray  # (n_trees + 1,), where the nodes of each tree begin
    left: npt.NDArray[np.int32]
    right: npt.NDArray[np.int32]
    feature: npt.NDArray[np.int32]
    threshold: FloatArray
    missing_left: BoolArray
    is_categorical: BoolArray  # (n_features,)


def of_used_features(trees: Trees, X: Any) -> tuple[Trees, Any]:
    """Leave out of sparse X, whose rows are made dense, and of the trees the features that no tree splits by."""
    if not hasattr(X, "toarray"):
        return trees, X
    used, place = np.unique(trees.feature[trees.left >= 0], return_inverse=True)
    feature = np.full_like(trees.feature, -1)
    feature[trees.left >= 0] = place
    return trees._replace(feature=feature, is_categorical=trees.is_categorical[used]), X[:, used]


def leaves(trees: Trees, X: Any) -> IntArray:
    """Leaf of each row in each tree, counted from the root of the tree; of shape (n_samples, n_trees)."""
    from labelrank._kernels.trees.prediction import apply

    trees, X = of_used_features(trees, X)
    found = np.empty((X.shape[0], len(trees.offsets) - 1), dtype=np.int64)
    for rows in row_blocks(X.shape[0], X.shape[1], ENTRIES):
        apply(trees, _dense(X[rows]), found[rows])
    return found


def mean_values(
    trees: Trees,
    values: npt.NDArray[Any],
    X: Any,
    used: BoolArray | None = None,
    n_jobs: int | None = None,
) -> FloatArray:
    """Mean over the trees of the values of each row's leaves, of shape (n_samples, n_values).

    values : (n_nodes, n_values). used : (n_trees, n_samples), which trees count for a row, by default all; a row
    without trees has zeros. n_jobs : number of threads.
    """
    from labelrank._kernels.trees.prediction import add_values

    n = X.shape[0]
    sums, counts = np.zeros((n, values.shape[1])), np.zeros(n, dtype=np.int64)
    used = np.zeros((0, n), dtype=bool) if used is None else used

    def add(rows: slice) -> None:
        add_values(trees, values, _dense(X[rows]), np.ascontiguousarray(used[:, rows]), sums[rows], counts[rows])

    n_blocks = min(n_threads(n_jobs), n // ROWS)
    if n_blocks < 2:
        add(slice(0, n))
    else:
        edges = np.linspace(0, n, n_blocks + 1).astype(int)
        Parallel(n_jobs=n_blocks, require="sharedmem")(delayed(add)(slice(a, b)) for a, b in pairwise(edges))
    return sums / np.maximum(counts, 1)[:, None]


def balance_of(tree: Any) -> npt.NDArray[Any]:
    """Balances of the nodes of a fitted tree or forest, by pairs or by labels."""
    balance: npt.NDArray[Any] = tree.pair_balance_ if hasattr(tree, "pair_balance_") else tree.vote_moments_
    return balance


def scores_of(balance: npt.NDArray[Any], n_labels: int) -> FloatArray:
    """Expected number of labels that a label beats.

    balance : (n, n_pairs), P(a before b) - P(b before a) of all pairs a < b; or (n, n_labels + 1), the mean leads of
    the labels and their mean square (k + 1 is k (k - 1) / 2 for no k).
    """
    scores = np.full((len(balance), n_labels), (n_labels - 1) / 2)
    if balance.shape[1] == n_labels + 1:
        return np.asarray(scores * (1.0 + balance[:, :-1].astype(np.float64)))
    first = 0
    for a in range(n_labels - 1):
        others = balance[:, first : first + n_labels - 1 - a].astype(np.float64) / 2
        scores[:, a] += others.sum(axis=1)
        scores[:, a + 1 :] -= others
        first += others.shape[1]
    return scores


def probabilities_of(balance: npt.NDArray[Any], n_labels: int) -> FloatArray:
    """P(a before b) of all labels.

    Leads of labels are taken for normally distributed, with the same variance for all labels of a row.
    """
    if balance.shape[1] == n_labels + 1:
        lead, square = balance[:, :-1].astype(np.float64), balance[:, -1].astype(np.float64)
        variance = np.maximum(square - np.mean(lead**2, axis=1), _LEAST)
        proba = lead[:, :, np.newaxis] - lead[:, np.newaxis, :]
        proba /= np.sqrt(2 * variance)[:, np.newaxis, np.newaxis]
        return np.asarray(ndtr(proba, out=proba))
    proba = np.full((len(balance), n_labels, n_labels), 0.5)
    a, b = np.triu_indices(n_labels, 1)
    proba[:, a, b] += 0.5 * balance
    proba[:, b, a] -= 0.5 * balance
    return proba


def spread_of(balance: npt.NDArray[Any], n_labels: int) -> FloatArray:
    """Theta of the Mallows model around the ranking by `scores_of`."""
    ranks = ranks_from_scores(scores_of(balance, n_labels))
    theta = np.empty(len(balance))
    for rows in row_blocks(len(balance), n_labels**2, ENTRIES):
        theta[rows] = spread_of_counts(probabilities_of(balance[rows], n_labels), ranks[rows])
    return theta


def _dense(X: Any) -> FloatArray:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X)


def parents_of(left: npt.NDArray[np.int32], right: npt.NDArray[np.int32]) -> IntArray:
    """Parent of each node of a tree, -1 for the root."""
    parents = np.full(len(left), -1, dtype=np.int64)
    inner = np.flatnonzero(left >= 0)
    parents[left[inner]] = parents[right[inner]] = inner
    return parents


def paths(leaves: IntArray, parents: IntArray) -> sparse.csr_array:
    """Indicators of the leaves and of all nodes above them, of shape (n_samples, n_nodes)."""
    rows, nodes = [np.arange(len(leaves))], [leaves]
    while len(rows[-1]):
        above = parents[nodes[-1]]
        rows.append(rows[-1][above >= 0])
        nodes.append(above[above >= 0])
    row, node = np.concatenate(rows), np.concatenate(nodes)
    shape = (len(leaves), len(parents))
    return sparse.csr_array((np.ones(len(row), dtype=np.int64), (row, node)), shape=shape)
