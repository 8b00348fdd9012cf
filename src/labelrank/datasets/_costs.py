"""Ranks from costs or scores, and what an empty cell among them means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from labelrank._arrays import FloatArray
from labelrank._compat import StrOptions
from labelrank.datasets._files import DataFile, DataFileError, excerpt
from labelrank.supervision import from_top_k, ranks_from_scores

Kind = Literal["ranks", "scores", "costs"]
Unsolved = Literal["last", "missing"]
KIND = [StrOptions({"ranks", "scores", "costs"})]
UNSOLVED = [StrOptions({"last", "missing"}), None]


def ranks_from_values(
    file: DataFile,
    values: FloatArray,
    kind: Kind,
    unsolved: Unsolved | None,
    labels: Sequence[Any],
    lines: Sequence[int] | None = None,
) -> FloatArray:
    """Ranks of the labels in each row; values that are missing are tied last, or not observed.

    Among ranks 1, 2, … a missing value was not observed. A missing cost or score may be a failure, and raises an error
    unless `unsolved` is given.
    """
    missing = np.isnan(values)
    if unsolved is None and missing.any() and not (kind == "ranks" and _are_ranks(values)):
        row, column = np.argwhere(missing)[0]
        where = f"row {row}" if lines is None else f"line {lines[row]}"
        raise DataFileError(
            f"{file.path.name}, {where}: nothing for the label {excerpt(str(labels[column]))}, one of {missing.sum()} "
            f'missing {"values" if kind == "ranks" else kind}; pass unsolved="last" if the label failed there, as a '
            'solver that timed out, and comes after all others, or unsolved="missing" if it was not observed'
        )
    ranks = values if kind == "ranks" else ranks_from_scores(values if kind == "scores" else -values)
    return from_top_k(ranks) if unsolved == "last" else ranks


def _are_ranks(values: FloatArray) -> bool:
    """Whether all values are places among the labels, half places for ties included."""
    known = values[~np.isnan(values)]
    return bool(((known >= 0) & (known <= values.shape[1]) & (2 * known == np.floor(2 * known))).all())
