"""Nearest neighbors, the number of which is chosen by leave-one-out."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed

from labelrank._arrays import FloatArray, IntArray
from labelrank._compat import Interval
from labelrank.neighbors.aggregator import Aggregation, Aggregator
from labelrank.neighbors.base import BaseNeighborsRanker, block_rows, total_weight
from labelrank.neighbors.weights import Weights, first_of_weight, neighbor_weights
from labelrank.pairs import votes_of_counts
from labelrank.rankers.base import OnEmpty, Progress, Training

_ROUNDING = 1e-10  # scores that differ by less are equal, and the smaller number of neighbors is chosen
_MOST = 2**53  # neighbors by default, where weights are counts of that many; more are not told apart


class KNeighborsRankerCV(BaseNeighborsRanker):
    """Nearest neighbors, with the number of neighbors chosen by leave-one-out on the training set.

    Every instance is predicted from its neighbors among the others, once for each candidate.

    Parameters
    ----------
    n_neighbors : int or array-like of int, optional
        Candidates. By default the numbers from 1 to 10 and then steps of about a fifth, up to three times the square
        root of the number of instances.
    weights, metric, p, algorithm, leaf_size, metric_params, aggregation, n_jobs, on_empty
        As in :class:`KNeighborsRanker`.

    Attributes
    ----------
    n_neighbors_ : int
        The candidate with the largest score, the smallest of them if several have it.
    best_score_ : float
        Its score.
    candidates_ : ndarray of shape (n_candidates,)
        The candidates, ascending.
    cv_scores_ : ndarray of shape (n_candidates,)
        Mean Kendall tau over the observed pairs for each candidate.
    search_, rows_, weight_, pairs_, votes_, complete_, overall_ranks_, labels_, n_features_in_, feature_names_in_
        As in :class:`KNeighborsRanker`.

    Notes
    -----
    A row with sample weight w is w rows, of which one at a time is left out.

    Callbacks see the rows of the training set in blocks. If ``fit`` is interrupted, the scores are those of the rows
    that were predicted until then.

    Examples
    --------
    >>> from labelrank import KNeighborsRankerCV
    >>> from labelrank.datasets import load_iris_rankings
    >>> X, y = load_iris_rankings(return_X_y=True)
    >>> ranker = KNeighborsRankerCV(weights="dudani").fit(X, y)
    >>> print(f"{ranker.n_neighbors_} neighbors, {ranker.best_score_:.2f}")
    8 neighbors, 0.99
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseNeighborsRanker._parameter_constraints,
        "n_neighbors": [Interval(Integral, 1, None, closed="left"), "array-like", None],
    }

    def __init__(
        self,
        n_neighbors: Any = None,
        *,
        weights: Weights = "uniform",
        metric: Any = "minkowski",
        p: float = 2,
        algorithm: str = "auto",
        leaf_size: int = 30,
        metric_params: dict[str, Any] | None = None,
        aggregation: Aggregation = "mallows",
        n_jobs: int | None = None,
        on_empty: OnEmpty = "warn",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.metric = metric
        self.p = p
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric_params = metric_params
        self.aggregation = aggregation
        self.n_jobs = n_jobs
        self.on_empty = on_empty

    def _learn(self, data: Training, progress: Progress) -> None:
        data = self._index(data)
        others = total_weight(self.weight_) - 1
        self.candidates_ = self._candidates(others)
        n = len(self.weight_) if others >= 1 else 0  # a single instance has no others to learn from
        n_votes = len(self.candidates_) * len(self.labels_)
        n_blocks = -(-n // block_rows(self.candidates_[-1], self.weight_, n_votes))
        blocks = [np.arange(start, n, n_blocks) for start in range(n_blocks)]
        sums = Parallel(n_jobs=self.n_jobs, require="sharedmem", return_as="generator")(
            delayed(self._tau)(rows, data, self._aggregator()) for rows in blocks
        )
        self.__dict__.update(self._choose(progress.collect("block", sums, n_blocks, self._choose)))

    def _candidates(self, others: float) -> IntArray:
        if self.n_neighbors is None:
            return default_candidates(others)
        given = np.unique(self.n_neighbors)
        if not len(given):
            raise ValueError("n_neighbors has no candidates")
        if not np.issubdtype(given.dtype, np.integer) or given[0] < 1:
            raise ValueError(f"n_neighbors must be positive integers, got {self.n_neighbors!r}")
        return np.array([self._check_n_neighbors(k, others) for k in given])

    def _choose(self, sums: list[tuple[FloatArray, float]]) -> dict[str, Any]:
        """Fitted attributes by the sums of tau, and their weights, of some blocks of rows."""
        total = sum(weight for _, weight in sums)
        if sums:
            scores = sum((tau for tau, _ in sums), np.zeros(len(self.candidates_))) / max(total, 1e-300)
        else:
            scores = np.full(len(self.candidates_), np.nan)
        best = int(np.argmax(scores >= scores.max() - _ROUNDING))
        return {
            "cv_scores_": scores,
            "n_neighbors_": int(self.candidates_[best]),
            "best_score_": float(scores[best]),
        }

    def _tau(self, rows: IntArray, data: Training, aggregator: Aggregator) -> tuple[FloatArray, float]:
        """Weighted sum of the tau of some rows for each candidate, and the weight of the rows."""
        graphs, weight, prior = data.graphs[rows], self.weight_[rows], self._priors(rows, aggregator)
        nearest = self._search(data.X[rows], int(self.candidates_[-1]), left_out=rows)
        found, total = np.zeros(len(self.candidates_)), np.zeros(len(rows))
        for c, scores in enumerate(self._scores(aggregator, *nearest, prior)):
            balance, total = graphs.concordance(aggregator.ranks(scores))
            found[c] = weight @ np.divide(balance, total, out=np.zeros_like(total), where=total > 0)
        return found, float(weight[total > 0].sum())

    def _scores(
        self, aggregator: Aggregator, distances: FloatArray, neighbors: IntArray, share: FloatArray, prior: FloatArray
    ) -> Iterator[FloatArray]:
        """Scores with the neighbors of each candidate."""
        from labelrank._kernels.neighbors.candidates import votes_of_candidates

        if aggregator.by_votes and not callable(self.weights):
            kind = ("uniform", "distance", "dudani").index(self.weights)
            votes = np.empty((len(self.candidates_), *prior.shape))
            of_rows = self.votes_[:, :0] if aggregator.by_pairs else self.votes_
            votes_of_candidates(neighbors, distances, share, self.candidates_, kind, aggregator.rows, of_rows, votes)
            yield from (aggregator.scores_of_votes(each, prior) for each in votes)
            return
        for k in self.candidates_:
            first = first_of_weight(share, k)
            used = int((first > 0).sum(axis=1).max())
            weights = neighbor_weights(self.weights, distances[:, :used], first[:, :used])
            yield aggregator.scores(np.ascontiguousarray(neighbors[:, :used]), weights, prior)

    def _priors(self, rows: IntArray, aggregator: Aggregator) -> FloatArray:
        """What breaks ties in the prediction of each row: the votes of all others."""
        left_out = np.minimum(self.weight_[rows], 1.0)[:, np.newaxis]
        if aggregator.ranked:
            total = self.weight_.sum()
            others = self.weight_ / total @ self.votes_ - left_out / total * self.votes_[rows]
            return others / np.maximum(1.0 - left_out / total, 1e-300)
        everyone = np.arange(len(self.weight_))[np.newaxis]
        of_all = aggregator.counts(everyone, self.weight_[np.newaxis])
        counts = of_all - aggregator.counts(rows[:, np.newaxis], left_out)
        return votes_of_counts(np.where(counts > 1e-12 * of_all, counts, 0.0))  # rounding leaves traces of nothing


def default_candidates(largest: float) -> IntArray:
    """1, 2, ..., 10 and then steps of about a fifth, up to three square roots of the number of instances.

    Examples
    --------
    >>> from labelrank.neighbors.ranker_cv import default_candidates
    >>> default_candidates(100).tolist()
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 17, 20, 24, 29]
    """
    end = max(1, int(min(largest, max(10.0, 3.0 * np.sqrt(largest + 1.0)), _MOST)))
    found = [1]
    while found[-1] < end:
        found.append(max(found[-1] + 1, round(1.2 * found[-1])) if found[-1] >= 10 else found[-1] + 1)
    return np.array([k for k in found if k <= end], dtype=np.int64)
