"""Batch learning by soft projections: exact ascent in the duals of one subgraph at a time, with a certificate.

The primal is ½‖w‖² + C L(w) with the soft-margin loss L; each visit to a subgraph solves for its duals exactly. What is
left to gain is known at any time: the duality gap is a sum of one non-negative term for each subgraph, and a term is
computed along with the projection. So the epochs pass over instances that have nothing to gain, and the solver stops
when the gap, computed anew for all, is small.

Where that would take long, two other ways are taken: conjugate gradients on the face of the duals, between epochs, and
with few coefficients an interior-point method, which is the end. Which of them pays is decided by counting operations,
not by a clock, so that the same data give the same result.
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

from labelrank.losses.soft_margin import SoftMarginLoss
from labelrank.solvers.soft_projection.face import climb_face
from labelrank.solvers.soft_projection.interior import interior_cost, solve_interior
from labelrank.solvers.soft_projection.models import DenseModel, FloatArray, IntArray, ScoreModel, SparseModel
from labelrank.supervision import stacklevel_of_user

_CHUNK = 2**14  # instances between two chances for control-C
_RUN = 16  # instances that are visited in the order of their rows
_SHARE = 0.5  # of the gap that is asked for: what instances that are passed over may leave
_STEP = 1.5e5  # floating-point operations in the time of the calls that a step of climbing takes
_CHECK = 10  # epochs between two looks at the objectives, at most
_ROUNDED = 1e-6  # a relative gap below which duals of 32 bits may not get


@dataclass
class SopopoState:
    """Where the solver got to, and on which way."""

    duals: npt.NDArray[Any]
    curve: list[tuple[float, float, float, float]] = field(default_factory=list)  # epoch, seconds, primal, dual
    n_iter: int = 0
    converged: bool = False
    interrupted: bool = False
    stopped: bool = False  # because a callback asked for it
    at: int = -1  # the row of the curve that the weights belong to
    weights: tuple[FloatArray, ...] = ()  # what scores are made of

    @property
    def primal(self) -> float:
        """The objective of the weights."""
        return self.curve[self.at][2]

    @property
    def dual(self) -> float:
        """Its lower bound: the largest that was found."""
        return max(row[3] for row in self.curve)

    @property
    def gap(self) -> float:
        """What is between them."""
        return self.primal - self.dual

    def warn(self, name: str, max_iter: int, tol: float) -> None:
        """Say so when the solver did not get where it should."""
        gap = f"a duality gap of {self.gap:.2g} at an objective of {self.primal:.6g}"
        relative = self.gap / abs(self.primal) if self.primal else np.inf
        if self.interrupted:
            warnings.warn(
                f"{name} was interrupted after {self.n_iter} epochs with {gap}; the estimator is fitted with what it "
                "had. Continue with warm_start=True and fit",
                stacklevel=stacklevel_of_user(),
            )
        elif not (self.converged or self.stopped):
            advice = "increase max_iter, scale the features, decrease C, or accept it by a larger tol"
            if abs(relative) < _ROUNDED and self.duals.dtype == np.float32:
                advice = "this is what rounding to 32 bits leaves: pass X in 64 bits, or accept it by a larger tol"
            warnings.warn(
                f"{name} stopped after {self.n_iter} epochs (max_iter={max_iter}) with {gap}, {relative:.2g} relative, "
                f"tol={tol:g}; {advice}",
                ConvergenceWarning,
                stacklevel=stacklevel_of_user(),
            )


def sopopo(
    model: ScoreModel,
    loss: SoftMarginLoss,
    C: float,
    *,
    duals: npt.NDArray[Any],
    tol: float,
    max_iter: int,
    rng: np.random.RandomState,
    shuffle: bool = True,
    shrinking: bool = True,
    on_epoch: Callable[[], bool] = lambda: False,
) -> SopopoState:
    """Minimise ½‖w‖² + C L(w) from the given duals, which are changed in place.

    Parameters
    ----------
    model : ScoreModel
        Made of the features of the instances.
    loss : SoftMarginLoss
        The loss.
    C : float
        Its weight.
    duals : ndarray of shape (loss.n_duals,)
        Where to start, zeros or what another call left; they are made feasible first.
    tol : float
        Stop when the duality gap is at most ``tol * |primal|``.
    max_iter : int
        Number of epochs at most.
    rng : RandomState
        For the order of the instances.
    shuffle : bool
        Whether each epoch has an order of its own.
    shrinking : bool
        Whether instances that have nothing to gain are passed over for some epochs.
    on_epoch : callable
        Called after each epoch; True asks to stop.

    Returns
    -------
    SopopoState
    """
    ascent = _Ascent(model, loss, C * loss.weight, duals, tol, shrinking)
    state = ascent.state
    try:
        ascent.check()
        while not state.converged and state.n_iter < max_iter:
            inside = ascent.interior_pays(last=state.n_iter == max_iter - 1)
            found = ascent.interior() if inside else ascent.epoch(rng if shuffle else None)
            state.stopped = on_epoch()
            stop = state.stopped or state.n_iter == max_iter
            if stop or inside or state.n_iter % _CHECK == 0 or ascent.looks_done(found):
                ascent.check(found)
                if not (stop or state.converged):
                    ascent.climb()
            if stop:
                break
    except KeyboardInterrupt:
        state.interrupted = True
        ascent.begin_anew()  # whatever was on its way, the duals are what counts
        ascent.check()
    ascent.choose()
    return state


class _Ascent:
    """The parts of the loop, and what they know of each other."""

    def __init__(
        self,
        model: ScoreModel,
        loss: SoftMarginLoss,
        bound: FloatArray,
        duals: npt.NDArray[Any],
        tol: float,
        shrinking: bool,
    ) -> None:
        self.begin = time.perf_counter()
        self.model, self.loss, self.bound, self.duals = model, loss, bound, duals
        self.tol, self.shrinking = tol, shrinking
        self.state = SopopoState(duals)
        self.busy = np.flatnonzero(loss.counted)
        self.rests = np.zeros((loss.shape[0], 2), dtype=np.int32)
        self.gaps = np.zeros(loss.shape[0])  # of each instance at the last check
        self.asked = 0.0  # the gap to get to
        self.ratio = 0.5  # of the gap after an epoch to the gaps found in it
        self.visits, self.gained = 0, 0.0  # since the last check: by epochs, by climbing
        self.next_climb, self.patience = 3, 1  # in checks
        self.least = float(np.clip(5e7 / max(len(self.busy), 1), 5e3, 1e5))  # a budget that is nothing to speak of
        # In floating-point operations: a row times the coefficients, a visit, the work so far, an interior solution.
        self.row_cost = 4.0 * loss.shape[1] * max(model.n_features, 1)
        self.visit_cost = self.row_cost + 100.0 + 10.0 * loss.n_duals / max(len(self.busy), 1)
        self.work, self.ahead = 0.0, 0.0  # so far, and what the last check left to do
        self.past: list[tuple[float, float]] = []  # work and gap at the checks
        self.interior_cost = interior_cost(loss, model.n_features)
        self.best = np.inf  # objective so far; the way up of the duals can lead away from it
        if duals.any():
            self.begin_anew()

    def begin_anew(self) -> None:
        """Make the duals feasible, and the model theirs."""
        from labelrank._kernels.solvers.soft_projection.ascent import make_feasible

        make_feasible(np.arange(self.loss.shape[0]), self.duals, self.bound, self.loss.structure)
        self.model.restore(self.loss, self.duals)

    def epoch(self, rng: np.random.RandomState | None) -> float:
        """Visit all instances that are due; the sum of the gaps found."""
        state, loss = self.state, self.loss
        enough = _SHARE * self.asked / len(self.busy)
        small = _SHARE * self.asked / len(loss.weight) if self.shrinking else 0.0
        order = self.busy[self.rests[self.busy, 0] <= state.n_iter] if self.shrinking else self.busy
        order = order if rng is None else _shuffled(order, rng)
        found = enough * (len(self.busy) - len(order))
        where = (state.n_iter, self.rests, small, enough, self.duals, self.bound, loss.largest, loss.structure)
        for first in range(0, len(order), _CHUNK):
            found += self.model.epoch(order[first : first + _CHUNK], *where)
        state.n_iter += 1
        self.visits += len(order)
        self.work += len(order) * self.visit_cost
        return found

    def interior_pays(self, last: bool) -> bool:
        """Whether to solve for all duals at once: where going on as before would take longer.

        What is ahead is a guess, and often too low: what has been spent already counts as much. The last epoch will
        hardly do what those before it did not.
        """
        return self.interior_cost < min(np.inf if last else max(self.ahead, self.work), 10 * self.work)

    def interior(self) -> float:
        """Solve for all duals at once, in place of an epoch; the gap that is left is not known yet."""
        state, loss = self.state, self.loss
        self.interior_cost = np.inf  # what it cannot do the first time, it cannot at all
        found = solve_interior(self.model.features(), loss, self.duals, self.bound, 0.5 * self.tol)
        old = self.duals.copy()
        self.duals[:] = found
        self.begin_anew()
        dual = _objectives(self.model, loss, self.duals, self.bound, self.gaps)[1]
        if not dual >= state.curve[-1][3]:  # or where it is no number
            self.duals[:] = old
            self.begin_anew()
        self.rests[:] = 0
        state.n_iter += 1
        return 0.0

    def looks_done(self, found: float) -> bool:
        """Whether the gap may be small enough: gaps were found before each step and are smaller now."""
        return self.ratio * found <= self.asked

    def check(self, found: float = 0.0) -> None:
        """Compute both objectives, and which instances still have something to gain."""
        state, loss = self.state, self.loss
        primal, dual = _objectives(self.model, loss, self.duals, self.bound, self.gaps)
        before = state.curve[-1][3] if state.curve else dual
        self.rate = (dual - before - self.gained) / max(self.visits, 1)
        least = min(self.least, 0.05 * self.interior_cost / self.row_cost)
        self.visits, self.budget, self.gained = 0, max(0.5 * self.visits, least), 0.0
        state.curve.append((state.n_iter, time.perf_counter() - self.begin, primal, dual))
        self.asked = self.tol * abs(primal)
        gap = primal - dual
        state.converged = abs(gap) <= self.asked  # rounding can make it negative, and then it certifies nothing
        if primal < self.best:
            self.best, state.at = primal, len(state.curve) - 1
            state.weights = self.model.weights(loss, self.duals)
        self.ratio = gap / found if found > 0 else self.ratio
        self.ahead = self._work_ahead()
        self.rests[self.gaps > _SHARE * self.asked / max(len(self.busy), 1), 0] = 0

    def choose(self) -> None:
        """The weights of the last duals if they are certified, those with the smallest objective otherwise."""
        state = self.state
        if state.converged or not state.weights:
            state.at, state.weights = -1, self.model.weights(self.loss, self.duals)

    def _work_ahead(self) -> float:
        """The work that is left if the gap goes on to fall as it did in the second half of the work so far."""
        work, gap = self.work, self.state.curve[-1][2] - self.state.curve[-1][3]
        self.past.append((work, gap))
        done, before = next(one for one in reversed(self.past) if one[0] <= 0.5 * work)
        if self.state.converged or work == 0.0 or gap <= 0.0:  # below rounding
            return 0.0
        if gap >= before or self.asked == 0.0:
            return np.inf
        return float((work - done) * np.log(gap / self.asked) / np.log(before / gap))

    def climb(self) -> None:
        """Move along the face of the duals, the more often, the more it has gained for its cost."""
        self.next_climb -= 1
        if self.next_climb > 0:
            return
        overhead = _STEP / self.row_cost
        self.gained, cost = climb_face(self.model, self.loss, self.duals, self.bound, self.budget, overhead)
        self.work += cost * self.row_cost
        better = self.gained > self.rate * cost
        self.patience = 1 if better else min(2 * self.patience, 16)
        self.next_climb = self.patience


def _shuffled(order: IntArray, rng: np.random.RandomState) -> IntArray:
    """A random order of short runs: neighbours in memory are visited together, for the cache's sake."""
    if len(order) < _RUN**2:
        return np.asarray(rng.permutation(order))
    n_runs = len(order) // _RUN
    order = np.roll(order, rng.randint(len(order)))  # so that runs differ from epoch to epoch
    runs = order[: n_runs * _RUN].reshape(n_runs, _RUN)[rng.permutation(n_runs)]
    return np.concatenate([runs.ravel(), order[n_runs * _RUN :]])


def _objectives(
    model: ScoreModel, loss: SoftMarginLoss, duals: npt.NDArray[Any], bound: FloatArray, gaps: FloatArray
) -> tuple[float, float]:
    """Primal and dual objective; `gaps` gets what each instance contributes to their difference."""
    from labelrank._kernels.solvers.soft_projection.ascent import terms

    slack, linear = 0.0, 0.0
    at_zero = not duals.any()
    for rows in loss.blocks():
        scores = np.zeros((rows.stop - rows.start, loss.shape[1])) if at_zero else model.scores(rows)
        parts = terms(scores, rows.start, rows.stop, duals, bound, gaps, loss.structure)
        slack, linear = slack + parts[0], linear + parts[1]
    half = 0.5 * model.squared_norm(loss, duals)
    return half + slack, linear - half


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
        Coefficients to begin with, and the mean of the iterates so far.
    seen : int
        Number of instances in that mean.

    Returns
    -------
    iterate, mean : ndarray of shape (n_labels, n_features + 1)
    seen : int
    """
    from labelrank._kernels.solvers.soft_projection.ascent import online_csr, online_dense

    rows = np.flatnonzero(loss.seen)
    is_sparse = not isinstance(X, np.ndarray)
    layout = np.transpose if is_sparse else np.asarray
    model = (SparseModel if is_sparse else DenseModel)(X, constant, loss.shape[1])
    model.coef[:], model.bias[:] = layout(iterate[:, :-1]), iterate[:, -1]
    lag = (iterate - mean) * seen  # steps, each times the number of iterates before it
    lag_coef, lag_bias = np.array(layout(lag[:, :-1]), order="C"), lag[:, -1].copy()
    data = (X.indptr, X.indices, X.data) if is_sparse else (X,)
    (online_csr if is_sparse else online_dense)(
        *data, constant, model.norm, model.coef, model.bias, lag_coef, lag_bias, rows, seen,
        np.zeros(loss.n_duals), C * loss.weight, loss.largest, loss.structure,
    )  # fmt: skip
    seen += len(rows)
    iterate = np.column_stack([layout(model.coef), model.bias])
    lag = np.column_stack([layout(lag_coef), lag_bias])
    return iterate, iterate - lag / max(seen, 1), seen
