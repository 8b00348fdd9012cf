"""Decompositions of graphs stored as edges, which are grouped into stars around one of their ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from labelrank.decompositions.subgraphs import IntArray, Subgraphs, expand_ranges, one_block_each, pointers
from labelrank.supervision import PreferenceGraphs


@dataclass(frozen=True)
class Stars:
    """Edges grouped by instance and one of their ends, the hub; a star's members are its hub, then its rays."""

    n_labels: int
    members: IntArray
    member_ptr: IntArray  # of instances into members
    row: IntArray  # instance of each star
    hub: IntArray  # position of each hub in members
    stop: IntArray  # of each star in members
    weight: npt.NDArray[np.float64] | None  # of the edges, in the order of the rays

    @classmethod
    def of(cls, graphs: PreferenceGraphs, hub: Literal["better", "worse"]) -> Stars:
        """The stars of all instances, around the better or the worse ends of their edges."""
        rows, hubs, rays = graphs.to_edges()
        weight = graphs.weight
        if hub == "worse":
            order = np.lexsort((hubs, rays, rows))
            rows, hubs, rays = rows[order], rays[order], hubs[order]
            weight = None if weight is None else weight[order]
        first = np.flatnonzero(np.diff(rows * graphs.shape[1] + hubs, prepend=-1))  # edge of each star
        position = first + np.arange(len(first))
        return cls(
            n_labels=graphs.shape[1],
            members=np.insert(rays, first, hubs[first]),
            member_ptr=pointers(rows, len(graphs)) + pointers(rows[first], len(graphs)),
            row=rows[first],
            hub=position,
            stop=np.append(position, len(rows) + len(first))[1:],
            weight=weight,
        )

    @property
    def hubs(self) -> tuple[IntArray, IntArray]:
        """Slices of the hubs."""
        return self.hub, self.hub + 1

    @property
    def rays(self) -> tuple[IntArray, IntArray]:
        """Slices of the rays."""
        return self.hub + 1, self.stop

    def mean_weight(self, stars: IntArray) -> npt.NDArray[np.float64]:
        """Mean weight of the edges of the subgraphs that begin with `stars`."""
        if self.weight is None or not len(stars):
            return np.ones(len(stars))
        first = self.hub[stars] - stars  # index of the first edge: members before it, without the hubs
        return np.add.reduceat(self.weight, first) / np.diff(first, append=len(self.weight))


def domination(graphs: PreferenceGraphs) -> Subgraphs:
    """Each label against all labels that it beats."""
    stars = Stars.of(graphs, hub="better")
    weight = stars.mean_weight(np.arange(len(stars.row)))
    return one_block_each(stars.n_labels, stars.members, stars.member_ptr, stars.row, stars.hubs, stars.rays, weight)


def dominated(graphs: PreferenceGraphs) -> Subgraphs:
    """All labels that beat a label against it, for each label."""
    stars = Stars.of(graphs, hub="worse")
    weight = stars.mean_weight(np.arange(len(stars.row)))
    return one_block_each(stars.n_labels, stars.members, stars.member_ptr, stars.row, stars.rays, stars.hubs, weight)


def disagreement(graphs: PreferenceGraphs) -> Subgraphs:
    """Each edge by itself."""
    stars = Stars.of(graphs, hub="better")
    which, ray = expand_ranges(*stars.rays)
    hub = stars.hub[which]
    return one_block_each(
        stars.n_labels,
        stars.members,
        stars.member_ptr,
        stars.row[which],
        (hub, hub + 1),
        (ray, ray + 1),
        stars.weight,
    )


def zero_one(graphs: PreferenceGraphs) -> Subgraphs:
    """All edges together."""
    stars = Stars.of(graphs, hub="better")
    rows = np.unique(stars.row)
    first = pointers(stars.row, len(graphs))[rows]  # star of each instance
    return Subgraphs(
        n_labels=stars.n_labels,
        members=stars.members,
        member_ptr=stars.member_ptr,
        subgraph_ptr=pointers(rows, len(graphs)),
        block_ptr=np.append(first, len(stars.row)),
        better_start=stars.hub,
        better_stop=stars.hub + 1,
        worse_start=stars.hub + 1,
        worse_stop=stars.stop,
        weight=stars.mean_weight(first),
    )
