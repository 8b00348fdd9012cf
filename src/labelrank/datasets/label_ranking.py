"""Generator of label ranking problems."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from sklearn.utils import check_random_state

from labelrank._arrays import FloatArray
from labelrank._compat import StrOptions, validate_params
from labelrank.aggregation.mallows.sampling import draw_around as mallows_noise
from labelrank.datasets._checks import COUNT, FRACTION, NON_NEGATIVE
from labelrank.datasets._utilities import linear_utilities, nonlinear_utilities
from labelrank.supervision import mask_rankings, ranks_from_scores


@validate_params(
    n_samples=COUNT,
    n_features=COUNT,
    n_labels=COUNT,
    utilities=[StrOptions({"linear", "nonlinear"})],
    noise=[StrOptions({"plackett_luce", "mallows"}), None],
    concentration=NON_NEGATIVE,
    ties=FRACTION,
    missing=FRACTION,
    missing_how=[StrOptions({"random", "top"})],
)
def make_label_ranking(
    n_samples: int = 100,
    n_features: int = 10,
    *,
    n_labels: int = 5,
    utilities: Literal["linear", "nonlinear"] = "linear",
    noise: Literal["plackett_luce", "mallows"] | None = "plackett_luce",
    concentration: float = 5.0,
    ties: float = 0.0,
    missing: float = 0.0,
    missing_how: Literal["random", "top"] = "random",
    return_utilities: bool = False,
    random_state: Any = None,
) -> Any:
    """Generate a label ranking problem.

    Every label has a utility for every instance. The utilities give the true ranking, to which noise, ties and missing
    labels are added, in this order. A later stage does not change the draws of an earlier one: with one `random_state`,
    different `noise`, `ties` and `missing` give the same `X` and the same true rankings.

    Parameters
    ----------
    n_samples : int, default=100
        Number of instances.
    n_features : int, default=10
        Number of features, independent and standard normal.
    n_labels : int, default=5
        Number of labels.
    utilities : {"linear", "nonlinear"}, default="linear"
        Utility functions, one per label, with variance about 1. ``"linear"``: random linear functions. ``"nonlinear"``:
        random smooth functions (sums of cosines), which a linear model cannot approximate.
    noise : {"plackett_luce", "mallows"} or None, default="plackett_luce"
        ``"plackett_luce"``: add Gumbel noise to `concentration` times the utilities, so that P(label l comes first in a
        set S) = exp(c u_l) / Σ_S exp(c u). Labels of similar utility swap easily. ``"mallows"``: P(ranking) is
        proportional to exp(-c · number of pairs on which it disagrees with the true one). ``None``: the true ranking.
    concentration : float, default=5.0
        Strength c ≥ 0 of the signal: the larger, the closer to the true ranking; 0 is pure noise. Ignored if `noise` is
        None.
    ties : float, default=0.0
        Probability with which each boundary between consecutive labels of a ranking is removed, independently; labels
        without a boundary between them are tied. 0 gives strict rankings, 1 ties all labels.
    missing : float, default=0.0
        Share of the labels to hide; see :func:`labelrank.mask_rankings`.
    missing_how : {"random", "top"}, default="random"
        ``"random"`` hides labels independently of each other, ``"top"`` keeps the best ones.
    return_utilities : bool, default=False
        Return the utilities too; ``ranks_from_scores(utilities)`` are the true rankings.
    random_state : int, RandomState instance or None, default=None
        Pass an int for reproducible output.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Features.
    y : ndarray of shape (n_samples, n_labels)
        Ranks from 1: smaller is better, equal is tied, NaN is hidden.
    utilities : ndarray of shape (n_samples, n_labels)
        Larger is better. Only if `return_utilities` is True.

    Examples
    --------
    >>> from labelrank.datasets import make_label_ranking
    >>> X, y = make_label_ranking(3, 2, n_labels=4, missing=0.5, missing_how="top", random_state=0)
    >>> y
    array([[ 2., nan, nan,  1.],
           [nan, nan,  2.,  1.],
           [nan, nan,  2.,  1.]])
    """
    # One stream per stage, so that a stage does not shift the draws of the next one.
    seeds = check_random_state(random_state).randint(np.iinfo(np.int32).max, size=4)
    signal, noisy, tying, hiding = (np.random.RandomState(seed) for seed in seeds)

    X = signal.standard_normal((n_samples, n_features))
    draw = linear_utilities if utilities == "linear" else nonlinear_utilities
    scores = draw(signal, X, n_labels)
    if noise == "plackett_luce":
        y = ranks_from_scores(concentration * scores + noisy.gumbel(size=scores.shape))
    else:
        y = ranks_from_scores(scores)
        if noise == "mallows":
            y = mallows_noise(noisy, y, concentration)
    if ties:
        y = tie_neighbors(tying, y, ties)
    if missing:
        y = mask_rankings(y, missing, how=missing_how, random_state=hiding)
    return (X, y, scores) if return_utilities else (X, y)


def tie_neighbors(rng: np.random.RandomState, ranks: FloatArray, probability: float) -> FloatArray:
    """Remove each boundary between consecutive labels of strict complete rankings with a probability."""
    n_samples, n_labels = ranks.shape
    kept = rng.random_sample((n_samples, n_labels - 1)) >= probability
    # The rank of a group is the strict rank of its first label.
    starts = np.where(kept, np.arange(2, n_labels + 1), 1)
    group_ranks = np.ones((n_samples, n_labels))
    group_ranks[:, 1:] = np.maximum.accumulate(starts, axis=1)
    return np.take_along_axis(group_ranks, ranks.astype(np.intp) - 1, axis=1)
