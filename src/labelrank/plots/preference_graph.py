"""Drawing of the preference graph of an instance, its subgraphs, and the errors of a ranking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from labelrank._arrays import FloatArray
from labelrank.decompositions import Decomposition, Subgraph, disagreement, get_decomposition
from labelrank.plots import layout as layouts
from labelrank.plots._matplotlib import GRAY, axes_or_new, size_in_points
from labelrank.plots.nodes import Nodes, choose_nodes
from labelrank.supervision import PreferenceGraphs, as_graphs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from labelrank.plots._drawing import Arrow

Edges = Sequence[tuple[int, int]]
Size = tuple[float, float]

_WHOLE = 0.3  # share of the width that the whole graph takes beside its subgraphs


class PreferenceGraphDisplay:
    """Drawing of a preference graph, its subgraphs, and the errors of a ranking.

    Labels are nodes and preferences are arrows, from the better to the worse label. Layered graphs are drawn level by
    level, the best on top (with many edges, by one arrow from each level to the next); others on a circle. Each
    subgraph gets a panel beside the whole graph. With a ranking, edges that it contradicts or ties are dashed and have
    no arrowhead, the panels of their subgraphs are framed, and the title counts them.

    Parameters
    ----------
    graph : PreferenceGraphs or rank matrix of one row
        The graph of one instance.
    subgraphs : sequence of Subgraph, optional
        The subgraphs of a decomposition.
    name : str, optional
        Name of the decomposition.
    ranks : array-like of shape (n_labels,), optional
        A ranking to compare with; smaller is better.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the picture.
    axes_ : ndarray of matplotlib Axes
        The panels: the whole graph, then each subgraph that is drawn. Without subgraphs, just ``ax_``.
    figure_ : matplotlib Figure
        The figure of the axes.
    note_ : str
        Note below the picture about what was left out; empty if nothing was.

    Examples
    --------
    >>> from labelrank import PreferenceGraphs
    >>> from labelrank.plots import PreferenceGraphDisplay
    >>> graphs = PreferenceGraphs.from_pairs([0, 0, 0], ["tea", "milk", "water"], ["milk", "water", "tea"])
    >>> display = PreferenceGraphDisplay.from_graphs(graphs, decomposition="domination", ranks=[2, 1, 3])
    >>> display.ax_.get_title(), len(display.axes_)
    ('domination: 1 of 3', 4)
    """

    ax_: Axes
    axes_: npt.NDArray[Any]
    figure_: Figure | SubFigure
    note_: str

    def __init__(
        self,
        graph: Any,
        *,
        subgraphs: Sequence[Subgraph] | None = None,
        name: str | None = None,
        ranks: Any = None,
    ) -> None:
        self.graph = as_graphs(graph)
        if len(self.graph) != 1:
            raise ValueError(f"graph must hold one instance, got {len(self.graph)}; use from_graphs, or graph[i]")
        self.subgraphs = None if subgraphs is None else list(subgraphs)
        self.name = name
        self.ranks = None if ranks is None else _check_ranks(ranks, self.graph)

    @classmethod
    def from_graphs(
        cls,
        graphs: Any,
        instance: int = 0,
        *,
        decomposition: str | Decomposition | Callable[..., Any] | None = None,
        ranks: Any = None,
        max_labels: int = 30,
        max_panels: int = 30,
        ax: Axes | None = None,
    ) -> PreferenceGraphDisplay:
        """Draw the graph of one instance.

        Parameters
        ----------
        graphs : PreferenceGraphs or rank matrix of shape (n_samples, n_labels)
            Observed preferences.
        instance : int, default=0
            The row to draw.
        decomposition : str, Decomposition or callable, optional
            Decomposition of the graph; each subgraph gets a panel.
        ranks : array-like of shape (n_labels,) or (n_samples, n_labels), optional
            A ranking to compare with, or one for each instance.
        max_labels, max_panels : int, default=30
            Maximal numbers of labels and subgraphs to draw; see :meth:`plot`.
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.

        Returns
        -------
        PreferenceGraphDisplay
        """
        graphs = as_graphs(graphs)
        graph = graphs[int(instance)]
        subgraphs = name = None
        if decomposition is not None:
            cut = get_decomposition(decomposition)
            subgraphs, name = cut.cut(graph).of(0), cut.name
        if ranks is not None and np.ndim(ranks) == 2:
            if np.shape(ranks) != graphs.shape:
                raise ValueError(
                    f"ranks has shape {np.shape(ranks)}, the graphs have {graphs.shape}; pass one row of ranks, or a "
                    "row for each instance"
                )
            ranks = np.asarray(ranks)[int(instance)]
        display = cls(graph, subgraphs=subgraphs, name=name, ranks=ranks)
        return display.plot(ax, max_labels=max_labels, max_panels=max_panels)

    @property
    def error(self) -> float | None:
        """Weighted share of the subgraphs (without any, of the edges) that the ranking disagrees with.

        It is :func:`labelrank.metrics.generalized_error` of this instance; None without a ranking or without edges.
        """
        failed, total = self._failed_and_total()
        return None if self.ranks is None or total == 0 else failed / total

    def plot(self, ax: Axes | None = None, *, max_labels: int = 30, max_panels: int = 30) -> PreferenceGraphDisplay:
        """Draw the graph.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on, with the panels inside; by default those of a new figure.
        max_labels : int, default=30
            Maximal number of labels to draw. Labels that were not observed are left out first; then, in a layered
            graph, the worst labels, otherwise those with the fewest edges. A note below the picture mentions this; the
            error in the title is always that of the whole graph.
        max_panels : int, default=30
            Maximal number of subgraphs to draw.

        Returns
        -------
        self
        """
        for limit, value in (("max_labels", max_labels), ("max_panels", max_panels)):
            if value < 1:
                raise ValueError(f"{limit} must be at least 1, got {value}")
        nodes = choose_nodes(self.graph, max_labels)
        subgraphs = self.subgraphs or []
        drawn = [part for part in subgraphs if any(nodes.shows(edge) for edge in part.edges())][:max_panels]
        ax = axes_or_new(ax, "PreferenceGraphDisplay.plot", self._figsize(nodes, len(drawn)))
        self.ax_, self.figure_ = ax, ax.figure
        left_out = f"{len(drawn)} of {len(subgraphs)} subgraphs drawn" if len(drawn) < len(subgraphs) else ""
        self.note_ = "; ".join(filter(None, [nodes.note, left_out]))
        ax.set_axis_off()
        ax.set_title(self._title())
        if text := "\n".join(filter(None, [self._ranking(), self.note_])):
            ax.text(0.5, -0.02, text, transform=ax.transAxes, ha="center", va="top", fontsize=8, color=GRAY)
        size = size_in_points(ax)  # with title and text in place
        if self.subgraphs is None:
            self.axes_ = np.array([ax])
            self._draw_whole(ax, nodes, size)
        else:
            self.axes_ = np.array(self._draw_panels(ax, nodes, drawn, size))
        return self

    # -----------------------------------------------------------------------------------------------------------

    def _draw_panels(self, ax: Axes, nodes: Nodes, parts: Sequence[Subgraph], size: Size) -> list[Axes]:
        """Draw the whole graph at the left and the subgraphs in a grid beside it."""
        from labelrank.plots._drawing import frame

        width, height = size
        side = min(_WHOLE * width, 2 * height)
        whole = ax.inset_axes((0, 0, side / width, 1))
        whole.set_axis_off()
        self._draw_whole(whole, nodes, (side, height))
        panels = [whole]
        left, gap = side + 0.03 * width, 5.0
        heading = 10.0 if nodes.crowded else 0.0
        n_rows, n_columns = layouts.grid(len(parts), width - left, height, 1.0 if nodes.rows is None else 1.25)
        cell = (width - left) / n_columns, height / n_rows
        panel = min(cell[0], 1.3 * cell[1]) - gap, min(cell[1] - heading, 1.2 * cell[0]) - gap
        top = height - (height - n_rows * (panel[1] + gap + heading)) / 2
        for i, part in enumerate(parts):
            row, column = divmod(i, n_columns)
            x, y = left + column * (panel[0] + gap), top - (row + 1) * (panel[1] + gap + heading) + gap / 2
            inset = ax.inset_axes((x / width, y / height, panel[0] / width, panel[1] / height))
            caption = self._draw_part(inset, nodes, part, panel)
            frame(inset, agrees=self._agrees(part.edges()), weight=part.weight, font=6.5, caption=caption)
            panels.append(inset)
        return panels

    def _draw_whole(self, ax: Axes, nodes: Nodes, size: Size) -> None:
        from labelrank.plots._drawing import draw_bands, draw_graph

        names, font, place = nodes.laid_out(*size)
        arrows = self._arrows(nodes, self._edges())
        if nodes.condensed:
            arrows = [arrow for arrow in arrows if arrow.agrees is False]
        draw_bands(ax, place, nodes.n_levels, font=font, arrows=nodes.condensed)
        draw_graph(ax, place, names, arrows, font=font, gray=nodes.gray, straight=nodes.condensed)

    def _draw_part(self, ax: Axes, nodes: Nodes, part: Subgraph, size: Size) -> str:
        """Draw a subgraph with the layout of the whole graph; return the caption, if names do not fit."""
        from labelrank.plots._drawing import draw_graph

        arrows = self._arrows(nodes, part.edges())
        named = {node for arrow in arrows for node in (arrow.start, arrow.stop)}
        names, font, place = nodes.laid_out(*size, small=True)
        draw_graph(ax, place, names, arrows, font=font, dots=set(range(len(names))) - named, straight=nodes.crowded)
        if not nodes.crowded:
            return ""
        sides = [{edge[side] for edge in part.edges()} for side in (0, 1)]
        return " → ".join(
            layouts.shorten(str(self.graph.labels[min(side)]), 18) if len(side) == 1 else f"{len(side)} labels"
            for side in sides
        )

    def _edges(self) -> list[tuple[int, int]]:
        _, better, worse = self.graph.to_edges()
        return list(zip(better.tolist(), worse.tolist(), strict=True))

    def _arrows(self, nodes: Nodes, edges: Edges) -> list[Arrow]:
        from labelrank.plots._drawing import Arrow

        weight, at = self.graph.weight, nodes.of_label
        weights: dict[tuple[int, int], float] = {}
        if weight is not None:
            weights = dict(zip(self._edges(), (weight / weight.max(initial=0)).tolist(), strict=True))
        shown = [edge for edge in edges if nodes.shows(edge)]
        return [Arrow(at[a], at[b], self._agrees([(a, b)]), weights.get((a, b))) for a, b in shown]

    def _agrees(self, edges: Edges) -> bool | None:
        """Whether the ranking respects all of the edges; None without a ranking."""
        ranks = self.ranks
        return None if ranks is None else all(bool(ranks[a] < ranks[b]) for a, b in edges)

    def _failed_and_total(self) -> tuple[float, float]:
        parts = disagreement.cut(self.graph).of(0) if self.subgraphs is None else self.subgraphs
        failed = sum(part.weight for part in parts if self._agrees(part.edges()) is False)
        return failed, sum(part.weight for part in parts)

    def _title(self) -> str:
        if self.subgraphs is None and self.ranks is None:
            return ""
        failed, total = self._failed_and_total()
        name = "disagreement" if self.subgraphs is None else self.name or "subgraphs"
        if not total:
            return f"{name}: no edges"
        if self.ranks is None:
            n_parts = len(self.subgraphs or [])
            return f"{name}: {n_parts} subgraph{'s' * (n_parts != 1)}"
        return f"{name}: {failed:.4g} of {total:.4g}"

    def _ranking(self) -> str:
        """The ranking as a line of text; empty if it is too long."""
        if self.ranks is None:
            return ""
        names = [str(name) for name in self.graph.labels]
        groups = [np.flatnonzero(self.ranks == rank) for rank in np.unique(self.ranks)]
        line = "ranked " + ", ".join(" = ".join(names[label] for label in group) for group in groups)
        return line if len(line) <= 60 else ""

    def _figsize(self, nodes: Nodes, n_panels: int) -> Size:
        n_rows = len(nodes.rows or ())
        if self.subgraphs is not None:
            return 9.0, max(2.4, 0.3 * n_rows, 1.35 * int(np.ceil(n_panels / 4)))
        return (4.8, max(4.0, 0.4 * n_rows)) if len(nodes.labels) <= 12 else (7.0, max(5.5, 0.4 * n_rows))


def _check_ranks(ranks: Any, graph: PreferenceGraphs) -> FloatArray:
    array = np.asarray(ranks, dtype=np.float64)
    if array.shape != (graph.shape[1],):
        raise ValueError(f"ranks has shape {array.shape}, expected one rank for each of the {graph.shape[1]} labels")
    if np.isnan(array).any():
        label = graph.labels[int(np.argmax(np.isnan(array)))]
        raise ValueError(f"ranks has no rank (NaN) for label {label!r}; a ranking to compare with ranks every label")
    return array
