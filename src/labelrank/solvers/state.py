"""What a solver returns: where it got to, and on which way."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from labelrank.supervision import stacklevel_of_user

FloatArray = npt.NDArray[np.float64]


class Objective(Protocol):
    """What the solvers of this package need of an objective; see :mod:`labelrank.losses.objectives`."""

    @property
    def coef_shape(self) -> tuple[int, ...]:
        """Shape of the coefficients."""

    @property
    def total_weight(self) -> float:
        """What to divide by to speak of a mean loss."""

    @property
    def largest_change(self) -> float:
        """Largest 1-norm of the change of all base rankers along an edge."""

    @property
    def units(self) -> FloatArray:
        """About the root of the second derivative of the mean loss along the coefficients of each feature."""

    @property
    def n_scores(self) -> int:
        """Number of scores, one for each instance and label."""

    def value_and_gradient(self, coef: FloatArray) -> tuple[float, FloatArray]:
        """Loss and gradient."""

    def value_and_weights(self, coef: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Loss, W⁺ and W⁻."""


class OnStep(Protocol):
    """Called after every iteration; True asks the solver to stop."""

    def __call__(self, coef: FloatArray, value: float) -> bool:
        """Whether to stop."""


@dataclass
class SolverState:
    """Coefficients, and the curve of what was minimised: before the first iteration and after each."""

    coef: FloatArray
    loss_curve: list[float] = field(default_factory=list)
    bound_curve: list[float] = field(default_factory=list)  # boosting: the decrease guaranteed for each iteration
    gap: float = np.inf  # largest entry of the gradient of the mean loss
    converged: bool = False
    interrupted: bool = False
    left_in_place: int = 0  # boosting: coefficients with a slope that cannot move, since one of their weights is zero
    message: str = ""  # why the solver stopped, where it says so

    @property
    def n_iter(self) -> int:
        """Number of iterations."""
        return len(self.loss_curve) - 1

    def warn(self, name: str, max_iter: int, tol: float) -> None:
        """Say so when the solver did not get where it should."""
        if self.interrupted:
            warnings.warn(
                f"{name} was interrupted after {self.n_iter} iterations; the estimator is fitted with what it had. "
                "Continue with warm_start=True and fit",
                stacklevel=stacklevel_of_user(),
            )
        elif not self.converged:
            early = self.n_iter < max_iter and bool(self.message)
            warnings.warn(
                f"{name} stopped after {f'max_iter={max_iter}' if not early else self.n_iter} iterations"
                f"{f' ({self.message})' if early else ''} with {self.gap:.2g} as the largest entry of the gradient of "
                f"the mean loss, tol={tol:g}; increase max_iter, scale the features, or accept it by a larger tol",
                ConvergenceWarning,
                stacklevel=stacklevel_of_user(),
            )
        elif self.left_in_place:
            warnings.warn(
                f"{name} left {self.left_in_place} coefficients in place: one of their two weights is zero, so that "
                f"their best step is infinite (largest gradient entry {self.gap:.2g}, tol={tol:g}); pass smoothing > 0 "
                'or alpha > 0 to let them move, or solver="lbfgs"',
                ConvergenceWarning,
                stacklevel=stacklevel_of_user(),
            )


def penalty(coef: FloatArray, alpha: float, penalised: Any) -> float:
    """alpha/2 times the squared norm of the penalised coefficients."""
    return 0.5 * alpha * float(np.vdot(coef[penalised], coef[penalised])) if alpha else 0.0


def add_slope_of_penalty(gradient: FloatArray, coef: FloatArray, alpha: float, penalised: Any) -> None:
    """Add the gradient of :func:`penalty`, some rows at a time: no second vector of the size of the coefficients."""
    if not alpha:
        return
    if not isinstance(penalised, slice):
        gradient[penalised] += alpha * coef[penalised]
        return
    slope, at = gradient[penalised], coef[penalised]
    rows = max(1, 2**14 * len(at) // max(1, at.size))
    for first in range(0, len(at), rows):
        slope[first : first + rows] += alpha * at[first : first + rows]
