"""Systems of items in groups against dense formulas, for each route."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from oracles import rls as oracle
from scipy import sparse
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel

from labelrank.losses.squared import GroupedSquaredLoss
from labelrank.models.gram import KERNEL_BLOCK, Kernel
from labelrank.solvers.base import Stop
from labelrank.solvers.least_squares.items import (
    basis_system,
    centered_blocks,
    dual_system,
    primal_system,
    shifted,
    solve_iteratively,
)

M, D = 40, 3
STOP = Stop(max_iter=500, tol=1e-10)


def data(m=M, d=D, n_groups=6, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, d)), rng.normal(size=m), rng.integers(0, n_groups, m), rng.uniform(0.2, 3, m)


def dense_laplacian(groups, weight, weighting):
    W = oracle.adjacency(groups, weight)
    return oracle.laplacian(W if weighting == "pairs" else oracle.weigh_groups(W, groups))


def full(gram):
    return np.tril(gram) + np.tril(gram, -1).T


@pytest.mark.parametrize("weighting", ["pairs", "groups"])
@pytest.mark.parametrize("alpha", [0.01, 1.0, 100.0])
def test_every_route_gives_formulas_7_and_8(weighting, alpha):
    X, y, groups, weight = data()
    L = dense_laplacian(groups, weight, weighting)
    loss = GroupedSquaredLoss(y, groups, weight, weighting)
    order = loss.order
    K = rbf_kernel(X, gamma=0.5)
    dual = dual_system(K[np.ix_(order, order)], loss, M)
    R = np.arange(0, M, 3)
    basis, _ = basis_system(Kernel("rbf", 0.5), X[order], X[R], K[np.ix_(R, R)], loss)
    primal, _ = primal_system(X[order], loss)
    thin, _ = primal_system(sparse.csr_array(X)[order], loss)
    linear = np.linalg.solve(X.T @ L @ X + alpha * np.eye(D), X.T @ L @ y)
    for system, expected in (
        (dual, oracle.full_solution(K, L, y, alpha)),
        (basis, oracle.sparse_solution(K, R, L, y, alpha)),
        (primal, linear),
        (thin, linear),
    ):
        assert_allclose(system.solve(alpha), expected, rtol=1e-8, atol=1e-9)
        assert_allclose(system.path(np.array([1.0, alpha]))[:, 1], expected, rtol=1e-8, atol=1e-9)
        assert_allclose(system.solve(alpha), expected, rtol=1e-8, atol=1e-9)  # by the eigenvectors
    iterated = solve_iteratively(sparse.csr_array(X)[order], loss, alpha, STOP, None)
    assert_allclose(iterated.coef, linear, rtol=1e-7)
    assert_allclose(iterated.loss_curve[-1], oracle_value(X, y, L, linear, alpha), rtol=1e-7)


def oracle_value(X, y, L, w, alpha):
    return (y - X @ w) @ L @ (y - X @ w) + alpha * w @ w


def test_formula_7_is_the_minimum():
    """Against a minimizer that knows only the pair loss and the norm."""
    X, y, groups, _ = data(15)
    W, K = oracle.adjacency(groups), rbf_kernel(X, gamma=0.5)
    loss = GroupedSquaredLoss(y, groups, np.ones(15))
    a = dual_system(K[np.ix_(loss.order, loss.order)], loss, 15).solve(0.5)

    def objective(a):
        return oracle.pair_loss(y, K @ a, W) + 0.5 * a @ K @ a

    found = minimize(objective, np.zeros(15), tol=1e-10)
    assert objective(a) <= found.fun + 1e-9
    assert_allclose(K @ a, K @ found.x, atol=1e-4)


def test_one_group_is_ridge_with_an_intercept():
    """n Σ (y − f − mean)² + alpha ‖w‖²: scikit-learn's ridge with alpha / n."""
    X, y, _, _ = data()
    coef = primal_system(X, GroupedSquaredLoss(y, None, np.ones(M)))[0].solve(3.0)
    assert_allclose(coef, Ridge(alpha=3.0 / M).fit(X, y).coef_, rtol=1e-9)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=30), st.integers(1, 9), st.booleans())
def test_blocks_cut_anywhere_give_the_same_products(groups, n_rows, by_group):
    """Groups larger than a block, cut in the middle, single items."""
    m = len(groups)
    rng = np.random.default_rng(m)
    X, y, weight = rng.normal(size=(m, 2)) + 100, rng.normal(size=m) - 50, rng.uniform(0.1, 2, m)
    weighting = "groups" if by_group else "pairs"
    loss = GroupedSquaredLoss(y, groups, weight, weighting)
    gram, target = np.zeros((2, 2)), np.zeros(2)
    for block, centered_y in centered_blocks(lambda part: X[loss.order[part]], loss, KERNEL_BLOCK // n_rows):
        assert len(block) <= max(n_rows, 2 * m)
        gram, target = gram + block.T @ block, target + block.T @ centered_y
    L = dense_laplacian(groups, weight, weighting)
    assert_allclose(gram, X.T @ L @ X, rtol=1e-8, atol=1e-7)
    assert_allclose(target, X.T @ L @ y, rtol=1e-8, atol=1e-7)


# --- Sparse features


def test_sparse_columns_that_would_cancel():
    rng = np.random.default_rng(0)
    groups, y, weight = np.sort(rng.integers(0, 8, 200)), rng.normal(size=200), rng.uniform(0.5, 2, 200)
    base = rng.normal(size=(200, 5)) * (rng.random((200, 5)) < 0.3)
    steps = rng.integers(0, 7, 200).astype(float)
    own = np.where(groups == 3, 1e9, 0.0)  # constant where it is there at all
    holes = np.where(rng.random(200) < 0.2, 0.0, 5.0)
    X = np.column_stack([base, np.full(200, 1e9), 1e8 + steps, own, holes])
    plain = np.column_stack([base, np.zeros(200), steps, np.zeros(200), holes])
    loss = GroupedSquaredLoss(y, groups, weight)
    expected, ours = primal_system(plain, loss)[0], primal_system(sparse.csr_array(X), loss)[0]
    assert_allclose(full(ours.gram), full(expected.gram), rtol=1e-9, atol=1e-8)
    assert_allclose(ours.target, expected.target, rtol=1e-9, atol=1e-8)
    iterated = solve_iteratively(sparse.csr_array(X), loss, 0.5, STOP, None).coef
    assert_allclose(iterated, expected.solve(0.5), rtol=1e-7, atol=1e-9)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=20), st.integers(0, 10))
def test_shifted_columns_have_the_same_differences(groups, tenths):
    n = len(groups)
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 3)) * (10 * rng.random((n, 3)) < tenths)
    loss = GroupedSquaredLoss(np.zeros(n), groups, rng.uniform(0.1, 2, n), "groups")
    moved = shifted(sparse.csr_array(X)[loss.order], loss)
    for column in range(3):
        expected = loss.differences(X[loss.order, column])
        assert_allclose(loss.differences(moved.toarray()[:, column]), expected, atol=1e-12)
    assert moved.nnz == np.count_nonzero(X)


# --- Conjugate gradients


def test_conjugate_gradients_that_stop_early():
    X, y, groups, weight = data()
    loss = GroupedSquaredLoss(y, groups, weight)
    features = sparse.csr_array(X)[loss.order]
    state = solve_iteratively(features, loss, 0.5, Stop(2, 1e-10), None)
    assert state.n_iter == 2
    with pytest.warns(ConvergenceWarning, match="RankRLS did not converge: after max_iter=2 iterations the gap is"):
        state.warn("RankRLS", Stop(2, 1e-10))
    constant = GroupedSquaredLoss(np.zeros(M), None, np.ones(M))
    assert not solve_iteratively(features, constant, 1.0, STOP, None).coef.any()
