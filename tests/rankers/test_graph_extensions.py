"""GraphRanker with losses, models and solvers that are not in the library."""

import numpy as np
import pytest
from callbacks import Steps
from numpy.testing import assert_allclose
from rankers.minimizers import features_of_labels, quiet, rankings
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from labelrank import GraphRanker
from labelrank.losses import Loss
from labelrank.losses.base import FlowLoss
from labelrank.models import LinearModel
from labelrank.solvers import Solver


class SquaredHinge(Loss):
    """Σ max(0, 1 - (f_better - f_worse))²."""

    name = "squared_hinge"

    def value_and_gradient(self, scores, out, rows=slice(None)):
        row, better, worse = self.graphs[rows].to_edges()
        missing = np.maximum(0, 1 - scores[row, better] + scores[row, worse])
        weight = self.weight[rows][row]
        out[...] = 0
        np.add.at(out, (row, worse), 2 * weight * missing)
        np.add.at(out, (row, better), -2 * weight * missing)
        return float(weight @ missing**2)


class Exponential(FlowLoss):
    """Σ exp(f_worse - f_better), a loss with flows."""

    name = "exponential"

    def flows(self, scores, inflow, outflow, rows=slice(None)):
        row, better, worse = self.graphs[rows].to_edges()
        cost = self.weight[rows][row] * np.exp(scores[row, worse] - scores[row, better])
        for flow, label in ((inflow, worse), (outflow, better)):
            flow[...] = 0
            np.add.at(flow, (row, label), cost)
        return float(cost.sum())


class GradientDescent(Solver):
    """Steps of a fixed length."""

    name = "gradient_descent"

    def __init__(self, length=0.05):
        self.length = length

    def _minimize(self, objective, run):
        coef = run.state.coef
        while True:
            value, gradient = objective.value_and_gradient(coef)
            gradient = gradient / objective.total_weight
            if run.step(coef, value, np.abs(gradient).max()):
                return
            coef = coef - self.length * gradient


class Standardized(LinearModel):
    """Linear scores of features divided by their standard deviations."""

    def __init__(self, X, n_labels):
        self.scale = X.std(axis=0)
        super().__init__(X / self.scale, n_labels)

    def attributes(self, coef):
        found = super().attributes(coef)
        return found | {"coef_": found["coef_"] / self.scale}

    def coefficients(self, estimator):
        return np.vstack([(estimator.coef_ * self.scale).T, estimator.intercept_])


def test_own_loss():
    X, y = rankings(80)
    ranker = GraphRanker(SquaredHinge).fit(X, y)
    assert ranker.gap_ <= ranker.tol
    assert ranker.score(X, y) > 0.6
    weight = np.random.default_rng(0).integers(0, 3, 80)
    rows = np.repeat(np.arange(80), weight)
    a = clone(ranker).fit(X, y, sample_weight=weight)
    b = clone(ranker).fit(sparse.csr_array(X[rows]), y[rows])
    assert_allclose(a.coef_, b.coef_, atol=1e-3)
    with pytest.raises(ValueError, match="'squared_hinge' has a value and a gradient only; use solver='lbfgs'"):
        GraphRanker(SquaredHinge, solver="boosting").fit(X, y)
    with pytest.raises(ValueError, match="the loss 'squared_hinge' does not use a decomposition"):
        GraphRanker(SquaredHinge, decomposition="levels").fit(X, y)


def test_own_loss_with_flows():
    """AdaBoost's loss under boosting; there is no bound on its decrease, but the optimum is the same."""
    X, y = rankings(80, concentration=1.0)
    boosted = quiet(GraphRanker(Exponential, solver="boosting", alpha=10.0, tol=1e-5, max_iter=1000), X, y)
    exact = GraphRanker(Exponential, alpha=10.0, tol=1e-8).fit(X, y)
    assert_allclose(boosted.loss_curve_[-1], exact.loss_curve_[-1], rtol=1e-6)
    H, y = features_of_labels()
    with pytest.raises(ValueError, match=r"flow along each edge, which the loss 'exponential' .* solver=\"lbfgs\""):
        GraphRanker(Exponential, model="label_features", solver="boosting").fit(H, y)
    assert GraphRanker(Exponential, model="label_features").fit(H, y).score(H, y) > 0.6


@pytest.mark.parametrize("loss", ["log_linear", "plackett_luce", SquaredHinge])
def test_own_solver(loss):
    X, y = rankings(80)
    slow = GraphRanker(loss, solver=GradientDescent(), alpha=5.0, tol=1e-4, max_iter=5000).fit(X, y)
    fast = GraphRanker(loss, alpha=5.0, tol=1e-8).fit(X, y)
    assert slow.gap_ <= 1e-4
    assert slow.n_iter_ > fast.n_iter_
    assert_allclose(slow.coef_, fast.coef_, atol=1e-2)
    with pytest.warns(ConvergenceWarning, match=r"GraphRanker\(solver='gradient_descent'\) did not converge"):
        clone(slow).set_params(max_iter=3).fit(X, y)
    steps = Steps(stop_after=4)
    assert clone(slow).set_callbacks(steps).fit(X, y).n_iter_ == 4
    assert set(steps.names) == {"gradient_descent iteration"}


def test_own_solver_that_needs_an_ability():
    class Newton(GradientDescent):
        name = "newton"
        needs = frozenset({"curvature", "flows"})

    X, y = rankings()
    with pytest.raises(ValueError, match="solver 'newton' needs a loss with flows, but the loss 'plackett_luce'"):
        GraphRanker("plackett_luce", solver=Newton()).fit(X, y)


@pytest.mark.parametrize("solver", ["lbfgs", "boosting"])
def test_own_model(solver):
    X, y = rankings(80)
    X = X * [1.0, 100.0, 0.01]
    ranker = quiet(GraphRanker(model=Standardized, solver=solver, warm_start=True, max_iter=50), X, y)
    scaled = make_pipeline(StandardScaler(with_mean=False), GraphRanker(solver=solver, max_iter=50))
    quiet(scaled, X, y)
    assert_allclose(ranker.decision_function(X), scaled.decision_function(X), atol=1e-8)
    before = ranker.loss_curve_[-1]
    quiet(ranker.set_params(max_iter=5), X, y)
    assert ranker.loss_curve_[-1] <= before
    assert ranker.n_iter_ >= scaled[-1].n_iter_
