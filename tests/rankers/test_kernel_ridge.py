"""KernelRidgeRanker: scikit-learn's kernel ridge, dense two-sided systems, labels never seen."""

import warnings

import numpy as np
import pytest
from callbacks import Steps
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import rls as oracle
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from strategies import edge_rows, graphs_of, rank_matrices

from labelrank import PreferenceGraphs, ranks_from_scores
from labelrank.metrics import kendall_tau
from labelrank.rankers.kernel_ridge import KernelRidgeRanker
from labelrank.rankers.rank_rls import RankRLS

N, D, LABELS, P = 25, 3, 5, 2
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, D))
FEATURES = RNG.normal(size=(LABELS, P))
Y = ranks_from_scores(X @ RNG.normal(size=(D, P)) @ FEATURES.T + 0.5 * RNG.normal(size=(N, LABELS)))
MISSING = np.where(RNG.random(Y.shape) < 0.3, np.nan, np.ceil(Y / 2))
WEIGHT = RNG.uniform(0.2, 3, N)
KX = rbf_kernel(X, gamma=0.5)
KL = rbf_kernel(FEATURES, gamma=0.3)
WITH_LABELS = {"label_features": FEATURES, "label_kernel": "rbf", "label_kernel_params": {"gamma": 0.3}}
ignore_empty = pytest.mark.filterwarnings("ignore:y has .* without any observed pair:UserWarning")


def centered(scores):
    return scores - scores.mean(axis=1, keepdims=True)


# --- Closed forms


@pytest.mark.parametrize(
    ("kernel", "params"), [("linear", {}), ("rbf", {"gamma": 0.5}), ("poly", {"degree": 2, "gamma": 0.3})]
)
def test_without_label_features_it_is_ridge_on_centered_ranks(kernel, params):
    ours = KernelRidgeRanker(0.7, kernel=kernel, fit_intercept=False, **params).fit(X, Y, WEIGHT)
    theirs = KernelRidge(alpha=0.7, kernel=kernel, **params).fit(X, centered(-Y), WEIGHT)
    assert_allclose(ours.decision_function(X), theirs.predict(X), atol=1e-10)
    assert (ours.n_iter_, ours.gap_) == (1, 0.0)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
def test_an_intercept_is_a_constant_in_the_kernel(kernel):
    K = X @ X.T if kernel == "linear" else KX
    features = KX if kernel == "precomputed" else X
    ours = KernelRidgeRanker(0.7, kernel=kernel, gamma=0.5).fit(features, Y)
    theirs = KernelRidge(alpha=0.7, kernel="precomputed").fit(K + 1, centered(-Y))
    assert_allclose(ours.decision_function(features), theirs.predict(K + 1), atol=1e-10)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("labels", [{}, WITH_LABELS], ids=["identity", "label kernel"])
@pytest.mark.parametrize("y", [Y, MISSING], ids=["complete", "missing"])
def test_features_or_instances_whichever_are_fewer(form, labels, y):
    wide = np.hstack([X, RNG.normal(size=(N, N))])
    for features in (X, wide):
        expected = KernelRidgeRanker(0.7, kernel="precomputed", **labels).fit(features @ features.T, y)
        ours = KernelRidgeRanker(0.7, **labels).fit(form(features), y)
        scores = expected.decision_function(features @ features.T)
        assert_allclose(ours.decision_function(form(features)), scores, atol=1e-7)
        assert ours.coef_.shape == (LABELS, features.shape[1])


@pytest.mark.parametrize("labels", [False, True], ids=["identity", "label kernel"])
def test_complete_rankings_of_large_sparse_features(labels):
    """More rows and columns than a closed form is made for."""
    n, rng = 8200, np.random.default_rng(0)
    cells = np.repeat(np.arange(n), 3), rng.integers(0, n, 3 * n)
    features = sparse.csr_array((rng.normal(size=3 * n), cells), shape=(n, n))
    y = rng.permuted(np.tile([1.0, 2.0, 3.0], (n, 1)), axis=1)
    gram = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0]]) if labels else np.eye(3)
    params = {"label_features": gram, "label_kernel": "precomputed"} if labels else {}
    ranker = KernelRidgeRanker(0.7, fit_intercept=False, **params).fit(features, y)
    assert ranker.n_iter_ > 1
    assert ranker.loss_curve_[-1] == pytest.approx(ranker.loss_curve_.min())
    residual = centered(-y - ranker.decision_function(features))
    assert_allclose((features.T @ residual).T, 0.7 * ranker.coef_, atol=1e-6)


@pytest.mark.parametrize("weight", [None, WEIGHT, np.arange(N) % 3.0], ids=["equal", "weights", "zeros"])
@pytest.mark.parametrize("y", [Y, np.ceil(Y / 2), MISSING], ids=["complete", "ties", "missing"])
@pytest.mark.parametrize("precomputed", [False, True])
def test_label_kernels_equal_one_dense_system(y, weight, precomputed):
    laplacians, right = oracle.rows_of_rankings(y, weight)
    A = oracle.two_sided_solution(KX, KL, laplacians, right, 0.4)
    labels = {"label_features": KL, "label_kernel": "precomputed"} if precomputed else WITH_LABELS
    ranker = KernelRidgeRanker(0.4, kernel="rbf", gamma=0.5, fit_intercept=False, **labels).fit(X, y, weight)
    assert_allclose(ranker.decision_function(X), KX @ A @ KL, atol=1e-8)
    assert_allclose(ranker.dual_coef_, A, atol=1e-8)


@pytest.mark.parametrize("label_kernel", [KL, np.eye(LABELS)], ids=["label kernel", "identity"])
def test_it_is_rank_rls_on_pairs_of_instance_and_label(label_kernel):
    """Items are (instance, label), groups are instances, the kernel is a product; alpha is that times the labels."""
    K = np.kron(KX, label_kernel)
    items = RankRLS(0.4 * LABELS, kernel="precomputed").fit(K, -Y.ravel(), groups=np.repeat(np.arange(N), LABELS))
    labels = {"label_features": label_kernel, "label_kernel": "precomputed"}
    ranker = KernelRidgeRanker(0.4, kernel="rbf", gamma=0.5, fit_intercept=False, **labels).fit(X, Y)
    assert_allclose(ranker.decision_function(X).ravel(), items.predict(K), atol=1e-9)


@pytest.mark.parametrize("params", [{}, {"kernel": "rbf"}, WITH_LABELS, {"kernel": "rbf", **WITH_LABELS}], ids=str)
def test_conjugate_gradients_equal_the_closed_form(params):
    """An instance of hardly any weight, with a missing label, changes the way to the solution only."""
    y, weight = np.vstack([Y, [[1, 2, 3, 4, np.nan]]]), np.append(WEIGHT, 1e-9)
    features = np.vstack([X, X[:1]])
    params = {"gamma": 0.5, **params}
    closed = KernelRidgeRanker(0.4, **params).fit(X, Y, WEIGHT)
    iterated = KernelRidgeRanker(0.4, **params).fit(features, y, weight)
    assert (closed.n_iter_, closed.gap_) == (1, 0.0)
    assert iterated.n_iter_ > 1
    assert iterated.gap_ <= 1e-10
    assert_allclose(iterated.decision_function(X), closed.decision_function(X), atol=1e-6)
    for end in (0, -1):
        assert iterated.loss_curve_[end] == pytest.approx(closed.loss_curve_[end], rel=1e-6)


# --- Missing labels, edges


@ignore_empty
@settings(max_examples=25)
@given(rank_matrices(min_rows=1, min_labels=1))
def test_any_rank_matrix(y):
    n, k = y.shape
    features = np.random.default_rng(0).normal(size=(n, 2))
    laplacians, right = oracle.rows_of_rankings(y)
    A = oracle.two_sided_solution(features @ features.T + 1, np.eye(k), laplacians, right, 0.5)
    ranker = KernelRidgeRanker(0.5).fit(features, y)
    assert_allclose(ranker.decision_function(features), (features @ features.T + 1) @ A, atol=1e-7)
    graphs = PreferenceGraphs.from_rankings(y)
    assert_array_equal(KernelRidgeRanker(0.5).fit(features, graphs).coef_, ranker.coef_)


@ignore_empty
@settings(max_examples=25)
@given(edge_rows(), st.booleans())
def test_any_edges(rows_and_labels, weighted):
    rows, k = rows_and_labels
    if not rows:
        return
    n = len(rows)
    flat = [(i, a, b) for i, row in enumerate(rows) for a, b in row]
    votes = {edge: 1.0 + j % 3 for j, edge in enumerate(flat)} if weighted else dict.fromkeys(flat, 1.0)
    graphs = graphs_of(rows, k, votes if weighted else None)
    features = np.random.default_rng(0).normal(size=(n, 2))
    laplacians, right = oracle.rows_of_edges(flat, list(votes.values()), (n, k))
    A = oracle.two_sided_solution(features @ features.T + 1, np.eye(k), laplacians, right, 0.5)
    ranker = KernelRidgeRanker(0.5).fit(features, graphs)
    assert_allclose(ranker.decision_function(features), (features @ features.T + 1) @ A, atol=1e-7)


def test_a_battle_is_a_ranking_of_two():
    ranking = np.full((1, 6), np.nan)
    ranking[0, [1, 4]] = [2, 1]
    battle = PreferenceGraphs.from_pairs([0], [4], [1], n_labels=6)
    ranked, fought = (KernelRidgeRanker().fit([[2.0]], y).decision_function([[1.0]]) for y in (ranking, battle))
    assert_allclose(fought, ranked, atol=1e-12)


def test_only_the_order_of_ranks_counts():
    stretched = KernelRidgeRanker().fit(X, 10 * MISSING**3)
    assert_allclose(stretched.coef_, KernelRidgeRanker().fit(X, MISSING).coef_, atol=1e-9)


def test_a_cycle_has_no_order():
    cycle = PreferenceGraphs.from_pairs([0, 0, 0], [0, 1, 2], [1, 2, 0])
    assert_allclose(KernelRidgeRanker().fit([[1.0]], cycle).decision_function([[1.0]]), 0, atol=1e-9)


def test_stopping_early_is_said():
    with pytest.warns(ConvergenceWarning, match="did not converge: after max_iter=2 iterations the gap is"):
        ranker = KernelRidgeRanker(1e-3, max_iter=2).fit(X, MISSING)
    assert ranker.n_iter_ == 2
    assert ranker.gap_ > 1e-10


# --- Labels never seen


def preferences(seed=0, n=200, k=100, d=5, noise=0.5):
    """Users like what suits them: scores x·B·l of label features l."""
    rng = np.random.default_rng(seed)
    users, labels, B = rng.normal(size=(n, d)), rng.normal(size=(k, 4)), rng.normal(size=(d, 4))
    scores = users @ B @ labels.T
    return users, labels, ranks_from_scores(scores + noise * rng.normal(size=scores.shape)), ranks_from_scores(scores)


@pytest.mark.parametrize("label_kernel", ["linear", "rbf"])
def test_unseen_labels_are_ranked_nearly_as_well(label_kernel):
    users, labels, noisy, truth = preferences()
    train, test = slice(0, 120), slice(120, None)
    unseen = np.arange(100) % 5 == 0
    params = {"label_kernel": label_kernel, "label_kernel_params": {"gamma": 0.1}, "alpha": 1.0}
    partly = KernelRidgeRanker(label_features=labels[~unseen], **params).fit(users[train], noisy[train][:, ~unseen])
    wholly = KernelRidgeRanker(label_features=labels, **params).fit(users[train], noisy[train])
    for chosen in (unseen, np.ones(100, dtype=bool)):  # the new labels among themselves, and among all
        ours = kendall_tau(truth[test][:, chosen], partly.predict(users[test], label_features=labels[chosen]))
        best = kendall_tau(truth[test][:, chosen], wholly.predict(users[test], label_features=labels[chosen]))
        assert ours >= 0.9 * best
        assert best > 0.5


def test_new_labels_are_what_the_formula_says():
    laplacians, right = oracle.rows_of_rankings(Y)
    A = oracle.two_sided_solution(KX, KL, laplacians, right, 0.4)
    new = RNG.normal(size=(4, P))
    ranker = KernelRidgeRanker(0.4, kernel="rbf", gamma=0.5, fit_intercept=False, **WITH_LABELS).fit(X, Y)
    cross = rbf_kernel(new, FEATURES, gamma=0.3)
    assert_allclose(ranker.decision_function(X, label_features=new), KX @ A @ cross.T, atol=1e-8)
    given_kernel = KernelRidgeRanker(
        0.4, kernel="rbf", gamma=0.5, fit_intercept=False, label_features=KL, label_kernel="precomputed"
    ).fit(X, Y)
    assert_array_equal(given_kernel.predict(X, cross), ranker.predict(X, new))
    assert ranker.predict(X, new).shape == (N, 4)
    assert_allclose(ranker.decision_function(X, FEATURES), ranker.decision_function(X), atol=1e-10)


def test_label_features_that_tell_nothing_apart():
    ranker = KernelRidgeRanker(label_features=np.ones((LABELS, 1))).fit(X, Y)
    assert_allclose(ranker.decision_function(X), ranker.decision_function(X)[:, :1] @ np.ones((1, LABELS)), atol=1e-9)


def test_sparse_label_features_and_callables():
    dense = KernelRidgeRanker(label_features=FEATURES).fit(X, Y)
    thin = KernelRidgeRanker(label_features=sparse.csr_array(FEATURES)).fit(X, Y)
    assert_allclose(thin.decision_function(X), dense.decision_function(X), atol=1e-9)
    mine = KernelRidgeRanker(
        label_features=FEATURES, label_kernel=lambda A, B, c: c * A @ B.T, label_kernel_params={"c": 1.0}
    ).fit(X, Y)
    assert_allclose(mine.decision_function(X), dense.decision_function(X), atol=1e-9)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"label_features": FEATURES[1:]}, "label_features has 4 rows, but y has 5 labels"),
        ({"label_kernel": "precomputed"}, "needs the kernel matrix as label_features"),
        ({"label_kernel": "rbf"}, "are for label_features, which are not given"),
        ({"label_kernel_params": {"gamma": 1.0}}, "are for label_features, which are not given"),
        ({"label_kernel": "precomputed", "label_features": FEATURES}, "the label kernel must be square"),
        ({"label_features": FEATURES, "label_kernel_params": {"c": 1}}, "take gamma, degree and coef0"),
        ({"label_features": -np.eye(LABELS), "label_kernel": "precomputed"}, "not positive semi-definite"),
        ({"kernel": "precomputed"}, r"must be square, got shape \(25, 3\)"),
        ({"kernel_params": {"c": 1}}, "kernel_params are for a callable kernel"),
        ({"alpha": -1.0}, "'alpha' parameter"),
    ],
)
def test_parameters_that_make_no_sense(params, message):
    with pytest.raises(ValueError, match=message):
        KernelRidgeRanker(**params).fit(X, Y)


def test_new_labels_that_make_no_sense():
    with pytest.raises(ValueError, match="must be constructed with label_features"):
        KernelRidgeRanker().fit(X, Y).predict(X, label_features=FEATURES)
    with pytest.raises(ValueError, match="label_features has 3 columns, expected 2 as in fit"):
        KernelRidgeRanker(label_features=FEATURES).fit(X, Y).predict(X, label_features=np.eye(3))


# --- Edge cases


@ignore_empty
def test_nothing_to_learn():
    for y in (np.full((N, 3), np.nan), np.ones((N, 3)), np.ones((N, 1))):
        ranker = KernelRidgeRanker(kernel="rbf").fit(X, y)
        assert_allclose(ranker.decision_function(X), 0, atol=1e-12)
        assert_array_equal(ranker.predict(X), np.ones(y.shape))


@pytest.mark.parametrize("y", [Y, MISSING], ids=["complete", "missing"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_duplicates_and_constant_features(y, kernel):
    twice = np.hstack([np.vstack([X, X]), np.full((2 * N, 1), 7.0)])
    scores = KernelRidgeRanker(kernel=kernel).fit(twice, np.vstack([y, y])).decision_function(twice)
    assert_allclose(scores[:N], scores[N:], atol=1e-8)
    doubled = KernelRidgeRanker(kernel=kernel).fit(twice[:N], y, np.full(N, 2.0))
    assert_allclose(doubled.decision_function(twice[:N]), scores[:N], atol=1e-7)


def test_penalty_below_rounding():
    twice = np.vstack([X, X])
    with pytest.warns(UserWarning, match="below the rounding error"):
        tiny = KernelRidgeRanker(1e-20).fit(np.hstack([twice, twice]), np.vstack([Y, Y]))
    small = KernelRidgeRanker(1e-8).fit(np.hstack([twice, twice]), np.vstack([Y, Y]))
    assert_allclose(tiny.decision_function(np.hstack([X, X])), small.decision_function(np.hstack([X, X])), atol=1e-4)


@pytest.mark.parametrize("alpha", [1e-300, 1e-14])
def test_conjugate_gradients_below_rounding(alpha):
    """Rounding stops them before `max_iter`, with a warning, and the best iterate is no worse than scores of zero."""
    twice = np.vstack([X, X])
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        ranker = KernelRidgeRanker(alpha, kernel="rbf").fit(twice, np.vstack([MISSING, Y]))
    assert 1e-10 < ranker.gap_ <= 1
    assert np.abs(ranker.decision_function(X)).max() < 100
    linear = KernelRidgeRanker(alpha).fit(twice, np.vstack([MISSING, Y]))
    assert linear.gap_ <= 1e-10
    assert np.abs(linear.decision_function(X)).max() < 100


def test_a_residual_below_tol_is_the_true_one():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ranker = KernelRidgeRanker(1e-3, kernel="rbf").fit(X, MISSING)
    assert ranker.gap_ <= 1e-10


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("y", [Y, MISSING], ids=["complete", "missing"])
def test_features_that_overflow(kernel, y):
    with pytest.raises(ValueError, match="scale"):
        KernelRidgeRanker(kernel=kernel).fit(X * 1e200, y)


@pytest.mark.parametrize("params", [{}, {"kernel": "rbf"}], ids=str)
def test_progress_and_interruption(params):
    steps = Steps(stop_after=3)
    ranker = KernelRidgeRanker(1e-3, **params).set_callbacks(steps).fit(X, MISSING)
    assert ranker.n_iter_ == 3
    assert ranker.loss_curve_.shape == (4,)
    assert steps.names[:3] == ["iteration"] * 3
    with pytest.warns(UserWarning, match="KernelRidgeRanker was interrupted after"):
        ranker = KernelRidgeRanker(1e-3, **params).set_callbacks(Steps(interrupt_after=3)).fit(X, MISSING)
    assert ranker.score(X, MISSING) > 0


def test_grid_search_with_label_features():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search = GridSearchCV(KernelRidgeRanker(label_features=FEATURES), {"alpha": [0.1, 1.0]}, cv=3).fit(X, Y)
    assert search.best_score_ > 0.3
    assert search.predict(X, **{}).shape == (N, LABELS)
    assert not hasattr(clone(search.best_estimator_), "coef_")


def test_precomputed_kernels_are_symmetric():
    X, y = np.eye(3), np.array([[1, 2], [2, 1], [1, 2]])
    skewed = np.triu(np.ones((3, 3)))
    with pytest.raises(ValueError, match="the precomputed kernel must be symmetric"):
        KernelRidgeRanker(kernel="precomputed").fit(skewed, y)
    with pytest.raises(ValueError, match="the label kernel must be symmetric"):
        KernelRidgeRanker(label_features=[[1.0, 1.0], [0.0, 1.0]], label_kernel="precomputed").fit(X, y)
