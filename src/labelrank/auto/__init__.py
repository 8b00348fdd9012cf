"""Rankers chosen for you: preprocessing of raw data for any ranker, and an ensemble of the best ones."""

from labelrank.auto.costs import CostRegressionRanker, CostWeightedRanker
from labelrank.auto.preprocessing import TextVectorizer, pipeline_for
from labelrank.auto.ranker import AutoRanker
from labelrank.auto.weighted import WeightedRanker

__all__ = [
    "AutoRanker",
    "CostRegressionRanker",
    "CostWeightedRanker",
    "TextVectorizer",
    "WeightedRanker",
    "pipeline_for",
]
