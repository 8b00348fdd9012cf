"""Battles, "a beat b in instance i", made into simple graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import numpy.typing as npt

from labelrank._arrays import FloatArray
from labelrank.supervision.edges import Edges
from labelrank.supervision.vectors import Labels

Conflicts = Literal["error", "drop", "keep_majority"]


def simple_edges(
    pairs: Edges,
    weight: FloatArray | None,
    n_labels: int,
    conflicts: Conflicts,
    where: Callable[[int], str],
    labels: Labels | None,
) -> tuple[Edges, FloatArray | None]:
    """Sorted edges and their weights, conflicts resolved or refused; `where` names a pair in an error."""
    if conflicts not in ("error", "drop", "keep_majority"):
        raise ValueError(f'conflicts must be "error", "drop" or "keep_majority", got {conflicts!r}')
    low, high = np.minimum(pairs.better, pairs.worse), np.maximum(pairs.better, pairs.worse)
    key = (pairs.instance * n_labels + low) * n_labels + high
    order = np.argsort(key, kind="stable")
    starts = np.flatnonzero(np.diff(key[order], prepend=-1))  # of the runs of one pair of labels
    if conflicts == "error":
        _refuse_conflicts(pairs, order, starts, where, labels)
        chosen = pairs.sorting()
        return pairs.take(chosen), None if weight is None else weight[chosen]

    votes = np.ones(len(key)) if weight is None else weight
    forward, backward = (
        np.add.reduceat(np.where(voted, votes, 0.0)[order], starts) if len(starts) else np.empty(0)
        for voted in (pairs.better < pairs.worse, pairs.better > pairs.worse)  # neither: a self-loop
    )
    kept = forward != backward if conflicts == "keep_majority" else (forward > 0) != (backward > 0)
    first = order[starts[kept]]
    wins = (forward > backward)[kept]
    low, high = low[first], high[first]
    edges = Edges(pairs.instance[first], np.where(wins, low, high), np.where(wins, high, low))
    chosen = edges.sorting()
    total = np.maximum(forward, backward)[kept]
    return edges.take(chosen), None if weight is None else total[chosen]


def _refuse_conflicts(
    pairs: Edges,
    order: npt.NDArray[np.intp],
    starts: npt.NDArray[np.intp],
    where: Callable[[int], str],
    labels: Labels | None,
) -> None:
    """An error for the first pair, in the order of the input, that makes the graph not simple."""
    instance, better, worse = pairs
    repeated = starts[np.diff(starts, append=len(better)) > 1]
    offenders = np.concatenate([np.flatnonzero(better == worse), order[repeated + 1]])  # stable: second mentions
    if not offenders.size:
        return
    at = int(offenders.min())
    a, b = (repr(int(label) if labels is None else labels[label]) for label in (better[at], worse[at]))
    before = (instance[:at] == instance[at]) & (better[:at] == better[at]) & (worse[:at] == worse[at])
    if better[at] == worse[at]:
        what = f"{where(at)} prefers the label {a} to itself"
    elif before.any():
        what = f"{where(at)} repeats the edge from {a} to {b}"
    else:
        what = f"{where(at)} prefers {a} to {b}, an earlier pair {b} to {a}"
    raise ValueError(
        f'{what}; a preference graph is simple: clean the pairs, or pass conflicts="drop" or "keep_majority"'
    )
