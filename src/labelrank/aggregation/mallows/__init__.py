"""The Mallows model: a centre, and rankings that are the rarer the more pairs they turn round.

``P(r) = exp(-theta d(r, centre)) / phi(theta)`` with Kendall's distance d, the number of pairs of labels on which two
rankings disagree. It is fitted to complete and incomplete rankings, says how probable a ranking or a pair is, completes
rankings, and draws new ones.
"""

from labelrank.aggregation.mallows.distribution import Mallows
from labelrank.aggregation.mallows.extension import most_probable_extension
from labelrank.aggregation.mallows.spread import mean_distance, theta_from_mean_distance

__all__ = ["Mallows", "mean_distance", "most_probable_extension", "theta_from_mean_distance"]
