"""Gradient-boosted trees on partitioned rows: histograms, losses and totals are sums over partitions."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from dask.sizeof import sizeof
from distributed import Client, Future, wait

from labelrank import trees
from labelrank._arrays import BoolArray, FloatArray, IntArray
from labelrank.dask.categories import DaskTreesMixin
from labelrank.dask.client import result, results
from labelrank.dask.partitions import Partitions, _n_bytes
from labelrank.dask.rows import KeptRows, PartitionedRows
from labelrank.dask.sums import by_worker, tree_sum
from labelrank.trees.boosting.binning import Binning, Column, edges_of, merged
from labelrank.trees.boosting.data import BoostingData, MakeLoss
from labelrank.trees.boosting.fitting import Settings
from labelrank.trees.boosting.prediction import Trees

_ENTRIES = 2**22  # values of the features whose bins are learned at a time


class GradientBoostingRanker(DaskTreesMixin, trees.GradientBoostingRanker):
    """:class:`labelrank.GradientBoostingRanker` on the partitions of a Dask cluster.

    Rows, their scores and derivatives stay where their partition is. For each node, workers add up the histograms of
    their partitions, and one histogram from each worker travels to the client, which finds the split. The trees are
    those of the local class: sums in another order differ by rounding only.

    Parameters
    ----------
    client : distributed.Client, optional
        Where to work; by default the current client or, if there is none, a local cluster of processes.
    **params
        Those of :class:`labelrank.GradientBoostingRanker`; `n_jobs` is for predictions.
    """

    def _learn(self, data: Any, progress: Any) -> None:
        if not isinstance(data, Partitions):
            super()._learn(data, progress)
            return
        self._boost(PartitionedData(data, self.unfitted_local(), self._make_loss), progress)  # type: ignore[arg-type]

    def _settings(self, n_labels: int, l2: float) -> Settings:
        return super()._settings(n_labels, l2)._replace(n_jobs=None)  # one request at a time


class PartitionedData:
    """Training data in partitions, with the methods of :class:`~labelrank.trees.boosting.data.BoostingData`.

    Parameters
    ----------
    partitions : Partitions
        The data.
    local : GradientBoostingRanker
        An estimator of the local class, which makes the losses of partitions.
    make_loss : callable
        Makes a loss of graphs and weights, here.
    """

    def __init__(self, partitions: Partitions, local: Any, make_loss: MakeLoss) -> None:
        self.client: Client = partitions.client
        head = partitions.head()
        self.loss, self.n_labels = make_loss(head.graphs, head.weight), head.graphs.shape[1]
        self.n_features = head.X.shape[1]
        self.parts: list[Future] = partitions.map(_data, local=local)
        self.sizes, self.groups = list(partitions.sizes), partitions.groups
        self.n_held_out = 0
        partitions.release()

    def counted(self) -> BoolArray:
        """Which instances have an observed pair and a weight."""
        return np.concatenate(self._each("counted"))

    def weights(self) -> tuple[float, float, int]:
        """Largest weight; total weight and number of the counted instances."""
        largest, total, number = zip(*self._each("weights"), strict=True)
        return max(largest), sum(total), sum(number)

    def has_missing(self) -> BoolArray:
        """Which features have missing values."""
        return np.any(self._each("has_missing"), axis=0)

    def edges(self, rows: IntArray, is_categorical: BoolArray, max_bins: int) -> Iterator[tuple[FloatArray, int]]:
        """Edges of the bins of each feature in some rows, and the number of its distinct values.

        Distinct values are merged from worker to worker, a block of features at a time.
        """
        by_part = self._by_part(rows)
        width = max(1, int(_ENTRIES * self.n_features / max(self.measures()[0], 1)))
        for first in range(0, self.n_features, width):
            last = min(first + width, self.n_features)
            columns = self.client.map(_columns, self.parts, by_part, first=first, last=last, pure=False)
            whole = tree_sum(self.client, columns, self.groups, _merged)
            edges = self.client.submit(_edges, whole, is_categorical[first:last], max_bins, pure=False)
            yield from result(self.client, edges)

    def split(self, train: IntArray, held_out: IntArray) -> PartitionedData:
        """Split the data, in place, into training rows and held-out rows; other rows are left out."""
        of_train, of_held_out = self._by_part(train), self._by_part(held_out)
        kept = [i for i, (a, b) in enumerate(zip(of_train, of_held_out, strict=True)) if len(a) + len(b)]
        self.parts = self.client.map(
            _split,
            [self.parts[i] for i in kept],
            [of_train[i] for i in kept],
            [of_held_out[i] for i in kept],
            pure=False,
        )
        self.sizes, self.n_held_out = [len(of_train[i]) for i in kept], len(held_out)
        wait(self.parts)  # so that somebody holds them
        self.groups = by_worker(self.client, self.parts)
        return self

    def curvature(self) -> FloatArray:
        """Sum of the curvatures of the training rows where all scores are zero, and of the weights of those not 0."""
        return self._sum("curvature")

    def measures(self) -> FloatArray:
        """Number of entries of X; weight of the training rows, and of those that are held out."""
        return self._sum("measures")

    def value_and_gradient(self, scores: FloatArray) -> FloatArray:
        """Loss of the training rows if all have the same scores, and after it its gradient in these scores."""
        return self._sum("value_and_gradient", scores)

    def rows(self, binning: Binning, baseline: FloatArray, trees: Trees, n_jobs: int | None = None) -> PartitionedRows:
        """Binned rows, with the scores of a model that has some trees already."""
        return PartitionedRows(self, binning, baseline, trees)

    def _each(self, method: str, *arguments: Any) -> list[Any]:
        parts = self.client.map(_call, self.parts, method=method, arguments=arguments, pure=False)
        return results(self.client, parts)

    def _sum(self, method: str, *arguments: Any) -> Any:
        parts = self.client.map(_call, self.parts, method=method, arguments=arguments, pure=False)
        return result(self.client, tree_sum(self.client, parts, self.groups, operator.add))

    def _by_part(self, rows: IntArray) -> list[IntArray]:
        """Rows of each partition, counted from its first; `rows` are in ascending order."""
        starts = np.concatenate([[0], np.cumsum(self.sizes)])
        cuts = np.searchsorted(rows, starts)
        return [rows[a:b] - start for a, b, start in zip(cuts[:-1], cuts[1:], starts[:-1], strict=True)]


# --- On workers


def _data(shard: Any, local: Any) -> BoostingData:
    return BoostingData(shard.X, shard.graphs, shard.weight, local._make_loss)


def _call(data: BoostingData, method: str, arguments: Sequence[Any]) -> Any:
    return getattr(data, method)(*arguments)


def _columns(data: BoostingData, rows: IntArray, first: int, last: int) -> list[Column]:
    return list(data.columns(rows, first, last))


def _merged(a: list[Column], b: list[Column]) -> list[Column]:
    return [merged([x, y]) for x, y in zip(a, b, strict=True)]


def _edges(columns: list[Column], is_categorical: BoolArray, max_bins: int) -> list[tuple[FloatArray, int]]:
    return [(edges_of(c, k, max_bins), len(c.values)) for c, k in zip(columns, is_categorical, strict=True)]


def _split(data: BoostingData, train: IntArray, held_out: IntArray) -> BoostingData:
    return data.split(train, held_out)


for _type in (BoostingData, KeptRows):
    sizeof.register(_type, _n_bytes)
