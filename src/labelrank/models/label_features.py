"""Scores ``h @ coef`` of base rankers h of instance and label, with coefficients that all labels share."""

from __future__ import annotations

from typing import Any

import numpy as np

from labelrank._arrays import FloatArray
from labelrank.losses.base import Loss
from labelrank.models.base import Model


class LabelFeatureModel(Model):
    """Scores that are linear in features of instance and label: the general form of log-linear ranking.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_labels, n_base)
        Values of the base rankers.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank.models import LabelFeatureModel
    >>> model = LabelFeatureModel(np.array([[[1.0, 0.0], [0.0, 1.0]]]))  # one instance, two labels, two base rankers
    >>> model.scores(np.array([2.0, 3.0]), slice(None))
    array([[2., 3.]])
    """

    def __init__(self, X: FloatArray) -> None:
        self.X = X
        self.n_samples, self.n_labels, self.n_penalized = X.shape
        self.coef_shape = (X.shape[2],)

    @property
    def block_rows(self) -> int:
        """Number of rows per block: bounds the memory of the changes along their edges."""
        return max(16, 2**20 // max(1, self.n_labels**2 * self.n_penalized))

    def scores(self, coef: FloatArray, rows: slice) -> FloatArray:
        """Scores of some instances, a new array of shape (n_rows, n_labels)."""
        return np.asarray(self.X[rows] @ coef)

    def add_gradient(self, rows: slice, gradient: FloatArray, total: FloatArray) -> None:
        """Add the gradient with respect to the coefficients to `total`."""
        total += np.tensordot(gradient, self.X[rows], axes=2)

    def add_weights(self, loss: Loss, coef: FloatArray, rows: slice, plus: FloatArray, minus: FloatArray) -> float:
        """Add Σ q·[π]₊ and Σ q·[−π]₊ over the edges, with π = h(term) − h(init); return the loss."""
        edges = loss.edge_flows(self.scores(coef, rows), rows)
        X = self.X[rows]
        change = X[edges.row, edges.worse] - X[edges.row, edges.better]
        plus += edges.flow @ np.maximum(change, 0)
        minus += edges.flow @ np.maximum(-change, 0)
        return edges.value

    def largest_change(self, loss: Loss) -> float:
        """Largest 1-norm, over the edges, of h(term) − h(init)."""
        largest = 0.0
        for a in range(0, self.n_samples, self.block_rows):
            rows = slice(a, a + self.block_rows)
            edges, X = loss.edge_flows(np.zeros((len(self.X[rows]), self.n_labels)), rows), self.X[rows]
            edges_of_counted = loss.counted[rows][edges.row]
            change = np.abs(X[edges.row, edges.worse] - X[edges.row, edges.better]).sum(axis=1)
            largest = max(largest, float(change[edges_of_counted].max(initial=0.0)))
        return largest

    def root_mean_square(self, share: FloatArray) -> FloatArray:
        """Root of the mean square of each base ranker, summed over labels and weighted by `share`."""
        largest = np.abs(self.X).max(axis=(0, 1), initial=0.0)
        X = self.X / np.where(largest > 0, largest, 1.0)  # so that squares do not overflow
        return np.asarray(largest * np.sqrt(np.einsum("i,ilb,ilb->b", share, X, X)))

    def attributes(self, coef: FloatArray) -> dict[str, Any]:
        """``coef_`` of shape (n_base,)."""
        return {"coef_": coef.copy()}

    def coefficients(self, estimator: Any) -> FloatArray:
        """The coefficients of ``coef_``."""
        return np.asarray(estimator.coef_)
