"""Several learners on several data sets: average ranks and what they may mean."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Friedman:
    """Average ranks of learners over data sets, and the test of Friedman that all learners are the same."""

    average_ranks: FloatArray  #: 1 is best; learners with equal scores share the mean of their ranks
    statistic: float  #: chi-squared of Friedman, corrected for ties; NaN with fewer than 3 learners or 2 sets
    p: float  #: of the statistic
    critical_difference: float  #: of Nemenyi: average ranks that differ by more are different at the level


def friedman_test(scores: Any, *, level: float = 0.05) -> Friedman:
    """Compare learners over data sets by their ranks.

    Parameters
    ----------
    scores : array-like of shape (n_sets, n_learners)
        One number for each learner and data set, larger is better.
    level : float, default=0.05
        Level of the critical difference.

    References
    ----------
    Demšar: Statistical comparisons of classifiers over multiple data sets. JMLR 7, 2006.

    Examples
    --------
    >>> from labelrank.experiments.friedman import friedman_test
    >>> test = friedman_test([[0.9, 0.8, 0.7], [0.6, 0.5, 0.4], [0.9, 0.7, 0.8], [0.8, 0.7, 0.2]])
    >>> test.average_ranks, round(test.p, 3), round(test.critical_difference, 2)
    (array([1.  , 2.25, 2.75]), 0.039, 1.66)
    """
    from scipy import stats

    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim != 2 or not scores.size or np.isnan(scores).any():
        raise ValueError(f"scores must be numbers of shape (n_sets, n_learners), got shape {scores.shape}")
    n, k = scores.shape
    ranks = stats.rankdata(-scores, axis=1).mean(axis=0)
    statistic, p, difference = math.nan, math.nan, math.nan
    if n > 1 and k > 2:
        if np.ptp(scores, axis=1).any():  # all learners equal on all sets: nothing to test
            statistic, p = (float(x) for x in stats.friedmanchisquare(*scores.T))
        q = float(stats.studentized_range.ppf(1 - level, k, np.inf)) / math.sqrt(2)
        difference = q * math.sqrt(k * (k + 1) / (6 * n))
    return Friedman(np.asarray(ranks), statistic, p, difference)
