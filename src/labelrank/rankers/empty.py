"""Rows and labels of y from which nothing can be learned: without any observed pair."""

from __future__ import annotations

import warnings
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrank._arrays import BoolArray, FloatArray
from labelrank.supervision import PreferenceGraphs, stacklevel_of_user

OnEmpty = Literal["warn", "error", "ignore"]

_NAMED = 10  # labels that a warning names


class Observed(NamedTuple):
    """Number of rows of y without observed pairs, and the labels that are compared; parts of y are added by ``+``."""

    n_rows: int
    n_empty: int  # rows with a weight and without any observed pair
    first_empty: int  # the first of them
    compared: BoolArray | None  # labels of a row with a pair and a weight; None if that does not matter

    @classmethod
    def of_rows(cls, informative: BoolArray, compared: BoolArray | None = None) -> Observed:
        """Count the rows that are not informative."""
        empty = np.flatnonzero(~informative)
        return cls(len(informative), len(empty), int(empty[0]) if len(empty) else 0, compared)

    @classmethod
    def of_pairs(cls, graphs: PreferenceGraphs, weight: FloatArray) -> Observed:
        """Find rows without pairs and the labels that are compared; nothing is reported for a single label."""
        if graphs.shape[1] < 2:
            return cls(len(graphs), 0, 0, None)
        has_pairs = graphs.has_pairs()
        return cls.of_rows(has_pairs | (weight == 0), graphs.compared_labels(has_pairs & (weight > 0)))

    def __add__(self, other: Observed) -> Observed:  # type: ignore[override]
        first = self.first_empty if self.n_empty else self.n_rows + other.first_empty
        compared = other.compared if self.compared is None else self.compared
        if self.compared is not None and other.compared is not None:
            compared = self.compared | other.compared
        return Observed(self.n_rows + other.n_rows, self.n_empty + other.n_empty, first, compared)

    def report(self, labels: npt.NDArray[Any], on_empty: OnEmpty) -> None:
        """Warn or raise about rows without any observed pair, and about labels that no row compares."""
        report_empty(self.n_empty, self.first_empty, on_empty)
        if self.compared is not None:
            report_unseen_labels(self.compared, labels, on_empty)


def report_empty_rows(informative: npt.NDArray[np.bool_], on_empty: OnEmpty) -> None:
    """Warn or raise if there are rows without any observed pair: all missing, a single label, or all tied.

    Parameters
    ----------
    informative : bool ndarray of shape (n_samples,)
        Rows with an observed pair, or without a weight.
    on_empty : {"warn", "error", "ignore"}
        What to do.
    """
    rows = np.flatnonzero(~informative)
    if len(rows):
        report_empty(len(rows), int(rows[0]), on_empty)


def report_empty(count: int, first: int, on_empty: OnEmpty) -> None:
    """Warn or raise about a number of rows without any observed pair, given the first of them."""
    if on_empty == "ignore" or not count:
        return
    _warn_or_raise(
        f"y has {count} row{'s' * (count != 1)} without any observed pair (first: row {first}); drop "
        f'{"them" if count != 1 else "it"} or pass on_empty="ignore"',
        on_empty,
    )


def report_unseen_labels(seen: npt.NDArray[np.bool_], labels: npt.NDArray[Any], on_empty: OnEmpty) -> None:
    """Warn or raise if there are labels without any observed pair, unless there is no pair at all.

    Parameters
    ----------
    seen : bool ndarray of shape (n_labels,)
        Labels with an observed pair.
    labels : ndarray of shape (n_labels,)
        Names of all labels.
    on_empty : {"warn", "error", "ignore"}
        What to do.
    """
    unseen = labels[~seen].tolist()
    if on_empty == "ignore" or not unseen or not seen.any():
        return
    some = ", ".join(map(repr, unseen[:_NAMED])) + ", ..." * (len(unseen) > _NAMED)
    _warn_or_raise(
        f"y has {len(unseen)} of {len(labels)} labels without any observed pair ({some}), so their predicted ranks are "
        'arbitrary; remove these labels or pass on_empty="ignore"',
        on_empty,
    )


def _warn_or_raise(message: str, on_empty: OnEmpty) -> None:
    if on_empty == "error":
        raise ValueError(message)
    warnings.warn(message, UserWarning, stacklevel=stacklevel_of_user())
