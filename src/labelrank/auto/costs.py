"""Rankers that learn from costs, for AutoRanker with a scorer of costs."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone, is_regressor
from sklearn.ensemble import RandomForestRegressor
from sklearn.utils import get_tags

from labelrank._arrays import FloatArray
from labelrank._compat import HasMethods
from labelrank.metrics import closed_gap, mean_cost, regret
from labelrank.rankers.base import BaseRanker, OnEmpty, Progress, Training
from labelrank.supervision import PreferenceGraphs, is_graphs
from labelrank.supervision.frames import frame_of, like_input

_SMALLEST = 1e-2  # smaller costs are raised to this before taking logarithms


class CostRegressionRanker(BaseRanker):
    """Rank labels by the costs that a scikit-learn regressor predicts.

    Unlike other rankers, it uses the values of `y`, not only their order within a row: `y` must be a matrix or data
    frame of costs, smaller is better, without missing values.

    Parameters
    ----------
    regressor : estimator, default=None
        Multi-output regressor; by default a random forest of 100 trees.
    log : bool, default=True
        Whether to predict logarithms of the costs; costs below 0.01 are raised to 0.01.
    on_empty : {"warn", "error", "ignore"}, default="warn"
        What to do about rows in which all costs are equal.

    Attributes
    ----------
    regressor_ : estimator
        The fitted regressor.
    labels_ : ndarray of shape (n_labels,)
        Names of the labels.
    n_features_in_ : int
        Number of features.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from labelrank.auto import CostRegressionRanker
    >>> X = np.arange(10.0)[:, np.newaxis]
    >>> runtimes = np.hstack([2.0**X, 2.0 ** (9 - X)])
    >>> CostRegressionRanker(LinearRegression()).fit(X, runtimes).predict([[1.0], [8.0]])
    array([[1., 2.],
           [2., 1.]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseRanker._parameter_constraints,
        "regressor": [HasMethods(["fit", "predict"]), None],
        "log": ["boolean"],
    }

    def __init__(self, regressor: Any = None, *, log: bool = True, on_empty: OnEmpty = "warn") -> None:
        self.regressor = regressor
        self.log = log
        self.on_empty = on_empty

    def _checks(self) -> dict[str, Any]:
        return {"accept_sparse": "csr", "dtype": np.float64}

    def _learn(self, data: Training, progress: Progress) -> None:
        if self.regressor is not None and not is_regressor(self.regressor):
            raise TypeError(f"regressor must be a regressor, such as RandomForestRegressor(), got {self.regressor!r}")
        costs = finite_costs(progress.y)
        if self.log and costs.min(initial=0.0) < 0:
            raise ValueError(f"costs in y must be ≥ 0 if log=True, got {costs.min()}")
        target = np.log(np.maximum(costs, _SMALLEST)) if self.log else costs
        default = RandomForestRegressor(random_state=0)
        self.regressor_ = default if self.regressor is None else clone(self.regressor)
        weight = {} if (data.weight == 1).all() else {"sample_weight": data.weight}
        self.regressor_.fit(data.X, target[:, 0] if target.shape[1] == 1 else target, **weight)

    def decision_function(self, X: Any) -> FloatArray:
        """Negative predicted costs, or their logarithms.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Larger is better.
        """
        return -np.reshape(self.regressor_.predict(self._check_X(X)), (-1, len(self.labels_)))


class CostWeightedRanker(BaseRanker):
    """Fit a ranker to pairs of labels that are weighted by the differences of their costs.

    The weight of a pair is the additional cost of choosing the worse label, as in SATzilla (Xu et al., 2012). `y` must
    be a matrix or data frame of costs, smaller is better, without missing values.

    Parameters
    ----------
    ranker : ranker
        A ranker that supports weighted pairs, such as trees and forests.
    on_empty : {"warn", "error", "ignore"}, default="warn"
        What to do about rows in which all costs are equal.

    Attributes
    ----------
    ranker_ : ranker
        The fitted ranker.
    labels_ : ndarray of shape (n_labels,)
        Names of the labels.
    n_features_in_ : int
        Number of features.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import DecisionTreeRanker
    >>> from labelrank.auto import CostWeightedRanker
    >>> X = np.zeros((3, 1))
    >>> runtimes = np.array([[1.0, 2.0], [1.0, 2.0], [1000.0, 1.0]])  # the second is slower twice, and never very slow
    >>> CostWeightedRanker(DecisionTreeRanker()).fit(X, runtimes).predict(X[:1])
    array([[2., 1.]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseRanker._parameter_constraints,
        "ranker": [HasMethods(["fit", "decision_function"])],
    }

    def __init__(self, ranker: Any, *, on_empty: OnEmpty = "warn") -> None:
        self.ranker = ranker
        self.on_empty = on_empty

    def _checks(self) -> dict[str, Any]:
        return {"accept_sparse": "csr", "dtype": np.float64}

    def _learn(self, data: Training, progress: Progress) -> None:
        if get_tags(self.ranker).estimator_type != "ranker":
            raise TypeError(f"ranker must be a ranker, such as RandomForestRanker(), got {self.ranker!r}")
        costs = finite_costs(progress.y)
        first, second = np.triu_indices(costs.shape[1], 1)
        difference = costs[:, second] - costs[:, first]
        row, pair = np.nonzero(difference)
        weight = difference[row, pair]
        better, worse = np.where(weight > 0, first[pair], second[pair]), np.where(weight > 0, second[pair], first[pair])
        weight = np.abs(weight) / (np.abs(weight).mean() if len(weight) else 1.0)
        size = {"n_instances": len(costs), "n_labels": costs.shape[1]}
        graphs = PreferenceGraphs.from_pairs(row, better, worse, weight, **size)
        self.ranker_ = clone(self.ranker).fit(data.X, graphs, sample_weight=data.weight)

    def decision_function(self, X: Any) -> FloatArray:
        """Scores of the labels by the ranker.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Larger is better.
        """
        return np.asarray(self.ranker_.decision_function(self._check_X(X)), dtype=np.float64)


def finite_costs(y: Any) -> FloatArray:
    """Convert a matrix or data frame of costs to an array; raise ValueError unless all are finite."""
    costs = cost_matrix(y)
    if costs is None or not np.isfinite(costs).all():
        raise ValueError("y must be a matrix of finite costs; assign a cost to runs without a result, too")
    return costs


def cost_matrix(y: Any) -> FloatArray | None:
    """Convert a matrix or data frame to an array; None for anything else."""
    frame = frame_of(y)
    if frame is not None:
        return np.asarray(frame.to_numpy(), dtype=np.float64)
    if is_graphs(y) or not hasattr(y, "shape") or hasattr(y, "toarray"):
        return None
    return np.asarray(y, dtype=np.float64)


def costs_to_learn(scorer: Any, y: Any) -> Any:
    """Costs with penalties for unsolved runs, in the container type of y; None if the scorer does not score costs."""
    if getattr(scorer, "_score_func", None) not in (mean_cost, regret, closed_gap):
        return None
    costs = cost_matrix(y)
    if costs is None:
        return None
    settings = {"cutoff": None, "penalty": 10.0} | scorer._kwargs
    if settings["cutoff"] is not None:
        solved = costs < settings["cutoff"]  # False for NaN
        costs = np.where(solved, costs, settings["penalty"] * settings["cutoff"])
    return None if np.isnan(costs).any() else like_input(costs, y)
