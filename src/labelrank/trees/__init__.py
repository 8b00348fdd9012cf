"""Label ranking trees and forests of them."""

from labelrank.trees.forests import ExtraTreesRanker, RandomForestRanker
from labelrank.trees.tree import DecisionTreeRanker

__all__ = ["DecisionTreeRanker", "ExtraTreesRanker", "RandomForestRanker"]
