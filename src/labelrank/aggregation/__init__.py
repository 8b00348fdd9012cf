"""One ranking for many: Borda, Copeland, Kemeny, and the Mallows model."""

from labelrank.aggregation.consensus import (
    borda,
    borda_scores,
    copeland,
    copeland_scores,
    kemeny,
    pair_counts,
    pair_shares,
)
from labelrank.aggregation.mallows import Mallows, mean_distance, most_probable_extension, theta_from_mean_distance

__all__ = [
    "Mallows",
    "borda",
    "borda_scores",
    "copeland",
    "copeland_scores",
    "kemeny",
    "mean_distance",
    "most_probable_extension",
    "pair_counts",
    "pair_shares",
    "theta_from_mean_distance",
]
