"""XGBoost and LightGBM with a loss of this library as their objective, for `bench_gradient_boosting.py`."""

from __future__ import annotations

from typing import Any

import numpy as np

from labelrank import as_graphs
from labelrank.losses import LogLinearLoss


class Objective:
    """Gradient and curvature of the log-linear loss at given scores."""

    def __init__(self, y: Any, decomposition: str) -> None:
        self.loss = LogLinearLoss(as_graphs(y), decomposition)
        # The mean over pairs has a small curvature; this scales it to that of a binary log loss, as in labelrank.
        zeros, curvature = np.zeros(self.loss.shape), np.empty(self.loss.shape)
        self.loss.curvature(zeros, curvature)
        self.scale = 0.25 / curvature[curvature > 0].mean()

    def __call__(self, scores: Any) -> tuple[Any, Any]:
        """Gradient and curvature."""
        scores = np.ascontiguousarray(scores, dtype=np.float64)
        gradient, curvature = np.empty_like(scores), np.empty_like(scores)
        self.loss.value_and_derivatives(scores, gradient, curvature)
        return self.scale * gradient, self.scale * curvature


class XGBoost:
    """XGBoost with a vector in each leaf."""

    name = "XGBoost"

    def __init__(self, n_iter: int, decomposition: str = "disagreement", **settings: Any) -> None:
        self.n_iter, self.decomposition = n_iter, decomposition
        self.settings = settings

    def fit(self, X: Any, y: Any) -> Any:
        """Learn."""
        import xgboost

        objective, shape = Objective(y, self.decomposition), y.shape
        parameters = {
            "tree_method": "hist",
            "multi_strategy": "multi_output_tree",
            "grow_policy": "lossguide",
            "max_leaves": 31,
            "max_depth": 0,
            "max_bin": 255,
            "eta": 0.1,
            "lambda": 1.0,
            "min_child_weight": 0,
            "nthread": 1,
            "num_target": shape[1],
            "base_score": 0.0,
        }
        data = xgboost.QuantileDMatrix(X, label=np.zeros(shape), max_bin=255, nthread=1)
        self.model = xgboost.train(
            parameters | self.settings, data, self.n_iter, obj=lambda scores, _: objective(scores.reshape(shape))
        )
        return self

    def decision_function(self, X: Any) -> Any:
        """Scores."""
        import xgboost

        return self.model.predict(xgboost.DMatrix(X, nthread=1), output_margin=True)


class LightGBM:
    """LightGBM with a tree for each label in every iteration."""

    name = "LightGBM"

    def __init__(self, n_iter: int, decomposition: str = "disagreement", **settings: Any) -> None:
        self.n_iter, self.decomposition = n_iter, decomposition
        self.settings = settings

    def fit(self, X: Any, y: Any) -> Any:
        """Learn."""
        import lightgbm

        objective, shape = Objective(y, self.decomposition), y.shape
        parameters = {
            "objective": lambda scores, _: objective(scores),
            "num_class": shape[1],
            "num_leaves": 31,
            "max_bin": 255,
            "learning_rate": 0.1,
            "lambda_l2": 1.0,
            "min_data_in_leaf": 5,
            "num_threads": 1,
            "verbose": -1,
        }
        data = lightgbm.Dataset(X, label=np.zeros(shape[0]), params={"max_bin": 255, "verbose": -1, "num_threads": 1})
        self.model = lightgbm.train(parameters | self.settings, data, self.n_iter)
        return self

    def decision_function(self, X: Any) -> Any:
        """Scores."""
        return self.model.predict(X, raw_score=True, num_threads=1)
