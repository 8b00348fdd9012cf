"""Validation of arguments, and conversion of scores to ranks."""

from __future__ import annotations

from typing import Any

from labelrank._arrays import FloatArray
from labelrank.supervision import PreferenceGraphs, as_graphs, ranks_from_scores
from labelrank.supervision.weights import row_weights


def graphs_and_weight(y: Any, sample_weight: Any) -> tuple[PreferenceGraphs, FloatArray]:
    """Validate `y`, which needs an instance and a label, and `sample_weight`."""
    graphs = as_graphs(y, ensure_min_samples=1)
    if not graphs.shape[1]:
        raise ValueError(f"y has 0 labels (shape={graphs.shape}) while a minimum of 1 is required")
    return graphs, row_weights(sample_weight, len(graphs))


def ranks_of_scores(scores: FloatArray) -> FloatArray:
    """Ranks from 1 of one vector of scores, the largest first; equal scores are tied."""
    return ranks_from_scores(scores[None, :])[0]
