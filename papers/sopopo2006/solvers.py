"""General solvers of quadratic programs, each called by its own interface through an adapter.

An adapter brings a program into the solver's own form, which is not timed, and returns the call that is timed: set up
and solve. Nothing is kept from one call to the next. All of them come with ``pip install "labelrank[qp]"``.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module, metadata
from typing import Any

import numpy as np
from scipy import sparse

from papers.sopopo2006.problems import FloatArray, QuadraticProgram

Solve = Callable[[], FloatArray]


def clarabel(program: QuadraticProgram, tol: float) -> Solve:
    """Clarabel, an interior-point solver for cones. Bounds are constraints, P is its upper triangle."""
    solver = import_module("clarabel")
    bounded, rows = _bound_rows(program)
    P = _matrix(sparse.triu(program.P))
    A = _matrix(sparse.vstack([program.A, program.G, -rows]))
    b = np.concatenate([program.b, program.h, -program.l[bounded]])
    cones = [solver.ZeroConeT(len(program.b)), solver.NonnegativeConeT(len(b) - len(program.b))]

    def solve() -> FloatArray:
        settings = solver.DefaultSettings()
        settings.verbose = False
        settings.max_threads = 1
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol
        return np.array(solver.DefaultSolver(P, program.q, A, b, cones, settings).solve().x)

    return solve


def piqp(program: QuadraticProgram, tol: float) -> Solve:
    """PIQP, a proximal interior-point solver, in its sparse form."""
    module = import_module("piqp")
    P, A, G = _matrix(program.P), _matrix(program.A), _matrix(program.G)
    h_lower, upper = np.full(len(program.h), -np.inf), np.full(len(program.q), np.inf)

    def solve() -> FloatArray:
        solver = module.SparseSolver()
        settings = solver.settings
        settings.eps_abs = settings.eps_duality_gap_abs = tol
        settings.eps_rel = settings.eps_duality_gap_rel = 0.1 * tol  # in proportion to its defaults
        solver.setup(P, program.q, A, program.b, G, h_lower, program.h, program.l, upper)
        solver.solve()
        return np.array(solver.result.x)

    return solve


def osqp(program: QuadraticProgram, tol: float) -> Solve:
    """OSQP, the alternating direction method of multipliers, with its polishing step; bounds are constraints."""
    module = import_module("osqp")
    bounded, rows = _bound_rows(program)
    P = _matrix(sparse.triu(program.P))
    A = _matrix(sparse.vstack([program.A, program.G, rows]))
    lower = np.concatenate([program.b, np.full(len(program.h), -np.inf), program.l[bounded]])
    upper = np.concatenate([program.b, program.h, np.full(len(bounded), np.inf)])
    settings = {"eps_abs": tol, "eps_rel": tol, "polishing": True, "max_iter": 50_000, "verbose": False}

    def solve() -> FloatArray:
        solver = module.OSQP()
        solver.setup(P, program.q, A, lower, upper, **settings)
        return np.array(solver.solve(raise_error=False).x, dtype=np.float64)

    return solve


def daqp(program: QuadraticProgram, tol: float) -> Solve:
    """DAQP, a dual active-set solver for dense problems."""
    solver = import_module("daqp")
    bounded, rows = _bound_rows(program)
    n, m = len(program.q), len(program.b) + len(program.h)
    simple = len(bounded) == n  # bounds are simple where every variable has one, else rows like any other
    parts = [program.A, program.G] if simple else [program.A, program.G, rows]
    H, A = program.P.toarray(), np.ascontiguousarray(sparse.vstack(parts).toarray())
    lower = [program.b, np.full(len(program.h), -np.inf)]
    upper, sense = [program.b, program.h], [np.full(len(program.b), 5), np.zeros(len(program.h))]
    place = 0 if simple else len(lower)
    lower.insert(place, program.l[bounded])
    upper.insert(place, np.full(len(bounded), np.inf))
    sense.insert(place, np.zeros(len(bounded)))
    b_lower, b_upper = (np.clip(np.concatenate(side), -1e30, 1e30) for side in (lower, upper))
    senses = np.concatenate(sense).astype(np.int32)
    limit = 10 * (n + m) + 1000

    def solve() -> FloatArray:
        found = solver.solve(H, program.q, A, b_upper, b_lower, senses, primal_tol=tol, dual_tol=tol, iter_limit=limit)
        return np.array(found[0])

    return solve


SOLVERS: dict[str, Callable[[QuadraticProgram, float], Solve]] = {
    "clarabel": clarabel,
    "piqp": piqp,
    "osqp": osqp,
    "daqp": daqp,
}
NAMES = {"clarabel": "Clarabel", "piqp": "PIQP", "osqp": "OSQP", "daqp": "DAQP"}


def installed() -> dict[str, str]:
    """Return the solvers that can be imported, with their versions.

    Examples
    --------
    >>> from papers.sopopo2006.solvers import SOLVERS, installed
    >>> set(installed()) <= set(SOLVERS)
    True
    """
    found = {}
    for name in SOLVERS:
        try:
            import_module(name)
            found[name] = metadata.version(name)
        except ImportError:  # PackageNotFoundError is one
            continue
    return found


def _bound_rows(program: QuadraticProgram) -> tuple[Any, Any]:
    """The variables with a bound, and a matrix that picks them."""
    bounded = np.flatnonzero(np.isfinite(program.l))
    n = len(program.q)
    rows = sparse.csr_array((np.ones(len(bounded)), (np.arange(len(bounded)), bounded)), shape=(len(bounded), n))
    return bounded, rows


def _matrix(array: Any) -> Any:
    """As scipy.sparse.csc_matrix with sorted 32-bit indices, which is what the solvers' bindings look for."""
    matrix = sparse.csc_matrix(array)
    matrix.sort_indices()
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    return matrix
