"""Text and parses as features of a ranker: weights of counted terms, choices of terms, paths. Sparse in, sparse out."""

from labelrank.features.boosting import BoostingSelector
from labelrank.features.log_counts import LogCountTransformer
from labelrank.features.pivoted_tfidf import PivotedTfidfTransformer
from labelrank.features.rocchio import RocchioSelector

__all__ = [
    "BoostingSelector",
    "LogCountTransformer",
    "PivotedTfidfTransformer",
    "RocchioSelector",
]
