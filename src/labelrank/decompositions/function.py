"""User-defined decompositions: functions of one instance's graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from labelrank.decompositions.graph import Decomposition
from labelrank.decompositions.subgraphs import Subgraph, Subgraphs, from_lists
from labelrank.supervision import PreferenceGraphs


@dataclass(frozen=True)
class InstanceGraph:
    """Graph of one instance, as passed to a user-defined decomposition.

    Attributes
    ----------
    edges : tuple of (better, worse)
        Label indices of all edges.
    levels : tuple of tuples of int, or None
        Labels of each level, best first; None when the graph is stored as edges.
    labels : ndarray
        Names of all labels.
    weights : tuple of float, or None
        Weight of each edge, in the order of `edges`; None when the edges have none.
    """

    edges: tuple[tuple[int, int], ...]
    levels: tuple[tuple[int, ...], ...] | None
    labels: npt.NDArray[Any]
    weights: tuple[float, ...] | None = None


class FunctionDecomposition(Decomposition):
    """A decomposition given by a function of one instance's graph.

    Parameters
    ----------
    function : callable
        Takes an :class:`InstanceGraph` and returns its subgraphs: each a :class:`Subgraph` or an iterable of
        edges ``(better, worse)``. It is called once for each distinct graph, so it must depend on the graph
        alone. If the edges have weights, a subgraph has their mean weight, as in the built-in decompositions, times
        the weight of the :class:`Subgraph`.

    Examples
    --------
    >>> from labelrank import as_graphs
    >>> from labelrank.decompositions import FunctionDecomposition
    >>> def best_against_rest(graph):
    ...     best, *rest = graph.levels
    ...     return [[(best[0], label) for level in rest for label in level]]
    >>> FunctionDecomposition(best_against_rest).cut(as_graphs([[2, 1, 3]])).of(0)
    [Subgraph(blocks=(((1,), (0, 2)),), weight=1.0)]
    """

    _max_cached: ClassVar[int] = 100_000

    def __init__(self, function: Callable[[InstanceGraph], Iterable[Any]]) -> None:
        self.function = function
        self.name = getattr(function, "__name__", type(function).__name__)

    def cut(self, graphs: PreferenceGraphs) -> Subgraphs:
        """The subgraphs of all instances."""
        known: dict[bytes, list[Subgraph]] = {}
        rows: list[list[Subgraph]] = []
        for i in range(len(graphs)):
            if graphs.is_ranked:
                key = graphs.levels[i].tobytes()
            else:
                edges = slice(graphs.indptr[i], graphs.indptr[i + 1])
                key = np.stack([graphs.better[edges], graphs.worse[edges]]).tobytes()
                if graphs.weight is not None:
                    key += graphs.weight[edges].tobytes()
            found = known.get(key)
            if found is None:
                found = self._subgraphs(graphs, i)
                if len(known) < self._max_cached:
                    known[key] = found
            rows.append(found)
        return from_lists(rows, graphs.shape[1])

    def _subgraphs(self, graphs: PreferenceGraphs, i: int) -> list[Subgraph]:
        graph = graphs[i]
        _, better, worse = graph.to_edges()
        edges = tuple(zip(better.tolist(), worse.tolist(), strict=True))
        weights = None if graph.weight is None else tuple(graph.weight.tolist())
        if not edges:
            return []
        by_level = None
        if graphs.is_ranked:
            row = graphs.levels[i]
            by_level = tuple(tuple(np.flatnonzero(row == v).tolist()) for v in np.unique(row[row >= 0]))
        returned = self.function(InstanceGraph(edges, by_level, graphs.labels, weights))
        try:
            found = [item if isinstance(item, Subgraph) else Subgraph.of_edges(item) for item in returned]
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"the decomposition {self.name!r} must return a list of subgraphs, each a Subgraph or a list of edges "
                f"(better, worse); for instance {i} it returned {returned!r}"
            ) from error
        for subgraph in found:
            self._check(subgraph, set(edges), i)
        return found if weights is None else _weighted(found, dict(zip(edges, weights, strict=True)))

    def _check(self, subgraph: Subgraph, edges: set[tuple[int, int]], i: int) -> None:
        listed = subgraph.edges()
        if not listed or not all(better and worse for better, worse in subgraph.blocks):
            raise ValueError(f"the decomposition {self.name!r} returned a subgraph without edges for instance {i}")
        unknown = [edge for edge in listed if edge not in edges]
        if unknown:
            a, b = unknown[0]
            raise ValueError(
                f"the decomposition {self.name!r} returned the edge ({a}, {b}) for instance {i}, whose graph does not "
                "have it; subgraphs consist of edges (better, worse) of the graph, as label indices"
            )
        if len(listed) != len(set(listed)):
            raise ValueError(f"the decomposition {self.name!r} repeats an edge in a subgraph of instance {i}")
        if not (np.isfinite(subgraph.weight) and subgraph.weight > 0):
            raise ValueError(
                f"the decomposition {self.name!r} returned the weight {subgraph.weight} for instance {i}; expected a "
                "positive number"
            )


def _weighted(subgraphs: list[Subgraph], weight_of: dict[tuple[int, int], float]) -> list[Subgraph]:
    """Multiply the weight of each subgraph by the mean weight of its edges."""
    means = [float(np.mean([weight_of[edge] for edge in subgraph.edges()])) for subgraph in subgraphs]
    return [replace(subgraph, weight=subgraph.weight * mean) for subgraph, mean in zip(subgraphs, means, strict=True)]
