"""Joining the rankings of many neighbourhoods at once: by Mallows centre, Borda count or Plackett-Luce weights."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed, effective_n_jobs

from labelrank.aggregation.mallows import pair_probabilities, spread_of_counts
from labelrank.aggregation.plackett_luce import MAX_ITER, PRIOR, TOL, warn_of_change
from labelrank.pairs import PairRows
from labelrank.supervision import PreferenceGraphs

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Aggregation = Literal["mallows", "mallows_completed", "borda", "plackett_luce"]

_MAX_ROUNDS = 50  # of completing and counting; a few are enough
_BLOCK = 2**20  # numbers in the pair counts of one block of queries
_TABLE = 2**26  # entries of a table of all preferences of all rows; beyond it pairs are compared when they are needed
_FEWEST = 256  # queries that are worth a thread


class NeighborhoodsMixin:
    """Scores, centres, pair counts and spreads of neighbourhoods, for an estimator with the arrays of the rankings.

    A neighbourhood is a row of `neighbors`, indices of rows that were learned from, and of `weights`; both have the
    shape (n_queries, n_neighbors). Every method works on all queries in compiled loops, in blocks that `n_jobs` spreads
    over threads.
    """

    aggregation: Aggregation
    n_jobs: int | None
    labels_: npt.NDArray[Any]
    weight_: FloatArray

    def _learn_rankings(self, y: Any, weight: FloatArray) -> npt.NDArray[np.bool_]:
        """Set the arrays that the kernels read: ranks and votes, or edges, and the order of the labels over all rows.

        Returns which rows are kept: those with a weight and a preference.
        """
        from labelrank._kernels.neighbors.neighborhoods import (
            centers_of_votes,
            kind_of_rankings,
            preference_table,
            vote_matrix,
        )
        from labelrank._kernels.pairs.votes import votes_of_all_counts

        n, k = y.shape
        with_edges = isinstance(y, PreferenceGraphs) and y.storage == "edges"
        ranks, votes, has_pair = np.empty((n, 0)), np.empty((n, 0)), np.empty(n, dtype=np.bool_)
        if with_edges:
            has_pair = y.edge_counts() > 0
        else:
            given = y.to_ranks() if isinstance(y, PreferenceGraphs) else y
            ranks, votes = np.array(given, dtype=np.float64, order="C"), np.empty((n, k))
            vote_matrix(ranks, votes, has_pair)
        kept = (weight > 0) & has_pair
        if not kept.any():  # where nobody prefers anything, any neighbour is as good as another
            kept = weight > 0
        if not kept.all():
            y, ranks, votes, weight = y[kept], ranks[kept], votes[kept], weight[kept]
        self.weight_, self.ranks_, self.votes_ = weight, ranks, votes
        overall = np.empty((1, k))
        if with_edges:
            self.storage_ = "edges"
            self.indptr_ = y.indptr.astype(np.int64)
            self.edges_ = np.column_stack([y.better, y.worse]).astype(np.int64)
            self.edge_weight_ = np.ones(len(self.edges_)) if y.weight is None else y.weight.astype(np.float64)
            votes_of_all_counts(self._counts(np.arange(len(weight))[np.newaxis], weight[np.newaxis]), overall)
        else:
            self.storage_ = ("incomplete", "complete", "strict")[kind_of_rankings(ranks)]
            self.indptr_ = np.zeros(len(weight) + 1, np.int64)
            self.edges_, self.edge_weight_ = np.empty((0, 2), np.int64), np.empty(0)
            overall[0] = weight @ votes / weight.sum()
        self.table_ = np.zeros((len(weight), (k * k + 7) // 8 * 8 if self._uses_table else 0), np.uint8)
        if self._uses_table:
            preference_table(ranks, self.table_)
        self.overall_ranks_ = np.empty(k)
        centers_of_votes(overall, overall, self.overall_ranks_[np.newaxis])
        return kept

    @property
    def _pairs(self) -> tuple[npt.NDArray[Any], ...]:
        """What the kernels that work on pairs read."""
        return self.ranks_, self.indptr_, self.edges_, self.edge_weight_

    # --- Scores and centres

    def _scores(self, neighbors: IntArray, weights: FloatArray, prior: FloatArray | None = None) -> FloatArray:
        """What ``decision_function`` returns; `prior` breaks ties of the Mallows centre."""
        if self.aggregation in ("mallows", "mallows_completed"):
            return len(self.labels_) + 1.0 - self._centers(neighbors, weights, prior)
        from labelrank._kernels.pairs.votes import level_ties

        by = self._votes if self.aggregation == "borda" else self._log_weights
        scores = by(neighbors, weights)
        self._over_queries(level_ties, scores)
        return scores

    def _centers(self, neighbors: IntArray, weights: FloatArray, prior: FloatArray | None = None) -> FloatArray:
        """Ranks without ties: labels with the same votes go by `prior`, by default their order over all rows."""
        from labelrank._kernels.neighbors.neighborhoods import centers_of_votes, completed_centers

        shape = (len(neighbors), len(self.labels_))
        centers = np.empty(shape)
        prior = np.broadcast_to(-self.overall_ranks_, shape) if prior is None else prior
        if self.aggregation == "mallows_completed" and self.storage_ == "incomplete":
            self._over_queries(completed_centers, neighbors, weights, prior, centers, fixed=(self.ranks_, _MAX_ROUNDS))
            return centers
        by = self._log_weights if self.aggregation == "plackett_luce" else self._votes
        self._over_queries(centers_of_votes, by(neighbors, weights), prior, centers)
        return centers

    @property
    def _by_pairs(self) -> bool:
        """Whether votes are counted pair by pair: by the shares of those that have observed both labels."""
        return self.storage_ == "edges" or (self.storage_ == "incomplete" and self.aggregation == "mallows")

    @property
    def _uses_table(self) -> bool:
        """Whether the pairs of incomplete rankings are compared once, in `fit`."""
        return self._by_pairs and self.storage_ == "incomplete" and len(self.weight_) * len(self.labels_) ** 2 <= _TABLE

    def _votes(self, neighbors: IntArray, weights: FloatArray) -> FloatArray:
        """Mean Borda votes."""
        from labelrank._kernels.neighbors.neighborhoods import mean_votes, votes_of_table
        from labelrank._kernels.pairs.votes import votes_of_all_counts

        votes = np.empty((len(neighbors), len(self.labels_)))
        if not self._by_pairs:
            self._over_queries(mean_votes, neighbors, weights, votes, fixed=(self.votes_,))
            return votes
        if self.table_.shape[1]:
            self._over_queries(votes_of_table, neighbors, weights, votes, fixed=(self.table_,))
            return votes

        def of_block(neighbors: IntArray, weights: FloatArray, votes: FloatArray) -> None:
            votes_of_all_counts(self._counts(neighbors, weights), votes)

        self._over_queries(of_block, neighbors, weights, votes)
        return votes

    def _log_weights(self, neighbors: IntArray, weights: FloatArray) -> FloatArray:
        """Logarithms of Plackett-Luce weights."""
        from labelrank._kernels.aggregation.plackett_luce import log_weights

        found = np.empty((len(neighbors), len(self.labels_)))
        better, worse = np.ascontiguousarray(self.edges_.T)
        rows = PairRows(self.ranks_, self.indptr_, better, worse, self.edge_weight_)
        changes = self._over_queries(log_weights, neighbors, weights, found, fixed=(rows, PRIOR, TOL, MAX_ITER))
        warn_of_change(max(changes, default=0.0))
        return found

    # --- Pairs

    def _counts(self, neighbors: IntArray, weights: FloatArray) -> FloatArray:
        """Pair counts of shape (n_queries, n_labels, n_labels); a tied pair is half a pair on each side."""
        from labelrank._kernels.neighbors.neighborhoods import count_pairs

        k = len(self.labels_)
        counts = np.zeros((len(neighbors), k, k))
        count_pairs(neighbors, weights, counts, *self._pairs)
        return counts

    def _spreads(self, neighbors: IntArray, weights: FloatArray, centers: FloatArray) -> FloatArray:
        """Theta around the given centres."""
        theta = np.empty(len(neighbors))

        def of_block(neighbors: IntArray, weights: FloatArray, centers: FloatArray, theta: FloatArray) -> None:
            theta[:] = spread_of_counts(self._counts(neighbors, weights), centers)

        self._over_queries(of_block, neighbors, weights, centers, theta)
        return theta

    def _pair_proba(self, neighbors: IntArray, weights: FloatArray) -> FloatArray:
        """P(i before j) by the aggregation, of shape (n_queries, n_labels, n_labels)."""
        k = len(self.labels_)
        proba = np.empty((len(neighbors), k, k))
        if self.aggregation in ("mallows", "mallows_completed"):
            centers = self._centers(neighbors, weights)
            return pair_probabilities(centers, self._spreads(neighbors, weights, centers))

        def shares(neighbors: IntArray, weights: FloatArray, proba: FloatArray) -> None:
            counts = self._counts(neighbors, weights)
            proba[:] = (counts + 0.5) / (counts + counts.transpose(0, 2, 1) + 1.0)

        def odds(log_weights: FloatArray, proba: FloatArray) -> None:
            proba[:] = 1.0 / (1.0 + np.exp(log_weights[:, np.newaxis] - log_weights[:, :, np.newaxis]))

        if self.aggregation == "borda":
            self._over_queries(shares, neighbors, weights, proba)
        else:
            self._over_queries(odds, self._log_weights(neighbors, weights), proba)
        return proba

    # -----------------------------------------------------------------------------------------------------------

    def _over_queries(
        self, work: Callable[..., Any], *arrays: npt.NDArray[Any], fixed: tuple[Any, ...] = ()
    ) -> list[Any]:
        """Call `work` with blocks of rows of the arrays, in threads where `n_jobs` says so; what the calls returned."""
        n, k = len(arrays[0]), len(self.labels_)
        jobs = 1 if self.n_jobs in (None, 1) and n < _FEWEST else effective_n_jobs(self.n_jobs)
        size = max(1, min(-(-n // jobs), _BLOCK // (k * k)))
        bounds = [*range(0, n, max(size, _FEWEST) if jobs > 1 else size), n]
        calls = [[array[first:last] for array in arrays] for first, last in itertools.pairwise(bounds)]
        if jobs == 1 or len(calls) == 1:
            return [work(*call, *fixed) for call in calls]
        return list(Parallel(n_jobs=jobs, prefer="threads")(delayed(work)(*call, *fixed) for call in calls))
