"""Complete rankings that extend incomplete ones: the most probable one, and the probability of all of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from labelrank.aggregation.mallows._checks import check_center
from labelrank.supervision import check_rankings, ranks_from_scores

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]

_LARGEST = 18  # free labels of a row: 2^18 sums for each observed label, a tenth of a second each


def most_probable_extension(partial: Any, center: Any) -> Matrix:
    """Complete rankings as the Mallows model would: the extension nearest to the centre.

    The observed labels keep their order. Each missing label goes where it disagrees with the fewest of them about the
    order in the centre, and of equally good places to the first one; labels that go to the same place keep the order of
    the centre. No extension has a smaller Kendall distance to the centre, so none is more probable, whatever theta is.

    Parameters
    ----------
    partial : array-like of shape (n_labels,) or (n_samples, n_labels)
        Ranks, NaN is not observed. Tied labels stay tied with each other and nothing is put between them; within this
        rule the result is as near as possible.
    center : array-like of shape (n_labels,)
        The ranks of the centre, without ties.

    Returns
    -------
    ndarray of the shape of `partial`
        Complete ranks from 1.

    Examples
    --------
    >>> from labelrank.aggregation.mallows import most_probable_extension
    >>> nan = float("nan")
    >>> most_probable_extension([nan, 1, 2, nan], center=[1, 2, 3, 4])
    array([1., 2., 3., 4.])
    >>> most_probable_extension([[nan, 2, 1, nan], [1, 1, nan, nan]], center=[1, 2, 3, 4])
    array([[1., 3., 2., 4.],
           [1., 1., 3., 4.]])
    """
    from labelrank._kernels.aggregation.mallows import complete_rankings

    ranks = check_center(center)
    single = np.ndim(partial) == 1
    rows = check_rankings([partial] if single else partial, ensure_min_samples=0, input_name="partial")
    if rows.shape[1] != len(ranks):
        raise ValueError(
            f"partial has {rows.shape[1]} labels and center has {len(ranks)}; they must be the same labels"
        )
    completed = np.empty_like(rows)
    complete_rankings(rows, ranks, completed)
    if len(completed):
        completed = ranks_from_scores(-completed)
    return completed[0] if single else completed


def log_probability(rows: Matrix, center: Vector, theta: float) -> Vector:
    """Log-probability that a drawn ranking has all preferences of a row; rows : (n, k), ties and NaN are free."""
    from labelrank._kernels.aggregation.mallows import kendall_distances, log_normalizer

    strict = (np.diff(np.sort(rows, axis=1), axis=1) > 0).all(axis=1) & ~np.isnan(rows).any(axis=1)
    log_p = np.empty(len(rows))
    log_p[strict] = _times(theta, kendall_distances(rows[strict], center)) - log_normalizer(theta, len(center))
    left = np.flatnonzero(~strict)
    if len(left):
        order = np.argsort(center)
        levels = np.stack([_levels(rows[i, order]) for i in left])
        different, which = np.unique(levels, axis=0, return_inverse=True)
        log_p[left] = np.array([_log_probability_of(row, theta) for row in different])[which.ravel()]
    return log_p


def _times(theta: float, distance: Any) -> Any:
    """-theta * distance, with 0 for infinity times 0."""
    return np.where(distance > 0, -theta * np.maximum(distance, 1), 0.0)


def _levels(row: Vector) -> npt.NDArray[np.int64]:
    """0, 1, ... for the groups of tied labels, best first, and -1 for a missing label."""
    level = np.full(len(row), -1)
    observed = ~np.isnan(row)
    level[observed] = np.unique(row[observed], return_inverse=True)[1]
    return level


def _log_probability_of(level: npt.NDArray[np.int64], theta: float) -> float:
    """The same for one row of levels, whose labels come in the order of the centre."""
    from labelrank._kernels.aggregation.extensions import log_weight_of_extensions
    from labelrank._kernels.aggregation.mallows import log_normalizer

    observed = np.flatnonzero(level >= 0)
    if level.max() < 1:
        return 0.0  # nothing is preferred to anything: all rankings
    # The order of some labels does not depend on labels before the first or after the last of them in the centre.
    level = level[observed[0] : observed[-1] + 1]
    if len(observed) == 2:
        log_reversed = _log_probability_of_reversed(len(level) - 1, theta)
        return log_reversed if level[0] == 1 else math.log1p(-math.exp(log_reversed))
    in_order = level[level >= 0]
    if math.isinf(theta):
        return 0.0 if (np.diff(in_order) >= 0).all() else -math.inf
    free = int((level < 0).sum() + sum(size for size in np.bincount(in_order) if size > 1))
    if free > _LARGEST:
        raise ValueError(
            f"a row of rankings leaves {free} labels free (tied, or missing and between two observed labels in the "
            f"centre), and the sum over its extensions is computed for up to {_LARGEST}; drop the row, or look at its "
            f"pairs with pairwise_proba()"
        )
    return float(log_weight_of_extensions(level, theta)) - float(log_normalizer(theta, len(level)))


def _log_probability_of_reversed(m: int, theta: float) -> float:
    """Log-probability of b before a for labels with a m places before b in the centre.

    -m theta + log((s_1 + ... + s_m)/(s_m s_(m+1))), which does not underflow as 1 - P(a before b) would.
    """
    s = np.cumsum(np.exp(-theta) ** np.arange(m + 1))
    return -m * theta + math.log(s[:m].sum() / (s[m - 1] * s[m]))
