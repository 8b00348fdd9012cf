"""Base classes of losses: functions of the scores of the labels, summed over instances.

Every loss has a value and a gradient. Everything else is an optional ability with a name, which solvers can require:

===========  ==========================================================================  =========================
ability      method                                                                      for
===========  ==========================================================================  =========================
flows        ``flows``: the gradient as inflow minus outflow, both non-negative           boosting
curvature    ``curvature``: the diagonal of the Hessian                                   trees, preconditioners
blocks       ``blocks``: complete bipartite subgraphs with margins                        soft projections
laplacian    ``laplacian``: the loss as a quadratic form of each instance's scores        least squares
updates      ``losses``: flows and losses of any rows, with one flow per label            sequential boosting
===========  ==========================================================================  =========================
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from labelrank._arrays import FloatArray
from labelrank.decompositions import Decomposition, get_decomposition
from labelrank.supervision import PreferenceGraphs

ALL = slice(None)


class Loss:
    """Base class of losses.

    A subclass implements ``value_and_gradient`` and the methods of its abilities, and lists these in ``abilities``.

    Parameters
    ----------
    graphs : PreferenceGraphs of shape (n_instances, n_labels)
        Observed preferences.
    decomposition : Decomposition, str or callable, optional
        Decomposition of the graphs into subgraphs; by default ``default_decomposition``.
    sample_weight : ndarray of shape (n_instances,), optional
        Weights of the instances; by default 1.

    Attributes
    ----------
    name : str
        Name of the loss in error messages.
    smooth : bool
        Whether the gradient is continuous, which L-BFGS requires.
    abilities : frozenset of str
        What the loss can do beyond a value and a gradient.
    default_decomposition : str or None
        The decomposition that is used when none is given; None for a loss without a decomposition.
    """

    name: ClassVar[str] = "loss"
    smooth: ClassVar[bool] = True
    abilities: ClassVar[frozenset[str]] = frozenset()
    default_decomposition: ClassVar[str | None] = None
    blocks_per_edge: ClassVar[int] = 2  # columns of coefficients that an edge depends on
    decomposition: Decomposition

    def __init__(
        self,
        graphs: PreferenceGraphs,
        decomposition: str | Decomposition | Any | None = None,
        sample_weight: FloatArray | None = None,
    ) -> None:
        if decomposition is not None and self.default_decomposition is None:
            raise ValueError(f"the loss {self.name!r} does not use a decomposition; leave decomposition at None")
        chosen = self.default_decomposition if decomposition is None else decomposition
        self.graphs = graphs
        if chosen is not None:
            self.decomposition = self._get_decomposition(chosen)
        self.shape = graphs.shape
        weight = np.ones(len(graphs)) if sample_weight is None else sample_weight
        self.weight = np.ascontiguousarray(weight, dtype=np.float64)

    def _get_decomposition(self, chosen: Any) -> Decomposition:
        return get_decomposition(chosen)

    @cached_property
    def counted(self) -> npt.NDArray[np.bool_]:
        """Instances with an observed pair and a positive weight."""
        return self.graphs.has_pairs() & (self.weight > 0)

    @property
    def total_weight(self) -> float:
        """Sum of the weights of the counted instances; the mean loss is the loss divided by it."""
        return float(self.weight[self.counted].sum())

    def value(self, scores: FloatArray, rows: slice = ALL) -> float:
        """Loss of some instances.

        Parameters
        ----------
        scores : ndarray of shape (n_rows, n_labels)
            Scores of the instances `rows`, larger is better. They are not changed.
        rows : slice
            Which instances, by default all.

        Returns
        -------
        float
        """
        return self.value_and_gradient(scores, np.empty_like(scores), rows)

    def value_and_gradient(self, scores: FloatArray, out: FloatArray, rows: slice = ALL) -> float:
        """Loss of some instances, and its gradient with respect to their scores.

        Parameters
        ----------
        scores : ndarray of shape (n_rows, n_labels)
            Scores of the instances `rows`. They are not changed.
        out : ndarray of shape (n_rows, n_labels)
            Overwritten with the gradient.
        rows : slice
            Which instances, by default all.

        Returns
        -------
        float
        """
        raise NotImplementedError(f"{type(self).__name__} must define value_and_gradient(scores, out, rows)")

    def flows(self, scores: FloatArray, inflow: FloatArray, outflow: FloatArray, rows: slice = ALL) -> float:
        """Loss of some instances; the gradient is written as `inflow` minus `outflow`, both non-negative."""
        raise NotImplementedError(f"{type(self).__name__} must define flows")

    def edge_flows(self, scores: FloatArray, rows: slice = ALL) -> Any:
        """Loss of some instances, and the flow along each of their edges; optional for a loss with flows."""
        raise ValueError(
            f"boosting with features that depend on the label needs the flow along each edge, which the loss "
            f'{self.name!r} does not provide; use solver="lbfgs"'
        )

    def curvature(self, scores: FloatArray, out: FloatArray, rows: slice = ALL) -> None:
        """Write the diagonal of the Hessian with respect to the scores of some instances into `out`."""
        raise NotImplementedError(f"{type(self).__name__} must define curvature")

    def value_and_derivatives(
        self, scores: FloatArray, gradient: FloatArray, curvature: FloatArray, rows: slice = ALL
    ) -> float:
        """Loss of some instances; `gradient` and `curvature` are overwritten. A loss may override it with one pass."""
        self.curvature(scores, curvature, rows)
        return self.value_and_gradient(scores, gradient, rows)


class FlowLoss(Loss):
    """A loss whose gradient is the inflow minus the outflow of each label."""

    abilities: ClassVar[frozenset[str]] = frozenset({"flows"})

    def value_and_gradient(self, scores: FloatArray, out: FloatArray, rows: slice = ALL) -> float:
        """Loss of some instances; `out` is overwritten with the gradient."""
        outflow = np.empty_like(out)
        value = self.flows(scores, out, outflow, rows)
        out -= outflow
        return value


class CurvedLoss(FlowLoss):
    """A loss with flows and curvature, computed together by ``_evaluate``."""

    abilities: ClassVar[frozenset[str]] = frozenset({"flows", "curvature"})

    def _evaluate(
        self, scores: FloatArray, inflow: FloatArray, outflow: FloatArray, curvature: FloatArray | None, rows: slice
    ) -> float:
        """Loss of some instances; the flows and, unless it is None, the curvature are overwritten."""
        raise NotImplementedError(f"{type(self).__name__} must define _evaluate")

    def flows(self, scores: FloatArray, inflow: FloatArray, outflow: FloatArray, rows: slice = ALL) -> float:
        """Loss of some instances; `inflow` and `outflow` are overwritten with T and I."""
        return self._evaluate(scores, inflow, outflow, None, rows)

    def curvature(self, scores: FloatArray, out: FloatArray, rows: slice = ALL) -> None:
        """Write the diagonal of the Hessian with respect to the scores of some instances into `out`."""
        self._evaluate(scores, np.empty(scores.shape), np.empty(scores.shape), out, rows)

    def value_and_derivatives(
        self, scores: FloatArray, gradient: FloatArray, curvature: FloatArray, rows: slice = ALL
    ) -> float:
        """Loss of some instances; `gradient` and `curvature` are overwritten."""
        outflow = np.empty_like(gradient)
        value = self._evaluate(scores, gradient, outflow, curvature, rows)
        gradient -= outflow
        return value
