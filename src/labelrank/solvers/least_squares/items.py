r"""Ridge regression on the differences of items within groups.

With the Laplacian :math:`\mathcal{L} = S S^\top` of the pairs (see :mod:`labelrank.losses.squared`) and the scores
:math:`f = \Phi w` of the items,

.. math:: (y - \Phi w)^\top \mathcal{L} \, (y - \Phi w) + \lambda \|w\|^2
          = \|S^\top y - S^\top \Phi w\|^2 + \lambda \|w\|^2 .

:math:`S^\top \Phi` are the features centered within groups. There are three routes to a system
:math:`(G + \lambda I) z = b`:

- *primal*, the features themselves: :math:`G = \Phi^\top \mathcal{L} \Phi`, :math:`b = \Phi^\top \mathcal{L} y`,
  :math:`w = z`;
- *basis*, a few items R: :math:`K_{RR} = C C^\top`, :math:`\Phi = K_{MR} C^{-\top}`, and the coefficients of the items
  in R are :math:`C^{-\top} z`. Forming :math:`\Phi` before its products makes the error proportional to the condition
  number of C, not to its square;
- *dual*, all items: :math:`G = S^\top K S`, :math:`b = S^\top y`, and the coefficients of the items are :math:`S z`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.linalg import blas

from labelrank._arrays import FloatArray, largest, row_blocks
from labelrank._memory import require_memory
from labelrank.losses.squared import GroupedSquaredLoss, weight_shares
from labelrank.models.gram import KERNEL_BLOCK, Kernel
from labelrank.solvers.base import OnStep, Run, State, Stop
from labelrank.solvers.least_squares.basis import basis_factor
from labelrank.solvers.least_squares.conjugate_gradients import conjugate_gradients
from labelrank.solvers.least_squares.ridge import decompose, shrink, solve

IntArray = npt.NDArray[np.intp]
Rows = Callable[[slice], FloatArray]  # copies the features of some items, or their kernel values with the basis


@dataclass
class ItemSystem:
    """A ridge system of items, whose solutions give coefficients of features or items.

    Once it is decomposed, `target` is in the coordinates of the eigenvectors, and `values` and `directions` replace
    `gram` and `factor`.
    """

    gram: FloatArray | None  # G, lower triangle
    target: FloatArray  # b
    n_coef: int
    kept: IntArray  # coefficients that are not zero: independent basis vectors, items with a weight
    factor: FloatArray | None = None  # C, for a basis
    code: IntArray | None = None  # groups and scales of the items, for S, in the dual
    scale: FloatArray | None = None
    size: float = 0.0  # of the numbers whose difference is G
    values: Any = None  # eigenvalues of G
    directions: Any = None  # its eigenvectors V; for a basis C⁻ᵀ V

    def solve(self, alpha: float) -> FloatArray:
        """Return the coefficients for one penalty."""
        z = None if self.gram is None else solve(self.gram, self.target, alpha)
        if z is None:
            return self.path(np.array([alpha]))[:, 0]
        return self._coefficients(_solve_factor(self.factor, z[:, np.newaxis]))[:, 0]

    def path(self, alphas: FloatArray) -> FloatArray:
        """Return the coefficients for many penalties, in columns."""
        self.decompose()
        return self._coefficients(self.directions @ (self.target[:, np.newaxis] * shrink(self.values, alphas)))

    def decompose(self) -> None:
        """Find the eigenvalues and eigenvectors, once."""
        if self.gram is not None:
            self.values, vectors = decompose(self.gram, self.size)
            self.target = vectors.T @ self.target
            self.directions = _solve_factor(self.factor, vectors)
            self.gram = self.factor = None

    def _coefficients(self, z: FloatArray) -> FloatArray:
        if self.code is not None and self.scale is not None:  # S z: z minus its part along the roots of the weights
            along = np.sqrt(weight_shares(self.scale, self.code))[:, np.newaxis]
            z = (z - along * (_sums(along[:, 0], self.code) @ z)[self.code]) * self.scale[:, np.newaxis]
        coefficients = np.zeros((self.n_coef, z.shape[1]))
        coefficients[self.kept] = z
        return coefficients


# --- Three routes, and one without a system


def primal_system(X: Any, loss: GroupedSquaredLoss) -> tuple[ItemSystem, Rows]:
    """System of the features of the items, dense or sparse."""
    thin: bool = sparse.issparse(X)

    def rows(part: slice) -> FloatArray:
        return np.array(X[part].toarray() if thin else X[part], order="C")

    gram, target = _sparse_products(X, loss) if thin else products(rows, loss, X.shape[1])
    return ItemSystem(gram, target, X.shape[1], np.arange(X.shape[1])), rows


def basis_system(
    kernel: Kernel, X: Any, basis: Any, gram: FloatArray, loss: GroupedSquaredLoss
) -> tuple[ItemSystem, Rows]:
    """System of the kernel values (X, if precomputed) of the items with a basis, whose kernel matrix is `gram`."""
    factor, kept = basis_factor(gram)
    independent = None if kernel.is_precomputed else basis[kept]

    def rows(part: slice) -> FloatArray:
        return np.array(X[part][:, kept], order="C") if independent is None else kernel(X[part], independent)

    inner, target = products(rows, loss, len(kept), factor)
    return ItemSystem(inner, target, len(gram), kept, factor), rows


def dual_system(gram: FloatArray, loss: GroupedSquaredLoss, n_coef: int) -> ItemSystem:
    r"""System of the kernel matrix of all items, :math:`S^\top K S`; `gram` is overwritten."""
    means, size = _sums(loss.share, loss.code), largest(gram) * float(loss.scale.max(initial=0.0)) ** 2
    for matrix in (gram, gram.T):
        for part in row_blocks(len(gram), len(gram), KERNEL_BLOCK):
            block = matrix[:, part]
            block -= (means @ block)[loss.code]
            block *= loss.scale[:, np.newaxis]
    if largest(gram) <= 16 * np.finfo(float).eps * size:
        gram[...] = 0.0  # items that are equal within each group leave nothing but rounding errors
    return ItemSystem(gram.T, loss.target, n_coef, loss.order, code=loss.code, scale=loss.scale, size=size)


def solve_iteratively(X: Any, loss: GroupedSquaredLoss, alpha: float, stop: Stop, on_step: OnStep | None) -> State:
    r"""Solve :math:`(X^\top \mathcal{L} X + \alpha I) w = X^\top \mathcal{L} y` for sparse X by conjugate gradients."""
    X = shifted(X, loss)

    def product(w: FloatArray) -> FloatArray:
        return np.asarray(X.T @ loss.divergence(loss.differences(X @ w))) + alpha * w

    def value(w: FloatArray, residual: FloatArray) -> float:
        return float(loss.target @ loss.target - w @ (right + residual))

    right = np.asarray(X.T @ loss.divergence(loss.target))
    # The diagonal of XᵀDX bounds that of the system from above and is close to it for sparse features.
    diagonal = np.asarray(X.multiply(X).T @ loss.scale**2) + alpha
    with Run(np.zeros(X.shape[1]), stop, on_step) as run:
        run.state.advice = "scale the features, or use a larger alpha"
        conjugate_gradients(product, right, run, value, 1.0 / diagonal)
    return run.state


# --- Centered features and their products


def centered_blocks(rows: Rows, loss: GroupedSquaredLoss, width: int) -> Iterator[tuple[FloatArray, FloatArray]]:
    r"""Yield blocks of :math:`S^\top \Phi` and :math:`S^\top y`, for groups of any size.

    A group that spans several blocks is centered part by part. Its parts differ by their means, which follow as a last
    block: items with the weight of a part, centered within the group. Sums of squares within and between parts are
    stable where a difference of large sums would not be.
    """
    cut: list[tuple[int, float, float, FloatArray]] = []  # group, weight, mean of y and of the features of each part
    for part in row_blocks(len(loss), width, KERNEL_BLOCK):
        block, code = rows(part), loss.code[part]
        means = center(block, code - code[0], loss.scale[part])
        yield block, loss.target[part]
        for group in {int(code[0]), int(code[-1])}:
            a, b = max(loss.start[group], part.start), min(loss.start[group + 1], part.stop)
            weight = loss.scale[a:b] ** 2
            if b - a < loss.start[group + 1] - loss.start[group] and weight.sum() > 0:
                mean_y = float(np.average(loss.y[a:b], weights=weight))
                cut.append((group, float(weight.sum()), mean_y, means[group - code[0]].copy()))
    if cut:
        yield between_parts(cut)


def between_parts(cut: Sequence[tuple[Any, float, float, FloatArray]]) -> tuple[FloatArray, FloatArray]:
    """Return the centered block of the parts of groups that are cut: group, weight, mean of y and of the features."""
    groups, weight, mean_y, means = zip(*cut, strict=True)
    code, scale = np.unique(groups, return_inverse=True)[1], np.sqrt(weight)
    block, y = np.array(means), np.array(mean_y)[:, np.newaxis]
    center(block, code, scale)
    center(y, code, scale)
    return block, y[:, 0]


def center(block: FloatArray, code: IntArray, scale: FloatArray) -> FloatArray:
    """Subtract the weighted mean of each group from its rows, and scale them, in place; return the means."""
    means = np.asarray(_sums(weight_shares(scale, code), code) @ block)
    block -= means[code]
    block *= scale[:, np.newaxis]
    return means


def _sums(weight: FloatArray, code: IntArray) -> Any:
    """Matrix of weighted sums over groups, of shape (n_groups, n_items)."""
    n_groups = int(code.max(initial=-1)) + 1
    return sparse.csr_array((weight, (code, np.arange(len(code)))), shape=(n_groups, len(code)))


def products(
    rows: Rows, loss: GroupedSquaredLoss, n: int, factor: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    r"""G and b of features or, with the factor C of a basis, of :math:`K_{MR} C^{-\top}`."""
    require_memory(8.0 * n**2, f"least squares with {n} coefficients", "use fewer features or basis rows")
    gram, target = np.zeros((n, n), order="F"), np.zeros(n)
    for block, y in centered_blocks(rows, loss, n) if n else ():
        if factor is not None:  # C⁻¹ Kᵀ in place: the transpose of a C-ordered block is a Fortran-ordered matrix
            block = blas.dtrsm(1.0, factor, block.T, lower=1, overwrite_b=1).T
        gram = blas.dsyrk(1.0, block.T, beta=1.0, c=gram, lower=1, overwrite_c=1)
        target += block.T @ y
    return gram, target


def _sparse_products(X: Any, loss: GroupedSquaredLoss) -> tuple[FloatArray, FloatArray]:
    r"""G and b of sparse features: :math:`X^\top D X` minus the part of the groups' means."""
    n = X.shape[1]
    require_memory(16.0 * n**2, f"least squares with {n} coefficients", "use fewer features")
    X = shifted(X, loss)
    scaled = sparse.diags_array(loss.scale) @ X
    means = _sums(loss.scale * np.sqrt(loss.share), loss.code) @ X  # times the root of the total weight of a group
    gram = (scaled.T @ scaled - means.T @ means).toarray(order="F")
    return gram, np.asarray(scaled.T @ loss.target)


def shifted(X: Any, loss: GroupedSquaredLoss) -> Any:
    r"""Return a matrix with the same differences within groups as sparse X, whose products do not cancel.

    A constant for each group and column changes no difference within the group. If a column has an entry in every row
    of a group, it is centered there: large values that are almost equal, or a constant column, would otherwise leave
    only rounding errors in :math:`X^\top D X` minus the groups' means.
    """
    X = sparse.csr_array(X, copy=True)
    X.sum_duplicates()
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    cell = loss.code[row].astype(np.int64) * X.shape[1] + X.indices  # group and column
    cells, first, inverse, filled = np.unique(cell, return_index=True, return_inverse=True, return_counts=True)
    full = filled == np.diff(loss.start)[cells // max(X.shape[1], 1)]
    # First subtract the first value of the cell, which is exact for values close to it, then the mean.
    X.data -= np.where(full, X.data[first], 0.0)[inverse]
    X.data -= np.where(full, np.bincount(inverse, loss.share[row] * X.data, minlength=len(cells)), 0.0)[inverse]
    return X


def _solve_factor(factor: FloatArray | None, z: FloatArray) -> FloatArray:
    r""":math:`C^{-\top} z`; a Fortran-ordered z is overwritten."""
    if factor is None or not len(factor):
        return z
    return np.asarray(blas.dtrsm(1.0, factor, z, lower=1, trans_a=1, overwrite_b=1))
