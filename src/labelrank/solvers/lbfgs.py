"""L-BFGS on any smooth objective: SciPy's, in well-scaled coordinates, with a gap, a curve and a clean way out."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize

from labelrank.solvers.state import FloatArray, Objective, OnStep, SolverState, penalty


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
    objective : object with ``value_and_gradient``, ``curvature`` and ``total_weight``
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
    width = _widths(objective, shape, alpha / scale, penalised)
    state = SolverState(coef=coef.copy())

    def mean_loss(flat: FloatArray) -> tuple[float, FloatArray]:
        at = flat.reshape(shape) / width
        value, gradient = objective.value_and_gradient(at)
        if alpha:
            gradient[penalised] += alpha * at[penalised]
        value += penalty(at, alpha, penalised)
        gradient /= scale
        state.gap = _largest(gradient)
        if not state.loss_curve:
            state.loss_curve.append(value)
        gradient /= width
        return value / scale, gradient.ravel()

    first: list[tuple[float, FloatArray]] = []  # what was computed at the start

    def evaluate(flat: FloatArray) -> tuple[float, FloatArray]:
        return first.pop() if first else mean_loss(flat)

    def each_iteration(intermediate_result: Any) -> None:
        # The last point of a line search is the one it takes, so that the gap of the last evaluation is the gap here.
        np.divide(intermediate_result.x.reshape(shape), width, out=state.coef)
        state.loss_curve.append(float(intermediate_result.fun) * scale)
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
    state.converged = bool(result.success) or state.gap <= tol or result.status == 99
    return state


def _widths(objective: Objective, shape: tuple[int, ...], alpha: float, penalised: Any) -> FloatArray:
    """Root of the diagonal of a Hessian: the unit of every coefficient, so that rare and frequent features move alike.

    What is constant along a coefficient keeps its unit.
    """
    bend = objective.curvature / (objective.total_weight or 1.0)
    bend = bend.reshape(bend.shape + (1,) * (len(shape) - bend.ndim))
    bend[penalised] += alpha
    width = np.sqrt(bend)
    floor = 1e-6 * width.max(initial=0.0)
    return np.where(width > floor, width, floor or 1.0)


def _history(objective: Objective, n_coef: int) -> int:
    """Number of corrections kept: ten as SciPy does, four where ten would take more memory than the scores."""
    return int(np.clip(objective.n_scores / (2 * n_coef), 4, 10)) if n_coef else 10


def _largest(gradient: FloatArray) -> float:
    return float(max(gradient.max(initial=0.0), -gradient.min(initial=0.0)))
