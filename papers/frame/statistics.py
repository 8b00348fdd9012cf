"""Tests for comparing learners: on the same folds, on the same examples, and over several data sets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

FloatArray = npt.NDArray[np.float64]


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
    >>> from papers.frame import paired_comparison
    >>> result = paired_comparison([0.1, 0.2, 0.1], [0.2, 0.3, 0.3], test_share=1 / 3)
    >>> result.wins, round(result.difference, 3), round(result.p, 3)
    (3, -0.133, 0.127)
    """
    differences = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    n = len(differences)
    mean = float(differences.mean())
    std = float(differences.std(ddof=1)) if n > 1 else math.nan
    p = math.nan
    if std > 0:
        t = mean / (std * math.sqrt(1 / n + test_share / (1 - test_share)))
        p = float(2 * stats.t.sf(abs(t), n - 1))
    return Paired(mean, int((differences < 0).sum()), p)


def signed_rank_test(first: FloatArray, second: FloatArray) -> float:
    """Return p of Wilcoxon's signed-rank test, two-sided, by the normal approximation.

    Pairs with equal numbers do not count; p is 1 if all are equal.

    Examples
    --------
    >>> import numpy as np
    >>> from papers.frame import signed_rank_test
    >>> p = signed_rank_test(np.array([0.1, 0.2, 0.3, 0.4, 0.0]), np.array([0.2, 0.4, 0.6, 0.8, 0.0]))
    >>> print(f"{p:.3f}")
    0.068
    """
    difference = (first - second).round(12)  # differences that are equal up to rounding errors are tied
    if not difference.any():
        return 1.0
    return float(stats.wilcoxon(difference[difference != 0], method="approx").pvalue)


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
    >>> from papers.frame import friedman_test
    >>> test = friedman_test([[0.9, 0.8, 0.7], [0.6, 0.5, 0.4], [0.9, 0.7, 0.8], [0.8, 0.7, 0.2]])
    >>> test.average_ranks, round(test.p, 3), round(test.critical_difference, 2)
    (array([1.  , 2.25, 2.75]), 0.039, 1.66)
    """
    scores = np.asarray(scores, dtype=np.float64)
    n, k = scores.shape
    ranks = np.asarray(stats.rankdata(-scores, axis=1).mean(axis=0))
    statistic, p, difference = math.nan, math.nan, math.nan
    if n > 1 and k > 2:
        if np.ptp(scores, axis=1).any():  # otherwise all learners are equal on all sets, and there is nothing to test
            statistic, p = (float(x) for x in stats.friedmanchisquare(*scores.T))
        difference = critical_difference(k, n, level=level)
    return Friedman(ranks, statistic, p, difference)


def critical_difference(n_learners: int, n_sets: int, *, level: float = 0.05) -> float:
    """Return Nemenyi's critical difference of average ranks."""
    q = float(stats.studentized_range.ppf(1 - level, n_learners, np.inf)) / math.sqrt(2)
    return q * math.sqrt(n_learners * (n_learners + 1) / (6 * n_sets))
