"""Costs in place of ranks: what AutoRanker adds if the cost of the label ranked first is what counts."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor

from labelrank._arrays import FloatArray
from labelrank._compat import HasMethods
from labelrank.metrics import closed_gap, mean_cost, regret
from labelrank.rankers.base import BaseRanker, OnEmpty, Progress, Training
from labelrank.supervision import is_graphs
from labelrank.supervision.frames import frame_of, like_input

_SMALLEST = 1e-2  # costs below are equal on a logarithmic scale: fractions of a second of a runtime


class CostRegressionRanker(BaseRanker):
    """Rank labels by their costs as a regressor of scikit-learn predicts them.

    Unlike all other rankers it takes the numbers in `y`, and not only their order within a row: `y` must be a matrix or
    data frame of costs, smaller is better, without missing values.

    Parameters
    ----------
    regressor : estimator, default=None
        A regressor of several outputs; by default a random forest of 100 trees.
    log : bool, default=True
        Whether the logarithms of the costs are predicted, with 0.01 in place of smaller ones.
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
        costs = cost_matrix(progress.y)
        if costs is None or not np.isfinite(costs).all():
            raise ValueError("y must be a matrix of finite costs; for runs without a result put a cost in")
        if self.log and costs.min(initial=0.0) < 0:
            raise ValueError(f"log=True needs costs of 0 or more in y, got {costs.min()}")
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


def cost_matrix(y: Any) -> FloatArray | None:
    """The numbers in a matrix or data frame; None for anything else."""
    frame = frame_of(y)
    if frame is not None:
        return np.asarray(frame.to_numpy(), dtype=np.float64)
    if is_graphs(y) or not hasattr(y, "shape") or hasattr(y, "toarray"):
        return None
    return np.asarray(y, dtype=np.float64)


def costs_to_learn(scorer: Any, y: Any) -> Any:
    """Costs with penalties for runs without a result, in the form of y; None if the scorer does not score costs."""
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
