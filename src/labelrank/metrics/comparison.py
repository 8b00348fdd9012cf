"""Statistical tests that compare learners: on the same folds, on the same examples, and over several data sets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from labelrank._arrays import BoolArray, FloatArray

_FEW = 25  # differences up to which the signed-rank test is exact


@dataclass(frozen=True)
class Paired:
    """How much smaller the numbers of one learner are than those of another."""

    difference: float  #: mean of first minus second
    wins: int  #: pairs in which the first is smaller
    p: float  #: two-sided; NaN if all differences are equal


def paired_comparison(first: Any, second: Any, *, test_share: float = 0.0) -> Paired:
    """Compare two learners on the same folds, or on the same examples, by a paired t-test.

    Folds share training data. With their `test_share` the test is the corrected one of Nadeau and Bengio: the variance
    of the mean difference is taken as ``(1/n + test/train)`` times that of the differences instead of ``1/n`` times.

    Parameters
    ----------
    first, second : array-like of shape (n,)
        Numbers of the two learners.
    test_share : float, default=0.0
        Share of the instances in a test fold, such as 0.2 for 5 folds; 0 for independent examples.

    References
    ----------
    Nadeau, Bengio: Inference for the generalization error. Machine Learning 52, 2003.

    Examples
    --------
    >>> from labelrank.metrics import paired_comparison
    >>> result = paired_comparison([0.1, 0.2, 0.1], [0.2, 0.3, 0.3], test_share=1 / 3)
    >>> result.wins, round(result.difference, 3), round(result.p, 3)
    (3, -0.133, 0.127)
    """
    if not 0 <= test_share < 1:
        raise ValueError(f"test_share must be from 0 to below 1, such as 0.2 for 5 folds, got {test_share!r}")
    differences = _differences(first, second)
    n = len(differences)
    mean = float(differences.mean())
    std = float(differences.std(ddof=1)) if n > 1 else math.nan
    p = math.nan
    if std > 0:
        from scipy import stats  # half of the time of importing the metrics

        t = mean / (std * math.sqrt(1 / n + test_share / (1 - test_share)))
        p = float(2 * stats.t.sf(abs(t), n - 1))
    return Paired(mean, int((differences < 0).sum()), p)


def _differences(first: Any, second: Any) -> FloatArray:
    """First minus second, which are not broadcast."""
    a, b = (np.asarray(numbers, dtype=np.float64) for numbers in (first, second))
    if a.ndim != 1 or a.shape != b.shape or not len(a):
        raise ValueError(f"first and second must be vectors of the same length, got shapes {a.shape} and {b.shape}")
    return np.asarray(a - b)


def _table(scores: Any) -> FloatArray:
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"scores must be a matrix of shape (n_sets, n_learners), got shape {table.shape}")
    return table


def signed_rank_test(first: Any, second: Any) -> float:
    """Compare two learners over data sets or examples by Wilcoxon's signed-rank test.

    Parameters
    ----------
    first, second : array-like of shape (n,)
        Numbers of the two learners. Pairs with equal numbers do not count.

    Returns
    -------
    float
        p, two-sided: exact for up to 25 pairs, by the normal approximation beyond; 1 if all pairs are equal.

    Examples
    --------
    >>> from labelrank.metrics import signed_rank_test
    >>> signed_rank_test([0.1, 0.2, 0.3, 0.4, 0.0], [0.2, 0.4, 0.6, 0.8, 0.0])
    0.125
    """
    from scipy import stats

    # Differences that are equal up to rounding errors are tied.
    difference = _differences(first, second).round(12)
    different = difference[difference != 0]
    if not len(different):
        return 1.0
    method: Any = "auto" if len(different) <= _FEW else "asymptotic"
    return float(stats.wilcoxon(different, method=method).pvalue)


def holm(p: Any) -> FloatArray:
    """Adjust p-values for the number of tests, by Holm's step-down procedure.

    Parameters
    ----------
    p : array-like of shape (n_tests,)
        p-values.

    Returns
    -------
    ndarray of shape (n_tests,)
        Adjusted p-values: those below a level are significant at that level for all tests together.

    References
    ----------
    Holm: A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6, 1979.

    Examples
    --------
    >>> from labelrank.metrics import holm
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = np.asarray(p, dtype=np.float64)
    if p.ndim != 1 or ((p < 0) | (p > 1)).any():
        raise ValueError(f"p must be a vector of p-values from 0 to 1, got {p}")
    order = np.argsort(p)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    return adjusted


@dataclass(frozen=True)
class Friedman:
    """Average ranks of learners over data sets, and Friedman's test that all learners perform equally."""

    average_ranks: FloatArray  #: 1 is best; learners with equal scores share the mean of their ranks
    statistic: float  #: Friedman's chi-squared, corrected for ties; NaN with fewer than 3 learners or 2 sets
    p: float  #: of the statistic
    critical_difference: float  #: Nemenyi's: average ranks that differ by more differ significantly


def friedman_test(scores: Any, *, level: float = 0.05) -> Friedman:
    """Compare learners over data sets by their ranks.

    Parameters
    ----------
    scores : array-like of shape (n_sets, n_learners)
        One number for each learner and data set; larger is better.
    level : float, default=0.05
        Significance level of the critical difference.

    References
    ----------
    Demšar: Statistical comparisons of classifiers over multiple data sets. JMLR 7, 2006.

    Examples
    --------
    >>> from labelrank.metrics import friedman_test
    >>> test = friedman_test([[0.9, 0.8, 0.7], [0.6, 0.5, 0.4], [0.9, 0.7, 0.8], [0.8, 0.7, 0.2]])
    >>> test.average_ranks, round(test.p, 3), round(test.critical_difference, 2)
    (array([1.  , 2.25, 2.75]), 0.039, 1.66)
    """
    from scipy import stats

    scores = _table(scores)
    n, k = scores.shape
    ranks = np.asarray(stats.rankdata(-scores, axis=1).mean(axis=0))
    statistic, p, difference = math.nan, math.nan, math.nan
    if n > 1 and k > 2:
        if np.ptp(scores, axis=1).any():  # otherwise all learners are equal on all sets, and there is nothing to test
            statistic, p = (float(x) for x in stats.friedmanchisquare(*scores.T))
        difference = critical_difference(k, n, level=level)
    return Friedman(ranks, statistic, p, difference)


def critical_difference(n_learners: int, n_sets: int, *, level: float = 0.05) -> float:
    """Return Nemenyi's critical difference of average ranks.

    Parameters
    ----------
    n_learners, n_sets : int
        Number of learners and of data sets.
    level : float, default=0.05
        Significance level.

    Returns
    -------
    float
        Average ranks that differ by more differ significantly.

    Examples
    --------
    >>> from labelrank.metrics import critical_difference
    >>> round(critical_difference(4, 13), 2)
    1.3
    """
    from scipy import stats

    q = float(stats.studentized_range.ppf(1 - level, n_learners, np.inf)) / math.sqrt(2)
    return q * math.sqrt(n_learners * (n_learners + 1) / (6 * n_sets))


def differing_pairs(scores: Any, *, test: Literal["nemenyi", "holm"] = "nemenyi", level: float = 0.05) -> BoolArray:
    """Return which learners differ significantly over data sets.

    Parameters
    ----------
    scores : array-like of shape (n_sets, n_learners)
        One number for each learner and data set.
    test : {"nemenyi", "holm"}, default="nemenyi"
        ``"nemenyi"``: average ranks differ by more than the critical difference. ``"holm"``: signed-rank tests of all
        pairs, adjusted by Holm's procedure; the verdict on two learners does not depend on the others' ranks.
    level : float, default=0.05
        Significance level of all comparisons together.

    Returns
    -------
    bool ndarray of shape (n_learners, n_learners)
        Symmetric. No pair differs if Friedman's test does not reject that all learners perform equally.

    References
    ----------
    Demšar: Statistical comparisons of classifiers over multiple data sets. JMLR 7, 2006.

    Benavoli, Corani, Mangili: Should we really use post-hoc tests based on mean-ranks? JMLR 17, 2016.

    Examples
    --------
    >>> from labelrank.metrics import differing_pairs
    >>> differing_pairs([[0.9, 0.8, 0.7], [0.6, 0.5, 0.4], [0.9, 0.7, 0.8], [0.8, 0.7, 0.2]])
    array([[False, False,  True],
           [False, False, False],
           [ True, False, False]])
    """
    if test not in ("nemenyi", "holm"):
        raise ValueError(f'test must be "nemenyi" or "holm", got {test!r}')
    scores = _table(scores)
    if np.isnan(scores).any():  # in tests, no difference from a NaN would be significant
        row = int(np.argmax(np.isnan(scores).any(axis=1)))
        raise ValueError(f"scores contains NaN, first in row {row}; leave out data sets without scores of all learners")
    n, k = scores.shape
    friedman = friedman_test(scores, level=level)
    if n < 2 or (k > 2 and not friedman.p < level):
        return np.zeros((k, k), dtype=bool)
    if test == "nemenyi":
        ranks = friedman.average_ranks
        return np.asarray(np.abs(ranks[:, None] - ranks) > critical_difference(k, n, level=level))
    first, second = np.triu_indices(k, 1)
    p = holm([signed_rank_test(scores[:, i], scores[:, j]) for i, j in zip(first, second, strict=True)])
    differ = np.zeros((k, k), dtype=bool)
    differ[first, second] = differ[second, first] = p < level
    return differ
