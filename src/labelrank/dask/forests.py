"""Forests whose trees grow on different workers."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from distributed import Future

from labelrank import trees
from labelrank._arrays import IntArray
from labelrank._memory import size_text
from labelrank.dask.categories import DaskTreesMixin
from labelrank.dask.client import result, results
from labelrank.dask.partitions import Partitions
from labelrank.dask.whole import concatenated, n_bytes
from labelrank.rankers.base import Training
from labelrank.supervision import stacklevel_of_user
from labelrank.trees.forests import BaseForestRanker, grow_tree
from labelrank.trees.growth import Grower, Nodes


class _Prepared(NamedTuple):
    """Grower and weights for the trees of a worker, and attributes and warnings for the client."""

    grower: Grower
    weight: Any
    attributes: dict[str, Any]
    warnings: list[Any]


class _TreesOverWorkers(DaskTreesMixin):
    """Forests that grow each tree on the worker that is free."""

    def _learn(self, data: Any, progress: Any) -> None:
        try:
            super()._learn(data, progress)  # type: ignore[misc]
        finally:
            vars(self).pop("_rows", None)

    def _grow(self, data: Any, seeds: IntArray) -> Iterator[Nodes]:
        if not isinstance(data, Partitions):
            yield from super()._grow(data, seeds)  # type: ignore[misc]
            return
        client, workers = data.client, self._workers(data)
        local: Any = self.unfitted_local()
        local.labels_, local.n_features_in_ = self.labels_, self.n_features_in_  # type: ignore[attr-defined]
        local.is_categorical_ = self.is_categorical_
        pinned: dict[str, Any] = {"workers": workers, "pure": False}
        self._rows: Future = client.submit(concatenated, data.futures, **pinned)
        prepared = client.submit(_prepare, self._rows, local, **pinned)
        attributes, told = result(client, client.submit(_facts, prepared, **pinned))
        self._publish(attributes)  # type: ignore[attr-defined]
        for warning in told:
            warnings.warn(warning, stacklevel=stacklevel_of_user())
        if not self.oob_score:  # type: ignore[attr-defined]
            del self._rows  # the memory of a copy
        grown = client.map(_tree, [prepared] * len(seeds), seeds.tolist(), bootstrap=self.bootstrap, **pinned)  # type: ignore[attr-defined]
        try:
            for i in range(len(grown)):
                yield result(client, grown[i])
                grown[i] = None  # its memory
        finally:
            client.cancel([tree for tree in grown if tree is not None])

    def _score_out_of_bag(self, data: Any) -> None:
        if not isinstance(data, Partitions):
            super()._score_out_of_bag(data)  # type: ignore[misc]
            return
        task = data.client.submit(_out_of_bag, self._rows, self.to_local(), pure=False)
        self.oob_score_, self.oob_decision_function_ = result(data.client, task)

    def _workers(self, data: Partitions) -> list[str] | None:
        """Workers whose memory holds all rows, None for any; an error if there are none."""
        need = sum(results(data.client, data.map(n_bytes)))
        thin = result(data.client, data.client.submit(_is_sparse, data.futures[0]))
        k = len(self.labels_)  # type: ignore[attr-defined]
        # The rows, a copy of their features by columns and, to find the best thresholds of dense ones, their order.
        copies = 3 if thin or self._splitter == "random" else 4  # type: ignore[attr-defined]
        need = copies * need + 2 * data.n_samples * k * (k - 1) // 2
        limits = data.client.run_on_scheduler(_memory_limits)
        able = [address for address, limit in limits.items() if not limit or limit >= need]
        if not able:
            raise MemoryError(
                f"{type(self).__name__} needs all {data.n_samples} rows on a worker, about {size_text(need)}, and the "
                f"largest memory limit of the {len(limits)} workers is {size_text(max(limits.values(), default=0))}; "
                "start workers with more memory, fit a sample of the rows, or use GradientBoostingRanker, whose rows "
                "stay in their partitions"
            )
        return able if len(able) < len(limits) else None


class RandomForestRanker(_TreesOverWorkers, trees.RandomForestRanker):
    """:class:`labelrank.RandomForestRanker` whose trees grow on the workers of a Dask cluster.

    The trees are those of the local class with the same `random_state`, however many workers there are. Every tree
    needs all rows, which are sent to each worker once. Workers whose memory limit does not hold them grow no trees, and
    if there are no others, ``fit`` raises MemoryError with an estimate.
    :class:`~labelrank.dask.GradientBoostingRanker` leaves rows where they are.

    Parameters
    ----------
    client : distributed.Client, optional
        Where to work; by default the current client or, if there is none, a local cluster of processes.
    **params
        Those of :class:`labelrank.RandomForestRanker`.
    """


class ExtraTreesRanker(_TreesOverWorkers, trees.ExtraTreesRanker):
    """:class:`labelrank.ExtraTreesRanker` whose trees grow on the workers of a Dask cluster.

    Rows are gathered on each worker once, as by :class:`~labelrank.dask.RandomForestRanker`.

    Parameters
    ----------
    client : distributed.Client, optional
        Where to work; by default the current client or, if there is none, a local cluster of processes.
    **params
        Those of :class:`labelrank.ExtraTreesRanker`.
    """


def _memory_limits(dask_scheduler: Any) -> dict[str, int]:
    return {address: worker.memory_limit for address, worker in dask_scheduler.workers.items()}


# --- On workers


def _prepare(data: Training, local: BaseForestRanker) -> _Prepared:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        grower = local._grower(data, local._splitter)
    attributes = {name: getattr(local, name) for name in ("criterion_", "had_missing_")}
    return _Prepared(grower, data.weight, attributes, [warning.message for warning in told])


def _facts(prepared: _Prepared) -> tuple[dict[str, Any], list[Any]]:
    return prepared.attributes, prepared.warnings


def _tree(prepared: _Prepared, seed: int, bootstrap: bool) -> Nodes:
    return grow_tree(prepared.grower, prepared.weight, bootstrap, seed, np.zeros(1, dtype=np.uint8))


def _out_of_bag(data: Training, local: BaseForestRanker) -> tuple[float, Any]:
    local._score_out_of_bag(data)
    return local.oob_score_, local.oob_decision_function_


def _is_sparse(shard: Training) -> bool:
    return hasattr(shard.X, "tocsc")
