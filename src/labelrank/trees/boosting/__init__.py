"""Gradient-boosted trees with a vector of label scores in each leaf, for any loss with a curvature."""

from labelrank.trees.boosting.classifier import GradientBoostingCoveringClassifier
from labelrank.trees.boosting.ranker import GradientBoostingRanker

__all__ = ["GradientBoostingCoveringClassifier", "GradientBoostingRanker"]
