"""Models of dual ascent: coefficients are sums over the duals, with features or with a kernel matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from labelrank._arrays import FloatArray, row_blocks
from labelrank.models import LinearModel, Model
from labelrank.models.gram import Kernel

_TINY = 1e-200  # smallest squared norm; rows of zeros then have duals, but no influence on any score


class GramModel(Model):
    """Scores by the kernel matrix of the training set; the penalty is the squared norm in the space of the kernel.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Instances; the kernel matrix itself if the kernel is precomputed.
    kernel : Kernel
        The kernel.
    n_labels : int
        Number of labels.
    fit_intercept : bool
        Whether 1 is added to the kernel.
    """

    def __init__(self, X: Any, kernel: Kernel, n_labels: int, *, fit_intercept: bool = True) -> None:
        self.X, self.kernel, self.n_labels, self.fit_intercept = X, kernel, n_labels, fit_intercept
        self.gram = kernel.gram(X)
        self.gram += float(fit_intercept)
        if (np.diagonal(self.gram) < 0).any():
            raise ValueError(
                "the kernel matrix has negative numbers on its diagonal, so it is not a matrix of inner products; use "
                "another kernel"
            )
        self.n_samples = self.n_penalized = X.shape[0]
        self.coef_shape = (X.shape[0], n_labels)

    def scores(self, coef: FloatArray, rows: slice) -> FloatArray:
        """Return the scores of some instances."""
        return np.asarray(self.gram[rows] @ coef)

    def attributes(self, coef: FloatArray) -> dict[str, Any]:
        """Return ``support_``, ``dual_coef_`` and the other attributes that the scores need."""
        support = np.flatnonzero(coef.any(axis=1))
        found = {
            "dual_coef_": np.ascontiguousarray(coef[support].T),
            "support_": support,
            "intercept_": float(self.fit_intercept) * coef.sum(axis=0),
        }
        if not self.kernel.is_precomputed:
            found["support_vectors_"] = self.X[support]
        return {**found, "gamma_": self.kernel.gamma} if self.kernel.has_gamma else found


def ascent_of(model: Model) -> LinearAscent:
    """Return the coefficients of a model as needed for dual ascent."""
    if isinstance(model, GramModel):
        return GramAscent(model.gram, model.n_labels)
    if isinstance(model, LinearModel):
        return LinearAscent(model.X, model.n_labels, float(model.fit_intercept))
    raise ValueError(f"solver 'soft_projection' needs a linear model or a kernel matrix, got {type(model).__name__}")


class LinearAscent:
    """Coefficients of linear scores.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_instances, n_features)
        Instances.
    n_labels : int
        Number of labels.
    constant : float
        Value of the feature of the intercept, 0 for none.
    norm : ndarray of shape (n_instances,), optional
        Squared norms of the instances, by default those of the rows of `X`.
    """

    indefinite = False  # whether ‖w‖² was found not to be a norm

    def __init__(self, X: Any, n_labels: int, constant: float, norm: FloatArray | None = None) -> None:
        from labelrank._kernels.solvers.soft_projection import ascent as kernels

        self.X, self.constant = X, constant
        self.shape = (X.shape[0], n_labels)
        self.n_features = int(X.shape[1]) + (constant != 0.0)
        self.bias = np.zeros(n_labels)
        thin: bool = sparse.issparse(X)
        # An epoch reads neighboring numbers: features of a label, or labels of a feature.
        coef = np.zeros((X.shape[1], n_labels) if thin else (n_labels, X.shape[1]))
        self.coef = coef.T if thin else coef
        norm = np.maximum(_squared_norms(X) + constant**2 if norm is None else norm, _TINY)
        if thin:
            self.record: Any = kernels.Csr(X.indptr, X.indices, X.data, norm, coef, self.bias, constant)
            self.epoch = kernels.epoch_csr
        else:
            self.record = kernels.Dense(X, norm, coef, self.bias, constant, False)
            self.epoch = kernels.epoch_dense

    def check_range(self, C: float, blocks: Any, rows: Any) -> None:
        """Raise ValueError if C is so large that the lower limit of the squared norms would change the solution."""
        small = rows[self.record.norm[rows] <= _TINY]
        target = float(np.abs(blocks.gamma).max(initial=0.0)) if len(blocks.gamma) else 1.0
        if len(small) and C * blocks.weight.max(initial=0.0) * _TINY > np.finfo(float).eps * target:
            raise ValueError(
                f"row {small[0]} of X has a squared norm below {_TINY:g}, which is too small for C={C:g}; scale X"
            )

    def restore(self, duals: Any, blocks: Any, factor: FloatArray | None = None) -> None:
        """Compute the coefficients from the duals, those of each instance times a factor if given."""
        self.coef[:], self.bias[:] = 0.0, 0.0
        for rows in row_blocks(*self.shape):
            held = contributions(duals, blocks, rows, self.shape[1])
            held *= 1.0 if factor is None else factor[rows, np.newaxis]
            self.coef += (self.X[rows].T @ held).T
            self.bias += self.constant * held.sum(axis=0)

    def scores(self, rows: slice) -> FloatArray:
        """Return the scores of some instances."""
        return np.asarray(self.X[rows] @ self.coef.T + self.constant * self.bias)

    def squared_norm(self, duals: Any, blocks: Any) -> float:
        """Return ‖w‖², the bias included."""
        return float(np.vdot(self.coef, self.coef) + self.bias @ self.bias)

    def coefficients(self, duals: Any, blocks: Any) -> FloatArray:
        """Return a copy of the coefficients in the shape of the model."""
        return np.vstack([self.coef.T, self.bias]) if self.constant else np.array(self.coef.T, order="C")

    def features(self) -> FloatArray:
        """Return the instances as dense vectors, the constant included."""
        X = self.X if isinstance(self.X, np.ndarray) else self.X.toarray()
        columns = [X, np.full(len(X), self.constant)] if self.constant else [X]
        return np.column_stack(columns).astype(np.float64, copy=False)


class GramAscent(LinearAscent):
    """Coefficients of a kernel: the scores of all instances, of shape (n_labels, n_instances)."""

    def __init__(self, gram: FloatArray, n_labels: int) -> None:
        norm = np.diagonal(gram)
        super().__init__(gram, n_labels, 0.0, norm)
        self.record = self.record._replace(is_gram=True)
        # No inner product exceeds the product of the two norms; a squared norm below 0 may still be found later.
        root = np.sqrt(norm)
        self.indefinite = any((abs(row) > (1 + 1e-6) * own * root).any() for row, own in zip(gram, root, strict=True))

    def scores(self, rows: slice) -> FloatArray:
        """Return the scores of some instances."""
        return np.ascontiguousarray(self.coef[:, rows].T)

    def squared_norm(self, duals: Any, blocks: Any) -> float:
        """Return ‖w‖² in the space of the kernel."""
        products = self.coefficients(duals, blocks).T * self.coef
        square = float(products.sum())
        self.indefinite |= square < -1e-9 * float(abs(products).sum())
        return square

    def coefficients(self, duals: Any, blocks: Any) -> FloatArray:
        """Return the contributions of the instances to the labels, of shape (n_instances, n_labels)."""
        return contributions(duals, blocks, slice(0, self.shape[0]), self.shape[1])

    def features(self) -> FloatArray:
        """Return vectors whose inner products are the kernel matrix."""
        values, vectors = np.linalg.eigh(self.X)
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def contributions(duals: Any, blocks: Any, rows: slice, n_labels: int) -> FloatArray:
    """Return Σα − Σβ of each label for some instances."""
    from labelrank._kernels.solvers.soft_projection.ascent import collect

    held = np.empty((rows.stop - rows.start, n_labels))
    collect(rows.start, duals, blocks, held)
    return held


def _squared_norms(X: Any) -> FloatArray:
    with np.errstate(over="ignore"):
        if isinstance(X, np.ndarray):
            norm = np.einsum("ij,ij->i", X, X, dtype=np.float64)
        else:
            squares = type(X)((np.square(X.data, dtype=np.float64), X.indices, X.indptr), shape=X.shape)
            norm = np.asarray(squares.sum(axis=1)).ravel()
    if not np.isfinite(norm).all():
        raise ValueError(
            f"row {int(np.argmin(np.isfinite(norm)))} of X is so large that the sum of its squares overflows; scale X, "
            "for example by sklearn.preprocessing.StandardScaler"
        )
    return norm
