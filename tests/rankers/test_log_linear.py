"""The log-linear ranker against the literal loops of Figure 3 and against scikit-learn's logistic regression."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from oracles import decompositions as cuts
from oracles import log_linear as oracle
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from strategies import edge_rows, graphs_of, rank_matrices

from labelrank import LogLinearRanker, PreferenceGraphs, as_graphs
from labelrank.datasets import load_iris_rankings, make_label_ranking, make_pairwise_battles

NAMES = ["zero_one", "disagreement", "domination", "dominated"]
VALUES = st.sampled_from([-2.0, -0.5, 0.0, 0.3, 1.0])


def edges_of(graphs):
    return [list(zip(*(a.tolist() for a in row.to_edges()[1:]), strict=True)) for row in graphs]


def quiet(ranker, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ranker.fit(*args, **kwargs)


@settings(max_examples=40)
@given(
    st.one_of(
        edge_rows(max_rows=4, max_labels=4).map(lambda case: graphs_of(*case)),
        rank_matrices(min_rows=1, max_rows=4, max_labels=4).map(as_graphs),
    ),
    st.sampled_from(NAMES),
    st.booleans(),
    st.sampled_from([0.0, 0.01]),
    st.booleans(),
    st.data(),
)
def test_boosting_equals_the_literal_loops(graphs, name, fit_intercept, smoothing, as_sparse, data):
    assume(graphs.n_edges)
    n, k = graphs.shape
    X = np.array(data.draw(st.lists(VALUES, min_size=2 * n, max_size=2 * n))).reshape(n, 2)
    cut = [cuts.OF_EDGES[name](edges) for edges in edges_of(graphs)]
    h = oracle.block_features(X, k, fit_intercept)
    assume(fit_intercept or any(np.abs(X[i]).sum() for i in range(n) if cut[i]))
    lam, curve, bounds = oracle.boost(h, cut, 5, smoothing)
    ranker = LogLinearRanker(
        name, max_iter=5, tol=0, fit_intercept=fit_intercept, smoothing=smoothing, solver="boosting", alpha=0.0
    )
    quiet(ranker, sparse.csr_array(X) if as_sparse else X, graphs)
    expected = lam.reshape(-1, k)
    n_iter = ranker.n_iter_
    assert_allclose(curve[n_iter:], curve[n_iter])  # fewer only when nothing can move any more
    assert_allclose(ranker.coef_.T, expected[:2], atol=1e-10)
    assert_allclose(ranker.intercept_, expected[2] if fit_intercept else 0, atol=1e-10)
    assert_allclose(ranker.loss_curve_, curve[: n_iter + 1], rtol=1e-10)
    assert_allclose(ranker.bound_curve_, bounds[:n_iter], atol=1e-10)
    assert (-np.diff(ranker.loss_curve_) >= ranker.bound_curve_ - 1e-10).all()


@pytest.mark.parametrize("name", NAMES)
def test_every_step_decreases_the_loss_by_the_bound(name):
    X, graphs = make_pairwise_battles(60, 6, n_battles=6, random_state=0)
    ranker = quiet(LogLinearRanker(name, max_iter=60, tol=0, solver="boosting", alpha=0.0), X, graphs)
    assert ranker.n_iter_ == 60
    assert (-np.diff(ranker.loss_curve_) >= ranker.bound_curve_).all()
    assert (ranker.bound_curve_ > 0).all()


@pytest.mark.parametrize("name", [*NAMES, "levels"])
@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_both_solvers_reach_the_same_optimum(name, alpha):
    X, y = make_label_ranking(80, 3, n_labels=4, concentration=1.0, random_state=0)
    fast = LogLinearRanker(name, solver="lbfgs", alpha=alpha, tol=1e-9, max_iter=1000).fit(X, y)
    slow = quiet(LogLinearRanker(name, alpha=alpha, tol=1e-7, max_iter=4000, solver="boosting"), X, y)
    assert_allclose(slow.loss_curve_[-1], fast.loss_curve_[-1], rtol=1e-6)
    assert (np.diff(slow.loss_curve_) <= 1e-10).all()
    assert (-np.diff(slow.loss_curve_) >= slow.bound_curve_ - 1e-10).all()


@pytest.mark.parametrize("alpha", [0.1, 10.0])
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_one_class_is_logistic_regression(alpha, form):
    X, y = load_iris(return_X_y=True)
    reference = LogisticRegression(C=1 / alpha, tol=1e-10, max_iter=5000).fit(X, y)
    data = sparse.csr_array(X) if form == "sparse" else X
    graphs = PreferenceGraphs.from_multiclass(y)
    ranker = LogLinearRanker(solver="lbfgs", alpha=alpha, tol=1e-9, max_iter=5000).fit(data, graphs)

    def objective(coef, intercept):
        scores = X @ coef.T + intercept
        logs = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        return -logs[np.arange(len(y)), y].sum() + alpha / 2 * (coef**2).sum()

    assert_allclose(ranker.loss_curve_[-1], objective(ranker.coef_, ranker.intercept_), rtol=1e-10)
    assert_allclose(ranker.loss_curve_[-1], objective(reference.coef_, reference.intercept_), rtol=1e-6)
    assert_allclose(ranker.coef_, reference.coef_, atol=1e-3)


def test_zero_weights_leave_a_coefficient_where_it_is():
    # One instance: no edge pulls the other way, so without smoothing nothing moves.
    X, y = np.array([[1.0]]), np.array([[1.0, 2.0]])
    still = quiet(LogLinearRanker(max_iter=3, tol=0, solver="boosting", alpha=0.0), X, y)
    assert not still.coef_.any()
    moved = quiet(LogLinearRanker(max_iter=3, tol=0, smoothing=0.1, solver="boosting", alpha=0.0), X, y)
    assert moved.coef_[0, 0] > 0 > moved.coef_[1, 0]
    penalised = quiet(LogLinearRanker(max_iter=500, tol=1e-12, alpha=1.0, fit_intercept=False, solver="boosting"), X, y)
    exact = LogLinearRanker(solver="lbfgs", tol=1e-12, alpha=1.0, fit_intercept=False, max_iter=100).fit(X, y)
    assert_allclose(penalised.coef_, exact.coef_, atol=1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_base_rankers_equal_the_literal_loops(name):
    rng = np.random.default_rng(0)
    X, graphs = make_pairwise_battles(8, 4, n_battles=4, random_state=0)
    h = rng.normal(size=(8, 4, 3))
    cut = [cuts.OF_EDGES[name](edges) for edges in edges_of(graphs)]
    lam, curve, bounds = oracle.boost(h, cut, 6)
    for base, data in ((h, X), (lambda X: h[X[:, 0].astype(int)], np.arange(8)[:, None]), ("precomputed", h)):
        ranker = quiet(
            LogLinearRanker(name, base_rankers=base, max_iter=6, tol=0, solver="boosting", alpha=0.0), data, graphs
        )
        assert_allclose(ranker.coef_, lam, atol=1e-10)
        assert_allclose(ranker.loss_curve_, curve, rtol=1e-10)
        assert_allclose(ranker.bound_curve_, bounds, atol=1e-10)
        new = data if callable(base) else h
        assert_allclose(ranker.decision_function(new), h @ lam)
    fast = LogLinearRanker(name, base_rankers=h, solver="lbfgs", tol=1e-9, max_iter=500, alpha=0.1).fit(X, graphs)
    slow = quiet(
        LogLinearRanker(name, base_rankers=h, max_iter=3000, tol=1e-9, alpha=0.1, solver="boosting"), X, graphs
    )
    assert_allclose(fast.coef_, slow.coef_, atol=1e-5)


def test_base_rankers_can_say_what_block_features_say():
    X, y = make_label_ranking(30, 2, n_labels=3, random_state=0)
    h = oracle.block_features(X, 3, True)
    general = quiet(LogLinearRanker(base_rankers=h, max_iter=20, tol=0, solver="boosting", alpha=0.0), X, y)
    blocks = quiet(LogLinearRanker(max_iter=20, tol=0, solver="boosting", alpha=0.0), X, y)
    assert_allclose(general.loss_curve_, blocks.loss_curve_)
    assert_allclose(general.decision_function(h), blocks.decision_function(X))


def test_bad_base_rankers():
    X, y = make_label_ranking(5, 2, n_labels=3, random_state=0)
    with pytest.raises(ValueError, match=r"shape \(5, 3\)"):
        LogLinearRanker(base_rankers=np.zeros((5, 3)), solver="boosting", alpha=0.0, max_iter=100).fit(X, y)
    with pytest.raises(ValueError, match=r"base rankers have shape \(5, 4, 2\), but y has \(5, 3\)"):
        LogLinearRanker(base_rankers=np.zeros((5, 4, 2)), solver="boosting", alpha=0.0, max_iter=100).fit(X, y)
    with pytest.raises(ValueError, match="NaN or infinity"):
        LogLinearRanker(base_rankers=np.full((5, 3, 2), np.nan), solver="boosting", alpha=0.0, max_iter=100).fit(X, y)
    ranker = quiet(
        LogLinearRanker(
            base_rankers=np.random.default_rng(0).normal(size=(5, 3, 2)), solver="boosting", alpha=0.0, max_iter=100
        ),
        X,
        y,
    )
    with pytest.raises(ValueError, match=r"expected \(n_samples, 3, 2\)"):
        ranker.predict(np.zeros((5, 3, 4)))


def test_precomputed_base_rankers_are_cross_validated():
    X, y = make_label_ranking(40, 2, n_labels=3, concentration=20.0, random_state=0)
    h = oracle.block_features(X, 3, False)
    ranker = LogLinearRanker(base_rankers="precomputed", solver="lbfgs", alpha=1.0, max_iter=100)
    assert cross_val_score(ranker, h, y).mean() > 0.5


def test_warm_start_goes_on():
    X, y = make_label_ranking(40, 3, n_labels=4, random_state=0)
    whole = quiet(LogLinearRanker(max_iter=30, tol=0, solver="boosting", alpha=0.0), X, y)
    parts = LogLinearRanker(max_iter=10, tol=0, warm_start=True, solver="boosting", alpha=0.0)
    for _ in range(3):
        quiet(parts, X, y)
    assert_allclose(parts.coef_, whole.coef_, atol=1e-12)
    assert_allclose(parts.loss_curve_, whole.loss_curve_)
    assert_allclose(parts.bound_curve_, whole.bound_curve_)
    assert parts.n_iter_ == 30
    with pytest.raises(ValueError, match="fit a new estimator"):
        parts.fit(X[:, :2], y)
    cold = quiet(parts.set_params(warm_start=False), X, y)
    assert cold.n_iter_ == 10


@pytest.mark.parametrize("solver", ["boosting", "lbfgs"])
def test_an_interrupted_fit_is_usable_and_goes_on(solver):
    X, y = make_label_ranking(60, 3, n_labels=4, concentration=1.0, random_state=0)

    class Interrupt:
        """Control-C after four iterations."""

        seen = 0

        def setup(self, estimator, context): ...
        def teardown(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context): ...
        def on_fit_task_end(self, estimator, context):
            if "iteration" in context.task_name:
                self.seen += 1
                if self.seen == 4:
                    raise KeyboardInterrupt

    ranker = LogLinearRanker(solver=solver, alpha=0.1, max_iter=200, tol=1e-6, warm_start=True)
    ranker.set_callbacks(Interrupt())
    with pytest.warns(UserWarning, match="interrupted after 4 iterations"):
        ranker.fit(X, y)
    assert ranker.n_iter_ == 4
    assert ranker.predict(X).shape == y.shape
    ranker.set_callbacks()
    quiet(ranker, X, y)
    assert ranker.n_iter_ > 4
    assert ranker.loss_curve_[-1] < ranker.loss_curve_[4]
    assert len(ranker.loss_curve_) == ranker.n_iter_ + 1


def test_callbacks_see_every_iteration_and_can_stop():
    X, y = make_label_ranking(30, 3, n_labels=4, random_state=0)

    class Watch:
        def __init__(self, stop_at):
            self.scores, self.stop_at = [], stop_at

        def setup(self, estimator, context): ...
        def teardown(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context): ...
        def on_fit_task_end(self, estimator, context, *, fitted_estimator):
            if "iteration" in context.task_name:
                self.scores.append(fitted_estimator.score(X, y))
            return len(self.scores) == self.stop_at

    for solver in ("boosting", "lbfgs"):
        watch = Watch(5)
        ranker = LogLinearRanker(solver=solver, max_iter=50, tol=0, alpha=0.0).set_callbacks(watch).fit(X, y)
        assert len(watch.scores) == ranker.n_iter_ == 5
        assert watch.scores[-1] == ranker.score(X, y)


def test_stopping_early_is_said():
    X, y = make_label_ranking(30, 3, n_labels=4, random_state=0)
    for solver in ("boosting", "lbfgs"):
        with pytest.warns(ConvergenceWarning, match=r"stopped after max_iter=2 iterations with .* gradient") as caught:
            LogLinearRanker(solver=solver, max_iter=2, alpha=0.0).fit(X, y)
        assert caught[0].filename == __file__


def test_sample_weight_and_empty_rows():
    X, y = make_label_ranking(25, 3, n_labels=4, concentration=2.0, random_state=0)
    weight = np.random.default_rng(0).integers(0, 3, 25)
    rows = np.repeat(np.arange(25), weight)
    for solver in ("boosting", "lbfgs"):
        a = quiet(LogLinearRanker(solver=solver, alpha=0.1, tol=0, max_iter=30), X, y, sample_weight=weight)
        b = quiet(LogLinearRanker(solver=solver, alpha=0.1, tol=0, max_iter=30), X[rows], y[rows])
        assert_allclose(a.loss_curve_[: b.n_iter_], b.loss_curve_[: b.n_iter_], rtol=1e-8)
        assert_allclose(a.coef_, b.coef_, atol=1e-6)
    y[3] = np.nan
    with pytest.warns(UserWarning, match=r"1 row without any observed pair \(first: row 3\)"):
        LogLinearRanker(solver="lbfgs", alpha=1.0, max_iter=100).fit(X, y)
    with pytest.raises(ValueError, match="first: row 3"):
        LogLinearRanker(on_empty="error", solver="boosting", alpha=0.0, max_iter=100).fit(X, y)


def test_nothing_to_learn_from():
    X = np.arange(6.0).reshape(3, 2)
    for y in (np.full((3, 4), np.nan), np.ones((3, 4)), np.ones((3, 1))):
        for solver in ("boosting", "lbfgs"):
            ranker = quiet(LogLinearRanker(solver=solver, alpha=0.0, max_iter=100), X, y)
            assert not ranker.coef_.any()
            assert (ranker.predict(X) == 1).all()


def test_constant_duplicated_and_huge_features():
    X, y = make_label_ranking(40, 3, n_labels=4, random_state=0)
    strange = np.column_stack([X, X[:, 0], np.ones(40), np.zeros(40), 1e6 * X[:, 1]])
    for solver in ("boosting", "lbfgs"):
        ranker = quiet(LogLinearRanker(solver=solver, alpha=1e-3, max_iter=100), strange, y)
        assert np.isfinite(ranker.coef_).all()
        assert (np.diff(ranker.loss_curve_) <= 1e-9).all()


def test_users_decomposition_and_grid_search():
    X, y = load_iris_rankings(return_X_y=True)

    def best_against_rest(graph):
        best, *rest = graph.levels
        return [[(a, b) for a in best for level in rest for b in level]]

    grid = {"alpha": [0.1, 10.0], "decomposition": ["domination", best_against_rest]}
    folds = KFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(LogLinearRanker(solver="lbfgs", max_iter=1000, alpha=0.0), grid, cv=folds).fit(X, y)
    assert search.best_score_ > 0.8


def test_pairwise_proba():
    X, y = make_label_ranking(30, 3, n_labels=4, random_state=0)
    ranker = LogLinearRanker(solver="lbfgs", alpha=1.0, max_iter=100).fit(X, y)
    p = ranker.pairwise_proba(X)
    assert_allclose(p + p.transpose(0, 2, 1), 1)
    ranks = ranker.predict(X)
    assert ((p > 0.5) == (ranks[:, :, None] < ranks[:, None, :])).all()


def test_sparse_is_never_densified(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("densified")

    X, y = make_label_ranking(50, 4, n_labels=3, random_state=0)
    data = sparse.csr_array(X)
    for method in ("toarray", "todense"):
        monkeypatch.setattr(sparse.csr_array, method, refuse)
    for solver in ("boosting", "lbfgs"):
        ranker = quiet(LogLinearRanker(solver=solver, alpha=1.0, max_iter=100), data, y)
        assert_allclose(ranker.predict(data), ranker.predict(X))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"solver": "newton"}, 'solver must be "boosting" or "lbfgs"'),
        ({"alpha": -1}, "alpha must be a number from 0"),
        ({"tol": np.nan}, "tol must be a number from 0"),
        ({"max_iter": 0}, "max_iter must be an integer from 1"),
        ({"smoothing": 1.0, "solver": "lbfgs"}, 'smoothing is for solver="boosting"'),
        ({"decomposition": "hamming"}, "decomposition 'hamming' is not known"),
        ({"alpha": True}, "alpha must be a number from 0, got True"),
        ({"max_iter": True}, "max_iter must be an integer from 1, got True"),
        ({"warm_start": "yes"}, "warm_start must be True or False, got 'yes'"),
        ({"n_jobs": "a"}, "n_jobs must be None or an integer other than 0.*got 'a'"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        LogLinearRanker(**parameters).fit([[1.0], [2.0]], [[1, 2], [2, 1]])


def test_curves_of_a_warm_start_with_another_solver():
    X, y = make_label_ranking(40, 3, n_labels=4, concentration=1.0, random_state=0)
    ranker = LogLinearRanker(solver="lbfgs", max_iter=3, warm_start=True, tol=0, alpha=0.0)
    quiet(ranker, X, y)
    assert np.isnan(ranker.bound_curve_).all()
    quiet(ranker.set_params(solver="boosting"), X, y)
    assert ranker.n_iter_ == len(ranker.bound_curve_) == len(ranker.loss_curve_) - 1 == 6
    assert np.isfinite(ranker.bound_curve_[3:]).all()


def test_coefficients_that_cannot_move_are_said():
    rng = np.random.default_rng(0)
    X = np.eye(6)[rng.integers(0, 6, 60)]
    graphs = PreferenceGraphs.from_multiclass(X.argmax(1) % 3)
    with pytest.warns(ConvergenceWarning, match="coefficients in place: one of their two weights is zero"):
        ranker = LogLinearRanker(max_iter=500, solver="boosting", alpha=0.0).fit(X, graphs)
    assert ranker.gap_ > ranker.tol
    moving = quiet(LogLinearRanker(max_iter=500, smoothing=0.01, solver="boosting", alpha=0.0), X, graphs)
    assert moving.score(X, graphs) == 1


def test_rows_without_pairs_have_no_say_in_the_tolerance():
    X, y = make_label_ranking(40, 3, n_labels=4, concentration=1.0, random_state=0)
    more = np.vstack([X, np.repeat(X, 50, axis=0)]), np.vstack([y, np.full((2000, 4), np.nan)])
    alone = LogLinearRanker(solver="lbfgs", alpha=0.0, max_iter=100).fit(X, y)
    together = LogLinearRanker(solver="lbfgs", on_empty="ignore", alpha=0.0, max_iter=100).fit(*more)
    assert_allclose(together.coef_, alone.coef_, atol=1e-8)


def test_entries_stored_in_parts():
    X, y = make_label_ranking(40, 3, n_labels=4, random_state=0)
    whole = sparse.csr_array(X)
    indptr, indices = 2 * whole.indptr, np.repeat(whole.indices, 2)
    parts = sparse.csr_array((np.column_stack([3 * whole.data, -2 * whole.data]).ravel(), indices, indptr), X.shape)
    a, b = (
        quiet(LogLinearRanker(max_iter=30, tol=0, solver="boosting", alpha=0.0), data, y) for data in (whole, parts)
    )
    assert_allclose(a.coef_, b.coef_, atol=1e-10)
    assert parts.nnz == 2 * whole.nnz  # the caller's matrix is not touched


def test_tiny_weights_do_not_overflow():
    X = np.abs(np.random.default_rng(0).normal(size=(40, 4)))
    X[:, 0] = 1
    X[0, 0] = 1e-310
    y = np.tile([1.0, 2, 3, 4, 5], (40, 1))
    y[0] = y[0, ::-1]
    ranker = quiet(LogLinearRanker(max_iter=20, tol=0, solver="boosting", alpha=0.0), X, y)
    assert np.isfinite(ranker.coef_).all()
    assert (np.diff(ranker.loss_curve_) <= 1e-9).all()


def test_an_interrupted_evaluation_leaves_curves_and_coefficients_together(monkeypatch):
    from labelrank.losses import LinearObjective

    X, y = make_label_ranking(40, 3, n_labels=4, random_state=0)
    evaluate, calls = LinearObjective.value_and_weights, []

    def interrupted(self, coef):
        calls.append(0)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return evaluate(self, coef)

    monkeypatch.setattr(LinearObjective, "value_and_weights", interrupted)
    ranker = quiet(LogLinearRanker(max_iter=10, tol=0, solver="boosting", alpha=0.0), X, y)
    monkeypatch.undo()
    assert ranker.n_iter_ == 1
    assert_allclose(ranker.coef_, quiet(LogLinearRanker(max_iter=1, tol=0, solver="boosting", alpha=0.0), X, y).coef_)


def test_curves_begin_anew_when_they_do_not_connect():
    X, y = make_label_ranking(40, 3, n_labels=4, random_state=0)
    ranker = quiet(LogLinearRanker(max_iter=5, tol=0, warm_start=True, solver="boosting", alpha=0.0), X, y)
    quiet(ranker.set_params(alpha=1e3), X, y)
    assert ranker.n_iter_ == 5
    assert (-np.diff(ranker.loss_curve_) >= ranker.bound_curve_ - 1e-9).all()


def test_more_bad_parameters():
    pl = pytest.importorskip("polars")
    X, y = make_label_ranking(20, 3, n_labels=3, random_state=0)
    with pytest.raises(ValueError, match="on_empty must be"):
        LogLinearRanker(on_empty="x", solver="boosting", alpha=0.0, max_iter=100).fit(X, y)
    with pytest.raises(ValueError, match="fit_intercept must be True or False"):
        LogLinearRanker(fit_intercept="no", solver="boosting", alpha=0.0, max_iter=100).fit(X, y)
    with pytest.raises(ValueError, match="base_rankers must be"):
        LogLinearRanker(base_rankers="x", solver="boosting", alpha=0.0, max_iter=100).fit(X, y)
    ranker = quiet(
        LogLinearRanker(warm_start=True, max_iter=3, solver="boosting", alpha=0.0),
        X,
        pl.DataFrame(y, schema=["a", "b", "c"]),
    )
    with pytest.raises(ValueError, match="in the same order"):
        ranker.fit(X, pl.DataFrame(y, schema=["c", "b", "a"]))
    y[0] = np.nan
    with pytest.warns(UserWarning, match="without any observed pair") as caught:
        LogLinearRanker(solver="lbfgs", alpha=1.0, max_iter=100).fit(X, y)
    assert caught[0].filename == __file__


def test_a_refused_refit_leaves_the_old_model():
    pl = pytest.importorskip("polars")
    X, y = make_label_ranking(20, 3, n_labels=3, random_state=0)
    ranker = quiet(
        LogLinearRanker(warm_start=True, max_iter=3, solver="boosting", alpha=0.0),
        X,
        pl.DataFrame(y, schema=["a", "b", "c"]),
    )
    before = {name: value for name, value in vars(ranker).items() if name.endswith("_")}
    for _ in range(2):  # a refusal is not forgotten
        with pytest.raises(ValueError, match="in the same order"):
            ranker.fit(X, pl.DataFrame(y, schema=["c", "b", "a"]))
    with pytest.raises(ValueError, match="fit a new estimator"):
        ranker.fit(X[:, :2], pl.DataFrame(y, schema=["a", "b", "c"]))
    with pytest.raises(ValueError, match="two levels"):
        ranker.set_params(warm_start=False, calibrated=True).fit(X[:, :2], y)
    assert {name for name in vars(ranker) if name.endswith("_")} == set(before)
    for name, value in before.items():
        np.testing.assert_array_equal(getattr(ranker, name), value)
    assert ranker.predict(X).shape == (20, 3)


@pytest.mark.parametrize("base", ["array", "precomputed"])
def test_base_rankers_are_read_only(base):
    X, y = make_label_ranking(20, 3, n_labels=3, random_state=0)
    h = np.random.default_rng(0).normal(size=(20, 3, 2))
    expected = quiet(LogLinearRanker(base_rankers=h.copy(), max_iter=3, solver="boosting", alpha=0.0), X, y).coef_
    before = h.copy()
    h.flags.writeable = False
    ranker = LogLinearRanker(
        base_rankers=h if base == "array" else "precomputed", max_iter=3, solver="boosting", alpha=0.0
    )
    assert_allclose(quiet(ranker, X if base == "array" else h, y).coef_, expected)
    np.testing.assert_array_equal(h, before)


def test_the_weight_of_an_edge_counts_against_those_of_its_instance():
    X = np.array([[0.5, -1.0], [1.0, 0.3], [-0.2, 0.8]])
    common = {"solver": "lbfgs", "alpha": 0.1, "decomposition": "disagreement", "tol": 1e-9}
    one_each = ([0, 1, 2], [0, 1, 0], [1, 0, 1])
    plain, weighted = (
        LogLinearRanker(**common).fit(X, PreferenceGraphs.from_pairs(*one_each, weight=weight))
        for weight in ([1, 1, 1], [1, 1000, 1])
    )
    assert_allclose(weighted.coef_, plain.coef_)
    # Two edges of weights 3 and 1 in an instance are two instances of sample weights 3/4 and 1/4.
    together = PreferenceGraphs.from_pairs([0, 0, 1, 2], [0, 1, 1, 0], [1, 2, 0, 2], weight=[3, 1, 1, 1])
    apart = PreferenceGraphs.from_pairs([0, 1, 2, 3], [0, 1, 1, 0], [1, 2, 0, 2])
    a = LogLinearRanker(**common).fit(X, together)
    b = LogLinearRanker(**common).fit(X[[0, 0, 1, 2]], apart, sample_weight=[0.75, 0.25, 1, 1])
    assert_allclose(a.coef_, b.coef_, atol=1e-6)
    assert_allclose(a.loss_curve_[-1], b.loss_curve_[-1])
