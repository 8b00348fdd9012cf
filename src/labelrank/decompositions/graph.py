"""Decompositions of preference graphs: how a graph is cut into subgraphs.

A ranking pays for a subgraph when it disagrees with at least one of its edges, so the cut decides what is
counted:

================  =================================================================  =========================
name              one subgraph for                                                   the error counts
================  =================================================================  =========================
zero_one          the whole graph                                                    graphs not fully respected
disagreement      each edge                                                          edges
domination        each label with outgoing edges, with all of them                   labels not above all they beat
dominated         each label with incoming edges, with all of them                   labels not below all that beat them
levels            each level against all lower ones (layered graphs)                 levels
adjacent_levels   each level against the next (layered graphs)                       neighbouring levels
all_level_pairs   each pair of levels (layered graphs)                               pairs of levels
================  =================================================================  =========================
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from labelrank.decompositions import layered, stars
from labelrank.decompositions.layered import LevelGroups
from labelrank.decompositions.subgraphs import Subgraphs
from labelrank.supervision import PreferenceGraphs


class Decomposition:
    """How a graph is cut into subgraphs.

    Attributes
    ----------
    name : str
        The name it is known by in the registry.
    """

    name: str = "decomposition"

    def cut(self, graphs: PreferenceGraphs) -> Subgraphs:
        """The subgraphs of all instances."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<decomposition {self.name}>"


class NamedDecomposition(Decomposition):
    """A decomposition that knows how to cut levels and, where it makes sense, edges.

    Parameters
    ----------
    name : str
        Its name.
    of_layered : callable
        Cuts sorted levels.
    of_edges : callable, optional
        Cuts graphs of edges; without it the graphs must be layered.
    """

    def __init__(
        self,
        name: str,
        of_layered: Callable[[LevelGroups], Subgraphs],
        of_edges: Callable[[PreferenceGraphs], Subgraphs] | None = None,
    ) -> None:
        self.name = name
        self._of_layered = of_layered
        self._of_edges = of_edges

    def cut(self, graphs: PreferenceGraphs) -> Subgraphs:
        """The subgraphs of all instances.

        A subgraph of weighted edges weighs the mean of their weights.
        """
        if graphs.storage == "edges" and self._of_edges is not None:
            return self._of_edges(graphs)
        try:
            graphs = graphs.to_levels()
        except ValueError as error:
            raise ValueError(f"the decomposition {self.name!r} needs layered graphs: {error}") from error
        return self._of_layered(LevelGroups.of(graphs.levels))

    def __reduce__(self) -> tuple[Any, ...]:
        from labelrank.decompositions.registry import get_decomposition

        return get_decomposition, (self.name,)


zero_one = NamedDecomposition("zero_one", layered.zero_one, stars.zero_one)
disagreement = NamedDecomposition("disagreement", layered.disagreement, stars.disagreement)
domination = NamedDecomposition("domination", layered.domination, stars.domination)
dominated = NamedDecomposition("dominated", layered.dominated, stars.dominated)
levels = NamedDecomposition("levels", layered.levels)
adjacent_levels = NamedDecomposition("adjacent_levels", layered.adjacent_levels)
all_level_pairs = NamedDecomposition("all_level_pairs", layered.all_level_pairs)


class EdgeWeighted(Decomposition):
    """The same cut with each subgraph weighted by its number of edges.

    Parameters
    ----------
    decomposition : Decomposition
        The cut.

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
