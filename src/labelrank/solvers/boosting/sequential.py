"""Sequential boosting: per round the best single coefficient of every label, and only the examples it touches.

What a round changes are the scores of the examples in which a chosen feature is not zero. Scores, flows and the two
weights of every coefficient are kept and updated for these, so that a round costs the nonzeros of those rows instead of
a pass over the data. The weights of a chosen coefficient are computed anew before it moves, and everything now and
then, so that rounding errors do not add up.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from labelrank.decompositions.coverings import SetCovering
from labelrank.losses.covering import CoveringLoss
from labelrank.solvers.state import FloatArray, OnStep, SolverState

_ROUNDS_BETWEEN_FRESH_SUMS = 100


def boost_sequentially(
    X: Any,
    loss: CoveringLoss,
    coef: FloatArray,
    lengths: FloatArray,
    *,
    max_iter: int,
    tol: float,
    smoothing: float = 0.0,
    on_step: OnStep | None = None,
) -> SolverState:
    """Minimise the covering loss from `coef` on.

    Parameters
    ----------
    X : CSR matrix of shape (n_samples, n_hypotheses)
        Hypotheses, a constant one included if there is an intercept.
    loss : CoveringLoss
        What is minimised.
    coef : ndarray of shape (n_hypotheses, n_labels)
        Start.
    lengths : ndarray of shape (n_hypotheses,)
        Length of the step of each hypothesis: 1 over its largest absolute value, at most 1.
    max_iter, tol, smoothing, on_step
        As in :func:`labelrank.solvers.boost`.
    """
    state = SolverState(coef=coef.copy())
    scale = float(loss.weight[loss.counted].sum()) or 1.0
    try:
        work = _Sequential(X, loss, state.coef, lengths, smoothing)
        state.loss_curve.append(work.value)
        while True:
            best, slope, slope_of_all = work.best()
            state.gap = slope_of_all / scale
            state.converged = slope / scale <= tol
            if state.converged or state.n_iter >= max_iter:
                fixed = (np.abs(work.plus - work.minus) > tol * scale) & ~work.possible
                state.left_in_place = 0 if smoothing else int(np.count_nonzero(fixed))
                break
            state.bound_curve.append(work.move(best))
            state.loss_curve.append(work.value)
            if on_step is not None and on_step(state.coef, work.value):
                state.converged = True
                break
            if state.n_iter % _ROUNDS_BETWEEN_FRESH_SUMS == 0 and state.n_iter < max_iter:
                work.refresh()
    except KeyboardInterrupt:
        state.interrupted = True
        if not state.loss_curve:
            state.loss_curve.append(float("nan"))
    return state


class _Sequential:
    """Scores, flows and weights of the present coefficients; arrays by label have the labels as rows."""

    def __init__(self, X: Any, loss: CoveringLoss, coef: FloatArray, lengths: FloatArray, smoothing: float) -> None:
        self.loss, self.coef, self.lengths, self.smoothing = loss, coef, lengths, float(smoothing)
        self.rows = sparse.csr_array(X)
        self.columns = sparse.csc_array(X)
        negative = bool(self.rows.nnz) and self.rows.data.min() < 0
        self.upper = self.rows.maximum(0) if negative else self.rows
        self.lower = -self.rows.minimum(0) if negative else sparse.csr_array(self.rows.shape)
        self.csr = (self.rows.indptr, self.rows.indices, self.rows.data)
        self.levels = np.ascontiguousarray(loss.levels.T)
        covering = loss.covering
        self.factors: FloatArray | None = (
            None  # of relevant and other labels, where every label is an element by itself
        )
        if isinstance(covering, SetCovering) and (covering.positive, covering.negative) == ("each", "each"):
            self.factors = np.array([covering.positive_weight, covering.negative_weight])
        self.refresh()
        # Flows are positive, so a weight is zero for good or never.
        self.possible = (self.plus > 0) & (self.minus > 0)

    def refresh(self) -> None:
        """Everything from scratch."""
        scores = np.ascontiguousarray(self.rows @ self.coef)
        inflow, outflow = scores.copy(), np.empty_like(scores)
        self.losses = self.loss.losses(slice(None), inflow, outflow)
        self.value = float(self.losses.sum())
        self.plus = np.ascontiguousarray((self.upper.T @ inflow + self.lower.T @ outflow).T)
        self.minus = np.ascontiguousarray((self.upper.T @ outflow + self.lower.T @ inflow).T)
        inflow += outflow  # a label is relevant or not, so one of the two is zero
        self.scores, self.flow = np.ascontiguousarray(scores.T), np.ascontiguousarray(inflow.T)

    def best(self) -> tuple[Any, float, float]:
        """The feature of each label that guarantees most, -1 for none; the largest slope, of what can move, of all."""
        from labelrank._kernels.solvers.sequential import best_features

        best, slope, of_all = best_features(self.plus, self.minus, self.possible, self.lengths, self.smoothing)
        return best, float(slope), float(of_all)

    def move(self, best: Any) -> float:
        """Move the best coefficient of every label; returns the guaranteed decrease."""
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
        """Weights of labels that have moved in most rows: one product for all of them, since few are relevant."""
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
        """Losses, flows and weights after the scores of some rows have changed."""
        from labelrank._kernels.solvers.sequential import spread_changes

        inflow = np.ascontiguousarray(self.scores[:, rows].T)
        outflow = np.empty_like(inflow)
        losses = self.loss.losses(rows, inflow, outflow)
        self.value += float((losses - self.losses[rows]).sum())
        self.losses[rows] = losses
        inflow += outflow
        spread_changes(rows, inflow, self.levels, self.flow, *self.csr, self.plus, self.minus)
