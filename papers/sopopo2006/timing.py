"""The three studies, and the times of all solvers on one problem."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from labelrank import __version__
from papers.frame import Cell, Numbers
from papers.sopopo2006.problems import PROBLEMS, Problem
from papers.sopopo2006.solvers import SOLVERS, installed

Versions = dict[str, str]  # of the general solvers that are installed


@dataclass(frozen=True)
class Study:
    """One of the three studies.

    Our solver runs at every size, a general solver up to the `largest` number of labels that takes a reasonable time.
    There is one instance for each `C`, and -1 stands for the number of labels: a limit that does not bind.
    """

    name: str
    sizes: tuple[int, ...]
    largest: dict[str, int] = field(default_factory=dict)
    C: tuple[float, ...] = (1.0, -1.0)


@dataclass(frozen=True)
class Protocol:
    """Parameters of the experiment."""

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


def load(data: str, folder: Path | None, protocol: Protocol) -> Versions:
    """Return the solvers to compare with; the problems are generated cell by cell."""
    if folder is not None:
        raise ValueError(f"all data are generated, but the folder is {str(folder)!r}; leave it out")
    return installed()


def generate(protocol: Protocol) -> Versions:
    """Return the solvers to compare with."""
    return installed()


def cells(versions: Versions, protocol: Protocol) -> list[dict[str, Any]]:
    """List a cell per study, size and instance, with the solvers that are installed and run at this size."""
    common = {
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


def compute(cell: Cell, versions: Versions) -> Numbers:
    """Time our solver and the others on one problem, one after the other.

    For each: seconds, the difference of its objective to the optimum relative to 1 + optimum, and the tolerance;
    seconds is None if no tolerance is enough.
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
    """Return what a call returns, and its CPU time: the smallest of several repeats of at least 5 ms each.

    A call that takes more than a second is not repeated. `first` is the time of a call that was already made.
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
