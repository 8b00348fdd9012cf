"""Data sets: generators (``make_*``), bundled sets (``load_*``) and readers of files (``read_*``).

Generators return ``(X, y)``. Loaders and readers return a :class:`~sklearn.utils.Bunch` with ``data``,
``target``, ``feature_names``, ``label_names`` and ``DESCR``. Rankings are always rows of ranks: smaller is
better, equal is tied, NaN is not observed.
"""

from labelrank.datasets._files import DataFileError
from labelrank.datasets.aslib import read_aslib
from labelrank.datasets.battles import make_pairwise_battles
from labelrank.datasets.bundled import (
    load_digits_rankings,
    load_fried,
    load_iris_rankings,
    load_wine_rankings,
)
from labelrank.datasets.label_ranking import make_label_ranking
from labelrank.datasets.mulan import read_mulan
from labelrank.datasets.multilabel_hierarchy import make_multilabel_hierarchy
from labelrank.datasets.preflib import read_preflib
from labelrank.datasets.rcv1 import fetch_rcv1_topics, read_topic_tree, topics_of_rcv1
from labelrank.datasets.semi_synthetic import rankings_from_classification, rankings_from_table
from labelrank.datasets.svmlight import read_svmlight_multilabel
from labelrank.datasets.tables import read_csv, read_parquet
from labelrank.datasets.xarff import read_xarff

__all__ = [
    "DataFileError",
    "fetch_rcv1_topics",
    "load_digits_rankings",
    "load_fried",
    "load_iris_rankings",
    "load_wine_rankings",
    "make_label_ranking",
    "make_multilabel_hierarchy",
    "make_pairwise_battles",
    "rankings_from_classification",
    "rankings_from_table",
    "read_aslib",
    "read_csv",
    "read_mulan",
    "read_parquet",
    "read_preflib",
    "read_svmlight_multilabel",
    "read_topic_tree",
    "read_xarff",
    "topics_of_rcv1",
]
