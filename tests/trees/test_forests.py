"""Forests: means of their trees, independent of the number of threads, scored on rows that a tree has not seen."""

from __future__ import annotations

import _thread
import pickle
import threading
import warnings

import numpy as np
import pandas as pd
import pytest
from callbacks import Steps
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.model_selection import KFold, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from labelrank import PreferenceGraphs, mask_rankings
from labelrank.datasets import load_iris_rankings, load_wine_rankings
from labelrank.metrics import kendall_tau
from labelrank.trees import DecisionTreeRanker, ExtraTreesRanker, RandomForestRanker

NAN = float("nan")
FORESTS = (RandomForestRanker, ExtraTreesRanker)
both = pytest.mark.parametrize("forest", FORESTS)
pytestmark = pytest.mark.filterwarnings("ignore:y has .* without any observed pair:UserWarning")


def make(n=120, d=5, k=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    utilities = np.sign(X @ rng.standard_normal((d, k))) + 0.5 * rng.standard_normal((n, k))
    return X, np.argsort(np.argsort(-utilities, axis=1), axis=1) + 1.0


@parametrize_with_checks([RandomForestRanker(5, random_state=0), ExtraTreesRanker(5, random_state=0)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@both
def test_a_forest_is_the_mean_of_its_trees(forest):
    X, y = make()
    y = mask_rankings(y, 0.3, random_state=0)
    fitted = forest(7, random_state=0).fit(X, y)
    trees = fitted.estimators_
    assert len(trees) == 7
    assert all(isinstance(tree, DecisionTreeRanker) for tree in trees)
    assert [tree.random_state for tree in trees] == fitted.seeds_.tolist()
    assert all(type(tree.random_state) is int for tree in trees)
    proba = np.mean([tree.pairwise_proba(X) for tree in trees], axis=0)
    np.testing.assert_allclose(fitted.pairwise_proba(X), proba, atol=1e-6)
    np.testing.assert_allclose(fitted.decision_function(X), proba.sum(axis=2) - 0.5, atol=1e-6)
    assert (fitted.pairwise_proba(X) >= 0).all()
    np.testing.assert_allclose(proba + proba.transpose(0, 2, 1), 1)
    np.testing.assert_array_equal(fitted.apply(X), np.stack([tree.apply(X) for tree in trees], axis=1))
    importances = np.mean([tree.feature_importances_ for tree in trees], axis=0)
    np.testing.assert_allclose(fitted.feature_importances_, importances)
    assert len({tree.threshold_[0] for tree in trees}) > 1
    path, offsets = fitted.decision_path(X)
    assert isinstance(path, sparse.csr_array)
    for t, tree in enumerate(trees):
        np.testing.assert_array_equal(path[:, offsets[t] : offsets[t + 1]].toarray(), tree.decision_path(X).toarray())


@both
@pytest.mark.parametrize("settings", [{}, {"max_features": 2}, {"bootstrap": True, "oob_score": True}], ids=str)
def test_threads_do_not_change_the_result(forest, settings):
    X, y = make(n=700)
    one = forest(6, random_state=3, **settings).fit(X, y)
    two = forest(6, random_state=3, n_jobs=2, **settings).fit(X, y)
    np.testing.assert_array_equal(one.threshold_, two.threshold_)
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))
    if "oob_score" in settings:
        assert one.oob_score_ == two.oob_score_
    other = forest(6, random_state=4, **settings).fit(X, y)
    assert len(other.threshold_) != len(one.threshold_) or not np.array_equal(
        other.threshold_, one.threshold_, equal_nan=True
    )


def test_without_chance_a_forest_is_a_tree():
    X, y = make()
    forest = RandomForestRanker(3, bootstrap=False, max_features=None).fit(X, y)
    tree = DecisionTreeRanker("pair_gini", min_samples_split=2, shrinkage=0.1).fit(X, y)
    np.testing.assert_allclose(forest.decision_function(X), tree.decision_function(X), atol=1e-6)
    np.testing.assert_array_equal(forest.threshold_, np.tile(tree.threshold_, 3))


def test_out_of_bag():
    X, y = make()
    forest = RandomForestRanker(20, oob_score=True, random_state=0).fit(X, y)
    trees = forest.estimators_
    expected = np.full(y.shape, NAN)
    for i in range(len(X)):
        scores = []
        for tree, seed in zip(trees, forest.seeds_, strict=True):
            if i not in np.random.default_rng(seed).integers(0, len(X), len(X)):
                scores.append(tree.decision_function(X[[i]])[0])
        if scores:
            expected[i] = np.mean(scores, axis=0)
    np.testing.assert_allclose(forest.oob_decision_function_, expected, atol=1e-6)
    seen = ~np.isnan(expected[:, 0])
    scores = forest.oob_decision_function_[seen]
    ranks = 1 + np.sum(scores[:, :, None] < scores[:, None, :], axis=2)
    assert forest.oob_score_ == pytest.approx(kendall_tau(y[seen], ranks))
    assert forest.oob_score_ < forest.score(X, y)
    assert not hasattr(forest.set_params(oob_score=False).fit(X, y), "oob_score_")
    with pytest.raises(ValueError, match="set bootstrap=True"):
        ExtraTreesRanker(oob_score=True).fit(X, y)
    with pytest.raises(ValueError, match="no row was left out"):
        RandomForestRanker(1, oob_score=True, random_state=0).fit(X[:1], y[:1])


def test_out_of_bag_with_graphs():
    X, y = make()
    graphs = PreferenceGraphs.from_rankings(y)
    a, b = (RandomForestRanker(10, oob_score=True, random_state=0).fit(X, target) for target in (y, graphs))
    assert a.oob_score_ == b.oob_score_


def test_weights_and_order_of_extra_trees():
    """Without a bootstrap what is drawn does not depend on the rows, so a weight is a number of rows."""
    X, y = make()
    weight = np.random.default_rng(0).integers(0, 4, len(X))
    rows = np.random.default_rng(1).permutation(np.repeat(np.arange(len(X)), weight))
    forest = ExtraTreesRanker(5, random_state=0)
    weighted = clone(forest).fit(X, y, sample_weight=weight)
    repeated = clone(forest).fit(X[rows], y[rows])
    np.testing.assert_array_equal(weighted.decision_function(X), repeated.decision_function(X))


@both
def test_rows_without_weight_are_not_drawn(forest):
    X, y = make()
    weight = np.zeros(len(X))
    weight[[3, 50, 70]] = 1.0
    settings = {"bootstrap": True, "ccp_alpha": 0.01, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        weighted = forest(10, oob_score=True, **settings).fit(X, y, sample_weight=weight)
    assert (weighted.node_weight_[weighted.tree_offsets_[:-1]] == 3).all()
    alone = forest(10, **settings).fit(X[weight > 0], y[weight > 0])
    np.testing.assert_array_equal(weighted.decision_function(X), alone.decision_function(X))


@both
def test_missing_values_and_categories(forest):
    X, y = make()
    X[np.random.default_rng(0).random(X.shape) < 0.2] = NAN
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame["f"] = pd.Categorical(np.where(y[:, 0] == 1, "yes", "no"))
    fitted = forest(20, categorical_features="from_dtype", random_state=0).fit(frame, y)
    assert fitted.is_categorical_.tolist() == [False] * 5 + [True]
    assert fitted.feature_importances_[5] > 0.15
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.predict(frame), fitted.predict(frame))
    assert fitted.estimators_[0].predict(frame).shape == y.shape
    assert "missing" in fitted.estimators_[0].export_text()


@both
def test_accuracy(forest):
    for load, least in ((load_iris_rankings, 0.95), (load_wine_rankings, 0.9)):
        X, y = load(return_X_y=True)
        cv = KFold(5, shuffle=True, random_state=0)
        assert cross_val_score(forest(30, random_state=0), X, y, cv=cv).mean() > least


def test_as_good_as_regression_on_the_ranks():
    X, y = make(n=600, seed=3)
    ours = ExtraTreesRanker(50, random_state=0).fit(X[:400], y[:400])
    theirs = ExtraTreesRegressor(50, random_state=0).fit(X[:400], y[:400])
    assert ours.score(X[400:], y[400:]) > kendall_tau(y[400:], theirs.predict(X[400:])) - 0.02


@both
def test_spread_tells_sure_from_unsure(forest):
    X, y = make(n=400)
    y[X[:, 0] < 0] = np.argsort(np.random.default_rng(0).random((400, 4)), axis=1)[X[:, 0] < 0] + 1
    theta = forest(30, random_state=0).fit(X[:300], y[:300]).predict_spread(X[300:])
    sure = X[300:, 0] >= 0
    assert theta[sure].mean() > 1.5 * theta[~sure].mean()
    assert np.isfinite(theta).all()


@both
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_callbacks_see_each_tree(forest, n_jobs):
    X, y = make()
    steps = Steps()
    fitted = forest(5, random_state=0, n_jobs=n_jobs)
    fitted.set_callbacks(steps)
    fitted.fit(X, y)
    assert steps.total == 5
    assert steps.names == ["tree"] * 5
    for t, known in enumerate(steps.fitted):
        assert len(known.estimators_) == t + 1
        assert known.predict(X).shape == y.shape
    np.testing.assert_array_equal(steps.fitted[-1].decision_function(X), fitted.decision_function(X))


def test_a_forest_that_ends_early_has_the_first_trees():
    X, y = make()
    settings = {"oob_score": True, "random_state": 0}
    three = RandomForestRanker(3, **settings).fit(X, y)
    stopped, interrupted = RandomForestRanker(10, **settings), RandomForestRanker(10, **settings)
    stopped.set_callbacks(Steps(stop_after=3))
    stopped.fit(X, y)
    interrupted.set_callbacks(Steps(interrupt_after=3))
    with pytest.warns(UserWarning, match="RandomForestRanker was interrupted after 3 of 10 trees"):
        interrupted.fit(X, y)
    for fitted in (stopped, interrupted):
        np.testing.assert_array_equal(fitted.threshold_, three.threshold_)
        np.testing.assert_array_equal(fitted.seeds_, stopped.seeds_[:3])
        assert fitted.oob_score_ == three.oob_score_
        assert len(fitted.estimators_) == 3


@both
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_control_c_keeps_the_trees_that_are_there(forest, n_jobs):
    X, y = make(n=3000)
    settings = {"max_leaf_nodes": 3, "random_state": 0}
    forest(1, **settings).fit(X, y)  # compiles
    fitted = forest(10**5, n_jobs=n_jobs, **settings)
    timer = threading.Timer(0.5, _thread.interrupt_main)
    timer.start()
    try:
        with pytest.warns(UserWarning, match=r"was interrupted after \d+ of 100000 trees and keeps the model"):
            fitted.fit(X, y)
    finally:
        timer.cancel()
    assert 0 < len(fitted.seeds_) < 10**5
    first = forest(1, **settings).fit(X, y)
    np.testing.assert_array_equal(fitted.threshold_[: fitted.tree_offsets_[1]], first.threshold_)


def test_a_forest_larger_than_memory():
    X, y = make(n=500, k=30)
    with pytest.raises(MemoryError, match=r"trees with \d+ nodes and 30 labels each needs .* limit max_leaf_nodes"):
        ExtraTreesRanker(10**6, random_state=0).fit(X, y)


@both
def test_sparse_features(forest):
    X, y = make()
    X[np.abs(X) < 0.8] = 0
    dense, thin = forest(5, random_state=0).fit(X, y), forest(5, random_state=0, n_jobs=2).fit(sparse.csr_array(X), y)
    np.testing.assert_array_equal(dense.threshold_, thin.threshold_)
    np.testing.assert_array_equal(dense.predict(X), thin.predict(sparse.csr_array(X)))


@both
def test_a_failed_fit_leaves_the_forest(forest):
    X, y = make()
    fitted = forest(3, random_state=0).fit(X, y)
    before = fitted.decision_function(X)
    with pytest.raises(ValueError, match="categorical_features"):
        fitted.set_params(categorical_features=["a"]).fit(X[:, :2], y[:, :2])
    np.testing.assert_array_equal(fitted.decision_function(X), before)


@both
def test_degenerate(forest):
    np.testing.assert_array_equal(forest(3).fit([[0.0]], [[2.0, 1.0]]).predict([[1.0]]), [[2, 1]])
    np.testing.assert_array_equal(forest(3).fit([[0.0], [1.0]], [[1.0], [1.0]]).predict([[1.0]]), [[1]])
    constant = forest(3).fit(np.zeros((20, 2)), make(n=20)[1])
    assert constant.feature_importances_.tolist() == [0, 0]
    with pytest.raises(ValueError, match="n_estimators"):
        forest(0).fit(*make())
