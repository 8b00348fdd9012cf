"""What is measured: covering errors from the numbers of missed and added labels, and three ranking measures."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

from labelrank.decompositions import get_covering
from labelrank.metrics import average_precision, coverage, one_error

FloatArray = npt.NDArray[np.float64]

COVERINGS = {
    "zero_one": "ZO",
    "hamming": "HM",
    "two_sets": "TS",
    "weighted_positive": "WP",
    "weighted_negative": "WN",
}
MEASURES = {**COVERINGS, "one_error": "OneErr", "coverage": "Coverage", "average_precision": "AvgP"}


def mistakes(Y: Any, scores: Any) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Count, for each example, the relevant labels that are missed and the other labels that are added.

    Examples
    --------
    >>> from papers.amit2007.measures import mistakes
    >>> mistakes([[1, 1, 0], [0, 0, 1]], [[1.0, -1.0, -2.0], [3.0, 1.0, 0.0]])
    (array([1, 1]), array([0, 2]))
    """
    relevant, predicted = np.asarray(Y) > 0, np.asarray(scores) > 0
    return (relevant & ~predicted).sum(axis=1), (predicted & ~relevant).sum(axis=1)


def covering_errors(missed: Any, added: Any) -> dict[str, FloatArray]:
    """Return the five covering errors of each example, from the numbers of missed and of added labels.

    The five coverings treat all relevant labels alike, and all others, so these two numbers are enough. The means are
    those of :func:`labelrank.metrics.covering_error`.

    Examples
    --------
    >>> from papers.amit2007.measures import covering_errors
    >>> {name: errors.tolist() for name, errors in covering_errors([2, 0], [1, 0]).items()}
    {'zero_one': [1.0, 0.0], 'hamming': [3.0, 0.0], 'two_sets': [2.0, 0.0], 'weighted_positive': [7.0, 0.0],
     'weighted_negative': [6.0, 0.0]}
    """
    errors = {}
    for name in COVERINGS:
        covering: Any = get_covering(name)
        sides = [
            weight * np.minimum(wrong, 1 if how == "together" else np.inf)
            for how, weight, wrong in (
                (covering.positive, covering.positive_weight, missed),
                (covering.negative, covering.negative_weight, added),
            )
        ]
        errors[name] = np.maximum(*sides) if covering.joined else sides[0] + sides[1]
    return errors


def measures(Y: Any, scores: Any) -> dict[str, float]:
    """Return the eight numbers of a row: covering errors, one-error, coverage (from 1), average precision."""
    numbers = {name: float(errors.mean()) for name, errors in covering_errors(*mistakes(Y, scores)).items()}
    numbers |= {metric.__name__: float(metric(Y, scores)) for metric in (one_error, coverage, average_precision)}
    return numbers


def pack(counts: Any) -> str:
    """Return small whole numbers as a short text."""
    return base64.b64encode(zlib.compress(np.asarray(counts, dtype="<u2").tobytes(), 9)).decode()


def unpack(text: str) -> npt.NDArray[np.uint16]:
    """Return the numbers of a text by :func:`pack`."""
    return np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype="<u2")
