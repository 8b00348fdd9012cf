"""RankRLS: the formulas, what must not matter, edge cases, scikit-learn."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from callbacks import Steps
from numpy.testing import assert_allclose, assert_array_equal
from oracles import rls as oracle
from rankers.rank_rls_items import GROUPS, MODELS, RNG, WEIGHT, D, K, L, M, R, X, Y, every_model
from scipy import sparse
from sklearn.base import clone, is_regressor
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks

from labelrank.metrics import group_disagreement
from labelrank.rankers.rank_rls import RankRLS
from labelrank.rankers.rank_rls_cv import RankRLSCV


@parametrize_with_checks([RankRLS(), RankRLS(kernel="rbf"), RankRLSCV()])
@pytest.mark.filterwarnings("ignore:.* was called without groups:UserWarning")
@pytest.mark.filterwarnings("ignore:.* was called without groups:UserWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("alpha", [0.01, 1.0, 100.0])
def test_formula_7(alpha):
    expected = oracle.full_solution(K, L, Y, alpha)
    model = RankRLS(alpha, kernel="rbf", gamma=0.3).fit(X, Y, groups=GROUPS)
    assert model.route_ == "dual"
    assert_allclose(model.dual_coef_, expected, atol=1e-8)
    assert_allclose(model.predict(X), K @ expected, atol=1e-8)
    assert_allclose(model.path([alpha])[0], expected, atol=1e-8)
    assert_allclose(RankRLS(alpha, kernel="precomputed").fit(K, Y, groups=GROUPS).predict(K), K @ expected, atol=1e-8)


@pytest.mark.parametrize("alpha", [0.01, 1.0, 100.0])
def test_formula_8(alpha):
    expected = oracle.sparse_solution(K, R, L, Y, alpha)
    model = RankRLS(alpha, kernel="rbf", gamma=0.3, basis=R).fit(X, Y, groups=GROUPS)
    assert_allclose(model.dual_coef_, expected, atol=1e-8)
    assert_array_equal(model.basis_, X[R])
    assert_allclose(model.path([1.0, alpha])[1], expected, atol=1e-8)
    square = RankRLS(alpha, kernel="precomputed", basis=R).fit(K, Y, groups=GROUPS)
    columns = RankRLS(alpha, kernel="precomputed", basis=R).fit(K[:, R], Y, groups=GROUPS)
    assert_allclose(square.predict(K), K[:, R] @ expected, atol=1e-8)
    assert_allclose(columns.predict(K[:, R]), K[:, R] @ expected, atol=1e-8)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_linear_kernels_by_every_closed_form(form):
    expected = np.linalg.solve(X.T @ L @ X + 0.5 * np.eye(D), X.T @ L @ Y)
    primal = RankRLS(0.5).fit(form(X), Y, groups=GROUPS)
    assert primal.route_ == "primal"
    assert not hasattr(primal, "basis_")
    assert_allclose(primal.coef_, expected, atol=1e-10)
    with pytest.warns(UserWarning, match="numerical rank 4"):
        basis = RankRLS(0.5, basis=R).fit(form(X), Y, groups=GROUPS)
    assert_allclose(basis.coef_, expected, atol=1e-10)
    assert_allclose(basis.predict(form(X)), X @ expected, atol=1e-10)
    wide = np.hstack([X, RNG.normal(size=(M, M))])
    dual = RankRLS(0.5).fit(form(wide), Y, groups=GROUPS)
    assert dual.route_ == "dual"
    expected = np.linalg.solve(wide.T @ L @ wide + 0.5 * np.eye(D + M), wide.T @ L @ Y)
    assert_allclose(dual.coef_, expected, atol=1e-9)
    assert_allclose(dual.path([0.5])[0], expected, atol=1e-9)
    for model in (primal, basis, dual):
        assert (model.n_iter_, model.gap_) == (1, 0.0)


def large_sparse_items(m=8200):
    """Items with more rows and columns than a closed form is made for."""
    rng = np.random.default_rng(0)
    cells = np.repeat(np.arange(m), 3), rng.integers(0, m, 3 * m)
    features = sparse.csr_array((rng.normal(size=3 * m), cells), shape=(m, m))
    return features, features @ rng.normal(size=m) + rng.normal(size=m), np.arange(m) // 10, rng.uniform(0.5, 2, m)


def test_large_sparse_features_by_conjugate_gradients():
    features, y, groups, weight = large_sparse_items()
    model = RankRLS(0.5).fit(features, y, weight, groups=groups)
    assert model.route_ == "iterative"
    assert model.n_iter_ > 1
    assert model.gap_ <= 1e-10
    error, total = y - model.predict(features), np.bincount(groups, weight)
    error -= (np.bincount(groups, weight * error) / total)[groups]
    assert_allclose(features.T @ (weight * total[groups] * error), 0.5 * model.coef_, atol=1e-6)
    with pytest.raises(ValueError, match=r"fitted by conjugate gradients, for its own alpha=0\.5 alone"):
        model.path([1.0])
    with pytest.raises(ValueError, match="X is too large for leaving out items in closed form"):
        RankRLSCV().fit(features, y, groups=groups)


def test_conjugate_gradients_report_progress_and_can_be_interrupted():
    features, y, groups, _ = large_sparse_items()
    asked = RankRLS(0.5).set_callbacks(Steps(stop_after=3)).fit(features, y, groups=groups)
    assert asked.n_iter_ == 3
    with pytest.warns(UserWarning, match="RankRLS was interrupted after"):
        interrupted = RankRLS(0.5).set_callbacks(Steps(interrupt_after=3)).fit(features, y, groups=groups)
    assert 0 < interrupted.score(features, y, groups=groups) <= 1


def test_one_group_is_ridge():
    assert_allclose(RankRLS(3.0).fit(X, Y, groups=None).coef_, Ridge(alpha=3.0 / M).fit(X, Y).coef_, rtol=1e-9)


def test_weighting_by_groups():
    W = oracle.weigh_groups(oracle.adjacency(GROUPS), GROUPS)
    expected = oracle.full_solution(K, oracle.laplacian(W), Y, 0.5)
    model = RankRLS(0.5, kernel="rbf", gamma=0.3, weighting="groups").fit(X, Y, groups=GROUPS)
    assert_allclose(model.dual_coef_, expected, atol=1e-8)


@every_model
def test_path_equals_fitting(model):
    alphas = [0.01, 0.3, 10.0]
    path = clone(model).fit(X, Y, WEIGHT, groups=GROUPS).path(alphas)
    for alpha, coef in zip(alphas, path, strict=True):
        fitted = clone(model).set_params(alpha=alpha).fit(X, Y, WEIGHT, groups=GROUPS)
        assert_allclose(coef, fitted.coef_ if model.kernel == "linear" else fitted.dual_coef_, rtol=1e-7, atol=1e-9)


def test_a_path_that_fails_changes_nothing():
    """The decomposition overwrites the system; the next call must not return other coefficients."""
    indefinite = X @ X.T - 3 * np.eye(M)
    model = RankRLS(1e4, kernel="precomputed").fit(indefinite, Y, groups=GROUPS)
    before = pickle.dumps(vars(model))
    for _ in range(2):
        with pytest.raises(ValueError, match="not positive semi-definite: its smallest eigenvalue is -33"):
            model.path([1.0, 2.0])
        with pytest.raises(ValueError, match="alphas must be one or more finite numbers > 0"):
            model.path([1.0, -2.0])
        assert pickle.dumps(vars(model)) == before


def test_path_is_kept():
    model = RankRLS(kernel="rbf").fit(X, Y, groups=GROUPS)
    unpickled = pickle.loads(pickle.dumps(model))
    first = model.path([1.0, 2.0])
    assert_array_equal(model.path([1.0, 2.0]), first)
    assert_allclose(unpickled.path([2.0])[0], first[1])
    assert_allclose(pickle.loads(pickle.dumps(model)).path([2.0])[0], first[1])
    assert_allclose(model.fit(X, Y, groups=GROUPS).path([1.0, 2.0]), first)
    for alphas in ([], [0.0], [-1.0], [np.nan], [[1.0]]):
        with pytest.raises(ValueError, match="alphas must be one or more finite numbers > 0"):
            model.path(alphas)


@every_model
def test_order_of_rows_and_names_of_groups(model):
    plain = clone(model).fit(X, Y, WEIGHT, groups=GROUPS).predict(X)
    order = np.random.default_rng(1).permutation(M)
    shuffled = clone(model)
    if not isinstance(model.basis, str):
        shuffled.set_params(basis=np.flatnonzero(np.isin(order, R)))
    shuffled.fit(X[order], Y[order], WEIGHT[order], groups=GROUPS[order])
    assert_allclose(shuffled.predict(X), plain, atol=1e-9)
    names = [("sentence", int(g)) if g % 2 else f"s{g}" for g in GROUPS]
    assert_allclose(clone(model).fit(X, Y, WEIGHT, groups=names).predict(X), plain, atol=1e-12)
    assert_allclose(clone(model).fit(X, Y, WEIGHT, groups=pd.Series(GROUPS).astype(str)).predict(X), plain, atol=1e-9)


@every_model
def test_a_constant_for_each_group_changes_nothing(model):
    plain = clone(model).fit(X, Y, groups=GROUPS).predict(X)
    moved = clone(model).fit(X, Y + 1e3 * GROUPS, groups=GROUPS).predict(X)
    assert_allclose(moved, plain, atol=1e-7)


def test_weights_are_numbers_of_copies():
    copies = np.random.default_rng(2).integers(0, 4, M)
    rows = np.repeat(np.arange(M), copies)
    for model in (MODELS["primal"], MODELS["dual"]):
        weighted = clone(model).fit(X, Y, copies, groups=GROUPS)
        repeated = clone(model).fit(X[rows], Y[rows], groups=GROUPS[rows])
        assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-9)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_groups_that_are_larger_than_a_block_of_rows(kernel):
    """9000 rows of 600 columns are worked off in three blocks; the first group is in all of them."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(9000, 600 if kernel == "linear" else 8)) + 100.0
    groups = np.searchsorted([8000, 8001], np.arange(9000), side="right")
    y, weight = features[:, 0] + 5.0 * groups + rng.normal(size=9000), rng.uniform(0.5, 2, 9000)
    basis = {} if kernel == "linear" else {"basis": np.arange(600), "gamma": 0.05}
    model = RankRLS(10.0, kernel=kernel, **basis).fit(features, y, weight, groups=groups)
    values = features if kernel == "linear" else rbf_kernel(features, features[:600], gamma=0.05)
    error, total = y - model.predict(features), np.bincount(groups, weight)
    error -= (np.bincount(groups, weight * error) / total)[groups]
    gradient = values.T @ (weight * total[groups] * error)
    norm = model.coef_ if kernel == "linear" else values[:600] @ model.dual_coef_
    scale = np.linalg.norm(values.T @ (weight * total[groups] * (y - y.mean())))
    assert np.linalg.norm(gradient - 10.0 * norm) <= 1e-9 * scale


def test_sparse_and_dense_with_kernels():
    for model in (MODELS["dual"], MODELS["basis"]):
        dense = clone(model).fit(X, Y, groups=GROUPS)
        thin = clone(model).fit(sparse.csr_matrix(X), Y, groups=GROUPS)
        assert_allclose(thin.predict(sparse.csr_matrix(X)), dense.predict(X), atol=1e-9)


def test_a_random_basis():
    a, b, c = (
        RankRLS(kernel="rbf", n_basis=10, random_state=seed).fit(X, Y, groups=GROUPS).basis_indices_
        for seed in (0, 0, 1)
    )
    assert_array_equal(a, b)
    assert not np.array_equal(a, c)
    assert len(np.unique(a)) == 10


def test_centers_of_k_means():
    model = RankRLS(0.1, kernel="rbf", n_basis=8, basis="kmeans", random_state=0)
    thin = clone(model).fit(sparse.csr_array(X), Y, groups=GROUPS)
    model.fit(X, Y, groups=GROUPS)
    assert model.basis_.shape == (8, D)
    assert not hasattr(model, "basis_indices_")
    assert model.score(X, Y, groups=GROUPS) > 0.7
    thin = RankRLS(0.1, kernel="rbf", n_basis=8, basis="kmeans", random_state=0).fit(
        sparse.csr_array(X), Y, groups=GROUPS
    )
    assert thin.predict(sparse.csr_array(X)).shape == (M,)


def test_all_items_as_basis_is_the_full_model():
    full = RankRLS(0.5, kernel="rbf", gamma=0.3).fit(X, Y, groups=GROUPS)
    basis = RankRLS(0.5, kernel="rbf", gamma=0.3, n_basis=M).fit(X, Y, groups=GROUPS)
    assert_allclose(basis.predict(X), full.predict(X), atol=1e-8)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_basis": M + 1}, "n_basis=61 is more than the 60 rows of X"),
        ({"basis": [0, M]}, "basis names row 60, X has 60 rows"),
        ({"basis": [-1, 3]}, "basis names row -1"),
        ({"basis": [3, 3]}, "more than once"),
        ({"basis": [0.5]}, "a list of rows of X"),
        ({"basis": [1, 2], "n_basis": 3}, "basis names 2 rows; leave out n_basis"),
        ({"basis": "kmeans"}, 'basis="kmeans" needs n_basis'),
        ({"gamma": -1.0}, "'gamma' parameter"),
        ({"kernel_params": {"c": 1}}, "kernel_params are for a callable kernel"),
        ({"alpha": 0.0}, "'alpha' parameter"),
        ({"kernel": "gauss"}, "'kernel' parameter"),
    ],
)
def test_parameters_that_make_no_sense(params, message):
    with pytest.raises(ValueError, match=message):
        RankRLS(**params).fit(X, Y, groups=GROUPS)


def test_precomputed_kernels_that_make_no_sense():
    with pytest.raises(ValueError, match="must be square"):
        RankRLS(kernel="precomputed").fit(K[:, :5], Y, groups=None)
    with pytest.raises(ValueError, match="needs features"):
        RankRLS(kernel="precomputed", basis="kmeans", n_basis=3).fit(K, Y, groups=None)
    indefinite = K - 5 * np.eye(M)
    with pytest.raises(ValueError, match="not positive semi-definite"):
        RankRLS(kernel="precomputed").fit(indefinite, Y, groups=GROUPS)


def test_callable_kernel():
    def kernel(A, B, gamma):
        return rbf_kernel(A, B, gamma=gamma)

    model = RankRLS(0.5, kernel=kernel, kernel_params={"gamma": 0.3}).fit(X, Y, groups=GROUPS)
    assert_allclose(model.predict(X), MODELS["dual"].fit(X, Y, groups=GROUPS).predict(X), atol=1e-9)


@every_model
def test_groups_of_one_item_teach_nothing(model):
    with pytest.warns(UserWarning, match="no pair to learn from"):
        fitted = clone(model).fit(X, Y, groups=np.arange(M))
    assert_allclose(fitted.predict(X), 0, atol=1e-12)


@every_model
def test_constant_scores(model):
    assert_allclose(clone(model).fit(X, np.full(M, 7.0), groups=GROUPS).predict(X), 0, atol=1e-9)


@pytest.mark.filterwarnings("ignore:the kernel of the .* basis vectors:UserWarning")
@every_model
def test_duplicates_and_constant_features(model):
    twice = np.vstack([X, X])
    flat = np.hstack([twice, np.full((2 * M, 1), 1e3)])
    for features in (twice, flat, np.ones((2 * M, 2))):
        fitted = clone(model).fit(features, np.tile(Y, 2), groups=np.tile(GROUPS, 2))
        scores = fitted.predict(features)
        assert np.isfinite(scores).all()
        assert_allclose(scores[:M], scores[M:], atol=1e-8)
    assert_allclose(scores - scores[0], 0, atol=1e-9)


def test_basis_larger_than_the_rank():
    twice, rows = np.vstack([X, X]), np.arange(2 * M)
    with pytest.warns(UserWarning, match="120 basis vectors has numerical rank 60: 60 of them depend on the others"):
        model = RankRLS(0.5, kernel="rbf", gamma=0.3, basis=rows).fit(twice, np.tile(Y, 2), groups=np.tile(GROUPS, 2))
    full = RankRLS(0.5, kernel="rbf", gamma=0.3).fit(twice, np.tile(Y, 2), groups=np.tile(GROUPS, 2))
    assert_allclose(model.predict(twice), full.predict(twice), atol=1e-8)
    assert np.count_nonzero(model.dual_coef_) == M


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_penalty_below_rounding(kernel):
    twice = np.hstack([np.vstack([X, X])] * 2)
    with pytest.warns(UserWarning, match="below the rounding error of the kernel"):
        tiny = RankRLS(1e-18, kernel=kernel, gamma=0.3).fit(twice, np.tile(Y, 2), groups=np.tile(GROUPS, 2))
    small = RankRLS(1e-9, kernel=kernel, gamma=0.3).fit(twice, np.tile(Y, 2), groups=np.tile(GROUPS, 2))
    assert_allclose(tiny.predict(twice), small.predict(twice), rtol=1e-3, atol=1e-3)


def test_a_large_group_is_no_mxm_laplacian():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(30_000, 3))
    model = RankRLS(kernel="rbf", n_basis=20, random_state=0).fit(features, features[:, 0], groups=None)
    assert model.score(features[:500], features[:500, 0]) > 0.8


@pytest.mark.parametrize("weight", [1e-320, 1e-160, 1e160, 1e308])
def test_weights_whose_products_underflow_or_overflow(weight):
    """Too small, they would teach nothing without a word."""
    for model in (RankRLS(), RankRLS(kernel="rbf"), RankRLSCV()):
        with pytest.raises(ValueError, match=r"products of the weights of items, .*; divide sample_weight by its"):
            model.fit(X, Y, np.full(len(Y), weight), groups=GROUPS)


def test_no_weight_at_all():
    with pytest.raises(ValueError, match="at least one non-zero number"):
        RankRLS().fit(X, Y, np.zeros(M), groups=GROUPS)


def test_a_single_item():
    with pytest.warns(UserWarning, match="no pair to learn from"):
        model = RankRLS().fit([[1.0, 2.0]], [3.0], groups=None)
    assert_allclose(model.predict([[5.0, 6.0]]), 0)


def test_score_is_the_agreement_per_group():
    model = RankRLS().fit(X, Y, groups=GROUPS)
    assert model.score(X, Y, groups=GROUPS) == 1 - group_disagreement(Y, model.predict(X), GROUPS)
    assert model.score(X, Y, groups=None) == 1 - group_disagreement(Y, model.predict(X), None)
    assert is_regressor(model)


def test_weighted_score():
    model = RankRLS().fit(X, Y, groups=GROUPS)
    scores = model.predict(X)
    assert_allclose(model.score(X, Y, np.full(M, 2.0), groups=GROUPS), model.score(X, Y, groups=GROUPS))
    errors = []
    for group in np.unique(GROUPS):
        rows = np.flatnonzero(group == GROUPS)
        pairs = [(i, j) for i in rows for j in rows if i < j]
        weight = [WEIGHT[i] * WEIGHT[j] for i, j in pairs]
        wrong = [(Y[i] - Y[j]) * (scores[i] - scores[j]) < 0 for i, j in pairs]
        errors.append(np.average(wrong, weights=weight))
    assert_allclose(model.score(X, Y, WEIGHT, groups=GROUPS), 1 - np.mean(errors))
    kept = GROUPS != 3
    assert_allclose(model.score(X, Y, kept, groups=GROUPS), model.score(X[kept], Y[kept], groups=GROUPS[kept]))
    with pytest.warns(UndefinedMetricWarning, match="no group has two items"):
        assert np.isnan(model.score(X, Y, WEIGHT, groups=np.arange(M)))


def test_groups_of_another_length():
    with pytest.raises(ValueError, match="each of the 60 items, got 59 entries"):
        RankRLS().fit(X, Y, groups=GROUPS[1:])


def test_items_of_weight_zero_are_not_there():
    weight = (np.arange(M) % 5 > 0).astype(float)
    kept = weight > 0
    for cv in (None, 3):
        weighted = RankRLSCV([0.1, 10.0], cv=cv).fit(X, Y, weight, groups=GROUPS)
        without = RankRLSCV([0.1, 10.0], cv=cv).fit(X[kept], Y[kept], groups=GROUPS[kept])
        assert_allclose(weighted.predict(X), without.predict(X), atol=1e-10)
        if cv is None:
            assert_allclose(weighted.scores_, without.scores_)


@pytest.mark.parametrize("model", [RankRLS(kernel="rbf", n_basis=9, random_state=0), RankRLSCV([1.0])], ids=str)
def test_pickle_clone_and_frames(model):
    frame = pd.DataFrame(X, columns=list("abcd"))
    fitted = clone(model).fit(frame, pd.Series(Y), groups=pd.Series(GROUPS))
    assert fitted.feature_names_in_.tolist() == list("abcd")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(frame), fitted.predict(frame))
    assert not hasattr(clone(fitted), "n_features_in_")


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_items_that_are_equal_within_each_group(kernel):
    x = np.random.default_rng(0).random((2, 9))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    X, groups = np.repeat(x, 3, axis=0), [0, 0, 0, 1, 1, 1]
    model = RankRLS(kernel=kernel).fit(X, np.arange(6.0), groups=groups)
    path = model.path([0.1, 1.0])
    assert np.isfinite(np.asarray(path)).all()
    np.testing.assert_allclose(np.diff(model.predict(X)[:3]), 0, atol=1e-12)


@pytest.mark.parametrize("zero", [np.arange(50, 60), np.arange(10), np.arange(0, 60, 7)], ids=["last", "first", "some"])
def test_precomputed_kernels_with_items_of_weight_zero(zero):
    weight = np.ones(M)
    weight[zero] = 0
    kept = weight > 0
    groups = np.sort(GROUPS)
    model = RankRLS(0.5, kernel="precomputed").fit(K, Y, weight, groups=groups)
    without = RankRLS(0.5, kernel="precomputed").fit(K[np.ix_(kept, kept)], Y[kept], groups=groups[kept])
    assert_allclose(model.predict(K), without.predict(K[:, kept]), atol=1e-10)
    search = RankRLSCV([0.1, 10.0], None, RankRLS(kernel="precomputed")).fit(K, Y, weight, groups=groups)
    few = RankRLSCV([0.1, 10.0], None, RankRLS(kernel="precomputed")).fit(
        K[np.ix_(kept, kept)], Y[kept], groups=groups[kept]
    )
    assert_allclose(search.scores_, few.scores_)


def test_a_basis_of_all_rows_in_another_order():
    """A square kernel has its columns in the order of the rows; values in the order of the basis are refused."""
    basis = np.roll(np.arange(M), 7)
    expected = RankRLS(0.5, kernel="rbf", gamma=0.3, basis=basis).fit(X, Y, groups=GROUPS)
    ours = RankRLS(0.5, kernel="precomputed", basis=basis).fit(K, Y, groups=GROUPS)
    assert_allclose(ours.predict(K), expected.predict(X), atol=1e-7)
    assert_array_equal(ours.columns_, basis)
    with pytest.raises(ValueError, match="a square precomputed kernel must be symmetric"):
        RankRLS(0.5, kernel="precomputed", basis=basis).fit(K[:, basis], Y, groups=GROUPS)
    with pytest.raises(ValueError, match=r"each of the 60 items, or for each of the 20 basis vectors, got shape"):
        RankRLS(kernel="precomputed", basis=R).fit(K[:, :30], Y, groups=GROUPS)
    first = RankRLS(0.5, kernel="precomputed", basis=[2, 0, 1]).fit(K[:, [2, 0, 1]], Y, groups=GROUPS)
    named = RankRLS(0.5, kernel="rbf", gamma=0.3, basis=[2, 0, 1]).fit(X, Y, groups=GROUPS)
    assert_allclose(first.predict(K[:, [2, 0, 1]]), named.predict(X), atol=1e-8)


@pytest.mark.parametrize("size", [1e6, 1e9])
def test_sparse_x_with_a_large_constant_column(size):
    X_large = sparse.hstack([sparse.csr_array(X), np.full((M, 1), size)], format="csr")
    coef = RankRLS(0.5).fit(X_large, Y, groups=GROUPS).coef_
    assert_allclose(coef, [*RankRLS(0.5).fit(X, Y, groups=GROUPS).coef_, 0.0], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_features_that_overflow(kernel):
    with pytest.raises(ValueError, match="scale"):
        RankRLS(kernel=kernel).fit(X * 1e200, Y, groups=GROUPS)
    with pytest.raises(ValueError, match="scale"):
        RankRLS(kernel=kernel).fit(sparse.csr_array(X * 1e200), Y, groups=GROUPS)


def test_score_with_one_dominating_weight():
    assert RankRLS().fit(X, Y, groups=None).score(X[:3], Y[:3], [1e20, 1, 1]) == pytest.approx(
        RankRLS().fit(X, Y, groups=None).score(X[:3], Y[:3], [1e6, 1, 1]), abs=1e-5
    )


@pytest.mark.parametrize(
    "fit", [lambda: RankRLS().fit(X, Y, groups=np.arange(M)), lambda: RankRLS().fit(X[:1], Y[:1], groups=None)]
)
def test_no_pair_to_learn_from_is_said(fit):
    with pytest.warns(UserWarning, match="there is no pair to learn from"):
        model = fit()
    assert not model.coef_.any()


@pytest.mark.parametrize("params", [{}, {"n_basis": 5, "random_state": 0}, {"n_basis": M}])
def test_precomputed_kernels_are_symmetric(params):
    skewed = K + np.triu(np.full((M, M), 0.1), 1)
    with pytest.raises(ValueError, match="must be symmetric"):
        RankRLS(kernel="precomputed", **params).fit(skewed, Y, groups=GROUPS)
    RankRLS(kernel="precomputed", **params).fit(K * (1 + 1e-12 * RNG.normal(size=K.shape)), Y, groups=GROUPS)


def test_a_fit_that_fails_leaves_the_model():
    model = RankRLS(kernel="rbf", n_basis=5, random_state=0).fit(X, Y, groups=GROUPS)
    before = model.predict(X)
    with pytest.raises(ValueError, match="basis"):
        model.set_params(n_basis=None, basis=[1000]).fit(X, Y, groups=GROUPS)
    assert_array_equal(model.predict(X), before)


def test_items_that_are_nearly_equal_within_groups():
    """Rounding errors are those of the kernel, and not of the small differences in it."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        groups = np.repeat([0, 1, 2], 4)
        features = rng.normal(size=(3, 2))[groups] + 1e-7 * rng.normal(size=(12, 2))
        model = RankRLS(1e-20, kernel="rbf", gamma=0.5)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of directions that are lost in rounding
            assert np.isfinite(model.fit(features, rng.normal(size=12), groups=groups).predict(features)).all()
