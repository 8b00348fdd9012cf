r"""Soft-margin loss of scores on complete bipartite subgraphs.

.. math:: L(f) = \sum_i w_i \sum_j \sigma_{ij} \max_{a \in A_{ij}, b \in B_{ij}}
          \left(\gamma_{ia} - \gamma_{ib} - f_{ia} + f_{ib}\right)_+

The loss of a subgraph is the shortfall of its worst pair: a maximum over A plus a maximum over B, so no pairs are
listed.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from labelrank._arrays import FloatArray, pointers
from labelrank.decompositions import Decomposition, Subgraph, Subgraphs, domination, levels
from labelrank.decompositions.subgraphs import from_lists
from labelrank.losses.base import ALL, Loss
from labelrank.supervision import PreferenceGraphs


class SoftMarginLoss(Loss):
    r"""Soft-margin loss of all instances.

    Parameters
    ----------
    graphs : PreferenceGraphs
        Observed preferences.
    decomposition : Decomposition, str or callable, default="levels"
        Decomposition into complete bipartite subgraphs. Graphs stored as edges have no levels; for them ``"levels"``
        means ``"domination"``, which is equivalent for a ranking without ties.
    sample_weight : ndarray of shape (n_instances,), optional
        Weights of the instances.
    margin : {"gaps", "unit"}, default="gaps"
        The margin of a pair: the number of levels between the two labels, or always 1. It is always 1 in graphs stored
        as edges.
    weighting : {"mean", "sum"}, default="mean"
        Whether the loss of an instance is the mean over its d subgraphs (:math:`\sigma = 1/d`) or their sum
        (:math:`\sigma = 1`).
    targets : ndarray of shape (n_instances, n_labels), optional
        Targets :math:`\gamma`, whose differences are the margins, instead of levels; ignored for absent labels.

    Attributes
    ----------
    blocks : BipartiteBlocks
        The complete bipartite subgraphs with their targets and weights, as kernels take them.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import as_graphs
    >>> from labelrank.losses import SoftMarginLoss
    >>> loss = SoftMarginLoss(as_graphs([[1, 2, 3]]), margin="unit")
    >>> loss.value(np.array([[2.0, 0.0, 0.5]]))  # the second label should be 1 above the third and is 0.5 below
    0.75
    """

    name: ClassVar[str] = "soft_margin"
    smooth: ClassVar[bool] = False
    abilities: ClassVar[frozenset[str]] = frozenset({"blocks"})
    default_decomposition: ClassVar[str | None] = "levels"

    def __init__(
        self,
        graphs: PreferenceGraphs,
        decomposition: str | Decomposition | Any | None = None,
        sample_weight: FloatArray | None = None,
        *,
        margin: Literal["gaps", "unit"] = "gaps",
        weighting: Literal["mean", "sum"] = "mean",
        targets: npt.NDArray[Any] | None = None,
    ) -> None:
        super().__init__(graphs, decomposition, sample_weight)
        if targets is None and margin == "gaps" and graphs.is_ranked:
            targets = -graphs.levels
        self.blocks = self._cut(weighting, targets)

    def _get_decomposition(self, chosen: Any) -> Decomposition:
        decomposition = super()._get_decomposition(chosen)
        return domination if decomposition is levels and not self.graphs.is_ranked else decomposition

    def _cut(self, weighting: str, targets: npt.NDArray[Any] | None) -> Any:
        """Return the complete bipartite subgraphs with their targets and weights, as kernels take them."""
        from labelrank._kernels.losses.soft_margin import BipartiteBlocks

        subgraphs = _bipartite(self.decomposition.cut(self.graphs), self.decomposition.name)
        ptr, member_ptr, weight = subgraphs.subgraph_ptr, subgraphs.member_ptr, subgraphs.weight
        members, sides = subgraphs.members.astype(np.int32), _sides(subgraphs)
        del subgraphs  # several times as large
        sizes = sides[:, 1] - sides[:, 0] + (sides[:, 3] - sides[:, 2])
        counts = np.diff(ptr)
        sigma = self.weight / np.maximum(counts, 1) if weighting == "mean" else self.weight
        return BipartiteBlocks(
            head=np.column_stack([ptr, pointers(sizes)[ptr], member_ptr]),
            sides=sides,
            members=members,
            gamma=_gamma(targets, member_ptr, members),
            weight=weight * np.repeat(sigma, counts),
            largest=int(sizes.max(initial=0)),
        )

    def value(self, scores: FloatArray, rows: slice = ALL) -> float:
        """Return the loss of some instances."""
        return self.value_and_gradient(scores, np.empty((0, 0)), rows)

    def value_and_gradient(self, scores: FloatArray, out: FloatArray, rows: slice = ALL) -> float:
        """Return the loss of some instances; `out` is overwritten with a subgradient."""
        from labelrank._kernels.losses.soft_margin import slack

        return float(slack(scores, rows.indices(self.shape[0])[0], self.blocks, out))


def _gamma(targets: npt.NDArray[Any] | None, member_ptr: npt.NDArray[Any], members: npt.NDArray[Any]) -> FloatArray:
    """Return the target of each member; empty if all margins are 1."""
    if targets is None:
        return np.empty(0)
    rows = np.repeat(np.arange(len(targets)), np.diff(member_ptr))
    return np.asarray(targets[rows, members], dtype=np.float64)


def _sides(subgraphs: Subgraphs) -> npt.NDArray[Any]:
    """Return the ends of the two sides of subgraphs of one block each, in the smallest sufficient integer type."""
    sides = np.empty((len(subgraphs), 4), dtype=np.int32 if len(subgraphs.members) < 2**31 else np.int64)
    ends = (subgraphs.better_start, subgraphs.better_stop, subgraphs.worse_start, subgraphs.worse_stop)
    for column, end in enumerate(ends):
        sides[:, column] = end
    return sides


def _bipartite(subgraphs: Subgraphs, name: str) -> Subgraphs:
    """Join the blocks of each subgraph to a complete bipartite graph; raise ValueError if that is impossible."""
    if (np.diff(subgraphs.block_ptr) == 1).all():
        return subgraphs
    rows: list[list[Subgraph]] = []
    for i in range(subgraphs.n_instances):
        rows.append([])
        for subgraph in subgraphs.of(i):
            better = {a for side, _ in subgraph.blocks for a in side}
            worse = {b for _, side in subgraph.blocks for b in side}
            if better & worse or sum(len(A) * len(B) for A, B in subgraph.blocks) != len(better) * len(worse):
                raise ValueError(
                    f"the decomposition {name!r} gives instance {i} a subgraph that is not complete bipartite (each "
                    "label of one side above each of the other), which the soft-margin loss needs; use "
                    '"levels", "adjacent_levels", "all_level_pairs", "domination", "dominated" or "disagreement"'
                )
            rows[i].append(Subgraph.between(sorted(better), sorted(worse), subgraph.weight))
    return from_lists(rows, subgraphs.n_labels)
