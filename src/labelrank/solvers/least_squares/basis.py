"""Basis vectors of sparse RankRLS (given, drawn at random, or centers of k-means) and their Cholesky factor."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import lapack
from sklearn.utils import check_random_state

from labelrank._arrays import FloatArray
from labelrank.supervision import stacklevel_of_user

IntArray = npt.NDArray[np.intp]


def check_basis(basis: Any, n_basis: int | None, weight: FloatArray) -> IntArray | None:
    """Validate the basis; return its rows, or None if they are to be chosen among the rows of positive weight."""
    n_items, n_weighted = len(weight), int(np.count_nonzero(weight))
    if not isinstance(basis, str):
        rows = np.asarray(basis)
        if rows.ndim != 1 or not len(rows) or rows.dtype.kind not in "iu":
            raise ValueError('basis must be "random", "kmeans" or a list of rows of X')
        if rows.min() < 0 or rows.max() >= n_items:
            outside = rows.max() if rows.max() >= n_items else rows.min()
            raise ValueError(f"basis names row {outside}, X has {n_items} rows")
        if len(np.unique(rows)) < len(rows):
            raise ValueError("basis names a row more than once")
        if n_basis is not None and n_basis != len(rows):
            raise ValueError(f"n_basis={n_basis}, but basis names {len(rows)} rows; leave out n_basis")
        return rows.astype(np.intp)
    if n_basis is None and basis == "kmeans":
        raise ValueError('basis="kmeans" needs n_basis, the number of centers')
    if n_basis is not None and n_basis > n_weighted:
        raise ValueError(f"n_basis={n_basis} is more than the {n_weighted} rows of X with positive weight")
    return None


def draw_basis(n_basis: int, rows: IntArray, random_state: Any) -> IntArray:
    """Draw `n_basis` of the rows at random, and return them in their order."""
    return np.asarray(rows[np.sort(check_random_state(random_state).permutation(len(rows))[:n_basis])])


def kmeans_centers(X: Any, n_basis: int, random_state: Any) -> FloatArray:
    """Return the centers of mini-batch k-means."""
    from sklearn.cluster import MiniBatchKMeans

    model = MiniBatchKMeans(n_basis, n_init=1, batch_size=max(1024, 4 * n_basis), random_state=random_state)
    return np.asarray(model.fit(X).cluster_centers_, dtype=np.float64)


def basis_factor(gram: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the pivoted Cholesky factor of the kernel matrix of a basis, and the basis vectors that it belongs to.

    Basis vectors that depend on the others, up to rounding, are left out with a warning: duplicates, and all beyond the
    rank of the kernel.

    Returns
    -------
    factor : ndarray of shape (rank, rank)
        Lower triangle, in the order of `kept`.
    kept : ndarray of shape (rank,)
        Positions in the basis.
    """
    n = len(gram)
    factor, pivots, rank, _ = lapack.dpstrf(gram, lower=1)
    if rank < n:
        warnings.warn(
            f"the kernel of the {n} basis vectors has numerical rank {rank}: {n - rank} of them depend on the others "
            "and get the coefficient 0; use fewer basis vectors",
            stacklevel=stacklevel_of_user(),
        )
        factor = np.asfortranarray(factor[:rank, :rank])
    return factor, pivots[:rank].astype(np.intp) - 1
