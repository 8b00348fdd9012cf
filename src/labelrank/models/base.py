"""Base class of models, from coefficients to scores and back, and the objective, a model with a loss and a penalty.

An objective is all that a solver sees: ``value_and_gradient``, ``value_and_weights`` and ``widths`` of coefficients.
Only objectives deal with blocks of rows and with threads. A sum over the partitions of a cluster, or on another device,
is another objective with these methods.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed

from labelrank._arrays import FloatArray
from labelrank._threads import n_threads
from labelrank.losses.base import Loss


class Model:
    """Base class of models: scores of the instances of a training set as a function of coefficients.

    Attributes
    ----------
    n_samples, n_labels : int
        Shape of the scores.
    coef_shape : tuple of int
        Shape of the coefficients.
    n_penalized : int
        Number of rows of the coefficients that are penalized: the first ones.
    """

    n_samples: int
    n_labels: int
    coef_shape: tuple[int, ...]
    n_penalized: int

    @property
    def block_rows(self) -> int:
        """Number of rows per block: their scores fit the cache of a processor."""
        return max(16, 2**15 // max(self.n_labels, 1))

    def scores(self, coef: FloatArray, rows: slice) -> FloatArray:
        """Scores of some instances, a new array of shape (n_rows, n_labels)."""
        raise NotImplementedError(f"{type(self).__name__} must define scores")

    def scores_in(self, coef: FloatArray, rows: slice, scratch: FloatArray) -> FloatArray:
        """Scores of some instances, an array that may use the memory of `scratch`, of shape (≥ n_rows, n_labels)."""
        return self.scores(coef, rows)

    def add_gradient(self, rows: slice, gradient: FloatArray, total: FloatArray) -> None:
        """Add the gradient with respect to the coefficients to `total`, given that with respect to the scores."""
        raise NotImplementedError(f"{type(self).__name__} must define add_gradient")

    def add_weights(self, loss: Loss, coef: FloatArray, rows: slice, plus: FloatArray, minus: FloatArray) -> float:
        """Add Σ q·[π]₊ and Σ q·[−π]₊ over the edges to `plus` and `minus`; return the loss.

        q is the flow along an edge, and π the change along it of the factor of a coefficient.
        """
        raise NotImplementedError(f"{type(self).__name__} must define add_weights")

    def largest_change(self, loss: Loss) -> float:
        """Largest 1-norm of π along an edge of a counted instance, which bounds the step of boosting."""
        raise NotImplementedError(f"{type(self).__name__} must define largest_change")

    def root_mean_square(self, share: FloatArray) -> FloatArray:
        """Root of the mean square, weighted by `share`, of the factor of each row of the coefficients."""
        raise NotImplementedError(f"{type(self).__name__} must define root_mean_square")

    def attributes(self, coef: FloatArray) -> dict[str, Any]:
        """Fitted attributes of an estimator, such as ``coef_`` and ``intercept_``."""
        raise NotImplementedError(f"{type(self).__name__} must define attributes")

    def coefficients(self, estimator: Any) -> FloatArray:
        """The coefficients of the fitted attributes of an estimator, for a warm start."""
        raise NotImplementedError(f"{type(self).__name__} must define coefficients")


class Objective:
    r"""Loss of a model's scores plus :math:`\tfrac\alpha2` times the squared norm of its penalized coefficients.

    Rows are processed in blocks that stay in the cache, so that memory beyond data and coefficients does not grow with
    their number.

    Parameters
    ----------
    model : Model
        Scores as a function of coefficients.
    loss : Loss
        Loss of the scores.
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

    is_whole: ClassVar[bool] = True  # whether `model` and `loss` are those of all rows

    def __init__(self, model: Model, loss: Loss, *, alpha: float = 0.0, n_jobs: int | None = None) -> None:
        self.model, self.loss, self.alpha = model, loss, alpha
        self.n_jobs = n_threads(n_jobs)

    @property
    def coef_shape(self) -> tuple[int, ...]:
        """Shape of the coefficients."""
        return self.model.coef_shape

    @cached_property
    def total_weight(self) -> float:
        """Divisor that turns the loss into a mean."""
        return self.loss.total_weight or 1.0

    @cached_property
    def largest_change(self) -> float:
        """Largest 1-norm of the change, along an edge, of the factors of the coefficients."""
        return self.model.largest_change(self.loss) or 1.0

    @cached_property
    def widths(self) -> FloatArray:
        """Approximate root of the diagonal of the Hessian of the mean objective; 1 where it is zero.

        One number for each row of the coefficients. In these units all features have the same curvature.
        """
        widths = self.root_mean_square() * np.sqrt(self.mean_curvature())
        penalized = slice(0, self.model.n_penalized)
        widths[penalized] = np.hypot(widths[penalized], np.sqrt(self.alpha / self.total_weight))
        return np.where(widths > 0, widths, 1.0)

    def root_mean_square(self) -> FloatArray:
        """Root of the weighted mean square of the factor of each row of the coefficients."""
        share = np.where(self.loss.counted, self.loss.weight, 0.0) / self.total_weight
        return self.model.root_mean_square(share)

    def mean_curvature(self) -> float:
        """Mean second derivative of the loss of an instance with respect to a score, near scores of zero."""
        total, weight = curvature_sums(self.loss)
        return total / weight if total and weight else 0.25

    def asarray(self, values: Any) -> Any:
        """Copy coefficients to an array of the type of this objective: float64."""
        return np.array(values, dtype=np.float64)

    def penalty(self, coef: FloatArray) -> float:
        """Penalty of the coefficients."""
        penalized = coef[: self.model.n_penalized]
        return 0.5 * self.alpha * float(np.vdot(penalized, penalized)) if self.alpha else 0.0

    def value_and_gradient(self, coef: FloatArray) -> tuple[float, FloatArray]:
        """Objective and its gradient, of the shape of the coefficients."""
        value, gradient = self.loss_and_gradient(coef)
        if self.alpha:
            gradient[: self.model.n_penalized] += self.alpha * coef[: self.model.n_penalized]
        return value + self.penalty(coef), gradient

    def value_and_weights(self, coef: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Objective, and the two weights W⁺ and W⁻ of boosting, of the shape of the coefficients.

        Their difference is the gradient of the loss, without the penalty.
        """
        value, plus, minus = self.loss_and_weights(coef)
        return value + self.penalty(coef), plus, minus

    def loss_and_gradient(self, coef: FloatArray) -> tuple[float, FloatArray]:
        """Loss without the penalty, and its gradient: sums over rows."""
        gradient = np.zeros(self.coef_shape)
        return self.add_gradient(coef, gradient), gradient

    def loss_and_weights(self, coef: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Loss without the penalty, and the two weights of boosting: sums over rows."""
        plus, minus = np.zeros(self.coef_shape), np.zeros(self.coef_shape)
        return self.add_weights(coef, plus, minus), plus, minus

    def add_gradient(self, coef: FloatArray, total: FloatArray) -> float:
        """Add the gradient of the loss, without the penalty, to `total`; return the loss."""
        has_flows = "flows" in self.loss.abilities

        def add(rows: slice, scratch: FloatArray, total: FloatArray) -> float:
            scores = self.model.scores_in(coef, rows, scratch[0])
            gradient, outflow = scratch[1:, : len(scores)]
            if has_flows:
                value = self.loss.flows(scores, gradient, outflow, rows)
                gradient -= outflow
            else:
                value = self.loss.value_and_gradient(scores, gradient, rows)
            self.model.add_gradient(rows, gradient, total)
            return value

        return self._over_rows(add, total)

    def add_weights(self, coef: FloatArray, plus: FloatArray, minus: FloatArray) -> float:
        """Add the two weights of boosting to `plus` and `minus`; return the loss without the penalty."""

        def add(rows: slice, scratch: FloatArray, plus: FloatArray, minus: FloatArray) -> float:
            return self.model.add_weights(self.loss, coef, rows, plus, minus)

        return self._over_rows(add, plus, minus)

    def product(self, coef: FloatArray) -> FloatArray:
        """Product of the Hessian of a quadratic objective with coefficients."""
        return self._form.value_and_gradient(coef)[1]

    @cached_property
    def _form(self) -> Objective:
        loss: Any = self.loss
        return Objective(self.model, loss.laplacian(), alpha=self.alpha, n_jobs=self.n_jobs)

    def sum(self, function: Callable[[Objective], tuple[Any, ...]]) -> tuple[Any, ...]:
        """Sum over the parts of the data of the numbers and arrays that a function of a part returns.

        Here the data are one part. The function must not depend on anything else.
        """
        return function(self)

    def _over_rows(self, add: Callable[..., float], *sums: FloatArray) -> float:
        """Sum of the return values of `add` for all blocks of rows; it adds to the arrays `sums`."""
        n, step = self.model.n_samples, self.model.block_rows
        parts = min(self.n_jobs, max(1, n // 256))

        def work(first: int, last: int, sums: Sequence[FloatArray]) -> float:
            # New memory for each block is slow if the allocator returns it to the system, as in workers of Dask.
            scratch = np.empty((3, min(step, last - first), self.model.n_labels))
            return sum(add(slice(a, min(a + step, last)), scratch, *sums) for a in range(first, last, step))

        if parts == 1:
            return work(0, n, sums)
        bounds = itertools.pairwise(n * p // parts for p in range(parts + 1))
        others = [[np.zeros(self.coef_shape) for _ in sums] for _ in range(parts - 1)]
        calls = (delayed(work)(*ends, own) for ends, own in zip(bounds, (sums, *others), strict=True))
        values: list[float] = Parallel(n_jobs=parts, require="sharedmem")(calls)
        for other in others:
            for total, part in zip(sums, other, strict=True):
                total += part
        return sum(values)


CURVATURE_ROWS = 512  # number of counted instances, the first ones, that estimate the mean curvature


def curvature_sums(loss: Loss, n_rows: int = CURVATURE_ROWS) -> tuple[float, float]:
    """Sum of the second derivatives of the first counted instances, and the divisor that turns it into a mean.

    With flows, a second derivative is approximated by half of the flow through a label, which is exact at scores of 0
    for log(1 + e^f).
    """
    rows = np.flatnonzero(loss.counted)[:n_rows]
    if not len(rows) or not loss.abilities & {"flows", "curvature"}:
        return 0.0, 0.0
    part = slice(int(rows[0]), int(rows[-1]) + 1)
    zeros = np.zeros((part.stop - part.start, loss.shape[1]))
    out, outflow = np.empty_like(zeros), np.empty_like(zeros)
    if "flows" in loss.abilities:
        loss.flows(zeros, out, outflow, part)
        out += outflow
        out *= 0.5
    else:
        loss.curvature(zeros, out, part)
    return float(out.sum()), float(loss.weight[rows].sum() * loss.shape[1])
