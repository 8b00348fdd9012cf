"""Pairs of labels in observed preferences: counts, signs, votes and concordance.

Every function takes a rank matrix or any :class:`~labelrank.PreferenceGraphs`, with ties, missing labels and weighted
edges; most are methods of the graphs as well. Only this package and ``supervision`` depend on how graphs are stored.
"""

# Names that are imported "as" themselves are for use inside of the library.
from labelrank.pairs.concordance import concordance
from labelrank.pairs.counts import pair_counts, pair_shares
from labelrank.pairs.labels import LabelPair, label_pairs
from labelrank.pairs.partial_orders import asserted_pairs as asserted_pairs
from labelrank.pairs.partial_orders import buckets_of_scores as buckets_of_scores
from labelrank.pairs.partial_orders import graphs_of_relation as graphs_of_relation
from labelrank.pairs.partial_orders import share_of_pairs as share_of_pairs
from labelrank.pairs.partial_orders import transitive_core as transitive_core
from labelrank.pairs.rows import PairRows as PairRows
from labelrank.pairs.rows import pair_rows as pair_rows
from labelrank.pairs.signs import pair_signs, pair_totals
from labelrank.pairs.votes import leads as leads
from labelrank.pairs.votes import mean_votes, votes
from labelrank.pairs.votes import votes_of_counts as votes_of_counts

__all__ = [
    "LabelPair",
    "concordance",
    "label_pairs",
    "mean_votes",
    "pair_counts",
    "pair_shares",
    "pair_signs",
    "pair_totals",
    "votes",
]
