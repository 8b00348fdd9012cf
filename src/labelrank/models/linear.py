"""Linear scores ``X @ coef``: one column of coefficients per label, and an intercept as the last row."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from labelrank._arrays import FloatArray
from labelrank.losses.base import Loss
from labelrank.models.base import Model


class LinearModel(Model):
    """Linear scores of the rows of a dense or sparse matrix.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Instances.
    n_labels : int
        Number of labels.
    fit_intercept : bool
        Whether a constant feature, the last row of the coefficients, is added.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank.models import LinearModel
    >>> model = LinearModel(np.array([[1.0, 2.0]]), n_labels=2)
    >>> model.scores(np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]), slice(None))
    array([[1.5, 2.5]])
    """

    def __init__(self, X: Any, n_labels: int, *, fit_intercept: bool = True) -> None:
        self.is_sparse = bool(sparse.issparse(X))
        if self.is_sparse and not X.has_canonical_format:  # the sign of a sum of duplicates is not that of its parts
            X = X.copy()
            X.sum_duplicates()
        self.X, self.fit_intercept = X, fit_intercept
        self.n_samples, self.n_penalized = X.shape
        self.n_labels = n_labels
        self.coef_shape = (X.shape[1] + bool(fit_intercept), n_labels)

    @cached_property
    def has_negative(self) -> bool:
        """Whether a feature is negative anywhere."""
        values = self.X.data if self.is_sparse else self.X
        return bool(values.size) and bool(values.min() < 0)

    @property
    def block_rows(self) -> int:
        """Number of rows per block; dense products need a few thousand to be efficient."""
        return super().block_rows if self.is_sparse else max(2048, super().block_rows)

    def scores(self, coef: FloatArray, rows: slice) -> FloatArray:
        """Scores of some instances, a new array of shape (n_rows, n_labels)."""
        d = self.n_penalized
        if not self.is_sparse:
            scores = np.asarray(self.X[rows] @ coef[:d])
            if self.fit_intercept:
                scores += coef[d]
            return scores
        first, last, _ = rows.indices(self.n_samples)
        return self._sparse_scores(coef, first, last, np.empty((last - first, self.n_labels)))

    def scores_in(self, coef: FloatArray, rows: slice, scratch: FloatArray) -> FloatArray:
        """Scores of some instances, of a sparse matrix in the memory of `scratch`."""
        if not self.is_sparse or type(self).scores is not LinearModel.scores:  # a subclass may have other scores
            return self.scores(coef, rows)
        first, last, _ = rows.indices(self.n_samples)
        return self._sparse_scores(coef, first, last, scratch[: last - first])

    def _sparse_scores(self, coef: FloatArray, first: int, last: int, out: FloatArray) -> FloatArray:
        from labelrank._kernels.models.products import csr_scores

        out[:] = coef[self.n_penalized] if self.fit_intercept else 0.0
        csr_scores(self._csr, first, last, coef, out)
        return out

    def add_gradient(self, rows: slice, gradient: FloatArray, total: FloatArray) -> None:
        """Add ``X[rows].T @ gradient`` to `total`."""
        d = self.n_penalized
        if self.is_sparse:
            from labelrank._kernels.models.products import csr_add

            csr_add(self._csr, *rows.indices(self.n_samples)[:2], gradient, total)
        else:
            total[:d] += self.X[rows].T @ gradient
        if self.fit_intercept:
            total[d] += gradient.sum(axis=0)

    def add_weights(self, loss: Loss, coef: FloatArray, rows: slice, plus: FloatArray, minus: FloatArray) -> float:
        """Add [X]₊ᵀ T + [X]₋ᵀ I to `plus` and [X]₊ᵀ I + [X]₋ᵀ T to `minus`; return the loss."""
        scores = self.scores(coef, rows)
        inflow, outflow = np.empty_like(scores), np.empty_like(scores)
        value = loss.flows(scores, inflow, outflow, rows)
        if not self.has_negative:
            self.add_gradient(rows, inflow, plus)
            self.add_gradient(rows, outflow, minus)
            return value
        d = self.n_penalized
        if self.is_sparse:
            from labelrank._kernels.models.products import csr_add_signed

            csr_add_signed(self._csr, *rows.indices(self.n_samples)[:2], inflow, outflow, plus, minus)
        else:
            upper = np.maximum(self.X[rows], 0)
            lower = upper - self.X[rows]
            plus[:d] += upper.T @ inflow + lower.T @ outflow
            minus[:d] += upper.T @ outflow + lower.T @ inflow
        if self.fit_intercept:
            plus[d] += inflow.sum(axis=0)
            minus[d] += outflow.sum(axis=0)
        return value

    def largest_change(self, loss: Loss) -> float:
        """Largest ‖x‖₁, times the number of columns of coefficients that an edge depends on."""
        counted = loss.counted
        largest = 0.0
        for a in range(0, self.n_samples, self.block_rows):
            rows = slice(a, a + self.block_rows)
            norms = np.asarray(abs(self.X[rows]).sum(axis=1)).ravel()
            largest = max(largest, float(norms[counted[rows]].max(initial=0.0)))
        return float(loss.blocks_per_edge * (largest + self.fit_intercept)) if counted.any() else 1.0

    def root_mean_square(self, share: FloatArray) -> FloatArray:
        """Root of the mean square of each feature, weighted by `share`; 1 for the intercept."""
        largest, squares = np.zeros(self.n_penalized), np.zeros(self.n_penalized)
        for part, _ in self._weighted_blocks(share):
            top = abs(part).max(axis=0)
            np.maximum(largest, top.toarray().ravel() if self.is_sparse else top, out=largest)
        scale = np.where(largest > 0, largest, 1.0)  # so that squares do not overflow
        for part, weight in self._weighted_blocks(share):
            part = part.multiply(1 / scale).power(2) if self.is_sparse else (part / scale) ** 2
            squares += part.T @ weight
        return np.append(scale * np.sqrt(squares), [1.0] * bool(self.fit_intercept))

    def _weighted_blocks(self, weight: FloatArray) -> Iterator[tuple[Any, FloatArray]]:
        """Blocks of the rows of positive weight, and their weights."""
        for a in range(0, self.n_samples, self.block_rows):
            rows = slice(a, a + self.block_rows)
            counted = weight[rows] > 0
            if counted.any():
                yield (self.X[rows] if counted.all() else self.X[rows][counted]), weight[rows][counted]

    def attributes(self, coef: FloatArray) -> dict[str, Any]:
        """``coef_`` of shape (n_labels, n_features) and ``intercept_`` of shape (n_labels,)."""
        d = self.n_penalized
        intercept = coef[d].copy() if self.fit_intercept else np.zeros(self.n_labels)
        return {"coef_": np.ascontiguousarray(coef[:d].T), "intercept_": intercept}

    def coefficients(self, estimator: Any) -> FloatArray:
        """The coefficients of ``coef_`` and ``intercept_``."""
        coef: FloatArray = estimator.coef_.T
        return np.vstack([coef, estimator.intercept_]) if self.fit_intercept else coef

    @property
    def _csr(self) -> tuple[Any, ...]:
        return self.X.indptr, self.X.indices, self.X.data
