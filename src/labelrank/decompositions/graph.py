"""Decompositions of preference graphs into subgraphs.

A ranking makes an error on a subgraph if it disagrees with at least one of its edges, so the decomposition determines
what the error counts:

================  =================================================================  =========================
name              one subgraph for                                                   the error counts
================  =================================================================  =========================
zero_one          the whole graph                                                    graphs not fully respected
disagreement      each edge                                                          edges
domination        each label with outgoing edges, with all of them                   labels not above all they beat
dominated         each label with incoming edges, with all of them                   labels not below all that beat them
levels            each level against all lower ones (layered graphs)                 levels
adjacent_levels   each level against the next (layered graphs)                       adjacent levels
all_level_pairs   each pair of levels (layered graphs)                               pairs of levels
================  =================================================================  =========================
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy.typing as npt

from labelrank._kernels import cuts
from labelrank.decompositions import layered, stars
from labelrank.decompositions.layered import LevelGroups
from labelrank.decompositions.subgraphs import Subgraphs
from labelrank.supervision import PreferenceGraphs


class Layers(NamedTuple):
    """Levels of layered graphs, and the code of a decomposition that kernels evaluate on them."""

    levels: npt.NDArray[Any]  # (n_instances, n_labels), -1 for an absent label
    depth: int  # number of levels
    kind: int  # one of labelrank._kernels.cuts


class Decomposition:
    """Base class of decompositions of graphs into subgraphs.

    Attributes
    ----------
    name : str
        Name in the registry.
    """

    name: str = "decomposition"

    def cut(self, graphs: PreferenceGraphs) -> Subgraphs:
        """The subgraphs of all instances."""
        raise NotImplementedError

    def layers(self, graphs: PreferenceGraphs) -> Layers | None:
        """Levels of the graphs if kernels can evaluate this decomposition on them, otherwise None."""
        return None

    def __repr__(self) -> str:
        return f"<decomposition {self.name}>"


class NamedDecomposition(Decomposition):
    """A built-in decomposition of layered graphs and, where it is defined, of graphs stored as edges.

    Parameters
    ----------
    kind : int
        Its code in :mod:`labelrank._kernels.cuts`.
    name : str
        Its name.
    of_layered : callable
        Decomposes sorted levels.
    of_edges : callable, optional
        Decomposes graphs stored as edges; without it the graphs must be layered.
    """

    def __init__(
        self,
        kind: int,
        name: str,
        of_layered: Callable[[LevelGroups], Subgraphs],
        of_edges: Callable[[PreferenceGraphs], Subgraphs] | None = None,
    ) -> None:
        self.kind = kind
        self.name = name
        self._of_layered = of_layered
        self._of_edges = of_edges

    def cut(self, graphs: PreferenceGraphs) -> Subgraphs:
        """The subgraphs of all instances.

        If the edges have weights, the weight of a subgraph is their mean.
        """
        if not graphs.is_ranked and self._of_edges is not None:
            return self._of_edges(graphs)
        try:
            graphs = graphs.to_levels()
        except ValueError as error:
            raise ValueError(f"the decomposition {self.name!r} needs layered graphs: {error}") from error
        return self._of_layered(LevelGroups.of(graphs.levels))

    def layers(self, graphs: PreferenceGraphs) -> Layers | None:
        """Levels of the graphs if they are stored as such, otherwise None."""
        if not graphs.is_ranked:
            return None
        return Layers(graphs.levels, int(graphs.levels.max(initial=0)) + 1, self.kind)

    def __reduce__(self) -> tuple[Any, ...]:
        from labelrank.decompositions.registry import get_decomposition

        return get_decomposition, (self.name,)


zero_one = NamedDecomposition(cuts.ZERO_ONE, "zero_one", layered.zero_one, stars.zero_one)
disagreement = NamedDecomposition(cuts.DISAGREEMENT, "disagreement", layered.disagreement, stars.disagreement)
domination = NamedDecomposition(cuts.DOMINATION, "domination", layered.domination, stars.domination)
dominated = NamedDecomposition(cuts.DOMINATED, "dominated", layered.dominated, stars.dominated)
levels = NamedDecomposition(cuts.LEVELS, "levels", layered.levels)
adjacent_levels = NamedDecomposition(cuts.ADJACENT_LEVELS, "adjacent_levels", layered.adjacent_levels)
all_level_pairs = NamedDecomposition(cuts.ALL_LEVEL_PAIRS, "all_level_pairs", layered.all_level_pairs)


class EdgeWeighted(Decomposition):
    """A decomposition with each subgraph weighted by its number of edges.

    Parameters
    ----------
    decomposition : Decomposition
        The decomposition.

    Examples
    --------
    >>> from labelrank import as_graphs
    >>> from labelrank.decompositions import EdgeWeighted, levels
    >>> EdgeWeighted(levels).cut(as_graphs([[1, 2, 2, 3]])).weight
    array([3., 2.])
    """

    def __init__(self, decomposition: Decomposition) -> None:
        self.decomposition = decomposition
        self.name = f"{decomposition.name}, weighted by edges"

    def cut(self, graphs: PreferenceGraphs) -> Subgraphs:
        """The subgraphs of all instances."""
        subgraphs = self.decomposition.cut(graphs)
        return replace(subgraphs, weight=subgraphs.weight * subgraphs.edge_counts())
