"""Aggregate the rankings of many neighborhoods at once: by Mallows center, Borda count or Plackett-Luce weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed
from scipy import sparse

from labelrank._arrays import FloatArray, IntArray, row_blocks
from labelrank._memory import require_pair_matrices
from labelrank._threads import n_threads
from labelrank.aggregation.mallows import pair_probabilities, spread_of_counts
from labelrank.aggregation.plackett_luce import MAX_ITER, PRIOR, TOL, warn_of_change
from labelrank.pairs import PairRows, votes_of_counts
from labelrank.supervision import ranks_from_scores

Aggregation = Literal["mallows", "mallows_completed", "borda", "plackett_luce"]

_MAX_ROUNDS = 50  # of completing rankings and counting votes; a few are enough
_FEWEST = 256  # queries that are worth a thread
_TABLE = 2**26  # comparisons of all rows
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
    many : bool, default=False
        Whether there are more neighbors than rows, so that comparing the labels of each row once is faster.
    """

    aggregation: Aggregation
    rows: PairRows
    votes: FloatArray
    complete: bool
    prior: FloatArray
    many: bool = False

    @property
    def ranked(self) -> bool:
        """Whether the rows are rankings; edges otherwise."""
        return bool(self.rows.values.shape[1])

    @property
    def by_votes(self) -> bool:
        """Whether votes are added up; completed rankings and Plackett-Luce weights need all neighbors at once."""
        return self.aggregation in ("mallows", "borda") or (
            self.aggregation == "mallows_completed" and (self.complete or not self.ranked)
        )

    @property
    def by_pairs(self) -> bool:
        """Whether each pair of labels is decided by the neighbors that compare them."""
        return not self.ranked or (self.aggregation == "mallows" and not self.complete)

    def scores(self, neighbors: IntArray, weights: FloatArray, prior: FloatArray | None = None) -> FloatArray:
        """Scores of the labels, (n_queries, n_labels); `prior`, of this shape, replaces that of all queries."""
        from labelrank._kernels.aggregation.plackett_luce import log_weights
        from labelrank._kernels.neighbors.centers import completed_centers
        from labelrank._kernels.pairs.votes import level_ties

        prior = np.tile(self.prior, (len(neighbors), 1)) if prior is None else prior
        found = np.empty_like(prior)
        if self.aggregation == "plackett_luce":
            warn_of_change(log_weights(neighbors, weights, found, self.rows, PRIOR, TOL, MAX_ITER))
            level_ties(found)
            return found
        if not self.by_votes:
            completed_centers(neighbors, weights, prior, found, self.rows.values, _MAX_ROUNDS)
            return prior.shape[1] + 1 - found
        by = self._votes_by_pairs if self.by_pairs else self._mean_votes
        return self.scores_of_votes(by(neighbors, weights), prior)

    def scores_of_votes(self, votes: FloatArray, prior: FloatArray) -> FloatArray:
        """Scores of the labels by their votes: these, or ``n_labels + 1 - rank`` in the center."""
        from labelrank._kernels.neighbors.centers import centers_of_votes
        from labelrank._kernels.pairs.votes import level_ties

        if self.aggregation == "borda":
            level_ties(votes)
            return votes
        centers = np.empty_like(votes)
        centers_of_votes(votes, prior, centers)
        return votes.shape[1] + 1 - centers

    def ranks(self, scores: FloatArray) -> FloatArray:
        """Ranks of scores of this aggregation."""
        if self.aggregation in ("mallows", "mallows_completed"):  # without ties
            return scores.shape[1] + 1 - scores
        return np.asarray(ranks_from_scores(scores))

    def counts(self, neighbors: IntArray, weights: FloatArray) -> FloatArray:
        """Pair counts, (n_queries, n_labels, n_labels); a tied pair is half a vote for each side."""
        from labelrank._kernels.pairs.rows import counts_of_neighbors

        k = self.votes.shape[1]
        require_pair_matrices((len(neighbors), k), "pair counts")
        counts = np.zeros((len(neighbors), k, k))
        counts_of_neighbors(neighbors, weights, counts, self.rows, 0.5)
        return counts

    def _votes_by_pairs(self, neighbors: IntArray, weights: FloatArray) -> FloatArray:
        """Votes of the pair counts of neighborhoods."""
        from labelrank._kernels.neighbors.comparisons import votes_of_comparisons

        n, k = self.votes.shape
        if self.many and self.ranked and n * k * k <= _TABLE and (weights == 1).all():
            votes = np.empty((len(neighbors), k))
            votes_of_comparisons(neighbors, votes, self.comparisons)
            return votes
        return votes_of_counts(self.counts(neighbors, weights))

    @cached_property
    def comparisons(self) -> npt.NDArray[np.uint8]:
        """Comparisons of the labels of each row, (n_rows, n_labels * n_labels)."""
        from labelrank._kernels.neighbors.comparisons import compare_labels

        n, k = self.votes.shape
        table = np.empty((n, k * k), np.uint8)
        compare_labels(self.rows.values, table)
        return table

    def _mean_votes(self, neighbors: IntArray, weights: FloatArray) -> FloatArray:
        """Mean votes of neighborhoods; (n_labels + 1)/2 if no neighbor has a weight."""
        (q, m), (n, k) = neighbors.shape, self.votes.shape
        of_rows = sparse.csr_array((weights.ravel(), neighbors.ravel(), np.arange(0, q * m + 1, m)), shape=(q, n))
        total = weights.sum(axis=1, keepdims=True)
        return np.divide(of_rows @ self.votes, total, out=np.full((q, k), (k + 1) / 2), where=total > 0)

    def predict(self, neighbors: IntArray, weights: FloatArray) -> FloatArray:
        """Predicted ranks, (n_queries, n_labels)."""
        return self.ranks(self.scores(neighbors, weights))

    def spread(self, neighbors: IntArray, weights: FloatArray) -> FloatArray:
        """Theta of the Mallows model around the predicted rankings, (n_queries,)."""
        return spread_of_counts(self.counts(neighbors, weights), self.predict(neighbors, weights))

    def pair_proba(self, neighbors: IntArray, weights: FloatArray) -> FloatArray:
        """P(i before j), (n_queries, n_labels, n_labels)."""
        if self.aggregation == "borda":
            counts = self.counts(neighbors, weights)
            proba = (counts + 0.5) / (counts + counts.transpose(0, 2, 1) + 1.0)
        elif self.aggregation == "plackett_luce":
            scores = self.scores(neighbors, weights)
            proba = 1.0 / (1.0 + np.exp(scores[:, np.newaxis] - scores[:, :, np.newaxis]))
        else:
            centers = self.predict(neighbors, weights)
            proba = pair_probabilities(centers, spread_of_counts(self.counts(neighbors, weights), centers))
        return proba


def over_queries(work: Callable[..., FloatArray], *arrays: Any, n_labels: int, n_jobs: int | None) -> FloatArray:
    """Concatenate the results of `work` for blocks of rows of the arrays, in threads if `n_jobs` asks for them."""
    n = len(arrays[0])
    jobs = n_threads(n_jobs) if n > _FEWEST else 1
    rows = max(_FEWEST, -(-n // jobs)) if jobs > 1 else n
    entries = min(_BLOCK, rows * n_labels**2)
    calls = [[array[block] for array in arrays] for block in row_blocks(n, n_labels**2, entries)]
    if jobs == 1 or len(calls) == 1:
        return np.concatenate([work(*call) for call in calls])
    return np.concatenate(Parallel(n_jobs=jobs, require="sharedmem")(delayed(work)(*call) for call in calls))
