"""Kernel values between blocks of items, dense or sparse."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

FloatArray = npt.NDArray[np.float64]


def check_symmetric(kernel: FloatArray, what: str) -> None:
    """Refuse a matrix of kernel values between the same things that is not symmetric, up to rounding."""
    largest = float(np.abs(kernel).max(initial=0.0))
    rows = max(1, 2**18 // max(1, len(kernel)))
    for a in range(0, len(kernel), rows):
        if np.any(np.abs(kernel[a : a + rows] - kernel[:, a : a + rows].T) > 1e-7 * largest):
            raise ValueError(
                f"{what} must be symmetric, with the values of the same things in the order of its rows and of its "
                "columns; where it is so up to errors of its computation, pass (K + K.T) / 2"
            )


@dataclass
class Kernel:
    """A kernel and its parameters; called with two matrices of items it gives a new C-ordered matrix of their values.

    Attributes
    ----------
    name : {"linear", "rbf", "poly"} or callable
        A callable takes two matrices and `params`, and returns the matrix of kernel values.
    gamma, degree, coef0
        ``exp(-gamma ‖x − z‖²)`` and ``(gamma x·z + coef0) ** degree``; gamma None is 1 / n_features.
    params : mapping
        Keywords for a callable.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank.solvers.least_squares.kernels import Kernel
    >>> Kernel("poly", degree=2)(np.array([[1.0, 2.0]]), np.array([[2.0, 1.0]]))  # (½·4 + 1)²
    array([[9.]])
    """

    name: str | Callable[..., Any]
    gamma: float | None = None
    degree: float = 3
    coef0: float = 1
    params: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, X: Any, Z: Any) -> FloatArray:
        """Kernel values of the rows of X with the rows of Z."""
        if callable(self.name):
            return self._checked(self.name(X, Z, **self.params), X.shape[0], Z.shape[0])
        with np.errstate(over="ignore", invalid="ignore"):
            values = self._values(X, Z)
        if not np.isfinite(values).all():
            odd = self.name == "poly" and float(self.degree) != int(self.degree)
            cause = f"degree={self.degree} of a negative value, or too large values" if odd else "too large values"
            raise ValueError(f"the {self.name} kernel of these items has NaN or infinity: {cause}; scale the features")
        return values

    def _values(self, X: Any, Z: Any) -> FloatArray:
        gamma = 1.0 / X.shape[1] if self.gamma is None else float(self.gamma)
        if self.name == "rbf":
            return _gaussian(X, Z, gamma)
        values = _products(X, Z)
        if self.name == "poly":
            values *= gamma
            values += self.coef0
            np.power(values, self.degree, out=values)
        return values

    @staticmethod
    def _checked(values: Any, n: int, m: int) -> FloatArray:
        values = np.array(dense(values), dtype=np.float64, order="C")
        if values.shape != (n, m):
            raise ValueError(f"the kernel must return the {n} x {m} values of two blocks of items, got {values.shape}")
        if not np.isfinite(values).all():
            raise ValueError("the kernel returned NaN or infinity")
        return values


def dense(matrix: Any) -> Any:
    """A sparse matrix as an array; an array as it is."""
    return matrix.toarray() if hasattr(matrix, "toarray") else matrix


def _products(X: Any, Z: Any) -> FloatArray:
    if sparse.issparse(X) or sparse.issparse(Z):
        return np.ascontiguousarray(dense(X @ Z.T), dtype=np.float64)
    return np.asarray(X @ Z.T)


def _gaussian(X: Any, Z: Any, gamma: float) -> FloatArray:
    """exp(2γ x·z − γ‖x‖² − γ‖z‖²), the exponent by a single product."""
    if sparse.issparse(X) or sparse.issparse(Z):
        X, Z = sparse.csr_array(X), sparse.csr_array(Z)
        values = _products(X, Z)
        values *= 2 * gamma
        values -= gamma * np.asarray(X.multiply(X).sum(axis=1))[:, np.newaxis]
        values -= gamma * np.asarray(Z.multiply(Z).sum(axis=1))
    else:
        # Distances do not change with the origin; near the items, less of the squares cancels.
        origin = Z.mean(axis=0)
        X, Z = X - origin, Z - origin
        left = np.column_stack([2 * gamma * X, -gamma * np.einsum("ij,ij->i", X, X), np.ones(len(X))])
        right = np.column_stack([Z, np.ones(len(Z)), -gamma * np.einsum("ij,ij->i", Z, Z)])
        values = left @ right.T
    np.minimum(values, 0.0, out=values)
    return np.exp(values, out=values)
