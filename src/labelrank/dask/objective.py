"""An objective that is a sum over the partitions of a cluster."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from dask.sizeof import sizeof
from distributed import Future
from distributed.comm import CommClosedError

from labelrank._arrays import FloatArray
from labelrank.dask.client import result, results, send
from labelrank.dask.lanes import lanes
from labelrank.dask.partitions import Partitions, added
from labelrank.dask.sums import tree_sum
from labelrank.dask.validation import Shard
from labelrank.models import Objective
from labelrank.models.base import CURVATURE_ROWS, curvature_sums
from labelrank.rankers.base import Training


class PartitionedObjective(Objective):
    """The objective of all partitions together; every solver that uses sums over rows alone works on it.

    In each evaluation the coefficients go out once, each worker adds up the sums of its partitions, and one array, or
    two for boosting, comes back from each.

    Parameters
    ----------
    head : Objective
        The objective of a few of the rows, for the shapes of the coefficients and the abilities of the loss.
    partitions : Partitions
        The data; they are released, since the objectives of the partitions hold what they need.
    local : estimator
        An unfitted estimator of the local class, whose ``_objective`` makes the objective of a partition.
    *arguments
        Further arguments of ``_objective``.
    """

    is_whole: ClassVar[bool] = False

    def __init__(self, head: Objective, partitions: Partitions, local: Any, *arguments: Any) -> None:
        super().__init__(head.model, head.loss, alpha=head.alpha)
        self.client = partitions.client
        params = {"alpha": 0.0, "n_jobs": None}
        local.set_params(**{name: value for name, value in params.items() if hasattr(local, name)})
        self.parts = partitions.map(_objective, local=local, arguments=arguments)
        self.measures: list[_Measures] = results(self.client, self.client.map(_measures, self.parts, pure=False))
        self.n_bytes = [m.n_bytes for m in self.measures]
        self.threads: dict[str, int] = {}
        self.lanes: list[tuple[list[str], list[list[Future]]]] = [([], [self.parts])]
        partitions.release()

    @cached_property
    def total_weight(self) -> float:
        """Number to divide by for a mean loss."""
        return sum(m.weight for m in self.measures) or 1.0

    @cached_property
    def largest_change(self) -> float:
        """Largest 1-norm of the change, along an edge, of what the coefficients are multiplied with."""
        return self.reduce(_largest_change, max, 0.0) or 1.0

    def reduce(self, function: Callable[..., Any], combine: Callable[[Any, Any], Any], start: Any) -> Any:
        """Combine what a function returns for the objectives of the partitions that have counted rows."""
        return functools.reduce(combine, self.sum(functools.partial(_listed, function))[0], start)

    def root_mean_square(self) -> FloatArray:
        """Root of the weighted mean square of what each row of the coefficients is multiplied with."""
        weights, roots = map(np.array, self.sum(_root_mean_square))
        largest = roots.max(axis=0)
        scale = np.where(largest > 0, largest, 1.0)  # so that squares do not overflow
        return np.asarray(scale * np.sqrt(weights / self.total_weight @ (roots / scale) ** 2))

    def mean_curvature(self) -> float:
        """Mean second derivative of the loss with respect to a score, of the first counted rows."""
        before = np.cumsum([0] + [m.n_counted for m in self.measures])[:-1]
        limits = np.minimum(CURVATURE_ROWS - before, [m.n_counted for m in self.measures])
        some = np.flatnonzero(limits > 0)
        tasks = self.client.map(_curvature_sums, [self.parts[i] for i in some], limits[some].tolist(), pure=False)
        total, weight = np.sum(results(self.client, tasks), axis=0) if len(some) else (0.0, 0.0)
        return float(total / weight) if total and weight else 0.25

    def loss_and_gradient(self, coef: FloatArray) -> tuple[float, FloatArray]:
        """Loss without the penalty, and its gradient: sums over rows."""
        value, gradient = self._sum(_loss_and_gradient, coef)
        return value, gradient

    def loss_and_weights(self, coef: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Loss without the penalty, and the two weights of boosting: sums over rows."""
        value, plus, minus = self._sum(_loss_and_weights, coef)
        return value, plus, minus

    def product(self, coef: FloatArray) -> FloatArray:
        """Product of the Hessian of a quadratic objective with coefficients."""
        (product,) = self.sum(_product, coef)
        if self.alpha:
            product[: self.model.n_penalized] += self.alpha * coef[: self.model.n_penalized]
        return np.asarray(product)

    def sum(self, function: Callable[..., tuple[Any, ...]], *arguments: Any) -> tuple[Any, ...]:
        """Sums, over the partitions, of the numbers and arrays that a function of a part returns; lists are joined."""
        return self._sum(functools.partial(_each, function), *arguments)

    def _sum(self, function: Callable[..., tuple[Any, ...]], *arguments: Any) -> tuple[Any, ...]:
        """The sums of what a function of a list of parts returns.

        Each thread of a worker gets its tasks one by one. So no task waits for a thread, and Dask does not move tasks,
        with their partitions, to other workers.
        """
        # As arguments of a task, the coefficients can be sent again when a worker is lost.
        sent = [send(self.client, argument) for argument in arguments]
        try:
            threads = self.client.nthreads()
            if threads and threads != self.threads:  # workers have come or gone
                self.threads, self.lanes = threads, lanes(self.client, self.parts, self.n_bytes, threads)
        except OSError as error:  # there is no scheduler to ask
            raise CommClosedError(str(error)) from error
        sums = []
        for workers, batches in self.lanes:
            pinned: dict[str, Any] = {"workers": workers, "allow_other_workers": True} if workers else {}
            total = None
            for batch in batches:
                total = self.client.submit(_summed, batch, total, function, *sent, pure=False, **pinned)
            sums.append(total)
        summed: tuple[Any, ...] = result(self.client, tree_sum(self.client, sums, [range(len(sums))], added))
        return summed


class _Measures(NamedTuple):
    n_counted: int
    weight: float
    n_bytes: int


# --- On workers


def _objective(shard: Shard, local: Any, arguments: tuple[Any, ...]) -> Objective:
    local = copy.copy(local)  # the task keeps its arguments, and arrays of a shard from disk keep all of it in memory
    for name, value in shard.facts.attributes.items():
        setattr(local, name, value)
    data = Training(shard.X, shard.graphs.without_ranks(), shard.weight)
    made: Objective = local._objective(data, *arguments)
    return made


def _measures(part: Objective) -> _Measures:
    return _Measures(int(np.count_nonzero(part.loss.counted)), part.loss.total_weight, sizeof(part))


def _largest_change(part: Objective) -> float:
    return part.model.largest_change(part.loss)


def _listed(function: Callable[[Objective], Any], part: Objective) -> tuple[list[Any]]:
    return ([function(part)] if part.loss.counted.any() else [],)


def _root_mean_square(part: Objective) -> tuple[list[float], list[FloatArray]]:
    return [part.loss.total_weight], [part.root_mean_square()]


def _curvature_sums(part: Objective, n_rows: int) -> tuple[float, float]:
    return curvature_sums(part.loss, n_rows)


def _product(part: Objective, coef: FloatArray) -> tuple[Any, ...]:
    return (part.product(coef),)


def _summed(
    parts: Sequence[Objective], total: tuple[Any, ...] | None, function: Callable[..., tuple[Any, ...]], *arguments: Any
) -> tuple[Any, ...]:
    """Add what a function returns for some parts to a total, which stays as it is."""
    # Arrays from the network start at any byte, and kernels would be compiled for such arrays as well.
    own = function(parts, *(np.require(argument, requirements="A") for argument in arguments))
    return own if total is None else added(total, own)


# Parts add to the same arrays: new ones for each part would cost as much as some of its rows.


def _loss_and_gradient(parts: Sequence[Objective], coef: FloatArray) -> tuple[float, FloatArray]:
    gradient = np.zeros(coef.shape)
    return sum(part.add_gradient(coef, gradient) for part in parts), gradient


def _loss_and_weights(parts: Sequence[Objective], coef: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    plus, minus = np.zeros(coef.shape), np.zeros(coef.shape)
    return sum(part.add_weights(coef, plus, minus) for part in parts), plus, minus


def _each(function: Callable[..., tuple[Any, ...]], parts: Sequence[Objective], *arguments: Any) -> tuple[Any, ...]:
    own = list(function(parts[0], *arguments))
    for part in parts[1:]:
        for i, value in enumerate(function(part, *arguments)):
            own[i] += value
    return tuple(own)
