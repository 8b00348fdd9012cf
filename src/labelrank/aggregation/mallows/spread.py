r"""The spread theta of the Mallows model: how concentrated rankings are around the center.

The probability that a ranking reverses two labels that are m places apart in the center is

.. math:: r_m(\theta) = \frac{q^m (s_1 + \dots + s_m)}{s_m s_{m+1}}, \qquad q = e^{-\theta}, \quad
          s_j = 1 + q + \dots + q^{j-1},

It falls from 1/2 at theta = 0 to 0 at infinity. All estimates of theta solve one equation: the number of reversed pairs
equals its expectation, :math:`\sum_m N_m r_m(\theta)` with :math:`N_m` observed pairs m places apart. For complete
rankings the solution maximizes the likelihood, since the sum is then their mean distance to the center. Missing labels
remove pairs from both sides of the equation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from labelrank._arrays import FloatArray
from labelrank._memory import require_pair_matrices
from labelrank.aggregation.mallows.checks import check_count, check_numbers

LARGEST_SPREAD = 10.0  # of a prediction, if no pair disagrees with it
_STEPS = 55  # of bisection, for the full precision of a float


def mean_distance(theta: Any, n_labels: int) -> Any:
    r"""Mean Kendall distance between the center and a ranking drawn from the Mallows model.

    .. math::

       g_n(\theta) = \frac{n - 1}{e^\theta - 1} - \sum_{j=2}^n \frac{j}{e^{j \theta} - 1}

    It falls from n (n - 1)/4, the mean over all rankings, at theta = 0 to 0 at infinity.

    Parameters
    ----------
    theta : float or array-like
        The spread, ≥ 0; infinity is allowed.
    n_labels : int
        The number of labels n.

    Returns
    -------
    float or ndarray of the shape of `theta`

    See Also
    --------
    theta_from_mean_distance : The inverse.

    Examples
    --------
    >>> from labelrank.aggregation.mallows import mean_distance
    >>> mean_distance(0.0, 5)
    5.0
    >>> mean_distance([0.5, 1.0, 2.0], 5).round(3)
    array([3.067, 1.749, 0.58 ])
    """
    theta = check_numbers(theta, "theta", infinity=True)
    n = check_count("n_labels", n_labels)
    mean = reversals(theta, n)[..., 1:] @ np.arange(n - 1.0, 0, -1)  # n - m pairs are m places apart
    return mean if np.ndim(mean) else float(mean)


def theta_from_mean_distance(distance: Any, n_labels: int) -> Any:
    """Spread of the Mallows model with a given mean distance: the inverse of :func:`mean_distance`.

    For the mean distance of a sample of complete rankings to the center it is the maximum likelihood estimate.

    Parameters
    ----------
    distance : float or array-like
        Mean Kendall distances, ≥ 0.
    n_labels : int
        The number of labels n.

    Returns
    -------
    float or ndarray of the shape of `distance`
        0 from n (n - 1)/4 on, where the rankings are no closer to the center than random ones; infinity at 0.

    Examples
    --------
    >>> from labelrank.aggregation.mallows import theta_from_mean_distance
    >>> print(f"{theta_from_mean_distance(1.749, 5):.3f}")
    1.000
    >>> theta_from_mean_distance([0.0, 5.0, 7.0], 5)
    array([inf,  0.,  0.])
    """
    distance = check_numbers(distance, "distance", infinity=False)
    n = check_count("n_labels", n_labels)
    theta = _theta(np.r_[0.0, np.arange(n - 1.0, 0, -1)], distance)
    return theta if theta.ndim else float(theta)


def spread_of_counts(counts: Any, centers: Any, *, largest: float = LARGEST_SPREAD) -> FloatArray:
    """Spread of Mallows models around given centers, from pair counts; used by ``predict_spread`` of the rankers.

    Parameters
    ----------
    counts : array-like of shape (n_models, n_labels, n_labels)
        ``counts[i, a, b]`` is the weight of the votes for a before b, or its probability.
    centers : array-like of shape (n_models, n_labels)
        Ranks of the centers: the predicted rankings. Pairs that a center ties are left out.
    largest : float, default=10
        Upper limit of theta; infinity is allowed.

    Returns
    -------
    ndarray of shape (n_models,)
        theta, from 0 (the votes are no closer to the center than random ones, or there are none) to `largest` (no vote
        disagrees with the center).

    Examples
    --------
    >>> from labelrank.aggregation.mallows import spread_of_counts
    >>> agree, differ = [[0, 4], [0, 0]], [[0, 3], [1, 0]]
    >>> spread_of_counts([agree, differ], centers=[[1, 2], [1, 2]]).round(2)
    array([10. ,  1.1])
    """
    counts, apart = np.asarray(counts, dtype=np.float64), _places_apart(centers)
    q, k = apart.shape[:2]
    reversed_ = np.swapaxes(counts, 1, 2)
    ahead = apart > 0
    cells = (np.arange(q)[:, np.newaxis, np.newaxis] * k + apart)[ahead]
    observed: FloatArray = np.bincount(cells, weights=(counts + reversed_)[ahead], minlength=q * k).astype(np.float64)
    return np.minimum(_theta(observed.reshape(q, k), np.where(ahead, reversed_, 0.0).sum(axis=(1, 2))), largest)


def pair_probabilities(centers: Any, theta: Any) -> FloatArray:
    """P(a before b) of Mallows models.

    Parameters
    ----------
    centers : array-like of shape (n_models, n_labels)
        Ranks of the centers; labels with the same rank have probability 1/2.
    theta : array-like of shape (n_models,)
        Their spreads.

    Returns
    -------
    ndarray of shape (n_models, n_labels, n_labels)
        1/2 on the diagonal.

    Examples
    --------
    >>> from labelrank.aggregation.mallows import pair_probabilities
    >>> pair_probabilities([[2, 1]], theta=[1.0]).round(2)
    array([[[0.5 , 0.27],
            [0.73, 0.5 ]]])
    """
    apart = _places_apart(centers)
    reversed_ = reversals(np.asarray(theta, dtype=np.float64), apart.shape[1])
    r = reversed_[np.arange(len(apart))[:, np.newaxis, np.newaxis], np.abs(apart)]
    return np.where(apart >= 0, 1 - r, r)


def reversals(theta: FloatArray, n_labels: int) -> FloatArray:
    """r_m for m = 0, ..., n_labels - 1 along a new last axis, with 1/2 for m = 0."""
    powers, ratio = _powers_and_ratio(theta, n_labels)
    return powers * ratio


def log_reversal(theta: float, m: int) -> float:
    """Logarithm of r_m, finite where r_m is too small for a float."""
    return float(-m * theta + np.log(_powers_and_ratio(np.asarray(theta), m + 1)[1][m]))


def _powers_and_ratio(theta: FloatArray, n: int) -> tuple[FloatArray, FloatArray]:
    """q^m and (s_1 + ... + s_m)/(s_m s_(m+1)) for m < n, with 1/2 as the ratio for m = 0."""
    powers: FloatArray = np.ones((*theta.shape, n))
    powers[..., 1:] = np.exp(-theta)[..., np.newaxis]
    np.cumprod(powers, axis=-1, out=powers)
    s = np.cumsum(powers, axis=-1)
    ratio = np.full_like(powers, 0.5)
    ratio[..., 1:] = np.cumsum(s, axis=-1)[..., :-1] / (s[..., :-1] * s[..., 1:])
    return powers, ratio


def _theta(observed: FloatArray, discordant: FloatArray) -> FloatArray:
    """Solve sum_m observed_m r_m(theta) = discordant; observed : (..., n), discordant : (...).

    0 if at least half of the pairs are discordant, infinity if none is.
    """
    total = observed.sum(axis=-1)
    solvable = (discordant > 0) & (2 * discordant < total)
    low = np.zeros(np.broadcast_shapes(total.shape, discordant.shape))
    high = np.log(np.where(solvable, total, 1.0)) - np.log(np.where(solvable, discordant, 1.0))  # since r_m < q
    for _ in range(_STEPS):
        middle = (low + high) / 2
        more = (observed * reversals(middle, observed.shape[-1])).sum(axis=-1) > discordant
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    return np.where(solvable, (low + high) / 2, np.where(2 * discordant < total, np.inf, 0.0))


def _places_apart(centers: Any) -> npt.NDArray[np.intp]:
    """Number of places by which b is behind a, of shape (n_models, n_labels, n_labels)."""
    ranks = np.asarray(centers, dtype=np.float64)
    require_pair_matrices(ranks.shape, what="the Mallows model", copies=3)
    return (ranks[:, np.newaxis, :] - ranks[:, :, np.newaxis]).astype(np.intp)
