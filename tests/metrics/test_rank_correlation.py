"""Taus and rho against literal loops and SciPy."""

import numpy as np
from hypothesis import assume, given
from metrics.cases import NAN, tied_incomplete
from numpy.testing import assert_allclose
from oracles import metrics as oracle
from scipy import stats

from labelrank import metrics, ranks_from_orders, ranks_from_scores


def _per_row(true, pred, statistic):
    values = []
    for t, p in zip(true, pred, strict=True):
        seen = ~np.isnan(t)
        if len(np.unique(t[seen])) > 1:
            values.append(statistic(t[seen], p[seen]) if len(np.unique(p[seen])) > 1 else 0.0)
    return np.mean(values)


@given(tied_incomplete())
def test_tau_b_and_rho_equal_scipy(case):
    true, pred = case
    assume(any(oracle.edges_of_ranks(row) for row in true))
    tau_b = _per_row(true, pred, lambda t, p: stats.kendalltau(t, p).statistic)
    rho = _per_row(true, pred, lambda t, p: stats.spearmanr(t, p).statistic)
    assert_allclose(metrics.kendall_tau_b(true, pred), tau_b, atol=1e-12)
    assert_allclose(metrics.spearman_rho(true, pred), rho, atol=1e-12)


def test_tau_of_complete_strict_rankings_equals_scipy():
    rng = np.random.default_rng(0)
    true, pred = ranks_from_scores(rng.random((50, 7))), ranks_from_scores(rng.random((50, 7)))
    expected = np.mean([stats.kendalltau(t, p).statistic for t, p in zip(true, pred, strict=True)])
    assert_allclose(metrics.kendall_tau(true, pred), expected, atol=1e-12)


def test_tau_is_of_ranks_not_of_orders():
    # b > c > a against b > a > c: one of three pairs is reversed, so tau is 1/3; on the order strings it would be -1.
    true, pred = (ranks_from_orders([list(order)], labels=list("abc")) for order in ("bca", "bac"))
    assert_allclose(metrics.kendall_tau(true, pred), 1 / 3)


def test_many_labels_cross_the_blocks_of_the_kernel():
    rng = np.random.default_rng(2)
    true, pred = rng.random((70, 300)), rng.random((70, 300))
    true[rng.random(true.shape) < 0.2] = NAN
    i, j = np.triu_indices(300, 1)
    values = []
    for t, p in zip(true, pred, strict=True):
        s = np.sign(t[i] - t[j]) * np.sign(p[i] - p[j])
        values.append(np.nanmean(s))
    assert_allclose(metrics.kendall_tau(true, pred), np.mean(values), atol=1e-12)


@given(tied_incomplete())
def test_tau_x_equals_literal_loops(case):
    true, pred = case
    assume(((~np.isnan(true)).sum(axis=1) >= 2).any())
    assert_allclose(metrics.kendall_tau_x(true, pred), oracle.kendall_tau_x(true, pred), atol=1e-12)
