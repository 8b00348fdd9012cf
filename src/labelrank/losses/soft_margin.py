r"""The soft-margin loss of scores on complete bipartite subgraphs.

.. math:: L(f) = \sum_i w_i \sum_j \sigma_{ij} \max_{a \in A_{ij}, b \in B_{ij}}
          \left(\gamma_{ia} - \gamma_{ib} - f_{ia} + f_{ib}\right)_+

The pair that misses its margin by most is what a subgraph costs, so that it is a maximum over A plus a maximum over B
and never a matter of pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from labelrank.decompositions import Decomposition, Subgraphs
from labelrank.decompositions.graph import NamedDecomposition
from labelrank.supervision import PreferenceGraphs

FloatArray = npt.NDArray[np.float64]
Weighting = Literal["mean", "sum"]

_BLOCK = 2**18  # scores, or pairs of labels, at a time


class SoftMarginLoss:
    """The loss of all instances, and the flat arrays that the kernels of dual ascent work on.

    Parameters
    ----------
    graphs : PreferenceGraphs
        What was observed.
    decomposition : Decomposition
        How it is cut. Every subgraph must be a complete bipartite graph.
    sample_weight : ndarray of shape (n_instances,)
        Weights of the instances.
    gamma : ndarray of shape (n_instances, n_labels), optional
        Targets, of which the differences are the margins; any numbers for labels that are absent. Without it every
        margin is 1.
    weighting : {"mean", "sum"}
        Whether an instance's loss is the mean over its subgraphs or their sum.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import as_graphs
    >>> from labelrank.decompositions import levels
    >>> from labelrank.losses.soft_margin import SoftMarginLoss
    >>> loss = SoftMarginLoss(as_graphs([[1, 2, 3]]), levels, np.ones(1))
    >>> loss.value(np.array([[2.0, 0.0, 0.5]]))  # the second label should be 1 above the third and is 0.5 below
    0.75
    """

    def __init__(
        self,
        graphs: PreferenceGraphs,
        decomposition: Decomposition,
        sample_weight: FloatArray,
        gamma: npt.NDArray[Any] | None = None,
        weighting: Weighting = "mean",
    ) -> None:
        self.shape = graphs.shape
        parts = [_Part(graphs, rows, decomposition, gamma) for rows in _blocks(graphs, decomposition)]
        counts = np.concatenate([part.counts for part in parts])
        sigma = sample_weight / np.maximum(counts, 1) if weighting == "mean" else sample_weight
        self.seen = sample_weight > 0
        self.counted = (counts > 0) & self.seen
        self.weight = np.concatenate([part.weight for part in parts]) * np.repeat(sigma, counts)
        self.members = np.concatenate([part.members for part in parts])
        # Nothing is stored where all margins are 1.
        self.gamma = np.empty(0) if gamma is None else np.concatenate([part.gamma for part in parts])
        small = np.int32 if len(self.members) < 2**31 else np.int64
        self.sides = np.empty((len(self.weight), 4), dtype=small)
        first, start = 0, 0
        for part in parts:
            self.sides[first : first + len(part.sides)] = part.sides
            self.sides[first : first + len(part.sides)] += start
            first, start = first + len(part.sides), start + len(part.members)
        member_ptr = _ends(np.concatenate([part.n_members for part in parts]))
        del parts
        size = self.sides[:, 1] - self.sides[:, 0] + (self.sides[:, 3] - self.sides[:, 2])
        subgraph_ptr = _ends(counts)
        label_ptr, self.labels = _labels_of_instances(member_ptr, self.members, graphs.shape[1])
        self.head = np.column_stack([subgraph_ptr, _ends(size)[subgraph_ptr], label_ptr])
        self.largest = int(size.max(initial=0))

    @property
    def n_duals(self) -> int:
        """Size of all subgraphs together: one dual variable for each label of each."""
        return int(self.head[-1, 1])

    @property
    def structure(self) -> tuple[Any, ...]:
        """The subgraphs as the kernels take them."""
        return self.head, self.sides, self.members, self.gamma, self.labels

    def value(self, scores: FloatArray) -> float:
        """The loss of scores of shape (n_instances, n_labels)."""
        from labelrank._kernels.solvers.soft_projection.ascent import slack_sum

        return float(slack_sum(scores, self.weight, self.structure))

    def blocks(self) -> Iterator[slice]:
        """Slices of rows, so many that their scores stay small."""
        step = max(1, _BLOCK // max(self.shape[1], 1))
        return (slice(first, min(first + step, self.shape[0])) for first in range(0, self.shape[0], step))


class _Part:
    """The subgraphs of a block of instances, in as few bytes as they need."""

    def __init__(
        self, graphs: PreferenceGraphs, rows: slice, decomposition: Decomposition, gamma: npt.NDArray[Any] | None
    ) -> None:
        subgraphs = _bipartite(decomposition.cut(graphs[rows]), decomposition.name, rows.start)
        self.counts = np.diff(subgraphs.subgraph_ptr)
        self.weight = subgraphs.weight
        self.n_members = np.diff(subgraphs.member_ptr)
        self.members = subgraphs.members.astype(np.int32)
        sides = (subgraphs.better_start, subgraphs.better_stop, subgraphs.worse_start, subgraphs.worse_stop)
        self.sides = np.empty((len(subgraphs), 4), dtype=np.int32 if len(self.members) < 2**31 else np.int64)
        for column, side in enumerate(sides):
            self.sides[:, column] = side
        self.gamma = None
        if gamma is not None:
            self.gamma = gamma[rows][_rows(subgraphs.member_ptr), self.members].astype(np.float64)


def _blocks(graphs: PreferenceGraphs, decomposition: Decomposition) -> list[slice]:
    """Rows to cut at a time. A function is asked about all at once: its errors name the instance."""
    n, k = graphs.shape
    # Blocks keep the peak low, but memory that is freed in many small pieces stays with the process: of large data, the
    # arrays of a single block are returned as a whole.
    in_blocks = isinstance(decomposition, NamedDecomposition) and n * k * k <= 64 * _BLOCK
    step = max(1, _BLOCK // (k * k) if in_blocks else n)
    return [slice(first, min(first + step, n)) for first in range(0, n, step)]


def _ends(counts: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Where slices of these sizes end, from 0."""
    ends = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=ends[1:])
    return ends


def _rows(ptr: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    return np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))


def _labels_of_instances(
    ptr: npt.NDArray[np.int64], members: npt.NDArray[np.int32], n_labels: int
) -> tuple[Any, npt.NDArray[np.int32]]:
    """The labels of each instance, none of them twice."""
    from labelrank._kernels.solvers.soft_projection.ascent import different_labels

    ends, labels = np.zeros(len(ptr), dtype=np.int64), np.empty_like(members)
    different_labels(ptr, members, n_labels, ends, labels)
    # In layered graphs no member is there twice, and one array serves for both.
    return (ptr, members) if ends[-1] == len(members) else (ends, labels[: ends[-1]].copy())


def _bipartite(subgraphs: Subgraphs, name: str, first_row: int) -> Subgraphs:
    """The same with one block for each subgraph, where its blocks together are a complete bipartite graph."""
    counts = np.diff(subgraphs.block_ptr)
    if (counts == 1).all():
        return subgraphs
    members, added = [subgraphs.members], len(subgraphs.members)
    columns = np.column_stack(
        [subgraphs.better_start, subgraphs.better_stop, subgraphs.worse_start, subgraphs.worse_stop]
    )
    sides = columns[subgraphs.block_ptr[:-1]]
    # Joined sides are put at the end of members; the instances' own slices are not needed any more.
    rows = [_rows(subgraphs.member_ptr)]
    for s in np.flatnonzero(counts > 1):
        blocks = columns[subgraphs.block_ptr[s] : subgraphs.block_ptr[s + 1]]
        better = np.unique(np.concatenate([subgraphs.members[b[0] : b[1]] for b in blocks]))
        worse = np.unique(np.concatenate([subgraphs.members[b[2] : b[3]] for b in blocks]))
        instance = int(np.searchsorted(subgraphs.subgraph_ptr, s, side="right")) - 1
        edges = int(((blocks[:, 1] - blocks[:, 0]) * (blocks[:, 3] - blocks[:, 2])).sum())
        if edges != len(better) * len(worse) or len(np.intersect1d(better, worse)):
            raise ValueError(
                f"the decomposition {name!r} cuts instance {first_row + instance} into a subgraph that is not complete "
                "bipartite (each label of one side above each of the other), which a soft projection needs; use "
                '"levels", "adjacent_levels", "all_level_pairs", "domination", "dominated" or "disagreement"'
            )
        sides[s] = added, added + len(better), added + len(better), added + len(better) + len(worse)
        members += [better, worse]
        rows.append(np.full(len(better) + len(worse), instance))
        added += len(better) + len(worse)
    return _sorted_by_row(subgraphs, np.concatenate(members), np.concatenate(rows), sides)


def _sorted_by_row(subgraphs: Subgraphs, members: Any, rows: Any, sides: Any) -> Subgraphs:
    """Subgraphs of one block each, of members that are yet to be sorted by instance."""
    order = np.argsort(rows, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    start = place[sides[:, [0, 2]]]
    stop = start + (sides[:, [1, 3]] - sides[:, [0, 2]])
    ptr = np.searchsorted(rows[order], np.arange(subgraphs.n_instances + 1))
    return replace(
        subgraphs,
        members=members[order],
        member_ptr=ptr,
        block_ptr=np.arange(len(subgraphs) + 1),
        better_start=start[:, 0],
        better_stop=stop[:, 0],
        worse_start=start[:, 1],
        worse_stop=stop[:, 1],
    )
