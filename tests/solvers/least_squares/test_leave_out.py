"""Scores of groups that are left out against refits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from oracles import rls as oracle
from sklearn.metrics.pairwise import rbf_kernel

from labelrank.losses.squared import GroupedSquaredLoss
from labelrank.models.gram import Kernel
from labelrank.solvers.least_squares.items import basis_system, dual_system, primal_system
from labelrank.solvers.least_squares.leave_out import held_out_scores


def dense_laplacian(groups, weight, weighting):
    W = oracle.adjacency(groups, weight)
    return oracle.laplacian(W if weighting == "pairs" else oracle.weigh_groups(W, groups))


@pytest.mark.parametrize("weighting", ["pairs", "groups"])
@pytest.mark.parametrize(("m", "n_groups"), [(40, 6), (150, 2)])
def test_held_out_scores_equal_refitting(weighting, m, n_groups):
    """Dense refits with formulas (7) and (8), the basis kept."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(m, 3)), rng.normal(size=m)
    groups, weight = rng.integers(0, n_groups, m), rng.uniform(0.2, 3, m)
    loss = GroupedSquaredLoss(y, groups, weight, weighting)
    order, alphas = loss.order, np.array([0.03, 1.0, 30.0])
    K = rbf_kernel(X, gamma=0.5) + 0.1 * np.eye(m)
    R = np.arange(0, m, 4)
    by_items = held_out_scores(dual_system(K[np.ix_(order, order)], loss, m), loss, alphas)
    system, rows = basis_system(Kernel("precomputed"), K[order][:, R], None, K[np.ix_(R, R)], loss)
    by_basis = held_out_scores(system, loss, alphas, rows)
    for group in np.unique(groups):
        here, others = groups == group, np.flatnonzero(groups != group)
        place = here[order]
        L = np.zeros((m, m))
        L[np.ix_(others, others)] = dense_laplacian(groups[others], weight[others], weighting)
        w = weight[order][place]
        for k, alpha in enumerate(alphas):
            f = (K @ oracle.full_solution(K, L, y, alpha))[order][place]
            assert_allclose(by_items[place, k], f - np.average(f, weights=w), rtol=1e-8, atol=1e-8)
            f = (K[:, R] @ oracle.sparse_solution(K, R, L, y, alpha))[order][place]
            assert_allclose(by_basis[place, k], f - np.average(f, weights=w), rtol=1e-8, atol=1e-8)


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
def test_a_penalty_that_is_next_to_nothing(alpha):
    """More features than items, far larger than alpha: the model interpolates, and still has held-out scores."""
    rng = np.random.default_rng(1)
    groups, X, y = np.repeat(np.arange(12), 5), rng.normal(size=(60, 100)) * 1e6, rng.normal(size=60)
    K = X @ X.T
    loss = GroupedSquaredLoss(y, groups, np.ones(60))
    ours = held_out_scores(dual_system(K.copy(), loss, 60), loss, np.array([alpha]))
    assert_allclose(ours[:, 0], refitted(K, y, groups, alpha), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("d", [8, 50])
def test_held_out_scores_are_right_or_none(d):
    """By features: 44 differences are left without a group, enough for 8 features, too few for 50."""
    rng = np.random.default_rng(0)
    groups, X, y = np.repeat(np.arange(12), 5), rng.normal(size=(60, d)) * 1e6, rng.normal(size=60)
    alphas = np.array([1e-300, 1e-3, 1e9])
    loss = GroupedSquaredLoss(y, groups, np.ones(60))
    system, rows = primal_system(X, loss)
    ours = held_out_scores(system, loss, alphas, rows)
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


def test_groups_of_many_sizes_in_several_blocks():
    """3,000 columns leave 699 rows to a block; groups of 1 to 900 items are never cut."""
    rng = np.random.default_rng(0)
    sizes = [1, 900, 300, 2, 600, 1]
    groups = np.repeat(np.arange(6), sizes)
    X, y = rng.normal(size=(len(groups), 4)), rng.normal(size=len(groups))
    wide = np.hstack([X, np.zeros((len(groups), 2996))])
    loss = GroupedSquaredLoss(y, groups, np.ones(len(groups)))
    narrow, rows = primal_system(X, loss)
    expected = held_out_scores(narrow, loss, np.array([10.0]), rows)
    padded = primal_system(X, loss)[0]
    padded.decompose()
    padded.directions = np.vstack([padded.directions, np.zeros((2996, 4))])
    ours = held_out_scores(padded, loss, np.array([10.0]), lambda part: wide[part].copy())
    assert_allclose(ours, expected, atol=1e-9)
