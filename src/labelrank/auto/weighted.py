"""A weighted sum of rankers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from labelrank._arrays import FloatArray
from labelrank._compat import num_samples
from labelrank.auto.ensemble import comparable
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
        return self._hold([fit_ranker(ranker, X, y, sample_weight) for ranker in self.rankers])

    def _hold(self, fitted: list[Any]) -> Self:
        """Take rankers that are fitted."""
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


def fit_ranker(ranker: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
    """Fit a clone of a ranker or pipeline, the last step of which gets the weights."""
    params = {}
    if sample_weight is not None:
        prefix = f"{ranker.steps[-1][0]}__" if isinstance(ranker, Pipeline) else ""
        params[f"{prefix}sample_weight"] = sample_weight
    return clone(ranker).fit(X, y, **params)
