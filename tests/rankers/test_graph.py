"""GraphRanker: every loss with every solver, label features, and losses, models and solvers of one's own."""

import pickle

import numpy as np
import pytest
from callbacks import Steps
from numpy.testing import assert_allclose
from oracles import decompositions as cuts
from oracles import log_linear as oracle
from rankers.minimizers import assert_fit_reads_only, assert_same_model, fitted_attributes, quiet
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from labelrank import GraphRanker, LogLinearRanker, PreferenceGraphs
from labelrank.datasets import make_label_ranking, make_pairwise_battles
from labelrank.losses import LOSSES, LogLinearLoss, Loss
from labelrank.losses.base import FlowLoss
from labelrank.models import LinearModel
from labelrank.solvers import SOLVERS, Solver

PAIRS = [(loss, solver) for loss in LOSSES for solver in SOLVERS]
FITTING = [(loss, solver) for loss, solver in PAIRS if SOLVERS[solver].needs <= LOSSES[loss].abilities]
DECOMPOSITIONS = ["zero_one", "disagreement", "domination", "dominated"]
ITERATIVE = [(loss, solver) for loss, solver in FITTING if solver in ("lbfgs", "boosting", "soft_projection")]

every_fitting_pair = pytest.mark.parametrize(("loss", "solver"), FITTING)
every_iterative_pair = pytest.mark.parametrize(("loss", "solver"), ITERATIVE)


def rankings(n_samples=40, n_labels=4, concentration=5.0):
    return make_label_ranking(n_samples, 3, n_labels=n_labels, concentration=concentration, random_state=0)


def features_of_labels(n_samples=20, n_labels=3, n_features=2):
    """Features of instance and label, and rankings that follow them."""
    rng = np.random.default_rng(0)
    H = rng.normal(size=(n_samples, n_labels, n_features))
    utility = H @ rng.normal(size=n_features) + 0.3 * rng.normal(size=(n_samples, n_labels))
    return H, np.argsort(np.argsort(-utility, axis=1), axis=1) + 1.0


# Every loss with every solver


def digits(loss):
    """How well a loss is minimized: L-BFGS is not exact where there are kinks, soft projections are random."""
    return 1e-2 if loss == "soft_margin" else 1e-5


@every_fitting_pair
def test_a_solver_learns(loss, solver):
    X, y = rankings(80)
    ranker = quiet(GraphRanker(loss, solver=solver), X, y)
    assert ranker.score(X, y) > 0.6
    assert ranker.coef_.shape == (4, 3)
    assert ranker.intercept_.shape == (4,)
    assert len(ranker.loss_curve_) == ranker.n_iter_ + 1
    assert len(ranker.bound_curve_) == ranker.n_iter_
    assert ranker.loss_curve_[-1] < ranker.loss_curve_[0]
    assert ranker.gap_ >= 0
    copy = pickle.loads(pickle.dumps(ranker))
    assert_allclose(copy.decision_function(X), X @ ranker.coef_.T + ranker.intercept_)


@pytest.mark.parametrize(("loss", "solver"), [pair for pair in PAIRS if pair not in FITTING])
def test_a_solver_needs_abilities(loss, solver):
    X, y = rankings()
    ranker = quiet(GraphRanker(loss), X, y)
    before = fitted_attributes(ranker)
    with pytest.raises(ValueError, match=f"solver '{solver}' needs .* the loss '{loss}' has .*; use solver='lbfgs'"):
        ranker.set_params(solver=solver).fit(X[:, :2], y[:, :3])
    assert_same_model(ranker, before)


@every_fitting_pair
def test_dense_and_sparse_features(loss, solver):
    X, y = rankings()
    X = np.where(np.abs(X) < 0.5, 0, X)
    ranker = GraphRanker(loss, solver=solver, tol=1e-6)
    dense = fitted_attributes(quiet(ranker, X, y))
    thin = quiet(ranker, sparse.csr_array(X), y)
    assert_allclose(thin.coef_, dense["coef_"], atol=digits(loss))
    assert_allclose(thin.decision_function(sparse.csc_array(X)), thin.decision_function(X))


@every_iterative_pair
def test_fit_only_reads(loss, solver):
    X, y = rankings(30)
    if solver == "soft_projection":
        solver = SOLVERS[solver](shuffle=False)
    assert_fit_reads_only(GraphRanker(loss, solver=solver, max_iter=3), X, y)


@every_fitting_pair
def test_ties_and_missing_labels(loss, solver):
    X, y = rankings(60)
    rng = np.random.default_rng(0)
    y = np.ceil(y / 2)
    y[rng.random(y.shape) < 0.2] = np.nan
    ranker = quiet(GraphRanker(loss, solver=solver), X, y)
    assert np.isfinite(ranker.coef_).all()
    assert ranker.score(X, y) > 0.6


@pytest.mark.parametrize(("loss", "solver"), [pair for pair in FITTING if pair[0] in ("log_linear", "soft_margin")])
def test_cycles_and_weighted_edges(loss, solver):
    X, graphs = make_pairwise_battles(60, 5, n_battles=6, random_state=0)
    assert not all(row.is_layered for row in graphs)
    ranker = quiet(GraphRanker(loss, solver=solver, max_iter=100), X, graphs)
    assert ranker.score(X, graphs) > 0.2
    weighted = PreferenceGraphs.from_pairs(
        *graphs.to_edges(), np.ones(graphs.n_edges), n_instances=len(graphs), n_labels=5
    )
    again = quiet(clone(ranker), X, weighted)
    assert_allclose(again.loss_curve_[-1], ranker.loss_curve_[-1], rtol=1e-2)


@every_fitting_pair
def test_one_label_and_rows_without_pairs(loss, solver):
    X, y = rankings(10)
    for nothing in (y[:, :1], np.ones_like(y), np.full_like(y, np.nan)):
        ranker = quiet(GraphRanker(loss, solver=solver), X, nothing)
        assert not ranker.coef_.any()
        assert (ranker.predict(X) == 1).all()
    y[4] = np.nan
    with pytest.warns(UserWarning, match=r"1 row without any observed pair \(first: row 4\)"):
        GraphRanker(loss, solver=solver, tol=0.5).fit(X, y)


@every_fitting_pair
def test_one_sample(loss, solver):
    ranker = quiet(GraphRanker(loss, solver=solver), [[1.0, -2.0]], [[2, 1, 3]])
    assert np.isfinite(ranker.coef_).all()
    assert ranker.predict([[1.0, -2.0]]).tolist() == [[2, 1, 3]]


@every_fitting_pair
def test_constant_and_duplicated_features(loss, solver):
    X, y = rankings()
    strange = np.column_stack([X, X[:, 0], np.ones(40), np.zeros(40)])
    ranker = quiet(GraphRanker(loss, solver=solver, tol=1e-6), strange, y)
    assert np.isfinite(ranker.coef_).all()
    assert_allclose(ranker.coef_[:, 3], ranker.coef_[:, 0], atol=1e-3)
    assert_allclose(ranker.coef_[:, 5], 0, atol=1e-12)
    assert ranker.score(strange, y) > 0.6


@every_fitting_pair
def test_weights_are_repeats(loss, solver):
    X, y = rankings(25, concentration=2.0)
    weight = np.random.default_rng(0).integers(0, 3, 25)
    rows = np.repeat(np.arange(25), weight)
    ranker = GraphRanker(loss, solver=solver, tol=1e-7)
    weighted = fitted_attributes(quiet(ranker, X, y, sample_weight=weight))
    repeated = fitted_attributes(quiet(ranker, X[rows], y[rows]))
    assert_allclose(weighted["loss_curve_"][-1], repeated["loss_curve_"][-1], rtol=digits(loss))
    assert_allclose(weighted["coef_"], repeated["coef_"], atol=5 * digits(loss))


@every_fitting_pair
def test_duplicated_rows(loss, solver):
    """The loss is a sum over the instances, so twice of each is half of the penalty."""
    X, y = rankings(25)
    once = quiet(GraphRanker(loss, solver=solver, tol=1e-7), X, y)
    twice = quiet(GraphRanker(loss, solver=solver, tol=1e-7, alpha=2.0), np.tile(X, (2, 1)), np.tile(y, (2, 1)))
    assert_allclose(twice.loss_curve_[-1], once.loss_curve_[-1], rtol=digits(loss))
    assert_allclose(twice.coef_, once.coef_, atol=5 * digits(loss))


@every_fitting_pair
def test_threads(loss, solver):
    X, y = rankings(800)
    one, two = (quiet(GraphRanker(loss, solver=solver, max_iter=5, n_jobs=n_jobs), X, y) for n_jobs in (1, 2))
    if solver != "soft_projection":
        assert_allclose(one.coef_, two.coef_, atol=1e-8)
    assert_allclose(one.loss_curve_[0], two.loss_curve_[0])


@every_iterative_pair
def test_callbacks_can_stop(loss, solver):
    X, y = rankings()
    steps = Steps(stop_after=2)
    ranker = GraphRanker(loss, solver=solver, tol=0, max_iter=50).set_callbacks(steps).fit(X, y)
    assert ranker.n_iter_ == len(steps.names) == 2
    assert set(steps.names) == {f"{solver} iteration"}
    assert steps.total == 50
    assert_allclose(steps.fitted[-1].decision_function(X), ranker.decision_function(X))


@every_iterative_pair
def test_control_c_keeps_what_was_learned(loss, solver):
    X, y = rankings()
    ranker = GraphRanker(loss, solver=solver, tol=0, max_iter=50).set_callbacks(Steps(interrupt_after=3))
    with pytest.warns(UserWarning, match="interrupted after 3 iterations"):
        ranker.fit(X, y)
    assert ranker.n_iter_ == 3
    assert ranker.coef_.any()


@pytest.mark.parametrize(("loss", "solver"), [pair for pair in ITERATIVE if pair[1] != "soft_projection"])
def test_warm_start(loss, solver):
    X, y = rankings()
    whole = quiet(GraphRanker(loss, solver=solver, tol=1e-6), X, y)
    parts = GraphRanker(loss, solver=solver, tol=1e-6, max_iter=4, warm_start=True)
    quiet(parts, X, y)
    first = parts.loss_curve_
    quiet(parts.set_params(max_iter=1000), X, y)
    assert_allclose(parts.loss_curve_[: len(first)], first)
    assert_allclose(parts.loss_curve_[-1], whole.loss_curve_[-1], rtol=1e-3)
    with pytest.raises(ValueError, match=r"coefficients of shape \(4, 4\), but the data now need \(3, 4\)"):
        parts.fit(X[:, :2], y)


@pytest.mark.parametrize("solver", ["lbfgs", "boosting"])
def test_an_interrupted_evaluation_leaves_curves_and_coefficients_together(solver):
    """Control-C in the midst of an evaluation: the last finished iteration counts."""
    X, y = rankings()

    class Interrupted(LogLinearLoss):
        calls = 0

        def flows(self, *args):
            type(self).calls += 1
            if type(self).calls == 5:
                raise KeyboardInterrupt
            return super().flows(*args)

    ranker = GraphRanker(Interrupted, solver=solver, alpha=0.1, tol=0)
    with pytest.warns(UserWarning, match="interrupted after"):
        ranker.fit(X, y)
    assert 0 < ranker.n_iter_ < 5
    again = GraphRanker(solver=solver, alpha=0.1, tol=0, max_iter=ranker.n_iter_)
    assert_allclose(ranker.coef_, quiet(again, X, y).coef_)
    assert_allclose(ranker.loss_curve_, again.loss_curve_)


def test_control_c_in_the_first_evaluation():
    X, y = rankings()

    class Interrupted(Loss):
        def value_and_gradient(self, scores, out, rows=slice(None)):
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted after 0 iterations"):
        ranker = GraphRanker(Interrupted).fit(X, y)
    assert ranker.n_iter_ == 0
    assert not ranker.coef_.any()


def test_presets_are_compositions():
    X, y = rankings()
    a = quiet(GraphRanker("log_linear", decomposition="dominated", solver="boosting", max_iter=20), X, y)
    b = quiet(LogLinearRanker("dominated", solver="boosting", max_iter=20), X, y)
    assert_allclose(a.coef_, b.coef_)
    assert_allclose(a.bound_curve_, b.bound_curve_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "hinge"}, "'loss' parameter of GraphRanker must be a str among {.*}.* Got 'hinge'"),
        ({"loss": int}, "loss must be a name or a subclass of Loss, got int"),
        ({"solver": "newton"}, "'solver' parameter of GraphRanker must be a str among {.*}.* Got 'newton'"),
        ({"model": "tree"}, "'model' parameter of GraphRanker must be a str among {.*}.* Got 'tree'"),
        ({"loss": "plackett_luce", "decomposition": "levels"}, "'plackett_luce' does not cut the graphs; leave"),
        ({"decomposition": "hamming"}, "decomposition 'hamming' is not known"),
        ({"alpha": -1}, "'alpha' parameter .* must be a float in the range"),
        ({"alpha": np.nan}, "'alpha' parameter .* must be a float in the range"),
        ({"max_iter": 0}, "'max_iter' parameter .* must be an int in the range"),
    ],
)
def test_bad_parameters(parameters, message):
    X, y = rankings()
    with pytest.raises(ValueError, match=message):
        GraphRanker(**parameters).fit(X, y)


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
def test_scores_that_overflow():
    with pytest.raises(ValueError, match="not finite at the start; scale the features"):
        GraphRanker().fit([[1e200], [-1e200]], [[1, 2], [2, 1]], sample_weight=[1e200, 1e200])


def test_warns_when_it_does_not_converge():
    X, y = rankings()
    with pytest.warns(ConvergenceWarning, match=r"GraphRanker\(solver='lbfgs'\) did not converge") as caught:
        GraphRanker("plackett_luce", max_iter=2).fit(X, y)
    assert caught[0].filename == __file__


# Features that depend on the label


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


@pytest.mark.parametrize("loss", ["log_linear", "plackett_luce", "soft_margin"])
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


# Losses, models and solvers of one's own


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
    with pytest.raises(ValueError, match="the loss 'squared_hinge' does not cut the graphs"):
        GraphRanker(SquaredHinge, decomposition="levels").fit(X, y)


def test_own_loss_with_flows():
    """AdaBoost's loss under boosting; there is no bound on its decrease, but the optimum is the same."""
    X, y = rankings(80, concentration=1.0)
    boosted = quiet(GraphRanker(Exponential, solver="boosting", tol=1e-6, max_iter=3000), X, y)
    exact = GraphRanker(Exponential, tol=1e-8).fit(X, y)
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
    with pytest.raises(ValueError, match="solver 'newton' needs flows of a loss, and the loss 'plackett_luce'"):
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
