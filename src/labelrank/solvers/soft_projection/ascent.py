"""Batch learning by soft projections: exact ascent in the duals of one subgraph at a time, with a certificate.

The primal is ½‖w‖² + C L(w) with the soft-margin loss L; each visit to a subgraph solves for its duals exactly. The
duality gap is a sum of one non-negative term for each subgraph, and a term is computed along with the projection. So
the epochs skip instances with nothing to gain, and the solver stops when the gap, computed anew for all, is small.

If the epochs have taken as long as an interior-point method would, the solver switches to that once. Both are measured
in operations, not by a clock, so that equal data give equal results.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from labelrank._arrays import FloatArray, IntArray, row_blocks
from labelrank.losses.soft_margin import SoftMarginLoss
from labelrank.solvers.soft_projection.interior import interior_cost, solve_interior
from labelrank.solvers.soft_projection.models import LinearAscent
from labelrank.supervision import stacklevel_of_user

_CHUNK = 2**14  # instances between two chances for control-C
_RUN = 16  # neighboring instances that are visited in the order of their rows
_SHARE = 0.5  # of the requested gap, may be left in instances that are skipped
_CHECK = 10  # epochs between two computations of the objectives, at most
_MANY = 2**26  # duals, half a GiB of 64 bits
_ROUNDED = 1e-6  # relative gap that duals of 32 bits may not get below


@dataclass
class SoftProjectionState:
    """Result of the solver, and its history."""

    duals: npt.NDArray[Any]
    curve: list[tuple[float, float, float, float]] = field(default_factory=list)  # epoch, seconds, primal, dual
    n_iter: int = 0
    converged: bool = False
    interrupted: bool = False
    stopped: bool = False  # by a callback
    at: int = -1  # row of the curve that the weights belong to
    weights: tuple[FloatArray, ...] = ()  # of the model

    @property
    def primal(self) -> float:
        """The objective of the weights."""
        return self.curve[self.at][2]

    @property
    def dual(self) -> float:
        """The largest lower bound of the objective that was found."""
        return max(row[3] for row in self.curve)

    @property
    def gap(self) -> float:
        """Their difference."""
        return self.primal - self.dual

    def warn(self, name: str, max_iter: int, tol: float) -> None:
        """Warn if the solver was interrupted or did not converge."""
        gap = f"a duality gap of {self.gap:.2g} at an objective of {self.primal:.6g}"
        relative = self.gap / abs(self.primal) if self.primal else np.inf
        if self.interrupted:
            warnings.warn(
                f"{name} was interrupted after {self.n_iter} epochs with {gap}; it is fitted with what was learned "
                "until then. Continue with warm_start=True and fit",
                stacklevel=stacklevel_of_user(),
            )
        elif not (self.converged or self.stopped):
            advice = "increase max_iter, scale the features, decrease C, or accept it by a larger tol"
            if abs(relative) < _ROUNDED and self.duals.dtype == np.float32:
                advice = "duals of 32 bits may not get below 1e-6; use a larger tol"
            warnings.warn(
                f"{name} stopped after {self.n_iter} epochs (max_iter={max_iter}) with {gap}, {relative:.2g} relative, "
                f"tol={tol:g}; {advice}",
                ConvergenceWarning,
                stacklevel=stacklevel_of_user(),
            )


def zero_duals(blocks: Any, tol: float) -> npt.NDArray[Any]:
    """Return zeros to start from, of 32 bits where they are very many and such numbers are precise enough."""
    n_duals = blocks.head[-1, 1]
    return np.zeros(n_duals, dtype=np.float32 if n_duals >= _MANY and tol >= 10 * _ROUNDED else np.float64)


@dataclass
class SoftProjection:
    """Dual ascent by soft projections.

    Parameters
    ----------
    tol : float
        Stop when the duality gap is at most ``tol * |primal|``.
    max_iter : int
        Largest number of epochs.
    shuffle : bool
        Whether each epoch has its own random order.
    shrinking : bool
        Whether instances with nothing to gain are skipped for some epochs.
    random_state : RandomState
        For the order of the instances.
    """

    tol: float = 1e-3
    max_iter: int = 1000
    shuffle: bool = True
    shrinking: bool = True
    random_state: np.random.RandomState = field(default_factory=np.random.RandomState)

    def solve(
        self,
        model: LinearAscent,
        loss: SoftMarginLoss,
        C: float,
        start: npt.NDArray[Any],
        on_epoch: Callable[[], bool] = lambda: False,
    ) -> SoftProjectionState:
        """Minimize ½‖w‖² + C L(w).

        Parameters
        ----------
        model : LinearAscent
            The model.
        loss : SoftMarginLoss
            The loss.
        C : float
            Its weight.
        start : ndarray of shape (n_duals,)
            Duals to start from, zeros or those of another call; they are made feasible first, and changed in place.
        on_epoch : callable
            Called after each epoch; True asks to stop.

        Returns
        -------
        SoftProjectionState
        """
        ascent = _Ascent(self, model, loss, C, start)
        state = ascent.state
        try:
            ascent.check()
            while not (state.converged or state.stopped) and state.n_iter < self.max_iter:
                inside = ascent.interior_pays()
                found = ascent.interior() if inside else ascent.epoch()
                state.n_iter += 1
                state.stopped = on_epoch()
                last = state.stopped or state.n_iter == self.max_iter
                if last or inside or state.n_iter % _CHECK == 0 or ascent.looks_done(found):
                    ascent.check(found)
        except KeyboardInterrupt:
            state.interrupted = True
            ascent.restore()
            ascent.check()
        ascent.choose()
        return state


class _Ascent:
    """The steps of the loop, and their common state."""

    def __init__(
        self, solver: SoftProjection, model: LinearAscent, loss: SoftMarginLoss, C: float, duals: npt.NDArray[Any]
    ) -> None:
        from labelrank._kernels.solvers.soft_projection.ascent import Duals

        self.begin = time.perf_counter()
        self.solver, self.model, self.blocks = solver, model, loss.blocks()
        self.state, self.duals = SoftProjectionState(duals), Duals(duals, float(C))
        self.busy = np.flatnonzero(loss.counted)
        self.rests = np.zeros((len(loss.counted), 2), dtype=np.int32)
        self.gaps = np.zeros(len(loss.counted))  # of each instance at the last check
        self.asked = 0.0  # gap to stop at
        self.ratio = 0.5  # of the gap after an epoch to the sum of the gaps found in it
        # In floating-point operations: a visit, the epochs so far, and an interior solution.
        sizes = 10.0 * len(duals) / max(len(self.busy), 1)
        self.visit_cost = 4.0 * model.shape[1] * max(model.n_features, 1) + 100.0 + sizes
        self.work = 0.0
        self.past: list[tuple[float, float]] = []  # work and gap at the checks
        self.interior_cost = interior_cost(self.blocks, model.shape[1], model.n_features)
        if duals.any():
            self.restore()

    def restore(self) -> None:
        """Make the duals feasible, and compute the coefficients anew."""
        from labelrank._kernels.solvers.soft_projection.ascent import make_feasible

        make_feasible(self.duals, self.blocks)
        self.model.restore(self.duals, self.blocks)

    def epoch(self) -> float:
        """Visit all instances that are due; returns the sum of the gaps found."""
        from labelrank._kernels.solvers.soft_projection.ascent import Pace

        enough, order = _SHARE * self.asked / len(self.busy), self.busy
        small = 0.0
        if self.solver.shrinking:
            small = _SHARE * self.asked / len(self.blocks.sides)
            order = order[self.rests[order, 0] <= self.state.n_iter]
        if self.solver.shuffle:
            order = _shuffled(order, self.solver.random_state)
        pace = Pace(self.state.n_iter, self.rests, small, enough)
        found = enough * (len(self.busy) - len(order))
        for first in range(0, len(order), _CHUNK):
            rows = order[first : first + _CHUNK]
            found += self.model.epoch(self.model.record, rows, pace, self.duals, self.blocks)
        self.work += len(order) * self.visit_cost
        return found

    def interior_pays(self) -> bool:
        """Return whether the epochs would cost more than an interior solution.

        The estimate of what they would cost is often too low, so their cost so far counts as much. The last epoch will
        hardly achieve what those before it did not.
        """
        if self.state.n_iter == self.solver.max_iter - 1:
            return self.interior_cost < 10 * self.work
        return self.interior_cost < min(max(self.work_ahead(), self.work), 10 * self.work)

    def work_ahead(self) -> float:
        """Return the work that is left if the gap goes on to fall as in the second half of the work so far."""
        work, gap = self.past[-1]
        done, before = next(one for one in reversed(self.past) if one[0] <= 0.5 * work)
        if not 0.0 < self.asked < gap < before:
            return np.inf
        return float((work - done) * np.log(gap / self.asked) / np.log(before / gap))

    def interior(self) -> float:
        """Solve for all duals at once, in place of an epoch; the gap is not known yet."""
        self.interior_cost = np.inf  # a second time would not help
        X, n_labels = self.model.features(), self.model.shape[1]
        found = solve_interior(X, self.blocks, n_labels, self.duals, 0.5 * self.solver.tol)
        old = self.duals.value.copy()
        self.duals.value[:] = found
        self.restore()
        primal, dual = self.state.curve[-1][2:]
        if not np.subtract(*self.objectives()) <= primal - dual:  # NaN as well
            self.duals.value[:] = old
            self.restore()
        self.rests[:] = 0
        return 0.0

    def looks_done(self, found: float) -> bool:
        """Return whether the gap may be small enough: gaps are found before each step and smaller after it."""
        return self.ratio * found <= self.asked

    def objectives(self) -> tuple[float, float]:
        """Return the primal and dual objectives; ``gaps`` gets the part of each instance in their difference."""
        from labelrank._kernels.solvers.soft_projection.ascent import duality_gaps

        half = 0.5 * self.model.squared_norm(self.duals, self.blocks)
        primal = half + sum(
            duality_gaps(self.model.scores(rows), rows.start, self.duals, self.blocks, self.gaps)
            for rows in row_blocks(*self.model.shape)
        )
        return primal, primal - float(self.gaps.sum())

    def check(self, found: float = 0.0) -> None:
        """Compute both objectives, and which instances still have something to gain."""
        state = self.state
        primal, dual = self.objectives()
        if not primal >= min((row[2] for row in state.curve), default=np.inf):
            state.at, state.weights = len(state.curve), self.model.weights(self.duals, self.blocks)
        state.curve.append((state.n_iter, time.perf_counter() - self.begin, primal, dual))
        self.past.append((self.work, primal - dual))
        self.asked = self.solver.tol * abs(primal)
        state.converged = abs(primal - dual) <= self.asked  # a negative gap is rounding and certifies nothing
        self.ratio = (primal - dual) / found if found > 0 else self.ratio
        self.rests[self.gaps > _SHARE * self.asked / max(len(self.busy), 1), 0] = 0

    def choose(self) -> None:
        """Keep the weights of the last duals if they are certified, otherwise those with the smallest objective."""
        state = self.state
        if state.converged or not state.weights:
            state.at, state.weights = -1, self.model.weights(self.duals, self.blocks)


def _shuffled(order: IntArray, rng: np.random.RandomState) -> IntArray:
    """Return a random order of short runs: neighbors in memory are visited together, which saves cache misses."""
    if len(order) < _RUN**2:
        return np.asarray(rng.permutation(order))
    n_runs = len(order) // _RUN
    order = np.roll(order, rng.randint(len(order)))  # so that runs differ from epoch to epoch
    runs = order[: n_runs * _RUN].reshape(n_runs, _RUN)[rng.permutation(n_runs)]
    return np.concatenate([runs.ravel(), order[n_runs * _RUN :]])


def project_online(
    X: Any, loss: SoftMarginLoss, C: float, constant: float, iterate: FloatArray, mean: FloatArray, seen: int
) -> tuple[FloatArray, FloatArray, int]:
    """Project each instance once, in order, without keeping its duals.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_instances, n_features)
        Instances; those without weight are left out.
    loss : SoftMarginLoss
        The loss.
    C : float
        Its weight.
    constant : float
        Value of the feature of the intercept, 0 for none.
    iterate, mean : ndarray of shape (n_labels, n_features + 1)
        Coefficients to start from, and the mean of the iterates so far.
    seen : int
        Number of instances in that mean.

    Returns
    -------
    iterate, mean : ndarray of shape (n_labels, n_features + 1)
    seen : int
    """
    from labelrank._kernels.solvers.soft_projection.ascent import Duals, Pace

    blocks, model = loss.blocks(), LinearAscent(X, loss.shape[1], constant)
    rows = np.flatnonzero(loss.weight > 0)
    duals, pace = Duals(np.zeros(blocks.head[-1, 1]), float(C)), Pace(0, np.zeros((len(loss.weight), 2)), 0.0, -1.0)
    model.coef[:], model.bias[:] = iterate[:, :-1], iterate[:, -1]
    model.epoch(model.record, rows, pace, duals, blocks)
    # The mean lags behind the last iterate: a step is missing from all iterates before it.
    lag = (iterate - mean) * seen
    iterate = np.column_stack([model.coef, model.bias])
    before = np.zeros(len(loss.weight))
    before[rows] = seen + np.arange(len(rows))
    model.restore(duals, blocks, before)
    lag += np.column_stack([model.coef, model.bias])
    seen += len(rows)
    return iterate, iterate - lag / max(seen, 1), seen
