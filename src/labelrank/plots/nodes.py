"""Which labels of a graph are drawn, and how: level by level or on a circle."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from labelrank.plots import layout as layouts
from labelrank.supervision import PreferenceGraphs

_MAX_EDGES = 60  # of a layered graph; with more, arrows go from level to level


@dataclass(frozen=True)
class Nodes:
    """The labels that are drawn; one more node, of label -1, stands for those of a level that are not."""

    labels: list[int]
    names: list[str]
    grey: set[int]
    rows: list[list[int]] | None = None  # nodes of each level, None on a circle; what was not observed comes last
    n_levels: int = 0
    condensed: bool = False  # arrows from level to level in place of edges
    note: str = ""

    @cached_property
    def of_label(self) -> dict[int, int]:
        """Node of each label that is drawn."""
        return {label: node for node, label in enumerate(self.labels) if label >= 0}

    def shows(self, edge: tuple[int, int]) -> bool:
        """Whether both labels of an edge are drawn."""
        return edge[0] in self.of_label and edge[1] in self.of_label

    @property
    def crowded(self) -> bool:
        """Whether there are too many nodes for names in a small panel."""
        return len(self.labels) > 12 or len(self.rows or ()) > 8

    def laid_out(self, width: float, height: float, *, small: bool = False) -> tuple[list[str], float, layouts.Layout]:
        """Names as they fit, size of their letters, places."""
        n = len(self.labels)
        font = 10.0 if n <= 8 else 8.5 if n <= 16 else 7.0
        font = min(font, 7.5, 0.085 * width) if small else max(5.0, min(font, 0.06 * min(width, height)))
        while True:
            room = min(18, max(4, int(width / font)))
            names = [""] * n if small and self.crowded else [layouts.shorten(name, room) for name in self.names]
            if self.rows is None:
                return names, font, layouts.circle(names, width, height, font)
            place = layouts.layers(self.rows, names, width, height, font)
            if font <= 4 or not place.is_tight:
                return names, font, place
            font *= 0.92


def choose_nodes(graph: PreferenceGraphs, max_labels: int) -> Nodes:
    """What is drawn of a graph: all labels, or of too many the best levels, or those with the most edges.

    Examples
    --------
    >>> from labelrank import as_graphs
    >>> from labelrank.plots.nodes import choose_nodes
    >>> choose_nodes(as_graphs([[1, 2, 2, 2]]), max_labels=3).names
    ['0', '1', '2', '+ 1 more']
    """
    levels = _levels(graph)
    return _on_circle(graph, max_labels) if levels is None else _in_rows(graph, levels, max_labels)


def _on_circle(graph: PreferenceGraphs, max_labels: int) -> Nodes:
    """All labels, or those with the most edges."""
    n_labels = graph.shape[1]
    _, better, worse = graph.to_edges()
    degree = np.bincount(np.concatenate([better, worse]), minlength=n_labels)
    chosen = np.arange(n_labels)
    if n_labels > max_labels:
        chosen = np.flatnonzero(degree)
        chosen = np.sort(chosen[np.argsort(-degree[chosen], kind="stable")][:max_labels])
    labels = chosen.tolist()
    grey = {node for node, label in enumerate(labels) if not degree[label]}
    note = _labels_note(len(labels), n_labels)
    return Nodes(labels, [str(graph.labels[label]) for label in labels], grey, note=note)


def _in_rows(graph: PreferenceGraphs, levels: npt.NDArray[Any], max_labels: int) -> Nodes:
    """Level by level, at least one label of each; below them, if there is room, what was not observed."""
    n_labels = graph.shape[1]
    groups = [np.flatnonzero(levels == level) for level in np.unique(levels[levels >= 0])][:max_labels]
    n_levels = len(groups)
    if n_labels <= max_labels and (levels < 0).any():
        groups.append(np.flatnonzero(levels < 0))
    labels: list[int] = []
    names: list[str] = []
    rows = []
    spare = max_labels - len(groups)  # beyond one label of each level: for the best levels first
    for group in groups:
        taken = group[: 1 + spare].tolist()
        spare -= len(taken) - 1
        texts = [str(graph.labels[label]) for label in taken]
        if len(taken) < len(group):
            texts.append(f"+ {len(group) - len(taken)} more")
            taken.append(-1)
        rows.append(list(range(len(labels), len(labels) + len(taken))))
        labels += taken
        names += texts
    grey = {node for node, label in enumerate(labels) if label < 0 or levels[label] < 0}
    notes = [_labels_note(sum(label >= 0 for label in labels), n_labels)]
    condensed = graph.weight is None and int(graph.edge_counts()[0]) > _MAX_EDGES
    if condensed:
        notes.append(f"{graph.n_edges} edges: each label to all labels of lower levels")
    return Nodes(labels, names, grey, rows, n_levels, condensed, "; ".join(filter(None, notes)))


def _labels_note(n_drawn: int, n_labels: int) -> str:
    return f"{n_drawn} of {n_labels} labels drawn" if n_drawn < n_labels else ""


def _levels(graph: PreferenceGraphs) -> npt.NDArray[Any] | None:
    """Levels of a layered graph, whatever its storage and its weights; None for any other."""
    if graph.storage == "levels":
        row: npt.NDArray[Any] = graph.levels[0]
        return row
    bare = PreferenceGraphs(
        indptr=graph.indptr, better=graph.better, worse=graph.worse, n_labels=graph.shape[1], labels=None
    )
    if not bare.n_edges or not bare.is_layered:
        return None
    row = bare.to_levels().levels[0]
    return row
