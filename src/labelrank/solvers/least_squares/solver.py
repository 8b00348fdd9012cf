r"""Least squares on pairs of labels: a closed form for complete rankings, conjugate gradients for all others.

The scores are :math:`F = M A`, or :math:`F = M A K_l` with a kernel of the labels, where M holds features or is the
kernel matrix :math:`K_x` of the instances; a row per instance. The loss of row i is a quadratic form with the Laplacian
:math:`\mathcal{L}_i = S_i S_i^\top` of its pairs (see :mod:`labelrank.losses.squared`).

- All labels observed in all rows: S centers all rows alike, :math:`C = I - \frac1k 1 1^\top`. The solution follows from
  the eigenvectors of :math:`K_x` and of :math:`C K_l C`, or without a label kernel from one Cholesky factor.
- Otherwise, with features alone: conjugate gradients on the coefficients, scaled by the diagonal of the Hessian.
- Otherwise, with a kernel: the coefficients are :math:`S z` with

.. math:: (S^\top (K_x \otimes K_l) S + \tfrac\alpha2 I) \, z = S^\top t ,

  a symmetric system that conjugate gradients solve with products of the two kernels.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from labelrank._arrays import FloatArray
from labelrank._memory import require_memory
from labelrank.models import LinearModel, Objective
from labelrank.models.gram import KernelModel
from labelrank.solvers.base import Run, Solver
from labelrank.solvers.least_squares.conjugate_gradients import conjugate_gradients
from labelrank.solvers.least_squares.ridge import LARGEST, check_finite, decompose, shrink, solve


class LeastSquares(Solver):
    """Least squares: the minimum of a quadratic objective, in closed form if there is one.

    The gap is the residual of the normal equations relative to their right-hand side.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import as_graphs
    >>> from labelrank.losses import SquaredLoss
    >>> from labelrank.models import LinearModel, Objective
    >>> from labelrank.solvers import LeastSquares, Stop
    >>> model = LinearModel(np.array([[1.0], [-1.0]]), 2, fit_intercept=False)
    >>> objective = Objective(model, SquaredLoss(as_graphs([[1, 2], [2, 1]])), alpha=2.0)
    >>> LeastSquares().solve(objective, np.zeros((1, 2)), Stop(max_iter=50, tol=1e-6)).coef.round(3)
    array([[ 0.333, -0.333]])
    """

    name: ClassVar[str] = "least_squares"
    needs: ClassVar[frozenset[str]] = frozenset({"laplacian"})

    def _minimize(self, objective: Objective, run: Run) -> None:
        run.state.advice = "increase max_iter, take a larger alpha, or accept it by a larger tol"
        with np.errstate(over="ignore", invalid="ignore"):  # infinite numbers raise an error
            if has_closed_form(objective):
                loss: Any = objective.loss
                run.step(run.state.coef, float(np.vdot(loss.target, loss.target)), 1.0)
                run.step(*solve_complete(objective), gap=0.0)
            elif isinstance(objective.model, KernelModel):
                _iterate_on_pairs(objective.model, objective.loss, objective.alpha / 2, run)
            else:
                _iterate(objective, run)


# --- Complete rankings


def has_closed_form(objective: Objective) -> bool:
    """Whether all labels are observed in all rows, intercepts are not free, and a matrix is not too large."""
    model: Any = objective.model
    if not isinstance(model, LinearModel) or model.fit_intercept:
        return False
    small = not model.is_sparse or min(model.X.shape) <= LARGEST
    return small and objective.alpha > 0 and bool(getattr(objective.loss, "is_uniform", False))


def solve_complete(objective: Objective) -> tuple[FloatArray, float]:
    """Coefficients and value of the minimum; a kernel matrix is overwritten."""
    model: Any = objective.model
    loss: Any = objective.loss
    alpha, X, target = objective.alpha / 2, model.X, loss.target
    label_gram, is_gram = getattr(model, "label_gram", None), getattr(model, "is_gram", False)
    root = np.where(loss.counted[:, np.newaxis], loss.scale, 0.0)
    if is_gram:
        X *= root
        X *= root.T
        z = _solve_labels(X.T, target, label_gram, alpha)
        return root * z, alpha * float(np.vdot(target, z))
    scaled = X.multiply(root).tocsr() if model.is_sparse else X * root
    if X.shape[1] > X.shape[0]:
        z = _solve_labels(_dense(scaled @ scaled.T), target, label_gram, alpha)
        return np.asarray(scaled.T @ z), alpha * float(np.vdot(target, z))
    right = np.asarray(scaled.T @ target)
    coef = _solve_labels(_dense(scaled.T @ scaled), right, label_gram, alpha)
    fitted = np.vdot(right, coef if label_gram is None else coef @ label_gram)
    return coef, float(np.vdot(target, target) - fitted)


def _solve_labels(gram: FloatArray, target: FloatArray, label_gram: FloatArray | None, alpha: float) -> FloatArray:
    """Solve a system whose target has a centered column for each label; `gram` is overwritten."""
    z = None if label_gram is not None else solve(gram, target, alpha)  # separate problems without a label kernel
    if z is not None:
        return z
    check_finite(target)
    k = target.shape[1]
    label_values, label_vectors = np.ones(k), np.eye(k)
    if label_gram is not None:  # the target is centered already, so that nothing leaves the space of centered rows
        centering = np.eye(k) - 1 / k
        label_values, label_vectors = decompose(centering @ label_gram @ centering)
    values, vectors = decompose(gram)
    products = np.outer(values, label_values)
    shrunk = shrink(products.ravel(), np.array([alpha])).reshape(products.shape)
    return np.asarray(vectors @ (vectors.T @ target @ label_vectors * shrunk) @ label_vectors.T)


def _dense(matrix: Any) -> FloatArray:
    size = 8.0 * matrix.shape[0] * matrix.shape[1]
    require_memory(size, f"least squares with a dense matrix of shape {matrix.shape}", "use fewer features")
    return np.asfortranarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)


# --- All others


def _iterate(objective: Objective, run: Run) -> None:
    """Conjugate gradients on the coefficients; their Hessian is that of the objective with targets of zero."""
    loss: Any = objective.loss
    start = run.state.coef
    form = Objective(objective.model, loss.laplacian(), alpha=objective.alpha, n_jobs=objective.n_jobs)

    def product(p: FloatArray) -> FloatArray:
        return form.value_and_gradient(p)[1]

    value, gradient = objective.value_and_gradient(start)
    right = product(start) - gradient
    constant = value + 0.5 * float(np.vdot(start, right - gradient))
    conjugate_gradients(
        product,
        right,
        run,
        lambda coef, residual: constant - 0.5 * float(np.vdot(coef, right + residual)),
        1.0 / np.square(objective.widths).reshape((-1,) + (1,) * (start.ndim - 1)),
    )


def _iterate_on_pairs(model: KernelModel, loss: Any, alpha: float, run: Run) -> None:
    """Conjugate gradients on the z of the observed pairs."""
    everything = slice(None)

    def coef_of(z: FloatArray) -> FloatArray:
        return model.combine(loss.divergence(z))

    def product(z: FloatArray) -> FloatArray:
        return np.asarray(loss.differences(model.scores(coef_of(z), everything)) + alpha * z)

    def value(z: FloatArray, residual: FloatArray) -> float:
        return float(np.vdot(residual, residual) + alpha * np.vdot(z, residual + loss.target))

    on_step = run.on_step
    if on_step is not None:
        run.on_step = lambda coef, value: on_step(coef_of(coef), value)
    run.state.coef = np.zeros_like(loss.target)
    try:
        conjugate_gradients(product, loss.target, run, value)
    finally:
        run.state.coef = coef_of(run.state.coef)
