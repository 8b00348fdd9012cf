"""The least-squares solver on objectives: free intercepts, closed forms, and losses that are not quadratic."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.linear_model import Ridge

from labelrank import GraphRanker, PreferenceGraphs, ranks_from_scores
from labelrank.losses import SquaredLoss
from labelrank.models import KernelModel, LinearModel, Objective
from labelrank.solvers import LeastSquares, Stop

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3)) * [1.0, 100.0, 0.01] + [0.0, 50.0, 1.0]
Y = ranks_from_scores((X - X.mean(axis=0)) / X.std(axis=0) @ RNG.normal(size=(3, 4)) + RNG.normal(size=(40, 4)))
MISSING = np.where(RNG.random(Y.shape) < 0.3, np.nan, Y)
WEIGHT = RNG.uniform(0.2, 3, 40)
EDGES = PreferenceGraphs.from_pairs([0, 0, 1, 2, 2, 2], [0, 1, 2, 0, 1, 3], [1, 2, 3, 3, 0, 1], n_labels=4)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_complete_rankings_are_ridge_with_a_free_intercept(form):
    ranker = GraphRanker("squared", solver="least_squares", alpha=2.0, tol=1e-12).fit(form(X), Y, WEIGHT)
    ridge = Ridge(alpha=1.0).fit(X, Y.mean(axis=1, keepdims=True) - Y, WEIGHT)
    assert_allclose(ranker.decision_function(form(X)), ridge.predict(X), atol=1e-7)
    assert ranker.loss_curve_[-1] <= ranker.loss_curve_.min() + 1e-9


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("y", [Y, MISSING, np.ceil(MISSING / 2)], ids=["complete", "missing", "ties"])
def test_it_finds_the_minimum_of_lbfgs(form, y):
    ours = GraphRanker("squared", solver="least_squares", tol=1e-12, on_empty="ignore").fit(form(X), y, WEIGHT)
    theirs = GraphRanker("squared", solver="lbfgs", tol=1e-9, on_empty="ignore").fit(form(X), y, WEIGHT)
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    assert ours.loss_curve_[-1] == pytest.approx(theirs.loss_curve_[-1], rel=1e-9)


def test_edges_and_warm_starts():
    ours = GraphRanker("squared", solver="least_squares", tol=1e-12, warm_start=True).fit(X[:3], EDGES)
    theirs = GraphRanker("squared", tol=1e-10).fit(X[:3], EDGES)
    assert_allclose(ours.decision_function(X[:3]), theirs.decision_function(X[:3]), atol=1e-5)
    n_iter = ours.n_iter_
    assert ours.fit(X[:3], EDGES).n_iter_ <= n_iter + 1


def test_a_loss_that_is_not_quadratic():
    with pytest.raises(ValueError, match=r"'least_squares' needs a loss with laplacian, but the loss 'log_linear' has"):
        GraphRanker("log_linear", solver="least_squares").fit(X, Y)


@pytest.mark.parametrize("y", [Y, MISSING], ids=["complete", "missing"])
@pytest.mark.parametrize("labels", [None, np.eye(4) + 0.5], ids=["identity", "label kernel"])
def test_features_and_their_kernel_have_the_same_minimum(y, labels):
    scaled = X / X.std(axis=0)
    loss = SquaredLoss(PreferenceGraphs.from_rankings(y), sample_weight=WEIGHT)
    stop, every = Stop(1000, 1e-11), slice(None)
    by_features = KernelModel(scaled, 4, labels, is_gram=False)
    by_kernel = KernelModel(scaled @ scaled.T, 4, labels)
    gram = by_kernel.X.copy()
    found = [
        LeastSquares().solve(Objective(model, loss, alpha=2.0), np.zeros(model.coef_shape), stop)
        for model in (by_features, by_kernel)
    ]
    by_kernel.X = gram  # a closed form overwrites it
    scores = [model.scores(state.coef, every) for model, state in zip((by_features, by_kernel), found, strict=True)]
    assert_allclose(*scores, atol=1e-7)
    assert found[0].loss_curve[-1] == pytest.approx(found[1].loss_curve[-1])
    norm = np.vdot(found[1].coef, scores[1])
    assert found[1].loss_curve[-1] == pytest.approx(loss.value(scores[1]) + norm)
    if labels is None:
        linear = LinearModel(scaled, 4, fit_intercept=False)
        plain = LeastSquares().solve(Objective(linear, loss, alpha=2.0), np.zeros((3, 4)), stop)
        assert_allclose(linear.scores(plain.coef, every), scores[0], atol=1e-7)
