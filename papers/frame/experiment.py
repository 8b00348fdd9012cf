"""An experiment: data, cells, what is computed for a cell, and the report.

A *cell* is a dict of JSON values that determine the numbers of one fit: data set, protocol, learner, fold. Cells are
independent, so they run in parallel. Each result is stored as soon as it is computed, so an interrupted run continues
where it stopped.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from labelrank.cli.progress import progress_bar
from papers.frame.cache import Cell, Numbers, ResultCache
from papers.frame.table import Report

PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class Outcome:
    """The results of all cells, and what they were computed for."""

    problem: Any
    protocol: Any
    cells: Sequence[Cell]
    results: Sequence[Numbers]
    quick: bool = False

    def of(self, **values: Any) -> list[Numbers]:
        """Return the results of the cells that have these values; parameters of the learner are values, too."""
        return [
            result
            for cell, result in zip(self.cells, self.results, strict=True)
            if values.items() <= {**cell, **cell.get("learner", {})}.items()
        ]


@dataclass(frozen=True)
class Experiment:
    """The tables of a paper.

    Parameters
    ----------
    name : str
        Name of the paper, which is also the name of its folder.
    title : str
        Authors, title and place, in a line.
    version : int
        Version of everything that determines a number and is not in a cell. Increase it when `compute` changes.
    data : mapping of str to str or None
        Names of the data sets, each with the folder of its files below ``LABELRANK_DATA``, or None if there is no
        default folder. The first is the default.
    protocol, quick : object
        Parameters of the experiment, for all data sets and for a quick run.
    load : callable
        ``load(data, folder, protocol)`` reads a data set and returns the problem.
    generate : callable
        ``generate(protocol)`` returns a small problem for a quick run.
    cells : callable
        ``cells(problem, protocol)`` lists the cells.
    compute : callable
        ``compute(cell, problem)`` returns the numbers of a cell as a dict of JSON values.
    report : callable
        ``report(outcome)`` makes the tables.
    """

    name: str
    title: str
    version: int
    data: Mapping[str, str | None]
    protocol: Any
    quick: Any
    load: Callable[[str, Path | None, Any], Any]
    generate: Callable[[Any], Any]
    cells: Callable[[Any, Any], list[dict[str, Any]]]
    compute: Callable[[Cell, Any], Numbers]
    report: Callable[[Outcome], Report]

    def run(self, data: str | None = None, **options: Any) -> Report:
        """Compute the tables; see :meth:`outcome` for the parameters."""
        return self.report(self.outcome(data, **options))

    def outcome(
        self,
        data: str | None = None,
        *,
        folder: PathLike | None = None,
        quick: bool = False,
        n_jobs: int | None = 1,
        cache: PathLike | None = None,
        protocol: Any = None,
    ) -> Outcome:
        """Compute the results of all cells, or read them from the cache.

        Parameters
        ----------
        data : str, optional
            Name of a data set, by default the first.
        folder : str or path-like, optional
            The folder with its files, by default found through the environment variable ``LABELRANK_DATA``.
        quick : bool, default=False
            Whether to run a small generated problem, which needs no files, instead.
        n_jobs : int, optional
            Number of processes; -1 for one per core.
        cache : str or path-like, optional
            Folder for results, by default :func:`~papers.frame.default_folder`. A quick run without it stores nothing.
        protocol : object, optional
            Parameters other than those of the paper.
        """
        data = next(iter(self.data)) if data is None else data
        if data not in self.data:
            raise ValueError(f"{self.name} has no data set {data!r}; known: {', '.join(self.data)}")
        protocol = protocol or (self.quick if quick else self.protocol)
        problem = self.generate(protocol) if quick else self.load(data, self._folder(data, folder), protocol)
        cells = self.cells_of(problem, protocol)
        stored = None if quick and cache is None else ResultCache(cache)
        results = run_cells(self.compute, cells, problem, cache=stored, n_jobs=n_jobs, title=self.name)
        return Outcome(problem, protocol, cells, results, quick)

    def cells_of(self, problem: Any, protocol: Any) -> list[dict[str, Any]]:
        """List the cells with the name and the version of the experiment."""
        return [{"experiment": self.name, "version": self.version, **cell} for cell in self.cells(problem, protocol)]

    def _folder(self, data: str, folder: PathLike | None) -> Path | None:
        below = self.data[data]
        if folder is not None or below is None:
            return None if folder is None else Path(folder)
        home = os.environ.get("LABELRANK_DATA")
        if not home:
            raise ValueError(
                f"the files of {data} are not in the repository: give their folder (folder=, --folder), or set "
                f"LABELRANK_DATA to a folder with {below or 'all data sets'} in it; a quick run (quick=True, --quick) "
                "needs no files"
            )
        return Path(home) / below


def run_cells(
    compute: Callable[[Cell, Any], Numbers],
    cells: Sequence[Cell],
    problem: Any = None,
    *,
    cache: ResultCache | None = None,
    n_jobs: int | None = 1,
    title: str = "cells",
) -> list[Numbers]:
    """Compute the cells that are not in the cache, and return the numbers of all cells, in order.

    Examples
    --------
    >>> from papers.frame import run_cells
    >>> run_cells(lambda cell, base: {"value": base ** cell["power"]}, [{"power": 2}, {"power": 3}], 10)
    [{'value': 100}, {'value': 1000}]
    """
    results = [cache.get(cell) if cache else None for cell in cells]
    missing = [i for i, result in enumerate(results) if result is None]
    with progress_bar(title, len(cells), len(cells) - len(missing)) as advance:
        jobs = (delayed(_run_cell)(i, compute, cells[i], problem, cache) for i in missing)
        # Unordered, so that the bar advances with each cell that is done; the number of the cell comes along.
        for i, numbers in Parallel(n_jobs=n_jobs, return_as="generator_unordered")(jobs):
            results[i] = numbers
            advance()
    return [result for result in results if result is not None]


def _run_cell(
    index: int, compute: Callable[[Cell, Any], Numbers], cell: Cell, problem: Any, cache: ResultCache | None
) -> tuple[int, Numbers]:
    try:
        # One BLAS thread per process: sums have one order, so that the numbers do not depend on n_jobs.
        with threadpool_limits(1):
            numbers = compute(cell, problem)
    except Exception as error:
        error.add_note(f"in the cell {dict(cell)}")
        raise
    if cache:
        cache.put(cell, numbers)
    return index, numbers


def fit_quietly(estimator: Any, X: Any, y: Any) -> Any:
    """Fit without a warning if the solver did not converge; papers report the gap that was reached."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return estimator.fit(X, y)


def fold_of(
    n_samples: int, *, n_folds: int, fold: int, repeat: int = 0, seed: int = 0
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the training rows and the test rows of one fold of one repetition of a shuffled cross-validation.

    Examples
    --------
    >>> from papers.frame import fold_of
    >>> train, test = fold_of(6, n_folds=3, fold=0, repeat=1)
    >>> sorted([*train, *test]) == list(range(6))
    True
    """
    shuffle = np.random.RandomState(np.random.SeedSequence([seed, repeat]).generate_state(1)[0])
    train, test = list(KFold(n_folds, shuffle=True, random_state=shuffle).split(np.empty(n_samples)))[fold]
    return train, test
