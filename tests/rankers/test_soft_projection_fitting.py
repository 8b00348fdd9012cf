"""The soft-projection ranker with kernels, on the way to its optimum, and online."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracles import decompositions as cuts
from rankers.soft_projections import (
    NAMES,
    NAN,
    coefficients,
    quiet,
    quiet_gap,
    sides,
    tight,
    with_constant,
)
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import scale

from labelrank import as_graphs, ranks_from_scores
from labelrank.datasets import load_iris_rankings, load_wine_rankings, make_label_ranking
from labelrank.losses.soft_margin import SoftMarginLoss
from labelrank.rankers.soft_projection import SoftProjectionRanker
from labelrank.solvers.soft_projection.projection import project_polyhedron

# ---------------------------------------------------------------------------------------------------------------
# Kernels
# ---------------------------------------------------------------------------------------------------------------


def test_kernels_agree():
    X, y = make_label_ranking(40, 3, n_labels=4, concentration=2.0, random_state=0)
    new = np.random.default_rng(1).normal(size=(7, 3))
    rbf = SoftProjectionRanker(kernel="rbf", gamma=0.7, **tight).fit(X, y)
    given_gram = SoftProjectionRanker(kernel="precomputed", **tight).fit(rbf_kernel(X, gamma=0.7), y)
    function = SoftProjectionRanker(kernel=lambda A, B: rbf_kernel(A, B, gamma=0.7), **tight).fit(X, y)
    rows = SoftProjectionRanker(kernel="rbf", gamma=0.7, **tight).fit(sparse.csr_array(X), y)
    assert_allclose(given_gram.decision_function(rbf_kernel(new, X, gamma=0.7)), rbf.decision_function(new), atol=1e-8)
    assert_allclose(function.decision_function(new), rbf.decision_function(new), atol=1e-8)
    assert_allclose(rows.decision_function(sparse.csr_array(new)), rbf.decision_function(new), atol=1e-6)
    assert rbf.dual_coef_.shape == (4, len(rbf.support_))
    assert_array_equal(rbf.support_vectors_, X[rbf.support_])
    assert_allclose(rbf.dual_coef_.sum(axis=0), 0, atol=1e-12)  # what one label gains, others lose
    assert not hasattr(rbf, "coef_")
    assert not hasattr(rbf, "partial_fit")


def test_a_kernel_finds_what_a_line_does_not():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (200, 2))
    gamma = np.cos(3 * X @ rng.normal(size=(2, 4)))
    rbf = SoftProjectionRanker(10.0, targets="scores", kernel="rbf", random_state=0).fit(X[:150], gamma[:150])
    line = SoftProjectionRanker(10.0, targets="scores", random_state=0).fit(X[:150], gamma[:150])
    assert rbf.score(X[150:], gamma[150:]) > max(0.8, line.score(X[150:], gamma[150:]) + 0.3)


def test_bad_kernels():
    X, y = make_label_ranking(6, 2, n_labels=3, random_state=0)
    with pytest.raises(ValueError, match="must be square"):
        SoftProjectionRanker(kernel="precomputed").fit(X, y)
    with pytest.raises(ValueError, match="must be symmetric"):
        SoftProjectionRanker(kernel="precomputed").fit(np.arange(36.0).reshape(6, 6), y)
    with pytest.raises(ValueError, match=r"must return a matrix of shape \(6, 6\)"):
        SoftProjectionRanker(kernel=lambda A, B: A).fit(X, y)
    with pytest.raises(ValueError, match="negative numbers on its diagonal"):
        SoftProjectionRanker(kernel="precomputed").fit(np.diag([1.0, 1, 1, -2, 1, 1]), y)


def test_indefinite_kernels_are_told():
    X, y = make_label_ranking(30, 2, n_labels=3, random_state=0)
    gram = X @ X.T + np.eye(30)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SoftProjectionRanker(kernel="precomputed", random_state=0).fit(gram, y)
        # Of deficient rank, with eigenvalues that rounding makes negative
        SoftProjectionRanker(kernel="precomputed", random_state=0, fit_intercept=False).fit(X @ X.T, y)
    larger = gram.copy()
    larger[3, 5] = larger[5, 3] = 2 * np.sqrt(gram[3, 3] * gram[5, 5])  # than the two norms allow
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        quiet_gap(SoftProjectionRanker(kernel="precomputed", random_state=0, max_iter=20), larger, y)
    # Every two instances could have these inner products, all of them could not.
    signs = np.where(np.arange(30) % 2, 1.0, -1.0)
    apart = np.eye(30) - 0.9 * (1 - np.eye(30)) * np.outer(signs, signs)
    same = np.where(signs[:, np.newaxis] > 0, [1.0, 2.0, 3.0], [3.0, 2.0, 1.0])
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        quiet_gap(SoftProjectionRanker(0.01, kernel="precomputed", random_state=0, fit_intercept=False), apart, same)


# ---------------------------------------------------------------------------------------------------------------
# On the way
# ---------------------------------------------------------------------------------------------------------------


def test_gap_curve():
    X, y = make_label_ranking(300, 5, n_labels=6, concentration=0.5, random_state=0)
    ranker = SoftProjectionRanker(tol=1e-6, random_state=0).fit(X, y)
    epochs, seconds, primal, dual = ranker.gap_curve_.T
    assert (epochs[0], epochs[-1]) == (0, ranker.n_iter_)
    assert (np.diff(epochs) > 0).all()
    assert (np.diff(seconds) >= 0).all()
    assert (np.diff(dual) > 0).all()
    assert dual.max() <= primal.min()
    assert (primal[-1], dual[-1]) == (ranker.objective_, ranker.dual_objective_)
    assert ranker.gap_ == (primal[-1] - dual[-1]) / primal[-1] <= 1e-6
    assert len(ranker.loss_curve_) == ranker.n_iter_ + 1
    assert_allclose(ranker.loss_curve_[epochs.astype(int)], primal / len(X))
    assert not hasattr(ranker, "duals_")


@pytest.mark.parametrize("seed", range(12))
def test_bounds_hold_on_the_way(seed):
    """No dual objective is above any objective: the duals are feasible, and the coefficients are theirs."""
    rng = np.random.default_rng(seed)
    n, d, k = (int(v) for v in rng.integers([50, 1, 3], [250, 8, 8]))
    X, y = make_label_ranking(n, d, n_labels=k, concentration=0.5, random_state=seed)
    kernel, C = ("rbf", 10.0) if seed % 4 == 0 else ("linear", float(rng.choice([0.01, 1.0, 30.0])))
    ranker = SoftProjectionRanker(C, decomposition=NAMES[seed % len(NAMES)], kernel=kernel, tol=1e-9, random_state=0)
    primal, dual = quiet(ranker, X, y).gap_curve_[:, 2:].T
    assert dual.max() <= primal.min() * (1 + 1e-12)
    assert ranker.gap_ >= -1e-12 * primal[-1]


def test_stopping_early_is_said():
    X, y = make_label_ranking(60, 5, n_labels=6, concentration=0.5, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"did not converge: after max_iter=2 iterations the gap is") as caught:
        ranker = SoftProjectionRanker(max_iter=2, tol=1e-9).fit(X, y)
    assert caught[0].filename == __file__
    assert ranker.n_iter_ == 2
    assert ranker.gap_ > 1e-9


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_warm_start_goes_on(kernel):
    X, y = make_label_ranking(100, 5, n_labels=6, concentration=0.5, random_state=0)
    ranker = SoftProjectionRanker(kernel=kernel, max_iter=3, tol=1e-7, random_state=0)
    quiet(ranker, X, y)  # stopped early, so the duals are kept
    stopped = ranker.dual_objective_
    ranker.set_params(warm_start=True, max_iter=5000).fit(X, y)
    assert ranker.gap_curve_[0, 3] == pytest.approx(stopped, rel=1e-12)
    cold = SoftProjectionRanker(kernel=kernel, max_iter=5000, tol=1e-7, random_state=0).fit(X, y)
    assert ranker.objective_ == pytest.approx(cold.objective_, rel=1e-6)
    ranker.fit(X, y)  # nothing to do
    assert ranker.n_iter_ == 0
    for C in (0.5, 2.0):  # duals above the new bound are brought down to it
        ranker.set_params(C=C).fit(X, y)
        other = SoftProjectionRanker(C, kernel=kernel, max_iter=5000, tol=1e-7, random_state=0).fit(X, y)
        assert ranker.objective_ == pytest.approx(other.objective_, rel=1e-6)
    with pytest.raises(ValueError, match=r"continues with .* dual variables"):
        ranker.fit(X[:50], y[:50])
    with pytest.raises(ValueError, match="continues with the labels"):
        ranker.fit(X, y[:, :4])


def test_warm_start_from_duals_of_other_preferences():
    X, y = make_label_ranking(40, 3, n_labels=4, concentration=1.0, random_state=0)
    y[:20] = [1, 2, 2, 3]
    z = y[::-1].copy()  # as many duals, other subgraphs
    ranker = SoftProjectionRanker(warm_start=True, **tight).fit(X, y).fit(X, z)
    assert ranker.objective_ == pytest.approx(SoftProjectionRanker(**tight).fit(X, z).objective_, rel=1e-9)


def test_interrupted_fit_goes_on():
    X, y = make_label_ranking(100, 5, n_labels=6, concentration=0.5, random_state=0)

    class Interrupt:
        def __init__(self):
            self.epochs = 0

        def setup(self, estimator, context): ...
        def teardown(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context): ...
        def on_fit_task_end(self, estimator, context):
            self.epochs += 1
            if self.epochs == 4:
                raise KeyboardInterrupt

    ranker = SoftProjectionRanker(tol=1e-8, random_state=0).set_callbacks(Interrupt())
    with pytest.warns(UserWarning, match="interrupted after 4 iterations"):
        ranker.fit(X, y)
    assert ranker.n_iter_ == 4
    assert ranker.predict(X).shape == y.shape
    reached = ranker.dual_objective_
    ranker.set_callbacks().set_params(warm_start=True).fit(X, y)
    assert ranker.gap_curve_[0, 3] == pytest.approx(reached, rel=1e-12)
    assert ranker.gap_ <= 1e-8


def test_callbacks_see_every_epoch_and_can_stop():
    X, y = make_label_ranking(30, 3, n_labels=4, random_state=0)

    class Watch:
        def __init__(self, stop_at):
            self.scores, self.stop_at = [], stop_at

        def setup(self, estimator, context): ...
        def teardown(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context): ...
        def on_fit_task_end(self, estimator, context, *, fitted_estimator):
            if context.task_name == "epoch":
                self.scores.append(fitted_estimator.score(X, y))
            return len(self.scores) == self.stop_at

    for kernel in ("linear", "rbf"):
        watch = Watch(5)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ranker = SoftProjectionRanker(kernel=kernel, tol=0, random_state=0).set_callbacks(watch).fit(X, y)
        assert len(watch.scores) == ranker.n_iter_ == 5
        assert watch.scores[-1] == ranker.score(X, y)


def test_random_state():
    X, y = make_label_ranking(100, 5, n_labels=6, concentration=0.5, random_state=0)
    a, b, c = (SoftProjectionRanker(random_state=seed).fit(X, y) for seed in (0, 0, 1))
    assert_array_equal(a.coef_, b.coef_)
    assert not np.array_equal(a.coef_, c.coef_)


# ---------------------------------------------------------------------------------------------------------------
# Online
# ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_online_equals_projections_one_by_one(form, fit_intercept):
    X, y = make_label_ranking(15, 3, n_labels=4, concentration=1.0, random_state=0)
    y[4, 2], y[6] = NAN, [1, 1, 2, 2]
    graphs = as_graphs(y)
    rows = with_constant(X) if fit_intercept else X
    W, iterates = np.zeros((4, rows.shape[1])), []
    for i, x in enumerate(rows):
        row = graphs.levels[i].tolist()
        cut = cuts.levels(row)
        cut.sort(key=lambda edges: min(row[a] for a, _ in edges))  # best level first
        for edges in cut:
            W, _ = project_polyhedron(W, x, -np.array(row, float), *sides(edges), 0.5 / len(cut))
        iterates.append(W)
    ranker = SoftProjectionRanker(0.5, fit_intercept=fit_intercept).partial_fit(form(X), y)
    expected = np.mean(iterates, axis=0)
    found = coefficients(ranker) if fit_intercept else ranker.coef_
    assert_allclose(found, expected, atol=1e-12)
    assert_allclose(ranker.iterate_[:, : W.shape[1]], W, atol=1e-12)
    assert ranker.n_seen_ == 15
    halves = SoftProjectionRanker(0.5, fit_intercept=fit_intercept)
    halves.partial_fit(form(X[:4]), y[:4]).partial_fit(X[4:], y[4:])
    assert_allclose(halves.coef_, ranker.coef_, atol=1e-12)
    assert_allclose(halves.intercept_, ranker.intercept_, atol=1e-12)


def test_online_learns():
    X, y = make_label_ranking(2000, 5, n_labels=6, concentration=3.0, random_state=0)
    online, batch = SoftProjectionRanker(0.01), SoftProjectionRanker(0.01, random_state=0).fit(X[:1500], y[:1500])
    for first in range(0, 1500, 100):
        online.partial_fit(X[first : first + 100], y[first : first + 100])
    assert online.score(X[1500:], y[1500:]) > batch.score(X[1500:], y[1500:]) - 0.03


def test_online_after_batch_and_back():
    X, y = make_label_ranking(50, 3, n_labels=4, random_state=0)
    ranker = SoftProjectionRanker(0.1, random_state=0, warm_start=True).fit(X, y)
    fitted = coefficients(ranker)
    ranker.partial_fit(X[:1], y[:1])
    assert not hasattr(ranker, "gap_")
    x, row = with_constant(X)[0], -y[0]
    W = fitted
    for level in range(3):
        order = np.argsort(y[0])
        W, _ = project_polyhedron(W, x, row, order[level : level + 1], order[level + 1 :], 0.1 / 3)
    assert_allclose(coefficients(ranker), W, atol=1e-12)
    assert ranker.n_seen_ == 1
    ranker.fit(X, y)  # no duals to go on from: anew
    assert not hasattr(ranker, "n_seen_")
    assert ranker.gap_curve_[0, 3] == pytest.approx(0, abs=1e-12)
    assert_allclose(coefficients(ranker), fitted, atol=0.1)


def test_online_checks():
    X, y = make_label_ranking(10, 3, n_labels=4, random_state=0)
    ranker = SoftProjectionRanker().partial_fit(X, y)
    with pytest.raises(ValueError, match="continues with the labels"):
        ranker.partial_fit(X, y[:, :3])
    assert len(ranker.labels_) == 4
    with pytest.raises(ValueError, match="2 features"):
        ranker.partial_fit(X[:, :2], y)
    weighted, alone = clone(ranker), clone(ranker)
    weighted.partial_fit(X, y, sample_weight=np.arange(10) == 3)  # instances without weight are not seen
    alone.partial_fit(X[3:4], y[3:4])
    assert_array_equal(weighted.coef_, alone.coef_)
    assert weighted.n_seen_ == 1


# ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "parameters",
    [
        {"C": 0.0},
        {"C": -1.0},
        {"targets": "other"},
        {"weighting": "max"},
        {"margin": 2},
        {"kernel": "cosine"},
        {"gamma": -1.0},
        {"tol": -1.0},
        {"max_iter": 0},
        {"fit_intercept": "yes"},
        {"on_empty": "drop"},
    ],
)
def test_parameters_are_checked(parameters):
    X, y = load_iris_rankings(return_X_y=True)
    with pytest.raises(ValueError, match=next(iter(parameters))):
        SoftProjectionRanker(**parameters).fit(X, y)


def test_scores_need_numbers():
    X, y = load_iris_rankings(return_X_y=True)
    with pytest.raises(ValueError, match='targets="scores" needs a score matrix'):
        SoftProjectionRanker(targets="scores").fit(X, as_graphs(y))
    with pytest.raises(ValueError, match="'no such' is not known"):
        SoftProjectionRanker(decomposition="no such").fit(X, y)


@pytest.mark.parametrize("offset", [0.0, 1e6, 1.6e9])
def test_only_differences_of_scores_count(offset):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    scores = X @ rng.normal(size=(5, 6)) + rng.normal(size=(200, 6))
    scores[rng.random(scores.shape) < 0.2] = np.nan
    ranker = SoftProjectionRanker(targets="scores", tol=1e-6, random_state=0)
    plain, moved = clone(ranker).fit(X, scores), clone(ranker).fit(X, scores + offset)
    assert abs(moved.gap_) <= 1e-6 * (1 + moved.objective_)
    np.testing.assert_allclose(moved.objective_, plain.objective_, rtol=1e-5)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_fit_that_fails_leaves_the_model(kernel):
    X, y = make_label_ranking(20, 3, n_labels=4, random_state=0)[:2]
    ranker = quiet(SoftProjectionRanker(kernel=kernel, warm_start=True, random_state=0), X, y)
    before = ranker.decision_function(X)
    with pytest.raises(ValueError, match="dual variables"):
        ranker.fit(10 * X[:10], y[:10])
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="scale"):
        ranker.set_params(warm_start=False).fit(np.column_stack([X, X[:, 0]]) * 1e200, np.asarray(y)[:, :3])
    assert_array_equal(ranker.decision_function(X), before)
    assert ranker.predict(X).shape[1] == len(ranker.labels_) == 4


def test_sparse_entries_in_parts():
    X, y = make_label_ranking(20, 3, n_labels=4, random_state=0)[:2]
    parts = (np.repeat(X.ravel() / 2, 2), np.tile(np.repeat(np.arange(3), 2), 20), np.arange(0, 121, 6))
    in_parts = sparse.csr_array(parts, shape=X.shape)
    assert not in_parts.has_canonical_format
    for learn in ("fit", "partial_fit"):
        found, expected = (
            getattr(SoftProjectionRanker(0.1, tol=1e-8, random_state=0), learn)(data, y).coef_
            for data in (in_parts, sparse.csr_array(X))
        )
        assert_allclose(found, expected, atol=1e-10)
    assert in_parts.nnz == 120  # what was given is as it was


def hard(n, d):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, d))
    return X, ranks_from_scores(X @ rng.normal(size=(d, 6)) + rng.normal(size=(n, 6)))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("C", [1e2, 1e5])
@pytest.mark.parametrize("tol", [1e-3, 1e-7])
@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_large_C_converges(C, tol, kernel):
    X, y = hard(600, 10) if kernel == "linear" else hard(100, 3)
    ranker = SoftProjectionRanker(C, tol=tol, kernel=kernel, degree=2, random_state=0).fit(X, y)
    assert ranker.gap_ <= tol


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("load", [load_iris_rankings, load_wine_rankings])
@pytest.mark.parametrize("C", [1e2, 1e5])
def test_large_C_converges_with_all_margins_met(load, C):
    """Far below their bounds, the duals are those of a hard margin."""
    X, y = load(return_X_y=True)
    ranker = SoftProjectionRanker(C, tol=1e-5, random_state=0).fit(scale(X), y)
    assert ranker.gap_ <= 1e-5


def test_the_best_coefficients_are_kept():
    """Epochs increase the dual objective, and can lead away from coefficients that were better."""
    X, y = hard(200, 700)  # too many coefficients for an interior solution
    ranker = quiet_gap(SoftProjectionRanker(1e4, decomposition="disagreement", max_iter=10, random_state=0), X, y)
    assert ranker.gap_curve_[-1, 2] > 2 * ranker.objective_
    assert ranker.objective_ == ranker.gap_curve_[:, 2].min()
    assert ranker.dual_objective_ == ranker.gap_curve_[:, 3].max()
    half = 0.5 * float((ranker.coef_**2).sum() + (ranker.intercept_**2).sum())
    loss = SoftMarginLoss(as_graphs(y), "disagreement")
    assert_allclose(half + 1e4 * loss.value(ranker.decision_function(X)), ranker.objective_)


def test_one_huge_row():
    """Its square is a number, and its products with the duals may not be: no crash, no NaN, nothing worse than zero."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 3))
    y = ranks_from_scores(X @ rng.normal(size=(3, 4)) + 0.5 * rng.normal(size=(40, 4)))
    for size in (1e16, 1e40, 1e100):
        ranker = quiet(SoftProjectionRanker(random_state=0), np.concatenate([X[:1] * size, X[1:]]), y)
        assert np.isfinite(ranker.coef_).all()
        assert ranker.objective_ <= ranker.gap_curve_[0, 2]
