"""A loss with a model under it: value and gradient, or value and the two weights of boosting, of coefficients.

A solver asks an objective for

- ``value_and_gradient(coef)``,
- ``value_and_weights(coef)``: the loss and, for every coefficient, Σ q·[π]₊ and Σ q·[−π]₊ over the edges, where π is
  the change of its base ranker along the edge,
- ``largest_change``: the largest Σ_j |π_j| of an edge, which bounds the step of boosting,
- ``units``: about the root of the second derivative of the mean loss along the coefficients of each feature,
- ``total_weight``: what to divide by to speak of a mean loss; ``n_scores``, the number of scores.

Rows are worked off in blocks that stay in the cache, so that memory beyond data and coefficients does not grow with
them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cached_property
from typing import Any, cast

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from scipy import sparse

from labelrank.losses.covering import CoveringLoss
from labelrank.losses.log_linear import FloatArray, LogLinearLoss


def mean_bend(loss: LogLinearLoss | CoveringLoss) -> float:
    """Mean of q/2 over labels and some instances, at scores of zero, q being the flow through a label.

    It is the second derivative of log(1 + e^f), and close to that of log(1 + Σ e^f).
    """
    rows = np.flatnonzero(loss.counted)
    if not len(rows):
        return 1.0
    first = int(rows[0])
    last = min(first + 512, loss.shape[0])
    inflow, outflow = np.zeros((last - first, loss.shape[1])), np.empty((last - first, loss.shape[1]))
    loss.flows(first, last, inflow, outflow)
    weight = loss.weight[rows[rows < last]].sum() * loss.shape[1]
    return float((inflow.sum() + outflow.sum()) / (2 * weight)) or 1.0


class LinearObjective:
    """Scores ``X @ coef``: one block of coefficients per label.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Instances.
    loss : LogLinearLoss or CoveringLoss
        What is paid.
    fit_intercept : bool
        Whether a constant feature, the last row of the coefficients, is added.
    n_jobs : int or None
        Threads over blocks of rows.
    """

    def __init__(
        self, X: Any, loss: LogLinearLoss | CoveringLoss, *, fit_intercept: bool = True, n_jobs: int | None = None
    ) -> None:
        self.is_sparse = bool(sparse.issparse(X))
        if self.is_sparse and not X.has_canonical_format:  # the sign of an entry that is stored in parts is unknown
            X = X.copy()
            X.sum_duplicates()
        self.X, self.loss, self.fit_intercept = X, loss, fit_intercept
        self.n_jobs = effective_n_jobs(n_jobs)
        self.n_features = X.shape[1]
        self.coef_shape = (self.n_features + fit_intercept, loss.shape[1])
        values = X.data if self.is_sparse else X
        self.has_negative = bool(values.size) and bool(values.min() < 0)

    @property
    def total_weight(self) -> float:
        """Sum of the weights of the instances that have a say."""
        return float(self.loss.weight[self.loss.counted].sum())

    @cached_property
    def largest_change(self) -> float:
        """Largest ‖x‖₁, times the number of blocks of coefficients that an edge touches."""
        rows = np.flatnonzero(self.loss.counted)
        if not len(rows):
            return 1.0
        norms = np.zeros(self.X.shape[0])
        for first, last in self._blocks(0, self.X.shape[0]):
            part = abs(self.X[first:last]).sum(axis=1)
            norms[first:last] = np.asarray(part).ravel()
        return float(self.loss.blocks_per_edge * (norms[rows].max() + self.fit_intercept)) or 1.0

    @property
    def n_scores(self) -> int:
        """Number of scores of the instances that have a say."""
        return int(self.loss.counted.sum()) * self.loss.shape[1]

    @cached_property
    def units(self) -> FloatArray:
        """About the root of the second derivative of the mean loss along the coefficients of each feature.

        Of shape (n_features [+ 1],): the root of the mean square of the feature, times that of the curvature of the
        loss at scores of zero. Features are divided by their largest value before they are squared.
        """
        share = np.where(self.loss.counted, self.loss.weight, 0.0) / (self.total_weight or 1.0)
        largest, squares = np.zeros(self.n_features), np.zeros(self.n_features)
        for first, last in self._blocks(0, self.X.shape[0]):
            top = abs(self.X[first:last]).max(axis=0)
            np.maximum(largest, top.toarray().ravel() if self.is_sparse else top, out=largest)
        scale = np.where(largest > 0, largest, 1.0)
        for first, last in self._blocks(0, self.X.shape[0]):
            part = self.X[first:last]
            part = part.multiply(1 / scale).power(2) if self.is_sparse else (part / scale) ** 2
            squares += part.T @ share[first:last]
        units = scale * np.sqrt(mean_bend(self.loss) * squares)
        return np.append(units, np.sqrt(mean_bend(self.loss))) if self.fit_intercept else units

    def value_and_gradient(self, coef: FloatArray) -> tuple[float, FloatArray]:
        """Loss and its gradient, of shape (n_features [+ 1], n_labels)."""
        value, sums = self._over_rows(coef, signed=False)
        return value, sums[0]

    def value_and_weights(self, coef: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Loss, W⁺ and W⁻, of shape (n_features [+ 1], n_labels)."""
        value, sums = self._over_rows(coef, signed=True)
        return value, sums[0], sums[1]

    # -----------------------------------------------------------------------------------------------------------

    def _over_rows(self, coef: FloatArray, *, signed: bool) -> tuple[float, list[FloatArray]]:
        n = self.X.shape[0]
        parts = min(self.n_jobs, max(1, n // 256))
        bounds = [n * p // parts for p in range(parts + 1)]
        work: Callable[..., tuple[float, list[FloatArray]]] = self._by_labels
        if self.loss.by_members:
            work, coef = self._by_members, np.ascontiguousarray(coef.T)
        jobs = (delayed(work)(coef, first, last, signed) for first, last in itertools.pairwise(bounds))
        results = Parallel(n_jobs=parts, prefer="threads")(jobs) if parts > 1 else [work(coef, 0, n, signed)]
        value = sum(result[0] for result in results)
        sums = results[0][1]
        for _, others in results[1:]:
            for total, other in zip(sums, others, strict=True):
                total += other
        if self.loss.by_members:
            sums = [np.ascontiguousarray(total.T) for total in sums]
        return float(value), sums

    def _blocks(self, first: int, last: int) -> list[tuple[int, int]]:
        # A block of scores fits the cache; dense products want a few hundred rows to be efficient.
        rows = max(16, 2**15 // max(self.loss.shape[1], 1))
        if not self.is_sparse:
            rows = max(512, rows)
        return [(start, min(start + rows, last)) for start in range(first, last, rows)]

    def _by_labels(self, coef: FloatArray, first: int, last: int, signed: bool) -> tuple[float, list[FloatArray]]:
        """Scores of all labels, block by block."""
        from labelrank._kernels.models import products

        d, is_sparse = self.n_features, self.is_sparse
        sums = [np.zeros(self.coef_shape) for _ in range(1 + signed)]
        blocks = self._blocks(first, last)
        outflow_of_block = np.empty((blocks[0][1] - blocks[0][0] if blocks else 0, coef.shape[1]))
        scores_of_block = np.empty_like(outflow_of_block)
        value = 0.0
        for start, stop in blocks:
            scores, outflow = scores_of_block[: stop - start], outflow_of_block[: stop - start]
            if is_sparse:
                scores[:] = coef[d] if self.fit_intercept else 0.0
                csr = (self.X.indptr, self.X.indices, self.X.data, start, stop)
                products.csr_scores(*csr, coef, scores)
            else:
                np.matmul(self.X[start:stop], coef[:d], out=scores)
                if self.fit_intercept:
                    scores += coef[d]
            value += self.loss.flows(start, stop, scores, outflow)
            inflow = scores
            if not signed:
                gradient = np.subtract(inflow, outflow, out=inflow)
                if is_sparse:
                    products.csr_add(*csr, gradient, sums[0])
                else:
                    sums[0][:d] += self.X[start:stop].T @ gradient
                if self.fit_intercept:
                    sums[0][d] += gradient.sum(axis=0)
                continue
            if is_sparse and self.has_negative:
                products.csr_add_signed(*csr, inflow, outflow, *sums)
            elif is_sparse:
                products.csr_add(*csr, inflow, sums[0])
                products.csr_add(*csr, outflow, sums[1])
            else:
                self._add_signed(self.X[start:stop], inflow, outflow, *(total[:d] for total in sums))
            if self.fit_intercept:
                sums[0][d] += inflow.sum(axis=0)
                sums[1][d] += outflow.sum(axis=0)
        return value, sums

    def _add_signed(self, X: Any, inflow: Any, outflow: Any, positive: Any, negative: Any) -> None:
        """W⁺ += [X]₊ᵀ T + [X]₋ᵀ I, W⁻ += [X]₊ᵀ I + [X]₋ᵀ T."""
        upper = np.maximum(X, 0) if self.has_negative else X
        positive += upper.T @ inflow
        negative += upper.T @ outflow
        if self.has_negative:
            lower = upper - X
            positive += lower.T @ outflow
            negative += lower.T @ inflow

    def _by_members(self, coef: FloatArray, first: int, last: int, signed: bool) -> tuple[float, list[FloatArray]]:
        """Scores of the labels that the subgraphs name; `coef` and sums have shape (n_labels, n_features [+ 1])."""
        from labelrank._kernels.models import products

        d, loss = self.n_features, cast(LogLinearLoss, self.loss)  # the only one with members
        ptr, members = loss.subgraphs.member_ptr, loss.subgraphs.members
        sums = [np.zeros(coef.shape) for _ in range(1 + signed)]
        value = 0.0
        rows = 4096
        for start in range(first, last, rows):
            stop = min(start + rows, last)
            named = members[ptr[start] : ptr[stop]]
            f = np.empty(len(named))
            inflow, outflow = np.empty_like(f), np.empty_like(f)
            at = (start, stop, ptr, members)
            if self.is_sparse:
                csr = (self.X.indptr, self.X.indices, self.X.data)
                products.csr_scores_at(*csr, coef, *at, f)
            else:
                products.dense_scores_at(self.X, coef, *at, f)
            if self.fit_intercept:
                f += coef[named, d]
            value += loss.member_flows(start, stop, f, inflow, outflow)
            flows = (inflow, outflow) if signed else (inflow - outflow,)
            if self.is_sparse:
                (products.csr_add_signed_at if signed else products.csr_add_at)(*csr, *at, *flows, *sums)
            else:
                (products.dense_add_signed_at if signed else products.dense_add_at)(self.X, *at, *flows, *sums)
            if self.fit_intercept:
                for total, flow in zip(sums, flows, strict=True):
                    total[:, d] += np.bincount(named, weights=flow, minlength=len(total))
        return value, sums


class BaseRankerObjective:
    """Scores ``h @ coef`` of base rankers h that depend on the instance and on the label: the general form.

    Parameters
    ----------
    base : ndarray of shape (n_samples, n_labels, n_base)
        Values of the base rankers.
    loss : LogLinearLoss
        What is paid.
    """

    def __init__(self, base: FloatArray, loss: LogLinearLoss) -> None:
        self.base, self.loss = base, loss
        self.coef_shape = (base.shape[2],)

    @property
    def total_weight(self) -> float:
        """Sum of the weights of the instances that have a say."""
        return float(self.loss.weight[self.loss.counted].sum())

    @cached_property
    def largest_change(self) -> float:
        """Largest 1-norm, over the edges, of ``h(term) − h(init)``."""
        from labelrank._kernels.losses.log_linear import largest_change

        largest = 0.0
        s = self.loss.subgraphs
        for row in np.flatnonzero(self.loss.counted):
            where = (row, row + 1, s.members, s.subgraph_ptr, s.block_ptr)
            sides = (s.better_start, s.better_stop, s.worse_start, s.worse_stop)
            largest = max(largest, float(largest_change(*where, *sides, self.base[row : row + 1])))
        return largest or 1.0

    @property
    def n_scores(self) -> int:
        """Number of scores of the instances that have a say."""
        return int(self.loss.counted.sum()) * self.base.shape[1]

    @cached_property
    def units(self) -> FloatArray:
        """About the root of the second derivative of the mean loss along each coefficient, of shape (n_base,)."""
        share = np.where(self.loss.counted, self.loss.weight, 0.0) / (self.total_weight or 1.0)
        largest = np.abs(self.base).max(axis=(0, 1), initial=0.0)
        base = self.base / np.where(largest > 0, largest, 1.0)
        return np.asarray(largest * np.sqrt(mean_bend(self.loss) * np.einsum("i,ilb,ilb->b", share, base, base)))

    def value_and_gradient(self, coef: FloatArray) -> tuple[float, FloatArray]:
        """Loss and its gradient, of shape (n_base,)."""
        scores = self.base @ coef
        outflow = np.empty_like(scores)
        value = self.loss.flows(0, len(scores), scores, outflow)
        return value, np.tensordot(scores - outflow, self.base, axes=2)

    def value_and_weights(self, coef: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Loss, W⁺ and W⁻, of shape (n_base,)."""
        from labelrank._kernels.losses.log_linear import pair_weights

        s = self.loss.subgraphs
        rows = np.repeat(np.arange(s.n_instances), np.diff(s.member_ptr))
        f = (self.base @ coef)[rows, s.members]
        positive, negative = np.zeros(self.coef_shape), np.zeros(self.coef_shape)
        first, last, *blocks = self.loss.blocks(0, len(self.base))
        value = pair_weights(first, last, s.members, *blocks, self.loss.weight, f, self.base, positive, negative)
        return float(value), positive, negative
