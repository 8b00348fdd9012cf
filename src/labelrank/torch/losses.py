r"""Log-linear and covering losses of tensors: their value, and what flows into and out of each label.

Every loss is a sum of terms :math:`\log(1 + \sum_e e^{z_e})`. Layered graphs and sets are evaluated without listing
edges, by sums over levels that are kept as logarithms; battles, cycles and functions of the user by lists of edges.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from labelrank._kernels import cuts
from labelrank.decompositions.coverings import SetCovering
from labelrank.losses import CoveringLoss, LogLinearLoss
from labelrank.losses.base import Loss
from labelrank.losses.log_linear import edges_of
from labelrank.torch.levels import Levels

Flows = tuple[Tensor, Tensor, Tensor]  # the loss, a float64 number; what flows into each label, and out of it


class RowLoss:
    """Loss of some rows on a device.

    Attributes
    ----------
    one_sided : bool
        Whether no label of a row has both an inflow and an outflow, so that both follow from their difference.
    largest_flow : float
        Bound of a flow.
    compiles : bool
        Whether compiling the loss makes it faster; False also after a failed compilation.
    """

    one_sided: bool = False
    largest_flow: float = 0.0
    compiles: bool = True

    def flows(self, f: Tensor) -> Flows:
        """Loss and flows at the scores `f` of shape (n, k)."""
        raise NotImplementedError


class LayeredLoss(RowLoss):
    """Log-linear loss of layered graphs under zero_one, domination or dominated."""

    def __init__(self, levels: Tensor, weight: Tensor, depth: int, kind: int) -> None:
        self.levels, self.kind = Levels(levels, depth), kind
        self.one_sided = depth <= 2
        self.largest_flow = float(weight.max()) if len(weight) else 0.0
        zeros = torch.zeros(levels.shape, dtype=weight.dtype, device=levels.device)
        stars = torch.ones_like(weight)
        if kind != cuts.ZERO_ONE:
            paid = self.levels.below(zeros) if kind == cuts.DOMINATION else self.levels.above(zeros)
            stars = (paid > -torch.inf).sum(1, keepdim=True).clamp(min=1)
        self.scale = weight / stars

    def flows(self, f: Tensor) -> Flows:
        """Loss and flows at the scores `f`."""
        if self.kind == cuts.ZERO_ONE:
            below, above = self.levels.below(f), self.levels.above(-f)
            loss = softplus(torch.logsumexp(below - f, 1, keepdim=True))
            inflow, outflow = torch.exp(f + above - loss), torch.exp(below - f - loss)
        elif self.kind == cuts.DOMINATION:
            paid, outflow, inflow = self._stars(f, self.levels.below, self.levels.above)
            loss = paid.sum(1, keepdim=True)
        else:  # domination upside down: scores negated, levels reversed, flows exchanged
            paid, inflow, outflow = self._stars(-f, self.levels.above, self.levels.below)
            loss = paid.sum(1, keepdim=True)
        return _total(self.scale * loss), self.scale * inflow, self.scale * outflow

    def _stars(self, f: Tensor, beyond: Any, behind: Any) -> tuple[Tensor, Tensor, Tensor]:
        """Loss of the star of each label, what flows through its center, and what all stars send to each label."""
        x = beyond(f) - f
        paid = softplus(x)
        sent = behind(torch.where(x > -torch.inf, -f - paid, -torch.inf))
        return paid, torch.sigmoid(x), torch.exp(f + sent)


class PairLoss(RowLoss):
    """Log-linear loss of layered graphs under disagreement: every edge by itself."""

    def __init__(self, levels: Tensor, weight: Tensor, depth: int) -> None:
        self.one_sided = depth <= 2
        self.largest_flow = float(weight.max()) if len(weight) else 0.0
        self.levels = levels
        here = (levels[:, :, None] < levels[:, None, :]) & (levels[:, :, None] >= 0)
        self.scale = weight / here.sum((1, 2))[:, None].clamp(min=1)

    def flows(self, f: Tensor) -> Flows:
        """Loss and flows at the scores `f`."""
        better, worse = self.levels[:, :, None], self.levels[:, None, :]
        z = torch.where((better < worse) & (better >= 0), f[:, None, :] - f[:, :, None], -torch.inf)
        share = torch.sigmoid(z)
        loss = softplus(z).sum(2).sum(1, keepdim=True)
        return _total(self.scale * loss), self.scale * share.sum(1), self.scale * share.sum(2)


class SetLoss(RowLoss):
    """Covering loss of sets whose relevant labels are alike, and whose irrelevant labels are alike."""

    one_sided = True

    def __init__(self, levels: Tensor, weight: Tensor, covering: SetCovering) -> None:
        self.levels, self.weight = levels, weight
        self.sides: list[tuple[tuple[int, ...], bool, float]] = [((0, 1), True, covering.positive_weight)]
        if not covering.joined:
            self.sides = [
                ((0,), covering.positive == "together", covering.positive_weight),
                ((1,), covering.negative == "together", covering.negative_weight),
            ]
        self.largest_flow = max(factor for *_, factor in self.sides) * (float(weight.max()) if len(weight) else 0.0)

    def flows(self, f: Tensor) -> Flows:
        """Loss and flows at the scores `f`."""
        relevant = self.levels == 0
        z = torch.where(relevant, -f, f)
        flow, loss = torch.zeros_like(f), torch.zeros_like(f[:, :1])
        for levels, together, factor in self.sides:
            here = self.levels >= 0 if len(levels) == 2 else self.levels == levels[0]
            inside = torch.where(here, z, -torch.inf)
            if together:
                paid = softplus(torch.logsumexp(inside, 1, keepdim=True))
                share, total = torch.exp(inside - paid), paid
            else:
                share, total = torch.sigmoid(inside), softplus(inside).sum(1, keepdim=True)
            flow, loss = flow + factor * share, loss + factor * total
        flow = self.weight * flow
        return _total(self.weight * loss), torch.where(relevant, 0.0, flow), torch.where(relevant, flow, 0.0)


class EdgeLoss(RowLoss):
    """Loss of any subgraphs, by lists of their edges; `dummy` adds a label of score 0, the last one."""

    compiles = False

    def __init__(self, edges: tuple[Tensor, ...], weight: Tensor, largest: float, n_labels: int, dummy: bool) -> None:
        row, better, worse, self.subgraph = edges
        self.k, self.dummy, self.weight, self.largest_flow = n_labels + dummy, dummy, weight, largest
        self.better, self.worse = row * self.k + better, row * self.k + worse

    def flows(self, f: Tensor) -> Flows:
        """Loss and flows at the scores `f`."""
        scores = (pad(f, (0, 1)) if self.dummy else f).reshape(-1)
        z = scores[self.worse] - scores[self.better]
        top = torch.zeros_like(self.weight).scatter_reduce(0, self.subgraph, z, "amax")
        more = torch.expm1(-top).index_add(0, self.subgraph, torch.exp(z - top[self.subgraph]))
        log_sums = top + torch.log1p(more)
        flow = self.weight[self.subgraph] * torch.exp(z - log_sums[self.subgraph])
        into, out_of = (
            torch.zeros_like(scores).index_add(0, ends, flow).reshape(len(f), self.k)[:, : f.shape[1]]
            for ends in (self.worse, self.better)
        )
        return _total(self.weight * log_sums), into, out_of


def softplus(x: Tensor) -> Tensor:
    """Return log(1 + e^x), x itself only where that is the same in float64: PyTorch does so from 20 on."""
    return torch.nn.functional.softplus(x, threshold=40.0)


def _total(losses: Tensor) -> Tensor:
    return losses.to(torch.float64).sum()


def has_version(loss: Loss) -> bool:
    """Whether a loss can be evaluated on a device."""
    return type(loss) in (LogLinearLoss, CoveringLoss)


def width(loss: Any) -> int:
    """Numbers per row of the largest intermediate result."""
    k: int = loss.shape[1]
    layers = getattr(loss, "layers", None)
    sets = isinstance(loss, CoveringLoss) and isinstance(loss.decomposition, SetCovering)
    return k if sets or (layers is not None and layers.kind != cuts.DISAGREEMENT) else k * k


def row_loss(
    loss: Any, rows: slice, device: torch.device, dtype: torch.dtype = torch.float32, unit: float = 1.0
) -> RowLoss:
    """Return the loss of some rows on a device, for scores of type `dtype` and weights in multiples of `unit`."""
    weights = loss.weight[rows] / unit
    weight = torch.as_tensor(weights[:, np.newaxis], dtype=dtype, device=device)
    layers = getattr(loss, "layers", None)
    if layers is not None:
        levels, depth, kind = _tensor(layers.levels[rows], device), layers.depth, layers.kind
        if kind == cuts.DISAGREEMENT:
            return PairLoss(levels, weight, depth)
        return LayeredLoss(levels, weight, depth, kind)
    covering = isinstance(loss, CoveringLoss)
    if covering and isinstance(loss.decomposition, SetCovering):
        return SetLoss(_tensor(loss.levels[rows], device), weight, loss.decomposition)
    subgraphs = loss.decomposition.cut(loss.graphs[rows])
    of_subgraph = subgraphs.weight
    if not covering:
        of_instance = np.bincount(subgraphs.instance, weights=subgraphs.weight, minlength=subgraphs.n_instances)
        of_subgraph = of_subgraph / of_instance[subgraphs.instance]
    of_subgraph = of_subgraph * weights[subgraphs.instance]
    largest = float(np.bincount(subgraphs.instance, weights=of_subgraph).max(initial=0.0))
    edges = tuple(torch.as_tensor(part, dtype=torch.int64, device=device) for part in edges_of(subgraphs))
    of_subgraph = torch.as_tensor(of_subgraph, dtype=dtype, device=device)
    return EdgeLoss(edges, of_subgraph, largest, loss.shape[1], covering)


def _tensor(levels: Any, device: torch.device) -> Tensor:
    """Levels in as few bytes as they need."""
    small = np.int8 if levels.max(initial=0) < 127 else levels.dtype
    return torch.as_tensor(np.ascontiguousarray(levels, dtype=small), device=device)
