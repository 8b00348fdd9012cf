"""Aggregate the rankings of many neighborhoods at once: by Mallows center, Borda count or Plackett-Luce weights."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from labelrank._arrays import FloatArray, IntArray, row_blocks
from labelrank.pairs import PairRows, votes_of_counts
from labelrank.supervision import ranks_from_scores, stacklevel_of_user

Aggregation = Literal["mallows", "mallows_completed", "borda", "plackett_luce"]

_MAX_ROUNDS = 50  # of completing rankings and counting votes; a few are enough
_PRIOR = 0.1
_TOL, _MAX_ITER = 1e-8, 100
_LARGEST_SPREAD = 10.0
_FEWEST = 256  # queries that are worth a thread
_BLOCK = 2**20  # pair counts of a block of queries


@dataclass(frozen=True)
class Aggregator:
    """The rankings that neighborhoods are made of, and how they are aggregated.

    A neighborhood is a row of `neighbors`, indices of rankings, and of `weights`, both of shape (n_queries,
    n_neighbors); a weight of 0 leaves the neighbor out.

    Parameters
    ----------
    aggregation : {"mallows", "mallows_completed", "borda", "plackett_luce"}
        The method.
    rows : PairRows of n_rows instances
        The rankings, or edges.
    votes : ndarray of shape (n_rows, n_labels)
        Their Borda votes.
    complete : bool
        Whether all of them are complete rankings.
    prior : ndarray of shape (n_labels,)
        Decides between labels with equal votes, larger is better.
    """

    aggregation: Aggregation
    rows: PairRows
    votes: FloatArray
    complete: bool
    prior: FloatArray

    @property
    def ranked(self) -> bool:
        """Whether the rows are rankings; edges otherwise."""
        return bool(self.rows.values.shape[1])

    @property
    def by_pairs(self) -> bool:
        """Whether each pair of labels is decided by the neighbors that compare them."""
        return not self.ranked or (self.aggregation == "mallows" and not self.complete)

    def scores(self, neighbors: IntArray, weights: FloatArray, prior: FloatArray | None = None) -> FloatArray:
        """Scores of the labels, (n_queries, n_labels); `prior`, of this shape, replaces that of all queries."""
        from labelrank._kernels.neighbors.centers import completed_centers
        from labelrank._kernels.pairs.votes import level_ties

        prior = np.tile(self.prior, (len(neighbors), 1)) if prior is None else prior
        if self.aggregation == "plackett_luce":
            scores = self._log_weights(neighbors, weights)
            level_ties(scores)
            return scores
        if self.aggregation == "mallows_completed" and self.ranked and not self.complete:
            centers = np.empty_like(prior)
            completed_centers(neighbors, weights, prior, centers, self.rows.values, _MAX_ROUNDS)
            return prior.shape[1] + 1 - centers
        return self.scores_of_sums(self.sums(neighbors, weights), weights.sum(axis=1), prior)

    def sums(self, neighbors: IntArray, weights: FloatArray) -> FloatArray:
        """Weighted sums over neighborhoods: of pair counts, (n_queries, n_labels, n_labels), or of votes."""
        return self.counts(neighbors, weights) if self.by_pairs else _products(neighbors, weights, self.votes)

    def scores_of_sums(self, sums: FloatArray, total: FloatArray, prior: FloatArray) -> FloatArray:
        """Scores by sums of neighborhoods and by their total weights, (n_queries,)."""
        from labelrank._kernels.neighbors.centers import centers_of_votes
        from labelrank._kernels.pairs.votes import level_ties

        k = self.votes.shape[1]
        if self.by_pairs:
            votes = votes_of_counts(sums)
        else:
            by = total[:, np.newaxis]
            votes = np.divide(sums, by, out=np.full_like(sums, (k + 1) / 2), where=by > 0)
        if self.aggregation == "borda":
            level_ties(votes)
            return votes
        centers = np.empty_like(votes)
        centers_of_votes(votes, prior, centers)
        return k + 1 - centers

    def counts(self, neighbors: IntArray, weights: FloatArray) -> FloatArray:
        """Pair counts, (n_queries, n_labels, n_labels); a tied pair is half a vote for each side."""
        from labelrank._kernels.pairs.rows import counts_of_neighbors

        k = self.votes.shape[1]
        counts = np.zeros((len(neighbors), k, k))
        counts_of_neighbors(neighbors, weights, counts, self.rows, 0.5)
        return counts

    def spread(self, neighbors: IntArray, weights: FloatArray) -> FloatArray:
        """Theta of the Mallows model around the predicted rankings, (n_queries,)."""
        return self._spread(neighbors, weights, ranks_from_scores(self.scores(neighbors, weights)))

    def pair_proba(self, neighbors: IntArray, weights: FloatArray) -> FloatArray:
        """P(i before j), (n_queries, n_labels, n_labels)."""
        if self.aggregation == "borda":
            counts = self.counts(neighbors, weights)
            proba = (counts + 0.5) / (counts + counts.transpose(0, 2, 1) + 1.0)
        elif self.aggregation == "plackett_luce":
            scores = self.scores(neighbors, weights)
            proba = 1.0 / (1.0 + np.exp(scores[:, np.newaxis] - scores[:, :, np.newaxis]))
        else:
            from labelrank._kernels.neighbors.centers import mallows_pairs

            centers = ranks_from_scores(self.scores(neighbors, weights))
            proba = np.empty((*centers.shape, centers.shape[1]))
            mallows_pairs(centers, self._spread(neighbors, weights, centers), proba)
        return proba

    def _spread(self, neighbors: IntArray, weights: FloatArray, centers: FloatArray) -> FloatArray:
        from labelrank._kernels.neighbors.centers import spreads

        theta = np.empty(len(neighbors))
        spreads(self.counts(neighbors, weights), centers, theta, self.complete, _LARGEST_SPREAD)
        return theta

    def _log_weights(self, neighbors: IntArray, weights: FloatArray) -> FloatArray:
        """Logarithms of Plackett-Luce weights."""
        from labelrank._kernels.aggregation.plackett_luce import log_weights_of_counts, log_weights_of_ranks

        found = np.empty((len(neighbors), self.votes.shape[1]))
        how = (_PRIOR, _TOL, _MAX_ITER)
        if self.ranked:
            change = log_weights_of_ranks(neighbors, weights, found, self.rows.values, *how)
        else:
            change = log_weights_of_counts(self.counts(neighbors, weights), found, *how)
        if change > _TOL:
            warnings.warn(
                f"the Plackett-Luce weights of some instances still change by {change:.1e}, relative, after "
                f"{_MAX_ITER} iterations",
                ConvergenceWarning,
                stacklevel=stacklevel_of_user(),
            )
        return found


def _products(neighbors: IntArray, weights: FloatArray, values: FloatArray) -> FloatArray:
    """Weighted sums of the rows of `values` over neighborhoods, as a sparse matrix product."""
    q, m = neighbors.shape
    by_row = (weights.ravel(), neighbors.ravel(), np.arange(0, q * m + 1, max(m, 1)))
    return np.asarray(sparse.csr_array(by_row, shape=(q, len(values))) @ values)


def over_queries(work: Callable[..., FloatArray], *arrays: Any, n_labels: int, n_jobs: int | None) -> FloatArray:
    """Concatenate the results of `work` for blocks of rows of the arrays, in threads if `n_jobs` asks for them."""
    n = len(arrays[0])
    jobs = effective_n_jobs(n_jobs) if n > _FEWEST else 1
    rows = max(_FEWEST, -(-n // jobs)) if jobs > 1 else n
    entries = min(_BLOCK, rows * n_labels**2)
    calls = [[array[block] for array in arrays] for block in row_blocks(n, n_labels**2, entries)]
    if jobs == 1 or len(calls) == 1:
        return np.concatenate([work(*call) for call in calls])
    return np.concatenate(Parallel(n_jobs=jobs, prefer="threads")(delayed(work)(*call) for call in calls))
