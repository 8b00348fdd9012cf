"""Validated training data in the memory of workers: what the learners of :mod:`labelrank.dask` learn from.

Each partition is validated by the local class, on the worker that holds it. Only metadata are sent to the client:
numbers of rows, names, and warnings. If a worker is lost, its partitions are computed again from their source.
"""

from __future__ import annotations

import functools
import operator
import warnings
from collections.abc import Callable, Iterable, Sequence
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
from dask.delayed import delayed
from dask.sizeof import sizeof
from distributed import Client, Future

from labelrank.dask.client import result, results
from labelrank.dask.inputs import Blocks, blocks_of, check_aligned, opened
from labelrank.dask.sums import by_worker, tree_sum
from labelrank.dask.validation import Facts, Shard, validated
from labelrank.dask.whole import stacked
from labelrank.models import Objective
from labelrank.rankers.base import Training
from labelrank.supervision import PreferenceGraphs, stacklevel_of_user
from labelrank.supervision.weights import check_total_weight


class Source:
    """The arguments of ``fit``, with the client to fit with; stands for `X` until they are validated.

    Parameters
    ----------
    client : Client
        The client.
    X, y, sample_weight
        Collections, see :func:`labelrank.dask.inputs.blocks_of`.
    """

    def __init__(self, client: Client, X: Any, y: Any, sample_weight: Any) -> None:
        self.client, self.X, self.y, self.sample_weight = client, opened(X), y, sample_weight

    def partitions(self, estimator: Any, **known: Any) -> Partitions:
        """Validate by the local class of an estimator, and set its attributes, as the local ``fit`` does first."""
        return Partitions(self.client, estimator, self.X, self.y, self.sample_weight, **known)


class Partitions:
    """Validated training data, one :class:`Shard` for each partition with rows, held by the workers.

    Parameters
    ----------
    client : Client
        The client.
    estimator : DaskEstimatorMixin
        Estimator whose local class validates the partitions; its attributes ``labels_``, ``n_features_in_``,
        ``observed_`` and others are set. It gives the warnings of the local class about empty rows and labels once.
    X, y, sample_weight
        The arguments of ``fit``; `sample_weight` may be None.
    **known
        Attributes of the estimator that replace those found in the partitions.

    Attributes
    ----------
    X : Dask collection
        The `X` that was given.
    futures : list of Future
        The shards in the order of the rows; partitions without rows have none. There is at least one.
    kept : list of int
        The partition of `X` that each shard is of.
    sizes : list of int
        Number of rows of each shard.
    n_samples : int
        Number of rows of all shards.
    weight : float
        Sum of all sample weights.

    Notes
    -----
    ``partitions.map(function, **arguments)`` runs ``function(shard, **arguments)`` where each shard is, and
    ``partitions.sum(futures)`` adds up what it returns, by worker first. Functions must be importable on workers, must
    not change the shard, and must depend on their arguments only: when a worker is lost they run again elsewhere.
    """

    def __init__(self, client: Client, estimator: Any, X: Any, y: Any, sample_weight: Any = None, **known: Any) -> None:
        if y is None:
            raise ValueError(
                f"This {type(estimator).__name__} estimator requires y to be passed, but the target y is None."
            )
        self.client, self.X = client, X
        arguments = [blocks_of(X, "X"), blocks_of(y, "y")]
        if sample_weight is not None:
            arguments.append(blocks_of(sample_weight, "sample_weight"))
        check_aligned(arguments)
        shards = _validated(client, estimator.unfitted_local(), arguments)
        facts: list[Facts] = results(client, client.map(operator.attrgetter("facts"), shards))
        _publish(estimator, facts, known)
        kept = [i for i, fact in enumerate(facts) if fact.n_rows]
        self.kept = kept
        self.futures: list[Future] = [shards[i] for i in kept]
        self.sizes = [facts[i].n_rows for i in kept]
        self.n_samples = sum(self.sizes)
        self.weight = float(sum(fact.weight for fact in facts))

    @functools.cached_property
    def groups(self) -> list[list[int]]:
        """Positions of the shards that are on the same worker."""
        return by_worker(self.client, self.futures)

    def map(self, function: Callable[..., Any], *aligned: Iterable[Any], **shared: Any) -> list[Future]:
        """Run a function on every shard, where the shard is.

        Parameters
        ----------
        function : callable
            Called with a shard, one element of each of `aligned`, and `shared`.
        *aligned : iterables
            As long as ``futures``: futures of an earlier ``map``, or values.
        **shared
            The same for all shards; large ones as futures, see :func:`labelrank.dask.client.send`.

        Returns
        -------
        list of Future
        """
        return self.client.map(function, self.futures, *aligned, pure=False, **shared)

    def sum(self, futures: Sequence[Future], add: Callable[..., Any] = operator.add) -> Any:
        """Add up what ``map`` returns; `add` makes the sum of two results and changes neither."""
        return result(self.client, tree_sum(self.client, futures, self.groups, add))

    def head(self, n_rows: int = 1) -> Training:
        """The first rows of the first shard, as local data."""
        return result(self.client, self.client.submit(_head, self.futures[0], n_rows, pure=False))

    def take(self, rows: npt.NDArray[np.intp]) -> Any:
        """Some rows of X, as local data in the order in which they are listed."""
        ends = np.cumsum(self.sizes)
        of = np.searchsorted(ends, rows, side="right")
        parts = np.unique(of)
        places = [np.flatnonzero(of == p) for p in parts]
        wanted = [rows[at] - (ends[p] - self.sizes[p]) for p, at in zip(parts, places, strict=True)]
        taken = results(self.client, self.client.map(_rows, [self.futures[p] for p in parts], wanted, pure=False))
        order = np.argsort(np.concatenate(places))
        return stacked(taken)[order]

    def release(self) -> None:
        """Drop the shards; what was made of them stays, and can still be computed again."""
        self.futures = []


def added(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    """Sums of the elements of two tuples: numbers and arrays are added, lists joined."""
    return tuple(x + y for x, y in zip(a, b, strict=True))


def _rows(shard: Shard, rows: npt.NDArray[np.intp]) -> Any:
    return shard.X[rows]


def _head(shard: Shard, n_rows: int) -> Training:
    return Training(shard.X[:n_rows], shard.graphs[:n_rows], shard.weight[:n_rows])


# --- On the client


def _validated(client: Client, local: Any, arguments: list[Blocks]) -> list[Future]:
    """Futures of the shards, spread evenly over the workers unless the data are there already."""
    rows = zip(*(blocks.parts for blocks in arguments), strict=True)
    tasks = [delayed(validated)(local, i, *parts) for i, parts in enumerate(rows)]
    threads = {} if any(blocks.held for blocks in arguments) else client.nthreads()
    if len(threads) < 2:
        return client.compute(tasks)
    ends = np.cumsum([0, *threads.values()]) * len(tasks) / sum(threads.values())
    bounds = ends.round().astype(int)
    futures: list[Future] = []
    for worker, first, last in zip(threads, bounds[:-1], bounds[1:], strict=True):
        futures += client.compute(tasks[first:last], workers=[worker], allow_other_workers=True)
    return futures


def _publish(estimator: Any, facts: list[Facts], known: dict[str, Any]) -> None:
    """Compare the partitions, and set the attributes of the estimator that a validation of all rows would set."""
    reference = next((i for i, fact in enumerate(facts) if fact.n_rows), None)
    if reference is None:
        raise ValueError("X has no rows: all of its partitions are empty, while a minimum of 1 sample is required")
    attributes = facts[reference].attributes
    for i, fact in enumerate(facts):
        for name, value in fact.attributes.items():
            if fact.n_rows or name in attributes:  # without rows there are names that the estimator may not use
                _check_same(name, value, attributes.get(name), i, reference)
    for category, text in dict.fromkeys(warned for fact in facts for warned in fact.warned):
        warnings.warn(text, category, stacklevel=stacklevel_of_user())
    weight = sum(fact.weight for fact in facts)
    check_total_weight(weight)
    if not weight:
        raise ValueError("sample_weight is zero in all partitions; at least one instance needs a weight")
    attributes = attributes | known
    labels = attributes.get("labels_", attributes.get("classes_"))
    observed = [fact.observed for fact in facts if fact.observed is not None]
    if observed:
        estimator._set_observed(functools.reduce(operator.add, observed), labels, estimator.on_empty)
    for name, value in attributes.items():
        if name in ("labels_", "classes_"):
            estimator._set_labels(value)
        elif name != "observed_":
            setattr(estimator, name, value)


_WHAT = {
    "n_features_in_": ("X", "features", "select the same columns in every partition"),
    "feature_names_in_": ("X", "feature names", "give every partition the same columns in the same order"),
    "labels_": ("y", "labels", "give every partition the same label columns in the same order"),
    "classes_": ("y", "labels", "give every partition the same label columns in the same order"),
}


def _check_same(name: str, value: Any, expected: Any, at: int, reference: int) -> None:
    if name == "observed_" or np.array_equal(value, expected):
        return
    argument, what, advice = _WHAT.get(name, ("X", name, "make the partitions alike"))
    found, wanted = (v.tolist() if isinstance(v, np.ndarray) else v for v in (value, expected))
    raise ValueError(
        f"partition {at} of {argument} has the {what} {found}, partition {reference} has {wanted}; {advice}"
    )


# --- On workers


def _n_bytes(value: Any) -> int:
    """Size of the arrays inside of an object, each counted once; Dask needs to know it for spilling."""
    seen: dict[int, Any] = {}
    todo, total = [value], 0
    while todo:
        inner = todo.pop()
        if id(inner) in seen or isinstance(inner, type | ModuleType | FunctionType):
            continue
        seen[id(inner)] = inner
        if isinstance(inner, np.ndarray):
            total += inner.nbytes
        elif isinstance(inner, list | tuple | dict):
            todo.extend(inner.values() if isinstance(inner, dict) else inner)
        todo.extend(getattr(inner, "__dict__", {}).values())
    return total


for _type in (Shard, Objective, PreferenceGraphs):
    sizeof.register(_type, _n_bytes)
