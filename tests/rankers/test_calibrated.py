"""The calibrated ranker: the cut that it learns, its dummy label by hand, warm starts that remember the dummy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from rankers.minimizers import assert_fit_reads_only, assert_same_model, fitted_attributes, quiet
from sklearn.datasets import make_multilabel_classification
from sklearn.exceptions import NotFittedError

from labelrank import CalibratedRanker, LogLinearRanker, PreferenceGraphs, as_graphs


def relevant_sets(n_samples=60, n_labels=4, scale=5):
    X, Y = make_multilabel_classification(n_samples, 5, n_classes=n_labels, random_state=0)
    return X / scale, PreferenceGraphs.from_multilabel(Y)


def test_learns_the_cut():
    X, Y = make_multilabel_classification(200, 10, n_classes=5, random_state=0)
    X = X / 10
    graphs = PreferenceGraphs.from_multilabel(Y)
    ranker = CalibratedRanker(alpha=0.1).fit(X, graphs)
    assert ranker.coef_.shape == (5, 10)
    relevant = ranker.predict_relevant(X)
    assert (relevant == (ranker.decision_function(X) > 0)).all()
    ranks = ranker.predict(X)
    for row in range(200):  # the relevant labels are the first ones of the ranking
        assert set(ranks[row][relevant[row]]) <= set(range(1, relevant[row].sum() + 1))
    most_frequent = Y.mean(axis=0) > 0.5
    assert (relevant != Y).mean() < 0.8 * (most_frequent != Y).mean()
    plain = LogLinearRanker(alpha=0.1, on_empty="ignore").fit(X, graphs)
    assert abs(plain.score(X, graphs) - ranker.score(X, graphs)) < 0.05
    assert not hasattr(plain, "predict_relevant")


@pytest.mark.parametrize("solver", ["boosting", "lbfgs"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_dummy_is_one_more_label(solver, fit_intercept):
    """The dummy ranked by hand: ranks 1, 2, 3 of the relevant labels, the dummy and the others."""
    X, graphs = relevant_sets()
    levels = graphs.levels
    ranks = np.column_stack([1.0 + 2 * levels, np.full(len(levels), 2.0)])
    common = {"solver": solver, "alpha": 0.5, "max_iter": 40, "fit_intercept": fit_intercept, "tol": 1e-8}
    ranker = quiet(CalibratedRanker(**common), X, graphs)
    wide = quiet(LogLinearRanker(**common), X, ranks)
    assert_allclose(ranker.coef_, wide.coef_[:-1] - wide.coef_[-1], atol=1e-12)
    assert_allclose(ranker.intercept_, wide.intercept_[:-1] - wide.intercept_[-1], atol=1e-12)
    assert_allclose(ranker.dummy_coef_, wide.coef_[-1], atol=1e-12)
    assert_allclose(ranker.dummy_intercept_, wide.intercept_[-1], atol=1e-12)
    assert_allclose(ranker.loss_curve_, wide.loss_curve_)
    assert list(ranker.labels_) == [0, 1, 2, 3]


@pytest.mark.parametrize("alpha", [0.0, 0.5])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_boosting_goes_on_exactly(alpha, fit_intercept):
    X, graphs = relevant_sets()
    common = {"solver": "boosting", "alpha": alpha, "tol": 0, "fit_intercept": fit_intercept}
    whole = quiet(CalibratedRanker(max_iter=10, **common), X, graphs)
    parts = CalibratedRanker(max_iter=5, warm_start=True, **common)
    for _ in range(2):
        quiet(parts, X, graphs)
    for name in ("coef_", "intercept_", "dummy_coef_", "dummy_intercept_", "loss_curve_", "bound_curve_"):
        assert_allclose(getattr(parts, name), getattr(whole, name), atol=1e-12)
    assert parts.n_iter_ == whole.n_iter_ == 10
    assert (np.diff(parts.loss_curve_) <= 1e-12).all()


@pytest.mark.parametrize("then", ["lbfgs", "boosting"])
def test_lbfgs_goes_on(then):
    X, graphs = relevant_sets()
    whole = CalibratedRanker(alpha=0.5, tol=1e-9).fit(X, graphs)
    parts = quiet(CalibratedRanker(alpha=0.5, tol=1e-9, max_iter=5, warm_start=True), X, graphs)
    first = parts.loss_curve_
    quiet(parts.set_params(solver=then, max_iter=1000), X, graphs)
    assert_allclose(parts.loss_curve_[:6], first)
    assert (np.diff(parts.loss_curve_) <= 1e-10).all()
    if then == "lbfgs":
        assert_allclose(parts.loss_curve_[-1], whole.loss_curve_[-1], rtol=1e-9)
        assert_allclose(parts.coef_, whole.coef_, atol=1e-4)


def test_rows_of_relevant_labels_alone_say_where_the_cut_is():
    """Without the dummy they have no pairs; unknown rows have none either way."""
    X, graphs = relevant_sets(20)
    ranks = graphs.to_ranks()
    ranks[3], ranks[7] = 1.0, np.nan
    with pytest.warns(UserWarning, match=r"1 row without any observed pair \(first: row 7\)"):
        with_all = CalibratedRanker().fit(X, ranks)
    ranks[3] = np.nan
    without = CalibratedRanker(on_empty="ignore").fit(X, ranks)
    assert (with_all.decision_function(X[3:4]) > without.decision_function(X[3:4])).all()
    with pytest.raises(ValueError, match="first: row 3"):
        CalibratedRanker(on_empty="error").fit(X, ranks)


def test_more_than_two_levels_have_no_cut():
    X, graphs = relevant_sets(20)
    ranker = CalibratedRanker().fit(X, graphs)
    before = fitted_attributes(ranker)
    ranks = graphs.to_ranks()
    ranks[4] = [1, 2, 3, 4]
    with pytest.raises(ValueError, match=r"two levels, and row 4 of y has more; build y with .*from_multilabel"):
        ranker.fit(X, ranks)
    cycle = PreferenceGraphs.from_pairs([0, 0, 0], [0, 1, 2], [1, 2, 0], n_instances=20, n_labels=4)
    with pytest.raises(ValueError, match="the graph of instance 0 is not layered"):
        ranker.fit(X, cycle)
    assert_same_model(ranker, before)


def test_a_ranker_that_is_not_fitted():
    with pytest.raises(NotFittedError):
        CalibratedRanker().predict_relevant(np.zeros((2, 5)))


@pytest.mark.parametrize("solver", ["boosting", "lbfgs"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_data_are_only_read(solver, fit_intercept):
    X, graphs = relevant_sets(40, 3, scale=1)
    assert_fit_reads_only(CalibratedRanker(solver=solver, max_iter=3, fit_intercept=fit_intercept), X - 2.0, graphs)


def test_relevant_sets_stored_as_edges():
    X, graphs = relevant_sets(20)
    edges = PreferenceGraphs.from_pairs(*graphs.to_edges(), n_instances=20, n_labels=4)
    with_pairs = graphs.has_pairs()
    a = CalibratedRanker().fit(X[with_pairs], graphs[with_pairs])
    b = CalibratedRanker().fit(X[with_pairs], as_graphs(edges)[with_pairs])
    assert_allclose(a.coef_, b.coef_)


def test_a_matrix_of_zeros_and_ones_is_not_taken_for_ranks():
    with pytest.raises(ValueError, match="y contains only 0 and 1, like an indicator matrix of relevant labels"):
        CalibratedRanker().fit([[0.0], [1.0]], [[1, 0, 1], [0, 1, 1]])


def test_labels_of_which_nothing_is_known_are_named():
    X = np.zeros((3, 1))
    y = PreferenceGraphs.from_multilabel(
        [[1, 0, np.nan], [1, 1, np.nan], [0, 0, np.nan]], labels=["tea", "milk", "cola"]
    )
    with pytest.warns(UserWarning, match=r"y has 1 of 3 labels without any observed pair \('cola'\)"):
        CalibratedRanker().fit(X, y)
