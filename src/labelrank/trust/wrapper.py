"""Base class of the meta-estimators around a ranker: held-out folds and predictions."""

from __future__ import annotations

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn import get_config
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import KFold, check_cv
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from labelrank._arrays import BoolArray, FloatArray
from labelrank._compat import check_sample_weight, num_samples, safe_indexing
from labelrank.rankers.base import RankerMixin
from labelrank.supervision import PreferenceGraphs, as_graphs
from labelrank.supervision.names import columns_for, fitted_ranker, labels_of


class Fold(NamedTuple):
    """Held-out rows, and a model that was not fitted to them."""

    model: Any
    X: Any
    graphs: PreferenceGraphs
    weight: FloatArray
    rows: npt.NDArray[np.intp]  # indices of the rows


class RankerWrapper(RankerMixin, BaseEstimator):
    """Base class of meta-estimators with the predictions of a ranker."""

    estimator: Any
    estimator_: Any
    observed_: BoolArray

    def decision_function(self, X: Any) -> FloatArray:
        """Scores of the labels by the fitted ranker.

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
        return self.estimator_.decision_function(X)

    def predict(self, X: Any) -> FloatArray:
        """Ranks by the fitted ranker.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
        """
        check_is_fitted(self)
        return self.estimator_.predict(X)

    @property
    def n_features_in_(self) -> int:  # type: ignore[override]
        """Number of features of the fitted ranker."""
        return self.estimator_.n_features_in_

    @property
    def feature_names_in_(self) -> npt.NDArray[Any]:
        """Names of the features of the fitted ranker, if any."""
        return self.estimator_.feature_names_in_

    def _fit_folds(self, X: Any, y: Any, sample_weight: Any, cv: Any, random_state: Any, groups: Any) -> list[Fold]:
        """Fit the ranker on parts of the rows; set the final ranker, its labels, and return the folds.

        With one split the final ranker is that of the split; with several it is fitted to all rows.
        """
        graphs = as_graphs(y, ensure_min_samples=1)
        n = num_samples(X)
        if n != len(graphs):
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has {n}, y has {len(graphs)}"
            )
        weight = check_sample_weight(sample_weight, graphs.has_pairs()[:, None], dtype=float, ensure_non_negative=True)
        if isinstance(cv, str):  # "prefit"
            check_is_fitted(self.estimator)
            self.estimator_ = self.estimator
            folds = [Fold(self.estimator, X, graphs, weight, np.arange(n))]
        else:
            _check_takes_weights(self.estimator, sample_weight)

            def fitted(rows: Any) -> Any:
                params = {} if sample_weight is None else {"sample_weight": weight[rows]}
                return clone(self.estimator).fit(safe_indexing(X, rows), graphs[rows], **params)

            splitter = KFold(cv, shuffle=True, random_state=random_state) if isinstance(cv, Integral) else check_cv(cv)
            folds = [
                Fold(fitted(train), safe_indexing(X, test), graphs[test], weight[test], test)
                for train, test in splitter.split(X, graphs, groups)
            ]
            self.estimator_ = folds[0].model if len(folds) == 1 else fitted(slice(None))
        labels = labels_of(self.estimator_)
        self.labels_ = graphs.labels if labels is None else labels
        columns_for(self.estimator_, graphs)  # raises if the labels are others
        self.observed_ = getattr(fitted_ranker(self.estimator_), "observed_", np.ones(len(self.labels_), dtype=bool))
        return folds


def _check_takes_weights(estimator: Any, sample_weight: Any) -> None:
    """Raise ValueError if a ranker does not support weights."""
    routed = get_config()["enable_metadata_routing"]
    if sample_weight is not None and not routed and not has_fit_parameter(estimator, "sample_weight"):
        raise ValueError(
            f"{type(estimator).__name__} does not support sample_weight in fit; omit it, put the pipeline around this "
            "estimator instead of inside of it, or use metadata routing"
        )
