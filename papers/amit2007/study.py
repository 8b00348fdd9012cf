"""The results for one problem, and whether the diagonal wins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from labelrank.metrics import paired_comparison
from papers.amit2007.data import Problem, Protocol
from papers.amit2007.measures import COVERINGS, MEASURES, FloatArray, covering_errors, unpack
from papers.frame import Cell, Numbers, Outcome

BoolArray = npt.NDArray[np.bool_]

WAYS = {"chosen": "L-BFGS, chosen penalty", "same": "L-BFGS, one penalty", "boosting": "boosting"}
SIGNIFICANT = 0.01  # the level of the paper


@dataclass(frozen=True)
class Study:
    """The results of all cells of one problem."""

    problem: Problem
    protocol: Protocol
    results: Sequence[tuple[Cell, Numbers]]

    def of(self, way: str) -> list[Numbers]:
        """Return the results of one of the `WAYS` to minimize, for each covering."""
        solver = "boosting" if way == "boosting" else "lbfgs"
        found = {}
        for cell, numbers in self.results:
            if cell["learner"]["solver"] == solver:
                # Of equals the larger penalty, which comes first; the smallest where all coverings get the same.
                at = int(np.argmin(numbers["held_out"])) if way == "chosen" else -1
                found[cell["learner"]["covering"]] = {**numbers, **numbers["path"][at]}
        return [found[covering] for covering in COVERINGS]

    def measures(self, way: str, part: str) -> FloatArray:
        """Return the eight measures, of shape (trained with, measure)."""
        return np.array([[numbers[part]["measures"][name] for name in MEASURES] for numbers in self.of(way)])

    def errors(self, way: str, part: str) -> FloatArray:
        """Return the covering errors, of shape (trained with, measured with, example)."""
        counts = [(unpack(numbers[part]["missed"]), unpack(numbers[part]["added"])) for numbers in self.of(way)]
        return np.array([list(covering_errors(*each).values()) for each in counts])

    def curves(self, part: str = "train") -> FloatArray:
        """Return the errors after each round of boosting, of shape (trained with, measured with, 1 + rounds)."""
        return np.array([[numbers["curves"][part][name] for name in COVERINGS] for numbers in self.of("boosting")])

    def diagonal(self, way: str, part: str) -> Diagonal:
        """Return where the diagonal wins."""
        return compare_diagonal(self.errors(way, part))


def studies(found: Outcome) -> list[Study]:
    """Split the outcome of an experiment by problems."""
    results = list(zip(found.cells, found.results, strict=True))
    return [
        Study(problem, found.protocol.of(problem), [each for each in results if each[0]["data"][0] == problem.name])
        for problem in found.problem
    ]


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

    Examples
    --------
    >>> from papers.amit2007.study import compare_diagonal
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
        paired = paired_comparison(errors[column, column], errors[row, column])
        difference[row, column], p[row, column] = paired.difference, paired.p
    return Diagonal(difference, p)
