"""What the boosted ranker does with data, parameters, callbacks and hostile inputs."""

from __future__ import annotations

import pickle
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from callbacks import Steps
from numpy.testing import assert_allclose
from scipy import sparse

from labelrank import GradientBoostingCoveringClassifier, GradientBoostingRanker, PreferenceGraphs, mask_rankings
from labelrank.losses import LogLinearLoss, Loss
from labelrank.plots import TreeDisplay
from labelrank.trees.boosting.histogram import Histograms

NAN = np.nan
pytestmark = pytest.mark.filterwarnings("ignore:y has .* without any observed pair:UserWarning")


def make(n=200, d=4, k=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    utilities = np.sign(X @ rng.standard_normal((d, k))) + 0.5 * rng.standard_normal((n, k))
    return X, np.argsort(np.argsort(-utilities, axis=1), axis=1) + 1.0


def fit(X, y, **settings):
    return GradientBoostingRanker(**{"max_iter": 10, "random_state": 0} | settings).fit(X, y)


# --- losses


@pytest.mark.parametrize("loss", ["log_linear", "plackett_luce", "squared"])
def test_every_loss_decreases(loss):
    X, y = make()
    model = fit(X, mask_rankings(y, 0.3, random_state=0), loss=loss)
    assert (np.diff(model.loss_curve_) < 0).all()
    assert model.score(X, y) > 0.6
    assert hasattr(model, "pairwise_proba") == hasattr(model, "confidence") == (loss != "squared")


@pytest.mark.parametrize("decomposition", ["zero_one", "domination", "dominated", "levels", "all_level_pairs", None])
def test_every_decomposition_decreases(decomposition):
    X, y = make()
    assert (np.diff(fit(X, y, decomposition=decomposition).loss_curve_) < 0).all()


def test_a_loss_needs_a_curvature():
    class Steep(Loss):
        name = "steep"

        def value_and_gradient(self, scores, out, rows=slice(None)):
            out[...] = 0
            return 0.0

    X, y = make()
    with pytest.raises(
        ValueError, match=r"GradientBoostingRanker needs a loss with curvature, but the loss 'steep' has a"
    ):
        fit(X, y, loss=Steep, decomposition=None)
    with pytest.raises(
        ValueError, match=r"use loss='log_linear' or 'plackett_luce' or 'squared', or define the method curvature"
    ):
        fit(X, y, loss="soft_margin", decomposition=None)


def test_own_losses_are_learned_with():
    class Own(LogLinearLoss):
        name = "own"

    X, y = make()
    expected = fit(X, y).decision_function(X)
    assert_allclose(fit(X, y, loss=Own).decision_function(X), expected)


def test_the_penalty_does_not_depend_on_the_scale_of_the_loss():
    class Larger(LogLinearLoss):
        def value_and_derivatives(self, scores, gradient, curvature, rows=slice(None)):
            value = 100 * super().value_and_derivatives(scores, gradient, curvature, rows)
            gradient *= 100
            curvature *= 100
            return value

        def value_and_gradient(self, scores, out, rows=slice(None)):
            value = 100 * super().value_and_gradient(scores, out, rows)
            out *= 100
            return value

        def curvature(self, scores, out, rows=slice(None)):
            super().curvature(scores, out, rows)
            out *= 100

    X, y = make()
    assert_allclose(fit(X, y, loss=Larger).decision_function(X), fit(X, y).decision_function(X), atol=1e-3)


# --- iterations


def test_stages_end_at_the_model():
    X, y = make()
    model = fit(X, y)
    stages = list(model.staged_decision_function(X))
    assert len(stages) == model.n_iter_ == 10
    assert_allclose(stages[-1], model.decision_function(X), rtol=1e-12)
    assert len(model.train_score_) == 11
    assert np.array_equal(list(model.staged_predict(X))[-1], model.predict(X))
    assert_allclose(LogLinearLoss(PreferenceGraphs.from_rankings(y), "disagreement").value(stages[-1]) / len(X),
                    model.loss_curve_[-1])  # fmt: skip


def test_early_stopping_holds_rows_out():
    X, y = make(n=400)
    noise = np.random.default_rng(0).permuted(y, axis=1)
    model = fit(X, noise, max_iter=100, early_stopping=True, n_iter_no_change=3)
    assert model.n_iter_ < 100
    assert len(model.validation_score_) == model.n_iter_ + 1
    assert max(model.validation_score_[-3:]) <= model.validation_score_[-4] + 1e-7
    assert len(fit(X, y).validation_score_) == 0


@pytest.mark.parametrize("settings", [{}, {"subsample": 0.5, "max_features": 0.5}, {"early_stopping": True}])
def test_a_warm_start_continues(settings):
    X, y = make()
    whole = fit(X, y, max_iter=12, **settings)
    part = fit(X, y, max_iter=5, warm_start=True, **settings)
    assert part.n_iter_ == 5
    part.set_params(max_iter=12).fit(X, y)
    assert_allclose(part.decision_function(X), whole.decision_function(X), atol=1e-5)
    assert_allclose(part.train_score_, whole.train_score_, rtol=1e-5)
    with pytest.raises(ValueError, match="max_iter=3 is smaller than the 12 iterations"):
        part.set_params(max_iter=3).fit(X, y)
    assert part.n_iter_ == 12


def test_callbacks_stop_and_interruptions_keep_the_trees():
    X, y = make()
    steps = Steps(stop_after=4)
    model = GradientBoostingRanker(max_iter=10).set_callbacks(steps).fit(X, y)
    assert model.n_iter_ == 4
    assert len(model.train_score_) == 5
    expected = fit(X, y, max_iter=4).decision_function(X)
    assert_allclose(model.decision_function(X), expected)
    assert_allclose(steps.fitted[-1].decision_function(X), expected)
    with pytest.warns(UserWarning, match="interrupted after 3 of 10 iterations"):
        model.set_callbacks(Steps(interrupt_after=3)).fit(X, y)
    assert model.n_iter_ == 3


@pytest.mark.parametrize("settings", [{}, {"subsample": 0.6, "max_features": 0.5}])
def test_threads_do_not_change_the_result(settings):
    X, y = make(n=5000, d=30)
    one, two = (fit(X, y, max_iter=3, n_jobs=n_jobs, **settings) for n_jobs in (None, 2))
    assert np.array_equal(one.threshold_, two.threshold_, equal_nan=True)
    assert np.array_equal(one.decision_function(X), two.decision_function(X))


# --- features


def test_histograms_that_are_not_kept_change_nothing(monkeypatch):
    """Without room for histograms of all features, these are built in blocks; the trees are the same."""
    X, y = make(n=300, d=8, k=6)
    kept = fit(X, y)
    monkeypatch.setattr("labelrank.trees.boosting.histogram._SMALLEST_POOL", 100_000)
    blocks = fit(X, y)
    assert np.array_equal(kept.threshold_, blocks.threshold_, equal_nan=True)
    rows = SimpleNamespace(n_channels=16, n_bytes=300 * (8 + 8 * 6), is_sparse=False)
    found = Histograms(rows, blocks._binning().start)
    assert len(found.blocks) > 1
    assert not found.kept


@pytest.mark.parametrize("settings", [{}, {"subsample": 0.7}, {"early_stopping": True}, {"n_jobs": 2}])
def test_sparse_is_dense(settings):
    X, y = make(n=300, d=6)
    X[np.abs(X) < 0.8] = 0
    X[::9, 2] = NAN
    dense = fit(X, y, categorical_features=[5], **settings)
    thin = fit(sparse.csr_array(X), y, categorical_features=[5], **settings)
    assert_allclose(thin.decision_function(sparse.csc_array(X)), dense.decision_function(X), atol=1e-6)
    assert np.array_equal(thin.feature_, dense.feature_)
    assert np.array_equal(thin.had_missing_, dense.had_missing_)


def test_categories_of_two_labels_are_split_best():
    """With two labels, one split of the sorted categories is the best of all sets of them."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (300, 1)).astype(float)
    first = rng.random(300) < np.array([0.1, 0.8, 0.3, 0.9, 0.2, 0.6])[X[:, 0].astype(int)]
    y = np.where(first[:, None], [1, 2], [2, 1])
    model = fit(X, y, max_iter=1, max_leaf_nodes=2, categorical_features=[0], l2_regularization=0.0)
    left = model.left_bins_[model.category_set_[0]][:6]
    losses = []
    for chosen in range(1, 2**5):
        side = np.isin(X[:, 0], [c for c in range(6) if chosen >> c & 1])
        losses.append((sum(first[s].mean() * (1 - first[s].mean()) * s.sum() for s in (side, ~side)), side))
    best = min(losses, key=lambda entry: entry[0])[1]
    assert np.array_equal(left[X[:, 0].astype(int)], best) or np.array_equal(left[X[:, 0].astype(int)], ~best)


def test_frames_with_categories():
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 5, 300)
    z = rng.standard_normal(300)
    utilities = np.column_stack([np.sin(kind), np.cos(kind), z]) + 0.2 * rng.standard_normal((300, 3))
    y = np.argsort(np.argsort(-utilities, axis=1), axis=1) + 1.0
    z[::7] = NAN
    X = pd.DataFrame({"kind": pd.Categorical([f"kind {i}" for i in kind]), "z": z})
    model = fit(X, y, max_iter=20)
    assert model.score(X, y) > 0.7
    text = model.estimators_[0].export_text()
    assert "kind in {kind " in text
    assert "or missing" in text
    assert len(TreeDisplay.from_estimator(model.estimators_[0], max_depth=1).texts_) == 3
    unseen = X.assign(kind=pd.Categorical(["other"] * 300))
    assert np.isfinite(model.decision_function(unseen)).all()
    with pytest.raises(ValueError, match="was fitted on a data frame with categories"):
        model.predict(np.zeros((1, 2)))
    with pytest.raises(ValueError, match="the column 'word' of X is not numeric"):
        fit(X.assign(word="a"), y)


def test_importances_are_shares_of_the_gain():
    X, y = make(d=6)
    X[:, 3] = 1.0
    found = fit(X, y).feature_importances_
    assert found.sum() == pytest.approx(1)
    assert found[3] == 0


# --- hostile inputs


def test_constant_columns_give_the_consensus():
    _, y = make()
    model = fit(np.ones((200, 3)), y)
    assert (model.feature_ == -1).all()
    assert np.array_equal(np.unique(model.predict(np.ones((2, 3))), axis=0)[0], model.predict(np.zeros((1, 3)))[0])


def test_one_row_and_one_pair():
    assert np.array_equal(fit([[1.0]], [[2, 1]]).predict([[5.0]]), [[2, 1]])
    X, y = make(k=2)
    assert fit(X, y).score(X, y) > 0.8


def test_nothing_observed_is_all_tied():
    X, y = make()
    model = fit(X, np.full_like(y, NAN))
    assert (model.predict(X) == 1).all()
    assert model.n_iter_ == 0
    assert (fit(X, y).fit(X, np.full_like(y, NAN)).predict(X) == 1).all()


def test_nan_in_every_cell_of_a_column():
    X, y = make()
    expected = fit(X[:, :3], y).decision_function(X[:, :3])
    X[:, 3] = NAN
    assert_allclose(fit(X, y).decision_function(X), expected)


def test_huge_values():
    X, y = make()
    X[:, 0] *= 1e308 / np.abs(X[:, 0]).max()
    X[:, 1] = np.where(X[:, 1] > 0, np.nextafter(1, 2), 1.0)
    model = fit(X, y)
    assert np.isfinite(model.threshold_[model.feature_ >= 0]).all()
    scaled = X.copy()
    scaled[:, 0] /= 1e308
    scaled[:, 1] = X[:, 1] > 1
    assert_allclose(fit(scaled, y).decision_function(scaled), model.decision_function(X))


def test_a_failed_fit_keeps_the_model():
    X, y = make()
    model = fit(X, y)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match="infinity"):
        model.fit(np.where(X > 2, np.inf, X), y)
    assert np.array_equal(model.decision_function(X), before)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).decision_function(X), before)


def test_many_categories_are_told_apart_by_frequency():
    rng = np.random.default_rng(0)
    X = np.concatenate([np.repeat(np.arange(5), 100), np.arange(5, 10_005)])[:, None].astype(float)
    y = np.where((X[:, 0] % 2 == 0)[:, None], [1, 2, 3], [3, 2, 1])
    rows = rng.permutation(len(X))
    with pytest.warns(UserWarning, match=r"the categorical feature 0 has 10005 values; only the 255 most frequent"):
        model = fit(X[rows], y[rows], max_iter=3, categorical_features=[0])
    assert np.array_equal(model.predict([[0.0], [1.0]]), [[1, 2, 3], [3, 2, 1]])


def test_many_labels_and_features_need_little_memory():
    """A histogram of all features would need 500 MB."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 1000))
    y = np.argsort(rng.standard_normal((300, 100)) + X[:, :1] * np.linspace(-1, 1, 100), axis=1) + 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fit(X, y, max_iter=2, max_leaf_nodes=4)
    assert model.loss_curve_[-1] < model.loss_curve_[0]


@pytest.mark.parametrize("change", ["fewer", "more", "order"])
def test_warm_starts_need_the_same_features(change):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    y = np.argsort(rng.random((60, 3)), axis=1) + 1.0
    other = {"fewer": X[["a", "b"]], "more": X.assign(d=0.0), "order": X[["c", "b", "a"]]}[change]
    for model, target in (
        (GradientBoostingRanker(max_iter=3, warm_start=True), y),
        (GradientBoostingCoveringClassifier(max_iter=3, warm_start=True), y == 1),
    ):
        model.fit(X, target).set_params(max_iter=4)
        with pytest.raises(ValueError, match=r"feature"):
            model.fit(other, target)
        assert model.n_iter_ == 3


def test_a_warm_start_after_nothing_to_learn_from_learns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    y = np.argsort(np.argsort(-X, axis=1), axis=1) + 1.0
    model = GradientBoostingRanker(max_iter=5, warm_start=True, on_empty="ignore").fit(X, np.full(y.shape, np.nan))
    assert model.fit(X, y).score(X, y) > 0.5


def test_weights_that_are_too_small_or_too_large_are_told():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    y = np.argsort(np.argsort(-X, axis=1), axis=1) + 1.0
    with pytest.warns(UserWarning, match="the weights of the 100 rows sum to 1"):
        GradientBoostingRanker(max_iter=2).fit(X, y, sample_weight=np.full(100, 0.01))
    with pytest.raises(ValueError, match=r"sample_weight has 1e\+39, too large"):
        GradientBoostingRanker(max_iter=2).fit(X, y, sample_weight=np.append(1e39, np.ones(99)))


def test_a_single_class_has_probability_one():
    X = np.random.default_rng(0).normal(size=(50, 2))
    proba = GradientBoostingCoveringClassifier(max_iter=3).fit(X, np.zeros(50, dtype=int)).predict_proba(X)
    assert proba.shape == (50, 1)
    assert (proba > 0.5).all()
