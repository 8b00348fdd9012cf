"""Automatic model selection: preprocessing of raw data for any ranker, and an ensemble of the best ones."""

from labelrank.auto.costs import CostRegressionRanker, CostWeightedRanker
from labelrank.auto.preprocessing import MissingAsNaN, TextVectorizer, pipeline_for
from labelrank.auto.ranker import AutoRanker
from labelrank.auto.weighted import WeightedRanker

__all__ = [
    "AutoRanker",
    "CostRegressionRanker",
    "CostWeightedRanker",
    "MissingAsNaN",
    "TextVectorizer",
    "WeightedRanker",
    "pipeline_for",
]
