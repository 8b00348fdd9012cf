"""A weighted sum of rankers."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from labelrank._arrays import FloatArray
from labelrank._compat import num_samples
from labelrank.auto.ensemble import comparable, spread_of
from labelrank.rankers.base import RankerMixin
from labelrank.supervision.names import labels_of


class WeightedRanker(RankerMixin, BaseEstimator):
    """Weighted sum of the scores of rankers, standardized in each row.

    Parameters
    ----------
    rankers : list of rankers
        The rankers, or pipelines that end with one.
    weights : list of float
        Their weights.

    Attributes
    ----------
    rankers_ : list of rankers
        Fitted clones.
    labels_ : ndarray of shape (n_labels,)
        Names of the labels.

    Examples
    --------
    >>> from labelrank import KNeighborsRanker, LogLinearRanker
    >>> from labelrank.auto import WeightedRanker
    >>> from labelrank.datasets import load_iris_rankings
    >>> X, y = load_iris_rankings(return_X_y=True)
    >>> model = WeightedRanker([LogLinearRanker(), KNeighborsRanker(5)], [0.3, 0.7]).fit(X[::2], y[::2])
    >>> print(f"{model.score(X[1::2], y[1::2]):.2f}")
    0.96
    """

    def __init__(self, rankers: Sequence[Any], weights: Sequence[float]) -> None:
        self.rankers = rankers
        self.weights = weights

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit all rankers.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.
        y : rank matrix or PreferenceGraphs of shape (n_samples, n_labels)
            Observed preferences.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the instances.

        Returns
        -------
        self
        """
        self._check_parameters()
        fitted = [fit_ranker(ranker, X, y, sample_weight) for ranker in self.rankers]
        for ranker in fitted:
            if labels_of(ranker) is None:
                raise TypeError(f"rankers must be rankers, such as LogLinearRanker(), got {ranker!r}")
        return self._hold(fitted)

    def _check_parameters(self) -> None:
        for name in ("rankers", "weights"):
            if not isinstance(found := getattr(self, name), Collection) or isinstance(found, str):
                raise TypeError(f"{name} must be a list, got {found!r}")
        n = len(self.rankers)
        if not n:
            raise ValueError("rankers is empty; pass at least one ranker")
        if len(self.weights) != n:
            raise ValueError(f"weights must have one number for each of the {n} rankers, got {len(self.weights)}")
        for weight in self.weights:
            if not isinstance(weight, Real) or not math.isfinite(weight):
                raise ValueError(f"weights must be finite numbers, got {weight!r}")

    def _hold(self, fitted: list[Any]) -> Self:
        """Set the fitted attributes from fitted rankers."""
        self.rankers_ = fitted
        self.labels_ = labels_of(fitted[0])  # type: ignore[assignment]
        self.n_features_in_ = fitted[0].n_features_in_
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Scores of the labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Larger is better.
        """
        check_is_fitted(self)
        total = np.zeros((num_samples(X), len(self.labels_)))
        for ranker, weight in zip(self.rankers_, self.weights, strict=True):
            total += weight * comparable(np.asarray(ranker.decision_function(X), dtype=np.float64))
        return total

    def shares(self, X: Any) -> FloatArray:
        """Factors of the scores of the rankers, up to a constant in each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        ndarray of shape (n_rankers, n_samples)
            Weights divided by the standard deviation of the scores in a row; 0 where all scores are equal.
        """
        check_is_fitted(self)
        spread = [spread_of(np.asarray(ranker.decision_function(X), dtype=np.float64)) for ranker in self.rankers_]
        weights = np.broadcast_to(np.reshape(np.asarray(self.weights, dtype=np.float64), (-1, 1)), np.shape(spread))
        return np.divide(weights, spread, out=np.zeros_like(weights), where=np.asarray(spread) > 0)


def fit_ranker(ranker: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
    """Fit a clone of a ranker or pipeline, passing the weights to the last step."""
    params = {}
    if sample_weight is not None:
        prefix = f"{ranker.steps[-1][0]}__" if isinstance(ranker, Pipeline) else ""
        params[f"{prefix}sample_weight"] = sample_weight
    return clone(ranker).fit(X, y, **params)
