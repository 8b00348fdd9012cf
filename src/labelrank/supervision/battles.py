"""Battles, "a beat b in instance i": repeats and contradictions resolved, and tables of them read."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, get_args

import narwhals as nw
import numpy as np
import numpy.typing as npt

from labelrank._arrays import FloatArray, is_missing
from labelrank.supervision.edges import Edges
from labelrank.supervision.frames import frame_of
from labelrank.supervision.groups import group_codes
from labelrank.supervision.stacklevel import stacklevel_of_user
from labelrank.supervision.vectors import Labels, object_array, vector

_TIE = re.compile(r"(tied?|drawn?)(?![a-z])", re.IGNORECASE)  # "tie (bothbad)" is one, "tiger" is none

Conflicts = Literal["error", "drop", "keep_majority", "keep"]
Ties = Literal["half", "drop"]


def resolved_edges(
    pairs: Edges,
    weight: FloatArray | None,
    conflicts: Conflicts,
    where: Callable[[int], str],
    labels: Labels | None,
) -> tuple[Edges, FloatArray | None]:
    """Sorted edges and their weights, conflicts resolved or refused; `where` names a pair in an error."""
    if conflicts not in get_args(Conflicts):
        raise ValueError(f'conflicts must be "error", "drop", "keep_majority" or "keep", got {conflicts!r}')
    order, starts = pairs.by_pair()
    if conflicts == "error":
        _refuse_conflicts(pairs, order, starts, where, labels)
        chosen = pairs.sorting()
        return pairs.take(chosen), None if weight is None else weight[chosen]

    votes = np.ones(len(order)) if weight is None else weight
    forward, backward = (
        np.add.reduceat(np.where(voted, votes, 0.0)[order], starts) if len(starts) else np.empty(0)
        for voted in (pairs.better < pairs.worse, pairs.better > pairs.worse)  # neither: a self-loop
    )
    votes, against = np.concatenate([forward, backward]), np.concatenate([backward, forward])
    kept = votes > 0
    if conflicts != "keep":
        kept &= votes > against if conflicts == "keep_majority" else against == 0
    first = pairs.take(order[starts])
    low, high = np.minimum(first.better, first.worse), np.maximum(first.better, first.worse)
    both = Edges(np.tile(first.instance, 2), np.concatenate([low, high]), np.concatenate([high, low]))
    edges, votes = both.take(kept), votes[kept]
    chosen = edges.sorting()
    weighted = weight is not None or (conflicts == "keep" and bool((votes != 1).any()))
    return edges.take(chosen), votes[chosen] if weighted else None


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
        f'{what}; a preference graph is simple: clean the pairs, or pass conflicts="keep" to keep all votes as '
        'weights, "keep_majority" or "drop"'
    )


# --- Tables with a row per battle


class Battles(NamedTuple):
    """Battles of a table: who won in which instance, ties as two battles of half a vote."""

    instance: npt.NDArray[np.intp]
    better: npt.NDArray[Any]
    worse: npt.NDArray[Any]
    weight: FloatArray
    n_instances: int
    labels: npt.NDArray[Any]  # of all battles, those of dropped ties included


def read_battles(frame: Any, instance: Any, instances: Any, a: Any, b: Any, winner: Any, ties: Ties) -> Battles:
    """Battles of a table with columns for the instance, two labels, and which of them won."""
    if ties not in get_args(Ties):
        raise ValueError(f'ties must be "half" or "drop", got {ties!r}')
    table = frame_of(frame)
    if table is None:
        raise TypeError(
            f"frame must be a data frame with a row per battle, got {type(frame).__name__}; for arrays use from_pairs"
        )
    first, second = (_column(table, name, argument) for name, argument in ((a, "a"), (b, "b")))
    itself = np.flatnonzero(first == second)
    if len(itself):
        row = int(itself[0])
        raise ValueError(f"row {row} is a battle of {first[row]!r} with itself; drop such rows")
    rows, n_instances = _instances(table, instance, instances)
    won = np.ones(len(first), dtype=np.int8)
    if winner is not None:
        won = _outcomes(first, second, _column(table, winner, "winner", missing_ok=True), (a, b, winner))
    tied = won == 0
    if ties == "drop" and tied.any():
        warnings.warn(
            f"from_battles drops {int(tied.sum())} ties of {len(won)} battles (first: row {int(np.argmax(tied))}); "
            'ties="half" keeps them as half a vote for each side',
            UserWarning,
            stacklevel=stacklevel_of_user(),
        )
    for_a, for_b = (np.flatnonzero(side | (tied & (ties == "half"))) for side in (won > 0, won < 0))
    return Battles(
        np.concatenate([rows[for_a], rows[for_b]]),
        np.concatenate([first[for_a], second[for_b]]),
        np.concatenate([second[for_a], first[for_b]]),
        np.where(tied[np.concatenate([for_a, for_b])], 0.5, 1.0),
        n_instances,
        np.concatenate([first, second]),
    )


def _column(table: nw.DataFrame[Any], name: Any, argument: str, *, missing_ok: bool = False) -> npt.NDArray[Any]:
    if name not in table.columns:
        raise ValueError(f"frame has no column {name!r}, given as {argument}; its columns are {table.columns}")
    values = vector(object_array(table.get_column(name).to_list()), f"column {name!r}", missing_ok=missing_ok)
    values[[is_missing(value) for value in values]] = None  # the NA of pandas cannot be compared
    return values


def _instances(table: nw.DataFrame[Any], instance: Any, instances: Any) -> tuple[npt.NDArray[np.intp], int]:
    """Row of the graphs of each battle, and their number."""
    if instance is None:
        if instances is not None:
            raise ValueError("instances needs instance=, the column that says which of them a battle belongs to")
        return np.arange(len(table)), len(table)
    ids = _column(table, instance, "instance").tolist()
    known = list(ids if instances is None else instances)
    codes = group_codes([*known, *ids], len(known) + len(ids))
    _, first, codes = np.unique(codes, return_index=True, return_inverse=True)
    codes = np.argsort(np.argsort(first))[codes]  # by first appearance
    if instances is None:
        return codes[len(known) :], int(codes.max(initial=-1)) + 1
    if len(known) and codes[: len(known)].max() < len(known) - 1:
        raise ValueError("instances has an id twice; it names the row of X of each instance")
    rows = codes[len(known) :]
    if (rows >= len(known)).any():
        at = int(np.argmax(rows >= len(known)))
        raise ValueError(f"column {instance!r} holds {ids[at]!r} in row {at}, which is not in instances")
    return rows, len(known)


def _outcomes(
    first: npt.NDArray[Any], second: npt.NDArray[Any], winner: npt.NDArray[Any], columns: tuple[Any, Any, Any]
) -> npt.NDArray[np.int8]:
    """1 where the first label won, -1 where the second did, 0 for a tie.

    A winner is a label of its row or the name of its column; a tie is the word "tie", "tied", "draw" or "drawn", or a
    text that begins with it.
    """
    a, b, name = columns
    named_a, named_b = (np.array([w == column for w in winner], dtype=bool) for column in (a, b))  # tuples too
    for_a, for_b = (first == winner) | named_a, (second == winner) | named_b
    tied = np.array([isinstance(w, str) and _TIE.match(w.strip()) is not None for w in winner], dtype=bool)
    if any(isinstance(w, (bool, np.bool_)) for w in winner) and not isinstance(first[0], (bool, np.bool_)):
        raise ValueError(
            f"column {columns[2]!r} holds True and False; it must hold the label that won, or the name of its column, "
            f"{columns[0]!r} or {columns[1]!r}"
        )
    unclear = (for_a & for_b) | ~(for_a | for_b | tied)
    if unclear.any():
        row = int(np.argmax(unclear))
        raise ValueError(
            f"column {name!r} holds {winner[row]!r} in row {row}, a battle of {first[row]!r} ({a}) and "
            f'{second[row]!r} ({b}); expected one of the two, the name of its column, or "tie"'
            + ('; if it was one, fill the column with "tie"' if winner[row] is None else "")
        )
    return for_a.astype(np.int8) - for_b.astype(np.int8)
