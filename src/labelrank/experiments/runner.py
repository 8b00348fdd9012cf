"""Cells in parallel, each one once: what is on disk is not computed again."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from labelrank.experiments.cache import Cell, Numbers, ResultCache

Compute = Callable[..., Numbers]


def run_cells(
    compute: Compute,
    cells: Sequence[Cell],
    *data: Any,
    cache: ResultCache | None = None,
    n_jobs: int | None = 1,
    title: str = "cells",
) -> list[Numbers]:
    """Compute the cells that are not in the cache, and return the numbers of all, in order.

    Parameters
    ----------
    compute : callable
        ``compute(cell, *data)`` gives the numbers of a cell, a dict of JSON values. With several processes it is a
        function of a module.
    cells : sequence of dict
        JSON values only: everything that determines the numbers, such as the name and the version of the experiment, a
        :func:`~labelrank.experiments.fingerprint` of the data, the protocol, the learner's parameters, the fold.
    *data
        Passed on to `compute`; large arrays are shared between the processes.
    cache : ResultCache, optional
        Where results are kept, each as soon as it is there.
    n_jobs : int, optional
        Processes; -1 for one per core.
    title : str, default="cells"
        What the progress bar says. It is shown on a terminal only.

    Returns
    -------
    list of dict

    Examples
    --------
    >>> from labelrank.experiments import run_cells
    >>> run_cells(lambda cell, base: {"value": base ** cell["power"]}, [{"power": 2}, {"power": 3}], 10)
    [{'value': 100}, {'value': 1000}]
    """
    from joblib import Parallel, delayed

    results: list[Numbers | None] = [cache.get(cell) if cache else None for cell in cells]
    missing = [i for i, result in enumerate(results) if result is None]
    with _progress_bar(title, len(cells), len(cells) - len(missing)) as advance:
        jobs = (delayed(_run_cell)(i, compute, cells[i], data, cache) for i in missing)
        # Unordered, so that the bar moves with whatever is done; the number of the cell comes along.
        for i, numbers in Parallel(n_jobs=n_jobs, return_as="generator_unordered")(jobs):
            results[i] = numbers
            advance()
    return [result for result in results if result is not None]


def _run_cell(
    index: int, compute: Compute, cell: Cell, data: tuple[Any, ...], cache: ResultCache | None
) -> tuple[int, Numbers]:
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    try:
        # One thread of BLAS per process: sums have one order, so that the numbers do not depend on n_jobs.
        with threadpool_limits(1):
            numbers = compute(cell, *data)
    except Exception as error:
        error.add_note(f"in the cell {dict(cell)}")
        raise
    if cache:
        cache.put(cell, numbers)
    return index, numbers


def fold_of(
    n_samples: int, *, n_folds: int, fold: int, repeat: int = 0, seed: int = 0
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Rows to train on and rows to test on, in one fold of one repetition of a shuffled cross-validation.

    Examples
    --------
    >>> from labelrank.experiments import fold_of
    >>> train, test = fold_of(6, n_folds=3, fold=0, repeat=1)
    >>> sorted([*train, *test]) == list(range(6))
    True
    """
    from sklearn.model_selection import KFold

    if not 0 <= fold < n_folds:
        raise ValueError(f"fold must be from 0 to {n_folds - 1}, got {fold}")
    shuffle = np.random.RandomState(np.random.SeedSequence([seed, repeat]).generate_state(1)[0])
    train, test = list(KFold(n_folds, shuffle=True, random_state=shuffle).split(np.empty(n_samples)))[fold]
    return train, test


@contextmanager
def _progress_bar(title: str, total: int, done: int) -> Iterator[Callable[[], None]]:
    """A progress bar on a terminal, nothing in a pipe; yields the function that moves it on."""
    if total == done or not (sys.stdout.isatty() and sys.stderr.isatty()):
        yield lambda: None
        return
    from rich import progress
    from rich.console import Console

    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total, completed=done)
        yield lambda: bar.advance(task)
