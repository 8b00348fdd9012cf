"""Sequential boosting: each round moves the best coefficient of every label, and updates only the affected examples.

A round changes the scores of the examples in which a chosen feature is not zero. Scores, flows and the two weights of
every coefficient are updated for these only, so that a round takes time proportional to the nonzeros of those rows. The
weights of a chosen coefficient are recomputed before it moves, and everything every 100 rounds, so that rounding errors
do not accumulate.
"""

from __future__ import annotations

from typing import Any, ClassVar, cast

import numpy as np
from scipy import sparse

from labelrank._arrays import FloatArray
from labelrank.decompositions.coverings import SetCovering
from labelrank.losses.covering import CoveringLoss
from labelrank.models.base import Objective
from labelrank.models.linear import LinearModel
from labelrank.solvers.base import Run, Solver, in_place
from labelrank.solvers.boosting.templates import largest_values

_ROUNDS_BETWEEN_FRESH_SUMS = 100


class SequentialBoosting(Solver):
    """Sequential boosting: the coefficient of every label that guarantees the largest decrease moves.

    Parameters
    ----------
    smoothing : float, default=0.0
        Added to both weights of every coefficient. With 0, a coefficient with a weight of zero does not move.
    """

    name: ClassVar[str] = "boosting"
    needs: ClassVar[frozenset[str]] = frozenset({"flows", "updates"})
    by_rows: ClassVar[bool] = True

    def __init__(self, smoothing: float = 0.0) -> None:
        self.smoothing = smoothing

    def _minimize(self, objective: Objective, run: Run) -> None:
        if objective.alpha:
            raise ValueError("sequential boosting has no penalty; use alpha=0, or parallel boosting")
        scale, tol = objective.total_weight, run.stop.tol * objective.total_weight
        work = _Sequential(objective, run.state.coef, self.smoothing)
        bound = np.nan
        while True:
            best, movable_slope, slope = work.best()
            if run.step(work.coef.copy(), work.value, slope / scale, bound=bound, still=movable_slope / scale):
                left = (
                    0
                    if self.smoothing
                    else int(np.count_nonzero((np.abs(work.plus - work.minus) > tol) & ~work.possible))
                )
                if left and movable_slope <= tol:
                    run.state.remark = in_place(left, slope / scale, run.stop.tol)
                return
            bound = work.move(best)
            if run.state.n_iter % _ROUNDS_BETWEEN_FRESH_SUMS == _ROUNDS_BETWEEN_FRESH_SUMS - 1:
                work.refresh()


class _Sequential:
    """Scores, flows and weights at the current coefficients; arrays by label have the labels as rows."""

    def __init__(self, objective: Objective, start: FloatArray, smoothing: float) -> None:
        model, loss = cast(LinearModel, objective.model), cast(CoveringLoss, objective.loss)
        self.loss, self.coef, self.smoothing = loss, np.array(start, dtype=np.float64), float(smoothing)
        self.lengths = 1 / largest_values(model.X, model.fit_intercept, loss.counted)
        X: Any = [sparse.csr_array(model.X)] + [sparse.csr_array(np.ones((model.n_samples, 1)))] * model.fit_intercept
        self.rows = sparse.csr_array(sparse.hstack(X, format="csr"))
        self.columns = sparse.csc_array(self.rows)
        negative = bool(self.rows.nnz) and self.rows.data.min() < 0
        self.upper = self.rows.maximum(0) if negative else self.rows
        self.lower = -self.rows.minimum(0) if negative else sparse.csr_array(self.rows.shape)
        self.csr = (self.rows.indptr, self.rows.indices, self.rows.data)
        self.levels = np.ascontiguousarray(loss.levels.T)
        covering = loss.decomposition
        self.factors: FloatArray | None = (
            None  # of relevant and other labels, where every label is an element by itself
        )
        if isinstance(covering, SetCovering) and (covering.positive, covering.negative) == ("each", "each"):
            self.factors = np.array([covering.positive_weight, covering.negative_weight])
        self.refresh()
        # Flows are positive, so a weight is either always zero or never.
        self.possible = (self.plus > 0) & (self.minus > 0)

    def refresh(self) -> None:
        """Compute everything from scratch."""
        scores = np.ascontiguousarray(self.rows @ self.coef)
        inflow, outflow = np.empty_like(scores), np.empty_like(scores)
        self.losses = self.loss.losses(scores, inflow, outflow)
        self.value = float(self.losses.sum())
        self.plus = np.ascontiguousarray((self.upper.T @ inflow + self.lower.T @ outflow).T)
        self.minus = np.ascontiguousarray((self.upper.T @ outflow + self.lower.T @ inflow).T)
        inflow += outflow  # a label is relevant or not, so one of the two is zero
        self.scores, self.flow = np.ascontiguousarray(scores.T), np.ascontiguousarray(inflow.T)

    def best(self) -> tuple[Any, float, float]:
        """Return the best feature of each label, -1 for none, and the largest slope of movable and of all features."""
        from labelrank._kernels.solvers.sequential import best_features

        best, slope, of_all = best_features(self.plus, self.minus, self.possible, self.lengths, self.smoothing)
        return best, float(slope), float(of_all)

    def move(self, best: Any) -> float:
        """Move the best coefficient of every label; return the guaranteed decrease."""
        from labelrank._kernels.solvers import sequential as kernel

        bound = 0.0
        touched, wide = [], []
        for label in np.flatnonzero(best >= 0):
            j = best[label]
            part = slice(self.columns.indptr[j], self.columns.indptr[j + 1])
            rows, values = self.columns.indices[part], self.columns.data[part]
            plus, minus = kernel.weights_of_column(rows, values, self.levels[label], self.flow[label])
            step = 0.5 * np.log((plus + self.smoothing) / (minus + self.smoothing))
            bound += self.lengths[j] * (plus * -np.expm1(-step) - minus * np.expm1(step))
            step *= -self.lengths[j]
            self.coef[j, label] += step
            if self.factors is None:
                self.scores[label, rows] += step * values
                touched.append(rows)
                continue
            change = np.empty(len(rows))
            of_label = (self.levels[label], self.scores[label], self.flow[label], self.loss.weight, self.factors)
            self.value += kernel.shift_alone(rows, values, step, *of_label, change)
            if 2 * len(rows) > self.rows.shape[0]:
                wide.append((label, rows, change))
            else:
                weights = (self.plus[label], self.minus[label])
                kernel.spread_label(rows, change, self.levels[label], *self.csr, *weights)
        if touched:
            self._update(np.unique(np.concatenate(touched)))
        if wide:
            self._spread_together(wide)
        return float(bound)

    def _spread_together(self, wide: list[tuple[Any, ...]]) -> None:
        """Update the weights of labels whose scores changed in most rows, with one product for all of them."""
        from labelrank._kernels.solvers.sequential import spread_relevant

        labels = [label for label, _, _ in wide]
        inflow = np.zeros((self.rows.shape[0], len(wide)))
        for column, (label, rows, change) in enumerate(wide):
            weights = (self.plus[label], self.minus[label])
            spread_relevant(rows, change, self.levels[label], *self.csr, *weights, column, inflow)
        self.plus[labels] += (self.upper.T @ inflow).T
        if self.lower.nnz:
            self.minus[labels] += (self.lower.T @ inflow).T

    def _update(self, rows: Any) -> None:
        """Update losses, flows and weights after the scores of some rows have changed."""
        from labelrank._kernels.solvers.sequential import spread_changes

        scores = np.ascontiguousarray(self.scores[:, rows].T)
        inflow, outflow = np.empty_like(scores), np.empty_like(scores)
        losses = self.loss.losses(scores, inflow, outflow, rows)
        self.value += float((losses - self.losses[rows]).sum())
        self.losses[rows] = losses
        inflow += outflow
        spread_changes(rows, inflow, self.levels, self.flow, *self.csr, self.plus, self.minus)
