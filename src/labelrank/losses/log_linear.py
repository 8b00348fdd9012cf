r"""The log-linear loss of scores on decomposed preference graphs.

.. math:: L(f) = \sum_i \frac{w_i}{s_i} \sum_{k=1}^{s_i} \log\left(1 + \sum_{e \in E_{i,k}}
          e^{f_i(\mathrm{term}(e)) - f_i(\mathrm{init}(e))}\right)

A smooth, convex bound (times 1/log 2) of the share of subgraphs with a contradicted edge. Its gradient with respect to
the score of a label is what flows in minus what flows out, :math:`T - I`; boosting needs the two apart.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from labelrank import decompositions
from labelrank.decompositions import Decomposition, Subgraphs
from labelrank.supervision import PreferenceGraphs

FloatArray = npt.NDArray[np.float64]


class LogLinearLoss:
    """The loss of all instances, evaluated on blocks of rows.

    Layered graphs under zero_one, domination and dominated cost O(n_labels) per instance; under disagreement, one step
    per pair; anything else is cut into subgraphs once and then costs their size.

    Parameters
    ----------
    graphs : PreferenceGraphs
        What was observed.
    decomposition : Decomposition
        How it is cut.
    sample_weight : ndarray of shape (n_instances,)
        Weights of the instances.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import as_graphs
    >>> from labelrank.decompositions import domination
    >>> from labelrank.losses import LogLinearLoss
    >>> loss = LogLinearLoss(as_graphs([[1, 2, 2]]), domination, np.ones(1))
    >>> scores, outflow = np.zeros((1, 3)), np.empty((1, 3))
    >>> round(loss.flows(0, 1, scores, outflow), 4)  # log 3; scores now hold what flows in
    1.0986
    >>> scores - outflow  # the gradient
    array([[-0.66666667,  0.33333333,  0.33333333]])
    """

    blocks_per_edge = 2  # along an edge the features leave one label's coefficients and enter another's

    def __init__(self, graphs: PreferenceGraphs, decomposition: Decomposition, sample_weight: FloatArray) -> None:
        self.graphs, self.decomposition = graphs, decomposition
        self.weight = np.ascontiguousarray(sample_weight, dtype=np.float64)
        self.shape = graphs.shape
        self.kind = _layered_kinds().get(decomposition) if graphs.storage == "levels" else None
        if self.kind is not None:
            self.depth = int(graphs.levels.max(initial=0)) + 1

    @cached_property
    def subgraphs(self) -> Subgraphs:
        """The subgraphs themselves, cut when first needed."""
        return self.decomposition.cut(self.graphs)

    @cached_property
    def counted(self) -> npt.NDArray[np.bool_]:
        """Instances with edges and a positive weight."""
        return (self.graphs.edge_counts() > 0) & (self.weight > 0)

    @property
    def by_members(self) -> bool:
        """Whether the subgraphs name so few labels that scores of all labels would be a waste."""
        return self.kind is None and 2 * len(self.subgraphs.members) < self.shape[0] * self.shape[1]

    def flows(self, first: int, last: int, scores: FloatArray, outflow: FloatArray) -> float:
        """Loss of the rows from `first` to `last`; `scores` (last - first, n_labels) become the inflow T."""
        from labelrank._kernels.losses import log_linear as log_loss
        from labelrank._kernels.models import products

        if self.kind is not None:
            # NumPy's exponential works on whole vectors; the kernel starts from there.
            np.subtract(scores, scores.max(axis=1, keepdims=True, initial=-np.inf), out=outflow)
            np.exp(outflow, out=outflow)
            return float(
                log_loss.level_flows(
                    self.graphs.levels[first:last], scores, outflow, self.weight[first:last], self.depth, self.kind
                )
            )
        ptr, members = self.subgraphs.member_ptr, self.subgraphs.members
        f = np.empty(ptr[last] - ptr[first])
        into, out_of = np.empty_like(f), np.empty_like(f)
        products.gather(scores, first, last, ptr, members, f)
        value = self.member_flows(first, last, f, into, out_of)
        products.scatter(into, first, last, ptr, members, scores)
        products.scatter(out_of, first, last, ptr, members, outflow)
        return value

    def member_flows(self, first: int, last: int, f: FloatArray, inflow: FloatArray, outflow: FloatArray) -> float:
        """The same by members of the subgraphs: one score in, one inflow and one outflow out for each."""
        from labelrank._kernels.losses.log_linear import block_flows

        return float(block_flows(*self.blocks(first, last), self.weight[first:last], f, inflow, outflow))

    def blocks(self, first: int, last: int) -> tuple[Any, ...]:
        """The subgraphs of some rows as a kernel takes them."""
        s = self.subgraphs
        return (
            first,
            last,
            s.member_ptr[first],
            s.subgraph_ptr,
            s.block_ptr,
            s.better_start,
            s.better_stop,
            s.worse_start,
            s.worse_stop,
            s.weight,
        )


def _layered_kinds() -> dict[Decomposition, int]:
    """The decompositions that have a formula for layered graphs."""
    from labelrank._kernels.losses import log_linear as log_loss

    return {
        decompositions.zero_one: log_loss.ZERO_ONE,
        decompositions.disagreement: log_loss.DISAGREEMENT,
        decompositions.domination: log_loss.DOMINATION,
        decompositions.dominated: log_loss.DOMINATED,
    }
