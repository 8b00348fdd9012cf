"""Least squares on pairs for sparse features, matrix-free: neither m x m nor d x d."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, cg
from sklearn.exceptions import ConvergenceWarning

from labelrank.solvers.rls_groups import FloatArray, GroupedItems
from labelrank.supervision import stacklevel_of_user


def solve_iteratively(
    X: Any, items: GroupedItems, alpha: float, *, tol: float = 1e-10, max_iter: int = 2000
) -> FloatArray:
    r"""Coefficients of the features: :math:`(X^\top L X + \alpha I) w = X^\top L y` by conjugate gradients.

    Parameters
    ----------
    X : sparse matrix of shape (n, n_features)
        Features of the items, in the order of the data.
    items : GroupedItems
        Scores and groups.
    alpha : float
        Penalty.
    tol : float
        Residual to stop at, relative to the right-hand side.
    max_iter : int
        Number of iterations at most; stopping there is a warning.
    """
    X = sparse.csr_array(X)[items.order]
    weight = items.scale**2

    def laplacian(p: FloatArray) -> FloatArray:
        return weight * (p - items.mean_of(p))

    def product(w: FloatArray) -> FloatArray:
        return np.asarray(X.T @ laplacian(X @ w)) + alpha * w

    d = X.shape[1]
    right = np.asarray(X.T @ laplacian(items.y))
    if not right.any():
        return np.zeros(d)
    # Jacobi: the diagonal of XᵀDX bounds that of the system from above and is near it for sparse features.
    diagonal = np.asarray(X.multiply(X).T @ weight) + alpha
    coef, info = cg(
        LinearOperator((d, d), matvec=product, dtype=np.float64),
        right,
        rtol=tol,
        maxiter=max_iter,
        M=sparse.diags_array(1 / diagonal),
    )
    if info:
        gap = np.linalg.norm(product(coef) - right) / np.linalg.norm(right)
        warnings.warn(
            f"conjugate gradients stopped after {max_iter} iterations with a residual of {gap:.2g}, tol={tol:g}; scale "
            "the features or take a larger alpha",
            ConvergenceWarning,
            stacklevel=stacklevel_of_user(),
        )
    return np.asarray(coef)
