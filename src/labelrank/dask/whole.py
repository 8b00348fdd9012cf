"""Training data of all partitions in one process, for learners that need all rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from labelrank.rankers.base import Training
from labelrank.supervision import PreferenceGraphs


def concatenated(shards: Sequence[Training]) -> Training:
    """The rows of all shards, in their order."""
    if len(shards) == 1:
        return Training(*shards[0])
    graphs = PreferenceGraphs.concatenate([shard.graphs for shard in shards])
    return Training(stacked([shard.X for shard in shards]), graphs, np.concatenate([shard.weight for shard in shards]))


def stacked(blocks: Sequence[Any]) -> Any:
    """Rows of features below each other; a CSR matrix if any of them are sparse."""
    if any(map(sparse.issparse, blocks)):
        return sparse.vstack(list(map(sparse.csr_array, blocks)), format="csr")
    return np.concatenate(blocks)


def n_bytes(shard: Training) -> int:
    """Memory of the features and the rankings of a shard."""
    X, (n, n_labels) = shard.X, shard.graphs.shape
    arrays = (X.data, X.indices, X.indptr) if hasattr(X, "indptr") else (X,)
    return sum(array.nbytes for array in arrays) + 8 * n * n_labels
