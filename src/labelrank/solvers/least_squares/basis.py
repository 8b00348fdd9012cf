"""Basis vectors of sparse RankRLS: named, drawn, or centres of k-means."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from labelrank.solvers.least_squares.groups import FloatArray, IntArray


def check_basis(basis: Any, n_basis: int | None, n_items: int) -> IntArray | None:
    """Rows that are named as the basis; None when it is to be found."""
    if isinstance(basis, str):
        return None
    rows = np.asarray(basis)
    if rows.ndim != 1 or not len(rows) or rows.dtype.kind not in "iu":
        raise ValueError('basis must be "random", "kmeans" or a list of rows of X')
    if rows.min() < 0 or rows.max() >= n_items:
        raise ValueError(f"basis names row {rows.max() if rows.max() >= n_items else rows.min()}, X has {n_items} rows")
    if len(np.unique(rows)) < len(rows):
        raise ValueError("basis names a row more than once")
    if n_basis is not None and n_basis != len(rows):
        raise ValueError(f"n_basis={n_basis}, but basis names {len(rows)} rows; leave n_basis out")
    return rows.astype(np.intp)


def draw_basis(n_basis: int, n_items: int, random_state: Any) -> IntArray:
    """Some of the rows, in their order."""
    if n_basis > n_items:
        raise ValueError(f"n_basis={n_basis} is more than the {n_items} rows of X")
    return np.sort(check_random_state(random_state).permutation(n_items)[:n_basis])


def centres(X: Any, n_basis: int, random_state: Any) -> FloatArray:
    """Centres of k-means, found on batches of rows."""
    from sklearn.cluster import MiniBatchKMeans

    if n_basis > X.shape[0]:
        raise ValueError(f"n_basis={n_basis} is more than the {X.shape[0]} rows of X")
    model = MiniBatchKMeans(n_basis, n_init=1, batch_size=max(1024, 4 * n_basis), random_state=random_state)
    return np.asarray(model.fit(X).cluster_centers_, dtype=np.float64)
