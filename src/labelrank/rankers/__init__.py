"""The estimators: one learner per file, glue only."""

from labelrank.rankers.base import RankerMixin
from labelrank.rankers.constraint_classification import ConstraintClassificationRanker
from labelrank.rankers.dummy import DummyRanker
from labelrank.rankers.kernel_ridge import KernelRidgeRanker
from labelrank.rankers.label_covering import LabelCoveringClassifier
from labelrank.rankers.log_linear import LogLinearRanker
from labelrank.rankers.neighbors import KNeighborsRanker
from labelrank.rankers.neighbors_cv import KNeighborsRankerCV
from labelrank.rankers.pairwise import PairwiseRanker
from labelrank.rankers.rank_rls import RankRLS
from labelrank.rankers.rank_rls_cv import RankRLSCV
from labelrank.rankers.soft_projection import SoftProjectionRanker
from labelrank.rankers.trees import DecisionTreeRanker

__all__ = [
    "ConstraintClassificationRanker",
    "DecisionTreeRanker",
    "DummyRanker",
    "KNeighborsRanker",
    "KNeighborsRankerCV",
    "KernelRidgeRanker",
    "LabelCoveringClassifier",
    "LogLinearRanker",
    "PairwiseRanker",
    "RankRLS",
    "RankRLSCV",
    "RankerMixin",
    "SoftProjectionRanker",
    "all_rankers",
]


def all_rankers() -> dict[str, type[RankerMixin]]:
    """Every ranker of the library: its name and its class.

    Examples
    --------
    >>> from labelrank.rankers import all_rankers
    >>> "DummyRanker" in all_rankers()
    True
    """
    from labelrank.ensemble import ExtraTreesRanker, RandomForestRanker  # built on the rankers here

    rankers: tuple[type[RankerMixin], ...] = (
        ConstraintClassificationRanker,
        DecisionTreeRanker,
        DummyRanker,
        ExtraTreesRanker,
        KNeighborsRanker,
        KNeighborsRankerCV,
        KernelRidgeRanker,
        LogLinearRanker,
        PairwiseRanker,
        RandomForestRanker,
        SoftProjectionRanker,
    )
    return {ranker.__name__: ranker for ranker in rankers}
