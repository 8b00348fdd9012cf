"""What supervision says about pairs of labels: counts, signs, votes and concordance.

Every function takes a rank matrix or any :class:`~labelrank.PreferenceGraphs`, with ties, missing labels and weighted
edges, and is a method of the graphs as well. Nothing outside of this package and of ``supervision`` looks at how graphs
are stored.
"""

from labelrank.pairs.concordance import concordance
from labelrank.pairs.counts import pair_counts, pair_shares
from labelrank.pairs.labels import LabelPair, label_pairs
from labelrank.pairs.rows import PairRows, pair_rows
from labelrank.pairs.signs import pair_signs, pair_totals
from labelrank.pairs.votes import mean_votes, votes, votes_of_counts

__all__ = [
    "LabelPair",
    "PairRows",
    "concordance",
    "label_pairs",
    "mean_votes",
    "pair_counts",
    "pair_rows",
    "pair_shares",
    "pair_signs",
    "pair_totals",
    "votes",
    "votes_of_counts",
]
