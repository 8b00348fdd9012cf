"""Where the scores of dual ascent come from: dense features, sparse features, or a kernel matrix.

A model is that of the duals: the coefficients are sums of instances times duals. Each has the layout in which its epoch
reads neighbouring numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from labelrank.losses.soft_margin import SoftMarginLoss

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]


class Part(Protocol):
    """Some of the instances of a model."""

    def scores(self) -> FloatArray:
        """Scores of the labels."""

    def response(self, held: FloatArray) -> FloatArray:
        """What the scores change by when the instances contribute `held` more."""


class ScoreModel(Protocol):
    """What gives the scores."""

    @property
    def n_features(self) -> int:
        """Length of the vectors of `features`."""

    def features(self) -> FloatArray:
        """Vectors of the instances whose inner products are those of the model."""

    def restore(self, loss: SoftMarginLoss, duals: FloatArray) -> None:
        """Become the model of the given duals."""

    def epoch(self, order: IntArray, *args: Any) -> float:
        """Visit the instances in `order`; the sum of the gaps found."""

    def scores(self, rows: slice) -> FloatArray:
        """Scores of the labels for some instances."""

    def squared_norm(self, loss: SoftMarginLoss, duals: FloatArray) -> float:
        """‖w‖²."""

    def weights(self, loss: SoftMarginLoss, duals: FloatArray) -> tuple[FloatArray, ...]:
        """A copy of what scores are made of."""

    def part(self, rows: IntArray) -> Part:
        """Some of the instances."""

    def add(self, rows: IntArray, held: FloatArray) -> None:
        """Let some instances contribute `held` of shape (n_rows, n_labels) more."""


@dataclass
class LinearPart:
    """Some instances of a linear model; coef has shape (n_features, n_labels)."""

    X: Any
    coef: FloatArray
    bias: FloatArray
    constant: float

    def scores(self) -> FloatArray:
        """Scores of the labels."""
        return np.asarray(self.X @ self.coef + self.constant * self.bias)

    def response(self, held: FloatArray) -> FloatArray:
        """What the scores change by when the instances contribute `held` more."""
        return np.asarray(self.X @ (self.X.T @ held) + self.constant**2 * held.sum(axis=0))


@dataclass
class GramPart:
    """Some instances of a kernel model."""

    gram: FloatArray
    cache: FloatArray

    def scores(self) -> FloatArray:
        """Scores of the labels."""
        return np.array(self.cache, order="C")

    def response(self, held: FloatArray) -> FloatArray:
        """What the scores change by when the instances contribute `held` more."""
        return np.asarray(self.gram @ held)


class DenseModel:
    """Linear scores of dense features; coef has shape (n_labels, n_features)."""

    X: Any

    def __init__(self, X: npt.NDArray[Any], constant: float, n_labels: int) -> None:
        self.X, self.constant = X, constant
        self.norm = _finite(np.einsum("ij,ij->i", X, X, dtype=np.float64) + constant**2)
        self.coef, self.bias = np.zeros((n_labels, X.shape[1])), np.zeros(n_labels)

    @property
    def n_features(self) -> int:
        """Length of the vectors of `features`."""
        return int(self.X.shape[1]) + (self.constant != 0.0)

    def features(self) -> FloatArray:
        """The instances as dense vectors, the constant included."""
        X = self.X if isinstance(self.X, np.ndarray) else self.X.toarray()
        columns = [X, np.full(len(X), self.constant)] if self.constant else [X]
        return np.column_stack(columns).astype(np.float64, copy=False)

    def restore(self, loss: SoftMarginLoss, duals: FloatArray) -> None:
        """Become the model of the given duals."""
        self.coef[:], self.bias[:] = 0.0, 0.0
        for rows in loss.blocks():
            held = _collected(loss, duals, rows)
            self.coef += held.T @ self.X[rows]
            self.bias += self.constant * held.sum(axis=0)

    def epoch(self, order: IntArray, *args: Any) -> float:
        """Visit the instances in `order`; the sum of the gaps found."""
        from labelrank._kernels.solvers.soft_projection.ascent import epoch_dense

        return float(epoch_dense(self.X, self.constant, self.norm, self.coef, self.bias, order, *args))

    def scores(self, rows: slice) -> FloatArray:
        """Scores of the labels for some instances."""
        return np.asarray(self.X[rows] @ self.coef.T + self.constant * self.bias)

    def squared_norm(self, loss: SoftMarginLoss, duals: FloatArray) -> float:
        """‖w‖², the bias included."""
        return float(np.vdot(self.coef, self.coef) + self.bias @ self.bias)

    def part(self, rows: IntArray) -> LinearPart:
        """Some of the instances."""
        return LinearPart(self.X[rows], self.coef.T, self.bias, self.constant)

    def add(self, rows: IntArray, held: FloatArray) -> None:
        """Let some instances contribute `held` of shape (n_rows, n_labels) more."""
        self.coef += held.T @ self.X[rows]
        self.bias += self.constant * held.sum(axis=0)

    def weights(self, loss: SoftMarginLoss, duals: FloatArray) -> tuple[FloatArray, ...]:
        """Coefficients of shape (n_labels, n_features), and of the constant."""
        return self.coef.copy(), self.bias.copy()


class SparseModel(DenseModel):
    """Linear scores of a CSR matrix; coef has shape (n_features, n_labels), so that a feature's labels lie together."""

    def __init__(self, X: Any, constant: float, n_labels: int) -> None:
        self.X, self.constant = X, constant
        with np.errstate(over="ignore"):  # which is told in other words
            squares = type(X)((np.square(X.data, dtype=np.float64), X.indices, X.indptr), shape=X.shape)
        self.norm = _finite(np.asarray(squares.sum(axis=1)).ravel() + constant**2)
        self.coef, self.bias = np.zeros((X.shape[1], n_labels)), np.zeros(n_labels)

    def restore(self, loss: SoftMarginLoss, duals: FloatArray) -> None:
        """Become the model of the given duals."""
        self.coef[:], self.bias[:] = 0.0, 0.0
        for rows in loss.blocks():
            held = _collected(loss, duals, rows)
            self.coef += self.X[rows].T @ held
            self.bias += self.constant * held.sum(axis=0)

    def epoch(self, order: IntArray, *args: Any) -> float:
        """Visit the instances in `order`; the sum of the gaps found."""
        from labelrank._kernels.solvers.soft_projection.ascent import epoch_csr

        csr = (self.X.indptr, self.X.indices, self.X.data)
        return float(epoch_csr(*csr, self.constant, self.norm, self.coef, self.bias, order, *args))

    def scores(self, rows: slice) -> FloatArray:
        """Scores of the labels for some instances."""
        return np.asarray(self.X[rows] @ self.coef + self.constant * self.bias)

    def part(self, rows: IntArray) -> LinearPart:
        """Some of the instances."""
        return LinearPart(self.X[rows], self.coef, self.bias, self.constant)

    def add(self, rows: IntArray, held: FloatArray) -> None:
        """Let some instances contribute `held` of shape (n_rows, n_labels) more."""
        self.coef += self.X[rows].T @ held
        self.bias += self.constant * held.sum(axis=0)

    def weights(self, loss: SoftMarginLoss, duals: FloatArray) -> tuple[FloatArray, ...]:
        """Coefficients of shape (n_labels, n_features), and of the constant."""
        return np.array(self.coef.T, order="C"), self.bias.copy()


class GramModel:
    """Scores by a kernel matrix, all of them kept: shape (n_labels, n_instances)."""

    def __init__(self, gram: FloatArray, n_labels: int) -> None:
        self.gram = gram
        self.cache = np.zeros((n_labels, len(gram)))
        # Of inner products none is larger than the two norms allow; a squared norm below 0 may turn up later as well.
        self.norm = np.diagonal(gram)
        root = np.sqrt(self.norm)
        self.indefinite = any((abs(row) > (1 + 1e-6) * own * root).any() for row, own in zip(gram, root, strict=True))

    @property
    def n_features(self) -> int:
        """Length of the vectors of `features`."""
        return len(self.gram)

    def features(self) -> FloatArray:
        """Vectors of the instances whose inner products are the kernel matrix."""
        values, vectors = np.linalg.eigh(self.gram)
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))

    def restore(self, loss: SoftMarginLoss, duals: FloatArray) -> None:
        """Become the model of the given duals."""
        self.cache[:] = self.dual_coef(loss, duals).T @ self.gram

    def epoch(self, order: IntArray, *args: Any) -> float:
        """Visit the instances in `order`; the sum of the gaps found."""
        from labelrank._kernels.solvers.soft_projection.ascent import epoch_gram

        return float(epoch_gram(self.gram, self.cache, order, *args))

    def scores(self, rows: slice) -> FloatArray:
        """Scores of the labels for some instances."""
        return np.ascontiguousarray(self.cache[:, rows].T)

    def squared_norm(self, loss: SoftMarginLoss, duals: FloatArray) -> float:
        """‖w‖² in the space of the kernel."""
        products = self.dual_coef(loss, duals).T * self.cache
        square = float(products.sum())
        self.indefinite |= square < -1e-9 * float(abs(products).sum())
        return square

    def part(self, rows: IntArray) -> GramPart:
        """Some of the instances."""
        return GramPart(self.gram[np.ix_(rows, rows)], self.cache[:, rows].T)

    def add(self, rows: IntArray, held: FloatArray) -> None:
        """Let some instances contribute `held` of shape (n_rows, n_labels) more."""
        self.cache += held.T @ self.gram[rows]

    def weights(self, loss: SoftMarginLoss, duals: FloatArray) -> tuple[FloatArray, ...]:
        """What each instance contributes to each label."""
        return (self.dual_coef(loss, duals),)

    def dual_coef(self, loss: SoftMarginLoss, duals: FloatArray) -> FloatArray:
        """What each instance contributes to each label, of shape (n_instances, n_labels)."""
        return _collected(loss, duals, slice(0, loss.shape[0]))


def _finite(norm: FloatArray) -> FloatArray:
    """The squared norms, unless some are too large for a number."""
    if not np.isfinite(norm).all():
        raise ValueError(
            f"row {int(np.argmin(np.isfinite(norm)))} of X is so large that the sum of its squares is not a number; "
            "scale X, for example by sklearn.preprocessing.StandardScaler"
        )
    return norm


def _collected(loss: SoftMarginLoss, duals: FloatArray, rows: slice) -> FloatArray:
    from labelrank._kernels.solvers.soft_projection.ascent import collect

    held = np.empty((rows.stop - rows.start, loss.shape[1]))
    collect(rows.start, rows.stop, duals, held, loss.structure)
    return held
