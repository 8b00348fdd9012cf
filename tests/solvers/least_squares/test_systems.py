"""Least squares on pairs: systems, paths and leaving groups out against dense formulas."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import rls as oracle
from scipy import sparse
from scipy.optimize import minimize
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from labelrank.solvers.least_squares import systems as rls
from labelrank.solvers.least_squares.groups import apply_root, group_items, group_means
from labelrank.solvers.least_squares.iterative import conjugate_gradients, solve_iteratively
from labelrank.solvers.least_squares.kernels import Kernel
from labelrank.solvers.least_squares.kronecker import expected_scores
from labelrank.solvers.least_squares.leave_out import _SMALL, _quadratic_forms, held_out_scores
from labelrank.solvers.least_squares.sparse import shifted_columns
from labelrank.supervision.groups import group_codes

M, D = 40, 3


def data(m=M, d=D, n_groups=6, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, d)), rng.normal(size=m), rng.integers(0, n_groups, m), rng.uniform(0.2, 3, m)


def dense_laplacian(groups, weight, weighting):
    W = oracle.adjacency(groups, weight)
    return oracle.laplacian(W if weighting == "pairs" else oracle.weigh_groups(W, groups))


def full(gram):
    return np.tril(gram) + np.tril(gram, -1).T


def rows_of(matrix, items):
    return lambda a, b: np.array(matrix[items.order[a:b]], order="C")


both_weightings = pytest.mark.parametrize("weighting", ["pairs", "groups"])


# --- Groups and centring


@both_weightings
def test_the_root_squared_is_the_laplacian(weighting):
    _, y, groups, weight = data()
    items = group_items(y, groups, weight, weighting)
    B = apply_root(np.eye(M), items.code, items.scale)
    L = dense_laplacian(groups, weight, weighting)[np.ix_(items.order, items.order)]
    assert_allclose(B @ B.T, L, atol=1e-12)
    assert_allclose(B.T @ items.y, items.centred_y, atol=1e-12)
    assert_allclose(apply_root(items.y, items.code, items.scale), B @ items.y, atol=1e-12)


def test_self_loops_cancel():
    """L is the same with and without them, as long as degrees and adjacency have the same ones."""
    _, _, groups, weight = data()
    looped, plain = oracle.adjacency(groups, weight), oracle.adjacency(groups, weight, loops=False)
    assert_allclose(oracle.laplacian(looped), oracle.laplacian(plain), atol=1e-13)
    mixed = np.diag(looped.sum(axis=1)) - plain
    assert not np.allclose(mixed.sum(axis=1), 0)


@both_weightings
def test_the_laplacian_is_the_pair_loss(weighting):
    X, y, groups, weight = data(12)
    W = oracle.adjacency(groups, weight)
    W = W if weighting == "pairs" else oracle.weigh_groups(W, groups)
    f = X[:, 0]
    items = group_items(y - f, groups, weight, weighting)
    assert_allclose(items.centred_y @ items.centred_y, oracle.pair_loss(y, f, W))


def test_items_of_weight_zero_and_lone_items():
    items = group_items(np.arange(5.0), ["a", "b", "a", "b", "c"], np.array([1.0, 0, 1, 1, 1]), "groups")
    assert_array_equal(items.order, [0, 2, 3, 4])
    assert_allclose(items.scale, [np.sqrt(2), np.sqrt(2), 0, 0])
    assert_allclose(items.centred_y, [-np.sqrt(2), np.sqrt(2), 0, 0])
    assert len(group_items(np.arange(3.0), None, np.zeros(3), "pairs")) == 0


def test_names_of_groups():
    expected = group_codes([0, 1, 0, 2], 4)
    for names in (["x", "y", "x", "z"], [(1, 2), "y", (1, 2), "z"], [1, "1", 1, "a"], np.array([0.5, 1.5, 0.5, 2.5])):
        codes = group_codes(names, 4)
        assert_array_equal(codes[:, None] == codes, expected[:, None] == expected)
    for groups in (["a", None], [1.0, float("nan")], np.array(["a", None], dtype=object)):
        with pytest.raises(ValueError, match=r"groups has .*first: row 1"):
            group_codes(groups, 2)
    for groups in (["a", pd.NA], pd.array(["a", pd.NA], dtype="string"), np.array(["2020-01-01", "NaT"], "M8[D]")):
        with pytest.raises(ValueError, match=r"groups has .*first: row 1"):
            group_codes(groups, 2)
    for groups in (np.array([[0.0, 1.0], [0.0, np.nan]]), [(0,), (float("nan"),)], np.array([1, complex(0, np.nan)])):
        with pytest.raises(ValueError, match=r"groups has .*first: row 1"):
            group_codes(groups, 2)
    with pytest.raises(ValueError, match="masked"):
        group_codes(np.ma.array([1, 2], mask=[False, True]), 2)
    for groups in (np.array(3), {"a": 1, "b": 2, "c": 3}, {1, 2, 3}, b"abc"):
        with pytest.raises(ValueError, match="each of the 3 items, got"):
            group_codes(groups, 3)
    with pytest.raises(ValueError, match="each of the 3 items, got 2 entries"):
        group_codes(["a", "b"], 3)
    with pytest.raises(ValueError, match="got 'a'"):
        group_codes("a", 3)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=30), st.integers(1, 9), st.booleans())
def test_blocks_cut_anywhere_give_the_same_system(groups, rows, by_group):
    """Groups larger than a block, cut in the middle, single items: the update of Chan, Golub and LeVeque."""
    m = len(groups)
    rng = np.random.default_rng(m)
    X, y, weight = rng.normal(size=(m, 2)) + 100, rng.normal(size=m) - 50, rng.uniform(0.1, 2, m)
    weighting = "groups" if by_group else "pairs"
    items = group_items(y, groups, weight, weighting)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rls, "block_rows", lambda n: rows)
        system = rls.primal_system(rows_of(X, items), items, 2)
    L = dense_laplacian(groups, weight, weighting)
    assert_allclose(full(system.gram), X.T @ L @ X, rtol=1e-8, atol=1e-7)
    assert_allclose(system.target, X.T @ L @ y, rtol=1e-8, atol=1e-7)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.integers(1, 9))
def test_blocks_of_whole_groups(groups, rows):
    items = group_items(np.zeros(len(groups)), groups, np.ones(len(groups)), "pairs")
    blocks = list(items.blocks(rows))
    assert [a for a, _ in blocks] == [0, *[b for _, b in blocks[:-1]]]
    assert blocks[-1][1] == len(groups)
    assert all(a < b and a in items.start and b in items.start for a, b in blocks)
    for a, b in blocks:
        inner = items.segments(a, b)
        assert_array_equal(inner + a, [s for s in items.start if a <= s <= b])
        assert b - a <= rows or len(inner) == 2


def test_group_means():
    code, scale = np.array([0, 1, 0]), np.array([1.0, 2.0, 2.0])
    assert_allclose(group_means(np.array([1.0, 5.0, 2.0]), code, scale), [1.8, 5, 1.8])
    assert_allclose(group_means(np.array([1.0, 5.0, 2.0]), code, np.array([0.0, 1.0, 0.0])), [1.5, 5, 1.5])


# --- Systems and solutions


@both_weightings
@pytest.mark.parametrize("alpha", [0.01, 1.0, 100.0])
def test_three_routes_give_formulas_7_and_8(weighting, alpha):
    X, y, groups, weight = data()
    L = dense_laplacian(groups, weight, weighting)
    items = group_items(y, groups, weight, weighting)
    K = rbf_kernel(X, gamma=0.5)
    expected = oracle.full_solution(K, L, y, alpha)
    sorted_kernel = K[np.ix_(items.order, items.order)]
    dual = rls.dual_system(lambda a, b: sorted_kernel[a:b].copy(), items)
    z = rls.solve(dual, alpha)
    assert_allclose(apply_root(z, items.code, items.scale), expected[items.order], rtol=1e-8, atol=1e-9)
    R = np.arange(0, M, 3)
    factor, kept = rls.basis_factor(K[np.ix_(R, R)].copy())
    basis = rls.basis_system(rows_of(K[:, R[kept]], items), items, factor)
    a = rls.solve_factor(factor, rls.solve(basis, alpha))
    assert_allclose(a, oracle.sparse_solution(K, R, L, y, alpha)[kept], rtol=1e-8, atol=1e-9)
    linear = rls.solve(rls.primal_system(rows_of(X, items), items, D), alpha)
    assert_allclose(linear, np.linalg.solve(X.T @ L @ X + alpha * np.eye(D), X.T @ L @ y), rtol=1e-9)
    thin = rls.solve(rls.sparse_primal_system(sparse.csr_array(X)[items.order], items), alpha)
    assert_allclose(thin, linear, rtol=1e-9)
    assert_allclose(solve_iteratively(sparse.csr_array(X), items, alpha), linear, rtol=1e-7)


def test_formula_7_is_the_minimum():
    """Against a minimiser that knows only the pair loss and the norm."""
    X, y, groups, _ = data(15)
    W, K = oracle.adjacency(groups), rbf_kernel(X, gamma=0.5)
    items = group_items(y, groups, np.ones(15), "pairs")
    order = items.order
    z = rls.solve(rls.dual_system(lambda a, b: K[np.ix_(order[a:b], order)], items), 0.5)
    a = np.zeros(15)
    a[order] = apply_root(z, items.code, items.scale)

    def objective(a):
        return oracle.pair_loss(y, K @ a, W) + 0.5 * a @ K @ a

    found = minimize(objective, np.zeros(15), tol=1e-10)
    assert objective(a) <= found.fun + 1e-9
    assert_allclose(K @ a, K @ found.x, atol=1e-4)


def test_one_group_is_ridge_with_an_intercept():
    """n Σ (y − f − mean)² + alpha ‖w‖²: scikit-learn's ridge with alpha / n."""
    X, y, _, _ = data()
    items = group_items(y, None, np.ones(M), "pairs")
    coef = rls.solve(rls.primal_system(rows_of(X, items), items, D), 3.0)
    assert_allclose(coef, Ridge(alpha=3.0 / M).fit(X, y).coef_, rtol=1e-9)


def test_path_equals_solving_each():
    X, y, groups, weight = data()
    items = group_items(y, groups, weight, "pairs")
    alphas = np.logspace(-3, 3, 7)
    system = rls.primal_system(rows_of(X, items), items, D)
    each = [rls.solve(system, alpha) for alpha in alphas]
    spectrum = rls.decompose(system)
    path = spectrum.vectors @ (spectrum.target[:, None] * rls.shrink(spectrum.values, alphas))
    assert_allclose(path.T, each, rtol=1e-10)


def test_penalty_below_rounding():
    gram = np.diag([1.0, 1.0, 0.0])
    assert rls.solve(rls.RidgeSystem(gram, np.ones(3)), 1e-17) is None
    spectrum = rls.decompose(rls.RidgeSystem(gram, np.ones(3)))
    with pytest.warns(UserWarning, match="1 of 3 directions"):
        shrunk = rls.shrink(spectrum.values, np.array([1.0, 1e-17]))
    assert_allclose(shrunk, [[1, 0], [0.5, 1], [0.5, 1]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rls.shrink(spectrum.values, np.array([1e-8]))


def test_a_kernel_that_is_none():
    with pytest.raises(ValueError, match="not positive semi-definite: an eigenvalue is -1"):
        rls.decompose(rls.RidgeSystem(np.diag([-1.0, 2.0]), np.ones(2)))


def test_dependent_basis_vectors():
    K = np.ones((4, 4))
    K[3, :3] = K[:3, 3] = 0
    with pytest.warns(UserWarning, match="4 basis vectors has numerical rank 2: 2 of them"):
        factor, kept = rls.basis_factor(K.copy())
    assert_allclose(np.tril(factor) @ np.tril(factor).T, K[np.ix_(kept, kept)], atol=1e-15)


# --- Kernels


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_kernels_equal_scikit_learn(form):
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(7, 4)), rng.normal(size=(5, 4))
    assert_allclose(Kernel("linear")(form(X), form(Z)), X @ Z.T)
    assert_allclose(Kernel("rbf")(form(X), form(Z)), rbf_kernel(X, Z), rtol=1e-12)
    assert_allclose(Kernel("rbf", gamma=2.0)(form(X), form(Z)), rbf_kernel(X, Z, gamma=2.0), rtol=1e-12)
    ours = Kernel("poly", gamma=0.5, degree=2, coef0=3)(form(X), form(Z))
    assert_allclose(ours, polynomial_kernel(X, Z, degree=2, gamma=0.5, coef0=3))


def test_gaussian_kernel_far_from_the_origin():
    X = np.random.default_rng(0).normal(size=(6, 2))
    assert_allclose(Kernel("rbf")(X + 1e6, X + 1e6), Kernel("rbf")(X, X), rtol=1e-8)


def test_callable_kernels():
    X = np.arange(6.0).reshape(3, 2)
    assert_allclose(Kernel(lambda A, B, c: A @ B.T + c, params={"c": 2})(X, X), X @ X.T + 2)
    with pytest.raises(ValueError, match=r"must return the 3 x 3 values of two blocks of items, got \(1, 3\)"):
        Kernel(lambda A, B: np.ones((1, 3)))(X, X)
    with pytest.raises(ValueError, match="NaN or infinity"):
        Kernel(lambda A, B: A @ B.T * np.nan)(X, X)


# --- Leaving groups out


def test_quadratic_forms():
    rng = np.random.default_rng(0)
    weights = rng.random((5, 3))
    for n in (1, 4, _SMALL + 1):
        Z = rng.normal(size=(n, 5))
        expected = [(Z * weights[:, k]) @ Z.T for k in range(3)]
        assert_allclose(_quadratic_forms(Z, weights), expected, atol=1e-14)


@both_weightings
@pytest.mark.parametrize("m", [M, 150])
def test_held_out_scores_equal_refitting(weighting, m):
    """Dense refits with formulas (7) and (8), the basis kept."""
    X, y, groups, weight = data(m, n_groups=6 if m == M else 2)  # groups on both sides of _SMALL
    items = group_items(y, groups, weight, weighting)
    alphas = np.array([0.03, 1.0, 30.0])
    K = rbf_kernel(X, gamma=0.5) + 0.1 * np.eye(m)
    R = np.arange(0, m, 4)
    inner = items.order
    dual = rls.decompose(rls.dual_system(lambda a, b: K[np.ix_(inner[a:b], inner)], items))
    by_items = held_out_scores(dual.values, dual.target, dual.vectors, items, alphas, None)
    factor, kept = rls.basis_factor(K[np.ix_(R, R)].copy())
    rows = rows_of(K[:, R[kept]], items)
    spectrum = rls.decompose(rls.basis_system(rows, items, factor))
    P = rls.solve_factor(factor, spectrum.vectors)
    by_basis = held_out_scores(spectrum.values, spectrum.target, P, items, alphas, rows)
    for group in np.unique(groups):
        here, others = groups == group, np.flatnonzero(groups != group)
        place = here[items.order]
        L = np.zeros((m, m))
        L[np.ix_(others, others)] = dense_laplacian(groups[others], weight[others], weighting)
        w = weight[items.order][place]
        for k, alpha in enumerate(alphas):
            f = (K @ oracle.full_solution(K, L, y, alpha))[items.order][place]
            assert_allclose(by_items[place, k], f - np.average(f, weights=w), rtol=1e-8, atol=1e-8)
            f = (K[:, R] @ oracle.sparse_solution(K, R, L, y, alpha))[items.order][place]
            assert_allclose(by_basis[place, k], f - np.average(f, weights=w), rtol=1e-8, atol=1e-8)


# --- Targets of labels


def test_expected_scores_equal_the_oracle():
    ranks = np.array([[1, 2, 3, 4], [2, 2, 7, np.nan], [np.nan, 3, np.nan, np.nan], [5, 5, 5, 5]])
    levels = np.array([[0, 1, 2, 3], [0, 0, 1, -1], [-1, 0, -1, -1], [0, 0, 0, 0]])
    for row, ours in zip(ranks, expected_scores(levels), strict=True):
        expected = -oracle.expected_ranks(row)
        assert_allclose(ours, expected - np.nanmean(expected), atol=1e-14)


# --- Where rounding would win


def refitted(K, y, groups, alpha):
    """Scores of each group, by a dense solution of the other groups' pairs in an orthonormal basis of differences."""
    scores = np.empty(len(y))
    for group in np.unique(groups):
        here = groups == group
        B = np.vstack(
            [
                np.sqrt(1.0 * size) * np.linalg.svd(np.ones((1, size)))[2][1:] @ np.eye(len(y))[groups == other]
                for other in np.unique(groups[~here])
                for size in [int((groups == other).sum())]
            ]
        )
        scores[here] = (K @ B.T @ np.linalg.solve(B @ K @ B.T + alpha * np.eye(len(B)), B @ y))[here]
        scores[here] -= scores[here].mean()
    return scores


@pytest.mark.parametrize("alpha", [1e-300, 1e-20, 1e-3, 1.0, 1e6])
def test_held_out_scores_with_a_penalty_that_is_next_to_nothing(alpha):
    """More features than items, far larger than alpha: the model interpolates, and still has held-out scores."""
    rng = np.random.default_rng(1)
    groups, X, y = np.repeat(np.arange(12), 5), rng.normal(size=(60, 100)) * 1e6, rng.normal(size=60)
    K = X @ X.T
    items = group_items(y, groups, np.ones(60), "pairs")
    system = rls.decompose(rls.dual_system(lambda a, b: K[a:b].copy(), items))
    ours = held_out_scores(system.values, system.target, system.vectors, items, np.array([alpha]), None)
    assert_allclose(ours[:, 0], refitted(K, y, groups, alpha), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("d", [8, 50])
def test_held_out_scores_are_right_or_none(d):
    """By features: 44 differences are left without a group, enough for 8 features, too few for 50."""
    rng = np.random.default_rng(0)
    groups, X, y = np.repeat(np.arange(12), 5), rng.normal(size=(60, d)) * 1e6, rng.normal(size=60)
    alphas = np.array([1e-300, 1e-3, 1e9])
    items = group_items(y, groups, np.ones(60), "pairs")
    rows = rows_of(X, items)
    spectrum = rls.decompose(rls.primal_system(rows, items, d))
    ours = held_out_scores(spectrum.values, spectrum.target, spectrum.vectors, items, alphas, rows)
    if d == 8:
        for k in (1, 2):
            refit = np.empty(60)
            for group in range(12):
                here = groups == group
                L = dense_laplacian(groups[~here], np.ones(55), "pairs")
                A = X[~here].T @ L @ X[~here] + alphas[k] * np.eye(d)
                refit[here] = X[here] @ np.linalg.solve(A, X[~here].T @ L @ y[~here])
                refit[here] -= refit[here].mean()
            assert_allclose(ours[:, k], refit, rtol=1e-7, atol=1e-9)
        assert_allclose(ours[:, 0], ours[:, 1], rtol=1e-7)
    else:
        assert np.isnan(ours[:, :2]).all()
        assert np.isfinite(ours[:, 2]).all()


def test_sparse_columns_that_would_cancel():
    rng = np.random.default_rng(0)
    groups, y, weight = np.sort(rng.integers(0, 8, 200)), rng.normal(size=200), rng.uniform(0.5, 2, 200)
    base = rng.normal(size=(200, 5)) * (rng.random((200, 5)) < 0.3)
    steps = rng.integers(0, 7, 200).astype(float)
    own = np.where(groups == 3, 1e9, 0.0)  # constant where it is there at all
    holes = np.where(rng.random(200) < 0.2, 0.0, 5.0)
    X = np.column_stack([base, np.full(200, 1e9), 1e8 + steps, own, holes])
    plain = np.column_stack([base, np.zeros(200), steps, np.zeros(200), holes])
    items = group_items(y, groups, weight, "pairs")
    expected = rls.primal_system(rows_of(plain, items), items, 9)
    ours = rls.sparse_primal_system(sparse.csr_array(X)[items.order], items)
    assert_allclose(full(ours.gram), full(expected.gram), rtol=1e-9, atol=1e-8)
    assert_allclose(ours.target, expected.target, rtol=1e-9, atol=1e-8)
    assert_allclose(solve_iteratively(sparse.csr_array(X), items, 0.5), rls.solve(expected, 0.5), rtol=1e-7, atol=1e-9)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=20), st.integers(0, 10))
def test_shifted_columns_have_the_same_differences(groups, tenths):
    n = len(groups)
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 3)) * (10 * rng.random((n, 3)) < tenths)
    items = group_items(np.zeros(n), groups, rng.uniform(0.1, 2, n), "groups")
    shifted = shifted_columns(sparse.csr_array(X)[items.order], items)
    B = apply_root(np.eye(n), items.code, items.scale)
    assert_allclose(B.T @ shifted.toarray(), B.T @ X[items.order], atol=1e-12)
    assert shifted.nnz <= 2 * np.count_nonzero(X)


def test_weights_of_pairs_do_not_cancel():
    """One row of 1e20 beside two of 1: the pairs weigh 2e20 + 1, which W² − Σ w² rounds away."""
    for weight in ([1e20, 1, 1], [1, 1e20, 1], [1e200, 1e180, 1e180]):
        items = group_items(np.array([0.0, 1.0, 3.0]), None, np.array(weight), "groups")
        w = np.array(weight) / max(weight)
        pairs = w[0] * w[1] + w[0] * w[2] + w[1] * w[2]
        assert_allclose(items.scale**2, w * w.sum() / pairs, rtol=1e-14)


def test_groups_that_cannot_be_hashed():
    with pytest.raises(TypeError, match="numbers, strings or tuples; row 0 is a list"):
        group_codes([[1, 2], [1, 3]], 2)


def test_conjugate_gradients_keep_the_best_iterate():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(20, 20))
    A = A @ A.T + np.eye(20)
    b = rng.normal(size=20)
    found = conjugate_gradients(lambda z: A @ z, b, tol=1e-12, max_iter=200)
    assert_allclose(found.solution, np.linalg.solve(A, b), rtol=1e-8)
    assert found.gap <= 1e-12
    singular = conjugate_gradients(lambda z: np.array([z[0], 0.0]), np.array([1.0, 1.0]), tol=1e-10, max_iter=1000)
    assert singular.gap <= 1
    assert np.isfinite(singular.solution).all()
    assert conjugate_gradients(lambda z: np.inf * z, b, tol=1e-10, max_iter=9).gap == 1


def test_kernels_of_values_that_are_too_large():
    X = np.array([[1.0, -2.0], [-3.0, 1.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("linear", "rbf", "poly"):
            with pytest.raises(ValueError, match=f"the {name} kernel of these items has NaN or infinity: too large"):
                Kernel(name)(X * 1e200, X * 1e200)
        with pytest.raises(ValueError, match=r"degree=2.5 of a negative value"):
            Kernel("poly", degree=2.5)(X, X)
    with pytest.raises(ValueError, match="too large for floating point"):
        rls.RidgeSystem(np.array([[np.inf]]), np.ones(1))
