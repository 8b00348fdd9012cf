"""Learners that minimize an objective by an iterative solver: what they have in common."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Literal

import numpy as np

from labelrank._arrays import FloatArray
from labelrank._compat import Interval, StrOptions
from labelrank.models import Model, Objective
from labelrank.rankers.base import Progress
from labelrank.rankers.checkpoint import CHECKPOINT, Checkpoint
from labelrank.solvers import Solver, State, Stop
from labelrank.torch import as_numpy, on_device

# The parameters of every learner that minimizes an objective by an iterative solver.
MINIMIZING: dict[str, Any] = {
    "alpha": [Interval(Real, 0, None, closed="left")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="left")],
    "fit_intercept": ["boolean"],
    "warm_start": ["boolean"],
    "n_jobs": [None, Integral],
    "device": [StrOptions({"cpu", "cuda", "auto"}), None],
    "checkpoint": CHECKPOINT,
}

Device = Literal["cpu", "cuda", "auto"] | None

_SAME = 1e-4  # relative difference of an objective with float32 or 16-bit numbers, on a device, from that without


class MinimizerMixin:
    """Learners that minimize an objective: warm starts, callbacks, curves and warnings."""

    alpha: float
    max_iter: int
    tol: float
    warm_start: bool
    n_jobs: int | None
    device: Device = None
    checkpoint: Any = None

    def _minimize(self, objective: Objective, solver: Solver, progress: Progress) -> State:
        """Minimize, and set the fitted attributes."""
        objective, solver = on_device(objective, solver, self.device)
        model, checkpoint = objective.model, Checkpoint.of(self)
        before = self._resumed(objective, solver, checkpoint)
        stop = Stop(max(self.max_iter - before.n_iter, 0), self.tol)
        progress.begin(stop.max_iter)
        state = State(before.coef)

        def on_step(coef: Any, value: float) -> bool:
            if checkpoint is not None and checkpoint.is_due(before.n_iter + state.n_iter):
                done = before.followed_by(state)
                curves = {"loss_curve": done.loss_curve, "bound_curve": done.bound_curve}
                checkpoint.save(done.n_iter, coef=as_numpy(coef), **curves)
            return progress.step(f"{solver.name} iteration", lambda: self._attributes(model, as_numpy(coef)))

        state = before.followed_by(solver.solve(objective, before.coef, stop, on_step, state))
        state.coef = as_numpy(state.coef)
        if checkpoint is not None and checkpoint.saved != state.n_iter:
            checkpoint.save(state.n_iter, coef=state.coef, loss_curve=state.loss_curve, bound_curve=state.bound_curve)
        stop = Stop(self.max_iter, self.tol)
        self._publish(self._attributes(model, state.coef), state, objective.total_weight)
        state.warn(f"{type(self).__name__}(solver={solver.name!r})", stop)
        return state

    def _resumed(self, objective: Objective, solver: Solver, checkpoint: Checkpoint | None) -> State:
        """The state to start from: that of a checkpoint, or no iterations from the coefficients of :meth:`_start`."""
        start = self._start(objective.model)
        if checkpoint is None:
            return State(start)
        if not solver.restarts:
            raise ValueError(
                f"solver {solver.name!r} cannot start from the coefficients of a checkpoint; leave checkpoint at None"
            )
        saved = None if start.any() else checkpoint.load()
        if saved is None:
            return State(start)
        if saved["coef"].shape != start.shape:
            checkpoint.refuse(f"its coefficients have shape {saved['coef'].shape}, the data need {start.shape}")
        value = objective.value_and_gradient(objective.asarray(saved["coef"]))[0]
        checkpoint.check_same("the objective of its coefficients", float(saved["loss_curve"][-1]), value, rtol=_SAME)
        return State(saved["coef"], saved["loss_curve"].tolist(), saved["bound_curve"].tolist())

    def _start(self, model: Model) -> FloatArray:
        """Coefficients to start from: zeros or, for a warm start, those of the last fit."""
        if not (self.warm_start and hasattr(self, "coef_")):
            return np.zeros(model.coef_shape)
        old = self._coefficients(model)
        if old.shape != model.coef_shape:
            raise ValueError(
                f"warm_start=True continues with coefficients of shape {old.shape}, but the data now need "
                f"{model.coef_shape}; fit a new estimator"
            )
        return old

    def _attributes(self, model: Model, coef: FloatArray) -> dict[str, Any]:
        """Fitted attributes that hold the coefficients."""
        return model.attributes(coef)

    def _coefficients(self, model: Model) -> FloatArray:
        """The coefficients of the fitted attributes."""
        return model.coefficients(self)

    def _publish(self, attributes: dict[str, Any], state: State, scale: float) -> None:
        """Set the fitted attributes; curves of the mean loss are extended by a warm start."""
        curve, bounds = np.array(state.loss_curve) / scale, np.array(state.bound_curve) / scale
        before: FloatArray = getattr(self, "loss_curve_", curve[:0])
        old_bounds: FloatArray = getattr(self, "bound_curve_", curve[:0])
        if not len(before) or not np.isclose(before[-1], curve[0], rtol=_SAME, atol=0):
            before, old_bounds = curve[:1], curve[:0]  # other data or another penalty: the curves do not connect
        for name, value in attributes.items():
            setattr(self, name, value)
        self.loss_curve_ = np.concatenate([before, curve[1:]])
        self.bound_curve_ = np.concatenate([old_bounds, bounds])
        self.n_iter_ = len(self.loss_curve_) - 1
        self.gap_ = state.gap
