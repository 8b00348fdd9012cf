"""Squared losses against explicit Laplacians: labels of instances, items in groups."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import rls as oracle
from strategies import edge_rows, graphs_of, rank_matrices

from labelrank import as_graphs
from labelrank.losses.squared import GroupedSquaredLoss, SquaredLoss

# --- Labels of instances


def check(loss, laplacians, right):
    """Value, gradient, curvature and quadratic form of all rows, and of some."""
    n, k = loss.shape
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(n, k))
    given_scores = scores.copy()
    out = np.full((n, k), np.nan)
    Lf = np.einsum("iab,ib->ia", laplacians, scores)
    values, gradient = np.sum(scores * (Lf - 2 * right), axis=1), 2 * (Lf - right)
    for rows in (slice(None), slice(0, n // 2), slice(n // 2, n)):
        part = np.ascontiguousarray(scores[rows])
        value = loss.value_and_gradient(part, out[rows], rows)
        assert_allclose(out[rows], gradient[rows], atol=1e-10)
        assert_allclose(value - loss.value(np.zeros_like(part), rows), sum(values[rows]), atol=1e-9)
        form = loss.laplacian().value_and_gradient(part, out[rows], rows)
        assert_allclose(form, np.sum(scores[rows] * Lf[rows]), atol=1e-9)
        loss.curvature(part, out[rows], rows)
        assert_allclose(out[rows], 2 * np.einsum("iaa->ia", laplacians[rows]), atol=1e-12)
        assert_allclose(loss.value(part, rows), value)
    assert_array_equal(scores, given_scores)


@given(rank_matrices(min_rows=1, min_labels=1), st.booleans())
def test_rankings(y, weighted):
    weight = np.arange(len(y)) % 3.0 if weighted else np.ones(len(y))
    laplacians, right = oracle.rows_of_rankings(y, weight)
    loss = SquaredLoss(as_graphs(y), sample_weight=weight)
    check(loss, np.array(laplacians), right)
    target = np.nan_to_num(-np.array([oracle.expected_ranks(row) for row in y]))
    assert_allclose(loss.value(target), 0, atol=1e-10)
    counted = (np.sum(~np.isnan(y), axis=1) > 1) & (weight > 0)
    assert_array_equal(loss.counted, counted)
    assert loss.is_uniform == (not np.isnan(y[counted]).any())


@given(edge_rows(), st.booleans())
def test_edges(rows_and_labels, weighted):
    rows, k = rows_and_labels
    flat = [(i, a, b) for i, row in enumerate(rows) for a, b in row]
    votes = {edge: 1.0 + j % 3 for j, edge in enumerate(flat)} if weighted else dict.fromkeys(flat, 1.0)
    weight = 1.0 + np.arange(len(rows)) % 3
    laplacians, right = oracle.rows_of_edges(flat, list(votes.values()), (len(rows), k), weight)
    loss = SquaredLoss(graphs_of(rows, k, votes if weighted else None), sample_weight=weight)
    check(loss, np.array(laplacians).reshape(-1, k, k), right)
    assert not loss.is_uniform


def test_it_does_not_cut_the_graphs():
    with pytest.raises(ValueError, match="'squared' does not use a decomposition"):
        SquaredLoss(as_graphs([[1, 2]]), "levels")


# --- Items in groups

M = 40


def items(m=M, n_groups=6, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=m), rng.integers(0, n_groups, m), rng.uniform(0.2, 3, m)


both_weightings = pytest.mark.parametrize("weighting", ["pairs", "groups"])


@both_weightings
def test_groups(weighting):
    y, groups, weight = items()
    W = oracle.adjacency(groups, weight)
    W = W if weighting == "pairs" else oracle.weigh_groups(W, groups)
    loss = GroupedSquaredLoss(y, groups, weight, weighting)
    L = oracle.laplacian(W)[np.ix_(loss.order, loss.order)]
    S = np.column_stack([loss.divergence(e) for e in np.eye(M)])
    assert_allclose(S @ S.T, L, atol=1e-12)
    f = np.random.default_rng(1).normal(size=M)
    assert_allclose(loss.differences(f), S.T @ f, atol=1e-12)
    assert_allclose(loss.target, S.T @ y[loss.order], atol=1e-12)
    out = np.empty(M)
    expected = oracle.pair_loss(loss.y, f, W[np.ix_(loss.order, loss.order)])
    assert_allclose(loss.value_and_gradient(f, out), expected)
    assert_allclose(out, 2 * L @ (f - loss.y), atol=1e-10)
    loss.curvature(f, out)
    assert_allclose(out, 2 * np.diag(L), atol=1e-12)
    assert_array_equal(groups[loss.order][loss.start[:-1]], np.unique(groups))
    whole = slice(int(loss.start[1]), int(loss.start[3]))
    assert_allclose(loss.differences(f[whole], whole), loss.differences(f)[whole], atol=1e-12)


def test_self_loops_cancel():
    """L does not depend on them, as long as degrees and adjacency have the same ones."""
    _, groups, weight = items()
    looped, plain = oracle.adjacency(groups, weight), oracle.adjacency(groups, weight, loops=False)
    assert_allclose(oracle.laplacian(looped), oracle.laplacian(plain), atol=1e-13)


def test_items_of_weight_zero_and_lone_items():
    loss = GroupedSquaredLoss(np.arange(5.0), ["a", "b", "a", "b", "c"], np.array([1.0, 0, 1, 1, 1]), "groups")
    assert_array_equal(loss.order, [0, 2, 3, 4])
    assert_allclose(loss.scale, [np.sqrt(2), np.sqrt(2), 0, 0])
    assert_allclose(loss.target, [-np.sqrt(2), np.sqrt(2), 0, 0])
    assert_array_equal(loss.counted, [True, True, False, False])
    assert len(GroupedSquaredLoss(np.arange(3.0), None, np.zeros(3), "pairs")) == 0


@pytest.mark.parametrize("weight", [[1e20, 1, 1], [1, 1e20, 1], [1e200, 1e180, 1e180], [1, 1e-9, 1]])
@pytest.mark.parametrize("before", [[], [1.0, 3.0]])
def test_weights_of_pairs_do_not_cancel(weight, before):
    """One row of 1e20 beside two of 1: the pairs weigh 2e20 + 1, which W² − Σ w² rounds away."""
    groups = [0] * len(before) + [1] * 3
    loss = GroupedSquaredLoss(np.zeros(len(groups)), groups, np.array(before + weight), "groups")
    w = np.array(weight) / max(weight)
    pairs = w[0] * w[1] + w[0] * w[2] + w[1] * w[2]
    assert_allclose(loss.scale[len(before) :] ** 2, w * w.sum() / pairs, rtol=1e-13)
