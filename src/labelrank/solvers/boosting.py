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

# Given what steps of some lengths (broadcast to all coefficients) guarantee, the lengths to take.
Templates = Callable[[Callable[[FloatArray], FloatArray]], FloatArray]


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
        Returns for each coefficient the length of its step, in the place of 1/Z; see
        :mod:`labelrank.solvers.templates`. Along every edge the lengths times the changes must add up to at most 1.
    on_step : callable, optional
        Called with coefficients and loss after every step; True stops.
    """
    state = SolverState(coef=coef.copy())
    alphas: Any = 0.0
    if alpha:
        alphas = np.zeros(coef.shape)
        alphas[penalised] = alpha
    scale = objective.total_weight or 1.0
    try:
        value, plus, minus = objective.value_and_weights(state.coef)
        state.loss_curve.append(value + penalty(state.coef, alpha, penalised))
        while True:
            movable = (alphas > 0) | (smoothing > 0) | ((plus > 0) & (minus > 0))
            slope = np.abs(plus - minus + alphas * state.coef)
            state.gap = float(slope.max(initial=0.0)) / scale
            # Where one weight is zero the best step is infinite: left in place, but said.
            state.converged = float(np.max(slope, where=movable, initial=0.0)) / scale <= tol
            state.left_in_place = int(np.count_nonzero(~movable & (slope > tol * scale)))
            del slope
            if state.converged or state.n_iter >= max_iter:
                break
            promise = _Promise(plus, minus, movable, alphas, state.coef, smoothing)
            length = np.array(1 / objective.largest_change) if templates is None else templates(promise)
            step, gain = promise.step_and_gain(length)
            bound = float(gain.sum())
            step *= length
            following = np.subtract(state.coef, step, out=step)
            del plus, minus, movable, promise, gain  # these are as large as the coefficients
            value, plus, minus = objective.value_and_weights(following)
            state.coef = following
            state.bound_curve.append(bound)
            state.loss_curve.append(value + penalty(state.coef, alpha, penalised))
            if on_step is not None and on_step(state.coef, state.loss_curve[-1]):
                state.converged, state.left_in_place = True, 0
                break
    except KeyboardInterrupt:
        state.interrupted = True
        if not state.loss_curve:
            state.loss_curve.append(float("nan"))
    return state


class _Promise:
    """What a step of a given length guarantees, at the present coefficients."""

    def __init__(self, plus: Any, minus: Any, movable: Any, alphas: Any, coef: Any, smoothing: float) -> None:
        self.plus, self.minus, self.movable, self.alphas, self.coef = plus, minus, movable, alphas, coef
        self.smoothing = smoothing

    def step_and_gain(self, length: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The best Λ of each coefficient, 0 for what does not move, and the decrease it guarantees."""
        plus, minus = self.plus, self.minus
        if self.smoothing:
            plus, minus = plus + self.smoothing, minus + self.smoothing
        movable = self.movable & (length > 0)
        free = movable & (self.alphas == 0)
        step = np.log(plus, out=np.zeros_like(plus), where=free)
        step -= np.log(minus, out=np.zeros_like(minus), where=free)
        step *= 0.5
        at = movable & (self.alphas > 0)
        if at.any():
            lengths = np.broadcast_to(length, plus.shape)[at]
            step[at] = _penalised_step(plus[at], minus[at], self.alphas[at], self.coef[at], lengths)
        bounded = np.clip(step, -700, 700)  # further away one of the weights is zero
        gain = np.expm1(bounded)
        gain *= -self.minus
        np.expm1(np.negative(bounded, out=bounded), out=bounded)
        bounded *= self.plus
        gain -= bounded
        if np.any(self.alphas):
            gain += self.alphas * step * (self.coef - step * length / 2)
        gain *= length
        return step, gain

    def __call__(self, length: FloatArray) -> FloatArray:
        return self.step_and_gain(length)[1]


def _penalised_step(plus: Any, minus: Any, alpha: Any, coef: Any, length: Any) -> FloatArray:
    """Root of W⁺e^{−Λ} − W⁻e^{Λ} + αλ − αΛ/Z, which falls in Λ: Newton's method inside a bracket."""
    pull = alpha * coef
    slope = plus - minus + pull
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        # Beyond `reach` the linear terms have the other sign by themselves; so has an exponential that has outgrown
        # all that stands against it.
        reach = slope / (alpha * length)
        up = np.where(minus > 0, np.log((plus + np.maximum(pull, 0)) / minus), np.inf)
        down = np.where(plus > 0, -np.log((minus + np.maximum(-pull, 0)) / plus), -np.inf)
    low = np.where(slope < 0, np.maximum(reach, np.minimum(down, 0)), 0.0)
    high = np.where(slope > 0, np.minimum(reach, np.maximum(up, 0)), 0.0)
    step = np.zeros_like(slope)
    for iteration in range(200):
        rise = np.where(plus > 0, plus * np.exp(-np.maximum(step, -700)), 0.0)
        fall = np.where(minus > 0, minus * np.exp(np.minimum(step, 700)), 0.0)
        height = rise - fall + pull - alpha * length * step
        low, high = np.where(height > 0, step, low), np.where(height < 0, step, high)
        newton = step + height / (rise + fall + alpha * length)
        # Far from the root of an exponential Newton's steps have length 1, so every third step halves the bracket.
        inside = (newton >= low) & (newton <= high) & (iteration % 3 != 2)
        settled = np.abs(newton - step) <= 1e-13 * (1 + np.abs(step))
        following = np.where(settled, np.clip(newton, low, high), np.where(inside, newton, 0.5 * (low + high)))
        done = settled | (high - low <= 1e-13 * (1 + np.abs(step)))
        step = following
        if done.all():
            break
    return step
