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
    work = _Sequential(X, loss, coef.copy(), lengths, smoothing)
    state = SolverState(coef=work.coef, loss_curve=[work.value])
    try:
        while True:
            slope = np.abs(work.plus - work.minus)
            state.gap = float(np.max(slope, where=work.possible | (smoothing > 0), initial=0.0)) / (
                float(loss.weight.sum()) or 1.0
            )
            state.converged = state.gap <= tol
            if state.converged or state.n_iter >= max_iter:
                break
            state.bound_curve.append(work.round())
            state.loss_curve.append(work.value)
            if on_step is not None and on_step(state.coef, work.value):
                state.converged = True
                break
            if state.n_iter % _ROUNDS_BETWEEN_FRESH_SUMS == 0:
                work.refresh()
    except KeyboardInterrupt:
        state.interrupted = True
    return state


class _Sequential:
    """Scores, flows and weights of the present coefficients."""

    def __init__(self, X: Any, loss: CoveringLoss, coef: FloatArray, lengths: FloatArray, smoothing: float) -> None:
        self.loss, self.coef, self.lengths, self.smoothing = loss, coef, lengths, smoothing
        self.rows = sparse.csr_array(X)
        self.columns = sparse.csc_array(X)
        self.csr = (self.rows.indptr, self.rows.indices, self.rows.data)
        covering = loss.covering
        self.factors = None
        if isinstance(covering, SetCovering) and (covering.positive, covering.negative) == ("each", "each"):
            self.factors = np.array([covering.positive_weight, covering.negative_weight])
        self.refresh()
        # Flows are positive, so a weight is zero for good or never.
        self.possible = (self.plus > 0) & (self.minus > 0)

    def refresh(self) -> None:
        """Everything from scratch."""
        self.scores = np.ascontiguousarray(self.rows @ self.coef)
        inflow, outflow = self.scores.copy(), np.empty_like(self.scores)
        self.losses = self.loss.losses(slice(None), inflow, outflow)
        self.value = float(self.losses.sum())
        upper, lower = self.rows.maximum(0), -self.rows.minimum(0)
        self.plus = np.ascontiguousarray(upper.T @ inflow + lower.T @ outflow)
        self.minus = np.ascontiguousarray(upper.T @ outflow + lower.T @ inflow)
        self.flow = inflow + outflow  # a label is relevant or not, so one of the two is zero

    def round(self) -> float:
        """Move the best coefficient of every label; returns the guaranteed decrease."""
        from labelrank._kernels import sequential as kernel

        best = kernel.best_features(self.plus, self.minus, self.possible, self.lengths, self.smoothing)
        bound, moves = 0.0, []
        for label in np.flatnonzero(best >= 0):
            j = best[label]
            part = slice(self.columns.indptr[j], self.columns.indptr[j + 1])
            rows, values = self.columns.indices[part], self.columns.data[part]
            plus, minus = kernel.weights_of_column(rows, values, label, self.loss.levels, self.flow)
            step = 0.5 * np.log((plus + self.smoothing) / (minus + self.smoothing))
            bound += self.lengths[j] * (plus * -np.expm1(-step) - minus * np.expm1(step))
            moves.append((rows, values, label, -self.lengths[j] * step))
            self.coef[j, label] -= self.lengths[j] * step
        if self.factors is not None:
            for rows, values, label, step in moves:
                where = (self.loss.levels, self.scores, self.flow, self.loss.weight, self.factors, self.csr)
                self.value += kernel.move_separate(rows, values, label, step, *where, self.plus, self.minus)
        elif moves:
            for rows, values, label, step in moves:
                self.scores[rows, label] += step * values
            touched = np.unique(np.concatenate([rows for rows, *_ in moves]))
            inflow = self.scores[touched]
            outflow = np.empty_like(inflow)
            losses = self.loss.losses(touched, inflow, outflow)
            self.value += float((losses - self.losses[touched]).sum())
            self.losses[touched] = losses
            inflow += outflow
            kernel.spread_changes(touched, inflow, self.loss.levels, self.flow, self.csr, self.plus, self.minus)
        return float(bound)
