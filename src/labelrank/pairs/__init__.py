"""What supervision says about pairs of labels: counts, signs, votes and concordance.

Every function takes a rank matrix or any :class:`~labelrank.PreferenceGraphs`, with ties, missing labels and weighted
edges, and is a method of the graphs as well. Nothing outside of this package and of ``supervision`` looks at how graphs
are stored.
"""

from labelrank.pairs.concordance import concordance
from labelrank.pairs.counts import pair_counts, pair_shares
from labelrank.pairs.labels import LabelPair, label_pairs
from labelrank.pairs.partial_orders import (
    asserted_pairs,
    buckets_of,
    buckets_of_scores,
    graphs_of_relation,
    share_of_pairs,
    transitive_core,
)
from labelrank.pairs.rows import PairRows, pair_rows
from labelrank.pairs.signs import pair_signs, pair_totals
from labelrank.pairs.votes import leads, mean_votes, votes, votes_of_counts

__all__ = [
    "LabelPair",
    "PairRows",
    "asserted_pairs",
    "buckets_of",
    "buckets_of_scores",
    "concordance",
    "graphs_of_relation",
    "label_pairs",
    "leads",
    "mean_votes",
    "pair_counts",
    "pair_rows",
    "pair_shares",
    "pair_signs",
    "pair_totals",
    "share_of_pairs",
    "transitive_core",
    "votes",
    "votes_of_counts",
]
