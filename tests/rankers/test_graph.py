"""GraphRanker: every loss with every solver, and what all of them do alike."""

import pickle

import numpy as np
import pytest
from callbacks import Steps
from numpy.testing import assert_allclose
from rankers.minimizers import assert_fit_reads_only, assert_same_model, fitted_attributes, quiet, rankings
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from labelrank import GraphRanker, LogLinearRanker, PreferenceGraphs
from labelrank.datasets import make_pairwise_battles
from labelrank.losses import LOSSES, LogLinearLoss, Loss
from labelrank.solvers import SOLVERS

PAIRS = [(loss, solver) for loss in LOSSES for solver in SOLVERS]
OFFERED = {name: loss.abilities | ({"smoothness"} if loss.smooth else set()) for name, loss in LOSSES.items()}
FITTING = [(loss, solver) for loss, solver in PAIRS if SOLVERS[solver].needs <= OFFERED[loss]]
ITERATIVE = [(loss, solver) for loss, solver in FITTING if solver in ("lbfgs", "boosting", "soft_projection")]

every_fitting_pair = pytest.mark.parametrize(("loss", "solver"), FITTING)
every_iterative_pair = pytest.mark.parametrize(("loss", "solver"), ITERATIVE)


def digits(loss):
    """How well a loss is minimized: soft projections are random."""
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
    fitting = [name for other, name in FITTING if other == loss]
    ranker = quiet(GraphRanker(loss, solver=fitting[0]), X, y)
    before = fitted_attributes(ranker)
    use = "use solver=" + " or ".join(f"'{name}'" for name in fitting)
    with pytest.raises(ValueError, match=f"solver '{solver}' needs .* the loss '{loss}' has .*; {use}"):
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

    ranker = quiet(GraphRanker(), X, y)
    before = fitted_attributes(ranker)
    with pytest.raises(KeyboardInterrupt):  # nothing was learned that could be kept
        ranker.set_params(loss=Interrupted).fit(X, y)
    assert_same_model(ranker, before)


def test_presets_are_compositions():
    X, y = rankings()
    a = quiet(GraphRanker("log_linear", decomposition="dominated", solver="boosting", max_iter=20), X, y)
    b = quiet(LogLinearRanker("dominated", solver="boosting", max_iter=20), X, y)
    assert_allclose(a.coef_, b.coef_)
    assert_allclose(a.bound_curve_, b.bound_curve_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "hinge"}, "loss 'hinge' is not known; choose one of"),
        ({"loss": int}, "loss must be a name or a subclass of Loss, got int"),
        ({"solver": "newton"}, "'solver' parameter of GraphRanker must be a str among {.*}.* Got 'newton'"),
        ({"model": "tree"}, "'model' parameter of GraphRanker must be a str among {.*}.* Got 'tree'"),
        ({"loss": "plackett_luce", "decomposition": "levels"}, "'plackett_luce' does not use a decomposition; leave"),
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
