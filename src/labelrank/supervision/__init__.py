"""Observed preferences: rank matrices, preference graphs, label hierarchies."""

# Names that are imported "as" themselves are for use inside of the library.

from labelrank.supervision.frames import label_names as label_names
from labelrank.supervision.graphs import PreferenceGraphs, as_graphs
from labelrank.supervision.graphs import is_graphs as is_graphs
from labelrank.supervision.masking import mask_rankings
from labelrank.supervision.orders import orders_from_ranks, ranks_from_orders
from labelrank.supervision.rankings import check_rankings, from_top_k, ranks_from_scores
from labelrank.supervision.stacklevel import stacklevel_of_user as stacklevel_of_user

__all__ = [
    "PreferenceGraphs",
    "as_graphs",
    "check_rankings",
    "from_top_k",
    "mask_rankings",
    "orders_from_ranks",
    "ranks_from_orders",
    "ranks_from_scores",
]
