"""Rankers on a Dask cluster: fitted on partitioned data, and predictions over partitions.

Classes have the names, parameters, attributes and results of the local ones, and one parameter more, ``client``. A
fitted estimator is a plain local model: what is pickled or saved is the local class, and needs no Dask.
"""

try:
    import dask as _dask  # noqa: F401
    import distributed as _distributed  # noqa: F401
except ImportError as error:
    raise ImportError('labelrank.dask needs Dask; install it with: pip install "labelrank[dask]"') from error

from labelrank.dask.boosting import GradientBoostingRanker
from labelrank.dask.client import ClusterLostError
from labelrank.dask.forests import ExtraTreesRanker, RandomForestRanker
from labelrank.dask.graphs import PartitionedGraphs
from labelrank.dask.least_squares import KernelRidgeRanker
from labelrank.dask.linear import GraphRanker, LabelCoveringClassifier, LogLinearRanker
from labelrank.dask.neighbors import KNeighborsRanker
from labelrank.dask.prediction import predict
from labelrank.dask.rank_rls import RankRLS
from labelrank.dask.shards import Shards, read_shards, save_shard

__all__ = [
    "ClusterLostError",
    "ExtraTreesRanker",
    "GradientBoostingRanker",
    "GraphRanker",
    "KNeighborsRanker",
    "KernelRidgeRanker",
    "LabelCoveringClassifier",
    "LogLinearRanker",
    "PartitionedGraphs",
    "RandomForestRanker",
    "RankRLS",
    "Shards",
    "predict",
    "read_shards",
    "save_shard",
]
