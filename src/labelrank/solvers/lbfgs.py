"""L-BFGS on any smooth objective: SciPy's, in well-scaled coordinates, with a gap, a curve and a clean way out."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize

from labelrank.solvers.state import FloatArray, Objective, OnStep, SolverState, penalty

_SETTLED = 1e-8


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
    shape = coef.shape
    width = np.ones(1)  # the unit of each coefficient
    gap = np.inf  # of the last evaluation
    state = SolverState(coef=coef.copy())

    def mean_loss(flat: FloatArray) -> tuple[float, FloatArray]:
        nonlocal gap
        at = flat.reshape(shape) / width
        value, gradient = objective.value_and_gradient(at)
        if alpha:
            gradient[penalised] += alpha * at[penalised]
        value += penalty(at, alpha, penalised)
        gradient /= scale
        gap = _largest(gradient)
        if not state.loss_curve:
            state.loss_curve.append(value)
            state.gap = gap
            if not np.isfinite(value + gap):
                raise ValueError("the loss or its gradient is not finite at the start; scale the features of X")
        gradient /= width
        return value / scale, gradient.ravel()

    first: list[tuple[float, FloatArray]] = []  # what was computed at the start

    def evaluate(flat: FloatArray) -> tuple[float, FloatArray]:
        return first.pop() if first else mean_loss(flat)

    def each_iteration(intermediate_result: Any) -> None:
        # The last point of a line search is the one it takes, so that the gap of the last evaluation is the gap here.
        np.divide(intermediate_result.x.reshape(shape), width, out=state.coef)
        state.loss_curve.append(float(intermediate_result.fun) * scale)
        state.gap = gap
        asked = on_step is not None and on_step(state.coef.copy(), state.loss_curve[-1])
        if asked or state.gap <= tol:
            raise StopIteration

    options: Any = {
        "maxcor": _history(objective, coef.size),
        "maxiter": max_iter,
        "maxfun": 20 * max_iter,
        "gtol": 0.0,  # in our coordinates, not in the user's: each_iteration looks at the gap
        "ftol": 64 * np.finfo(float).eps,
        "maxls": 50,
    }
    try:
        width = _widths(objective, shape, alpha / scale, penalised)
        start = (coef * width).ravel()
        first.append(mean_loss(start))
        if state.gap <= tol:
            state.converged = True
            return state
        result = minimize(evaluate, start, jac=True, method="L-BFGS-B", callback=each_iteration, options=options)
    except KeyboardInterrupt:
        state.interrupted = True
        if not state.loss_curve:
            state.loss_curve.append(float("nan"))
        return state
    np.divide(result.x.reshape(shape), width, out=state.coef)
    state.message = str(result.message)
    state.gap = _largest(result.jac.reshape(shape) * width)
    # Where the loss no longer moves, the squared gradient in our units says how much of it may be left.
    settled = bool(result.success) and float(result.jac @ result.jac) <= _SETTLED * abs(float(result.fun))
    state.converged = settled or state.gap <= tol or result.status == 99
    return state


def _widths(objective: Objective, shape: tuple[int, ...], alpha: float, penalised: Any) -> FloatArray:
    """Root of the diagonal of a Hessian: the unit of every coefficient, so that rare and frequent features move alike.

    What is constant along a coefficient keeps its unit.
    """
    units = objective.units
    width = units.reshape(units.shape + (1,) * (len(shape) - units.ndim)).copy()
    width[penalised] = np.hypot(width[penalised], np.sqrt(alpha))
    return np.where(width > 0, width, 1.0)


def _history(objective: Objective, n_coef: int) -> int:
    """Number of corrections kept: ten as SciPy does, four where ten would take more memory than the scores."""
    return int(np.clip(objective.n_scores / (2 * n_coef), 4, 10)) if n_coef else 10


def _largest(gradient: FloatArray) -> float:
    return float(max(gradient.max(initial=0.0), -gradient.min(initial=0.0)))
