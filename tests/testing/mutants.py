"""A small ranker that keeps the contract, and rankers that break one clause of it each."""

import contextlib
from numbers import Real
from typing import ClassVar

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from labelrank import as_graphs
from labelrank._compat import Interval
from labelrank.rankers.base import BaseRanker


class Ridge(BaseRanker):
    """Ridge regression of the Borda votes."""

    _parameter_constraints: ClassVar[dict] = {
        **BaseRanker._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
    }

    def __init__(self, alpha=1.0, *, on_empty="warn", random_state=None):
        self.alpha = alpha
        self.on_empty = on_empty
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _checks(self):
        return {"accept_sparse": "csr", "dtype": np.float64}

    def _learn(self, data, progress):
        X = self.design(data.X)
        gram = X.T @ (data.weight[:, None] * X) + self.alpha * np.eye(X.shape[1])
        self.coef_ = np.linalg.solve(gram, X.T @ (data.weight[:, None] * data.graphs.votes()))

    def decision_function(self, X):
        return self.design(self._check_X(X)) @ self.coef_

    def pairwise_proba(self, X):
        scores = self.decision_function(X)
        return expit(scores[:, :, None] - scores[:, None, :])

    def confidence(self, X):
        return np.abs(2 * self.pairwise_proba(X) - 1).max(axis=(1, 2))

    @staticmethod
    def design(X):
        X = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
        return np.column_stack([np.ones(len(X)), X])


class NoRanker(Ridge):
    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.estimator_type = "regressor"
        return tags


class HasClasses(Ridge):
    classes_ = np.arange(4)


class PredictsBeforeFit(Ridge):
    def decision_function(self, X):
        return super().decision_function(X) if hasattr(self, "coef_") else np.zeros((len(X), 4))


class RefusesCycles(Ridge):
    def _learn(self, data, progress):
        if data.graphs.weight is not None:
            raise ValueError("weights of pairs are not supported")
        super()._learn(data, progress)


class CountsRanksFromZero(Ridge):
    def predict(self, X):
        return super().predict(X) - 1


class SilentAboutEmptyRows(Ridge):
    def _validate(self, X, y, sample_weight):
        self.on_empty, before = "ignore", self.on_empty
        try:
            return super()._validate(X, y, sample_weight)
        finally:
            self.on_empty = before


class NeedsTwoLabels(Ridge):
    def _learn(self, data, progress):
        if data.graphs.shape[1] < 2:
            raise ValueError("at least two labels")
        super()._learn(data, progress)


class LosesNames(Ridge):
    def _learn(self, data, progress):
        super()._learn(data, progress)
        self.labels_ = np.arange(len(self.labels_))


class IgnoresWeights(Ridge):
    def _learn(self, data, progress):
        super()._learn(data._replace(weight=np.ones(len(data.weight))), progress)


class HasNoWeights(Ridge):
    def fit(self, X, y):
        return super().fit(X, y)


class LearnsFromTheFirstRows(Ridge):
    def _learn(self, data, progress):
        weight = data.weight * (np.arange(len(data.weight)) < len(data.weight) / 2)
        super()._learn(data._replace(weight=weight), progress)


class ComparesTheRowsOfAPrediction(Ridge):
    def decision_function(self, X):
        scores = super().decision_function(X)
        return scores - scores.mean(axis=0)


class IgnoresRandomState(Ridge):
    def _learn(self, data, progress):
        super()._learn(data, progress)
        self.coef_ = self.coef_ + check_random_state(None).standard_normal(self.coef_.shape)


class ForgetsInPickles(Ridge):
    def __getstate__(self):
        return {**super().__getstate__(), "labels_": np.arange(4) + 1}


class ChangesItsParameters(Ridge):
    def _learn(self, data, progress):
        super()._learn(data, progress)
        self.alpha = 2 * self.alpha


class LosesTheModel(Ridge):
    def fit(self, X, y, sample_weight=None):
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        return super().fit(X, y, sample_weight)


class AddsToTheOldModel(Ridge):
    def _validate(self, X, y, sample_weight):
        data = super()._validate(X, y, sample_weight)
        self._fits = getattr(self, "_fits", 0) + 1
        return data

    def _learn(self, data, progress):
        super()._learn(data, progress)
        self.coef_ = self.coef_ * self._fits


class NamesNoParameter(Ridge):
    def fit(self, X, y, sample_weight=None):
        try:
            return super().fit(X, y, sample_weight)
        except ValueError as error:
            raise ValueError(str(error).replace("alpha", "a parameter")) from error


class ChangesX(Ridge):
    def _learn(self, data, progress):
        super()._learn(data, progress)
        if not sparse.issparse(data.X):
            data.X[:, 0] += 1


class MisreadsSparseX(Ridge):
    @staticmethod
    def design(X):
        return Ridge.design(X != 0 if sparse.issparse(X) else X)


class AcceptsAnyNumberOfFeatures(Ridge):
    def decision_function(self, X):
        X = self.design(X)
        return X @ self.coef_[: X.shape[1]]


class ScoresByAccuracy(Ridge):
    def score(self, X, y, sample_weight=None):
        first = np.argmax(as_graphs(y).votes(), axis=1)
        return float(np.mean(first == np.argmin(self.predict(X), axis=1)))


class IncoherentProbabilities(Ridge):
    def pairwise_proba(self, X):
        return super().pairwise_proba(X) ** 2


class ConfidentBeyondOne(Ridge):
    def confidence(self, X):
        return 1 + super().confidence(X)


class DeafToCallbacks(Ridge):
    def fit(self, X, y, sample_weight=None):
        data = self._validate(X, y, sample_weight)
        self._learn(data, None)
        return self


class LosesWhatItLearned(Ridge):
    def _learn(self, data, progress):
        progress.begin(3)
        for _ in range(3):
            super()._learn(data, progress)
            progress.step("pass")


class SilentAboutInterrupts(LosesWhatItLearned):
    def _learn(self, data, progress):
        with contextlib.suppress(KeyboardInterrupt):
            super()._learn(data, progress)


class AddsAParameter(Ridge):
    def _learn(self, data, progress):
        super()._learn(data, progress)
        self.n_rows = len(data.weight)


class FailsLater(Ridge):
    def pairwise_proba(self, X):
        return super().pairwise_proba(X)[:, 7]


class OwnBase(BaseEstimator):
    """No ranker at all."""

    def fit(self, X, y, sample_weight=None):
        return self


MUTANTS = [
    (NoRanker, "check_tags", "NoRanker: the estimator_type must be 'ranker', not 'regressor'"),
    (HasClasses, "check_tags", "HasClasses: it must not have classes_"),
    (OwnBase, "check_tags", "OwnBase: the estimator_type must be 'ranker', not None"),
    (PredictsBeforeFit, "check_not_fitted", "PredictsBeforeFit: predict must raise NotFittedError before fit"),
    (RefusesCycles, "check_supervision", r"must learn from graphs of pairs .*but raises ValueError: weights of pairs"),
    (CountsRanksFromZero, "check_supervision", r"predict must be 1 \+ the number of labels with a larger"),
    (SilentAboutEmptyRows, "check_small_problems", "must warn of rows without any pair"),
    (NeedsTwoLabels, "check_small_problems", "must learn from a single label, but raises ValueError"),
    (LosesNames, "check_label_names", "labels_ must be the names in"),
    (IgnoresWeights, "check_weights", "the same from a row of weight 2 as from the row twice"),
    (HasNoWeights, "check_weights", "must have the parameter sample_weight"),
    (LearnsFromTheFirstRows, "check_row_order", "must learn the same from rows in any order"),
    (ComparesTheRowsOfAPrediction, "check_row_order", "prediction for a row must not depend on the other rows of X"),
    (IgnoresRandomState, "check_random_state", "two fits with random_state=3 must give the same scores"),
    (ForgetsInPickles, "check_pickle_and_clone", "must keep labels_ in a pickle"),
    (ChangesItsParameters, "check_pickle_and_clone", "fit must not change the parameters"),
    (LosesTheModel, "check_refit", "must predict as before a fit that failed because of .*NotFittedError"),
    (AddsToTheOldModel, "check_refit", "must forget the first fit"),
    (NamesNoParameter, "check_parameters", "must raise an error that names alpha"),
    (ChangesX, "check_inputs_unchanged", "must not modify X"),
    (MisreadsSparseX, "check_sparse", "the same from a csr_array as from an array"),
    (AcceptsAnyNumberOfFeatures, "check_n_features", "must raise ValueError for X with one column too few"),
    (ScoresByAccuracy, "check_score", "must be labelrank.metrics.kendall_tau"),
    (IncoherentProbabilities, "check_pairwise_proba", "add up to 1"),
    (ConfidentBeyondOne, "check_pairwise_proba", r"one number in \[0, 1\] per instance"),
    (
        FailsLater,
        "check_pairwise_proba",
        r"FailsLater: IndexError in .* \(Probabilities of pairs",
    ),
    (DeafToCallbacks, "check_callbacks", "must call the callbacks that are set"),
    (LosesWhatItLearned, "check_interruption", "must keep what it has learned if it is interrupted"),
    (SilentAboutInterrupts, "check_interruption", "must warn that it was interrupted"),
    (AddsAParameter, "check_scikit_learn", "AddsAParameter: it fails check_.* of scikit-learn"),
]
