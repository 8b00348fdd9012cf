r"""Least squares on pairs of labels: a closed form for complete rankings, conjugate gradients for all others.

The scores are :math:`F = M A`, or :math:`F = M A K_l` with a kernel of the labels. The rows of M are the features of
the instances, or their rows in the kernel matrix :math:`K_x`. The loss of row i is a quadratic form with the Laplacian
:math:`\mathcal{L}_i = S_i S_i^\top` of its pairs (see :mod:`labelrank.losses.squared`).

- All labels observed in all rows: S centers every row, :math:`C = I - \frac1k 1 1^\top`. The solution follows from
  the eigenvectors of :math:`K_x` and of :math:`C K_l C`, or without a label kernel from one Cholesky factor.
- Otherwise, with features alone: conjugate gradients on the coefficients, scaled by the diagonal of the Hessian.
- Otherwise, with a kernel: the coefficients are :math:`S z` with

.. math:: (S^\top (K_x \otimes K_l) S + \tfrac\alpha2 I) \, z = S^\top t ,

  a symmetric system that conjugate gradients solve with matrix products of the two kernels.
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
        run.state.advice = "increase max_iter, or use a larger alpha or a larger tol"
        with np.errstate(over="ignore", invalid="ignore"):  # infinite numbers raise ValueError later
            if has_closed_form(objective):
                run.step(run.state.coef, objective.sum(_square)[0], 1.0)
                run.step(*solve_complete(objective), gap=0.0)
            elif isinstance(objective.model, KernelModel):
                if not objective.is_whole:
                    raise ValueError(
                        "a kernel of the labels on partitioned data needs rows that rank all labels; leave out "
                        "label_features, or drop incomplete rows"
                    )
                _iterate_on_pairs(objective.model, objective.loss, objective.alpha / 2, run)
            else:
                _iterate(objective, run)


# --- Complete rankings


def has_closed_form(objective: Objective) -> bool:
    """Whether all labels are observed in all rows, there is no free intercept, and a matrix is not too large."""
    model: Any = objective.model
    if not isinstance(model, LinearModel) or model.fit_intercept:
        return False
    side = min(model.X.shape) if objective.is_whole else model.X.shape[1]
    small = not model.is_sparse or side <= LARGEST
    return small and objective.alpha > 0 and objective.sum(_partial)[0] == 0


def solve_complete(objective: Objective) -> tuple[FloatArray, float]:
    """Coefficients and value of the minimum; a kernel matrix is overwritten."""
    model: Any = objective.model
    loss: Any = objective.loss
    alpha, X, target = objective.alpha / 2, model.X, loss.target
    label_gram, is_gram = getattr(model, "label_gram", None), getattr(model, "is_gram", False)
    root = np.where(loss.counted[:, np.newaxis], loss.scale, 0.0)
    if not objective.is_whole or (not is_gram and X.shape[1] <= X.shape[0]):
        gram, right, square = objective.sum(_normal_equations)
        coef = _solve_labels(np.asfortranarray(gram), right, label_gram, alpha)
        fitted = np.vdot(right, coef if label_gram is None else coef @ label_gram)
        return coef, float(square - fitted)
    if is_gram:
        X *= root
        X *= root.T
        z = _solve_labels(X.T, target, label_gram, alpha)
        return root * z, alpha * float(np.vdot(target, z))
    scaled = X.multiply(root).tocsr() if model.is_sparse else X * root
    z = _solve_labels(_dense(scaled @ scaled.T), target, label_gram, alpha)
    return np.asarray(scaled.T @ z), alpha * float(np.vdot(target, z))


def _normal_equations(part: Objective) -> tuple[FloatArray, FloatArray, float]:
    """XᵀX and Xᵀt of scaled rows, and the square of t."""
    model: Any = part.model
    loss: Any = part.loss
    root = np.where(loss.counted[:, np.newaxis], loss.scale, 0.0)
    scaled = model.X.multiply(root).tocsr() if model.is_sparse else model.X * root
    return _dense(scaled.T @ scaled), np.asarray(scaled.T @ loss.target), *_square(part)


def _square(part: Objective) -> tuple[float]:
    loss: Any = part.loss
    return (float(np.vdot(loss.target, loss.target)),)


def _partial(part: Objective) -> tuple[int]:
    """1 if some pairs of labels are not observed."""
    return (int(not getattr(part.loss, "is_uniform", False)),)


def _solve_labels(gram: FloatArray, target: FloatArray, label_gram: FloatArray | None, alpha: float) -> FloatArray:
    """Solve a system with centered rows as target and a column for each label; `gram` is overwritten."""
    z = None if label_gram is not None else solve(gram, target, alpha)  # separate problems without a label kernel
    if z is not None:
        return z
    check_finite(target)
    k = target.shape[1]
    label_values, label_vectors = np.ones(k), np.eye(k)
    if label_gram is not None:  # the rows of the target are centered, so the solution is in the space of centered rows
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
    """Conjugate gradients on the coefficients, with products of the Hessian of the objective."""
    start = run.state.coef
    value, gradient = objective.value_and_gradient(start)
    right = objective.product(start) - gradient
    constant = value + 0.5 * float(np.vdot(start, right - gradient))
    conjugate_gradients(
        objective.product,
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
