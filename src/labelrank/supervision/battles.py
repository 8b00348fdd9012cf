"""Battles, "a beat b in instance i", made into simple graphs; and tables with one column per pair."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from labelrank.supervision._inputs import RANKS, Labels, float_matrix, label_names, object_array, refuse_infinity
from labelrank.supervision._labels import label_columns
from labelrank.supervision.edges import Edges

Conflicts = Literal["error", "drop", "keep_majority"]

_UNNAMED = re.compile(r"Unnamed: \d+")  # what pandas calls a column without a name, often a saved index
_EXPECTED = "1, 0, -1 or nothing"
_CHOOSE = "; pass pairs= to choose the columns"


# ------------------------------------------------------------------------------------------------------------
# Simple graphs
# ------------------------------------------------------------------------------------------------------------


def simple_edges(
    pairs: Edges,
    weight: npt.NDArray[np.float64] | None,
    n_labels: int,
    conflicts: Conflicts,
    where: Callable[[int], str],
    labels: Labels | None,
) -> tuple[Edges, npt.NDArray[np.float64] | None]:
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


# ------------------------------------------------------------------------------------------------------------
# One column per pair
# ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PairTable:
    """The battles of a table: who won in which row and column."""

    n_rows: int
    labels: Labels
    pairs: Edges
    column_names: list[Any]
    column: npt.NDArray[np.intp]  # of each pair

    def where(self, at: int) -> str:
        """Row and column of a pair, for an error message."""
        return f"column {self.column_names[self.column[at]]!r} (row {self.pairs.instance[at]})"


def read_pair_table(table: Any, pairs: Sequence[Any] | None, sep: str, labels: Any) -> PairTable:
    """Battles of a table with 1, 0, -1 or nothing in a column per pair."""
    values, chosen = _pair_columns(table, pairs, sep)
    odd = ~(np.isnan(values) | np.isin(values, (-1, 0, 1)))
    if odd.any():
        row, at = np.argwhere(odd)[0]
        raise ValueError(
            f"table holds {values[row, at]:g} in row {row}, column {chosen[at]!r}; expected 1 (the first label is "
            f"preferred), -1 (the second), 0 (a tie) or nothing{_CHOOSE}"
        )
    ends = object_array(label for pair in chosen for label in _split_pair(pair, sep))
    columns, names, _ = label_columns(ends, list(dict.fromkeys(ends)) if labels is None else labels, None, "pairs")
    assert names is not None
    first, second = columns[::2], columns[1::2]
    row, at = np.nonzero(np.abs(values) == 1)
    won = values[row, at] > 0
    battles = Edges(row, np.where(won, first[at], second[at]), np.where(won, second[at], first[at]))
    return PairTable(len(values), names, battles, chosen, at)


def _pair_columns(table: Any, pairs: Sequence[Any] | None, sep: str) -> tuple[npt.NDArray[np.float64], list[Any]]:
    """Values of the columns that hold pairs, and what these columns are called."""
    names = label_names(table)
    if names is not None:
        chosen = [c for c in names if _is_pair(c, sep)] if pairs is None else list(pairs)
        missing = [c for c in chosen if c not in set(names)]
        if missing:
            raise ValueError(f"table has no column {missing[0]!r}")
        if not chosen:
            raise ValueError(f"table has no column with {sep!r} in its name; a column per pair is called 'a{sep}b'")
        twice = [c for c in chosen if chosen.count(c) > 1 or names.tolist().count(c) > 1]
        if twice:
            raise ValueError(f"table has the column {twice[0]!r} twice; keep one of them")
        table = table[chosen]
    elif pairs is None:
        raise ValueError(f"pairs must be given when table is an array: one 'a{sep}b' or (a, b) per column")
    else:
        chosen = list(pairs)
    advice = replace(
        RANKS,
        ragged="one entry per pair, None for a pair that was not asked",
        text=f"expected {_EXPECTED}{_CHOOSE}",
        sparse="a pair that was not asked is NaN. Pass table.toarray() if 0, a tie, is meant",
        masked="mark a pair that was not asked with NaN instead: {name}.astype(float).filled(np.nan)",
        vector="for one instance pass {name}[np.newaxis, :]",
    )
    values = float_matrix(table, "table", _EXPECTED, advice)
    refuse_infinity(values, "table", f"expected {_EXPECTED}{_CHOOSE}")
    if values.shape[1] != len(chosen):
        raise ValueError(f"pairs has {len(chosen)} entries, but table has {values.shape[1]} columns")
    return values, chosen


def _is_pair(column: Any, sep: str) -> bool:
    return isinstance(column, str) and sep in column and not _UNNAMED.fullmatch(column)


def _split_pair(pair: Any, sep: str) -> tuple[Any, Any]:
    parts = pair.split(sep) if isinstance(pair, str) else tuple(pair)
    if len(parts) != 2:
        raise ValueError(f"pairs must be 'a{sep}b' or (a, b), got {pair!r}; pass another sep?")
    return parts[0], parts[1]
