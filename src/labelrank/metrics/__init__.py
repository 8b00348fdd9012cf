"""Errors and agreements: of rankings, of preference graphs, of relevant sets, of costs, of scored items in groups."""

from labelrank.metrics.comparison import (
    Friedman,
    Paired,
    critical_difference,
    differing_pairs,
    friedman_test,
    holm,
    paired_comparison,
    signed_rank_test,
)
from labelrank.metrics.costs import closed_gap, mean_cost, regret
from labelrank.metrics.graph_errors import (
    disagreement_error,
    dominated_error,
    domination_error,
    generalized_error,
    zero_one_error,
)
from labelrank.metrics.groups import group_disagreement
from labelrank.metrics.rank_correlation import kendall_tau, kendall_tau_b, kendall_tau_x, spearman_rho
from labelrank.metrics.scorers import get_scorer, get_scorer_names, get_scorers, make_scorer
from labelrank.metrics.sets import average_precision, coverage, covering_error, one_error
from labelrank.metrics.top_of_ranking import ndcg, top_k_accuracy

__all__ = [
    "Friedman",
    "Paired",
    "average_precision",
    "closed_gap",
    "coverage",
    "covering_error",
    "critical_difference",
    "differing_pairs",
    "disagreement_error",
    "dominated_error",
    "domination_error",
    "friedman_test",
    "generalized_error",
    "get_scorer",
    "get_scorer_names",
    "get_scorers",
    "group_disagreement",
    "holm",
    "kendall_tau",
    "kendall_tau_b",
    "kendall_tau_x",
    "make_scorer",
    "mean_cost",
    "ndcg",
    "one_error",
    "paired_comparison",
    "regret",
    "signed_rank_test",
    "spearman_rho",
    "top_k_accuracy",
    "zero_one_error",
]
