"""Shalev-Shwartz, Singer, "Efficient learning of label ranking by soft projections onto polyhedra" (JMLR 7, 2006).

The paper's three timing studies: one soft projection as it is stated, the same after its reduction to one variable per
label, and batch learning from ten examples per label; all on Gaussian data. The paper compares with LOQO, a commercial
interior-point solver; in its place are the general solvers of today, called natively::

    pip install "labelrank[qp]"                     Clarabel, PIQP, OSQP, DAQP
    labelrank reproduce sopopo2006                  minutes; the machine should have nothing else to do
    labelrank reproduce sopopo2006 --quick          small sizes, in seconds; works without the solvers

Times are compared at equal accuracy: a solver is timed at the loosest tolerance of a list with which its objective is
as near to the optimum as the accuracy asks for, after its point was made feasible. What is counted is CPU time of one
thread, the smallest of several repeats, for setting up and solving; bringing the problem into the solver's form is not.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from labelrank.experiments.cache import Cell, Numbers, ResultCache
from labelrank.experiments.command import command
from labelrank.experiments.runner import run_cells
from labelrank.experiments.sopopo2006_problems import PROBLEMS, Problem
from labelrank.experiments.sopopo2006_report import plot_times, report, slope
from labelrank.experiments.sopopo2006_solvers import SOLVERS, installed
from labelrank.experiments.table import Report

NAME = "sopopo2006"
VERSION = 2  # of everything that determines a number and is not in a cell: raise it when `compute` changes
DATA = ("gaussian",)

__all__ = ["Protocol", "Study", "cells_of", "compute", "plot_times", "report", "run", "slope"]


@dataclass(frozen=True)
class Study:
    """One of the three: sizes, and how far each solver goes.

    Ours runs at every size; a general solver up to the `largest` number of labels that it does in a reasonable time.
    There is one instance for each of `C`, and -1 stands for the number of labels: a limit that does not bind.
    """

    name: str
    sizes: tuple[int, ...]
    largest: dict[str, int] = field(default_factory=dict)
    C: tuple[float, ...] = (1.0, -1.0)


@dataclass(frozen=True)
class Protocol:
    """How the times are taken."""

    studies: tuple[Study, ...] = (
        Study(
            "original",
            (10, 20, 50, 100, 200, 1000, 10_000),
            {"clarabel": 100, "piqp": 100, "osqp": 100, "daqp": 200},
        ),
        Study(
            "reduced",
            (10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000),
            {"clarabel": 100_000, "piqp": 100_000, "osqp": 30_000, "daqp": 1000},
        ),
        Study("batch", (5, 10, 20, 40), {"clarabel": 40, "piqp": 20, "osqp": 20, "daqp": 20}, C=(1.0,)),
    )
    n_features: int = 20
    seed: int = 0
    repeats: int = 5
    accuracy: float = 1e-6
    tolerances: tuple[float, ...] = (1e-6, 1e-8, 1e-10)  # of the general solvers, loosest first


QUICK = Protocol(
    studies=(
        Study("original", (6, 12, 24), dict.fromkeys(SOLVERS, 24)),
        Study("reduced", (10, 100, 1000), {**dict.fromkeys(SOLVERS, 1000), "daqp": 100}),
        Study("batch", (4, 6, 8), dict.fromkeys(SOLVERS, 8), C=(1.0,)),
    ),
    n_features=5,
    repeats=2,
)


def run(
    data: str = "gaussian",
    *,
    folder: str | os.PathLike[str] | None = None,
    quick: bool = False,
    n_jobs: int | None = 1,
    cache: str | os.PathLike[str] | None = None,
    protocol: Protocol | None = None,
) -> Report:
    """Take the times.

    Parameters
    ----------
    data : {"gaussian"}, default="gaussian"
        Generated, as in the paper.
    folder : None
        There are no files.
    quick : bool, default=False
        Small sizes and few repeats.
    n_jobs : int, optional
        Processes. More than one disturb each other: the times are good enough for a look, not for a page.
    cache : str or path-like, optional
        Where results are kept; :func:`~labelrank.experiments.default_folder` by default. A quick run without it keeps
        nothing. Times are kept with the sizes and the versions of the solvers, not with the machine: take another
        folder for another machine.
    protocol : Protocol, optional
        Another protocol than that of the paper.

    Returns
    -------
    Report

    Examples
    --------
    >>> from labelrank.experiments import sopopo2006
    >>> study = sopopo2006.Study("reduced", (10, 100), {"osqp": 100})
    >>> report = sopopo2006.run(quick=True, protocol=sopopo2006.Protocol(studies=(study,), repeats=1))
    >>> report.tables[0].rows, report.tables[0].columns[:2]
    (['10', '100'], ['SOPOPO', 'SOPOPO, many at once'])
    """
    if data not in DATA:
        raise ValueError(f"there is no data set {data!r}; known: {', '.join(DATA)}")
    if folder is not None:
        raise ValueError(f"folder is {os.fspath(folder)!r}, but all data are generated; leave it out")
    protocol = protocol or (QUICK if quick else Protocol())
    versions = installed()
    cells = cells_of(protocol, versions)
    kept = None if quick and cache is None else ResultCache(cache)
    results = run_cells(compute, cells, cache=kept, n_jobs=n_jobs, title=NAME)
    return report(protocol, versions, cells, results)


# --- The cells


def cells_of(protocol: Protocol, versions: dict[str, str]) -> list[dict[str, Any]]:
    """One cell per study, size and instance, with the solvers that are installed and go so far."""
    from labelrank import __version__

    common = {
        "experiment": NAME,
        "version": VERSION,
        "labelrank": __version__,
        "n_features": protocol.n_features,
        "repeats": protocol.repeats,
        "accuracy": protocol.accuracy,
        "tolerances": list(protocol.tolerances),
    }
    return [
        {
            **common,
            "study": study.name,
            "n_labels": size,
            "C": float(size) if C < 0 else C,
            "instance": instance,
            "seed": protocol.seed + instance,
            "solvers": {name: at for name, at in versions.items() if study.largest.get(name, 0) >= size},
        }
        for study in protocol.studies
        for size in study.sizes
        for instance, C in enumerate(study.C)
    ]


def compute(cell: Cell) -> Numbers:
    """Time ours and the others on one problem, one after the other.

    Of each: seconds, the difference of its objective to the optimum relative to 1 + optimum, and the tolerance; seconds
    is None where no tolerance is enough.
    """
    problem = PROBLEMS[cell["study"]](cell["n_labels"], cell["n_features"], cell["C"], cell["seed"], cell["accuracy"])
    exact = (problem.solve_exactly or problem.solve)()  # compiles the kernels as well
    optimum = problem.value(problem.vector(exact))
    times = {"sopopo": _ours(problem, optimum, cell)}
    if problem.solve_many:
        problem.solve_many()
        _, seconds = cpu_seconds(problem.solve_many, cell["repeats"])
        times["sopopo_many"] = {**times["sopopo"], "seconds": seconds / problem.n_many}
    for name in cell["solvers"]:
        times[name] = _timed(name, problem, optimum, cell)
    return {"times": times, "optimum": optimum}


def _ours(problem: Problem, optimum: float, cell: Cell) -> Numbers:
    found, seconds = cpu_seconds(problem.solve, cell["repeats"])
    difference = _difference(problem, problem.vector(found), optimum)
    return {"seconds": seconds, "difference": difference, "tolerance": cell["accuracy"]}


def _timed(name: str, problem: Problem, optimum: float, cell: Cell) -> Numbers:
    """A general solver, at the loosest tolerance that is enough."""
    difference = math.inf
    for tol in cell["tolerances"]:
        solve = SOLVERS[name](problem.program, tol)
        start = time.process_time()
        z = solve()
        first = time.process_time() - start
        difference = _difference(problem, z, optimum)
        if abs(difference) <= cell["accuracy"]:
            _, seconds = cpu_seconds(solve, cell["repeats"], first)
            return {"seconds": seconds, "difference": difference, "tolerance": tol}
    return {"seconds": None, "difference": difference if math.isfinite(difference) else None, "tolerance": None}


def _difference(problem: Problem, z: Any, optimum: float) -> float:
    return (problem.value(z) - optimum) / (1 + abs(optimum)) if np.isfinite(z).all() else math.inf


def cpu_seconds(call: Callable[[], Any], repeats: int, first: float | None = None) -> tuple[Any, float]:
    """What a call returns, and its CPU time, the smallest of several repeats of at least 5 ms.

    A call that takes more than a second is not repeated. `first` is the time of a call that was made already.
    """
    found = None
    if first is None:
        start = time.process_time()
        found = call()
        first = time.process_time() - start
    best = first
    if first < 1.0:
        number = max(1, math.ceil(0.005 / max(first, 1e-7)))
        for _ in range(repeats):
            start = time.process_time()
            for _ in range(number):
                found = call()
            best = min(best, (time.process_time() - start) / number)
    return found, best


def main() -> None:
    """Run from the command line."""
    command(run, "The timing studies of Shalev-Shwartz and Singer (2006).", DATA)


if __name__ == "__main__":
    main()
