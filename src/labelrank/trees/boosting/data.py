"""Training data of boosted trees, as needed before the first tree grows."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np

from labelrank._arrays import BoolArray, FloatArray, IntArray, row_blocks
from labelrank.losses import Loss
from labelrank.supervision import PreferenceGraphs
from labelrank.trees.boosting.binning import Binning, Column, columns_of, edges_of
from labelrank.trees.boosting.prediction import Trees, add_scores
from labelrank.trees.boosting.rows import ENTRIES, BoostedRows
from labelrank.trees.data import has_missing

MakeLoss = Callable[[PreferenceGraphs, FloatArray], Loss]


class BoostingData:
    """Training data on one machine; all methods are sums over rows, or act on each row separately.

    For data that are partitioned over a cluster, another class has these methods; see
    :class:`labelrank.dask.boosting.PartitionedData`.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Instances.
    graphs : PreferenceGraphs of shape (n_samples, n_labels)
        Observed preferences.
    weight : ndarray of shape (n_samples,)
        Weights of the instances.
    make_loss : callable
        Returns a loss, given graphs and weights.
    """

    def __init__(self, X: Any, graphs: PreferenceGraphs, weight: FloatArray, make_loss: MakeLoss) -> None:
        self.X, self.graphs, self.weight, self.make_loss = X, graphs, weight, make_loss
        self.loss = make_loss(graphs, weight)
        self.n_labels = graphs.shape[1]
        self.validation: Loss | None = None
        self.order: IntArray | None = None

    def counted(self) -> BoolArray:
        """Which instances have an observed pair and a positive weight."""
        return self.loss.counted

    def weights(self) -> tuple[float, float, int]:
        """Largest weight; total weight and number of the counted instances."""
        counted = self.loss.counted
        return float(self.weight.max(initial=0.0)), float(self.weight[counted].sum()), int(counted.sum())

    def has_missing(self) -> BoolArray:
        """Which features have missing values."""
        return has_missing(self.X)

    def columns(self, rows: IntArray, first: int = 0, last: int | None = None) -> Iterator[Column]:
        """Distinct values of the features `first` to `last` in some rows."""
        sample: Any = self.X if len(rows) == self.X.shape[0] else self.X[rows]
        sample = sample.tocsc() if hasattr(sample, "tocsc") else sample
        return columns_of(sample[:, first:last], self.weight[rows])

    def edges(self, rows: IntArray, is_categorical: BoolArray, max_bins: int) -> Iterator[tuple[FloatArray, int]]:
        """Edges of the bins of each feature in some rows, and the number of its distinct values."""
        for column, categorical in zip(self.columns(rows), is_categorical, strict=True):
            yield edges_of(column, categorical, max_bins), len(column.values)

    def split(self, train: IntArray, held_out: IntArray) -> Self:
        """Return the data with the given training rows and held-out rows; other rows are left out."""
        data = copy.copy(self)
        if len(train) < len(self.graphs):
            data.order = np.concatenate([train, held_out])
            data.loss = self.make_loss(self.graphs[train], self.weight[train])
            if len(held_out):
                data.validation = self.make_loss(self.graphs[held_out], self.weight[held_out])
        return data

    def curvature(self) -> FloatArray:
        """Sums of the positive curvatures of the training rows at scores of zero, and of their weights."""
        total = np.zeros(2)
        for rows in row_blocks(*self.loss.shape, ENTRIES):
            scores = np.zeros((len(self.loss.weight[rows]), self.n_labels))
            out = np.empty_like(scores)
            self.loss.curvature(scores, out, rows)
            total += out.sum(), self.loss.weight[rows] @ (out > 0).sum(axis=1)
        return total

    def measures(self) -> FloatArray:
        """Number of entries of X; weights of the training rows and of the held-out rows."""
        n_entries = self.X.nnz if hasattr(self.X, "tocsc") else self.X.size
        held_out = 0.0 if self.validation is None else self.validation.total_weight
        return np.array([n_entries, self.loss.total_weight, held_out])

    def value_and_gradient(self, scores: FloatArray) -> FloatArray:
        """Loss of the training rows if all have the same scores, followed by its gradient."""
        total = np.zeros(1 + self.n_labels)
        for rows in row_blocks(*self.loss.shape, ENTRIES):
            same = np.tile(scores, (len(self.loss.weight[rows]), 1))
            out = np.empty_like(same)
            total[0] += self.loss.value_and_gradient(same, out, rows)
            total[1:] += out.sum(axis=0)
        return total

    def rows(self, binning: Binning, baseline: FloatArray, trees: Trees, n_jobs: int | None = None) -> BoostedRows:
        """Binned rows, with the scores of a model with existing trees."""
        X = self.X if self.order is None else self.X[self.order]
        scores = np.tile(baseline, (X.shape[0], 1))
        if (n_trees := len(trees.offsets) - 1) > 0:
            add_scores(trees, binning, X, scores, 0, n_trees, n_jobs)
        return BoostedRows(binning.transform(X), binning, self.loss, self.validation, scores)
