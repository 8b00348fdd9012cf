"""Log-probabilities of complete, incomplete and tied rankings."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from labelrank._arrays import FloatArray
from labelrank.aggregation.mallows.spread import log_reversal
from labelrank.supervision import PreferenceGraphs

_LARGEST = 18  # free labels of a row: 2^18 sums for each observed label, a tenth of a second each


def log_probability(graphs: PreferenceGraphs, center: FloatArray, theta: float) -> FloatArray:
    """Log-probability that a drawn ranking has all preferences of an instance; ties and NaN may have any order."""
    n, k = graphs.shape
    balance, total = graphs.concordance(np.tile(center, (n, 1)))
    strict = total == k * (k - 1) / 2
    reversed_ = (total[strict] - balance[strict]) / 2
    log_p = np.empty(n)
    # Infinity times zero is zero here.
    log_p[strict] = np.where(reversed_ > 0, -theta * np.maximum(reversed_, 1), 0.0) - _log_normalizer(theta, k)
    left = np.flatnonzero(~strict)
    if len(left):
        levels = graphs[left].levels[:, np.argsort(center)].astype(np.int64)
        different, which = np.unique(levels, axis=0, return_inverse=True)
        log_p[left] = np.array([_log_probability_of(row, theta) for row in different])[which.ravel()]
    return log_p


def _log_normalizer(theta: float, n_labels: int) -> float:
    """Sum over j <= n of log s_j, s_j = 1 + q + ... + q^(j - 1) with q = exp(-theta)."""
    return float(np.log(np.cumsum(np.exp(-theta) ** np.arange(n_labels))).sum())


def _log_probability_of(level: npt.NDArray[np.int64], theta: float) -> float:
    """Log-probability of one row of levels, whose labels come in the order of the center."""
    from labelrank._kernels.aggregation.extensions import log_weight_of_extensions

    observed = np.flatnonzero(level >= 0)
    if level.max() < 1:
        return 0.0  # no label is preferred to another: all rankings agree
    # The order of some labels does not depend on labels before the first or after the last of them in the center.
    level = level[observed[0] : observed[-1] + 1]
    if len(observed) == 2:
        log_reversed = log_reversal(theta, len(level) - 1)
        return log_reversed if level[0] == 1 else math.log1p(-math.exp(log_reversed))
    in_order = level[level >= 0]
    if math.isinf(theta):
        return 0.0 if (np.diff(in_order) >= 0).all() else -math.inf
    free = int((level < 0).sum() + sum(size for size in np.bincount(in_order) if size > 1))
    if free > _LARGEST:
        raise ValueError(
            f"a row of rankings leaves {free} labels free (tied, or missing and between two observed labels in the "
            f"center), and the sum over its extensions is computed for up to {_LARGEST}; drop the row, or look at its "
            f"pairs with pairwise_proba()"
        )
    return float(log_weight_of_extensions(level, theta)) - _log_normalizer(theta, len(level))
