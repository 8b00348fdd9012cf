"""Rows and labels of y from which nothing can be learned: without any observed pair."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from labelrank.supervision import stacklevel_of_user

OnEmpty = Literal["warn", "error", "ignore"]

_NAMED = 10  # labels that a warning names


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
    if on_empty == "ignore" or not len(rows):
        return
    _warn_or_raise(
        f"y has {len(rows)} row{'s' * (len(rows) != 1)} without any observed pair (first: row {rows[0]}); drop "
        f'{"them" if len(rows) != 1 else "it"} or pass on_empty="ignore"',
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
        f"y has {len(unseen)} of {len(labels)} labels without any observed pair ({some}), whose ranks in predictions "
        'mean nothing; leave them out or pass on_empty="ignore"',
        on_empty,
    )


def _warn_or_raise(message: str, on_empty: OnEmpty) -> None:
    if on_empty == "error":
        raise ValueError(message)
    warnings.warn(message, UserWarning, stacklevel=stacklevel_of_user())
