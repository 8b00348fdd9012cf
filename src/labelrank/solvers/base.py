"""Base class of solvers, which state the abilities of a loss that they need and minimize an objective step by step.

Stopping, curves, callbacks, control-C and convergence warnings are implemented here for all solvers.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from labelrank._arrays import FloatArray
from labelrank.losses.base import Loss
from labelrank.models.base import Objective
from labelrank.supervision import stacklevel_of_user


class Stop(NamedTuple):
    """When to stop."""

    max_iter: int
    tol: float  # relative: of the gradient of the mean loss, or of a duality gap


class OnStep(Protocol):
    """Called after every iteration; True asks the solver to stop."""

    def __call__(self, coef: Any, value: float) -> bool:
        """Whether to stop."""


@dataclass
class State:
    """Coefficients of a solver, and the record of its iterations."""

    coef: Any
    loss_curve: list[float] = field(default_factory=list)  # the objective, before the first iteration and after each
    bound_curve: list[float] = field(default_factory=list)  # the decrease that was guaranteed for each iteration
    gap: float = np.inf  # compared with tol
    converged: bool = False
    interrupted: bool = False
    message: str = ""  # why a solver gave up before max_iter
    remark: str = ""  # text of a warning although the solver converged
    advice: str = "increase max_iter, scale the features, or use a larger tol"

    def followed_by(self, later: State) -> State:
        """Return the state of a later run that started from these coefficients, with the curves of both."""
        if not self.loss_curve:
            return later
        curves = self.loss_curve[:-1] + later.loss_curve, self.bound_curve + later.bound_curve
        return replace(later, loss_curve=curves[0], bound_curve=curves[1])

    @property
    def n_iter(self) -> int:
        """Number of iterations."""
        return max(0, len(self.loss_curve) - 1)

    def warn(self, name: str, stop: Stop, *, warm_start: bool = True) -> None:
        """Warn if the solver was interrupted or did not converge.

        `warm_start` is whether the learner has that parameter, and so can continue.
        """
        if self.interrupted:
            warnings.warn(
                f"{name} was interrupted after {self.n_iter} iterations and keeps the model fitted so far"
                + ". Continue with warm_start=True and fit" * warm_start,
                UserWarning,
                stacklevel=stacklevel_of_user(),
            )
        elif not self.converged:
            early = self.n_iter < stop.max_iter
            where = f"{self.n_iter} iterations" if early else f"max_iter={stop.max_iter} iterations"
            why = f" ({self.message})" if early and self.message else ""
            warnings.warn(
                f"{name} did not converge: after {where}{why} the gap is {self.gap:.2g}, tol={stop.tol:g}; "
                f"{self.advice}",
                ConvergenceWarning,
                stacklevel=stacklevel_of_user(),
            )
        elif self.remark:
            warnings.warn(f"{name} {self.remark}", ConvergenceWarning, stacklevel=stacklevel_of_user())


class Run:
    """One run of a solver: records its steps and decides when it ends.

    As a context manager it ends the run on control-C, with the coefficients of the last step, if there was one.
    """

    def __init__(self, start: Any, stop: Stop, on_step: OnStep | None, state: State | None = None) -> None:
        self.state, self.stop, self.on_step = State(start) if state is None else state, stop, on_step

    def step(self, coef: Any, value: float, gap: float, *, bound: float = np.nan, still: float | None = None) -> bool:
        """Record the start or an iteration; True if the run ends here.

        Parameters
        ----------
        coef : ndarray
            Coefficients; a solver that changes them in place passes a copy.
        value : float
            The objective.
        gap : float
            Compared with tol, and reported.
        bound : float
            The decrease that was guaranteed for this iteration.
        still : float, optional
            Compared with tol instead of `gap`, if a part of the gap cannot be closed.
        """
        state = self.state
        if not state.loss_curve and not np.isfinite(value + gap):
            raise ValueError("the loss or its gradient is not finite at the start; scale the features of X")
        state.coef, state.gap = coef, gap
        state.loss_curve.append(value)
        if state.n_iter:
            state.bound_curve.append(bound)
        state.converged = (gap if still is None else still) <= self.stop.tol
        if state.n_iter and self.on_step is not None and self.on_step(coef, value):
            state.converged = True  # a callback asked to stop
        return state.converged or state.n_iter >= self.stop.max_iter

    def __enter__(self) -> Run:
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> bool:
        # Before the first iteration there is nothing to keep.
        self.state.interrupted = kind is not None and issubclass(kind, KeyboardInterrupt) and self.state.n_iter > 0
        return self.state.interrupted


class Solver:
    """Base class of solvers.

    A subclass lists in ``needs`` the abilities of a loss that it uses, and implements ``_minimize``, which reports the
    start and every iteration to :meth:`Run.step` and ends when that returns True.

    Attributes
    ----------
    name : str
        Name of the solver in error messages.
    needs : frozenset of str
        Abilities that the loss must have, see :mod:`labelrank.losses.base`; ``"smoothness"`` if it must be smooth.
    by_rows : bool
        Whether it accesses single rows, so that it cannot work on data that are partitioned over a cluster. Other
        solvers use only sums of an objective over rows.
    restarts : bool
        Whether it can start from any coefficients, as from a checkpoint.
    """

    name: ClassVar[str] = "solver"
    by_rows: ClassVar[bool] = False
    restarts: ClassVar[bool] = True
    needs: ClassVar[frozenset[str]] = frozenset()

    def __repr__(self) -> str:
        return f"<solver {self.name}>"

    def solve(
        self,
        objective: Objective,
        start: FloatArray,
        stop: Stop,
        on_step: OnStep | None = None,
        state: State | None = None,
    ) -> State:
        """Minimize an objective.

        Parameters
        ----------
        objective : Objective
            Function to minimize.
        start : ndarray
            Coefficients to start from; they are not changed.
        stop : Stop
            When to stop.
        on_step : callable, optional
            Called with coefficients and objective after every iteration; True stops.
        state : State, optional
            State in which the run is recorded, so that `on_step` can read it: a new one with `start`.

        Returns
        -------
        State
        """
        check_abilities(objective.loss, f"solver {self.name!r}", self.needs, _other_solvers)
        with Run(start, stop, on_step, state) as run:
            self._minimize(objective, run)
        return run.state

    def _minimize(self, objective: Objective, run: Run) -> None:
        raise NotImplementedError(f"{type(self).__name__} must define _minimize")


def check_abilities(
    loss: Loss | type[Loss], who: str, needs: frozenset[str], advice: Callable[[frozenset[str]], str]
) -> None:
    """Raise ValueError if a loss lacks abilities that a learner needs.

    Parameters
    ----------
    loss : Loss
        The loss.
    who : str
        Name of the learner or solver, for the error.
    needs : frozenset of str
        Abilities, and ``"smoothness"``.
    advice : callable
        Returns the advice of the error, given the abilities of the loss.
    """
    offered = loss.abilities | ({"smoothness"} if loss.smooth else set())
    missing = sorted(needs - offered)
    if missing:
        raise ValueError(
            f"{who} needs a loss with {' and '.join(missing)}, but the loss {loss.name!r} has "
            f"{', '.join(sorted(loss.abilities)) or 'a value and a gradient only'}; {advice(offered)}"
        )


def _other_solvers(offered: frozenset[str]) -> str:
    """Name the solvers that can minimize a loss with some abilities."""
    from labelrank.solvers import SOLVERS

    others = [repr(name) for name, solver in SOLVERS.items() if solver.needs <= offered]
    return "use solver=" + " or ".join(others) if others else "no other solver can minimize it either"


def in_place(count: int, gap: float, tol: float) -> str:
    """Remark of boosting about coefficients that it cannot move."""
    return (
        f"left {count} coefficients in place: one of their two weights is zero, so that their best step is infinite "
        f"(largest gradient entry {gap:.2g}, tol={tol:g}); let them move by smoothing > 0, a parameter of boosting, or "
        'use solver="lbfgs"'
    )
