"""Rank aggregation: Borda, Copeland, Kemeny, Plackett-Luce and the Mallows model."""

from labelrank.aggregation.borda import borda, borda_scores
from labelrank.aggregation.copeland import copeland, copeland_scores
from labelrank.aggregation.kemeny import kemeny
from labelrank.aggregation.mallows import Mallows, mean_distance, most_probable_extension, theta_from_mean_distance
from labelrank.aggregation.plackett_luce import plackett_luce, plackett_luce_scores
from labelrank.pairs import pair_counts, pair_shares

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
    "plackett_luce",
    "plackett_luce_scores",
    "theta_from_mean_distance",
]
