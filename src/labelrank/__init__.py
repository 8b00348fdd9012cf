"""Learn to rank a fixed set of labels for each instance, from whatever preferences are known.

::

                         cut into        paid     made of     minimized by
                      ┌ decomposition →  loss  ⊗  model   →   solver  →  scores ┐
    PreferenceGraphs ─┤                                                         ├→ ranking
    (observed)        └ pairs  →  aggregation at a neighborhood, a leaf, …      ┘

A **ranking** is a row of ranks: smaller is better, equal is tied, NaN is not observed. ``PreferenceGraphs`` hold what
does not fit a row of ranks (cycles, battles) and are accepted wherever a rank matrix is. Estimators follow
scikit-learn: ``fit(X, y)``, ``predict(X)`` gives ranks from 1, ``decision_function(X)`` scores, larger is better.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

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
    "CalibratedRanker": "rankers",
    "DummyRanker": "rankers",
    "GraphRanker": "rankers",
    "LabelCoveringClassifier": "rankers",
    "LogLinearRanker": "rankers",
    "BaseRanker": "rankers",
    "RankerMixin": "rankers",
    "project_polyhedron": "solvers.soft_projection",
    "soft_projection": "solvers.soft_projection",
    "ConstraintClassificationRanker": "rankers",
    "PairwiseRanker": "rankers",
    "KNeighborsRanker": "neighbors",
    "KNeighborsRankerCV": "neighbors",
    "KernelRidgeRanker": "rankers",
    "KernelRidgeRankerCV": "rankers",
    "RankRLS": "rankers",
    "RankRLSCV": "rankers",
    "DecisionTreeRanker": "trees",
    "RandomForestRanker": "trees",
    "ExtraTreesRanker": "trees",
    "GradientBoostingRanker": "trees",
    "GradientBoostingCoveringClassifier": "trees",
    "SoftProjectionRanker": "rankers",
    "AutoRanker": "auto",
    "ConformalRanker": "trust",
    "PairwiseCalibrator": "trust",
    "confidence": "trust",
    "explain": "trust",
    "pairwise_proba": "trust",
    "predict_partial": "trust",
    "inspect_file": "persistence",
    "load": "persistence",
    "save": "persistence",
    "to_onnx": "onnx",
    "all_rankers": "_discovery",
    "predict_frame": "prediction",
    "show_versions": "_show_versions",
}
_MODULES = (
    "aggregation",
    "auto",
    "cli",
    "datasets",
    "decompositions",
    "features",
    "losses",
    "metrics",
    "models",
    "neighbors",
    "onnx",
    "pairs",
    "plots",
    "rankers",
    "report",
    "solvers",
    "supervision",
    "testing",
    "trees",
    "trust",
)

__all__ = [
    "AutoRanker",
    "BaseRanker",
    "CalibratedRanker",
    "ConformalRanker",
    "ConstraintClassificationRanker",
    "DecisionTreeRanker",
    "DummyRanker",
    "ExtraTreesRanker",
    "GradientBoostingCoveringClassifier",
    "GradientBoostingRanker",
    "GraphRanker",
    "KNeighborsRanker",
    "KNeighborsRankerCV",
    "KernelRidgeRanker",
    "KernelRidgeRankerCV",
    "LabelCoveringClassifier",
    "LogLinearRanker",
    "PairwiseCalibrator",
    "PairwiseRanker",
    "PreferenceGraphs",
    "RandomForestRanker",
    "RankRLS",
    "RankRLSCV",
    "RankerMixin",
    "SoftProjectionRanker",
    "aggregation",
    "all_rankers",
    "as_graphs",
    "auto",
    "check_rankings",
    "cli",
    "confidence",
    "datasets",
    "decompositions",
    "explain",
    "features",
    "from_top_k",
    "inspect_file",
    "load",
    "losses",
    "mask_rankings",
    "metrics",
    "models",
    "neighbors",
    "onnx",
    "orders_from_ranks",
    "pairs",
    "pairwise_proba",
    "plots",
    "predict_frame",
    "predict_partial",
    "project_polyhedron",
    "rankers",
    "ranks_from_orders",
    "ranks_from_scores",
    "report",
    "save",
    "show_versions",
    "soft_projection",
    "solvers",
    "supervision",
    "testing",
    "to_onnx",
    "trees",
    "trust",
]

if TYPE_CHECKING:
    from labelrank import (
        aggregation,
        auto,
        cli,
        datasets,
        decompositions,
        features,
        losses,
        metrics,
        models,
        neighbors,
        onnx,
        pairs,
        plots,
        rankers,
        report,
        solvers,
        supervision,
        testing,
        trees,
        trust,
    )
    from labelrank._discovery import all_rankers
    from labelrank._show_versions import show_versions
    from labelrank.auto import AutoRanker
    from labelrank.neighbors import KNeighborsRanker, KNeighborsRankerCV
    from labelrank.onnx import to_onnx
    from labelrank.persistence import inspect_file, load, save
    from labelrank.prediction import predict_frame
    from labelrank.rankers import (
        BaseRanker,
        CalibratedRanker,
        ConstraintClassificationRanker,
        DummyRanker,
        GraphRanker,
        KernelRidgeRanker,
        KernelRidgeRankerCV,
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
    from labelrank.trees import (
        DecisionTreeRanker,
        ExtraTreesRanker,
        GradientBoostingCoveringClassifier,
        GradientBoostingRanker,
        RandomForestRanker,
    )
    from labelrank.trust import (
        ConformalRanker,
        PairwiseCalibrator,
        confidence,
        explain,
        pairwise_proba,
        predict_partial,
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
