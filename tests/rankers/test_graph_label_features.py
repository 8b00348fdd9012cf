"""GraphRanker with features that depend on the label, against the literal loops and against linear scores."""

import numpy as np
import pytest
from callbacks import Steps
from numpy.testing import assert_allclose
from oracles import decompositions as cuts
from oracles import log_linear as oracle
from rankers.minimizers import assert_same_model, features_of_labels, fitted_attributes, quiet, rankings
from scipy import sparse
from sklearn.model_selection import GridSearchCV, cross_val_score

from labelrank import GraphRanker
from labelrank.datasets import make_pairwise_battles

DECOMPOSITIONS = ["zero_one", "disagreement", "domination", "dominated"]


@pytest.mark.parametrize("name", DECOMPOSITIONS)
def test_label_features_equal_the_literal_loops(name):
    _, graphs = make_pairwise_battles(8, 4, n_battles=4, random_state=0)
    H = np.random.default_rng(0).normal(size=(8, 4, 3))
    edges = [list(zip(*(a.tolist() for a in row.to_edges()[1:]), strict=True)) for row in graphs]
    coef, curve, bounds = oracle.boost(H, [cuts.OF_EDGES[name](row) for row in edges], 6)
    common = {"decomposition": name, "model": "label_features"}
    ranker = quiet(GraphRanker(**common, solver="boosting", alpha=0.0, max_iter=6, tol=0), H, graphs)
    assert_allclose(ranker.coef_, coef, atol=1e-10)
    assert_allclose(ranker.loss_curve_, curve, rtol=1e-10)
    assert_allclose(ranker.bound_curve_, bounds, atol=1e-10)
    assert_allclose(ranker.decision_function(H), H @ coef)
    assert ranker.n_features_in_ == 3
    fast = GraphRanker(**common, alpha=0.1, tol=1e-9).fit(H, graphs)
    slow = quiet(GraphRanker(**common, solver="boosting", alpha=0.1, tol=1e-9, max_iter=3000), H, graphs)
    assert_allclose(fast.coef_, slow.coef_, atol=1e-5)


@pytest.mark.parametrize("solver", ["boosting", "lbfgs"])
def test_label_features_can_say_what_linear_scores_say(solver):
    X, y = rankings(30, 3)
    H = oracle.block_features(X, 3, fit_intercept=False)
    common = {"solver": solver, "alpha": 0.5, "max_iter": 20, "tol": 0}
    general = quiet(GraphRanker(model="label_features", **common), H, y)
    linear = quiet(GraphRanker(fit_intercept=False, **common), X, y)
    assert_allclose(general.loss_curve_[-1], linear.loss_curve_[-1], rtol=1e-6)
    if solver == "boosting":
        assert_allclose(general.loss_curve_, linear.loss_curve_)
        assert_allclose(general.decision_function(H), linear.decision_function(X))


@pytest.mark.parametrize("loss", ["log_linear", "plackett_luce", "squared"])
def test_label_features_with_other_losses(loss):
    H, y = features_of_labels(60)
    ranker = quiet(GraphRanker(loss, model="label_features"), H, y)
    assert ranker.score(H, y) > 0.6
    assert ranker.coef_.shape == (2,)
    assert not hasattr(ranker, "intercept_")


def test_label_features_are_cross_validated():
    H, y = features_of_labels(60)
    assert cross_val_score(GraphRanker(model="label_features"), H, y).mean() > 0.6
    grid = GridSearchCV(GraphRanker(model="label_features"), {"loss": ["log_linear", "plackett_luce"]}, cv=3).fit(H, y)
    assert grid.best_score_ > 0.6


def test_label_features_of_wrong_shapes():
    H, y = features_of_labels()
    ranker = GraphRanker(model="label_features").fit(H, y)
    before = fitted_attributes(ranker)
    shape = r"needs X of shape \(n_samples, 3, n_features\), .* got shape"
    for wrong in (H[:, :, 0], H[:, :2], np.zeros((20, 4, 2)), np.zeros((20, 3, 2, 1))):
        with pytest.raises(ValueError, match=shape):
            ranker.fit(wrong, y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples: X has 19, y has 20"):
        ranker.fit(H[:19], y)
    with pytest.raises(ValueError, match="NaN"):
        ranker.fit(np.full_like(H, np.nan), y)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        ranker.fit(sparse.csr_array(H[:, :, 0]), y)
    assert_same_model(ranker, before)
    shape = r"needs X of shape \(n_samples, 3, 2\), .* got shape"
    for wrong in (H[:, :, 0], H[:, :2], H[:, :, :1], np.zeros((5, 3, 4))):
        with pytest.raises(ValueError, match=shape):
            ranker.predict(wrong)
    with pytest.raises(ValueError, match=r"coefficients of shape \(2,\), but the data now need \(1,\)"):
        ranker.set_params(warm_start=True).fit(H[:, :, :1], y)


def test_label_features_are_only_read():
    H, y = features_of_labels()
    ranker = GraphRanker(model="label_features", solver="boosting", max_iter=3)
    expected = quiet(ranker, H.copy(), y).coef_
    before = H.copy()
    H.flags.writeable = False
    assert_allclose(quiet(ranker, H, y).coef_, expected)
    np.testing.assert_array_equal(H, before)


def test_label_features_warm_start_and_callbacks():
    H, y = features_of_labels()
    common = {"model": "label_features", "solver": "boosting", "alpha": 0.0, "tol": 0}
    whole = quiet(GraphRanker(max_iter=10, **common), H, y)
    steps = Steps()
    parts = GraphRanker(max_iter=5, warm_start=True, **common).set_callbacks(steps)
    for _ in range(2):
        quiet(parts, H, y)
    assert_allclose(parts.coef_, whole.coef_, atol=1e-12)
    assert_allclose(parts.loss_curve_, whole.loss_curve_)
    assert_allclose(steps.fitted[-1].decision_function(H), parts.decision_function(H))
