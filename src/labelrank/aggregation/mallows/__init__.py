"""The Mallows model: a center, and rankings that are the less probable the more pairs they reverse.

``P(r) = exp(-theta d(r, center)) / phi(theta)`` with Kendall's distance d, the number of pairs of labels on which two
rankings disagree. The model is fitted to complete and incomplete rankings, gives the probability of a ranking or a
pair, completes rankings, and draws new ones.
"""

from labelrank.aggregation.mallows.distribution import Mallows
from labelrank.aggregation.mallows.extension import most_probable_extension
from labelrank.aggregation.mallows.spread import (
    LARGEST_SPREAD,
    mean_distance,
    pair_probabilities,
    spread_of_counts,
    theta_from_mean_distance,
)

__all__ = [
    "LARGEST_SPREAD",
    "Mallows",
    "mean_distance",
    "most_probable_extension",
    "pair_probabilities",
    "spread_of_counts",
    "theta_from_mean_distance",
]
