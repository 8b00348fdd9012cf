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
    fit_intercept: bool
    warm_start: bool
    n_jobs: int | None

    def _check_solver(self) -> None:
        if self.solver not in ("boosting", "lbfgs"):
            raise ValueError(f'solver must be "boosting" or "lbfgs", got {self.solver!r}')
        for name in ("alpha", "tol", "smoothing"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 <= float(value) < np.inf:
                raise ValueError(f"{name} must be a number from 0, got {value!r}")
        if not _is_integer(self.max_iter) or self.max_iter < 1:
            raise ValueError(f"max_iter must be an integer from 1, got {self.max_iter!r}")
        if self.n_jobs is not None and (not _is_integer(self.n_jobs) or self.n_jobs == 0):
            raise ValueError(
                f"n_jobs must be None or an integer other than 0 (-1: all processors), got {self.n_jobs!r}"
            )
        for name in ("fit_intercept", "warm_start"):
            check_switch(name, getattr(self, name))
        if self.smoothing and self.solver == "lbfgs":
            raise ValueError(f'smoothing is for solver="boosting"; got smoothing={self.smoothing} with solver="lbfgs"')

    def _check_same_labels(self, old: npt.NDArray[Any] | None, new: npt.NDArray[Any]) -> None:
        """Coefficients of a warm start belong to the labels of the last call, None when there is none."""
        if old is not None and not np.array_equal(old, new):
            raise ValueError(
                f"warm_start=True goes on with the labels {old.tolist()}, but y has {new.tolist()}; give them in the "
                "same order, or fit a new estimator"
            )

    def _split(self, coef: FloatArray) -> dict[str, Any]:
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
        loss_curve = np.array(state.loss_curve) / scale
        before: FloatArray = getattr(self, "loss_curve_", np.empty(0))
        old_bounds: FloatArray = getattr(self, "bound_curve_", np.empty(0))
        if len(before) and not np.isclose(before[-1], loss_curve[0], rtol=1e-8, atol=0):
            before, old_bounds = before[:0], old_bounds[:0]  # other data or another penalty: they do not connect
        # L-BFGS guarantees nothing, so its iterations have no bound.
        bounds = state.bound_curve[: state.n_iter] if self.solver == "boosting" else [np.nan] * state.n_iter
        self.loss_curve_ = np.concatenate([before[:-1], loss_curve])
        self.bound_curve_ = np.concatenate([old_bounds, np.array(bounds) / scale])
        self.n_iter_ = len(self.loss_curve_) - 1
        self.gap_ = state.gap
        state.warn(f"{type(self).__name__}(solver={self.solver!r})", self.max_iter, self.tol)


def check_switch(name: str, value: Any) -> None:
    """True or False, and nothing that merely counts as one of them."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, got {value!r}")


def _is_integer(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


Solver = Literal["boosting", "lbfgs"]
