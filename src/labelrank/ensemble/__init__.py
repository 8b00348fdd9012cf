"""Forests: many ranking trees whose pair probabilities are averaged."""

from labelrank.ensemble.forests import ExtraTreesRanker, RandomForestRanker

__all__ = ["ExtraTreesRanker", "RandomForestRanker"]
