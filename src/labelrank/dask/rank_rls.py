r"""RankRLS on a cluster: the system of the pairs is a sum over partitions, also if groups span several of them.

A partition centers its items within groups and adds up their products. The parts of a group that is cut by partitions
differ by their means, which the client adds: items with the weight of a part, centered within the group.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import blas

from labelrank import rankers
from labelrank._arrays import FloatArray
from labelrank.dask.client import results, send
from labelrank.dask.estimator import DaskEstimatorMixin
from labelrank.dask.inputs import blocks_of, check_aligned
from labelrank.dask.partitions import Partitions, Source, added
from labelrank.dask.validation import Shard, about_partition
from labelrank.losses.squared import GroupedSquaredLoss
from labelrank.models.gram import Kernel
from labelrank.rankers.rank_rls import Prepared, warn_no_pairs
from labelrank.solvers.least_squares.basis import basis_factor, check_basis, draw_basis
from labelrank.solvers.least_squares.items import ItemSystem, between_parts, primal_system, products
from labelrank.solvers.least_squares.ridge import LARGEST
from labelrank.supervision.vectors import object_array


class RankRLS(DaskEstimatorMixin, rankers.RankRLS):
    """:class:`labelrank.RankRLS` on the partitions of a Dask cluster, with a linear kernel or a basis.

    Groups may span partitions. Without a basis the features are solved for (``route_="primal"``), of which sparse ones
    may be up to 8,192; with `n_basis`, or rows listed as `basis`, any kernel works. Other kernels compare all pairs of
    items, and are for local data only.

    Parameters
    ----------
    client : distributed.Client, optional
        The cluster; by default the current client or, if there is none, a local cluster for the time of ``fit``.
    **params
        Those of :class:`labelrank.RankRLS`.
    """

    def _prepare(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Prepared:
        if not isinstance(X, Source):
            return super()._prepare(X, y, sample_weight, groups)
        kernel = Kernel.of(self)
        has_basis = self.n_basis is not None or not isinstance(self.basis, str)
        self._check_route(kernel, has_basis)
        data: Partitions = self._validate(X, y, sample_weight)
        names = _aligned_groups(X, data, groups)
        known = _Groups(results(data.client, data.map(_group_sums, names, data.kept, weighting=self.weighting)))
        if not known.has_pairs:
            warn_no_pairs()
        if has_basis:
            self.route_ = "basis"
            kernel = _fitted(kernel, data)
            if kernel.has_gamma:
                self.gamma_ = kernel.gamma
            inner = self._distributed_basis(data, kernel)
            factor, kept = basis_factor(inner)
            independent: Any = send(data.client, self.basis_[kept])
            n_coef = len(inner)
        else:
            self.route_, factor, independent, n_coef = "primal", None, None, self.n_features_in_
            kept = np.arange(n_coef)
            if sparse.issparse(data.head().X) and n_coef > LARGEST:
                raise ValueError(
                    f"X has {n_coef:,} sparse features, but at most {LARGEST:,} are supported in partitions; use "
                    "n_basis, or fewer features"
                )
        parts = data.map(
            _system, names, known.totals, kernel=kernel, basis=independent, factor=factor, weighting=self.weighting
        )
        gram, target, means = data.sum(parts, added)
        _add_between_parts(gram, target, means, factor)
        system = ItemSystem(np.asfortranarray(gram), target, n_coef, kept, factor)
        return Prepared(X.X, known, system, None)  # type: ignore[arg-type]

    def _check_route(self, kernel: Kernel, has_basis: bool) -> None:
        if kernel.is_precomputed:
            raise ValueError(
                "kernel='precomputed' has a column for each row, which partitioned data do not support; pass features"
            )
        if isinstance(self.basis, str) and self.basis == "kmeans":
            raise ValueError("basis='kmeans' needs all rows in one place; use basis='random', or list rows of X")
        if not kernel.is_linear and not has_basis:
            raise ValueError(
                f"kernel={self.kernel!r} compares all pairs of items, which partitioned data do not support; pass "
                "n_basis, or use kernel='linear'"
            )

    def _distributed_basis(self, data: Partitions, kernel: Kernel) -> FloatArray:
        """Set the basis, the rows that are listed or drawn as the local class draws them; return its kernel matrix."""
        weighted = np.concatenate(results(data.client, data.map(_weighted)))
        listed = check_basis(self.basis, self.n_basis, weighted)
        if listed is None:
            listed = draw_basis(int(self.n_basis or 0), np.flatnonzero(weighted), self.random_state)
        self.basis_indices_ = listed
        self.basis_ = data.take(listed)
        return kernel(self.basis_, self.basis_)


class _Groups:
    """Groups of all partitions, which ``fit`` of the local class gets in place of the loss."""

    def __init__(self, parts: list[_Sums]) -> None:
        code: dict[Any, int] = {}
        of_part = [np.array([code.setdefault(n, len(code)) for n in part.names], dtype=np.intp) for part in parts]
        every = np.concatenate(of_part)
        self.n_groups = len(code)
        sums: Any = (
            np.bincount(every, np.concatenate(values), self.n_groups)
            for values in zip(*((p.items, p.weight, p.square, np.ones(len(p.names))) for p in parts), strict=True)
        )
        items, weight, square, count = sums
        self.has_pairs = bool((items > 1).any())
        self.totals = [  # of the groups of each partition: which of them are cut, and their sums
            _Totals(codes, (count > 1)[codes], weight[codes], square[codes]) for codes in of_part
        ]


class _Sums(NamedTuple):
    """Sums of the items of each group in a partition."""

    names: list[Any]
    items: FloatArray
    weight: FloatArray
    square: FloatArray  # of the squared weights


class _Totals(NamedTuple):
    """For each group in a partition: its number, whether other partitions have items of it, and sums over all."""

    code: Any
    is_cut: Any
    weight: FloatArray
    square: FloatArray


def _aligned_groups(source: Source, data: Partitions, groups: Any) -> list[Any]:
    """The groups of the items of each shard: futures, or None for a single group."""
    if groups is None:
        return [None] * len(data.futures)
    blocks = blocks_of(groups, "groups")
    check_aligned([blocks_of(source.X, "X"), blocks])
    futures = data.client.compute(blocks.parts)
    return [futures[i] for i in data.kept]


def _fitted(kernel: Kernel, data: Partitions) -> Kernel:
    """The kernel with a number for `gamma`, computed from all rows."""
    if not isinstance(kernel.gamma, str) or not kernel.has_gamma:
        return kernel
    if kernel.gamma == "auto":
        return kernel.fitted(data.head().X)
    weight, total = data.sum(data.map(_moment, center=0.0, power=1), added)
    mean = total / weight if weight else 0.0
    _, square = data.sum(data.map(_moment, center=mean, power=2), added)
    return kernel.scaled(square / weight if weight else 0.0, data.head().X.shape[1])


def _add_between_parts(gram: Any, target: Any, means: list[Any], factor: FloatArray | None) -> None:
    """Add the products of the means of the parts of groups that are cut by partitions."""
    if not means:
        return
    block, y = between_parts(means)
    if factor is not None:
        block = blas.dtrsm(1.0, factor, block.T, lower=1).T
    gram += block.T @ block
    target += block.T @ y


# --- On workers


def _loss(shard: Shard, groups: Any, weighting: Any) -> GroupedSquaredLoss:
    y: Any = shard.graphs  # the scores of the items
    return GroupedSquaredLoss(y, groups, shard.weight, weighting)


def _group_sums(shard: Shard, groups: Any, at: int, weighting: Any) -> _Sums:
    with about_partition(at):
        loss = _loss(shard, groups, weighting)
    first = loss.start[:-1]
    items = np.asarray(groups, dtype=object) if groups is not None else np.zeros(len(shard.weight), dtype=object)
    if items.ndim > 1:  # a group is named by several columns
        items = object_array(map(tuple, items.tolist()))
    sums = (np.add.reduceat(x, first) if len(first) else np.empty(0) for x in (loss.weight, loss.weight**2))
    return _Sums(items[loss.order[first]].tolist(), np.diff(loss.start).astype(float), *sums)


def _system(
    shard: Shard, groups: Any, totals: _Totals, kernel: Kernel, basis: Any, factor: Any, weighting: Any
) -> tuple[FloatArray, FloatArray, list[Any]]:
    """Products of the items of a partition, and the means of the groups that other partitions have items of."""
    loss = _loss(shard, groups, weighting)
    if totals.is_cut.any():
        whole = totals.weight
        if weighting == "groups":
            pairs = np.maximum(whole**2 - totals.square, 0.0) / 2
            whole = np.divide(whole, pairs, out=np.zeros(len(pairs)), where=pairs > 0)
        scale = np.sqrt(whole[loss.code] * loss.weight)
        loss.scale = np.where(totals.is_cut[loss.code], scale, loss.scale)
        vars(loss).pop("share", None)
        loss.target = loss.differences(loss.y)
    items = shard.X[loss.order]
    if basis is None:
        system, rows = primal_system(items, loss)
        gram, target = np.asarray(system.gram), system.target
    else:
        rows = functools.partial(_kernel_rows, kernel, items, basis)
        gram, target = products(rows, loss, basis.shape[0], factor)
    means = []
    for q in np.flatnonzero(totals.is_cut):
        part = slice(int(loss.start[q]), int(loss.start[q + 1]))
        weight = loss.scale[part] ** 2
        if weight.sum() > 0:
            mean = np.average(rows(part), axis=0, weights=weight)
            means.append((int(totals.code[q]), weight.sum(), np.average(loss.y[part], weights=weight), mean))
    return gram, target, means


def _kernel_rows(kernel: Kernel, items: Any, basis: Any, part: slice) -> FloatArray:
    return kernel(items[part], basis)


def _weighted(shard: Shard) -> Any:
    return shard.weight > 0


def _moment(shard: Shard, center: float, power: int) -> tuple[float, float]:
    """Sum of the weights, and weighted sum of a moment of the entries of the rows."""
    rows = shard.weight > 0
    X, weight = shard.X[rows], shard.weight[rows]
    thin: bool = sparse.issparse(X)
    if thin:
        zeros = 1.0 - np.diff(X.indptr) / X.shape[1]
        X = X.copy()
        X.data = (X.data - center) ** power
        moment = np.ravel(X.sum(axis=1)) / X.shape[1] + zeros * (-center) ** power
    else:
        moment = ((X - center) ** power).mean(axis=1)
    return float(weight.sum()), float(weight @ moment)
