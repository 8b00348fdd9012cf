r"""The parallel update of boosting, with a guaranteed decrease in every step.

.. math:: \Lambda_j = \tfrac12 \ln \frac{W_j^+}{W_j^-}, \qquad \lambda \leftarrow \lambda - \tfrac1Z \Lambda, \qquad
          L(\lambda_t) - L(\lambda_{t+1}) \ge \frac1Z \sum_j (\sqrt{W_j^+} - \sqrt{W_j^-})^2

with Z the largest 1-norm of a change along an edge. The bound behind it is separable: for any step it is

.. math:: \frac1Z \sum_j W_j^+ (1 - e^{-\Lambda_j}) + W_j^- (1 - e^{\Lambda_j}),

and the update maximises it. With a penalty :math:`\tfrac\alpha2 \|\lambda\|^2` the exact decrease of the penalty,
:math:`\tfrac\alpha Z \lambda_j \Lambda_j - \tfrac{\alpha}{2 Z^2} \Lambda_j^2` per coefficient, is added before
maximising. The sum is still separable, concave and 0 at :math:`\Lambda = 0`, so the penalised loss never increases
either; its maximum has no formula and is found by Newton's method on all coefficients at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from labelrank.solvers.state import FloatArray, Objective, OnStep, SolverState, penalty

Templates = Callable[[FloatArray, FloatArray], FloatArray]


def boost(
    objective: Objective,
    coef: FloatArray,
    *,
    max_iter: int,
    tol: float,
    smoothing: float = 0.0,
    alpha: float = 0.0,
    penalised: Any = slice(None),
    templates: Templates | None = None,
    on_step: OnStep | None = None,
) -> SolverState:
    """Minimise the loss plus ``alpha/2 ‖coef[penalised]‖²`` from `coef` on.

    Parameters
    ----------
    objective : object with ``value_and_weights``, ``largest_change`` and ``total_weight``
        What is minimised.
    coef : ndarray
        Start.
    max_iter : int
        Number of steps at most.
    tol : float
        Stop when no coefficient that can move has a larger gradient of the mean loss.
    smoothing : float
        Added to both weights. With 0, a coefficient with W⁺ = 0 or W⁻ = 0, whose best step is infinite, stays where it
        is (unless a penalty makes the best step finite).
    alpha, penalised
        The penalty, and the index of the coefficients it is on.
    templates : callable, optional
        Takes W⁺ and W⁻ and returns for each coefficient the length of its step, in the place of 1/Z. Along every edge
        the lengths times the changes must add up to at most 1.
    on_step : callable, optional
        Called with coefficients and loss after every step; True stops.
    """
    state = SolverState(coef=coef.copy())
    alphas = np.zeros(coef.shape)
    alphas[penalised] = alpha
    try:
        value, plus, minus = objective.value_and_weights(state.coef)
        state.loss_curve.append(value + penalty(state.coef, alpha, penalised))
        while True:
            movable = (alphas > 0) | (smoothing > 0) | ((plus > 0) & (minus > 0))
            slope = plus - minus + alphas * state.coef
            state.gap = float(np.max(np.abs(slope), where=movable, initial=0.0)) / (objective.total_weight or 1.0)
            state.converged = state.gap <= tol
            if state.converged or state.n_iter >= max_iter:
                break
            if templates is None:
                length = np.full(coef.shape, 1 / objective.largest_change)
            else:
                length = templates(plus, minus)
            step = _step(plus + smoothing, minus + smoothing, movable & (length > 0), alphas, state.coef, length)
            with np.errstate(over="ignore"):
                gain = plus * -np.expm1(-step) - minus * np.expm1(step)
            gain += alphas * step * (state.coef - step * length / 2)
            state.coef -= step * length
            value, plus, minus = objective.value_and_weights(state.coef)
            state.bound_curve.append(float((gain * length).sum()))
            state.loss_curve.append(value + penalty(state.coef, alpha, penalised))
            if on_step is not None and on_step(state.coef, state.loss_curve[-1]):
                state.converged = True
                break
    except KeyboardInterrupt:
        state.interrupted = True
        # A step whose loss was not computed any more is kept in the coefficients, not in the curves.
        if not state.loss_curve:
            state.loss_curve.append(float("nan"))
    return state


def _step(plus: Any, minus: Any, movable: Any, alphas: Any, coef: Any, length: Any) -> FloatArray:
    """The Λ that maximises the bound, 0 for what does not move."""
    free = movable & (alphas == 0)
    ratio = np.divide(plus, minus, out=np.ones_like(plus), where=free & (minus > 0))
    step = 0.5 * np.log(ratio, out=np.zeros_like(ratio), where=ratio > 0)
    at = movable & (alphas > 0)
    if at.any():
        step[at] = _penalised_step(plus[at], minus[at], alphas[at], coef[at], length[at])
    return step


def _penalised_step(plus: Any, minus: Any, alpha: Any, coef: Any, length: Any) -> FloatArray:
    """Root of W⁺e^{−Λ} − W⁻e^{Λ} + αλ − αΛ/Z, which falls in Λ: Newton's method inside a bracket."""
    slope = plus - minus + alpha * coef
    reach = slope / (alpha * length)  # beyond it the linear terms alone have the other sign
    low, high = np.minimum(reach, 0.0), np.maximum(reach, 0.0)
    step = np.zeros_like(slope)
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(100):
            up, down = plus * np.exp(-step), minus * np.exp(step)
            height = up - down + alpha * (coef - step * length)
            low, high = np.where(height > 0, step, low), np.where(height < 0, step, high)
            newton = step + height / (up + down + alpha * length)
            inside = (newton >= low) & (newton <= high)  # equal to an end once converged
            following = np.where(inside, newton, 0.5 * (low + high))
            done = np.abs(following - step) <= 1e-14 * (1 + np.abs(step))
            step = following
            if done.all():
                break
    return step
