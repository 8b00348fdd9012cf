"""Two learners on the same folds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Paired:
    """How much smaller the numbers of one learner are than those of another, fold by fold."""

    difference: float  #: mean of first minus second
    std: float  #: sample standard deviation of the differences
    wins: int  #: folds in which the first is smaller
    losses: int  #: folds in which the second is smaller
    p: float  #: two-sided, corrected for folds that share training data; NaN where all differences are equal


def paired_comparison(first: Any, second: Any, *, test_share: float) -> Paired:
    """Compare two learners on the same folds of a cross-validation.

    The t-test is the corrected one of Nadeau and Bengio: training sets overlap, so the variance of the mean difference
    is taken as ``(1/n + test/train)`` times that of the differences, and not ``1/n`` times.

    Parameters
    ----------
    first, second : array-like of shape (n_folds,)
        Numbers of the two learners.
    test_share : float
        Share of the instances in a test fold: 0.2 for 5 folds.

    References
    ----------
    Nadeau, Bengio: Inference for the generalization error. Machine Learning 52, 2003.

    Examples
    --------
    >>> from labelrank.experiments import paired_comparison
    >>> result = paired_comparison([0.1, 0.2, 0.1], [0.2, 0.3, 0.3], test_share=1 / 3)
    >>> result.wins, result.losses, round(result.difference, 3), round(result.p, 3)
    (3, 0, -0.133, 0.127)
    """
    from scipy import stats

    differences = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    n = len(differences)
    mean = float(differences.mean())
    std = float(differences.std(ddof=1)) if n > 1 else math.nan
    p = math.nan
    if std > 0:
        t = mean / (std * math.sqrt(1 / n + test_share / (1 - test_share)))
        p = float(2 * stats.t.sf(abs(t), n - 1))
    return Paired(mean, std, int((differences < 0).sum()), int((differences > 0).sum()), p)
