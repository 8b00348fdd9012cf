r"""The log-linear loss of scores on decomposed preference graphs.

.. math:: L(f) = \sum_i \frac{w_i}{s_i} \sum_{k=1}^{s_i} \log\left(1 + \sum_{e \in E_{i,k}}
          e^{f_i(\mathrm{term}(e)) - f_i(\mathrm{init}(e))}\right)

It is a smooth, convex bound (times 1/log 2) of the share of subgraphs with a contradicted edge. Its gradient with
respect to the score of a label is the inflow minus the outflow, :math:`T - I`; boosting needs them separately.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrank._arrays import FloatArray
from labelrank._kernels import cuts
from labelrank.decompositions import Subgraphs
from labelrank.decompositions.subgraphs import expand_ranges
from labelrank.losses.base import ALL, CurvedLoss
from labelrank.supervision import PreferenceGraphs

_WITHOUT_SUBGRAPHS = (cuts.ZERO_ONE, cuts.DISAGREEMENT, cuts.DOMINATION, cuts.DOMINATED)


class EdgeFlows(NamedTuple):
    """Edges of some instances, with the flow along each of them."""

    value: float  # the loss
    row: npt.NDArray[np.intp]  # instance of each edge, from 0
    better: npt.NDArray[np.intp]
    worse: npt.NDArray[np.intp]
    flow: FloatArray


class LogLinearLoss(CurvedLoss):
    """Log-linear loss of all instances.

    For layered graphs, zero_one, domination and dominated take O(n_labels) time per instance, disagreement O(number of
    pairs). Other decompositions, and graphs stored as edges, are split into subgraphs once and then take time
    proportional to their size.

    Parameters
    ----------
    graphs : PreferenceGraphs
        Observed preferences.
    decomposition : Decomposition, str or callable, default="domination"
        Decomposition of the graphs.
    sample_weight : ndarray of shape (n_instances,), optional
        Weights of the instances.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import as_graphs
    >>> from labelrank.losses import LogLinearLoss
    >>> loss = LogLinearLoss(as_graphs([[1, 2, 2]]), "domination")
    >>> gradient = np.empty((1, 3))
    >>> round(loss.value_and_gradient(np.zeros((1, 3)), gradient), 4)  # log 3
    1.0986
    >>> gradient
    array([[-0.66666667,  0.33333333,  0.33333333]])
    """

    name: ClassVar[str] = "log_linear"
    default_decomposition: ClassVar[str | None] = "domination"

    def __init__(
        self, graphs: PreferenceGraphs, decomposition: Any = None, sample_weight: FloatArray | None = None
    ) -> None:
        super().__init__(graphs, decomposition, sample_weight)
        layers = self.decomposition.layers(graphs)
        self.layers = layers if layers is not None and layers.kind in _WITHOUT_SUBGRAPHS else None

    def _evaluate(
        self, scores: FloatArray, inflow: FloatArray, outflow: FloatArray, curvature: FloatArray | None, rows: slice
    ) -> float:
        """Loss of some instances; the flows and, unless it is None, the curvature are overwritten."""
        from labelrank._kernels.losses import log_linear as kernels

        if self.layers is None:
            return self._flows_of_subgraphs(self.subgraphs, rows, scores, inflow, outflow, curvature, self.weight[rows])
        levels, depth, kind = self.layers
        weight = self.weight[rows]
        if kind == cuts.DISAGREEMENT:
            return float(kernels.pair_flows(levels[rows], scores, inflow, outflow, curvature, weight, depth))
        # NumPy's exponential works on whole vectors; the kernel starts from there.
        np.subtract(scores, scores.max(axis=1, keepdims=True, initial=-np.inf), out=outflow)
        np.exp(outflow, out=outflow)
        far = np.zeros(len(scores), dtype=bool)
        value = kernels.level_flows(levels[rows], inflow, outflow, curvature, weight, depth, kind, far)
        return float(value) + self._flows_of_far_rows(rows, far, scores, inflow, outflow, curvature)

    def edge_flows(self, scores: FloatArray, rows: slice = ALL) -> EdgeFlows:
        """Loss of some instances, and the flow along each of their edges, for models that share coefficients."""
        s = self.decomposition.cut(self.graphs[rows])
        row, better, worse, subgraph = edges_of(s)
        if not len(row):
            return EdgeFlows(0.0, row, better, worse, np.empty(0))
        z = scores[row, worse] - scores[row, better]
        first = np.flatnonzero(np.diff(subgraph, prepend=-1))
        top = np.maximum(np.maximum.reduceat(z, first), 0.0)
        total = np.exp(-top) + np.add.reduceat(np.exp(z - top[subgraph]), first)
        log_total = top + np.log(total)
        of_instance = np.bincount(s.instance, weights=s.weight, minlength=s.n_instances)
        weight = self.weight[rows][s.instance] * s.weight / of_instance[s.instance]
        return EdgeFlows(
            float(weight @ log_total), row, better, worse, weight[subgraph] * np.exp(z - log_total[subgraph])
        )

    @cached_property
    def subgraphs(self) -> Subgraphs:
        """All subgraphs, computed on first use."""
        return self.decomposition.cut(self.graphs)

    def _flows_of_far_rows(
        self,
        rows: slice,
        far: npt.NDArray[np.bool_],
        scores: FloatArray,
        inflow: FloatArray,
        outflow: FloatArray,
        curvature: FloatArray | None,
    ) -> float:
        """Flows of the rows in which an exponential underflows, from their subgraphs."""
        if not far.any():
            return 0.0
        graphs, weight = self.graphs[rows][far], self.weight[rows][far]
        into, out_of, bend = (np.empty((len(graphs), self.shape[1])) for _ in range(3))
        subgraphs = self.decomposition.cut(graphs)
        value = self._flows_of_subgraphs(subgraphs, ALL, scores[far], into, out_of, bend, weight)
        inflow[far], outflow[far] = into, out_of
        if curvature is not None:
            curvature[far] = bend
        return value

    def _flows_of_subgraphs(
        self,
        subgraphs: Subgraphs,
        rows: slice,
        scores: FloatArray,
        inflow: FloatArray,
        outflow: FloatArray,
        curvature: FloatArray | None,
        weight: FloatArray,
    ) -> float:
        """Loss of the instances `rows` of some subgraphs; the flows of their members are summed by label."""
        from labelrank._kernels.losses.log_linear import block_flows

        blocks = subgraphs.blocks
        first, last, _ = rows.indices(subgraphs.n_instances)
        ends = blocks.member_ptr[first : last + 1]
        at = (np.repeat(np.arange(last - first), np.diff(ends)), blocks.members[ends[0] : ends[-1]])
        f = scores[at]
        into, out_of = np.empty_like(f), np.empty_like(f)
        squares = np.empty((0, self.shape[1])) if curvature is None else curvature
        value = block_flows(blocks, first, last, weight, f, into, out_of, squares)
        flat = at[0] * self.shape[1] + at[1]
        for flow, out in ((into, inflow), (out_of, outflow)):
            out[...] = np.bincount(flat, weights=flow, minlength=out.size).reshape(out.shape)
        if curvature is not None:  # (t + i) - (t - i)²
            np.subtract(inflow + outflow, squares, out=curvature)
        return float(value)


def edges_of(subgraphs: Subgraphs) -> tuple[npt.NDArray[np.intp], ...]:
    """Instance, better and worse label, and subgraph of every edge of some subgraphs."""
    s = subgraphs
    block, better = expand_ranges(s.better_start, s.better_stop)
    which, worse = expand_ranges(s.worse_start[block], s.worse_stop[block])
    of_block = np.repeat(np.arange(len(s)), np.diff(s.block_ptr))
    subgraph = of_block[block[which]]
    return s.instance[subgraph], s.members[better[which]], s.members[worse], subgraph
