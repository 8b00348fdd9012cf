r"""Items in groups, and the square root of the Laplacian of their pairs.

The pairs of group q, each with the weight :math:`s_q w_i w_j / W_q`, have the Laplacian

.. math:: L_q = s_q \left( \operatorname{diag}(w) - \tfrac{1}{W_q} w w^\top \right) = B_q B_q^\top, \qquad
          B_q^\top p = \left( \sqrt{s_q w_i} \, (p_i - \bar p) \right)_i

with :math:`W_q = \sum_i w_i` and the weighted mean :math:`\bar p`. So a product with a root of L is a centring within
groups and a scale for each item, and L itself is never built.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from labelrank.supervision.groups import group_codes

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]
Weighting = Literal["pairs", "groups"]


@dataclass
class GroupedItems:
    r"""The items that count, sorted by group.

    Attributes
    ----------
    order : ndarray of shape (n_items,)
        Row of each item in the given data; items of weight zero are left out.
    start : ndarray of shape (n_groups + 1,)
        Items ``start[q]:start[q + 1]`` are those of group q.
    scale : ndarray of shape (n_items,)
        :math:`\sqrt{s_q w_i}`; within a group the weights are proportional to its squares.
    y : ndarray of shape (n_items,)
        Scores.
    """

    order: IntArray
    start: IntArray
    scale: FloatArray
    y: FloatArray

    def __len__(self) -> int:
        return len(self.order)

    @property
    def in_order(self) -> bool:
        """Whether the items are the first rows of the data, in their order."""
        return bool(np.array_equal(self.order, np.arange(len(self.order))))

    @property
    def code(self) -> IntArray:
        """Group of each item."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    @property
    def centred_y(self) -> FloatArray:
        r""":math:`B^\top y`."""
        return (self.y - self.mean_of(self.y)) * self.scale

    def mean_of(self, p: FloatArray) -> FloatArray:
        """Mean of each item's group."""
        return group_means(p, self.code, self.scale)

    def segments(self, a: int, b: int) -> IntArray:
        """Where the groups within the items a:b begin and end, counted from a."""
        first = int(np.searchsorted(self.start, a, side="right"))
        last = int(np.searchsorted(self.start, b, side="left"))
        return np.concatenate([[0], self.start[first:last] - a, [b - a]]).astype(np.intp)

    def blocks(self, n_rows: int) -> Iterator[tuple[int, int]]:
        """Blocks of about `n_rows` items that never cut a group: a larger group is a block of its own."""
        a = 0
        while a < len(self):
            b = int(self.start[np.searchsorted(self.start, a + n_rows, side="right") - 1])
            if b <= a:
                b = int(self.start[np.searchsorted(self.start, a, side="right")])
            yield a, b
            a = b


def group_items(y: FloatArray, groups: Any, weight: FloatArray, weighting: Weighting) -> GroupedItems:
    """Sort items by group and weigh their pairs.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Scores.
    groups : array-like of shape (n,), or None
        Any names, in any order; None is one group.
    weight : ndarray of shape (n,)
        Non-negative weights; the pair of items i and j has the weight :math:`w_i w_j`.
    weighting : {"pairs", "groups"}
        Whether each pair counts 1 (:math:`s_q = W_q`), or the pairs of each group count 1 together.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank.solvers.least_squares.groups import group_items
    >>> items = group_items(np.array([3.0, 1.0, 2.0]), ["b", "a", "b"], np.ones(3), "pairs")
    >>> items.order, items.start, (items.scale**2).round(9)
    (array([0, 2, 1]), array([0, 2, 3]), array([2., 2., 1.]))
    """
    code = np.zeros(len(y), dtype=np.intp) if groups is None else group_codes(groups, len(y))
    kept = np.flatnonzero(weight > 0)
    order = kept[np.argsort(code[kept], kind="stable")]
    code, weight = code[order], weight[order]
    start = np.flatnonzero(np.concatenate([[True], code[1:] != code[:-1], [True]]))
    if not len(order):
        return GroupedItems(order, np.zeros(1, dtype=np.intp), weight, y[order])
    total = np.add.reduceat(weight, start[:-1])
    if weighting == "pairs":
        s = total
    else:
        from labelrank._kernels.solvers.least_squares import pair_weights

        # A common factor of the weights of a group cancels, and neither huge nor tiny ones leave the range of floats.
        weight = weight / np.repeat(np.maximum.reduceat(weight, start[:-1]), np.diff(start))
        total = np.add.reduceat(weight, start[:-1])
        pairs = pair_weights(weight, start)  # none in a group of one item
        s = np.divide(total, pairs, out=np.zeros(len(total)), where=pairs > 0)
    scale = np.sqrt(np.repeat(s, np.diff(start)) * weight)
    return GroupedItems(order, start, scale, y[order])


def group_means(p: FloatArray, code: IntArray, scale: FloatArray) -> FloatArray:
    """Weighted mean of p over each item's group, the weights proportional to the squares of `scale`."""
    weight = scale**2
    total = np.bincount(code, weight)
    size = np.bincount(code)
    weight = np.where(total[code] > 0, weight / np.where(total > 0, total, 1)[code], 1 / size[code])
    return np.asarray(np.bincount(code, weight * p)[code], dtype=np.float64)


def apply_root(z: FloatArray, code: IntArray, scale: FloatArray) -> FloatArray:
    r""":math:`B z`: z less its part along :math:`u = \sqrt w / \sqrt W` in each group, times the scale; z may be 2-d.

    Parameters
    ----------
    z : ndarray of shape (n_items,) or (n_items, n)
        What B is multiplied with.
    code : ndarray of shape (n_items,)
        Group of each item.
    scale : ndarray of shape (n_items,)
        See :class:`GroupedItems`.
    """
    norm = np.sqrt(np.bincount(code, scale**2))
    u = scale / np.where(norm > 0, norm, 1)[code]
    if z.ndim == 1:
        along = np.bincount(code, u * z)[code]
        return (z - u * along) * scale
    from scipy import sparse

    parts = sparse.csr_array((u, (code, np.arange(len(code)))), shape=(len(norm), len(code)))
    along = np.asarray(parts @ z)[code]
    return np.asarray((z - u[:, np.newaxis] * along) * scale[:, np.newaxis])
