"""The log-linear ranker against the literal loops of Figure 3 and against scikit-learn's logistic regression."""

import warnings

import numpy as np
import pandas as pd
import pytest
from callbacks import Steps
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from oracles import decompositions as cuts
from oracles import log_linear as oracle
from rankers.minimizers import assert_fit_reads_only, assert_same_model, fitted_attributes, quiet, rankings
from scipy import sparse
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from strategies import edge_rows, graphs_of, rank_matrices

from labelrank import LogLinearRanker, PreferenceGraphs, as_graphs
from labelrank.datasets import load_iris_rankings, load_wine_rankings, make_pairwise_battles

NAMES = ["zero_one", "disagreement", "domination", "dominated"]
VALUES = st.sampled_from([-2.0, -0.5, 0.0, 0.3, 1.0])

both_solvers = pytest.mark.parametrize("solver", ["boosting", "lbfgs"])


def boosting(decomposition="domination", **parameters):
    """Boosting without a penalty and, unless told otherwise, for exactly `max_iter` iterations."""
    return LogLinearRanker(decomposition, **{"solver": "boosting", "alpha": 0.0, "tol": 0, **parameters})


def edges_of(graphs):
    return [list(zip(*(a.tolist() for a in row.to_edges()[1:]), strict=True)) for row in graphs]


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
    ranker = boosting(name, max_iter=5, fit_intercept=fit_intercept, smoothing=smoothing)
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
    ranker = quiet(boosting(name, max_iter=60), X, graphs)
    assert ranker.n_iter_ == 60
    assert (-np.diff(ranker.loss_curve_) >= ranker.bound_curve_).all()
    assert (ranker.bound_curve_ > 0).all()


@pytest.mark.parametrize("name", [*NAMES, "levels"])
@pytest.mark.parametrize("alpha", [0.0, 5.0])
def test_both_solvers_reach_the_same_optimum(name, alpha):
    X, y = rankings(60, concentration=1.0)
    fast = LogLinearRanker(name, alpha=alpha, tol=1e-9).fit(X, y)
    slow = quiet(boosting(name, alpha=alpha, tol=1e-6, max_iter=2000), X, y)
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
    ranker = LogLinearRanker(alpha=alpha, tol=1e-9, max_iter=5000).fit(data, graphs)

    def mean_objective(coef, intercept):
        scores = X @ coef.T + intercept
        logs = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        return (-logs[np.arange(len(y)), y].sum() + alpha / 2 * (coef**2).sum()) / len(y)

    assert_allclose(ranker.loss_curve_[-1], mean_objective(ranker.coef_, ranker.intercept_), rtol=1e-10)
    assert_allclose(ranker.loss_curve_[-1], mean_objective(reference.coef_, reference.intercept_), rtol=1e-6)
    assert_allclose(ranker.coef_, reference.coef_, atol=1e-3)


def test_the_defaults_converge_on_raw_features():
    X, y = load_wine_rankings(return_X_y=True)
    ranker = LogLinearRanker()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ranker.fit(X, y)
    assert ranker.gap_ <= ranker.tol
    assert ranker.score(X, y) > 0.9


def test_zero_weights_leave_a_coefficient_where_it_is():
    # One instance: no edge pulls the other way, so without smoothing nothing moves.
    X, y = np.array([[1.0]]), np.array([[1.0, 2.0]])
    assert not quiet(boosting(max_iter=3), X, y).coef_.any()
    moved = quiet(boosting(max_iter=3, smoothing=0.1), X, y)
    assert moved.coef_[0, 0] > 0 > moved.coef_[1, 0]
    penalized = quiet(boosting(max_iter=500, tol=1e-12, alpha=1.0, fit_intercept=False), X, y)
    exact = LogLinearRanker(tol=1e-12, alpha=1.0, fit_intercept=False).fit(X, y)
    assert_allclose(penalized.coef_, exact.coef_, atol=1e-8)


def test_warm_start_goes_on():
    X, y = rankings(concentration=1.0)
    whole = quiet(boosting(max_iter=30), X, y)
    parts = boosting(max_iter=10, warm_start=True)
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


def test_curves_of_a_warm_start_with_another_solver():
    X, y = rankings(concentration=1.0)
    ranker = LogLinearRanker(max_iter=3, warm_start=True, tol=0, alpha=0.0)
    quiet(ranker, X, y)
    assert np.isnan(ranker.bound_curve_).all()
    quiet(ranker.set_params(solver="boosting"), X, y)
    assert ranker.n_iter_ == len(ranker.bound_curve_) == len(ranker.loss_curve_) - 1 == 6
    assert np.isfinite(ranker.bound_curve_[3:]).all()


def test_curves_begin_anew_when_they_do_not_connect():
    X, y = rankings(concentration=1.0)
    ranker = quiet(boosting(max_iter=5, warm_start=True), X, y)
    quiet(ranker.set_params(alpha=1e3), X, y)
    assert ranker.n_iter_ == 5
    assert (-np.diff(ranker.loss_curve_) >= ranker.bound_curve_ - 1e-9).all()


@both_solvers
def test_an_interrupted_fit_is_usable_and_goes_on(solver):
    X, y = rankings(60, concentration=1.0)
    ranker = LogLinearRanker(solver=solver, alpha=0.1, max_iter=200, tol=1e-6, warm_start=True)
    ranker.set_callbacks(Steps(interrupt_after=4))
    with pytest.warns(UserWarning, match="interrupted after 4 iterations"):
        ranker.fit(X, y)
    assert ranker.n_iter_ == 4
    assert ranker.predict(X).shape == y.shape
    ranker.set_callbacks()
    quiet(ranker, X, y)
    assert ranker.n_iter_ > 4
    assert ranker.loss_curve_[-1] < ranker.loss_curve_[4]
    assert len(ranker.loss_curve_) == ranker.n_iter_ + 1


@both_solvers
def test_callbacks_see_every_iteration_and_can_stop(solver):
    X, y = rankings(30, concentration=1.0)
    steps = Steps(stop_after=5)
    ranker = LogLinearRanker(solver=solver, max_iter=50, tol=0, alpha=0.0).set_callbacks(steps).fit(X, y)
    assert steps.names == [f"{solver} iteration"] * 5
    assert steps.total == 50
    assert ranker.n_iter_ == 5
    assert_allclose(steps.fitted[-1].coef_, ranker.coef_)
    assert steps.fitted[-1].score(X, y) == ranker.score(X, y)
    assert not np.allclose(steps.fitted[0].coef_, ranker.coef_)


@both_solvers
def test_warns_when_it_does_not_converge(solver):
    X, y = rankings(30, concentration=1.0)
    message = r"LogLinearRanker\(solver='\w+'\) did not converge: after max_iter=2 iterations the gap is .*, tol=0.0001"
    with pytest.warns(ConvergenceWarning, match=message) as caught:
        LogLinearRanker(solver=solver, max_iter=2, alpha=0.0).fit(X, y)
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_warns_of_coefficients_that_cannot_move():
    X = np.eye(6)[np.random.default_rng(0).integers(0, 6, 60)]
    graphs = PreferenceGraphs.from_multiclass(X.argmax(1) % 3)
    with pytest.warns(ConvergenceWarning, match="coefficients in place: one of their two weights is zero"):
        ranker = boosting(max_iter=500, tol=1e-4).fit(X, graphs)
    assert ranker.gap_ > ranker.tol
    moving = quiet(boosting(max_iter=500, tol=1e-4, smoothing=0.01), X, graphs)
    assert moving.score(X, graphs) == 1


@both_solvers
def test_weights_are_repeats(solver):
    X, y = rankings(25, concentration=2.0)
    weight = np.random.default_rng(0).integers(0, 3, 25)
    rows = np.repeat(np.arange(25), weight)
    ranker = LogLinearRanker(solver=solver, alpha=0.1, tol=0, max_iter=30)
    a = fitted_attributes(quiet(ranker, X, y, sample_weight=weight))
    b = fitted_attributes(quiet(ranker, X[rows], y[rows]))
    assert_allclose(a["loss_curve_"][: b["n_iter_"]], b["loss_curve_"][: b["n_iter_"]], rtol=1e-8)
    assert_allclose(a["coef_"], b["coef_"], atol=1e-6)


def test_rows_without_pairs():
    X, y = rankings(25)
    y[3] = np.nan
    with pytest.warns(UserWarning, match=r"1 row without any observed pair \(first: row 3\)") as caught:
        LogLinearRanker().fit(X, y)
    assert caught[0].filename == __file__
    with pytest.raises(ValueError, match="first: row 3"):
        LogLinearRanker(on_empty="error").fit(X, y)


def test_rows_without_pairs_have_no_say_in_the_tolerance():
    X, y = rankings(concentration=1.0)
    more = np.vstack([X, np.repeat(X, 50, axis=0)]), np.vstack([y, np.full((2000, 4), np.nan)])
    alone = LogLinearRanker(alpha=0.0).fit(X, y)
    together = LogLinearRanker(alpha=0.0, on_empty="ignore").fit(*more)
    assert_allclose(together.coef_, alone.coef_, atol=1e-8)
    assert_allclose(together.loss_curve_, alone.loss_curve_)


@both_solvers
@pytest.mark.parametrize("y", [np.full((3, 4), np.nan), np.ones((3, 4)), np.ones((3, 1))], ids=["nan", "tied", "one"])
def test_nothing_to_learn_from(solver, y):
    X = np.arange(6.0).reshape(3, 2)
    ranker = quiet(LogLinearRanker(solver=solver, alpha=0.0, max_iter=100), X, y)
    assert not ranker.coef_.any()
    assert (ranker.predict(X) == 1).all()


@both_solvers
def test_constant_duplicated_and_huge_features(solver):
    X, y = rankings(concentration=1.0)
    strange = np.column_stack([X, X[:, 0], np.ones(40), np.zeros(40), 1e6 * X[:, 1]])
    ranker = quiet(LogLinearRanker(solver=solver, alpha=1e-3, max_iter=100), strange, y)
    assert np.isfinite(ranker.coef_).all()
    assert (np.diff(ranker.loss_curve_) <= 1e-9).all()


def test_tiny_weights_do_not_overflow():
    X = np.abs(np.random.default_rng(0).normal(size=(40, 4)))
    X[:, 0] = 1
    X[0, 0] = 1e-310
    y = np.tile([1.0, 2, 3, 4, 5], (40, 1))
    y[0] = y[0, ::-1]
    ranker = quiet(boosting(max_iter=20), X, y)
    assert np.isfinite(ranker.coef_).all()
    assert (np.diff(ranker.loss_curve_) <= 1e-9).all()


def test_users_decomposition_and_grid_search():
    X, y = load_iris_rankings(return_X_y=True)

    def best_against_rest(graph):
        best, *rest = graph.levels
        return [[(a, b) for a in best for level in rest for b in level]]

    grid = {"alpha": [0.1, 10.0], "decomposition": ["domination", best_against_rest]}
    folds = KFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(LogLinearRanker(), grid, cv=folds).fit(X, y)
    assert search.best_score_ > 0.8


def test_pairwise_proba():
    X, y = rankings(30, concentration=1.0)
    ranker = LogLinearRanker().fit(X, y)
    p = ranker.pairwise_proba(X)
    assert_allclose(p + p.transpose(0, 2, 1), 1)
    ranks = ranker.predict(X)
    assert ((p > 0.5) == (ranks[:, :, None] < ranks[:, None, :])).all()


@both_solvers
def test_sparse_is_never_densified(monkeypatch, solver):
    def refuse(*args, **kwargs):
        raise AssertionError("densified")

    X, y = rankings(50)
    data = sparse.csr_array(X)
    for method in ("toarray", "todense"):
        monkeypatch.setattr(sparse.csr_array, method, refuse)
    ranker = quiet(LogLinearRanker(solver=solver, max_iter=100), data, y)
    assert_allclose(ranker.predict(data), ranker.predict(X))


@both_solvers
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_data_are_only_read(solver, fit_intercept):
    X, Y = make_multilabel_classification(40, 5, n_classes=3, random_state=0)
    ranker = LogLinearRanker(solver=solver, max_iter=3, fit_intercept=fit_intercept)
    assert_fit_reads_only(ranker, X - 2.0, PreferenceGraphs.from_multilabel(Y))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"solver": "newton"}, "'solver' parameter of LogLinearRanker must be a str among {.*}. Got 'newton'"),
        ({"alpha": -1}, r"'alpha' parameter .* must be a float in the range \[0.0, inf\). Got -1"),
        ({"tol": np.nan}, r"'tol' parameter .* must be a float in the range \[0.0, inf\). Got nan"),
        ({"max_iter": 0}, r"'max_iter' parameter .* must be an int in the range \[1, inf\). Got 0"),
        ({"max_iter": 1.5}, r"'max_iter' parameter .* must be an int in the range \[1, inf\). Got 1.5"),
        ({"smoothing": -1.0}, "'smoothing' parameter .* must be a float in the range"),
        ({"smoothing": 1.0}, 'smoothing is for solver="boosting"; got smoothing=1.0 with solver="lbfgs"'),
        ({"decomposition": "hamming"}, "decomposition 'hamming' is not known"),
        ({"decomposition": 3}, "'decomposition' parameter .* must be"),
        ({"warm_start": "yes"}, "'warm_start' parameter .* must be an instance of 'bool'.* Got 'yes'"),
        ({"fit_intercept": "no"}, "'fit_intercept' parameter .* must be an instance of 'bool'.* Got 'no'"),
        ({"n_jobs": "a"}, "'n_jobs' parameter .* must be None or an instance of 'int'. Got 'a'"),
        ({"n_jobs": 0}, "n_jobs == 0 .* has no meaning"),
        ({"on_empty": "x"}, "'on_empty' parameter .* must be a str among {.*}. Got 'x'"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        LogLinearRanker(**parameters).fit([[1.0], [2.0]], [[1, 2], [2, 1]])


def test_a_refused_refit_leaves_the_old_model():
    X, y = rankings(20, n_labels=3)
    named = pd.DataFrame(y, columns=["a", "b", "c"])
    ranker = quiet(boosting(warm_start=True, max_iter=3), X, named)
    before = fitted_attributes(ranker)
    for _ in range(2):  # a refusal is not forgotten
        with pytest.raises(ValueError, match=r"labels \['a', 'b', 'c'\], but y has \['c', 'b', 'a'\]"):
            ranker.fit(X, pd.DataFrame(y, columns=["c", "b", "a"]))
    with pytest.raises(ValueError, match="fit a new estimator"):
        ranker.fit(X[:, :2], named)
    with pytest.raises(ValueError, match="is not known"):
        ranker.set_params(warm_start=False, decomposition="hamming").fit(X[:, :2], y[:, :2])
    assert_same_model(ranker, before)
    assert ranker.predict(X).shape == (20, 3)


def test_the_weight_of_an_edge_counts_against_those_of_its_instance():
    X = np.array([[0.5, -1.0], [1.0, 0.3], [-0.2, 0.8]])
    ranker = LogLinearRanker("disagreement", alpha=0.1, tol=1e-9)
    plain, weighted = (
        ranker.fit(X, PreferenceGraphs.from_pairs([0, 1, 2], [0, 1, 0], [1, 0, 1], weight=weight)).coef_
        for weight in ([1, 1, 1], [1, 1000, 1])
    )
    assert_allclose(weighted, plain)
    # Two edges of weights 3 and 1 in an instance are two instances of sample weights 3/4 and 1/4.
    together = PreferenceGraphs.from_pairs([0, 0, 1, 2], [0, 1, 1, 0], [1, 2, 0, 2], weight=[3, 1, 1, 1])
    apart = PreferenceGraphs.from_pairs([0, 1, 2, 3], [0, 1, 1, 0], [1, 2, 0, 2])
    a = fitted_attributes(ranker.fit(X, together))
    b = fitted_attributes(ranker.fit(X[[0, 0, 1, 2]], apart, sample_weight=[0.75, 0.25, 1, 1]))
    assert_allclose(a["coef_"], b["coef_"], atol=1e-6)
    assert_allclose(a["loss_curve_"][-1], b["loss_curve_"][-1])
