"""L-BFGS: the optimum, its curve, and a clean way out."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from solvers.calls import lbfgs, linear

from labelrank import LogLinearRanker, PreferenceGraphs, as_graphs
from labelrank.datasets import load_iris_rankings
from labelrank.decompositions import get_decomposition
from labelrank.losses import LogLinearLoss
from labelrank.models import LabelFeatureModel, Objective


class Quadratic:
    """weight/2 · ‖coef − center‖², with different curvatures; control-C in the evaluation of number `at`."""

    loss = LogLinearLoss(as_graphs([[1, 2]]))

    def __init__(self, at=0, weight=4.0):
        self.center = np.array([[1.0, -2.0], [0.5, 3.0]])
        self.second = np.array([[1.0, 3.0], [10.0, 0.2]])
        self.coef_shape, self.total_weight = (2, 2), weight
        self.widths = np.array([1.0, 3.0])
        self.left = at

    def value_and_gradient(self, coef):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        away = coef - self.center
        return self.total_weight / 2 * float((self.second * away**2).sum()), (self.total_weight * self.second * away)


@pytest.mark.parametrize("weight", [1e-3, 1.0, 1e6])
def test_the_optimum_does_not_depend_on_the_number_of_rows(weight):
    start = np.zeros((2, 2))
    state = lbfgs(Quadratic(weight=weight), start, max_iter=100, tol=1e-6)
    assert state.converged
    assert state.gap <= 1e-6
    assert_allclose(state.coef, Quadratic().center, atol=1e-5)
    assert not start.any()
    assert state.loss_curve[0] == Quadratic(weight=weight).value_and_gradient(start)[0]
    assert state.n_iter == len(state.loss_curve) - 1
    assert (np.diff(state.loss_curve) <= 0).all()
    assert np.isnan(state.bound_curve).all()  # it guarantees nothing


def test_what_stops_it():
    seen = []
    state = lbfgs(
        Quadratic(),
        np.zeros((2, 2)),
        max_iter=50,
        tol=0,
        on_step=lambda c, v: seen.append((c.copy(), v)) or len(seen) == 2,
    )
    assert state.n_iter == 2
    assert state.converged  # as it was asked to
    assert_allclose(state.coef, seen[-1][0])
    assert [value for _, value in seen] == state.loss_curve[1:]
    short = lbfgs(Quadratic(), np.zeros((2, 2)), max_iter=2, tol=1e-12)
    assert short.n_iter == 2
    assert not short.converged
    assert short.gap > 1e-12
    there = lbfgs(Quadratic(), Quadratic().center, max_iter=5, tol=1e-12)
    assert there.converged
    assert there.n_iter == 0


@pytest.mark.parametrize("at", [1, 2])
def test_an_interrupt_before_the_first_iteration(at):
    with pytest.raises(KeyboardInterrupt):  # nothing was learned that could be kept
        lbfgs(Quadratic(at=at), np.zeros((2, 2)), max_iter=50, tol=0)


@pytest.mark.parametrize("at", [4, 6])
def test_an_interrupt_in_an_evaluation(at):
    state = lbfgs(Quadratic(at=at), np.zeros((2, 2)), max_iter=50, tol=0)
    whole = lbfgs(Quadratic(), np.zeros((2, 2)), max_iter=50, tol=0)
    assert state.interrupted
    assert not state.converged
    assert state.n_iter < whole.n_iter
    assert_allclose(state.loss_curve, whole.loss_curve[: state.n_iter + 1])
    # The coefficients are those of the last loss of the curve.
    assert_allclose(Quadratic().value_and_gradient(state.coef)[0], state.loss_curve[-1])


def test_an_interrupt_in_a_callback():
    def interrupt(coef, value):
        raise KeyboardInterrupt

    state = lbfgs(Quadratic(), np.zeros((2, 2)), max_iter=50, tol=0, on_step=interrupt)
    assert state.interrupted
    assert state.n_iter == 1
    assert_allclose(Quadratic().value_and_gradient(state.coef)[0], state.loss_curve[-1])


@pytest.mark.parametrize("widths", [[1.0, 1.0], [1e-2, 1e2]])
def test_any_units(widths):
    problem = Quadratic()
    problem.widths = np.array(widths)
    state = lbfgs(problem, np.zeros((2, 2)), max_iter=1000, tol=1e-6)
    assert state.converged
    assert state.gap <= 1e-6
    assert_allclose(state.coef, problem.center, atol=1e-4)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("units", [[1e-6, 1.0, 1e12, 1e3, 1e-3], [1e-9] * 5, [1e160] * 5], ids=str)
def test_scaled_features_take_the_same_way(units, intercept):
    """The units of the features do not matter: L-BFGS sees them in their own."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 5)), rng.permuted(np.tile(np.arange(1.0, 5), (60, 1)), axis=1)
    curves = []
    for data in (X, X * units, sparse.csr_array(X * units)):
        loss = LogLinearLoss(as_graphs(y), get_decomposition("domination"), np.ones(60))
        objective = linear(data, loss, fit_intercept=intercept)
        curves.append(lbfgs(objective, np.zeros(objective.coef_shape), max_iter=8, tol=0).loss_curve)
    assert_allclose(curves[1], curves[0], rtol=1e-6)
    assert_allclose(curves[2], curves[0], rtol=1e-6)


def test_base_rankers_in_any_unit():
    rng = np.random.default_rng(0)
    base, y = rng.normal(size=(60, 4, 3)), rng.permuted(np.tile(np.arange(1.0, 5), (60, 1)), axis=1)
    loss = LogLinearLoss(as_graphs(y), get_decomposition("domination"), np.ones(60))
    curves = [
        lbfgs(Objective(LabelFeatureModel(base * scale), loss), np.zeros(3), max_iter=5, tol=0).loss_curve
        for scale in (np.ones(3), np.array([1e-8, 1.0, 1e8]))
    ]
    assert_allclose(curves[1], curves[0], rtol=1e-6)


def test_features_that_overflow():
    X, y = np.full((4, 1), 1e308), np.tile([1.0, 2.0], (4, 1))
    loss = LogLinearLoss(as_graphs(y), get_decomposition("domination"), np.ones(4))
    with (
        np.errstate(over="ignore", invalid="ignore"),
        pytest.raises(ValueError, match="not finite at the start; scale the features"),
    ):
        lbfgs(linear(X, loss), np.zeros((2, 2)), max_iter=8, tol=0)


def test_no_progress_is_not_an_optimum():
    """A loss that is known to a few digits stops moving before the bottom is reached."""

    class Coarse(Quadratic):
        def value_and_gradient(self, coef):
            value, gradient = super().value_and_gradient(coef)
            return np.ceil(value / 20) * 20, gradient

    state = lbfgs(Coarse(), np.zeros((2, 2)), max_iter=1000, tol=1e-6)
    assert state.gap > 1e-6
    assert not state.converged


def test_the_gap_after_an_interrupt_is_that_of_the_coefficients():
    state = lbfgs(Quadratic(at=3), np.zeros((2, 2)), max_iter=50, tol=0)
    assert state.interrupted
    q = Quadratic()
    assert_allclose(state.gap, np.abs(q.value_and_gradient(state.coef)[1]).max() / q.total_weight)


def test_an_interrupt_while_the_units_are_computed():
    class Interrupted(Quadratic):
        @property
        def widths(self):
            raise KeyboardInterrupt

        @widths.setter
        def widths(self, value):
            pass

    with pytest.raises(KeyboardInterrupt):
        lbfgs(Interrupted(), np.zeros((2, 2)), max_iter=50, tol=0)


def many_words(n_samples=4000, n_features=1200, n_labels=25):
    X = sparse.random_array((n_samples, n_features), density=0.02, rng=np.random.default_rng(0), format="csr")
    scores = X @ np.random.default_rng(1).normal(size=(n_features, n_labels))
    loss = LogLinearLoss(
        PreferenceGraphs.from_multiclass(np.argmax(scores, axis=1), n_labels=n_labels),
        get_decomposition("domination"),
        np.ones(n_samples),
    )
    return linear(X, loss)


def test_memory_does_not_grow_with_the_rows():
    """Beyond the data there are SciPy's workspace and blocks of rows."""
    vectors = []
    for n_samples in (2000, 16000):
        objective = many_words(n_samples)
        start = np.zeros(objective.coef_shape)
        lbfgs(objective, start, max_iter=2, tol=0, alpha=1.0)  # compiled
        tracemalloc.start()
        try:
            lbfgs(objective, start, max_iter=12, tol=0, alpha=1.0)
            vectors.append(tracemalloc.get_traced_memory()[1] / start.nbytes)
        finally:
            tracemalloc.stop()
    assert vectors[0] < 47  # ten pairs of corrections, a handful of others, and blocks of scores
    assert vectors[1] - vectors[0] < 5 * 14000 / start.size  # masks and weights of the rows


def test_the_optimum_of_many_coefficients():
    objective = many_words(1000, 500, 10)
    common = {"max_iter": 2000, "alpha": 1.0}
    state = lbfgs(objective, np.zeros(objective.coef_shape), tol=1e-8, **common)
    assert state.converged
    reference = LogisticRegression(C=1.0, tol=1e-10, max_iter=10_000)
    reference.fit(objective.model.X, np.argmax(objective.loss.graphs.levels == 0, axis=1))
    assert_allclose(state.coef[:500].T, reference.coef_, atol=1e-5)


def test_corrections_without_curvature_are_not_kept():
    """Along a line the gradient does not change: no correction can be made of that, and the search has no end."""

    class Slope(Quadratic):
        def value_and_gradient(self, coef):
            return float(coef.sum()), np.ones((2, 2))

    state = lbfgs(Slope(), np.zeros((2, 2)), max_iter=5, tol=1e-6)
    assert not state.converged
    assert np.isfinite(state.coef).all()


def separable(n=50, d=300, k=5, unit=1.0):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, d)) * unit, rng.permuted(np.tile(np.arange(1.0, k + 1), (n, 1)), axis=1)
    return linear(X, LogLinearLoss(as_graphs(y), get_decomposition("domination"), np.ones(n)))


@pytest.mark.parametrize(("tol", "unit"), [(0.0, 1.0), (0.0, 1e20)])
def test_a_loss_that_goes_to_zero(tol, unit):
    """Corrections become tiny, and their products are taken in 64 bits."""
    objective = separable(unit=unit)
    state = lbfgs(objective, np.zeros(objective.coef_shape), max_iter=2000, tol=tol)
    assert state.loss_curve[-1] < 1e-6
    assert state.converged
    assert np.isfinite(state.coef).all()


def test_going_on_from_the_optimum():
    """Where nothing can be gained from the start on, it is the optimum all the same."""
    objective = many_words(300, 100, 5)
    common = {"max_iter": 2000, "tol": 0, "alpha": 1.0}
    there = lbfgs(objective, np.zeros(objective.coef_shape), **common)
    again = lbfgs(objective, there.coef, **common)
    assert there.converged
    assert again.converged
    assert again.n_iter < 5
    assert_allclose(again.coef, there.coef, atol=1e-6)


def test_one_huge_value_does_not_converge_in_silence():
    """The unit of a feature with an outlier is far from its curvature: the loss stalls before the optimum."""
    X, y = load_iris_rankings(return_X_y=True)
    X = X.copy()
    X[3, 1] = 1e8
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        ranker = LogLinearRanker().fit(X, y)
    assert ranker.gap_ > ranker.tol
