"""Sequential boosting, which touches only what changes, against boosting with one template per coefficient."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from solvers.calls import boost, boost_sequentially, linear

from labelrank import PreferenceGraphs
from labelrank.decompositions import get_covering
from labelrank.losses import CoveringLoss
from labelrank.solvers.boosting.templates import UserTemplates, largest_values

NAMES = ["zero_one", "hamming", "two_sets", "weighted_positive", "weighted_negative"]


def pairs(relevant):
    """A covering that is given as a function: overlapping elements."""
    k = len(relevant)
    return [[label, (label + 1) % k] for label in range(k)]


def data(form, n=60, d=12, k=4, seed=0):
    """Hypotheses in [-1, 1]: dense with both signs, sparse and non-negative, sparse with both signs."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, d))
    if form != "dense":
        X *= rng.random((n, d)) < 0.2
    if form == "sparse":
        X = np.abs(X)
    return (X if form == "dense" else sparse.csr_array(X)), rng.integers(0, 2, (n, k)).astype(float), rng


def both(X, loss, start, n_rounds, smoothing=0.0):
    lengths = 1 / largest_values(X, False)
    objective = linear(X, loss, fit_intercept=False)
    templates = UserTemplates(np.diag(lengths))
    full = boost(objective, start, max_iter=n_rounds, tol=0, templates=templates, smoothing=smoothing)
    quick = boost_sequentially(X, loss, start, max_iter=n_rounds, tol=0, smoothing=smoothing)
    return full, quick


def assert_same(full, quick):
    assert quick.n_iter == full.n_iter
    assert_allclose(quick.coef, full.coef, atol=1e-10)
    assert_allclose(quick.loss_curve, full.loss_curve, rtol=1e-10)
    assert_allclose(quick.bound_curve, full.bound_curve, atol=1e-10)


@pytest.mark.parametrize("covering", [*NAMES, pairs])
@pytest.mark.parametrize("form", ["dense", "sparse", "sparse with negative"])
def test_equals_boosting_with_one_template_per_coefficient(covering, form):
    X, Y, rng = data(form)
    loss = CoveringLoss(PreferenceGraphs.from_multilabel(Y), get_covering(covering), rng.uniform(0, 2, len(Y)))
    full, quick = both(X, loss, np.zeros((12, 4)), 130)  # beyond the round that sums anew
    assert quick.n_iter == 130
    assert_same(full, quick)
    assert (-np.diff(quick.loss_curve) >= np.array(quick.bound_curve) - 1e-10).all()
    assert (np.count_nonzero(quick.coef, axis=0) > 1).all()


@pytest.mark.parametrize("covering", [*NAMES, pairs])
@pytest.mark.parametrize("form", ["dense", "sparse", "sparse with negative"])
def test_smoothing_keeps_the_guarantee(covering, form):
    X, Y, _ = data(form)
    X = sparse.lil_array(X)
    X[:, [0]] = 0
    X[3, 0] = 1.0  # a feature that separates: it moves only with smoothing
    loss = CoveringLoss(PreferenceGraphs.from_multilabel(Y), get_covering(covering), np.ones(len(Y)))
    X = X.tocsr()
    common = {"max_iter": 60, "tol": 0}
    still = boost_sequentially(X, loss, np.zeros((12, 4)), **common)
    assert not still.coef[0].any()
    moved = boost_sequentially(X, loss, np.zeros((12, 4)), smoothing=0.2, **common)
    assert moved.coef[0].any()
    assert (np.array(moved.bound_curve) >= 0).all()
    assert (-np.diff(moved.loss_curve) >= np.array(moved.bound_curve) - 1e-10).all()


def guaranteed(plus, minus, smoothing):
    """The smoothed step of a coefficient, and the decrease that it guarantees."""
    step = 0.5 * math.log((plus + smoothing) / (minus + smoothing))
    return step, plus * (1 - math.exp(-step)) + minus * (1 - math.exp(step))


def loop(X, Y, lengths, n_rounds, smoothing):
    """Sequential boosting of the Hamming covering, example by example; also how often smoothing changed the choice."""
    n, d = X.shape
    k = Y.shape[1]
    coef, changed = np.zeros((d, k)), 0
    for _ in range(n_rounds):
        following = coef.copy()
        for label in range(k):
            plus, minus = [0.0] * d, [0.0] * d
            for i in range(n):
                sign = 1 if Y[i, label] else -1
                q = 1 / (1 + math.exp(sign * sum(X[i, j] * coef[j, label] for j in range(d))))
                for j in range(d):
                    if sign * X[i, j] > 0:
                        minus[j] += q * abs(X[i, j])
                    else:
                        plus[j] += q * abs(X[i, j])
            gains = [lengths[j] * guaranteed(plus[j], minus[j], smoothing)[1] for j in range(d)]
            j = gains.index(max(gains))
            following[j, label] -= lengths[j] * guaranteed(plus[j], minus[j], smoothing)[0]
            plain = [lengths[j] * (math.sqrt(plus[j]) - math.sqrt(minus[j])) ** 2 for j in range(d)]
            changed += plain.index(max(plain)) != j
        coef = following
    return coef, changed


@pytest.mark.parametrize("smoothing", [0.05, 0.5, 5])
def test_smoothed_steps_are_chosen_by_what_they_guarantee(smoothing):
    rng = np.random.default_rng(3)
    shares = np.array([0.05, 0.1, 0.2, 0.4, 0.7, 0.95])  # rare features seem pure, and smoothing trusts them less
    X = rng.uniform(-1, 1, (40, 6)) * (rng.random((40, 6)) < shares)
    Y = rng.integers(0, 2, (40, 3))
    X *= rng.uniform(1, 2, 6) / np.abs(X).max(axis=0)  # features beyond [-1, 1] take shorter steps
    lengths = 1 / np.abs(X).max(axis=0)
    expected, changed = loop(X, Y, lengths, 6, smoothing)
    assert changed > 0
    loss = CoveringLoss(PreferenceGraphs.from_multilabel(Y), get_covering("hamming"), np.ones(40))
    state = boost_sequentially(X, loss, np.zeros((6, 3)), max_iter=6, tol=0, smoothing=smoothing)
    assert_allclose(state.coef, expected, atol=1e-12)


@pytest.mark.parametrize("smoothing", [1e-200, 0.05, 5.0])
@pytest.mark.parametrize("covering", [*NAMES, pairs])
@pytest.mark.parametrize("form", ["dense", "sparse", "sparse with negative"])
def test_equals_boosting_with_the_same_smoothing(covering, form, smoothing):
    X, Y, rng = data(form)
    scale = rng.uniform(1, 2, 12)
    X = X * scale if form == "dense" else sparse.csr_array(X.multiply(scale))
    weight = rng.uniform(0, 2, len(Y))
    loss = CoveringLoss(PreferenceGraphs.from_multilabel(Y), get_covering(covering), weight)
    assert_same(*both(X, loss, np.zeros((12, 4)), 30, smoothing))


@pytest.mark.parametrize("smoothing", [1e-320, 1e-200, 1.0, 1e100])
def test_features_that_nothing_is_known_of_stay(smoothing):
    X, Y, _ = data("sparse")
    X = X.toarray()
    X[:, 4] = 0
    loss = CoveringLoss(PreferenceGraphs.from_multilabel(Y), get_covering("two_sets"), np.ones(len(Y)))
    state = boost_sequentially(X, loss, np.zeros((12, 4)), max_iter=20, tol=0, smoothing=smoothing)
    assert not state.coef[4].any()
    assert np.isfinite(state.coef).all()
    assert (np.array(state.bound_curve) >= -1e-10).all()


@pytest.mark.parametrize("name", NAMES)
def test_unknown_labels_weights_of_zero_and_a_start(name):
    X, Y, rng = data("sparse with negative", seed=1)
    Y[rng.random(Y.shape) < 0.3] = np.nan
    Y[:3] = np.nan
    weight = rng.uniform(0, 2, len(Y))
    weight[5:9] = 0
    loss = CoveringLoss(PreferenceGraphs.from_multilabel(Y), get_covering(name), weight)
    start = rng.normal(size=(12, 4))
    before = start.copy()
    assert_same(*both(X, loss, start, 40))
    assert_allclose(start, before)


@pytest.mark.parametrize("name", NAMES)
def test_lengths_scale_hypotheses_that_leave_the_interval(name):
    X, Y, _ = data("dense")
    X = X * np.linspace(0.5, 30, 12)
    loss = CoveringLoss(PreferenceGraphs.from_multilabel(Y), get_covering(name), np.ones(len(Y)))
    full, quick = both(X, loss, np.zeros((12, 4)), 60)
    assert_same(full, quick)
    assert (-np.diff(quick.loss_curve) >= np.array(quick.bound_curve) - 1e-10).all()


@settings(max_examples=40)
@given(st.integers(1, 6), st.integers(1, 4), st.integers(1, 4), st.sampled_from(NAMES), st.integers(0, 10**6))
def test_small_cases_with_many_zeros(n, d, k, name, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, d)) * (rng.random((n, d)) < 0.6)
    Y = rng.integers(0, 2, (n, k))
    loss = CoveringLoss(PreferenceGraphs.from_multilabel(Y), get_covering(name), rng.uniform(0.5, 2, n))
    full, quick = both(sparse.csr_array(X), loss, np.zeros((d, k)), 4)
    assert_same(full, quick)


def test_a_round_moves_one_coefficient_of_every_label():
    X, Y, _ = data("sparse")
    loss = CoveringLoss(PreferenceGraphs.from_multilabel(Y), get_covering("two_sets"), np.ones(len(Y)))
    seen = [np.zeros((12, 4))]
    boost_sequentially(X, loss, seen[0], max_iter=5, tol=0, on_step=lambda c, v: seen.append(c.copy()))
    assert len(seen) == 6
    for before, after in itertools.pairwise(seen):
        assert (np.count_nonzero(before != after, axis=0) == 1).all()


def test_what_stops_it():
    X, Y, _ = data("dense", d=3)
    loss = CoveringLoss(PreferenceGraphs.from_multilabel(Y), get_covering("hamming"), np.ones(len(Y)))
    start = np.zeros((3, 4))
    stopped = boost_sequentially(X, loss, start, max_iter=9, tol=0, on_step=lambda coef, value: True)
    assert stopped.n_iter == 1
    assert stopped.converged
    enough = boost_sequentially(X, loss, start, max_iter=2000, tol=1e-4)
    assert enough.converged
    assert enough.gap <= 1e-4
    _, gradient = linear(X, loss, fit_intercept=False).value_and_gradient(enough.coef)
    assert_allclose(enough.gap, np.abs(gradient).max() / len(Y), atol=1e-9)
    nothing = boost_sequentially(np.zeros((60, 3)), loss, start, max_iter=9, tol=0)
    assert nothing.converged
    assert nothing.n_iter == 0
    assert not boost_sequentially(X, loss, start, max_iter=1, tol=0).converged


def test_an_interrupt_leaves_what_was_reached():
    X, Y, _ = data("dense")
    loss = CoveringLoss(PreferenceGraphs.from_multilabel(Y), get_covering("zero_one"), np.ones(len(Y)))
    seen = []

    def interrupt(coef, value):
        seen.append(value)
        if len(seen) == 3:
            raise KeyboardInterrupt
        return False

    state = boost_sequentially(X, loss, np.zeros((12, 4)), max_iter=9, tol=0, on_step=interrupt)
    whole = boost_sequentially(X, loss, np.zeros((12, 4)), max_iter=3, tol=0)
    assert state.interrupted
    assert not state.converged
    assert state.n_iter == 3
    assert_allclose(state.coef, whole.coef)
    assert_allclose(state.loss_curve, whole.loss_curve)


@pytest.mark.parametrize("name", NAMES)
def test_it_converges_as_far_as_floats_go(name):
    X, Y, _ = data("dense", d=3)
    loss = CoveringLoss(PreferenceGraphs.from_multilabel(Y), get_covering(name), np.ones(len(Y)))
    full, quick = both(X, loss, np.zeros((3, 4)), 200)
    assert_allclose(quick.coef, full.coef, atol=1e-10)
    state = boost_sequentially(X, loss, np.zeros((3, 4)), max_iter=3000, tol=1e-12)
    assert state.converged


def test_the_gap_is_that_of_boosting():
    X, Y, _ = data("sparse with negative", seed=1)
    Y[:3] = np.nan
    loss = CoveringLoss(PreferenceGraphs.from_multilabel(Y), get_covering("hamming"), np.ones(len(Y)))
    X = sparse.lil_array(X)
    X[:, [0]] = 0
    X[5, 0] = 1.0  # cannot move
    full, quick = both(X.tocsr(), loss, np.zeros((12, 4)), 10)
    assert_allclose(quick.gap, full.gap, rtol=1e-9)
    full, quick = both(X.tocsr()[:, [0]], loss, np.zeros((1, 4)), 10)
    assert quick.remark == full.remark
    assert "coefficients in place" in full.remark
