"""Batch learning by soft projections: exact ascent in the duals of one subgraph at a time, with a certificate.

With C = 1/α the objective times C is ½‖w‖² + C L(w), the primal. Each visit to a subgraph solves for its duals exactly.
The duality gap is a sum of one non-negative term for each subgraph, which is computed along with the projection. So the
epochs skip instances with small terms, and the solver stops when the gap, recomputed for all instances, is small.

If an interior-point method is expected to be faster than further epochs, the solver switches to it once. Both are
measured in operations, not in seconds, so that equal data give equal results.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from labelrank._arrays import IntArray, row_blocks
from labelrank._memory import require_memory
from labelrank.models import Objective
from labelrank.solvers.base import Run, Solver, State
from labelrank.solvers.soft_projection.interior import sizes_of, solve_interior
from labelrank.solvers.soft_projection.models import ascent_of

_CHUNK = 2**14  # instances per kernel call; control-C is handled in between
_RUN = 16  # neighboring instances that are visited in the order of their rows
_SHARE = 0.5  # of the requested gap may be left in skipped instances
_CHECK = 10  # epochs between two computations of the objectives, at most
_STEPS = 3  # of an interior solution, for each factor of ten in the number of duals
_MEMORY = 2**24  # largest number of entries of the arrays of an interior solution
_MANY = 2**26  # duals, half a GiB of float64
_ROUNDED = 1e-6  # relative gap that float32 duals may not reach


@dataclass
class DualState(State):
    """State of a dual solver."""

    duals: npt.NDArray[Any] = field(default_factory=lambda: np.empty(0))
    gap_curve: list[tuple[float, float, float, float]] = field(default_factory=list)  # epoch, seconds, primal, dual
    at: int = -1  # row of the curve that the coefficients belong to
    certified: bool = False  # whether the gap is at most tol
    indefinite: bool = False  # whether the kernel was found not to be positive semi-definite
    advice: str = "increase max_iter, scale the features, regularize more, or use a larger tol"

    @property
    def primal(self) -> float:
        """The primal objective of the coefficients."""
        return self.gap_curve[self.at][2]

    @property
    def dual(self) -> float:
        """The largest lower bound of the primal objective found."""
        return max(row[3] for row in self.gap_curve)


class SoftProjection(Solver):
    """Dual ascent by soft projections, to a certified duality gap.

    The gap and the tolerance are relative. An intercept is the coefficient of a feature with the value 1, and penalized
    like the others. The objective is computed at least every tenth epoch; in between, the loss curve repeats the last
    value.

    Parameters
    ----------
    shuffle : bool, default=True
        Whether each epoch visits the instances in a new random order.
    shrinking : bool, default=True
        Whether epochs may skip instances that contribute little to the gap.
    random_state : int, RandomState instance or None, default=None
        Seed of the shuffling.
    duals : ndarray of shape (n_duals,), optional
        Dual variables to start from, those of a state with the same subgraphs. They are made feasible first.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import as_graphs
    >>> from labelrank.losses import SoftMarginLoss
    >>> from labelrank.models import LinearModel, Objective
    >>> from labelrank.solvers import SoftProjection, Stop
    >>> model = LinearModel(np.array([[1.0], [-1.0]]), 2, fit_intercept=False)
    >>> objective = Objective(model, SoftMarginLoss(as_graphs([[1, 2], [2, 1]])), alpha=1.0)
    >>> state = SoftProjection().solve(objective, np.zeros((1, 2)), Stop(max_iter=50, tol=1e-6))
    >>> state.coef.round(3), state.gap <= 1e-6
    (array([[ 0.5, -0.5]]), True)
    """

    name: ClassVar[str] = "soft_projection"
    needs: ClassVar[frozenset[str]] = frozenset({"blocks"})
    by_rows: ClassVar[bool] = True
    restarts: ClassVar[bool] = False

    def __init__(
        self,
        shuffle: bool = True,
        shrinking: bool = True,
        random_state: Any = None,
        duals: npt.NDArray[Any] | None = None,
    ) -> None:
        self.shuffle, self.shrinking, self.random_state, self.duals = shuffle, shrinking, random_state, duals

    def _minimize(self, objective: Objective, run: Run) -> None:
        if not objective.alpha > 0:
            raise ValueError(f"solver {self.name!r} needs alpha > 0, got alpha={objective.alpha}")
        if np.any(run.state.coef):
            raise ValueError(
                f"solver {self.name!r} continues from dual variables, not from coefficients; use SoftProjectionRanker "
                "for warm starts"
            )
        ascent = _Ascent(self, objective, run)
        try:
            ascent.check()
            while not ascent.report():
                inside = ascent.interior_pays()
                found = ascent.interior() if inside else ascent.epoch()
                if inside or ascent.is_due(found):
                    ascent.check(found)
        except KeyboardInterrupt:
            ascent.restore()
            ascent.finish()
            raise
        ascent.finish()


class _Ascent:
    """The steps of the solver, and their common state."""

    def __init__(self, solver: SoftProjection, objective: Objective, run: Run) -> None:
        from labelrank._kernels.solvers.soft_projection.ascent import Duals

        self.begin = time.perf_counter()
        self.solver, self.run, self.model = solver, run, ascent_of(objective.model)
        self.rng = check_random_state(solver.random_state)
        loss: Any = objective.loss
        self.blocks = loss.blocks
        self.duals = Duals(initial_duals(self.blocks, run.stop.tol, solver.duals), 1.0 / objective.alpha)
        run.state = self.state = DualState(run.state.coef, duals=self.duals.value)
        self.n_iter, self.fresh = 0, True  # whether the coefficients were just computed from the duals
        self.busy = np.flatnonzero(loss.counted)
        self.model.check_range(self.duals.C, self.blocks, self.busy)
        self.rests = np.zeros((len(loss.counted), 2), dtype=np.int32)
        self.gaps = np.zeros(len(loss.counted))  # of each instance at the last check
        self.gap, self.asked = np.inf, 0.0  # relative gap, infinite if unknown, and the absolute gap to stop at
        self.lowest = np.inf  # primal objective
        self.ratio = 0.5  # of the gap after an epoch to the sum of the gaps found in it
        # In floating-point operations: a visit, the epochs so far, and an interior solution.
        n_labels, n_features = self.model.shape[1], self.model.n_features
        sizes = 10.0 * len(self.duals.value) / max(len(self.busy), 1)
        self.visit_cost = 4.0 * n_labels * max(n_features, 1) + 100.0 + sizes
        self.work = 0.0
        self.past: list[tuple[float, float]] = []  # work and gap at the checks
        self.interior_cost = _interior_cost(self.blocks, n_labels, n_features)
        if solver.duals is not None:
            self.restore()

    def restore(self) -> None:
        """Make the duals feasible, and recompute the coefficients."""
        from labelrank._kernels.solvers.soft_projection.ascent import make_feasible

        make_feasible(self.duals, self.blocks)
        self.model.restore(self.duals, self.blocks)
        self.gap, self.fresh = np.inf, True

    def epoch(self) -> float:
        """Visit all instances that are due; return the sum of the gaps found."""
        from labelrank._kernels.solvers.soft_projection.ascent import Pace

        small, enough, order = 0.0, _SHARE * self.asked / len(self.busy), self.busy
        if self.solver.shrinking:
            small = _SHARE * self.asked / len(self.blocks.sides)
            order = order[self.rests[order, 0] <= self.n_iter]
        if self.solver.shuffle:
            order = _shuffled(order, self.rng)
        pace = Pace(self.n_iter, self.rests, small, enough)
        found = enough * (len(self.busy) - len(order))
        self.n_iter, self.gap, self.fresh = self.n_iter + 1, np.inf, False
        for first in range(0, len(order), _CHUNK):
            rows = order[first : first + _CHUNK]
            found += self.model.epoch(self.model.record, rows, pace, self.duals, self.blocks)
        self.work += len(order) * self.visit_cost
        return found

    def interior_pays(self) -> bool:
        """Return whether further epochs would cost more than an interior solution.

        The estimate of their cost is often too low, so it is at least their cost so far. Before the last epoch, which
        will hardly reach the tolerance, no estimate is needed.
        """
        if self.n_iter == self.run.stop.max_iter - 1:
            return self.interior_cost < 10 * self.work
        return self.interior_cost < min(max(self.work_ahead(), self.work), 10 * self.work)

    def work_ahead(self) -> float:
        """Return the remaining work if the gap continues to fall as in the second half of the work so far."""
        work, gap = self.past[-1]
        done, before = next(one for one in reversed(self.past) if one[0] <= 0.5 * work)
        if not 0.0 < self.asked < gap < before:
            return np.inf
        return float((work - done) * np.log(gap / self.asked) / np.log(before / gap))

    def interior(self) -> float:
        """Solve for all duals at once, instead of an epoch; the gap remains to be computed."""
        self.interior_cost = np.inf  # a second interior solution would not help
        self.n_iter += 1
        n_labels, tol, gap = self.model.shape[1], self.run.stop.tol, self.past[-1][1]
        found = solve_interior(self.model.features(), self.blocks, n_labels, self.duals, 0.5 * tol)
        old = self.duals.value.copy()
        self.duals.value[:] = found
        self.restore()
        if not np.subtract(*self.objectives()) <= gap:  # NaN as well
            self.duals.value[:] = old
            self.restore()
        self.rests[:] = 0
        return 0.0

    @property
    def is_last(self) -> bool:
        """Whether no further epoch is allowed."""
        return self.n_iter >= self.run.stop.max_iter

    def is_due(self, found: float) -> bool:
        """Return whether to compute the objectives: every few epochs, and if the gap may be small enough.

        `found` sums the gaps before each step, and the gap after it is smaller.
        """
        return self.n_iter % _CHECK == 0 or self.is_last or self.ratio * found <= self.asked

    def objectives(self) -> tuple[float, float]:
        """Return the primal and dual objectives; write the part of each instance in their difference to ``gaps``."""
        from labelrank._kernels.solvers.soft_projection.ascent import duality_gaps

        at_zero = self.n_iter == 0 and self.solver.duals is None
        primal = 0.5 * self.model.squared_norm(self.duals, self.blocks)
        for rows in row_blocks(*self.model.shape):
            shape = (rows.stop - rows.start, self.model.shape[1])
            scores = np.zeros(shape) if at_zero else self.model.scores(rows)
            primal += duality_gaps(scores, rows.start, self.duals, self.blocks, self.gaps)
        return primal, primal - float(self.gaps.sum())

    def check(self, found: float = 0.0) -> None:
        """Compute both objectives, and the instances that the next epoch must visit.

        Coefficients are updated with the duals, and rounding errors accumulate, so they are recomputed before a gap is
        accepted.
        """
        curve = self.state.gap_curve
        primal, dual = self.objectives()
        if not self.fresh and (abs(primal - dual) <= self.run.stop.tol * abs(primal) or self.is_last):
            self.restore()
            primal, dual = self.objectives()
        gap = primal - dual
        if primal < self.lowest:
            self.lowest, self.state.at = primal, len(curve)
            self.best = self.model.coefficients(self.duals, self.blocks)
        curve.append((self.n_iter, time.perf_counter() - self.begin, primal, dual))
        self.past.append((self.work, gap))
        self.asked = self.run.stop.tol * abs(primal)
        self.gap = abs(gap) / (abs(primal) or 1.0)  # a negative gap is a rounding error and no certificate
        self.ratio = gap / found if found > 0 else self.ratio
        self.rests[self.gaps > _SHARE * self.asked / max(len(self.busy), 1), 0] = 0

    def report(self) -> bool:
        """Report the start or an epoch; return whether the run ends."""
        primal = self.state.gap_curve[-1][2]
        return self.run.step(self.model.coefficients(self.duals, self.blocks), primal / self.duals.C, self.gap)

    def finish(self) -> None:
        """Keep the last coefficients if they are certified, otherwise those with the smallest objective."""
        state = self.state
        if self.gap == np.inf:
            self.check()
        state.certified = self.gap <= self.run.stop.tol
        if state.certified:
            state.at, self.best = -1, self.model.coefficients(self.duals, self.blocks)
        state.coef, state.indefinite = self.best, self.model.indefinite
        state.gap = abs(state.primal - state.dual) / (abs(state.primal) or 1.0)
        if state.loss_curve:
            state.loss_curve[-1] = state.gap_curve[-1][2] / self.duals.C
        if state.gap < _ROUNDED and state.duals.dtype == np.float32:
            state.advice = "so many duals are stored as float32, which limits the gap to about 1e-6; use a larger tol"


def _interior_cost(blocks: Any, n_labels: int, n_features: int) -> float:
    """Return the cost of an interior solution in operations of an epoch; infinity if it needs too much memory."""
    n, size, n_duals = len(blocks.head) - 1, n_labels * n_features, blocks.head[-1, 1]
    if size**2 + n * n_labels**2 + n * size > _MEMORY:
        return np.inf
    products = (n * size**2 + size**3 / 3) / 4  # by BLAS
    curvature = 4.0 * float(np.square(sizes_of(blocks), dtype=np.float64).sum()) + 2.0 * n * n_labels * size
    return float(_STEPS * np.log10(10 + n_duals) * (products + curvature + 200.0 * n_duals + 5e5))


def initial_duals(blocks: Any, tol: float, start: npt.NDArray[Any] | None = None) -> npt.NDArray[Any]:
    """Return a copy of the start, or zeros; as float32 if they are very many and that is precise enough."""
    n_duals = blocks.head[-1, 1]
    many = n_duals >= _MANY if start is None else start.dtype == np.float32
    dtype = np.float32 if many and tol >= 10 * _ROUNDED else np.float64
    advice = 'use decomposition="adjacent_levels", which has about two for each label, or loss="log_linear"'
    require_memory(np.dtype(dtype).itemsize * float(n_duals), f"soft projection with {n_duals} dual variables", advice)
    if start is None:
        return np.zeros(n_duals, dtype=dtype)
    if len(start) != n_duals:
        raise ValueError(
            f"warm_start=True continues with {len(start)} dual variables, but the data now have {n_duals}; fit a new "
            "estimator"
        )
    return start.astype(dtype)


def _shuffled(order: IntArray, rng: np.random.RandomState) -> IntArray:
    """Return a random order of short runs: neighbors in memory are visited together, which saves cache misses."""
    if len(order) < _RUN**2:
        return np.asarray(rng.permutation(order))
    n_runs = len(order) // _RUN
    order = np.roll(order, rng.randint(len(order)))  # so that runs differ from epoch to epoch
    runs = order[: n_runs * _RUN].reshape(n_runs, _RUN)[rng.permutation(n_runs)]
    return np.concatenate([runs.ravel(), order[n_runs * _RUN :]])
