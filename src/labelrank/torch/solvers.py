"""Solvers whose coefficients stay on a device: L-BFGS and parallel boosting.

L-BFGS of SciPy needs the coefficients in NumPy arrays in every iteration, that of PyTorch compares values of the loss,
which rounding of float32 scores hides near the minimum.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from labelrank.solvers import LBFGS, Boosting
from labelrank.solvers.base import Run, State
from labelrank.solvers.boosting.parallel import Promise, penalized_step
from labelrank.solvers.lbfgs import TINY_GAP

_HISTORY = 10
_NOISE = {torch.float32: 1e-7, torch.float64: 1e-15}  # relative, of a loss
_FINE = 1e-5  # from this gap on, float64
_STEPS = 10  # which lower the loss by more than rounding, or float64 numbers follow


class _OnDevice:
    """Mixin of solvers on a device: failed allocations raise MemoryError, and autocast is disabled."""

    def solve(self, objective: Any, *arguments: Any, **named: Any) -> State:
        with objective.guarded():
            found: State = super().solve(objective, *arguments, **named)  # type: ignore[misc]
            return found


class TorchLBFGS(_OnDevice, LBFGS):
    """L-BFGS with the coefficients on a device; features are scaled to have the same curvature.

    Near the minimum, where changes of the loss are within rounding, the line search compares slopes instead, which are
    more accurate for a convex objective. If float32 scores are too coarse for a step, or the gap is small, it continues
    in float64.
    """

    def _minimize(self, objective: Any, run: Run) -> None:
        scale, state = objective.total_weight, run.state
        start = objective.asarray(state.coef)
        unit = objective.asarray(objective.widths).reshape((-1,) + (1,) * (start.ndim - 1))
        gap = 0.0

        def mean(point: Tensor) -> tuple[float, Tensor]:
            nonlocal gap
            gradient: Any
            value, gradient = objective.value_and_gradient(point / unit)
            gap = float(gradient.abs().max()) / scale if gradient.numel() else 0.0
            return value / scale, gradient.div_(unit * scale)

        point = start * unit
        value, gradient = mean(point)
        changes: list[tuple[Tensor, Tensor, Tensor]] = []  # of the point and of the gradient, and 1 / their product
        while not run.step(point / unit, value * scale, gap):
            if objective.dtype == torch.float32 and (gap <= _FINE or _is_stuck(state.loss_curve)):
                objective = objective.in_float64()
                value, gradient = mean(point)
            found = _search(mean, point, value, gradient, _direction(gradient, changes), bool(changes), objective.dtype)
            if found is None and changes:  # rounding has spoiled them
                changes.clear()
                found = _search(mean, point, value, gradient, -gradient, False, objective.dtype)
            if found is None and objective.dtype == torch.float32:
                objective = objective.in_float64()
                value, gradient = mean(point)
                found = _search(mean, point, value, gradient, -gradient, False, objective.dtype)
            if found is None:
                state.message = "rounding errors prevent a smaller one"
                state.converged = state.gap <= TINY_GAP
                return
            following, value, slope = found
            s, y = following - point, slope - gradient
            product = _dot(s, y)
            if float(product) > 1e-12 * float(_dot(y, y)):
                changes.append((s, y, 1 / product))
                del changes[:-_HISTORY]
            point, gradient = following, slope


def _is_stuck(curve: list[float]) -> bool:
    """Whether the last steps have not lowered the loss by more than float32 scores round it."""
    return len(curve) > _STEPS and curve[-1 - _STEPS] - curve[-1] <= _NOISE[torch.float32] * abs(curve[-1])


def _direction(gradient: Tensor, changes: list[tuple[Tensor, Tensor, Tensor]]) -> Tensor:
    """The gradient times minus the inverse of the approximate Hessian, by two loops over the changes."""
    q, shares = -gradient, []
    for s, y, inverse in reversed(changes):
        shares.append(inverse * _dot(s, q))
        q.addcmul_(shares[-1], y, value=-1)
    if changes:
        _, y, inverse = changes[-1]
        q /= inverse * _dot(y, y)
    for (s, y, inverse), share in zip(changes, reversed(shares), strict=True):
        q.addcmul_(share - inverse * _dot(y, q), s)
    return q


def _dot(a: Tensor, b: Tensor) -> Tensor:
    return torch.dot(a.reshape(-1), b.reshape(-1))


def _search(
    mean: Any, point: Tensor, value: float, gradient: Tensor, direction: Tensor, scaled: bool, dtype: torch.dtype
) -> tuple[Tensor, float, Tensor] | None:
    """The next point with its value and gradient: approximate Wolfe conditions of Hager and Zhang, by bisection."""
    slope = float(_dot(gradient, direction))
    if not slope < 0:
        return None
    length = 1.0 if scaled else 1.0 / max(float(gradient.norm()), 1e-30)
    low, high, noise = 0.0, float("inf"), _NOISE[dtype] * abs(value)
    for _ in range(30):
        following = point + length * direction
        if torch.equal(following, point):
            return None
        found, at = mean(following)
        slope_there = float(_dot(at, direction))
        lower = found <= value + 0.1 * length * slope
        flat = slope_there <= -0.8 * slope and found <= value + noise
        if not (lower or flat):
            high = length
        elif slope_there < 0.9 * slope:
            low = length
        else:
            return following, found, at
        length = 0.5 * (low + high) if high < float("inf") else 4 * length
    return None


class _Promise(Promise):
    """The decrease that a step guarantees, for all coefficients at once."""

    def __init__(self, plus: Any, minus: Any, alphas: Any, coef: Any, smoothing: float) -> None:
        self.plus, self.minus, self.alphas, self.coef = plus, minus, alphas, coef
        self.smoothing = smoothing

    def slopes(self, tol: float) -> tuple[float, float, int]:
        """Largest slope of all and of those that can move, and how many above `tol` cannot."""
        slope = (self.plus - self.minus + self.alphas * self.coef).abs()
        movable = self._movable(slice(None))
        if not slope.numel():
            return 0.0, 0.0, 0
        left = (~movable & (slope > tol)).sum()
        found = torch.stack([slope.max(), torch.where(movable, slope, 0.0).max(), left.to(slope.dtype)]).tolist()
        return found[0], found[1], int(found[2])

    def step(self, length: Any) -> tuple[Any, float]:
        """The coefficients after the best step, and the decrease that it guarantees."""
        step, gain = self._step_and_gain(slice(None), torch.full_like(self.coef, float(length)))
        return self.coef - step * float(length), float(gain.sum())

    def _movable(self, rows: slice) -> Any:
        if self.smoothing > 0:
            return torch.ones_like(self.coef, dtype=torch.bool)
        return (self.alphas > 0) | ((self.plus > 0) & (self.minus > 0))

    def _step_and_gain(self, rows: slice, length: Any) -> tuple[Any, Any]:
        plus, minus = self.plus + self.smoothing, self.minus + self.smoothing
        movable = self._movable(rows)
        free = movable & (self.alphas == 0)
        step = torch.where(free, 0.5 * (torch.log(plus) - torch.log(minus)), 0.0)
        at = movable & (self.alphas > 0)
        if at.any():
            best = penalized_step(plus, minus, torch.where(at, self.alphas, 1.0), self.coef, length, xp=torch)
            step = torch.where(at, best, step)
        bounded = step.clip(-700, 700)
        gain = -self.minus * torch.expm1(bounded) - self.plus * torch.expm1(-bounded)
        return step, (gain + self.alphas * step * (self.coef - step * length / 2)) * length


class TorchBoosting(_OnDevice, Boosting):
    """Parallel boosting on a device."""

    def _promise(self, *arguments: Any) -> Promise:
        return _Promise(*arguments)


def solver_on_device(solver: Any) -> LBFGS | Boosting:
    """Return the version of a solver for tensors."""
    return TorchBoosting(solver.smoothing) if isinstance(solver, Boosting) else TorchLBFGS()
