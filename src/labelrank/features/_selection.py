"""Taking the largest scores."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import numpy.typing as npt


def largest(scores: npt.NDArray[np.float64], k: int) -> npt.NDArray[np.bool_]:
    """Mask of the `k` largest scores; of those that are tied at the cut, the ones with the lowest index."""
    if k >= len(scores):
        return np.ones(len(scores), dtype=bool)
    cut = np.partition(scores, len(scores) - k)[len(scores) - k]
    kept = np.asarray(scores > cut)
    tied = np.flatnonzero(scores == cut)
    kept[tied[: k - np.count_nonzero(kept)]] = True
    return kept


def check_number_of_terms(value: Any, name: str) -> int:
    """A number of terms to keep."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be an integer from 1, got {value!r}")
    return int(value)
