"""Nearest neighbors: the rankings of the instances close to a query, aggregated into one."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

from labelrank._compat import Interval
from labelrank.neighbors.aggregator import Aggregation
from labelrank.neighbors.base import BaseNeighborsRanker, total_weight
from labelrank.neighbors.weights import Weights
from labelrank.rankers.base import OnEmpty, Progress, Training


class KNeighborsRanker(BaseNeighborsRanker):
    r"""Nearest neighbors: the center of the rankings of the k closest instances (IBLR).

    The rankings of the neighbors are modeled as draws from a Mallows model,
    :math:`P(\sigma) \propto e^{-\theta d(\sigma, \pi)}` with the Kendall distance d. Its center :math:`\pi` is the
    prediction and its spread :math:`\theta`, returned by `predict_spread`, the confidence in it.

    Parameters
    ----------
    n_neighbors : int, default=20
        Number of neighbors. :class:`KNeighborsRankerCV` chooses it.
    weights : {"uniform", "distance", "dudani"} or callable, default="uniform"
        Weights of the neighbors. ``"distance"``: the inverse of the distance; if there are neighbors at distance zero,
        only these count. ``"dudani"``: from 1 for the nearest linearly down to 0 for the farthest, and 1 for all if
        they are equally far. A callable maps an array of distances, a row for each query, to an array of weights.
    metric : str or callable, default="minkowski"
        Distance, as in :class:`sklearn.neighbors.NearestNeighbors`; with ``"precomputed"``, `X` contains distances.
    p : float, default=2
        Power of the Minkowski distance.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        How neighbors are found. Sparse `X` uses ``"brute"``.
    leaf_size : int, default=30
        Size of the leaves of the tree.
    metric_params : dict, optional
        Additional arguments of the metric.
    aggregation : {"mallows", "mallows_completed", "borda", "plackett_luce"}, default="mallows"
        How the rankings are aggregated. On complete rankings the first three are the Borda count; ties are broken by
        the order of the labels over all rows, and kept with ``"borda"``. On incomplete rankings, ``"mallows"`` decides
        each pair of labels by the neighbors with both; ``"mallows_completed"``, the method of the paper, replaces each
        ranking by its most probable completion, counts again, and repeats this until nothing changes; ``"borda"`` gives
        a missing label the mean number of votes. ``"plackett_luce"`` fits the weights of a Plackett-Luce model, kept
        finite by a weak prior.
    n_jobs : int, optional
        Number of threads over the queries.
    on_empty : {"warn", "error", "ignore"}, default="warn"
        What to do about rows and labels of `y` without any observed pair. Such rows are never neighbors.

    Attributes
    ----------
    n_neighbors_ : int
        Number of neighbors.
    search_ : sklearn.neighbors.NearestNeighbors
        The index of the instances.
    rows_ : ndarray of shape (n_rows,)
        Rows of `X` that are indexed: those with a weight and with an observed pair.
    weight_ : ndarray of shape (n_rows,)
        Their weights.
    pairs_ : list of ndarray
        Their preferences: ranks, offsets of the edges, and labels and weights of the edges.
    votes_ : ndarray of shape (n_rows, n_labels)
        Their generalized Borda votes.
    complete_ : bool
        Whether all of them are complete rankings.
    overall_ranks_ : ndarray of shape (n_labels,)
        The Borda ranking of all rows, which breaks ties.
    labels_ : ndarray of shape (n_labels,)
        Names of the labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where `X` has any.

    Notes
    -----
    A row with sample weight w is w rows: it counts as w of the `n_neighbors` neighbors, or as many as are still
    missing. So a weight is a number of rows, and the total weight must be at least `n_neighbors`.

    Graphs that are stored as edges (battles, cycles) have no positions. There a label has
    :math:`1 + \sum_b N_{ab} / (N_{ab} + N_{ba})` votes, with :math:`N_{ab}` the weight of the neighbors' edges from a
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

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseNeighborsRanker._parameter_constraints,
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
    }

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

    def _learn(self, data: Training, progress: Progress) -> None:
        self._index(data)
        self.n_neighbors_ = self._check_n_neighbors(self.n_neighbors, total_weight(self.weight_))
