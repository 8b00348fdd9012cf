"""L-BFGS on any smooth objective: SciPy's, with a gap, a curve and a clean way out."""

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
    objective : object with ``value_and_gradient`` and ``total_weight``
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
    state = SolverState(coef=coef.copy())

    def mean_loss(flat: FloatArray) -> tuple[float, FloatArray]:
        at = flat.reshape(shape)
        value, gradient = objective.value_and_gradient(at)
        if alpha:
            gradient[penalised] += alpha * at[penalised]
        value += penalty(at, alpha, penalised)
        if not state.loss_curve:
            state.loss_curve.append(value)
        gradient /= scale
        return value / scale, gradient.ravel()

    def each_iteration(intermediate_result: Any) -> None:
        state.coef = intermediate_result.x.reshape(shape).copy()
        state.loss_curve.append(float(intermediate_result.fun) * scale)
        if on_step is not None and on_step(state.coef, state.loss_curve[-1]):
            raise StopIteration

    try:
        result = minimize(
            mean_loss,
            coef.ravel(),
            jac=True,
            method="L-BFGS-B",
            callback=each_iteration,
            options={
                "maxiter": max_iter,
                "maxfun": 20 * max_iter,
                "gtol": tol,
                "ftol": 64 * np.finfo(float).eps,
                "maxls": 50,
            },
        )
    except KeyboardInterrupt:
        state.interrupted = True
        if not state.loss_curve:
            state.loss_curve.append(float("nan"))
        return state
    state.coef = result.x.reshape(shape)
    state.message = str(result.message)
    state.gap = float(np.max(np.abs(result.jac), initial=0.0))
    state.converged = bool(result.success) or state.gap <= tol or result.status == 99
    return state
