"""How far from the centre: theta and the mean Kendall distance, one a function of the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from labelrank.aggregation.mallows._checks import check_count, check_numbers


def mean_distance(theta: Any, n_labels: int) -> Any:
    r"""Mean Kendall distance between the centre and a ranking drawn from the Mallows model.

    .. math::

       g_n(\theta) = \frac{n - 1}{e^\theta - 1} - \sum_{j=2}^n \frac{j}{e^{j \theta} - 1}

    It falls from n (n - 1)/4, the mean over all rankings, at theta = 0 to 0 at infinity.

    Parameters
    ----------
    theta : float or array-like
        The spread, at least 0; infinity is allowed.
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
    # The mean of v over 0, ..., j - 1 with weights q^v, summed over j: sums of positive numbers, exact near 0 too.
    q = np.exp(-theta)
    power, s, first = np.ones_like(q), np.ones_like(q), np.zeros_like(q)
    mean = np.zeros_like(q)
    for v in range(1, check_count("n_labels", n_labels)):
        power = power * q
        s = s + power
        first = first + v * power
        mean = mean + first / s
    return mean if mean.ndim else float(mean)


def theta_from_mean_distance(distance: Any, n_labels: int) -> Any:
    """Spread of the Mallows model with this mean distance: the inverse of :func:`mean_distance`.

    With the mean distance of a sample of complete rankings to the centre it is the estimate of maximum likelihood.

    Parameters
    ----------
    distance : float or array-like
        Mean Kendall distances, at least 0.
    n_labels : int
        The number of labels n.

    Returns
    -------
    float or ndarray of the shape of `distance`
        0 at and above n (n - 1)/4, where the rankings are no nearer to the centre than random ones; infinity at 0.

    Examples
    --------
    >>> from labelrank.aggregation.mallows import theta_from_mean_distance
    >>> print(f"{theta_from_mean_distance(1.749, 5):.3f}")
    1.000
    >>> theta_from_mean_distance([0.0, 5.0, 7.0], 5)
    array([inf,  0.,  0.])
    """
    from labelrank._kernels.aggregation.mallows import thetas_from_mean_distances

    distance = check_numbers(distance, "distance", infinity=False)
    theta = thetas_from_mean_distances(distance.ravel(), check_count("n_labels", n_labels), np.inf).reshape(
        distance.shape
    )
    return theta if theta.ndim else float(theta)
