r"""The covering loss: labels of a cover element are right or wrong together.

.. math:: L(f) = \sum_i w_i \sum_{s} c_s \log\left(1 + \sum_{l \in a_s} e^{-y_i^l f^l_i}\right)

It is the log-linear loss on the graph with a dummy label of score 0, summed over the subgraphs instead of averaged: a
relevant label is preferred to the dummy, the dummy to an irrelevant one.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from labelrank.decompositions.coverings import Covering, SetCovering, set_levels
from labelrank.decompositions.subgraphs import Subgraphs, expand_ranges
from labelrank.losses.log_linear import FloatArray
from labelrank.supervision import PreferenceGraphs


class CoveringLoss:
    """The loss of all examples, evaluated on blocks of rows; O(size of the cover) per example.

    Parameters
    ----------
    graphs : PreferenceGraphs
        Relevant sets, of :meth:`labelrank.PreferenceGraphs.from_multilabel`.
    covering : Covering
        The cover elements.
    sample_weight : ndarray of shape (n_instances,)
        Weights of the examples.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import PreferenceGraphs
    >>> from labelrank.decompositions import hamming
    >>> from labelrank.losses import CoveringLoss
    >>> loss = CoveringLoss(PreferenceGraphs.from_multilabel([[1, 0, 0]]), hamming, np.ones(1))
    >>> scores, outflow = np.zeros((1, 3)), np.empty((1, 3))
    >>> round(loss.flows(0, 1, scores, outflow), 4)  # 3 log 2
    2.0794
    """

    by_members = False
    blocks_per_edge = 1  # the dummy at the other end has no coefficients

    def __init__(self, graphs: PreferenceGraphs, covering: Covering, sample_weight: FloatArray) -> None:
        self.graphs, self.covering = graphs, covering
        self.levels = set_levels(graphs)
        self.weight = np.ascontiguousarray(sample_weight, dtype=np.float64)
        self.shape = graphs.shape

    @property
    def counted(self) -> npt.NDArray[np.bool_]:
        """Examples with a known label and a positive weight."""
        return (self.levels >= 0).any(axis=1) & (self.weight > 0)

    def flows(self, first: int, last: int, scores: FloatArray, outflow: FloatArray) -> float:
        """Loss of the rows from `first` to `last`; `scores` (last - first, n_labels) become the inflow T."""
        return float(self.losses(slice(first, last), scores, outflow).sum())

    def losses(self, rows: Any, scores: FloatArray, outflow: FloatArray) -> FloatArray:
        """Loss of each of some rows, given by a slice or an index array; `scores` become the inflow T."""
        from labelrank._kernels.losses.covering import element_flows, set_flows

        np.abs(scores, out=outflow)
        np.negative(outflow, out=outflow)
        np.exp(outflow, out=outflow)
        where = (self.levels[rows], scores, outflow, self.weight[rows])
        if isinstance(self.covering, SetCovering):
            c = self.covering
            how = (c.positive == "together", c.negative == "together", c.joined)
            return np.asarray(set_flows(*where, *how, c.positive_weight, c.negative_weight))
        pattern, *elements = self.elements
        return np.asarray(element_flows(*where, pattern[rows], *elements))

    @cached_property
    def elements(self) -> tuple[Any, ...]:
        """Pattern of each row, elements of each pattern, labels of each element, weights: cut when first needed."""
        patterns, pattern = np.unique(self.levels, axis=0, return_inverse=True)
        graphs = PreferenceGraphs(levels=patterns, n_labels=patterns.shape[1], labels=self.graphs.labels)
        return pattern.ravel().astype(np.intp), *_elements(self.covering.cut(graphs))


def _elements(subgraphs: Subgraphs) -> tuple[Any, ...]:
    """Pointers of patterns to elements, of elements to labels, labels, weights; the dummy left out."""
    dummy = subgraphs.n_labels - 1
    better, at_better = expand_ranges(subgraphs.better_start, subgraphs.better_stop)
    worse, at_worse = expand_ranges(subgraphs.worse_start, subgraphs.worse_stop)
    block = np.concatenate([better, worse])
    label = subgraphs.members[np.concatenate([at_better, at_worse])]
    element = np.repeat(np.arange(len(subgraphs)), np.diff(subgraphs.block_ptr))[block]
    element, label = element[label != dummy], label[label != dummy]
    order = np.lexsort((label, element))
    label_ptr = np.concatenate([[0], np.cumsum(np.bincount(element, minlength=len(subgraphs)))]).astype(np.intp)
    return subgraphs.subgraph_ptr, label_ptr, label[order].astype(np.int32), subgraphs.weight
