"""Label ranking trees, forests of them, and gradient boosting."""

from labelrank.trees.boosting import GradientBoostingCoveringClassifier, GradientBoostingRanker
from labelrank.trees.forests import ExtraTreesRanker, RandomForestRanker
from labelrank.trees.tree import DecisionTreeRanker

__all__ = [
    "DecisionTreeRanker",
    "ExtraTreesRanker",
    "GradientBoostingCoveringClassifier",
    "GradientBoostingRanker",
    "RandomForestRanker",
]
