"""The Mallows model: the probability of a ranking decreases with its distance from a center.

``P(r) = exp(-theta d(r, center)) / phi(theta)`` with Kendall's distance d, the number of pairs of labels on which two
rankings disagree. The model is fitted to complete and incomplete rankings, gives the probability of a ranking or a
pair, completes rankings, and draws new ones.
"""

# Names that are imported "as" themselves are for use inside of the library.
from labelrank.aggregation.mallows.distribution import Mallows
from labelrank.aggregation.mallows.extension import most_probable_extension
from labelrank.aggregation.mallows.spread import LARGEST_SPREAD as LARGEST_SPREAD
from labelrank.aggregation.mallows.spread import mean_distance, theta_from_mean_distance
from labelrank.aggregation.mallows.spread import pair_probabilities as pair_probabilities
from labelrank.aggregation.mallows.spread import spread_of_counts as spread_of_counts

__all__ = [
    "Mallows",
    "mean_distance",
    "most_probable_extension",
    "theta_from_mean_distance",
]
