"""Boosting: the guaranteed decrease, with and without templates, smoothing and a penalty."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from solvers.calls import boost, lbfgs, linear

from labelrank import PreferenceGraphs
from labelrank.decompositions import get_covering, get_decomposition
from labelrank.losses import CoveringLoss, LogLinearLoss
from labelrank.models import Objective
from labelrank.solvers.boosting.parallel import penalized_step
from labelrank.solvers.boosting.templates import UserTemplates

NAMES = ["zero_one", "hamming", "two_sets", "weighted_positive", "weighted_negative"]


def problem(name, *, n=40, d=4, k=3, seed=0, form="dense", scale=1.0, fit_intercept=False):
    """An objective with hypotheses in [-scale, scale], some of them zero, and examples of different weights."""
    rng = np.random.default_rng(seed)
    X = scale * rng.uniform(-1, 1, (n, d)) * (rng.random((n, d)) < 0.7)
    graphs = PreferenceGraphs.from_multilabel(rng.integers(0, 2, (n, k)))
    loss = CoveringLoss(graphs, get_covering(name), rng.uniform(0.2, 2, n))
    return linear(sparse.csr_array(X) if form == "csr" else X, loss, fit_intercept=fit_intercept)


def decreases(state):
    return -np.diff(state.loss_curve)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("smoothing", [0.0, 0.5])
def test_templates_obey_the_bound(name, form, smoothing):
    rng = np.random.default_rng(1)
    objective = problem(name, form=form)
    templates = rng.random((5, 4))
    templates /= templates.sum(axis=1, keepdims=True)
    templates[0] /= 3  # a 1-norm below 1 is allowed
    choose = UserTemplates(templates)
    start = np.zeros(objective.coef_shape)
    state = boost(objective, start, max_iter=60, tol=0, templates=choose, smoothing=smoothing)
    assert state.n_iter == len(state.bound_curve) == 60
    assert (decreases(state) >= np.array(state.bound_curve) - 1e-12).all()
    assert (np.array(state.bound_curve) >= 0).all()
    assert state.loss_curve[-1] < 0.99 * state.loss_curve[0]
    assert not start.any()  # the start is not written to


@pytest.mark.parametrize("name", NAMES)
def test_the_first_bound_is_the_formula(name):
    objective = problem(name)
    templates = np.vstack([np.eye(4), np.full(4, 0.25)])
    _, plus, minus = objective.value_and_weights(np.zeros((4, 3)))
    gain = (np.sqrt(plus) - np.sqrt(minus)) ** 2
    state = boost(objective, np.zeros((4, 3)), max_iter=1, tol=0, templates=UserTemplates(templates))
    assert_allclose(state.bound_curve, [(templates @ gain).max(axis=0).sum()])
    best = (templates @ gain).argmax(axis=0)
    assert_allclose(state.coef, -templates[best].T * 0.5 * np.log(plus / minus))


@pytest.mark.parametrize("name", NAMES)
def test_parallel_is_one_template_of_equal_lengths(name):
    objective = problem(name, scale=7.0, fit_intercept=True)
    start = np.zeros(objective.coef_shape)
    one = UserTemplates(np.full((1, 5), 1 / objective.largest_change))
    parallel = boost(objective, start, max_iter=20, tol=0)
    by_template = boost(objective, start, max_iter=20, tol=0, templates=one)
    assert_allclose(parallel.coef, by_template.coef, rtol=1e-12)
    assert_allclose(parallel.bound_curve, by_template.bound_curve, rtol=1e-12)
    assert (decreases(parallel) >= np.array(parallel.bound_curve) - 1e-12).all()


def test_without_the_norm_bound_copies_of_one_hypothesis_oscillate():
    """Twelve copies that move as if each were alone overshoot; with ‖b‖₁ = 1 they move as one."""
    h = np.array([1.0, -1.0] * 30)
    relevant = h > 0
    relevant[:12] = ~relevant[:12]
    graphs = PreferenceGraphs.from_multilabel(relevant[:, None].astype(int))
    loss = CoveringLoss(graphs, get_covering("hamming"), np.ones(60))
    objective = linear(np.repeat(h[:, None], 12, axis=1), loss, fit_intercept=False)
    start = np.zeros((12, 1))
    too_long = boost(objective, start, max_iter=6, tol=0, templates=UserTemplates(np.ones((1, 12))))
    assert too_long.loss_curve[1] > too_long.loss_curve[0]
    assert (decreases(too_long) < np.array(too_long.bound_curve)).any()
    allowed = boost(objective, start, max_iter=6, tol=0, templates=UserTemplates(np.full((1, 12), 1 / 12)))
    assert (decreases(allowed) >= np.array(allowed.bound_curve) - 1e-12).all()
    alone = linear(h[:, None], loss, fit_intercept=False)
    assert_allclose(allowed.loss_curve, boost(alone, np.zeros((1, 1)), max_iter=6, tol=0).loss_curve)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("alpha", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("templates", [False, True])
def test_penalized_boosting_never_increases(name, alpha, templates):
    objective = problem(name, fit_intercept=True, form="csr")
    rng = np.random.default_rng(2)
    choose = None
    if templates:
        b = rng.random((3, 5))
        choose = UserTemplates(b / b.sum(axis=1, keepdims=True))
    start = rng.normal(size=objective.coef_shape)
    state = boost(objective, start, max_iter=80, tol=0, templates=choose, alpha=alpha)
    assert (decreases(state) >= np.array(state.bound_curve) - 1e-9).all()
    assert (np.array(state.bound_curve) >= -1e-12).all()
    value, *_ = objective.value_and_weights(state.coef)
    assert_allclose(state.loss_curve[-1], value + alpha / 2 * (state.coef[:4] ** 2).sum())


@pytest.mark.parametrize("name", NAMES)
def test_penalized_boosting_and_lbfgs_reach_the_same_optimum(name):
    objective = problem(name, fit_intercept=True)
    start = np.zeros(objective.coef_shape)
    common = {"alpha": 0.3, "tol": 1e-9}
    slow, fast = boost(objective, start, max_iter=5000, **common), lbfgs(objective, start, max_iter=500, **common)
    assert slow.converged
    assert fast.converged
    assert_allclose(slow.loss_curve[-1], fast.loss_curve[-1], rtol=1e-9)
    assert_allclose(slow.coef, fast.coef, atol=1e-5)


def test_penalized_templates_reach_the_optimum():
    objective = problem("hamming", fit_intercept=True)
    start = np.zeros(objective.coef_shape)
    common = {"alpha": 3.0, "tol": 1e-9}
    by_one = boost(objective, start, max_iter=5000, templates=UserTemplates(np.eye(5)), **common)
    assert_allclose(by_one.loss_curve[-1], lbfgs(objective, start, max_iter=500, **common).loss_curve[-1], rtol=1e-8)


positive = st.floats(1e-6, 1e6)


def test_penalized_boosting_never_increases_from_far_off():
    """A warm start with large coefficients: without the penalty there was no reason for smaller ones."""
    h = np.array([1.0, -1.0] * 500)
    other = np.zeros(1000)
    other[0] = 29.0  # one example with a large norm, so steps are small
    loss = CoveringLoss(PreferenceGraphs.from_multilabel(h[:, None] > 0), get_covering("hamming"), np.ones(1000))
    objective = linear(np.column_stack([h, other]), loss, fit_intercept=False)
    state = boost(objective, np.array([[20.0], [30.0]]), max_iter=20, tol=0, alpha=0.01)
    assert (decreases(state) >= np.array(state.bound_curve) - 1e-9).all()
    assert (np.array(state.bound_curve) >= -1e-12).all()


@given(st.one_of(st.just(0.0), positive), st.one_of(st.just(0.0), positive), positive, st.floats(-50, 50), positive)
@example(0.0058, 0.00037, 41.7, 2.86, 0.0237)
def test_the_penalized_step_is_the_maximum_of_its_bound(plus, minus, alpha, coef, length):
    arrays = [np.array([v]) for v in (plus, minus, alpha, coef, length)]
    step = float(penalized_step(*arrays)[0])
    assert np.isfinite(step)

    def gain(s):
        with np.errstate(over="ignore"):
            up, down = (w * np.expm1(t) if w else 0.0 for w, t in ((plus, -s), (minus, s)))
        return -up - down + alpha * s * (coef - s * length / 2)

    best = gain(step)
    scale = 1e-9 * (1 + abs(best) + plus + minus + alpha * abs(coef * step))
    assert best >= -scale
    for other in (step * 0.9, step * 1.1, step - 1e-3, step + 1e-3):
        assert gain(other) <= best + scale


def test_smoothing_lets_a_separating_coefficient_move():
    loss = CoveringLoss(PreferenceGraphs.from_multilabel([[1], [0]]), get_covering("hamming"), np.ones(2))
    objective = linear(np.array([[1.0], [-1.0]]), loss, fit_intercept=False)
    still = boost(objective, np.zeros((1, 1)), max_iter=5, tol=0)
    assert still.converged  # nothing can move
    assert still.n_iter == 0
    moved = boost(objective, np.zeros((1, 1)), max_iter=5, tol=0, smoothing=0.1)
    assert moved.coef[0, 0] > 0
    assert (decreases(moved) >= np.array(moved.bound_curve) - 1e-12).all()
    assert (np.array(moved.bound_curve) > 0).all()
    chosen = boost(objective, np.zeros((1, 1)), max_iter=5, tol=0, smoothing=0.1, templates=UserTemplates(np.eye(1)))
    assert_allclose(chosen.coef, moved.coef)


def test_what_stops_it():
    objective = problem("hamming")
    start = np.zeros((4, 3))
    seen = []
    stopped = boost(
        objective, start, max_iter=9, tol=0, on_step=lambda coef, value: seen.append(value) or len(seen) == 3
    )
    assert stopped.n_iter == 3
    assert stopped.converged
    assert seen == stopped.loss_curve[1:]
    enough = boost(objective, start, max_iter=5000, tol=1e-3)
    assert enough.converged
    assert enough.gap <= 1e-3
    _, gradient = objective.value_and_gradient(enough.coef)
    assert_allclose(enough.gap, np.abs(gradient).max() / objective.total_weight, rtol=1e-9)
    assert not boost(objective, start, max_iter=1, tol=1e-3).converged


class InterruptedObjective(Objective):
    """Control-C in the evaluation of number `at`."""

    def __init__(self, objective, at):
        super().__init__(objective.model, objective.loss)
        self.left = at

    def value_and_weights(self, coef):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        return super().value_and_weights(coef)


def test_interrupts_leave_what_was_reached():
    objective = problem("two_sets")
    start = np.zeros((4, 3))
    for evaluation in (1, 2):
        with pytest.raises(KeyboardInterrupt):  # nothing was learned that could be kept
            boost(InterruptedObjective(objective, evaluation), start, max_iter=9, tol=0)
    later = boost(InterruptedObjective(objective, 4), start, max_iter=9, tol=0)
    assert later.interrupted
    assert not later.converged
    whole = boost(objective, start, max_iter=9, tol=0)
    assert later.loss_curve == whole.loss_curve[:3]
    assert later.bound_curve == whole.bound_curve[:2]
    # The coefficients are those of the last loss of the curve.
    assert_allclose(later.coef, boost(objective, start, max_iter=2, tol=0).coef)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_memory_is_a_few_vectors_of_coefficients(alpha, smoothing):
    X = sparse.random_array((500, 4000), density=0.01, rng=np.random.default_rng(0), format="csr")
    y = np.argmax(X @ np.random.default_rng(1).normal(size=(4000, 50)), axis=1)
    graphs = PreferenceGraphs.from_multiclass(y, n_labels=50)
    objective = linear(X, LogLinearLoss(graphs, get_decomposition("domination"), np.ones(500)))
    start = np.zeros(objective.coef_shape)
    common = {"alpha": alpha, "smoothing": smoothing, "tol": 0.0}
    boost(objective, start, max_iter=1, **common)  # compiled
    tracemalloc.start()
    try:
        boost(objective, start, max_iter=3, **common)
        vectors = tracemalloc.get_traced_memory()[1] / start.nbytes
    finally:
        tracemalloc.stop()
    # Coefficients, the next ones, and their two weights; besides them blocks of scores and of coefficients.
    assert vectors - (2**16 + 24 * 2**14) / start.size < 4.5
