"""The estimators: one learner per file, glue only."""

from labelrank.rankers.base import BaseRanker, RankerMixin
from labelrank.rankers.calibrated import CalibratedRanker
from labelrank.rankers.constraint_classification import ConstraintClassificationRanker
from labelrank.rankers.dummy import DummyRanker
from labelrank.rankers.graph import GraphRanker
from labelrank.rankers.kernel_ridge import KernelRidgeRanker
from labelrank.rankers.kernel_ridge_cv import KernelRidgeRankerCV
from labelrank.rankers.label_covering import LabelCoveringClassifier
from labelrank.rankers.log_linear import LogLinearRanker
from labelrank.rankers.pairwise import PairwiseRanker
from labelrank.rankers.rank_rls import RankRLS
from labelrank.rankers.rank_rls_cv import RankRLSCV
from labelrank.rankers.soft_projection import SoftProjectionRanker

__all__ = [
    "BaseRanker",
    "CalibratedRanker",
    "ConstraintClassificationRanker",
    "DummyRanker",
    "GraphRanker",
    "KernelRidgeRanker",
    "KernelRidgeRankerCV",
    "LabelCoveringClassifier",
    "LogLinearRanker",
    "PairwiseRanker",
    "RankRLS",
    "RankRLSCV",
    "RankerMixin",
    "SoftProjectionRanker",
]
