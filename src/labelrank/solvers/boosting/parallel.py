r"""The parallel update of boosting, with a guaranteed decrease in every step.

.. math:: \Lambda_j = \tfrac12 \ln \frac{W_j^+}{W_j^-}, \qquad \lambda \leftarrow \lambda - \tfrac1Z \Lambda, \qquad
          L(\lambda_t) - L(\lambda_{t+1}) \ge \frac1Z \sum_j (\sqrt{W_j^+} - \sqrt{W_j^-})^2

with Z the largest 1-norm of a change along an edge. The bound behind it is separable: for any step it is

.. math:: \frac1Z \sum_j W_j^+ (1 - e^{-\Lambda_j}) + W_j^- (1 - e^{\Lambda_j}),

and the update maximizes it. With a penalty :math:`\tfrac\alpha2 \|\lambda\|^2` the exact decrease of the penalty,
:math:`\tfrac\alpha Z \lambda_j \Lambda_j - \tfrac{\alpha}{2 Z^2} \Lambda_j^2` per coefficient, is added before
maximizing. The sum is still separable, concave and 0 at :math:`\Lambda = 0`, so the penalized loss never increases
either; its maximum has no closed form and is found by Newton's method on all coefficients at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np

from labelrank._arrays import FloatArray
from labelrank.models.base import Objective
from labelrank.solvers.base import Run, Solver, in_place

_BLOCK = 2**14  # coefficients per block

# Maps a function, from lengths of steps (broadcast to all coefficients) to guaranteed decreases, to the lengths to use.
Templates = Callable[[Callable[[FloatArray], FloatArray]], FloatArray]


class Boosting(Solver):
    """Parallel boosting: all coefficients move in every step, and the decrease of the loss is guaranteed.

    Parameters
    ----------
    smoothing : float, default=0.0
        Added to both weights of every coefficient. With 0, a coefficient with a weight of zero has an infinite best
        step and does not move, unless a penalty makes the best step finite.
    templates : callable, optional
        Returns the length of the step of each coefficient, by default 1/Z; see
        :mod:`labelrank.solvers.boosting.templates`. Along every edge the lengths times the changes must add up to at
        most 1.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import as_graphs
    >>> from labelrank.losses import LogLinearLoss
    >>> from labelrank.models import LinearModel, Objective
    >>> from labelrank.solvers import Boosting, Stop
    >>> model = LinearModel(np.array([[1.0], [-1.0]]), 2, fit_intercept=False)
    >>> objective = Objective(model, LogLinearLoss(as_graphs([[1, 2], [2, 1]])), alpha=1.0)
    >>> Boosting().solve(objective, np.zeros((1, 2)), Stop(max_iter=50, tol=1e-6)).coef.round(3)
    array([[ 0.521, -0.521]])
    """

    name: ClassVar[str] = "boosting"
    needs: ClassVar[frozenset[str]] = frozenset({"flows"})

    def __init__(self, smoothing: float = 0.0, templates: Templates | None = None) -> None:
        self.smoothing, self.templates = smoothing, templates

    def _minimize(self, objective: Objective, run: Run) -> None:
        scale, tol = objective.total_weight, run.stop.tol * objective.total_weight
        coef = objective.asarray(run.state.coef)
        alphas = objective.asarray(np.zeros((coef.shape[0],) + (1,) * (coef.ndim - 1)))
        alphas[: objective.model.n_penalized] = objective.alpha
        bound = np.nan
        while True:
            value, plus, minus = objective.value_and_weights(coef)
            promise = self._promise(plus, minus, alphas, coef, self.smoothing)
            slope, movable_slope, left = promise.slopes(tol)
            if run.step(coef, value, slope / scale, bound=bound, still=movable_slope / scale):
                if left and movable_slope <= tol:
                    run.state.remark = in_place(left, slope / scale, run.stop.tol)
                return
            length = np.array(1 / objective.largest_change) if self.templates is None else self.templates(promise)
            coef, bound = promise.step(length)
            del plus, minus, promise  # as large as the coefficients

    def _promise(self, *arguments: Any) -> Promise:
        return Promise(*arguments)


class Promise:
    """The guaranteed decrease of a step of a given length from the current coefficients.

    Coefficients are processed in blocks of rows, so that intermediate results stay in the cache.
    """

    def __init__(self, plus: Any, minus: Any, alphas: Any, coef: Any, smoothing: float) -> None:
        self.plus, self.minus, self.coef = plus, minus, coef
        self.alphas = np.broadcast_to(alphas, coef.shape)
        self.smoothing = smoothing

    def _blocks(self) -> Iterator[slice]:
        rows = max(1, _BLOCK // max(1, math.prod(self.coef.shape[1:])))
        return (slice(first, first + rows) for first in range(0, len(self.coef), rows))

    def _movable(self, rows: slice) -> Any:
        """Whether the best step is finite: both weights are positive, or there is a penalty or smoothing."""
        if self.smoothing > 0:
            return np.ones(self.coef[rows].shape, dtype=np.bool_)
        return (self.alphas[rows] > 0) | ((self.plus[rows] > 0) & (self.minus[rows] > 0))

    def slopes(self, tol: float) -> tuple[float, float, int]:
        """Largest slope of all and of movable coefficients, and the number of slopes above `tol` that cannot move."""
        largest = of_movable = 0.0
        left = 0
        for rows in self._blocks():
            slope = np.abs(self.plus[rows] - self.minus[rows] + self.alphas[rows] * self.coef[rows])
            movable = self._movable(rows)
            largest = _larger(largest, float(slope.max(initial=0.0)))
            of_movable = _larger(of_movable, float(np.max(slope, where=movable, initial=0.0)))
            left += int(np.count_nonzero(~movable & (slope > tol)))
        return largest, of_movable, left

    def step(self, length: FloatArray) -> tuple[FloatArray, float]:
        """The coefficients after the best step, and the decrease that it guarantees."""
        following, bound = np.empty_like(self.coef), 0.0
        lengths = np.broadcast_to(length, self.coef.shape)
        for rows in self._blocks():
            step, gain = self._step_and_gain(rows, lengths[rows])
            step *= lengths[rows]
            np.subtract(self.coef[rows], step, out=following[rows])
            bound += float(gain.sum())
        return following, bound

    def __call__(self, length: FloatArray) -> FloatArray:
        """The decrease that is guaranteed for each coefficient."""
        lengths = np.broadcast_to(length, self.coef.shape)
        gain = np.empty_like(self.coef)
        for rows in self._blocks():
            gain[rows] = self._step_and_gain(rows, lengths[rows])[1]
        return gain

    def _step_and_gain(self, rows: slice, length: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The best Λ of each coefficient, 0 for those that do not move, and the decrease it guarantees."""
        plus, minus, alphas, coef = self.plus[rows], self.minus[rows], self.alphas[rows], self.coef[rows]
        weights = (plus, minus)
        if self.smoothing:
            plus, minus = plus + self.smoothing, minus + self.smoothing
        movable = self._movable(rows) & (length > 0)
        free = movable & (alphas == 0)
        step = np.log(plus, out=np.zeros_like(plus), where=free)
        step -= np.log(minus, out=np.zeros_like(minus), where=free)
        step *= 0.5
        at = movable & (alphas > 0)
        if at.any():
            step[at] = penalized_step(plus[at], minus[at], alphas[at], coef[at], length[at])
        bounded = np.clip(step, -700, 700)  # further away one of the weights is zero
        gain = np.expm1(bounded)
        gain *= -weights[1]
        np.expm1(np.negative(bounded, out=bounded), out=bounded)
        bounded *= weights[0]
        gain -= bounded
        if np.any(alphas):
            gain += alphas * step * (coef - step * length / 2)
        gain *= length
        return step, gain


def _larger(a: float, b: float) -> float:
    return b if b > a or math.isnan(b) else a  # propagate NaN


def penalized_step(plus: Any, minus: Any, alpha: Any, coef: Any, length: Any, xp: Any = np) -> Any:
    """Root of W⁺e^{−Λ} − W⁻e^{Λ} + αλ − αΛ/Z, which falls in Λ: Newton's method inside a bracket.

    `xp` is the namespace of the arrays.
    """
    pull = alpha * coef
    slope = plus - minus + pull
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        # Beyond `reach` the linear terms alone change the sign; beyond `up` and `down` an exponential outweighs all
        # other terms.
        reach = slope / (alpha * length)
        up = xp.where(minus > 0, xp.log((plus + pull.clip(0)) / minus), np.inf)
        down = xp.where(plus > 0, -xp.log((minus + (-pull).clip(0)) / plus), -np.inf)
    low = xp.where(slope < 0, xp.maximum(reach, down.clip(max=0)), 0.0)
    high = xp.where(slope > 0, xp.minimum(reach, up.clip(0)), 0.0)
    step = xp.zeros_like(slope)
    for iteration in range(200):
        rise = xp.where(plus > 0, plus * xp.exp(-step.clip(-700)), 0.0)
        fall = xp.where(minus > 0, minus * xp.exp(step.clip(max=700)), 0.0)
        height = rise - fall + pull - alpha * length * step
        low, high = xp.where(height > 0, step, low), xp.where(height < 0, step, high)
        newton = step + height / (rise + fall + alpha * length)
        # Far from the root of an exponential Newton's steps have length 1, so every third step halves the bracket.
        inside = (newton >= low) & (newton <= high) & (iteration % 3 != 2)
        settled = xp.abs(newton - step) <= 1e-13 * (1 + xp.abs(step))
        following = xp.where(settled, xp.clip(newton, low, high), xp.where(inside, newton, 0.5 * (low + high)))
        done = settled | (high - low <= 1e-13 * (1 + xp.abs(step)))
        step = following
        if done.all():
            break
    return step
