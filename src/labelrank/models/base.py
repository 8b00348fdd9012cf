"""The contract of a model, coefficients to scores and back, and the objective, which puts a model under a loss.

An objective is all that a solver sees: ``value_and_gradient``, ``value_and_weights`` and ``widths`` of coefficients. It
is the only place that knows of blocks of rows and of threads. A sum over the partitions of a cluster, or on another
device, is another objective with these methods.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from labelrank._arrays import FloatArray
from labelrank.losses.base import Loss


class Model:
    """Scores of labels made of coefficients, for the instances of a training set.

    Attributes
    ----------
    n_samples, n_labels : int
        Shape of the scores.
    coef_shape : tuple of int
        Shape of the coefficients.
    n_penalized : int
        Number of rows of the coefficients that the penalty is on: the first ones.
    """

    n_samples: int
    n_labels: int
    coef_shape: tuple[int, ...]
    n_penalized: int

    @property
    def block_rows(self) -> int:
        """Number of rows to work on at a time: their scores fit the cache of a processor."""
        return max(16, 2**15 // max(self.n_labels, 1))

    def scores(self, coef: FloatArray, rows: slice) -> FloatArray:
        """Scores of some instances, a new array of shape (n_rows, n_labels)."""
        raise NotImplementedError(f"{type(self).__name__} must define scores")

    def add_gradient(self, rows: slice, gradient: FloatArray, total: FloatArray) -> None:
        """Add the gradient with respect to the coefficients, given that with respect to the scores, to `total`."""
        raise NotImplementedError(f"{type(self).__name__} must define add_gradient")

    def add_weights(self, loss: Loss, coef: FloatArray, rows: slice, plus: FloatArray, minus: FloatArray) -> float:
        """Add Σ q·[π]₊ and Σ q·[−π]₊ over the edges to `plus` and `minus`; returns the loss.

        q is the flow along an edge, and π the change, along it, of what a coefficient is multiplied with.
        """
        raise NotImplementedError(f"{type(self).__name__} must define add_weights")

    def largest_change(self, loss: Loss) -> float:
        """Largest 1-norm of π along an edge of a counted instance, which bounds the step of boosting."""
        raise NotImplementedError(f"{type(self).__name__} must define largest_change")

    def root_mean_square(self, share: FloatArray) -> FloatArray:
        """Root of the mean square, weighted by `share`, of what each row of the coefficients is multiplied with."""
        raise NotImplementedError(f"{type(self).__name__} must define root_mean_square")

    def attributes(self, coef: FloatArray) -> dict[str, Any]:
        """Fitted attributes of an estimator, such as ``coef_`` and ``intercept_``."""
        raise NotImplementedError(f"{type(self).__name__} must define attributes")

    def coefficients(self, estimator: Any) -> FloatArray:
        """The coefficients of the fitted attributes of an estimator, for a warm start."""
        raise NotImplementedError(f"{type(self).__name__} must define coefficients")


class Objective:
    r"""Loss of a model's scores plus :math:`\tfrac\alpha2` times the squared norm of its penalized coefficients.

    Rows are worked on in blocks that stay in the cache, so that memory beyond data and coefficients does not grow with
    their number.

    Parameters
    ----------
    model : Model
        What the scores are made of.
    loss : Loss
        The loss of the scores.
    alpha : float
        Strength of the penalty.
    n_jobs : int, optional
        Threads over blocks of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import as_graphs
    >>> from labelrank.losses import LogLinearLoss
    >>> from labelrank.models import LinearModel, Objective
    >>> loss = LogLinearLoss(as_graphs([[1, 2], [2, 1]]))
    >>> objective = Objective(LinearModel(np.array([[1.0], [-1.0]]), 2, fit_intercept=False), loss, alpha=1.0)
    >>> value, gradient = objective.value_and_gradient(np.zeros((1, 2)))
    >>> round(value, 4), gradient
    (1.3863, array([[-1.,  1.]]))
    """

    def __init__(self, model: Model, loss: Loss, *, alpha: float = 0.0, n_jobs: int | None = None) -> None:
        self.model, self.loss, self.alpha = model, loss, alpha
        self.n_jobs = effective_n_jobs(n_jobs)

    @property
    def coef_shape(self) -> tuple[int, ...]:
        """Shape of the coefficients."""
        return self.model.coef_shape

    @cached_property
    def total_weight(self) -> float:
        """Number to divide by for a mean loss."""
        return self.loss.total_weight or 1.0

    @cached_property
    def largest_change(self) -> float:
        """Largest 1-norm of the change, along an edge, of what the coefficients are multiplied with."""
        return self.model.largest_change(self.loss) or 1.0

    @cached_property
    def widths(self) -> FloatArray:
        """Root of the diagonal of the Hessian of the mean objective, approximately; 1 where it is zero.

        One number for each row of the coefficients: in these units all features move alike.
        """
        share = np.where(self.loss.counted, self.loss.weight, 0.0) / self.total_weight
        widths = self.model.root_mean_square(share) * np.sqrt(mean_curvature(self.loss))
        penalized = slice(0, self.model.n_penalized)
        widths[penalized] = np.hypot(widths[penalized], np.sqrt(self.alpha / self.total_weight))
        return np.where(widths > 0, widths, 1.0)

    def penalty(self, coef: FloatArray) -> float:
        """Penalty of the coefficients."""
        penalized = coef[: self.model.n_penalized]
        return 0.5 * self.alpha * float(np.vdot(penalized, penalized)) if self.alpha else 0.0

    def value_and_gradient(self, coef: FloatArray) -> tuple[float, FloatArray]:
        """Objective and its gradient, of the shape of the coefficients."""

        def add(rows: slice, total: FloatArray) -> float:
            scores = self.model.scores(coef, rows)
            gradient = np.empty_like(scores)
            value = self.loss.value_and_gradient(scores, gradient, rows)
            self.model.add_gradient(rows, gradient, total)
            return value

        value, (gradient,) = self._over_rows(add, 1)
        if self.alpha:
            gradient[: self.model.n_penalized] += self.alpha * coef[: self.model.n_penalized]
        return value + self.penalty(coef), gradient

    def value_and_weights(self, coef: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Objective, and the two weights W⁺ and W⁻ of boosting, of the shape of the coefficients.

        Their difference is the gradient of the loss, without the penalty.
        """

        def add(rows: slice, plus: FloatArray, minus: FloatArray) -> float:
            return self.model.add_weights(self.loss, coef, rows, plus, minus)

        value, (plus, minus) = self._over_rows(add, 2)
        return value + self.penalty(coef), plus, minus

    def _over_rows(self, add: Callable[..., float], n_sums: int) -> tuple[float, list[FloatArray]]:
        """Sum of what `add` returns for blocks of rows, and the arrays that it adds to."""
        n, step = self.model.n_samples, self.model.block_rows
        parts = min(self.n_jobs, max(1, n // 256))

        def work(first: int, last: int) -> tuple[float, list[FloatArray]]:
            sums = [np.zeros(self.coef_shape) for _ in range(n_sums)]
            value = sum(add(slice(a, min(a + step, last)), *sums) for a in range(first, last, step))
            return value, sums

        if parts == 1:
            return work(0, n)
        bounds = itertools.pairwise(n * p // parts for p in range(parts + 1))
        results = Parallel(n_jobs=parts, prefer="threads")(delayed(work)(*ends) for ends in bounds)
        value, sums = results[0]
        for other, others in results[1:]:
            value += other
            for total, part in zip(sums, others, strict=True):
                total += part
        return value, sums


def mean_curvature(loss: Loss) -> float:
    """Mean second derivative of the loss of an instance with respect to a score, near scores of zero.

    With flows it is approximated by half of the flow through a label, which is exact for log(1 + e^f).
    """
    rows = np.flatnonzero(loss.counted)[:512]
    if not len(rows) or not loss.abilities & {"flows", "curvature"}:
        return 0.25
    part = slice(int(rows[0]), int(rows[-1]) + 1)
    zeros = np.zeros((part.stop - part.start, loss.shape[1]))
    out, outflow = np.empty_like(zeros), np.empty_like(zeros)
    if "flows" in loss.abilities:
        loss.flows(zeros, out, outflow, part)
        out += outflow
        out *= 0.5
    else:
        loss.curvature(zeros, out, part)
    return float(out.sum() / (loss.weight[rows].sum() * loss.shape[1])) or 0.25
