"""Solvers: how an objective is minimized."""

from labelrank.solvers.base import Solver, State, Stop
from labelrank.solvers.boosting.parallel import Boosting
from labelrank.solvers.boosting.sequential import SequentialBoosting
from labelrank.solvers.lbfgs import LBFGS
from labelrank.solvers.least_squares.solver import LeastSquares
from labelrank.solvers.soft_projection.ascent import SoftProjection

__all__ = [
    "LBFGS",
    "SOLVERS",
    "Boosting",
    "LeastSquares",
    "SequentialBoosting",
    "SoftProjection",
    "Solver",
    "State",
    "Stop",
    "get_solver",
]

SOLVERS: dict[str, type[Solver]] = {solver.name: solver for solver in (LBFGS, Boosting, LeastSquares, SoftProjection)}


def get_solver(solver: str | Solver) -> Solver:
    """Return the solver for a name; a solver is returned unchanged.

    Examples
    --------
    >>> from labelrank.solvers import get_solver
    >>> get_solver("lbfgs").name
    'lbfgs'
    """
    if isinstance(solver, Solver):
        return solver
    if solver not in SOLVERS:
        raise ValueError(f"solver {solver!r} is not known; choose one of {sorted(SOLVERS)}, or pass a Solver")
    return SOLVERS[solver]()
