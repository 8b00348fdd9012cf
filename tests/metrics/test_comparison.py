"""The statistical tests, against SciPy, published numbers and formulas written out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from labelrank.metrics import (
    critical_difference,
    differing_pairs,
    friedman_test,
    holm,
    paired_comparison,
    signed_rank_test,
)


def test_paired_comparison():
    rng = np.random.RandomState(0)
    a, b = rng.normal(size=10), rng.normal(size=10)
    result = paired_comparison(a, b, test_share=0.1)
    differences = a - b
    t = differences.mean() / np.sqrt((1 / 10 + 0.1 / 0.9) * differences.var(ddof=1))
    assert result.p == pytest.approx(2 * stats.t.cdf(-abs(t), 9))
    assert paired_comparison(a, b).p == pytest.approx(stats.ttest_rel(a, b).pvalue)
    assert result.p > stats.ttest_rel(a, b).pvalue
    assert result.wins == (differences < 0).sum()
    assert result.difference == pytest.approx(differences.mean())
    assert np.isnan(paired_comparison(a, a, test_share=0.1).p)
    assert np.isnan(paired_comparison([1.0], [2.0], test_share=0.5).p)


def test_friedman():
    scores = np.random.default_rng(0).integers(0, 8, (14, 4)) * np.array([1.0, 1.0, 1.0, 2.0])  # with ties
    test = friedman_test(scores)
    by_hand = [[1 + sum(row > x) + (sum(row == x) - 1) / 2 for x in row] for row in scores]
    np.testing.assert_allclose(test.average_ranks, np.mean(by_hand, axis=0))
    expected = stats.friedmanchisquare(*scores.T)
    assert test.statistic == pytest.approx(expected.statistic)
    assert test.p == pytest.approx(expected.pvalue)
    for k, q in ((3, 2.343), (4, 2.569), (10, 3.164)):  # Demšar (2006), Table 5
        difference = friedman_test(np.random.default_rng(0).random((14, k))).critical_difference
        assert difference == pytest.approx(q * np.sqrt(k * (k + 1) / (6 * 14)), abs=1e-3)
    for few in ([[0.1, 0.2, 0.3]], [[0.1, 0.2], [0.3, 0.1]]):
        assert np.isnan(friedman_test(few).p)
    same = friedman_test(np.ones((3, 3)))
    assert np.isnan(same.p)
    assert same.average_ranks.tolist() == [2, 2, 2]


def test_the_signed_rank_test():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 20, (2, 60)) / 19
    assert signed_rank_test(a, b) == pytest.approx(stats.wilcoxon((a - b).round(12), method="asymptotic").pvalue)
    # The normal approximation written out: mean and variance of the sum of ranks, with the correction for ties.
    d = (a - b).round(12)
    d = d[d != 0]
    ranks, n = stats.rankdata(abs(d)), len(d)
    ties = np.unique(ranks, return_counts=True)[1]
    variance = n * (n + 1) * (2 * n + 1) / 24 - (ties**3 - ties).sum() / 48
    z = (ranks[d > 0].sum() - n * (n + 1) / 4) / np.sqrt(variance)
    assert signed_rank_test(a, b) == pytest.approx(2 * stats.norm.sf(abs(z)))
    assert signed_rank_test(a, a) == 1.0
    assert signed_rank_test(np.arange(1, 6), np.zeros(5)) == 2 / 2**5  # the approximation would say 0.043
    assert signed_rank_test([2, 2, 1, 0], [1, 1, 1, 0]) == 0.5  # ties


def test_holm():
    """The smallest p is multiplied by the number of tests, the next by one less; the order is kept."""
    np.testing.assert_allclose(holm([0.04, 0.01, 0.03, 0.5]), [0.09, 0.04, 0.09, 0.5])
    assert holm([0.9, 0.8]).tolist() == [1.0, 1.0]
    assert holm([]).tolist() == []


def test_pairs_that_differ():
    rng = np.random.default_rng(0)
    scores = rng.normal([0.0, 0.1, 8.0], size=(12, 3))
    apart = np.array([[0, 0, 1], [0, 0, 1], [1, 1, 0]], dtype=bool)
    np.testing.assert_array_equal(differing_pairs(scores, test="holm"), apart)
    ranks = friedman_test(scores).average_ranks
    expected = np.abs(ranks[:, None] - ranks) > critical_difference(3, 12)
    np.testing.assert_array_equal(differing_pairs(scores), expected)
    assert not differing_pairs(rng.normal(size=(12, 3))).any()  # Friedman's test does not reject
    assert differing_pairs([[1.0, 2.0]] * 9).any()  # two learners, for which there is no Friedman test
    assert not differing_pairs([[1.0, 2.0, 3.0]]).any()
    with pytest.raises(ValueError, match='test must be "nemenyi" or "holm"'):
        differing_pairs(scores, test="t")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: paired_comparison([1, 2, 3], [[1], [2], [4]]), r"same length, got shapes \(3,\) and \(3, 1\)"),
        (lambda: paired_comparison([1, 2, 3], [1]), "same length"),
        (lambda: paired_comparison([1, 2], [2, 1], test_share=1), "test_share must be from 0 to below 1"),
        (lambda: signed_rank_test([1, 2, 3], [1]), "same length"),
        (lambda: signed_rank_test([], []), "same length"),
        (lambda: friedman_test([1, 2, 3]), r"of shape \(n_sets, n_learners\), got shape \(3,\)"),
        (lambda: differing_pairs([[1, 2, 3], [1, 2, float("nan")]]), "scores contains NaN, first in row 1"),
        (lambda: holm([[0.1, 0.2]]), "p must be a vector of p-values"),
        (lambda: holm([0.1, 1.2]), "p must be a vector of p-values"),
    ],
)
def test_what_cannot_be_compared_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
