"""Base class of the rankers by nearest neighbors: search, weights of the neighbors, and prediction."""

from __future__ import annotations

import functools
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, get_args

import numpy as np
from sklearn import config_context
from sklearn.neighbors import NearestNeighbors

from labelrank._arrays import FloatArray, IntArray, row_blocks
from labelrank._compat import Interval, StrOptions
from labelrank._memory import require_pair_matrices
from labelrank.neighbors.aggregator import Aggregation, Aggregator, over_queries
from labelrank.neighbors.weights import Weights, first_of_weight, neighbor_weights
from labelrank.pairs import PairRows, pair_rows
from labelrank.rankers.base import BaseRanker, Training

_ROWS = 512  # queries that are searched at once, at least
_ENTRIES = 2**20  # neighbors of these queries, otherwise


class Neighborhoods(NamedTuple):
    """The neighbors of each query, nearest first."""

    distances: FloatArray  # (n_queries, n_neighbors)
    rows: IntArray  # (n_queries, n_neighbors)
    weights: FloatArray  # (n_queries, n_neighbors)


class BaseNeighborsRanker(BaseRanker):
    """Index of the training rows, neighborhoods of queries, and predictions from them."""

    weights: Weights
    metric: Any
    p: float
    algorithm: str
    leaf_size: int
    metric_params: dict[str, Any] | None
    aggregation: Aggregation
    n_jobs: int | None
    n_neighbors_: int

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseRanker._parameter_constraints,
        "metric": [str, callable],
        "p": [Interval(Real, 0, None, closed="right")],
        "algorithm": [StrOptions({"auto", "ball_tree", "kd_tree", "brute"})],
        "leaf_size": [Interval(Integral, 1, None, closed="left")],
        "metric_params": [dict, None],
        "n_jobs": [Integral, None],
        "weights": [StrOptions({"uniform", "distance", "dudani"}), callable],
        "aggregation": [StrOptions(set(get_args(Aggregation)))],
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not callable(self.metric)
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.input_tags.allow_nan = self.metric == "nan_euclidean"
        return tags

    def predict(self, X: Any) -> FloatArray:
        """Predict a ranking of all labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances; their distances to the rows of ``fit`` with ``metric="precomputed"``.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Ranks: 1 + the number of labels with a larger score.
        """
        return self._over_queries(X, Aggregator.predict)

    def decision_function(self, X: Any) -> FloatArray:
        """Scores of the labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances; their distances to the rows of ``fit`` with ``metric="precomputed"``.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Larger is better. ``"mallows"``, completed or not: ``n_labels + 1 - rank`` in the center, without ties.
            ``"borda"``: the mean number of votes. ``"plackett_luce"``: the logarithms of the weights.
        """
        return self._over_queries(X, Aggregator.scores)

    def pairwise_proba(self, X: Any) -> FloatArray:
        """Probability that label i comes before label j.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        ndarray of shape (n_samples, n_labels, n_labels)
            ``"mallows"``, completed or not: of the model with the center and the spread of the neighborhood.
            ``"borda"``: the share of the neighbors that rank i before j, with half a vote added to each side.
            ``"plackett_luce"``: of the fitted weights. 1/2 on the diagonal.
        """
        return self._over_queries(X, Aggregator.pair_proba)

    def predict_spread(self, X: Any) -> FloatArray:
        """How much the neighbors agree: theta of the Mallows model around the predicted ranking.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        ndarray of shape (n_samples,)
            From 0, no agreement, to 10, no pair disagrees with the prediction.
        """
        return self._over_queries(X, Aggregator.spread)

    def kneighbors(self, X: Any) -> Neighborhoods:
        """Find the instances that predictions are made of.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        Neighborhoods
            `distances`, `rows` (of ``fit``) and `weights` of the neighbors, nearest first, each of shape (n_samples,
            n_found). A weight of 0 leaves a neighbor out.
        """
        X = self._check_X(X)
        neighbors, weights = self._neighborhoods(X)
        if self.metric == "precomputed":
            distances = np.take_along_axis(np.asarray(X), self.rows_[neighbors], axis=1)
        else:
            distances = self._kneighbors(X, neighbors.shape[1])[0]
        return Neighborhoods(distances, self.rows_[neighbors], weights)

    def _over_queries(self, X: Any, method: Callable[..., FloatArray]) -> FloatArray:
        """A method of :class:`Aggregator` for the neighborhoods of all queries."""
        X = self._check_X(X)
        n, k = X.shape[0], len(self.labels_)
        if method is Aggregator.pair_proba:
            require_pair_matrices((n, k), copies=2)  # of blocks, which are then joined
        aggregator = self._aggregator(many=n * self.n_neighbors_ > len(self.weight_))

        def of_block(rows: slice) -> FloatArray:
            work = functools.partial(method, aggregator)
            return over_queries(work, *self._neighborhoods(X[rows]), n_labels=k, n_jobs=self.n_jobs)

        blocks = row_blocks(n, 1, block_rows(self.n_neighbors_, self.weight_))
        return np.concatenate([of_block(rows) for rows in blocks])

    def _aggregator(self, *, many: bool = False) -> Aggregator:
        rows, prior = PairRows(*self.pairs_), -self.overall_ranks_
        return Aggregator(self.aggregation, rows, self.votes_, self.complete_, prior, many)

    # --- Fit

    def _checks(self) -> dict[str, Any]:
        finite = "allow-nan" if self.metric == "nan_euclidean" else True
        return {"accept_sparse": "csr", "order": "C", "ensure_all_finite": finite}

    def _index(self, data: Training) -> Training:
        """Set the arrays of the rows with a weight and a preference, and index these rows; returns them."""
        from labelrank._kernels.neighbors.centers import centers_of_votes

        X, graphs, weight = data
        kept = (weight > 0) & graphs.has_pairs()
        if not kept.any():  # without any preference, any neighbor is as good as another
            kept = weight > 0
        if not kept.all():
            X = X[kept][:, kept] if self.metric == "precomputed" else X[kept]
            graphs, weight = graphs[kept], weight[kept]
        elif self.metric != "precomputed":
            X = X.copy()  # the index keeps it; of distances, only those of queries are used
        self.rows_, self.weight_ = np.flatnonzero(kept), weight
        self.pairs_: list[Any] = [np.array(array) for array in pair_rows(graphs)]  # not the memory of the user's y
        self.votes_, self.complete_ = graphs.votes(), graphs.is_complete
        votes = weight / weight.sum() @ self.votes_ if graphs.is_ranked else graphs.mean_votes(weight)
        overall = np.empty((1, len(votes)))
        centers_of_votes(votes[np.newaxis], votes[np.newaxis], overall)
        self.overall_ranks_ = overall[0]
        self.search_ = NearestNeighbors(
            metric=self.metric,
            p=self.p,
            algorithm=self.algorithm,
            leaf_size=self.leaf_size,
            metric_params=self.metric_params,
            n_jobs=self.n_jobs,
        )
        with config_context(assume_finite=True):  # X was validated
            self.search_.fit(X)
        return Training(X, graphs, weight)

    def _check_n_neighbors(self, n_neighbors: int, available: float) -> int:
        if n_neighbors > available:
            of = "rows with a preference" if (self.weight_ == 1).all() else "the total weight of rows with a preference"
            raise ValueError(
                f"n_neighbors={n_neighbors}, but there are only {available:g} neighbors to choose from ({of}, "
                f"n_samples={len(self.rows_)}); use a smaller n_neighbors"
            )
        return int(n_neighbors)

    # --- Neighbors and their weights

    def _neighborhoods(self, X: Any) -> tuple[IntArray, FloatArray]:
        """Indices and weights of the neighbors of each query."""
        if self.metric == "precomputed" and len(self.rows_) < self.n_features_in_:
            X = X[:, self.rows_]
        k = self.n_neighbors_
        if self.weights == "uniform" and (self.weight_ == 1).all():
            neighbors = self._kneighbors(X, k, return_distance=False)
            return neighbors, np.ones(neighbors.shape)
        distances, neighbors, share = self._search(X, k)
        return neighbors, neighbor_weights(self.weights, distances, first_of_weight(share, k))

    def _kneighbors(self, X: Any, size: int, *, return_distance: bool = True) -> Any:
        with config_context(assume_finite=True, skip_parameter_validation=True):  # X was validated
            return self.search_.kneighbors(X, size, return_distance=return_distance)

    def _search(self, X: Any, k: int, *, left_out: IntArray | None = None) -> tuple[FloatArray, IntArray, FloatArray]:
        """Distances, indices and sample weights of neighbors, nearest first, with a total weight of k or more.

        `left_out` has the row of ``fit`` that each query is. It is left out of its neighbors, or, if it has the weight
        of several rows, one of them.
        """
        size, n = k + (left_out is not None), len(self.weight_)
        while True:
            size = min(size, n)
            distances, neighbors = self._kneighbors(X, size)
            share = self.weight_[neighbors]
            if left_out is not None:
                share = np.maximum(share - (neighbors == left_out[:, np.newaxis]), 0.0)
            # A row that weighs less than one is less than one neighbor, so more of them are needed.
            if size == n or share.sum(axis=1).min(initial=np.inf) >= k:
                break
            size *= 2
        if left_out is not None:
            last = np.argsort(share == 0, axis=1, kind="stable")  # rows that are left out go to the end
            distances, neighbors, share = (np.take_along_axis(a, last, axis=1) for a in (distances, neighbors, share))
        return distances, neighbors, share


def block_rows(k: float, weight: FloatArray, others: int = 0) -> int:
    """Number of queries whose neighbors, with a total weight of k each, and `others` numbers are held at once."""
    n_neighbors = min(k / weight.mean(), len(weight))
    return max(_ROWS, int(_ENTRIES / max(1.0, n_neighbors + others)))


def total_weight(weight: FloatArray) -> float:
    """Sum of the weights, rounded to an integer if it is one up to rounding errors."""
    total = float(weight.sum())
    return round(total) if abs(total - round(total)) <= 1e-9 * total else total
