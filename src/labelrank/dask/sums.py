"""Sums of arrays over the tasks of a cluster: by worker first, so that one array of each crosses the network."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

from distributed import Client, Future

_FAN_IN = 8


def by_worker(client: Client, futures: Sequence[Future]) -> list[list[int]]:
    """Positions of finished futures, grouped by the worker that holds them."""
    holders = client.who_has(list(futures))
    groups: dict[Any, list[int]] = {}
    for i, future in enumerate(futures):
        groups.setdefault(min(holders[future.key], default=None), []).append(i)
    return list(groups.values())


def tree_sum(
    client: Client, futures: Sequence[Future], groups: Sequence[Sequence[int]], add: Callable[..., Any] = operator.add
) -> Future:
    """The sum of the results of futures, a future itself.

    Parameters
    ----------
    client : Client
        The client.
    futures : sequence of Future
        Summands; at least one.
    groups : sequence of sequences of int
        Positions of the summands that are on the same worker, from :func:`by_worker`.
    add : callable
        The sum of two results; the results themselves must not be changed.

    Returns
    -------
    Future
    """
    levels = [[futures[i] for i in group] for group in groups]
    while True:
        while max(map(len, levels)) > 1:
            chunks = [level[i : i + _FAN_IN] for level in levels for i in range(0, len(level), _FAN_IN)]
            counts = [-(-len(level) // _FAN_IN) for level in levels]
            sums = iter(client.map(_total, chunks, add=add, pure=False, priority=1))  # before further summands
            levels = [[next(sums) for _ in range(count)] for count in counts]
        if len(levels) == 1:
            return levels[0][0]
        levels = [[level[0] for level in levels]]


def _total(summands: Sequence[Any], add: Callable[..., Any]) -> Any:
    return functools.reduce(add, summands)
