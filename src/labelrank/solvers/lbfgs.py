"""L-BFGS on any smooth objective: SciPy's, in well-scaled coordinates, with a gap, a curve and a clean way out.

Where SciPy's workspace would outgrow three score matrices, :mod:`labelrank.solvers.lean_lbfgs` takes its place.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize

from labelrank.solvers.lean_lbfgs import NO_DECREASE, Evaluate, iterates
from labelrank.solvers.state import FloatArray, Objective, OnStep, SolverState, add_slope_of_penalty, penalty

# Coefficient vectors in the workspace of SciPy's with a history of four, and how many coefficients are no matter.
_SCIPY_VECTORS, _FEW = 30, 10_000
_SETTLED = 1e-8

Enough = Callable[[float], bool]


def lbfgs(
    objective: Objective,
    coef: FloatArray,
    *,
    max_iter: int,
    tol: float,
    alpha: float = 0.0,
    penalised: Any = slice(None),
    on_step: OnStep | None = None,
) -> SolverState:
    """Minimise the loss plus ``alpha/2 ‖coef[penalised]‖²`` from `coef` on.

    Parameters
    ----------
    objective : object with ``value_and_gradient``, ``units`` and ``total_weight``
        What is minimised.
    coef : ndarray
        Start.
    max_iter : int
        Number of iterations at most.
    tol : float
        Stop when no entry of the gradient of the mean loss is larger.
    alpha, penalised
        The penalty, and the index of the coefficients it is on.
    on_step : callable, optional
        Called with coefficients and loss after every iteration; True stops.
    """
    scale = objective.total_weight or 1.0  # the mean loss: steps and tolerance do not depend on the number of rows
    gap = np.inf  # of the last evaluation
    state = SolverState(coef=coef.copy())

    def mean_loss(at: FloatArray) -> tuple[float, FloatArray]:
        nonlocal gap
        value, gradient = objective.value_and_gradient(at)
        add_slope_of_penalty(gradient, at, alpha, penalised)
        value += penalty(at, alpha, penalised)
        gradient /= scale
        gap = _largest(gradient)
        if not state.loss_curve:
            state.loss_curve.append(value)
            state.gap = gap
            if not np.isfinite(value + gap):
                raise ValueError("the loss or its gradient is not finite at the start; scale the features of X")
        return value / scale, gradient

    def enough(value: float) -> bool:
        """Record an iteration; the last point of a line search is the one it takes, so that its gap is the gap here."""
        state.loss_curve.append(value * scale)
        state.gap = gap
        asked = on_step is not None and on_step(state.coef.copy(), state.loss_curve[-1])
        state.converged = asked or gap <= tol
        return state.converged

    try:
        width = _widths(objective, alpha / scale, penalised)
        first = [mean_loss(state.coef)]  # what was computed at the start
        if state.gap <= tol:
            state.converged = True
            return state

        def evaluate(at: FloatArray) -> tuple[float, FloatArray]:
            return first.pop() if first else mean_loss(at)

        engine = _lean if _needs_room(objective, coef.size) else _scipy
        engine(evaluate, state, width, enough, max_iter, _history(objective, coef.size))
    except KeyboardInterrupt:
        state.interrupted = True
        if not state.loss_curve:
            state.loss_curve.append(float("nan"))
    return state


def _scipy(
    evaluate: Evaluate, state: SolverState, width: FloatArray, enough: Enough, max_iter: int, history: int
) -> None:
    """SciPy's solver, in coordinates in which every coefficient has the unit `width`."""
    shape = state.coef.shape
    unit = width.reshape(width.shape + (1,) * (len(shape) - width.ndim))

    def scaled(flat: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = evaluate(flat.reshape(shape) / unit)
        gradient /= unit
        return value, gradient.ravel()

    def each_iteration(intermediate_result: Any) -> None:
        np.divide(intermediate_result.x.reshape(shape), unit, out=state.coef)
        if enough(float(intermediate_result.fun)):
            raise StopIteration

    options: Any = {
        "maxcor": history,
        "maxiter": max_iter,
        "maxfun": 20 * max_iter,
        "gtol": 0.0,  # in our coordinates, not in the user's: each_iteration looks at the gap
        "ftol": NO_DECREASE,
        "maxls": 50,
    }
    start = (state.coef * unit).ravel()
    result = minimize(scaled, start, jac=True, method="L-BFGS-B", callback=each_iteration, options=options)
    np.divide(result.x.reshape(shape), unit, out=state.coef)
    state.message = str(result.message)
    if not state.converged:
        state.gap = _largest(result.jac.reshape(shape) * unit)
        state.converged = bool(result.success) and _settled(float(result.jac @ result.jac), float(result.fun))


def _lean(
    evaluate: Evaluate, state: SolverState, width: FloatArray, enough: Enough, max_iter: int, history: int
) -> None:
    """The same in little memory."""
    steps = iterates(evaluate, state.coef, width, history=history)
    value, gradient = next(steps)
    for value, gradient in itertools.islice(steps, max_iter):  # noqa: B007
        if enough(value):
            return
    if state.n_iter < max_iter:
        state.message = "the loss no longer decreases"
        scaled = gradient.reshape(len(width), -1) / width[:, None]
        state.converged = _settled(float(np.vdot(scaled, scaled)), value)


def _settled(squares: float, value: float) -> bool:
    """Where the loss no longer moves, the squared gradient in our units says how much of it may be left."""
    return squares <= _SETTLED * abs(value)


def _widths(objective: Objective, alpha: float, penalised: Any) -> FloatArray:
    """Root of the diagonal of a Hessian: the unit of every row of coefficients, so that all features move alike.

    What is constant along a coefficient keeps its unit.
    """
    width = objective.units.copy()
    width[penalised] = np.hypot(width[penalised], np.sqrt(alpha))
    return np.where(width > 0, width, 1.0)


def _needs_room(objective: Objective, n_coef: int) -> bool:
    """Whether SciPy's workspace would be larger than three matrices of scores, and that is worth saving."""
    return n_coef > _FEW and _SCIPY_VECTORS * n_coef > 3 * objective.n_scores


def _history(objective: Objective, n_coef: int) -> int:
    """Number of corrections kept: ten as SciPy does, four where ten would take more memory than the scores."""
    return int(np.clip(objective.n_scores / (2 * n_coef), 4, 10)) if n_coef else 10


def _largest(gradient: FloatArray) -> float:
    return float(max(gradient.max(initial=0.0), -gradient.min(initial=0.0)))
