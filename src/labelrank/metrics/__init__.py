"""Errors and agreements: of rankings, of preference graphs, of relevant sets, of scored items in groups."""

from labelrank.metrics.graph_errors import (
    disagreement_error,
    dominated_error,
    domination_error,
    generalized_error,
    zero_one_error,
)
from labelrank.metrics.groups import group_disagreement
from labelrank.metrics.rank_correlation import kendall_tau, kendall_tau_b, kendall_tau_x, spearman_rho
from labelrank.metrics.scorers import get_scorer, get_scorer_names
from labelrank.metrics.sets import average_precision, coverage, covering_error, one_error
from labelrank.metrics.top_of_ranking import ndcg, top_k_accuracy

__all__ = [
    "average_precision",
    "coverage",
    "covering_error",
    "disagreement_error",
    "dominated_error",
    "domination_error",
    "generalized_error",
    "get_scorer",
    "get_scorer_names",
    "group_disagreement",
    "kendall_tau",
    "kendall_tau_b",
    "kendall_tau_x",
    "ndcg",
    "one_error",
    "spearman_rho",
    "top_k_accuracy",
    "zero_one_error",
]
