"""Choice of the labels of a graph to draw, level by level or on a circle."""

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
    """The labels to draw; in each level, one more node, of label -1, represents those that are left out."""

    labels: list[int]
    names: list[str]
    gray: set[int]
    rows: list[list[int]] | None = None  # nodes of each level, those not observed last; None on a circle
    n_levels: int = 0
    condensed: bool = False  # arrows from level to level instead of edges
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
        """Names shortened to fit, font size, and positions."""
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
    """Choose the labels to draw: all or, if too many, those of the best levels or with the most edges.

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
        most = np.argsort(-degree, kind="stable")[: min(max_labels, np.count_nonzero(degree))]
        chosen = np.sort(most)
    labels = chosen.tolist()
    gray = {node for node, label in enumerate(labels) if not degree[label]}
    return Nodes(labels, [str(graph.labels[label]) for label in labels], gray, note=_note(len(labels), n_labels))


def _in_rows(graph: PreferenceGraphs, levels: npt.NDArray[Any], max_labels: int) -> Nodes:
    """Level by level, at least one label of each; below them, if `max_labels` allows, labels that were not observed."""
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
        names += [str(graph.labels[label]) for label in taken]
        if len(taken) < len(group):
            names.append(f"+ {len(group) - len(taken)} more")
            taken.append(-1)
        rows.append(list(range(len(labels), len(labels) + len(taken))))
        labels += taken
    gray = {node for node, label in enumerate(labels) if label < 0 or levels[label] < 0}
    note = _note(sum(label >= 0 for label in labels), n_labels)
    condensed = graph.weight is None and graph.n_edges > _MAX_EDGES
    if condensed:
        note = "; ".join(filter(None, [note, f"{graph.n_edges} edges: each label to all labels of lower levels"]))
    return Nodes(labels, names, gray, rows, n_levels, condensed, note)


def _note(n_drawn: int, n_labels: int) -> str:
    return f"{n_drawn} of {n_labels} labels drawn" if n_drawn < n_labels else ""


def _levels(graph: PreferenceGraphs) -> npt.NDArray[Any] | None:
    """Levels of a layered graph, ignoring its weights; None for any other graph."""
    if graph.weight is not None:
        graph = PreferenceGraphs.from_pairs(*graph.to_edges(), n_instances=1, n_labels=graph.shape[1], conflicts="keep")
    if not graph.is_layered or (not graph.n_edges and not graph.is_ranked):
        return None
    levels: npt.NDArray[Any] = graph.to_levels().levels[0]
    return levels
