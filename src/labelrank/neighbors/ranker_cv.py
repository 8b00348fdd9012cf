"""Nearest neighbours whose number is chosen by leave-one-out."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from labelrank.neighbors.neighborhoods import Aggregation, FloatArray, IntArray
from labelrank.neighbors.ranker import BaseNeighborsRanker, Weights, _total, first_of_weight
from labelrank.rankers.base import OnEmpty
from labelrank.supervision import ranks_from_scores

_ROUNDING = 1e-10  # scores that differ by less are equal, and the smaller number of neighbours is taken


class KNeighborsRankerCV(BaseNeighborsRanker):
    """Nearest neighbours, with the number of neighbours chosen by leave-one-out on the training set.

    Every instance is predicted from its neighbours among the others. The neighbours are searched once; one walk down
    the sorted list of each instance adds up votes and scores every candidate on its way.

    Parameters
    ----------
    n_neighbors : array-like of int, optional
        Candidates. By default the numbers from 1 to 10 and then steps of about a fifth, up to three times the square
        root of the number of instances.
    weights, metric, p, algorithm, leaf_size, metric_params, aggregation, n_jobs, on_empty
        As in :class:`KNeighborsRanker`.

    Attributes
    ----------
    n_neighbors_ : int
        The number with the largest score, the smallest of them if several have it.
    best_score_ : float
        Its score.
    candidates_ : ndarray of shape (n_candidates,)
        The candidates, ascending.
    cv_scores_ : ndarray of shape (n_candidates,)
        Mean Kendall tau over the observed pairs of each candidate.
    search_, rows_, weight_, storage_, overall_ranks_, labels_, n_features_in_
        As in :class:`KNeighborsRanker`, and so are the arrays with the rankings.

    Notes
    -----
    With ``aggregation="mallows_completed"`` or ``"plackett_luce"``, or a callable for `weights`, there is nothing to
    add up, and the training set is predicted anew for each candidate, from the same lists of neighbours.

    A row with sample weight w is w rows, of which one at a time is left out.

    Examples
    --------
    >>> from labelrank import KNeighborsRankerCV
    >>> from labelrank.datasets import load_iris_rankings
    >>> X, y = load_iris_rankings(return_X_y=True)
    >>> ranker = KNeighborsRankerCV(weights="dudani").fit(X, y)
    >>> print(f"{ranker.n_neighbors_} neighbours, {ranker.best_score_:.2f}")
    8 neighbours, 0.99
    """

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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KNeighborsRankerCV:
        """Index the instances and choose the number of neighbours.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances; their distances to each other with ``metric="precomputed"``.
        y : rank matrix or PreferenceGraphs of shape (n_samples, n_labels)
            What was observed: missing labels, ties, layered graphs, and graphs with cycles.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the instances: of how many rows each has the weight.

        Returns
        -------
        self
        """
        X = self._prepare(X, y, sample_weight)
        others = _total(self.weight_) - 1
        self.candidates_ = self._candidates(others)
        if others < 1:  # a single instance has no other one to learn from
            self.cv_scores_ = np.full(len(self.candidates_), np.nan)
        else:
            tau = self._leave_one_out(X)
            counted = ~np.isnan(tau[:, 0])
            weight = self.weight_[counted]
            self.cv_scores_ = weight @ tau[counted] / weight.sum() if len(weight) else np.zeros(tau.shape[1])
        known = np.where(np.isnan(self.cv_scores_), -np.inf, self.cv_scores_)
        best = int(np.argmax(known >= np.max(known) - _ROUNDING))
        self.n_neighbors_ = int(self.candidates_[best])
        self.best_score_ = float(self.cv_scores_[best])
        return self

    def _candidates(self, others: float) -> IntArray:
        if self.n_neighbors is None:
            return default_candidates(others)
        given = [self.n_neighbors] if isinstance(self.n_neighbors, numbers.Number) else list(self.n_neighbors)
        if not given:
            raise ValueError("n_neighbors has no candidates")
        return np.unique([self._check_n_neighbors(k, others) for k in given]).astype(np.int64)

    def _leave_one_out(self, X: Any) -> FloatArray:
        """Tau of each row and candidate; NaN in a row without pairs."""
        distances, neighbors, share = self._search(X, int(self.candidates_[-1]), leave_out=True)
        prior = self._priors()
        tau = np.full((len(neighbors), len(self.candidates_)), np.nan)
        if callable(self.weights) or self.aggregation in ("plackett_luce", "mallows_completed"):
            for column, k in enumerate(self.candidates_):
                tau[:, column] = self._tau_with(int(k), distances, neighbors, share, prior)
            return tau
        from labelrank._kernels.neighbors.leave_one_out import loo_of_pairs, loo_of_votes

        rows = (np.arange(len(neighbors)), neighbors, distances, share, prior, tau)
        how = (self.candidates_, ("uniform", "distance", "dudani").index(self.weights), self.aggregation != "borda")
        if self._by_pairs:
            self._over_queries(loo_of_pairs, *rows, fixed=(*self._pairs, *how))
        else:
            self._over_queries(loo_of_votes, *rows, fixed=(*self._pairs, self.votes_, *how))
        return tau

    def _priors(self) -> FloatArray:
        """What breaks ties, for each row the order of the labels over all others."""
        from labelrank._kernels.neighbors.leave_one_out import priors_of_pairs, priors_of_votes

        query = np.arange(len(self.weight_))
        prior = np.empty((len(query), len(self.labels_)))
        if self.storage_ == "edges":
            total = self._counts(query[np.newaxis], self.weight_[np.newaxis])[0]
            self._over_queries(priors_of_pairs, query, prior, fixed=(total, self.weight_, *self._pairs))
        else:
            total = self.weight_ @ self.votes_
            self._over_queries(priors_of_votes, query, prior, fixed=(total, self.weight_, self.votes_))
        return prior

    def _tau_with(
        self, k: int, distances: FloatArray, neighbors: IntArray, share: FloatArray, prior: FloatArray
    ) -> FloatArray:
        """Tau of each row with k neighbours, all of them predicted anew."""
        from labelrank._kernels.neighbors.leave_one_out import tau_of_all

        if (self.weight_ == 1).all():
            distances, neighbors, share = distances[:, :k], np.ascontiguousarray(neighbors[:, :k]), share[:, :k]
        weights = self._weigh(distances, first_of_weight(share, k))
        predicted = ranks_from_scores(self._scores(neighbors, weights, prior))
        tau = np.empty(len(neighbors))
        self._over_queries(tau_of_all, np.arange(len(neighbors)), predicted, tau, fixed=self._pairs)
        return tau


def default_candidates(largest: float) -> IntArray:
    """1, 2, ..., 10 and then steps of about a fifth, up to three square roots of the number of instances.

    Examples
    --------
    >>> from labelrank.neighbors.ranker_cv import default_candidates
    >>> default_candidates(100).tolist()
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 17, 20, 24, 29]
    """
    end = max(1, int(min(largest, max(10.0, 3.0 * np.sqrt(largest + 1.0)))))
    found = [1]
    while found[-1] < end:
        found.append(max(found[-1] + 1, round(1.2 * found[-1])) if found[-1] >= 10 else found[-1] + 1)
    return np.array([k for k in found if k <= end], dtype=np.int64)
