"""Nearest neighbours: the rankings of the instances close to a query, joined into one."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_is_fitted, validate_data

from labelrank._compat import num_samples
from labelrank.neighbors.neighborhoods import Aggregation, FloatArray, IntArray, NeighborhoodsMixin
from labelrank.rankers.base import OnEmpty, RankerMixin, report_empty_rows

Weights = Literal["uniform", "distance", "dudani"] | Callable[[Any], Any]


class BaseNeighborsRanker(NeighborhoodsMixin, RankerMixin, BaseEstimator):
    """What the rankers by neighbours share: the search, the weights of the neighbours, and all that follows `fit`."""

    weights: Weights
    metric: Any
    p: float
    algorithm: str
    leaf_size: int
    metric_params: dict[str, Any] | None
    on_empty: OnEmpty
    n_neighbors_: int

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
            Instances; their distances to the rows of `fit` with ``metric="precomputed"``.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Ranks: 1 + the number of labels with a larger score.
        """
        if self.aggregation in ("mallows", "mallows_completed"):  # without ties, so the centre has these ranks
            return self._centers(*self._neighborhoods(X))
        return super().predict(X)

    def decision_function(self, X: Any) -> FloatArray:
        """Scores of the labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances; their distances to the rows of `fit` with ``metric="precomputed"``.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Larger is better. ``"mallows"``, completed or not: ``n_labels + 1 - rank`` in the centre, without ties.
            ``"borda"``: the mean number of votes. ``"plackett_luce"``: the logarithms of the weights.
        """
        return self._scores(*self._neighborhoods(X))

    def pairwise_proba(self, X: Any) -> FloatArray:
        """Probability that label i is before label j.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        ndarray of shape (n_samples, n_labels, n_labels)
            ``"mallows"``, completed or not: of the model with the centre and the spread of the neighbourhood.
            ``"borda"``: the share of the neighbours that have i before j, with half a vote added to each side.
            ``"plackett_luce"``: of the fitted weights. 1/2 on the diagonal.
        """
        return self._pair_proba(*self._neighborhoods(X))

    def predict_spread(self, X: Any) -> FloatArray:
        """How much the neighbours agree: theta of the Mallows model around the predicted ranking.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        ndarray of shape (n_samples,)
            From 0, no agreement, to 10, not one pair that disagrees. Where all rankings that were learned from are
            complete and strict, it is the maximum of the likelihood, given by their mean distance to the centre;
            otherwise of the composite likelihood over the observed pairs, in which a tied pair is half a pair on each
            side.
        """
        neighbors, weights = self._neighborhoods(X)
        return self._spreads(neighbors, weights, self._centers(neighbors, weights))

    # --- Fit

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> Any:
        """Check what is given, keep the rows that say something, and index them; returns their X."""
        if self.aggregation not in get_args(Aggregation):
            raise ValueError(f"aggregation must be one of {get_args(Aggregation)}, got {self.aggregation!r}")
        if not callable(self.weights) and self.weights not in ("uniform", "distance", "dudani"):
            raise ValueError(f'weights must be "uniform", "distance", "dudani" or a callable, got {self.weights!r}')
        if self.on_empty not in get_args(OnEmpty):
            raise ValueError(f"on_empty must be one of {get_args(OnEmpty)}, got {self.on_empty!r}")
        X, y, weight = self._validate_fit(X, y, sample_weight, on_empty="ignore", **self._checks())
        report_empty_rows(y.has_pairs() | (weight == 0), self.on_empty)
        kept = self._learn_rankings(y, weight)
        if not kept.all():
            X = X[kept][:, kept] if self.metric == "precomputed" else X[kept]
        self.rows_ = np.flatnonzero(kept)
        self.search_ = NearestNeighbors(
            metric=self.metric,
            p=self.p,
            algorithm=self.algorithm,
            leaf_size=self.leaf_size,
            metric_params=self.metric_params,
            n_jobs=self.n_jobs,
        )
        with config_context(assume_finite=True):  # X has been looked at
            self.search_.fit(X)
        return X

    def _checks(self) -> dict[str, Any]:
        finite = "allow-nan" if self.metric == "nan_euclidean" else True
        return {"accept_sparse": "csr", "order": "C", "ensure_all_finite": finite}

    def _check_n_neighbors(self, n_neighbors: Any, available: float) -> int:
        if not isinstance(n_neighbors, numbers.Integral) or isinstance(n_neighbors, bool) or n_neighbors < 1:
            raise ValueError(f"n_neighbors must be a positive integer, got {n_neighbors!r}")
        if int(n_neighbors) > available:
            what = (
                "rows with a preference" if (self.weight_ == 1).all() else "the total weight of rows with a preference"
            )
            raise ValueError(
                f"n_neighbors={n_neighbors}, but there are only {available:g} neighbours to choose from ({what}, "
                f"n_samples={len(self.rows_)}); use a smaller n_neighbors"
            )
        return int(n_neighbors)

    # --- Neighbours and their weights

    def _neighborhoods(self, X: Any) -> tuple[IntArray, FloatArray]:
        """Indices and weights of the neighbours of each query."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, **self._checks())
        if self.metric == "precomputed" and len(self.rows_) < self.n_features_in_:
            X = X[:, self.rows_]
        k = self.n_neighbors_
        if self.weights == "uniform" and (self.weight_ == 1).all():
            neighbors = self._kneighbors(X, k, return_distance=False)
            return neighbors, np.ones(neighbors.shape)
        distances, neighbors, share = self._search(X, k)
        return neighbors, self._weigh(distances, first_of_weight(share, k))

    def _kneighbors(self, X: Any, size: int, *, return_distance: bool = True) -> Any:
        with config_context(assume_finite=True, skip_parameter_validation=True):  # X has been looked at
            return self.search_.kneighbors(X, size, return_distance=return_distance)

    def _search(self, X: Any, k: int, *, leave_out: bool = False) -> tuple[FloatArray, IntArray, FloatArray]:
        """Distances, indices and sample weights of neighbours, nearest first, with a total weight of k or more.

        With `leave_out` the queries are the rows of `fit`, and each lacks one instance: itself or, if it has the weight
        of several, one of them.
        """
        n = num_samples(X)
        most = _rows_for(self.weight_, k + leave_out)
        size = min(k + leave_out, most)
        distances, neighbors, share = np.zeros((n, 0)), np.zeros((n, 0), np.int64), np.zeros((n, 0))
        rows = np.arange(n)
        while len(rows):
            distances, neighbors, share = (_widened(array, size) for array in (distances, neighbors, share))
            distances[rows], neighbors[rows] = self._kneighbors(X if len(rows) == n else X[rows], size)
            found = self.weight_[neighbors[rows]]
            if leave_out:
                found = np.maximum(found - (neighbors[rows] == rows[:, np.newaxis]), 0.0)
            share[rows] = found
            # A row that weighs less than one is less than one neighbour, so more of them are needed.
            rows = rows[found.sum(axis=1) < k] if size < most else rows[:0]
            size = min(2 * size, most)
        if leave_out:
            last = np.argsort(share == 0, axis=1, kind="stable")  # those left out go to the end
            distances, neighbors, share = (np.take_along_axis(a, last, axis=1) for a in (distances, neighbors, share))
        return distances, neighbors, share

    def _weigh(self, distances: FloatArray, share: FloatArray) -> FloatArray:
        """Weights of the neighbours: their share of the k, times what `weights` makes of the distances.

        Scaled to the sum of the shares, so that a neighbourhood has the weight of k rankings.
        """
        if self.weights == "uniform":
            return share
        if callable(self.weights):
            by_distance = np.asarray(self.weights(distances), dtype=np.float64)
            if by_distance.shape != distances.shape:
                raise ValueError(
                    f"weights returned an array of shape {by_distance.shape} for distances of shape {distances.shape}"
                )
            if not (np.isfinite(by_distance) & (by_distance >= 0))[share > 0].all():
                raise ValueError("weights returned a number that is negative, infinite or NaN")
        else:
            by_distance = (inverse if self.weights == "distance" else dudani)(distances, share > 0)
        weights = np.where(share > 0, share * by_distance, 0.0)
        total = weights.sum(axis=1, keepdims=True)
        scale = np.divide(share.sum(axis=1, keepdims=True), total, out=np.zeros_like(total), where=total > 0)
        return weights * scale


class KNeighborsRanker(BaseNeighborsRanker):
    r"""Nearest neighbours: the centre of the rankings of the k instances that are closest (IBLR).

    The rankings of the neighbours are seen as draws from a Mallows model,
    :math:`P(\sigma) \propto e^{-\theta d(\sigma, \pi)}` with the Kendall distance d. Its centre :math:`\pi` is the
    prediction and its spread :math:`\theta`, given by `predict_spread`, the confidence in it.

    Parameters
    ----------
    n_neighbors : int, default=20
        Number of neighbours. :class:`KNeighborsRankerCV` chooses it.
    weights : {"uniform", "distance", "dudani"} or callable, default="uniform"
        Weights of the neighbours. ``"distance"``: the inverse of the distance; where there are neighbours at distance
        zero, these alone count. ``"dudani"``: from 1 for the nearest linearly down to 0 for the farthest, and 1 for all
        if they are equally far. A callable maps an array of distances, a row for each query, to an array of weights.
    metric : str or callable, default="minkowski"
        Distance, as in :class:`sklearn.neighbors.NearestNeighbors`; with ``"precomputed"``, `X` has the distances.
    p : float, default=2
        Power of the Minkowski distance.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        How neighbours are found. Sparse `X` goes by ``"brute"``.
    leaf_size : int, default=30
        Size of the leaves of the tree.
    metric_params : dict, optional
        More arguments of the metric.
    aggregation : {"mallows", "mallows_completed", "borda", "plackett_luce"}, default="mallows"
        How the rankings are joined. On complete rankings the first three are the Borda count; labels with equal votes
        go by their order over all rows, and are tied with ``"borda"``. On incomplete ones, ``"mallows"`` lets each pair
        of labels be decided by the neighbours with both; ``"mallows_completed"``, the method of the paper, replaces
        each ranking by its most probable completion, counts again, and so on until nothing changes; ``"borda"`` gives
        a missing label the mean number of votes. ``"plackett_luce"`` fits the weights of a Plackett-Luce model, kept
        finite by a weak prior.
    n_jobs : int, optional
        Threads over the queries.
    on_empty : {"warn", "error", "ignore"}, default="warn"
        What to do about rows of y without any observed pair. They are nobody's neighbours.

    Attributes
    ----------
    n_neighbors_ : int
        Number of neighbours.
    search_ : sklearn.neighbors.NearestNeighbors
        The search.
    rows_ : ndarray of shape (n_rows,)
        Rows of `X` that are searched: those with a weight and with an observed pair.
    weight_ : ndarray of shape (n_rows,)
        Their weights.
    storage_ : {"strict", "complete", "incomplete", "edges"}
        What was learned from: complete rankings without ties, complete ones, rankings with missing labels, or graphs
        that are stored as edges.
    ranks_, votes_ : ndarray of shape (n_rows, n_labels)
        Ranks and generalised Borda votes of the rows; without columns for graphs that are stored as edges.
    table_ : ndarray of shape (n_rows, n_labels * n_labels rounded up to whole words)
        For incomplete rankings with ``aggregation="mallows"``: 2 where the first label of a pair comes before the
        second, 1 where they are tied; without columns elsewhere, and where it would be very large.
    indptr_, edges_, edge_weight_ : ndarray of shape (n_rows + 1,), (n_edges, 2), (n_edges,)
        For graphs that are stored as edges: where a row begins, better and worse label, weight; otherwise empty.
    overall_ranks_ : ndarray of shape (n_labels,)
        The Borda ranking of all rows, which decides between labels with equal votes.
    labels_ : ndarray of shape (n_labels,)
        Names of the labels.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    A row with sample weight w is w rows: it is w of the `n_neighbors` neighbours, or as many as are still missing. So a
    weight is a number of rows, and the total weight must be `n_neighbors` at least.

    Graphs that are stored as edges (battles, cycles) have no positions. There a label has
    :math:`1 + \sum_b N_{ab} / (N_{ab} + N_{ba})` votes, with :math:`N_{ab}` the weight of the neighbours' edges from a
    to b, and the Plackett-Luce model is that of Bradley and Terry.

    References
    ----------
    Cheng, Hühn, Hüllermeier: Decision tree and instance-based learning for label ranking. ICML 2009.

    Examples
    --------
    >>> from sklearn.model_selection import KFold, cross_val_score
    >>> from labelrank import KNeighborsRanker
    >>> from labelrank.datasets import load_iris_rankings
    >>> X, y = load_iris_rankings(return_X_y=True)
    >>> ranker = KNeighborsRanker(n_neighbors=5)
    >>> print(f"{cross_val_score(ranker, X, y, cv=KFold(shuffle=True, random_state=0)).mean():.2f}")
    0.98
    """

    def __init__(
        self,
        n_neighbors: int = 20,
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KNeighborsRanker:
        """Keep the rankings and index the instances.

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
        self._prepare(X, y, sample_weight)
        self.n_neighbors_ = self._check_n_neighbors(self.n_neighbors, _total(self.weight_))
        return self


# ---------------------------------------------------------------------------------------------------------------
# Weights
# ---------------------------------------------------------------------------------------------------------------


def first_of_weight(share: FloatArray, k: float) -> FloatArray:
    """Weights cut off where their sum reaches k.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank.neighbors.ranker import first_of_weight
    >>> first_of_weight(np.array([[1.0, 3.0, 2.0, 1.0]]), 5)
    array([[1., 3., 1., 0.]])
    """
    before = np.cumsum(share, axis=1) - share
    return np.clip(k - before, 0.0, share)


def inverse(distances: FloatArray, counted: npt.NDArray[np.bool_]) -> FloatArray:
    """1/distance; where a neighbour that is counted is at distance zero, 1 for those at zero and 0 for the others."""
    at_zero = counted & (distances == 0)
    weights = np.divide(1.0, distances, out=np.zeros_like(distances), where=distances > 0)
    return np.where(at_zero.any(axis=1, keepdims=True), at_zero.astype(np.float64), weights)


def dudani(distances: FloatArray, counted: npt.NDArray[np.bool_]) -> FloatArray:
    """From 1 for the nearest neighbour that is counted linearly down to 0 for the farthest."""
    nearest = np.where(counted, distances, np.inf).min(axis=1, keepdims=True)
    farthest = np.where(counted, distances, -np.inf).max(axis=1, keepdims=True)
    span = farthest - nearest
    return np.divide(farthest - distances, span, out=np.ones_like(distances), where=span > 0)


def _rows_for(weight: FloatArray, k: int) -> int:
    """Number of rows that have a total weight of k, whichever they are; all rows where that is not enough."""
    if weight.min() >= 1:
        return min(k, len(weight))
    return min(int(np.searchsorted(np.cumsum(np.sort(weight)), k)) + 1, len(weight))


def _total(weight: FloatArray) -> float:
    """Sum of the weights, a whole number where rounding alone keeps it from being one."""
    total = float(weight.sum())
    return round(total) if abs(total - round(total)) <= 1e-9 * total else total


def _widened(array: npt.NDArray[Any], width: int) -> npt.NDArray[Any]:
    return np.pad(array, ((0, 0), (0, width - array.shape[1])))
