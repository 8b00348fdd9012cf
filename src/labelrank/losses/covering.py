r"""The covering loss: labels of a cover element are right or wrong together.

.. math:: L(f) = \sum_i w_i \sum_{s} c_s \log\left(1 + \sum_{l \in a_s} e^{-y_i^l f^l_i}\right)

It is the log-linear loss on the graph with a dummy label of score 0, summed over the subgraphs instead of averaged: a
relevant label is preferred to the dummy, the dummy to an irrelevant one.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrank._arrays import FloatArray
from labelrank.decompositions import Decomposition, get_covering
from labelrank.decompositions.coverings import SetCovering
from labelrank.decompositions.subgraphs import Subgraphs, expand_ranges
from labelrank.losses.base import ALL, CurvedLoss
from labelrank.supervision import PreferenceGraphs


class CoveringLoss(CurvedLoss):
    """Covering loss of all examples; O(size of the cover) per example.

    Parameters
    ----------
    graphs : PreferenceGraphs
        Relevant sets, from :meth:`labelrank.PreferenceGraphs.from_multilabel`.
    decomposition : Covering, str or callable, default="hamming"
        The covering.
    sample_weight : ndarray of shape (n_instances,), optional
        Weights of the examples.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import PreferenceGraphs
    >>> from labelrank.losses import CoveringLoss
    >>> loss = CoveringLoss(PreferenceGraphs.from_multilabel([[1, 0, 0]]), "hamming")
    >>> round(loss.value(np.zeros((1, 3))), 4)  # 3 log 2
    2.0794
    """

    name: ClassVar[str] = "covering"
    abilities: ClassVar[frozenset[str]] = frozenset({"flows", "curvature", "updates"})
    default_decomposition: ClassVar[str | None] = "hamming"
    blocks_per_edge: ClassVar[int] = 1  # the dummy at the other end has no coefficients

    def __init__(
        self, graphs: PreferenceGraphs, decomposition: Any = None, sample_weight: FloatArray | None = None
    ) -> None:
        super().__init__(graphs, decomposition, sample_weight)
        self.levels = graphs.set_levels("a covering")

    def _get_decomposition(self, chosen: Any) -> Decomposition:
        return get_covering(chosen)

    @cached_property
    def counted(self) -> npt.NDArray[np.bool_]:
        """Examples with a known label and a positive weight."""
        return (self.levels >= 0).any(axis=1) & (self.weight > 0)

    def losses(self, scores: FloatArray, inflow: FloatArray, outflow: FloatArray, rows: Any = ALL) -> FloatArray:
        """Loss of each example of `rows`, a slice or an index array; the flows are overwritten."""
        return self._losses(scores, inflow, outflow, None, rows)

    def _evaluate(
        self, scores: FloatArray, inflow: FloatArray, outflow: FloatArray, curvature: FloatArray | None, rows: Any
    ) -> float:
        return float(self._losses(scores, inflow, outflow, curvature, rows).sum())

    def _losses(
        self, scores: FloatArray, inflow: FloatArray, outflow: FloatArray, curvature: FloatArray | None, rows: Any
    ) -> FloatArray:
        from labelrank._kernels.losses.covering import element_flows, set_flows

        np.abs(scores, out=outflow)
        np.negative(outflow, out=outflow)
        np.exp(outflow, out=outflow)
        where = (self.levels[rows], scores, inflow, outflow, curvature, self.weight[rows])
        c = self.decomposition
        if isinstance(c, SetCovering):
            together = (c.positive == "together", c.negative == "together")
            return np.asarray(set_flows(*where, together, c.joined, (c.positive_weight, c.negative_weight)))
        return np.asarray(element_flows(*where, self._patterns[0][rows], self._patterns[1]))

    @cached_property
    def _patterns(self) -> tuple[npt.NDArray[np.intp], Elements]:
        """Labeling of each example, and the cover elements of the distinct labelings."""
        patterns, pattern = np.unique(self.levels, axis=0, return_inverse=True)
        graphs = PreferenceGraphs(levels=patterns, n_labels=patterns.shape[1], labels=self.graphs.labels)
        return pattern.ravel().astype(np.intp), elements_of(self.decomposition.cut(graphs))


class Elements(NamedTuple):
    """Cover elements of each distinct labeling, as flat arrays."""

    element_ptr: npt.NDArray[np.intp]  # labeling p has the elements element_ptr[p]:element_ptr[p + 1]
    label_ptr: npt.NDArray[np.intp]  # element s has the labels label_ptr[s]:label_ptr[s + 1]
    labels: npt.NDArray[np.int32]
    weight: FloatArray


def elements_of(subgraphs: Subgraphs) -> Elements:
    """Cover elements of subgraphs with a dummy label: their labels without the dummy."""
    dummy = subgraphs.n_labels - 1
    better, at_better = expand_ranges(subgraphs.better_start, subgraphs.better_stop)
    worse, at_worse = expand_ranges(subgraphs.worse_start, subgraphs.worse_stop)
    block = np.concatenate([better, worse])
    label = subgraphs.members[np.concatenate([at_better, at_worse])]
    element = np.repeat(np.arange(len(subgraphs)), np.diff(subgraphs.block_ptr))[block]
    element, label = element[label != dummy], label[label != dummy]
    order = np.lexsort((label, element))
    label_ptr = np.searchsorted(element[order], np.arange(len(subgraphs) + 1))
    return Elements(subgraphs.subgraph_ptr, label_ptr, label[order].astype(np.int32), subgraphs.weight)
