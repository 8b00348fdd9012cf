r"""Regularized least squares on pairs: ridge regression after a centring within groups.

With :math:`L = B B^\top` (see :mod:`labelrank.solvers.least_squares.groups`) and the scores :math:`f = \Phi w` of the
items,

.. math:: (y - \Phi w)^\top L (y - \Phi w) + \lambda \|w\|^2 = \|B^\top y - B^\top \Phi w\|^2 + \lambda \|w\|^2 .

Three ways to :math:`\Phi`, each a symmetric system :math:`(G + \lambda I) z = b`:

- *primal*, the features themselves: :math:`G = \Phi^\top L \Phi`, :math:`b = \Phi^\top L y`, :math:`w = z`;
- *basis*, a few items R: :math:`K_{RR} = C C^\top`, :math:`\Phi = K_{MR} C^{-\top}`, and the coefficients of the items
  in R are :math:`C^{-\top} z`. Forming :math:`\Phi` before its products keeps the error at the condition of C, not of
  its square;
- *dual*, all items: :math:`G = B^\top K B`, :math:`b = B^\top y`, and the coefficients of the items are :math:`B z`.

One eigendecomposition of G gives z for every :math:`\lambda`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import blas, eigh, lapack

from labelrank.solvers.least_squares.groups import FloatArray, GroupedItems, IntArray
from labelrank.solvers.least_squares.sparse import shifted_columns
from labelrank.supervision import stacklevel_of_user

Rows = Callable[[int, int], FloatArray]
_BLOCK = 2**21  # entries of a block of rows: 16 MiB

# --- One system, one penalty or all of them


@dataclass
class RidgeSystem:
    r""":math:`(G + \lambda I) z = b`; only the lower triangle of `gram` counts."""

    gram: FloatArray
    target: FloatArray

    def __post_init__(self) -> None:
        if not (np.isfinite(self.gram).all() and np.isfinite(self.target).all()):
            raise ValueError(
                "products of the features, kernel values, scores or weights are too large for floating point numbers: "
                "scale X, y or sample_weight"
            )


@dataclass
class Spectrum:
    """Eigenvalues and eigenvectors of G, and the target in their coordinates: z for any penalty."""

    values: FloatArray
    vectors: FloatArray
    target: FloatArray


def solve(system: RidgeSystem, alpha: float) -> FloatArray | None:
    """Find z by a Cholesky factor; None where `alpha` is too small for one, and :func:`decompose` has to do it.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank.solvers.least_squares.systems import RidgeSystem, solve
    >>> solve(RidgeSystem(np.array([[3.0, 0.0], [1.0, 2.0]]), np.array([5.0, 4.0])), 1.0).round(9)
    array([1., 1.])
    """
    n = len(system.target)
    if not n:
        return np.zeros(0)
    # √2 ‖lower triangle‖ bounds the largest eigenvalue: below this a factor may exist or not by the luck of rounding.
    if not alpha > n * np.finfo(float).eps * np.sqrt(2) * float(np.linalg.norm(system.gram)):
        return None
    factor = np.array(system.gram, order="F")
    np.einsum("ii->i", factor)[...] += alpha
    factor, info = lapack.dpotrf(factor, lower=1, overwrite_a=1, clean=0)
    if info:
        return None
    return np.asarray(lapack.dpotrs(factor, system.target, lower=1)[0])


def decompose(system: RidgeSystem) -> Spectrum:
    """Eigendecomposition of G; `system.gram` is overwritten.

    Eigenvalues that are negative by no more than rounding become zero; other negative ones are an error.
    """
    n = len(system.target)
    if not n:
        return Spectrum(np.zeros(0), np.zeros((0, 0)), np.zeros(0))
    gram = np.asfortranarray(system.gram)
    # Divide and conquer: groups leave as many zeros among the eigenvalues, and the other drivers are slow on clusters.
    values, vectors = eigh(gram, lower=True, driver="evd", overwrite_a=True, check_finite=False)
    if values[0] < -n * 1e3 * np.finfo(float).eps * max(abs(values[-1]), np.finfo(float).tiny):
        raise ValueError(
            f"the kernel is not positive semi-definite: an eigenvalue is {values[0]:.3g}, the largest {values[-1]:.3g}"
        )
    return Spectrum(np.maximum(values, 0.0), vectors, vectors.T @ system.target)


def shrink(values: FloatArray, alphas: FloatArray) -> FloatArray:
    """1 / (e + λ) of shape (n, n_alphas), and 0 for directions that rounding has drowned, with a warning.

    A direction is left out when e + λ is at most n · ε times the largest eigenvalue, where ε is the precision of a
    float: its coefficient would be rounding error divided by next to nothing. A larger λ leaves out none.
    """
    shifted = values[:, np.newaxis] + alphas
    cut = len(values) * np.finfo(float).eps * values.max(initial=0.0)
    left_out = shifted <= cut
    if left_out.any():
        worst = int(np.argmax(left_out.sum(axis=0)))
        warnings.warn(
            f"alpha={alphas[worst]:g} is below the rounding error of the kernel: {left_out[:, worst].sum()} of "
            f"{len(values)} directions have an eigenvalue below {cut:.2g} and are left out; a larger alpha keeps all",
            stacklevel=stacklevel_of_user(),
        )
    return np.where(left_out, 0.0, 1.0 / np.where(left_out, 1.0, shifted))


# --- Three ways to a system


def block_rows(n_columns: int) -> int:
    """Rows of a block of so many columns."""
    return max(64, _BLOCK // max(n_columns, 1))


def primal_system(rows: Rows, items: GroupedItems, n_features: int) -> RidgeSystem:
    """G and b from the features, `rows(a, b)` giving new C-ordered rows of the items a:b, a block at a time."""
    return _accumulate(centred_blocks(rows, items, n_features), n_features)


def sparse_primal_system(X: Any, items: GroupedItems) -> RidgeSystem:
    r"""The same of a sparse matrix with the items' rows in their order: :math:`X^\top D X` less the groups' means."""
    X = shifted_columns(X, items)
    code, scale = items.code, items.scale
    total = np.bincount(code, scale**2, minlength=len(items.start) - 1)
    root = np.where(total > 0, np.sqrt(total), 1.0)
    scaled = sparse.diags_array(scale) @ X
    # The row of group q is √(s W) times its mean, so that its square is what centring takes away.
    means = sparse.csr_array((scale**2 / root[code], (code, np.arange(len(code)))), shape=(len(total), len(code))) @ X
    gram = (scaled.T @ scaled - means.T @ means).toarray(order="F")
    return RidgeSystem(gram, np.asarray(scaled.T @ items.centred_y))


def basis_system(rows: Rows, items: GroupedItems, factor: FloatArray) -> RidgeSystem:
    """G and b of a basis, `rows(a, b)` giving the kernel values of the items a:b with it, `factor` the C above."""

    def features() -> Iterator[tuple[FloatArray, FloatArray]]:
        for block, y in centred_blocks(rows, items, len(factor)):
            # C⁻¹ Kᵀ in place: the transpose of a C-ordered block is a Fortran-ordered matrix.
            yield blas.dtrsm(1.0, factor, block.T, lower=1, overwrite_b=1).T, y

    return _accumulate(features(), len(factor))


def dual_system(rows: Rows, items: GroupedItems) -> RidgeSystem:
    r""":math:`B^\top K B` and :math:`B^\top y`, `rows(a, b)` giving kernel values of the items a:b with all items."""
    from labelrank._kernels.solvers.least_squares import centre_columns, centre_rows

    n = len(items)
    gram = np.empty((n, n))
    step = block_rows(n)
    largest = 0.0
    for a in range(0, n, step):
        b = min(a + step, n)
        gram[a:b] = rows(a, b)
        largest = max(largest, float(gram[a:b].max()), -float(gram[a:b].min()))
        centre_columns(gram[a:b], items.start, items.scale)
    if n:
        centre_rows(gram, items.start, items.scale, np.empty(n), np.empty(n))
        left = max(float(gram.max()), -float(gram.min()))
        if left <= 16 * np.finfo(float).eps * largest * float(items.scale.max()) ** 2:
            gram[...] = 0.0  # items that are equal within each group leave rounding errors, which have no eigenvalues
    return RidgeSystem(gram.T, items.centred_y)


def centred_blocks(rows: Rows, items: GroupedItems, n_columns: int) -> Iterator[tuple[FloatArray, FloatArray]]:
    r"""Blocks of :math:`B^\top \Phi` and :math:`B^\top y`, for groups of any size.

    A group that a block cuts is centred part by part. What is missing then is one row for each cut,
    :math:`\sqrt{s W_a W_b / (W_a + W_b)} (\bar\phi_b - \bar\phi_a)`, which follows as a block of its own: the update of
    a variance by Chan, Golub and LeVeque, stable where a difference of large sums would not be.
    """
    from labelrank._kernels.solvers.least_squares import centre_rows

    centred_y = items.centred_y
    step = block_rows(n_columns)
    first, last = np.empty(n_columns), np.empty(n_columns)
    kept, kept_y, kept_weight = np.empty(0), 0.0, 0.0  # of the group that the last block has cut
    for a in range(0, len(items), step):
        b = min(a + step, len(items))
        inner = items.segments(a, b)
        block = rows(a, b)
        centre_rows(block, inner, items.scale[a:b], first, last)
        yield block, centred_y[a:b]
        continues = bool(a not in items.start)
        if continues:
            y, weight = _mean(items, a, a + int(inner[1]))
            both = kept_weight + weight
            if both > 0:
                jump = np.sqrt(kept_weight * weight / both)
                yield (jump * (first - kept))[np.newaxis, :], np.array([jump * (y - kept_y)])
            share = weight / both if both > 0 else 0.0
            kept, kept_y, kept_weight = kept + share * (first - kept), kept_y + share * (y - kept_y), both
        if not continues or len(inner) > 2:
            kept = last.copy()
            kept_y, kept_weight = _mean(items, a + int(inner[-2]), b)


def _mean(items: GroupedItems, a: int, b: int) -> tuple[float, float]:
    """Mean score and weight, both times s, of a part of a group."""
    weight = items.scale[a:b] ** 2
    total = float(weight.sum())
    return (float(weight @ items.y[a:b]) / total if total > 0 else 0.0), total


def _accumulate(blocks: Iterator[tuple[FloatArray, FloatArray]], n: int) -> RidgeSystem:
    gram, target = np.zeros((n, n), order="F"), np.zeros(n)
    if not n:
        return RidgeSystem(gram, target)
    for block, y in blocks:
        gram = blas.dsyrk(1.0, block.T, beta=1.0, c=gram, lower=1, overwrite_c=1)
        target += block.T @ y
    return RidgeSystem(gram, target)


def basis_factor(gram: FloatArray) -> tuple[FloatArray, IntArray]:
    """Cholesky factor of the kernel of the basis, with pivoting, and the members it is of.

    Members that depend on the others, up to rounding, are left out with a warning: duplicates, and all beyond the
    kernel's rank. `gram` is overwritten.

    Returns
    -------
    factor : ndarray of shape (rank, rank)
        Lower triangle, in the order of `kept`.
    kept : ndarray of shape (rank,)
        Positions in the basis.
    """
    n = len(gram)
    factor, pivots, rank, _ = lapack.dpstrf(np.asfortranarray(gram), lower=1, overwrite_a=1)
    if rank < n:
        warnings.warn(
            f"the kernel of the {n} basis vectors has numerical rank {rank}: {n - rank} of them depend on the others "
            "and get the coefficient 0; fewer basis vectors would do",
            stacklevel=stacklevel_of_user(),
        )
        factor = np.asfortranarray(factor[:rank, :rank])
    return factor, pivots[:rank].astype(np.intp) - 1


def solve_factor(factor: FloatArray, z: FloatArray) -> FloatArray:
    r""":math:`C^{-\top} z`; a Fortran-ordered matrix z is overwritten."""
    if not len(factor):
        return z
    if z.ndim == 1:
        return np.asarray(blas.dtrsm(1.0, factor, z[:, np.newaxis], lower=1, trans_a=1))[:, 0]
    return np.asarray(blas.dtrsm(1.0, factor, z, lower=1, trans_a=1, overwrite_b=1))
