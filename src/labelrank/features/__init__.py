"""Text features: weights of counted terms and selection of terms; sparse in, sparse out."""

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
