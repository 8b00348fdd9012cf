"""List of all rankers."""

from __future__ import annotations

from labelrank.neighbors import KNeighborsRanker, KNeighborsRankerCV
from labelrank.rankers import (
    ConstraintClassificationRanker,
    DummyRanker,
    GraphRanker,
    KernelRidgeRanker,
    KernelRidgeRankerCV,
    LogLinearRanker,
    PairwiseRanker,
    RankerMixin,
    SoftProjectionRanker,
)
from labelrank.trees import DecisionTreeRanker, ExtraTreesRanker, GradientBoostingRanker, RandomForestRanker


def all_rankers() -> dict[str, type[RankerMixin]]:
    """Return the name and the class of every ranker that learns from rankings by itself.

    :class:`~labelrank.AutoRanker`, which chooses among these, :class:`~labelrank.CalibratedRanker`, which needs sets of
    relevant labels, and the wrappers of other rankers are not included.

    Examples
    --------
    >>> from labelrank import all_rankers
    >>> "DummyRanker" in all_rankers()
    True
    """
    rankers: tuple[type[RankerMixin], ...] = (
        ConstraintClassificationRanker,
        DecisionTreeRanker,
        DummyRanker,
        ExtraTreesRanker,
        GradientBoostingRanker,
        GraphRanker,
        KNeighborsRanker,
        KNeighborsRankerCV,
        KernelRidgeRanker,
        KernelRidgeRankerCV,
        LogLinearRanker,
        PairwiseRanker,
        RandomForestRanker,
        SoftProjectionRanker,
    )
    return {ranker.__name__: ranker for ranker in rankers}
