r"""Squared errors of score differences: between the labels of an instance, or between the items of a group.

.. math:: L(f) = \sum_{\text{pairs } a, b} c_{ab} \bigl( (t_a - t_b) - (f_a - f_b) \bigr)^2
          = (t - f)^\top \mathcal{L} \, (t - f), \qquad \mathcal{L} = S S^\top

with the Laplacian :math:`\mathcal{L}` of the weighted graph of pairs, which is never built. :math:`S^\top f` are
weighted differences of scores: one for each edge or, where all pairs are observed with equal weights, the difference
of each label or item from the mean.
"""

from __future__ import annotations

import copy
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from labelrank._arrays import FloatArray, pointers
from labelrank.losses.base import ALL, Loss
from labelrank.supervision import PreferenceGraphs
from labelrank.supervision.groups import group_codes

IntArray = npt.NDArray[np.intp]
Weighting = Literal["pairs", "groups"]

_LEAST = 1e-290  # largest product of weights of which sums are still exact


class QuadraticLoss(Loss):
    r"""Base class of squared losses: :math:`\|S^\top t - S^\top f\|^2`.

    A subclass sets ``target``, the array :math:`S^\top t`, and implements ``differences`` and ``divergence``.
    """

    abilities: ClassVar[frozenset[str]] = frozenset({"curvature", "laplacian"})
    target: FloatArray

    def differences(self, scores: FloatArray, rows: slice = ALL) -> FloatArray:
        r"""Return :math:`S^\top f`."""
        raise NotImplementedError

    def divergence(self, z: FloatArray, rows: slice = ALL) -> FloatArray:
        r"""Return :math:`S z`, of the shape of the scores."""
        raise NotImplementedError

    def targets_of(self, rows: slice) -> FloatArray:
        """Return the part of ``target`` that belongs to some rows."""
        return self.target[rows]

    def value_and_gradient(self, scores: FloatArray, out: FloatArray, rows: slice = ALL) -> float:
        """Return the loss of some rows; `out` is overwritten with the gradient."""
        error = self.differences(scores, rows)
        error -= self.targets_of(rows)
        out[:] = 2.0 * self.divergence(error, rows)
        return float(np.vdot(error, error))

    def laplacian(self) -> Self:
        r"""Return the loss with targets of zero: the quadratic form :math:`f^\top \mathcal{L} f`."""
        form = copy.copy(self)
        form.target = np.zeros_like(self.target)
        return form


# --- Labels of instances


class SquaredLoss(QuadraticLoss):
    r"""Squared loss of all observed pairs of labels.

    .. math:: L(f) = \sum_i \frac{w_i}{k_i} \sum_{a < b} c_{ab} \bigl( (t_a - t_b) - (f_a - f_b) \bigr)^2

    over the :math:`k_i` labels observed in instance i. In a ranking :math:`c = 1` for every pair, tied pairs included,
    and t are Borda votes: minus the expected rank of a label among all k labels, if others are missing at random. In
    graphs stored as edges, t differs by :math:`(k + 1) / 3`, the expected difference of two labels, along each edge,
    and c is the weight of the edge.

    Parameters
    ----------
    graphs : PreferenceGraphs of shape (n_instances, n_labels)
        Observed preferences.
    decomposition : None
        Must be None; the loss does not use a decomposition.
    sample_weight : ndarray of shape (n_instances,), optional
        Weights of the instances.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import as_graphs
    >>> from labelrank.losses import SquaredLoss
    >>> loss = SquaredLoss(as_graphs([[1, 2, 3]]))
    >>> loss.value(np.zeros((1, 3)))  # (1 + 1 + 4) / 3
    2.0
    >>> loss.value(np.array([[3.0, 2.0, 1.0]]))
    0.0
    """

    name: ClassVar[str] = "squared"

    def __init__(
        self, graphs: PreferenceGraphs, decomposition: Any = None, sample_weight: FloatArray | None = None
    ) -> None:
        super().__init__(graphs, decomposition, sample_weight)
        k = graphs.shape[1]
        self.observed = graphs.observed()
        self.size = np.maximum(self.observed.sum(axis=1, keepdims=True), 1)
        if graphs.is_ranked:
            self.scale = np.sqrt(self.weight)[:, np.newaxis]
            self.target = self.differences(graphs.votes())
        else:
            edges = graphs.to_edges()
            self.start = pointers(graphs.edge_counts())
            self.better, self.worse = (edges.instance * k + label for label in (edges.better, edges.worse))
            share = self.weight / self.size[:, 0]
            self.scale = np.sqrt(share[edges.instance] * graphs.edge_weights())
            self.target = self.scale * ((k + 1) / 3)

    @cached_property
    def counted(self) -> npt.NDArray[np.bool_]:
        """Instances with two observed labels, tied ones included, and a positive weight."""
        return (self.size[:, 0] > 1) & (self.weight > 0)

    @property
    def is_uniform(self) -> bool:
        """Whether all pairs of labels are observed in all instances of positive weight."""
        return self.graphs.is_ranked and bool((self.observed.all(axis=1) | ~self.counted).all())

    def targets_of(self, rows: slice) -> FloatArray:
        """Return the part of ``target`` that belongs to some instances."""
        return self.target[rows if self.graphs.is_ranked else self._edges(rows)[0]]

    def differences(self, scores: FloatArray, rows: slice = ALL) -> FloatArray:
        r"""Return :math:`S^\top f`: a row per instance in rankings, an entry per edge otherwise."""
        if self.graphs.is_ranked:
            return self._centered(scores, rows)
        part, first = self._edges(rows)
        flat = scores.ravel()
        return np.asarray(self.scale[part] * (flat[self.better[part] - first] - flat[self.worse[part] - first]))

    def divergence(self, z: FloatArray, rows: slice = ALL) -> FloatArray:
        r"""Return :math:`S z`, of shape (n_rows, n_labels)."""
        if self.graphs.is_ranked:
            return self._centered(z, rows)
        part, first = self._edges(rows)
        shape = self.observed[rows].shape
        flow, n = self.scale[part] * z, shape[0] * shape[1]
        flat = np.bincount(self.better[part] - first, flow, n) - np.bincount(self.worse[part] - first, flow, n)
        return np.asarray(flat, dtype=np.float64).reshape(shape)

    def curvature(self, scores: FloatArray, out: FloatArray, rows: slice = ALL) -> None:
        """Write the diagonal of the Hessian with respect to the scores of some instances into `out`."""
        if self.graphs.is_ranked:
            out[:] = np.where(self.observed[rows], 2.0 * self.scale[rows] ** 2 * (1.0 - 1.0 / self.size[rows]), 0.0)
            return
        part, first = self._edges(rows)
        both = np.concatenate([self.better[part], self.worse[part]]) - first
        out[:] = np.bincount(both, np.tile(2.0 * self.scale[part] ** 2, 2), out.size).reshape(out.shape)

    def _centered(self, values: FloatArray, rows: slice) -> FloatArray:
        """Values of the observed labels minus their mean, times the root of the weight; 0 for other labels."""
        observed = self.observed[rows]
        values = np.where(observed, values, 0.0)
        values -= values.sum(axis=1, keepdims=True) / self.size[rows]
        values *= self.scale[rows]
        values[~observed] = 0.0
        return values

    def _edges(self, rows: slice) -> tuple[slice, int]:
        """Edges of some instances, and the index of their first score in the flat matrix of all scores."""
        first, last, _ = rows.indices(self.shape[0])
        return slice(int(self.start[first]), int(self.start[last])), first * self.shape[1]


# --- Items in groups


class GroupedSquaredLoss(QuadraticLoss):
    r"""Squared loss of all pairs of items within groups, for items sorted by group.

    The pairs of group q, each with the weight :math:`s_q w_i w_j / W_q`, have the Laplacian

    .. math:: \mathcal{L}_q = s_q \left( \operatorname{diag}(w) - \tfrac{1}{W_q} w w^\top \right) = S_q S_q^\top, \qquad
              S_q^\top f = \left( \sqrt{s_q w_i} \, (f_i - \bar f) \right)_i

    with :math:`W_q = \sum_i w_i` and the weighted mean :math:`\bar f`. Products with S center within groups and scale.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Scores of the items, larger is better.
    groups : array-like of shape (n,), or None
        Names of the groups, in any order; None is a single group.
    sample_weight : ndarray of shape (n,)
        Non-negative weights; the pair of items i and j has the weight :math:`w_i w_j`.
    weighting : {"pairs", "groups"}
        Whether each pair has weight 1 (:math:`s_q = W_q`), or the pairs of each group have weight 1 in total.

    Attributes
    ----------
    order, code, weight, scale, y : ndarray of shape (n_items,)
        Row in the given data, group, :math:`w_i`, :math:`\sqrt{s_q w_i}` and score of each item. Items of weight zero
        are left out.
    start : ndarray of shape (n_groups + 1,)
        Items ``start[q]:start[q + 1]`` are those of group q.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank.losses.squared import GroupedSquaredLoss
    >>> loss = GroupedSquaredLoss(np.array([3.0, 1.0, 2.0]), ["b", "a", "b"], np.ones(3))
    >>> loss.order, loss.start, (loss.scale**2).round(9)
    (array([1, 0, 2]), array([0, 1, 3]), array([1., 2., 2.]))
    >>> round(loss.value(np.zeros(3)), 9)
    1.0
    """

    name: ClassVar[str] = "squared"

    def __init__(self, y: FloatArray, groups: Any, sample_weight: FloatArray, weighting: Weighting = "pairs") -> None:
        code = np.zeros(len(y), dtype=np.intp) if groups is None else group_codes(groups, len(y))
        kept = np.flatnonzero(sample_weight > 0)
        self.order: IntArray = kept[np.argsort(code[kept], kind="stable")]
        self.y, weight = y[self.order], sample_weight[self.order]
        self.code: IntArray = np.unique(code[self.order], return_inverse=True)[1]
        self.start: IntArray = np.searchsorted(self.code, np.arange(self.code.max(initial=-1) + 2))
        self.scale, self.weighting = _scale(weight, self.start, weighting), weighting
        self.shape, self.weight = (len(self.order), 1), weight
        self.target = self.differences(self.y)

    def __len__(self) -> int:
        return len(self.order)

    @property
    def n_groups(self) -> int:
        """Number of groups with items of positive weight."""
        return len(self.start) - 1

    @cached_property
    def counted(self) -> npt.NDArray[np.bool_]:
        """Items with another one in their group."""
        return (np.diff(self.start) > 1)[self.code]

    @cached_property
    def share(self) -> FloatArray:
        """Weight of each item relative to that of its group."""
        return weight_shares(self.scale, self.code)

    def differences(self, scores: FloatArray, rows: slice = ALL) -> FloatArray:
        r"""Return :math:`S^\top f`; the rows are whole groups."""
        code = self.code[rows]
        mean = np.bincount(code, self.share[rows] * scores)[code]
        return np.asarray((scores - mean) * self.scale[rows])

    def divergence(self, z: FloatArray, rows: slice = ALL) -> FloatArray:
        r"""Return :math:`S z`; the rows are whole groups."""
        code, along = self.code[rows], np.sqrt(self.share[rows])
        return np.asarray((z - along * np.bincount(code, along * z)[code]) * self.scale[rows])

    def curvature(self, scores: FloatArray, out: FloatArray, rows: slice = ALL) -> None:
        """Write the diagonal of the Hessian with respect to the scores of some items into `out`."""
        out[:] = 2.0 * self.scale[rows] ** 2 * (1.0 - self.share[rows])


def weight_shares(scale: FloatArray, code: IntArray) -> FloatArray:
    """Return the weight of each item relative to that of its group; 0 in a group without weight."""
    weight = scale**2
    total = np.bincount(code, weight)
    return np.asarray(weight / np.where(total > 0, total, 1.0)[code])


def _scale(weight: FloatArray, start: IntArray, weighting: Weighting) -> FloatArray:
    """Root of s_q w_i for the items of sorted groups."""
    if not len(weight):
        return weight
    first, size = start[:-1], np.diff(start)
    if weighting == "pairs":
        with np.errstate(over="ignore"):
            products = np.repeat(np.add.reduceat(weight, first), size) * weight
        if not _LEAST < products.max() < np.inf:
            raise ValueError(
                f"products of the weights of items, up to {weight.max():g}, are beyond floating point numbers; divide "
                "sample_weight by its largest"
            )
        return np.sqrt(products)
    # A common factor of the weights of a group cancels; with a largest weight of 1 nothing overflows or underflows.
    weight = weight / np.repeat(np.maximum.reduceat(weight, first), size)
    # Sum of w_i w_j over pairs: with the heaviest item, without cancellation, and among the others.
    heaviest = np.lexsort((weight, np.repeat(np.arange(len(size)), size)))[start[1:] - 1]
    others = weight.copy()
    others[heaviest] = 0.0
    rest = np.add.reduceat(others, first)
    pairs = rest + np.maximum(rest**2 - np.add.reduceat(others**2, first), 0.0) / 2
    s = np.divide(1.0 + rest, pairs, out=np.zeros(len(size)), where=pairs > 0)  # none in a group of one item
    return np.sqrt(np.repeat(s, size) * weight)
