"""Tables with one column per pair of labels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from labelrank._arrays import FloatArray
from labelrank.supervision.edges import Edges
from labelrank.supervision.frames import frame_of
from labelrank.supervision.labels import label_columns
from labelrank.supervision.matrices import SCORES, float_matrix
from labelrank.supervision.vectors import Labels, object_array

_UNNAMED = re.compile(r"Unnamed: \d+")  # what pandas calls a column without a name, often a saved index
_EXPECTED = "1, 0, -1 or nothing"
_CHOOSE = "; pass pairs= to choose the columns"


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


def _pair_columns(table: Any, pairs: Sequence[Any] | None, sep: str) -> tuple[FloatArray, list[Any]]:
    """Values of the columns that hold pairs, and the names of these columns."""
    frame = frame_of(table)
    if frame is None and pairs is None:
        raise ValueError(f"pairs must be given when table is an array: one 'a{sep}b' or (a, b) per column")
    chosen = list(pairs) if pairs is not None else []
    if frame is not None:
        chosen = chosen if pairs is not None else [c for c in frame.columns if _is_pair(c, sep)]
        missing = [c for c in chosen if c not in frame.columns]
        if missing:
            raise ValueError(f"table has no column {missing[0]!r}")
        if not chosen:
            raise ValueError(f"table has no column with {sep!r} in its name; a column per pair is called 'a{sep}b'")
        twice = [c for c in chosen if chosen.count(c) > 1]
        if twice:
            raise ValueError(f"pairs has the column {twice[0]!r} twice; keep one of them")
        table = frame.select(chosen)
    advice = replace(
        SCORES,
        ragged="one entry per pair, None for a pair that was not asked",
        text=f"expected {_EXPECTED}{_CHOOSE}",
        sparse="a pair that was not asked is NaN. Pass table.toarray() if 0, a tie, is meant",
        masked="mark a pair that was not asked with NaN instead: {name}.astype(float).filled(np.nan)",
        infinite=f"expected {_EXPECTED}{_CHOOSE}",
        vector="for one instance pass {name}[np.newaxis, :]",
    )
    values = float_matrix(table, "table", _EXPECTED, advice)
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
