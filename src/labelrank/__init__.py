"""Learn to rank a fixed set of labels for each instance, from whatever preferences are known.

::

    what was observed      how it is cut        what is paid            how it is minimised      what comes out
    PreferenceGraphs   →   decomposition    →   loss              →     solver              →    scores → ranking
    (levels | edges)       (subgraphs)          (per subgraph)

A **ranking** is a row of ranks: smaller is better, equal is tied, NaN is not observed. ``PreferenceGraphs`` hold what
does not fit a row of ranks (cycles, battles) and are accepted wherever a rank matrix is. Estimators follow
scikit-learn: ``fit(X, y)``, ``predict(X)`` gives ranks from 1, ``decision_function(X)`` scores, larger is better.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

# name -> module that defines it. Loaded on first use, so that `import labelrank` stays as fast as `import sklearn`.
_HOMES = {
    "PreferenceGraphs": "supervision",
    "as_graphs": "supervision",
    "check_rankings": "supervision",
    "from_top_k": "supervision",
    "mask_rankings": "supervision",
    "orders_from_ranks": "supervision",
    "ranks_from_orders": "supervision",
    "ranks_from_scores": "supervision",
    "DummyRanker": "rankers",
    "LabelCoveringClassifier": "rankers",
    "LogLinearRanker": "rankers",
    "RankerMixin": "rankers",
    "project_polyhedron": "solvers.soft_projection",
    "soft_projection": "solvers.soft_projection",
    "ConstraintClassificationRanker": "rankers",
    "PairwiseRanker": "rankers",
    "KNeighborsRanker": "rankers",
    "KNeighborsRankerCV": "rankers",
    "KernelRidgeRanker": "rankers",
    "RankRLS": "rankers",
    "RankRLSCV": "rankers",
    "DecisionTreeRanker": "rankers",
    "RandomForestRanker": "ensemble",
    "ExtraTreesRanker": "ensemble",
    "SoftProjectionRanker": "rankers",
}
_MODULES = (
    "cli",
    "consensus",
    "datasets",
    "decompositions",
    "ensemble",
    "experiments",
    "features",
    "losses",
    "mallows",
    "metrics",
    "plots",
    "rankers",
    "solvers",
    "supervision",
)

__all__ = [
    "ConstraintClassificationRanker",
    "DecisionTreeRanker",
    "DummyRanker",
    "ExtraTreesRanker",
    "KNeighborsRanker",
    "KNeighborsRankerCV",
    "KernelRidgeRanker",
    "LabelCoveringClassifier",
    "LogLinearRanker",
    "PairwiseRanker",
    "PreferenceGraphs",
    "RandomForestRanker",
    "RankRLS",
    "RankRLSCV",
    "RankerMixin",
    "SoftProjectionRanker",
    "as_graphs",
    "check_rankings",
    "cli",
    "consensus",
    "datasets",
    "decompositions",
    "ensemble",
    "experiments",
    "features",
    "from_top_k",
    "losses",
    "mallows",
    "mask_rankings",
    "metrics",
    "orders_from_ranks",
    "plots",
    "project_polyhedron",
    "rankers",
    "ranks_from_orders",
    "ranks_from_scores",
    "soft_projection",
    "solvers",
    "supervision",
]

if TYPE_CHECKING:
    from labelrank import (
        cli,
        consensus,
        datasets,
        decompositions,
        ensemble,
        experiments,
        features,
        losses,
        mallows,
        metrics,
        plots,
        rankers,
        solvers,
        supervision,
    )
    from labelrank.ensemble import (
        ExtraTreesRanker,
        RandomForestRanker,
    )
    from labelrank.rankers import (
        ConstraintClassificationRanker,
        DecisionTreeRanker,
        DummyRanker,
        KernelRidgeRanker,
        KNeighborsRanker,
        KNeighborsRankerCV,
        LabelCoveringClassifier,
        LogLinearRanker,
        PairwiseRanker,
        RankerMixin,
        RankRLS,
        RankRLSCV,
        SoftProjectionRanker,
    )
    from labelrank.solvers.soft_projection import project_polyhedron, soft_projection
    from labelrank.supervision import (
        PreferenceGraphs,
        as_graphs,
        check_rankings,
        from_top_k,
        mask_rankings,
        orders_from_ranks,
        ranks_from_orders,
        ranks_from_scores,
    )


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(importlib.import_module(f"labelrank.{_HOMES[name]}"), name)
    elif name in _MODULES:
        value = importlib.import_module(f"labelrank.{name}")
    else:
        raise AttributeError(f"module 'labelrank' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
