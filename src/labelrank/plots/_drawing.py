"""Nodes and arrows on matplotlib axes. Imports matplotlib: only to be imported when something is drawn."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.text import Text

from labelrank.plots._matplotlib import BLUE, FAINT, GREY, INK, VERMILLION
from labelrank.plots.layout import Layout

DASHED = (0, (3.5, 2.0))


class Arrow(NamedTuple):
    """An edge between two nodes; `agrees` is None when there is no ranking to compare with."""

    start: int
    stop: int
    agrees: bool | None
    weight: float | None  # relative to the heaviest, None where there are no weights


class _Edge(FancyArrowPatch):
    """An arrow that ends at the boxes of two texts, which know their size only while they are drawn."""

    def __init__(self, start: Text, stop: Text, **style: Any) -> None:
        ends = [text.get_position() for text in (start, stop)]
        super().__init__(*ends, patchA=start.get_bbox_patch(), patchB=stop.get_bbox_patch(), **style)
        self._ends = (start, stop)

    def draw(self, renderer: Any) -> None:
        for text in self._ends:
            text.update_bbox_position_size(renderer)
        super().draw(renderer)


def draw_graph(
    ax: Axes,
    layout: Layout,
    names: Sequence[str],
    arrows: Sequence[Arrow],
    *,
    font: float,
    grey: Collection[int] = (),
    dots: Collection[int] = (),
    straight: bool = False,
) -> None:
    """Draw nodes and arrows.

    Parameters
    ----------
    ax : Axes
        Where.
    layout : Layout
        Places of the nodes; the axes are scaled to its canvas.
    names : list of str
        Text of the nodes; an empty one makes a small node.
    arrows : list of Arrow
        The edges: solid arrows, or dashed lines without head where a ranking does not agree.
    font : float
        Size of the letters.
    grey : collection of int
        Nodes that have no part in the graph.
    dots : collection of int
        Nodes of which only the place is marked.
    straight : bool
        Whether edges go straight even where nodes are in their way.
    """
    ax.set(xlim=(0, layout.width), ylim=(0, layout.height), xticks=[], yticks=[])
    named = [node for node in range(len(names)) if node not in dots]
    inside = layout.spokes is None
    texts = {node: _node(ax, layout, node, names[node] if inside else "", font, grey=node in grey) for node in named}
    if dots:
        where = layout.centres[sorted(dots)].T
        ax.plot(*where, linestyle="none", marker="o", markersize=2.2, color=FAINT, zorder=1)
    if not inside:
        for node in named:
            _outside_name(ax, layout, node, names[node], font, colour=GREY if node in grey else INK)
    for arrow in arrows:
        bend = 0.0 if straight else layout.bend(arrow.start, arrow.stop, dots)
        ax.add_patch(_edge(texts, arrow, bend, font, len(arrows)))


def draw_bands(ax: Axes, layout: Layout, n_bands: int, *, font: float, arrows: bool) -> None:
    """A band behind each of the first rows, and an arrow from each band to the next if asked for."""
    centre = layout.width / 2
    reach = np.abs(layout.centres[:, 0] - centre) + layout.sizes[:, 0] / 2 + font
    half = min(max(reach.max(initial=0.0), 0.2 * layout.width), centre - 1)
    for low, high in layout.bands[:n_bands]:
        box = FancyBboxPatch((centre - half, low), 2 * half, high - low, boxstyle="round,pad=0,rounding_size=4")
        box.set(facecolor="#EEF1F4", edgecolor="none", zorder=0, clip_on=False, in_layout=False)
        ax.add_patch(box)
    for (low, _), (_, high) in pairwise(layout.bands[:n_bands] if arrows else []):
        arrow = FancyArrowPatch((centre, low), (centre, high), arrowstyle="-|>", mutation_scale=font + 3)
        arrow.set(color=INK, linewidth=1.6, zorder=2, in_layout=False)
        ax.add_patch(arrow)
    for low, high in layout.bands[n_bands:]:
        text = ax.text(4, (low + high) / 2, "not observed", fontsize=0.8 * font, color=GREY)
        text.set(va="center", in_layout=False)


def _node(ax: Axes, layout: Layout, node: int, name: str, font: float, *, grey: bool) -> Text:
    box_style = "circle,pad=0.28" if len(name) <= 1 else "round,pad=0.25,rounding_size=0.4"
    x, y = layout.centres[node].tolist()
    return ax.text(
        x,
        y,
        name or " ",
        fontsize=font if name else 0.5 * font,
        color=GREY if grey else INK,
        ha="center",
        va="center",
        parse_math=False,
        zorder=4,
        in_layout=False,
        bbox={
            "boxstyle": box_style,
            "facecolor": "white",
            "edgecolor": FAINT if grey else INK,
            "linewidth": 0.8,
        },
    )


def _outside_name(ax: Axes, layout: Layout, node: int, name: str, font: float, *, colour: str) -> None:
    assert layout.spokes is not None
    angle = float(layout.spokes[node]) % 360
    left = 90 < angle < 270
    x, y = (
        layout.centres[node] + 0.75 * font * np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
    ).tolist()
    ax.text(
        x,
        y,
        name,
        rotation=angle - 180 if left else angle,
        rotation_mode="anchor",
        ha="right" if left else "left",
        va="center_baseline",
        fontsize=font,
        color=colour,
        parse_math=False,
        in_layout=False,
    )


def _edge(texts: Mapping[int, Text], arrow: Arrow, bend: float, font: float, n_arrows: int) -> _Edge:
    wrong = arrow.agrees is False
    thickness = 1.5 if n_arrows <= 20 else 1.1 if n_arrows <= 80 else 0.7
    return _Edge(
        texts[arrow.start],
        texts[arrow.stop],
        arrowstyle="-" if wrong else "-|>",
        mutation_scale=0.85 * font + 1,
        connectionstyle=f"arc3,rad={bend:.3f}",
        linestyle=DASHED if wrong else "-",
        linewidth=thickness * (1.0 if arrow.weight is None else 0.5 + arrow.weight),
        color=INK if arrow.agrees is None else VERMILLION if wrong else BLUE,
        alpha=1.0 if n_arrows <= 20 else 0.8 if n_arrows <= 80 else 0.55,
        shrinkA=0.5,
        shrinkB=1.0,
        zorder=3 if wrong else 2,
        clip_on=False,
        in_layout=False,
    )


def frame(ax: Axes, *, agrees: bool | None, weight: float, font: float, caption: str = "") -> None:
    """The border of a panel, marked when its subgraph is not respected; its weight if that is not 1, a caption."""
    wrong = agrees is False
    ax.set_facecolor("#FDF3EC" if wrong else "white")
    for spine in ax.spines.values():
        spine.set(color=VERMILLION if wrong else FAINT, linewidth=1.4 if wrong else 0.8)
    if weight != 1:
        text = ax.text(0.97, 0.97, f"× {weight:.4g}", fontsize=font, color=GREY, transform=ax.transAxes)
        text.set(ha="right", va="top")
    if caption:
        ax.set_title(caption, fontsize=font, pad=2, parse_math=False)
