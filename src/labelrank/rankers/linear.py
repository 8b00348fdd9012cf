"""What the linear learners share: solving from a start, keeping the curves, going on after an interruption."""

from __future__ import annotations

import numbers
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.callback import CallbackSupportMixin

from labelrank.solvers import SolverState

FloatArray = npt.NDArray[np.float64]


class IterativeLinearMixin(CallbackSupportMixin):
    """Linear scores found by an iterative solver that can be watched, interrupted and continued.

    A learner says with ``_split`` which attributes the coefficients of the solver stand for, and with ``_joined`` the
    way back, for a warm start.
    """

    solver: str
    alpha: float
    max_iter: int
    tol: float
    smoothing: float
    warm_start: bool

    def _check_solver(self) -> None:
        if self.solver not in ("boosting", "lbfgs"):
            raise ValueError(f'solver must be "boosting" or "lbfgs", got {self.solver!r}')
        for name in ("alpha", "tol", "smoothing"):
            value = getattr(self, name)
            if not isinstance(value, numbers.Real) or not 0 <= float(value) < np.inf:
                raise ValueError(f"{name} must be a number from 0, got {value!r}")
        if not isinstance(self.max_iter, numbers.Integral) or self.max_iter < 1:
            raise ValueError(f"max_iter must be an integer from 1, got {self.max_iter!r}")
        if self.smoothing and self.solver == "lbfgs":
            raise ValueError(f'smoothing is for solver="boosting"; got smoothing={self.smoothing} with solver="lbfgs"')

    def _split(self, coef: FloatArray) -> dict[str, FloatArray]:
        raise NotImplementedError

    def _joined(self) -> FloatArray:
        raise NotImplementedError

    def _start(self, shape: tuple[int, ...]) -> FloatArray:
        """Zeros, or what the last fit left for a warm start."""
        if not (self.warm_start and hasattr(self, "coef_")):
            for name in ("loss_curve_", "bound_curve_"):
                self.__dict__.pop(name, None)
            return np.zeros(shape)
        old = self._joined()
        if old.shape != shape:
            raise ValueError(
                f"warm_start=True goes on with coefficients of shape {old.shape}, but the data now need {shape}; fit a "
                "new estimator"
            )
        return np.array(old, order="C")

    def _watch(self, context: Any) -> Any:
        """Tells the callbacks of every iteration; True when one of them wants to stop."""

        def on_step(coef: FloatArray, value: float) -> bool:
            step = context.subcontext(task_name=f"{self.solver} iteration")
            step.call_on_fit_task_begin(estimator=self)
            return bool(step.call_on_fit_task_end(estimator=self, reconstruction_attributes=lambda: self._split(coef)))

        return on_step

    def _keep(self, state: SolverState, scale: float = 1.0) -> None:
        """Set the attributes; the curves are divided by `scale` and go on after a warm start."""
        for name, value in self._split(state.coef).items():
            setattr(self, name, value)
        before = getattr(self, "loss_curve_", np.empty(0))[:-1]
        # L-BFGS guarantees nothing, so its iterations have no bound.
        bounds = state.bound_curve[: state.n_iter] if self.solver == "boosting" else [np.nan] * state.n_iter
        old_bounds = getattr(self, "bound_curve_", np.empty(0))
        self.loss_curve_ = np.concatenate([before, np.array(state.loss_curve) / scale])
        self.bound_curve_ = np.concatenate([old_bounds, np.array(bounds) / scale])
        self.n_iter_ = len(self.loss_curve_) - 1
        self.gap_ = state.gap
        state.warn(f"{type(self).__name__}(solver={self.solver!r})", self.max_iter, self.tol)


Solver = Literal["boosting", "lbfgs"]
