"""Generator of random comparisons of pairs of labels."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from labelrank._arrays import row_blocks
from labelrank._compat import Interval, validate_params
from labelrank.datasets._checks import COUNT, NON_NEGATIVE
from labelrank.datasets._utilities import linear_utilities
from labelrank.supervision import PreferenceGraphs

Indices = npt.NDArray[np.intp]

_KEYS_AT_ONCE = 2_000_000


@validate_params(
    n_instances=COUNT,
    n_labels=[Interval(Integral, 2, None, closed="left")],
    n_features=COUNT,
    n_battles=[Interval(Integral, 0, None, closed="left"), tuple],
    concentration=NON_NEGATIVE,
)
def make_pairwise_battles(
    n_instances: int = 100,
    n_labels: int = 6,
    *,
    n_features: int = 5,
    n_battles: int | tuple[int, int] = 5,
    concentration: float = 3.0,
    return_utilities: bool = False,
    random_state: Any = None,
) -> Any:
    """Generate battles between labels: "for this instance, a beat b".

    Every label has a utility u for every instance, a random linear function of its features. For each instance a few
    random pairs of labels are compared once each, and a beats b with the Bradley-Terry probability
    1 / (1 + exp(-c (u_a - u_b))), where c is the `concentration`. The battles of an instance may contradict each other:
    a beats b, b beats c, c beats a.

    Parameters
    ----------
    n_instances : int, default=100
        Number of instances.
    n_labels : int, default=6
        Number of labels, at least 2.
    n_features : int, default=5
        Number of features, independent and standard normal.
    n_battles : int or (int, int), default=5
        Battles of each instance, at most the number of pairs; (fewest, most) draws the number for each instance, ends
        included. An instance without battles has an empty graph.
    concentration : float, default=3.0
        Strength c ≥ 0 of the signal: the larger, the more often the better label wins; 0 is a fair coin.
    return_utilities : bool, default=False
        Return the utilities too.
    random_state : int, RandomState instance or None, default=None
        Pass an int for reproducible output.

    Returns
    -------
    X : ndarray of shape (n_instances, n_features)
        Features.
    y : PreferenceGraphs of shape (n_instances, n_labels)
        An edge from the winner to the loser of each battle.
    utilities : ndarray of shape (n_instances, n_labels)
        Larger is better. Only if `return_utilities` is True.

    Examples
    --------
    >>> from labelrank.datasets import make_pairwise_battles
    >>> X, y = make_pairwise_battles(50, 4, n_battles=(1, 6), random_state=0)
    >>> X.shape, y.shape
    ((50, 5), (50, 4))
    """
    fewest, most = _battle_range(n_battles, n_labels * (n_labels - 1) // 2)

    rng = check_random_state(random_state)
    X = rng.standard_normal((n_instances, n_features))
    utilities = linear_utilities(rng, X, n_labels)
    counts = rng.randint(fewest, most + 1, size=n_instances)
    instance, first, second = _distinct_pairs(rng, counts, n_labels)
    lead = concentration * (utilities[instance, first] - utilities[instance, second])
    wins = rng.logistic(size=len(lead)) < lead  # the logistic distribution function is the Bradley-Terry probability
    y = PreferenceGraphs.from_pairs(
        instance,
        np.where(wins, first, second),
        np.where(wins, second, first),
        n_instances=n_instances,
        n_labels=n_labels,
    )
    return (X, y, utilities) if return_utilities else (X, y)


def _battle_range(n_battles: Any, n_pairs: int) -> tuple[int, int]:
    fewest, most = n_battles if isinstance(n_battles, tuple) and len(n_battles) == 2 else (n_battles, n_battles)
    if not all(isinstance(n, Integral) for n in (fewest, most)) or not 0 <= fewest <= most:
        raise ValueError(f"n_battles must be an integer or (fewest, most), in this order, got {n_battles!r}")
    if most > n_pairs:
        raise ValueError(
            f"n_battles={n_battles!r} is more than the {n_pairs} different pairs of labels; each pair fights at most "
            "once per instance"
        )
    return fewest, most


def _distinct_pairs(rng: np.random.RandomState, counts: Indices, n_labels: int) -> tuple[Indices, Indices, Indices]:
    """For each instance, `counts[instance]` different pairs: arrays (instance, first label, second label)."""
    first, second = np.triu_indices(n_labels, k=1)
    most = int(counts.max())
    pairs = []
    for rows in row_blocks(len(counts), len(first), _KEYS_AT_ONCE):
        wanted = counts[rows]
        # The pairs with the smallest of random keys are a random subset; sorting all keys costs little more.
        chosen = np.argsort(rng.random_sample((len(wanted), len(first))), axis=1)[:, :most]
        pairs.append(chosen[np.arange(most) < wanted[:, np.newaxis]])
    drawn = np.concatenate(pairs)
    return np.repeat(np.arange(len(counts)), counts), first[drawn], second[drawn]
