"""The boosted multilabel classifier."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from labelrank import GradientBoostingCoveringClassifier, PreferenceGraphs
from labelrank.metrics import covering_error


@parametrize_with_checks([GradientBoostingCoveringClassifier(max_iter=5)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def make(n=240):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 8))
    utility = X @ rng.standard_normal((8, 4)) + X[:, :4] * X[:, 4:] + rng.standard_normal((n, 4))
    return X, (utility > 0.5).astype(int)


def test_a_single_label_is_binary_log_loss():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((240, 4))
    utility = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.standard_normal(240)
    target = np.where(utility > np.median(utility), "yes", "no")
    shared = {"max_iter": 20, "min_samples_leaf": 10, "learning_rate": 0.2}
    theirs = HistGradientBoostingClassifier(l2_regularization=1.0, early_stopping=False, **shared).fit(X, target)
    ours = GradientBoostingCoveringClassifier(**shared).fit(X, target)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    assert np.array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize(
    "covering", ["hamming", "zero_one", "two_sets", "weighted_positive", lambda r: [[0, 1], [1, 2, 3]]]
)
def test_the_loss_of_every_covering_decreases(covering):
    X, Y = make()
    model = GradientBoostingCoveringClassifier(covering, max_iter=20).fit(X, Y)
    assert (np.diff(model.loss_curve_) < 0).all()
    assert hasattr(model, "predict_proba") == (covering == "hamming")
    assert np.array_equal(model.predict(X), model.decision_function(X) > 0)
    assert np.array_equal(list(model.staged_predict(X))[-1], model.predict(X))


def test_it_is_tuned_to_its_error():
    X, Y = make(600)
    train, test = slice(0, 400), slice(400, None)
    errors = {}
    for covering in ("hamming", "weighted_positive"):
        model = GradientBoostingCoveringClassifier(covering, max_iter=60, min_samples_leaf=10).fit(X[train], Y[train])
        errors[covering] = covering_error(Y[test], model.decision_function(X[test]), "weighted_positive")
    assert errors["weighted_positive"] < errors["hamming"]


def test_unknown_labels_and_graphs():
    X, Y = make()
    known = np.where(np.random.default_rng(0).random(Y.shape) < 0.2, np.nan, Y)
    model = GradientBoostingCoveringClassifier(max_iter=30).fit(X, known)
    assert (model.predict(X) == Y).mean() > 0.85
    graphs = PreferenceGraphs.from_multilabel(Y)
    assert np.array_equal(
        GradientBoostingCoveringClassifier(max_iter=3).fit(X, graphs).predict(X),
        GradientBoostingCoveringClassifier(max_iter=3).fit(X, Y).predict(X),
    )
