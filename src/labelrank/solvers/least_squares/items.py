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
  in R are :math:`C^{-\top} z`. Forming :math:`\Phi` before its products keeps the error at the condition of C, not of
  its square;
- *dual*, all items: :math:`G = S^\top K S`, :math:`b = S^\top y`, and the coefficients of the items are :math:`S z`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.linalg import blas

from labelrank._arrays import FloatArray, row_blocks
from labelrank.losses.squared import GroupedSquaredLoss, weight_shares
from labelrank.models.gram import KERNEL_BLOCK, Kernel
from labelrank.solvers.base import OnStep, Run, State, Stop
from labelrank.solvers.least_squares.basis import basis_factor
from labelrank.solvers.least_squares.conjugate_gradients import conjugate_gradients
from labelrank.solvers.least_squares.ridge import RidgeSystem, shrink

IntArray = npt.NDArray[np.intp]
Rows = Callable[[slice], FloatArray]  # new rows of features, or of kernel values with the basis, of some items


@dataclass
class ItemSystem:
    """A system of items, and the coefficients of features or items that its solutions stand for.

    Attributes
    ----------
    gram, target : ndarray
        G (lower triangle) and b; after :meth:`decompose`, `gram` is None and `target` is in the coordinates of the
        eigenvectors.
    n_coef : int
        Number of coefficients.
    kept : ndarray
        The coefficients that can differ from zero: of the basis vectors that do not depend on others, of the items that
        have a weight.
    factor : ndarray, optional
        C of the route by a basis; None after :meth:`decompose`.
    code, scale : ndarray, optional
        Group and scale of each item, for S, in the dual.
    values, directions : ndarray, optional
        After :meth:`decompose`: the eigenvalues of G, and the matrix from the coordinates of the eigenvectors to z; for
        a basis, to :math:`C^{-T} z`.
    """

    gram: FloatArray | None
    target: FloatArray
    n_coef: int
    kept: IntArray
    factor: FloatArray | None = None
    code: IntArray | None = None
    scale: FloatArray | None = None
    values: FloatArray | None = None
    directions: FloatArray | None = None

    def solve(self, alpha: float) -> FloatArray:
        """Coefficients for one penalty."""
        if self.gram is not None:
            z = RidgeSystem(self.gram, self.target).solve(alpha)
            if z is not None:
                return self._coefficients(_solve_factor(self.factor, z[:, np.newaxis]))[:, 0]
        return self.path(np.array([alpha]))[:, 0]

    def path(self, alphas: FloatArray) -> FloatArray:
        """Coefficients for many penalties, in columns."""
        values, directions = self.decompose()
        return self._coefficients(directions @ (self.target[:, np.newaxis] * shrink(values, alphas)))

    def decompose(self) -> tuple[FloatArray, FloatArray]:
        """Return `values` and `directions`, which the first call computes."""
        if self.gram is not None:
            spectrum = RidgeSystem(self.gram, self.target).decompose()
            self.values, self.target = spectrum.values, spectrum.target
            self.directions = _solve_factor(self.factor, spectrum.vectors)
            self.gram = self.factor = None
        values, directions = self.values, self.directions
        return values, directions  # type: ignore[return-value]

    def _coefficients(self, z: FloatArray) -> FloatArray:
        coefficients = np.zeros((self.n_coef, z.shape[1]))
        coefficients[self.kept] = z
        if self.code is not None and self.scale is not None:  # S z: z less its part along the roots of the weights
            along = np.sqrt(weight_shares(self.scale, self.code))
            part = _sums(along, self.code) @ z
            coefficients[self.kept] -= along[:, np.newaxis] * part[self.code]
            coefficients[self.kept] *= self.scale[:, np.newaxis]
        return coefficients


# --- Three routes


def primal_system(X: Any, loss: GroupedSquaredLoss) -> tuple[ItemSystem, Rows]:
    """System of the features of the items, dense or sparse."""

    def rows(part: slice) -> FloatArray:
        block = X[part]
        return np.ascontiguousarray(block.toarray()) if hasattr(block, "toarray") else np.array(block, order="C")

    thin: bool = sparse.issparse(X)
    gram, target = _sparse_products(X, loss) if thin else _products(rows, loss, X.shape[1])
    return ItemSystem(gram, target, X.shape[1], np.arange(X.shape[1])), rows


def basis_system(
    kernel: Kernel, X: Any, basis: Any, gram: FloatArray, loss: GroupedSquaredLoss
) -> tuple[ItemSystem, Rows]:
    """System of the kernel values of the items with a basis, whose kernel matrix is `gram`; X if it is precomputed."""
    factor, kept = basis_factor(gram)
    independent = None if kernel.is_precomputed else basis[kept]

    def rows(part: slice) -> FloatArray:
        return np.array(X[part][:, kept], order="C") if independent is None else kernel(X[part], independent)

    products, target = _products(rows, loss, len(kept), factor)
    return ItemSystem(products, target, len(gram), kept, factor), rows


def dual_system(gram: FloatArray, loss: GroupedSquaredLoss, n_coef: int) -> ItemSystem:
    r"""System of the kernel matrix of all items, :math:`S^\top K S`; `gram` is overwritten."""
    n = len(loss)
    means, scale = _sums(loss.share, loss.code), loss.scale[:, np.newaxis]
    largest = max(float(gram.max(initial=0.0)), -float(gram.min(initial=0.0)))
    for matrix in (gram, gram.T):
        for part in row_blocks(n, n, KERNEL_BLOCK):
            block = matrix[:, part]
            block -= (means @ block)[loss.code]
            block *= scale
    left = max(float(gram.max(initial=0.0)), -float(gram.min(initial=0.0)))
    if left <= 16 * np.finfo(float).eps * largest * float(loss.scale.max(initial=0.0)) ** 2:
        gram[...] = 0.0  # items that are equal within each group leave nothing but rounding errors
    return ItemSystem(gram.T, loss.target, n_coef, loss.order, code=loss.code, scale=loss.scale)


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
        run.state.advice = "scale the features, or take a larger alpha"
        conjugate_gradients(product, right, run, value, 1.0 / diagonal)
    return run.state


# --- Centered features and their products


def centered_blocks(rows: Rows, loss: GroupedSquaredLoss, width: int) -> Iterator[tuple[FloatArray, FloatArray]]:
    r"""Yield blocks of :math:`S^\top \Phi` and :math:`S^\top y`, for groups of any size.

    A group that is cut by the blocks is centered part by part. Its parts differ by their means, which follow as a last
    block: items with the weight of a part, centered within the group. Sums of squares within and between parts are
    stable where a difference of large sums would not be.
    """
    cut: list[tuple[int, float, float, FloatArray]] = []  # group, weight, mean of y and of the features of each part
    for part in row_blocks(len(loss), width, KERNEL_BLOCK):
        block, code, scale = rows(part), loss.code[part], loss.scale[part]
        means = center(block, code - code[0], scale)
        yield block, loss.target[part]
        for group in {int(code[0]), int(code[-1])}:
            a, b = max(loss.start[group], part.start), min(loss.start[group + 1], part.stop)
            weight = float(np.sum(loss.scale[a:b] ** 2))
            if b - a < loss.start[group + 1] - loss.start[group] and weight > 0:
                mean_y = float(np.average(loss.y[a:b], weights=loss.scale[a:b] ** 2))
                cut.append((group, weight, mean_y, means[group - code[0]].copy()))
    if cut:
        code = np.unique([group for group, *_ in cut], return_inverse=True)[1]
        scale = np.sqrt([weight for _, weight, *_ in cut])
        block, y = np.array([mean for *_, mean in cut]), np.array([[mean_y] for *_, mean_y, _ in cut])
        center(block, code, scale)
        center(y, code, scale)
        yield block, y[:, 0]


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


def _products(
    rows: Rows, loss: GroupedSquaredLoss, n: int, factor: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    r"""G and b of features or, with the factor C of a basis, of :math:`K_{MR} C^{-\top}`."""
    gram, target = np.zeros((n, n), order="F"), np.zeros(n)
    for block, y in centered_blocks(rows, loss, n) if n else ():
        if factor is not None:  # C⁻¹ Kᵀ in place: the transpose of a C-ordered block is a Fortran-ordered matrix
            block = blas.dtrsm(1.0, factor, block.T, lower=1, overwrite_b=1).T
        gram = blas.dsyrk(1.0, block.T, beta=1.0, c=gram, lower=1, overwrite_c=1)
        target += block.T @ y
    return gram, target


def _sparse_products(X: Any, loss: GroupedSquaredLoss) -> tuple[FloatArray, FloatArray]:
    r"""G and b of sparse features: :math:`X^\top D X` less the part of the groups' means."""
    X = shifted(X, loss)
    scaled = sparse.diags_array(loss.scale) @ X
    # The row of group q is the root of its total weight times its mean.
    means = _sums(loss.scale * np.sqrt(loss.share), loss.code) @ X
    gram = (scaled.T @ scaled - means.T @ means).toarray(order="F")
    return gram, np.asarray(scaled.T @ loss.target)


def shifted(X: Any, loss: GroupedSquaredLoss) -> Any:
    r"""Return a matrix with the same differences within groups as sparse X, whose products do not cancel.

    A constant for each group and column changes no difference within the group. If a column has an entry in every row
    of a group, it is centered there: large values that are almost equal, or a constant column, would otherwise leave
    nothing but rounding errors in :math:`X^\top D X` less the groups' means.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from labelrank.losses.squared import GroupedSquaredLoss
    >>> from labelrank.solvers.least_squares.items import shifted
    >>> loss = GroupedSquaredLoss(np.zeros(4), [0, 0, 0, 0], np.ones(4))
    >>> shifted(sparse.csr_array([[1e9, 0], [1e9 + 1, 0], [1e9, 5], [1e9 + 1, 0]]), loss).toarray()
    array([[-0.5,  0. ],
           [ 0.5,  0. ],
           [-0.5,  5. ],
           [ 0.5,  0. ]])
    """
    X = sparse.csr_array(X, copy=True)
    X.sum_duplicates()
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    cell = loss.code[row].astype(np.int64) * X.shape[1] + X.indices  # group and column
    cells, first, inverse, filled = np.unique(cell, return_index=True, return_inverse=True, return_counts=True)
    full = filled == np.diff(loss.start)[cells // max(X.shape[1], 1)]
    # First less the first value of the cell, which is exact for values that are alike, then less the mean.
    X.data -= np.where(full, X.data[first], 0.0)[inverse]
    X.data -= np.where(full, np.bincount(inverse, loss.share[row] * X.data, minlength=len(cells)), 0.0)[inverse]
    return X


def _solve_factor(factor: FloatArray | None, z: FloatArray) -> FloatArray:
    r""":math:`C^{-\top} z`; a Fortran-ordered z is overwritten."""
    if factor is None or not len(factor):
        return z
    return np.asarray(blas.dtrsm(1.0, factor, z, lower=1, trans_a=1, overwrite_b=1))
