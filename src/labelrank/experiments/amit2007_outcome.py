"""What :mod:`labelrank.experiments.amit2007` measures, and what came out: errors, and whether the diagonal wins."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from labelrank.experiments.amit2007_data import Problem, Protocol
from labelrank.experiments.cache import Cell, Numbers
from labelrank.experiments.paired import paired_comparison

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

COVERINGS = {
    "zero_one": "ZO",
    "hamming": "HM",
    "two_sets": "TS",
    "weighted_positive": "WP",
    "weighted_negative": "WN",
}
MEASURES = {**COVERINGS, "one_error": "OneErr", "coverage": "Coverage", "average_precision": "AvgP"}
SIGNIFICANT = 0.01  # the level of the paper


# --- What is measured


def mistakes(Y: Any, scores: Any) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """For each example, how many relevant labels are missed and how many others are added.

    Examples
    --------
    >>> from labelrank.experiments.amit2007_outcome import mistakes
    >>> mistakes([[1, 1, 0], [0, 0, 1]], [[1.0, -1.0, -2.0], [3.0, 1.0, 0.0]])
    (array([1, 1]), array([0, 2]))
    """
    relevant, predicted = np.asarray(Y) > 0, np.asarray(scores) > 0
    return (relevant & ~predicted).sum(axis=1), (predicted & ~relevant).sum(axis=1)


def covering_errors(missed: Any, added: Any) -> dict[str, FloatArray]:
    """The five covering errors of each example, from the numbers of missed and of added labels.

    The five coverings treat all relevant labels alike, and all others, so these two numbers are enough. The means are
    those of :func:`labelrank.metrics.covering_error`.

    Examples
    --------
    >>> from labelrank.experiments.amit2007_outcome import covering_errors
    >>> {name: errors.tolist() for name, errors in covering_errors([2, 0], [1, 0]).items()}
    {'zero_one': [1.0, 0.0], 'hamming': [3.0, 0.0], 'two_sets': [2.0, 0.0], 'weighted_positive': [7.0, 0.0],
     'weighted_negative': [6.0, 0.0]}
    """
    from labelrank.decompositions import get_covering

    errors = {}
    for name in COVERINGS:
        covering: Any = get_covering(name)
        sides = []
        for how, weight, wrong in (
            (covering.positive, covering.positive_weight, missed),
            (covering.negative, covering.negative_weight, added),
        ):
            sides.append(weight * np.minimum(wrong, 1 if how == "together" else np.inf))
        errors[name] = np.maximum(*sides) if covering.joined else sides[0] + sides[1]
    return errors


def measures(Y: Any, scores: Any) -> dict[str, float]:
    """The eight numbers of a row: covering errors, one-error, coverage (counted from 1), average precision."""
    from labelrank.metrics import average_precision, coverage, one_error

    numbers = {name: float(errors.mean()) for name, errors in covering_errors(*mistakes(Y, scores)).items()}
    numbers |= {metric.__name__: float(metric(Y, scores)) for metric in (one_error, coverage, average_precision)}
    return numbers


def pack(counts: Any) -> str:
    """Small numbers as a short text."""
    return base64.b64encode(zlib.compress(np.asarray(counts, dtype="<u2").tobytes(), 9)).decode()


def unpack(text: str) -> npt.NDArray[np.uint16]:
    """The numbers of a text by :func:`pack`."""
    return np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype="<u2")


# --- What came out


@dataclass(frozen=True)
class Outcome:
    """The numbers of all cells of one problem."""

    problem: Problem
    protocol: Protocol
    cells: Sequence[Cell]
    results: Sequence[Numbers]

    def of(self, way: str) -> list[Numbers]:
        """What one of the `WAYS` of minimising gave, for each covering."""
        solver = "boosting" if way == "boosting" else "lbfgs"
        found = {}
        for cell, numbers in zip(self.cells, self.results, strict=True):
            if cell["learner"]["solver"] == solver:
                # Of equals the larger penalty, which comes first; the smallest where all coverings get the same.
                at = int(np.argmin(numbers["held_out"])) if way == "chosen" else -1
                found[cell["learner"]["covering"]] = {**numbers, **numbers["path"][at]}
        return [found[covering] for covering in COVERINGS]

    def measures(self, way: str, part: str) -> FloatArray:
        """Array of shape (trained with, the eight measures)."""
        return np.array([[numbers[part]["measures"][name] for name in MEASURES] for numbers in self.of(way)])

    def errors(self, way: str, part: str) -> FloatArray:
        """The covering errors, of shape (trained with, measured with, example)."""
        counts = [(unpack(numbers[part]["missed"]), unpack(numbers[part]["added"])) for numbers in self.of(way)]
        return np.array([list(covering_errors(*each).values()) for each in counts])

    def curves(self, part: str = "train") -> FloatArray:
        """The errors as boosting goes on, of shape (trained with, measured with, 1 + rounds)."""
        return np.array([[numbers["curves"][part][name] for name in COVERINGS] for numbers in self.of("boosting")])

    def diagonal(self, way: str, part: str) -> Diagonal:
        """Where the diagonal wins."""
        return compare_diagonal(self.errors(way, part))


@dataclass(frozen=True)
class Diagonal:
    """The diagonal of a table against the other rows, column by column."""

    difference: FloatArray  #: error of the diagonal minus that of the row, of shape (row, column)
    p: FloatArray  #: of this difference, two-sided; NaN on the diagonal and where all examples agree

    @property
    def best(self) -> BoolArray:
        """Columns in which the diagonal is smaller than all other rows."""
        return np.asarray(((self.difference < 0) | self._itself).all(axis=0))

    @property
    def clearly_best(self) -> BoolArray:
        """Columns in which it is smaller than all other rows, with p < 0.01 for each."""
        return np.asarray(((self.difference < 0) & (self.p < SIGNIFICANT) | self._itself).all(axis=0))

    @property
    def clearly_beaten(self) -> BoolArray:
        """Columns in which another row is smaller with p < 0.01."""
        return np.asarray(((self.difference > 0) & (self.p < SIGNIFICANT)).any(axis=0))

    @property
    def _itself(self) -> BoolArray:
        return np.eye(len(self.p), dtype=bool)


def compare_diagonal(errors: Any) -> Diagonal:
    """Compare the diagonal of a table with the other rows of each column.

    Parameters
    ----------
    errors : array-like of shape (n, n, n_examples)
        Row: what was trained with; column: what is measured; for each example.

    Returns
    -------
    Diagonal

    Examples
    --------
    >>> from labelrank.experiments.amit2007_outcome import compare_diagonal
    >>> errors = [[[0, 0, 0, 1], [1, 0, 1, 0]], [[1, 1, 1, 1], [1, 0, 0, 1]]]
    >>> diagonal = compare_diagonal(errors)
    >>> diagonal.best, diagonal.clearly_best
    (array([ True, False]), array([False, False]))
    >>> diagonal.p.round(3)
    array([[  nan, 1.   ],
           [0.058,   nan]])
    """
    errors = np.asarray(errors, dtype=np.float64)
    n = len(errors)
    difference, p = np.zeros((n, n)), np.full((n, n), np.nan)
    for row, column in zip(*np.nonzero(~np.eye(n, dtype=bool)), strict=True):
        # The examples are independent, so nothing is to be corrected for shared training data.
        paired = paired_comparison(errors[column, column], errors[row, column], test_share=0.0)
        difference[row, column], p[row, column] = paired.difference, paired.p
    return Diagonal(difference, p)
