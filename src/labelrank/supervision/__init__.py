"""What was observed: rank matrices, preference graphs, label hierarchies."""

from labelrank.supervision._inputs import label_names, stacklevel_of_user
from labelrank.supervision.graphs import PreferenceGraphs, as_graphs
from labelrank.supervision.masking import mask_rankings
from labelrank.supervision.rankings import (
    check_rankings,
    from_top_k,
    orders_from_ranks,
    ranks_from_orders,
    ranks_from_scores,
)

__all__ = [
    "PreferenceGraphs",
    "as_graphs",
    "check_rankings",
    "from_top_k",
    "label_names",
    "mask_rankings",
    "orders_from_ranks",
    "ranks_from_orders",
    "ranks_from_scores",
    "stacklevel_of_user",
]
