"""Nodes and arrows on matplotlib axes. Imports matplotlib, so import it only to draw."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.text import Text

from labelrank.plots._matplotlib import BLUE, FAINT, GRAY, INK, VERMILLION
from labelrank.plots.layout import Layout


class Arrow(NamedTuple):
    """An edge between two nodes."""

    start: int
    stop: int
    agrees: bool | None  # with a ranking; None without one
    weight: float | None  # relative to the heaviest; None without weights


class _Edge(FancyArrowPatch):
    """An arrow that ends at the boxes of two texts, whose size is known only when they are drawn."""

    def __init__(self, start: Text, stop: Text, **style: Any) -> None:
        ends = [text.get_position() for text in (start, stop)]
        super().__init__(*ends, patchA=start.get_bbox_patch(), patchB=stop.get_bbox_patch(), **style)
        self.ends = (start, stop)

    def draw(self, renderer: Any) -> None:
        for text in self.ends:
            text.update_bbox_position_size(renderer)
        super().draw(renderer)


def draw_graph(
    ax: Axes,
    layout: Layout,
    names: Sequence[str],
    arrows: Sequence[Arrow],
    *,
    font: float,
    gray: Collection[int] = (),
    dots: Collection[int] = (),
    straight: bool = False,
) -> None:
    """Draw nodes and arrows, and scale the axes to the canvas of the layout.

    Arrows are solid, or dashed and without a head if a ranking does not agree. `gray` nodes have no edges; `dots` are
    drawn as points without names; `straight` edges do not avoid nodes.
    """
    ax.set(xlim=(0, layout.width), ylim=(0, layout.height), xticks=[], yticks=[])
    texts = {}
    for node, name in enumerate(names):
        if node in dots:
            continue
        color = GRAY if node in gray else INK
        texts[node] = _node(ax, layout.centers[node], "" if layout.angles is not None else name, font, color)
        if layout.angles is not None:
            _name_outside(ax, layout.centers[node], float(layout.angles[node]) % 360, name, font, color)
    if dots:
        ax.plot(*layout.centers[sorted(dots)].T, "o", markersize=2.2, color=FAINT, zorder=1)
    for arrow in arrows:
        bend = 0.0 if straight else layout.bend(arrow.start, arrow.stop, dots)
        ax.add_patch(_Edge(texts[arrow.start], texts[arrow.stop], **_style(arrow, bend, font, len(arrows))))


def draw_bands(ax: Axes, layout: Layout, n_bands: int, *, font: float, arrows: bool) -> None:
    """Draw a band behind each of the first rows and, with `arrows`, an arrow from each band to the next."""
    center = layout.width / 2
    reach = np.abs(layout.centers[:, 0] - center) + layout.sizes[:, 0] / 2 + font
    half = min(max(reach.max(initial=0.0), 0.2 * layout.width), center - 1)
    for low, high in layout.bands[:n_bands]:
        box = FancyBboxPatch((center - half, low), 2 * half, high - low, boxstyle="round,pad=0,rounding_size=4")
        box.set(facecolor="#EEF1F4", edgecolor="none", zorder=0, clip_on=False, in_layout=False)
        ax.add_patch(box)
    for (low, _), (_, high) in pairwise(layout.bands[:n_bands] if arrows else []):
        arrow = FancyArrowPatch((center, low), (center, high), arrowstyle="-|>", mutation_scale=font + 3)
        arrow.set(color=INK, linewidth=1.6, zorder=2, in_layout=False)
        ax.add_patch(arrow)
    for low, high in layout.bands[n_bands:]:
        ax.text(4, (low + high) / 2, "not observed", fontsize=0.8 * font, color=GRAY, va="center", in_layout=False)


def frame(ax: Axes, *, agrees: bool | None, weight: float, font: float, caption: str) -> None:
    """Draw the border of a panel, marked if the ranking contradicts its subgraph, a weight other than 1, a caption."""
    wrong = agrees is False
    ax.set_facecolor("#FDF3EC" if wrong else "white")
    for spine in ax.spines.values():
        spine.set(color=VERMILLION if wrong else FAINT, linewidth=1.4 if wrong else 0.8)
    if weight != 1:
        place: dict[str, Any] = {"transform": ax.transAxes, "ha": "right", "va": "top"}
        ax.text(0.97, 0.97, f"× {weight:.4g}", fontsize=font, color=GRAY, **place)
    if caption:
        ax.set_title(caption, fontsize=font, pad=2, parse_math=False)


def _node(ax: Axes, center: Any, name: str, font: float, color: str) -> Text:
    box = {
        "boxstyle": "circle,pad=0.28" if len(name) <= 1 else "round,pad=0.25,rounding_size=0.4",
        "facecolor": "white",
        "edgecolor": FAINT if color == GRAY else INK,
        "linewidth": 0.8,
    }
    place: dict[str, Any] = {"ha": "center", "va": "center", "zorder": 4, "in_layout": False}
    size = font if name else 0.5 * font
    x, y = center
    return ax.text(x, y, name or " ", fontsize=size, color=color, parse_math=False, bbox=box, **place)


def _name_outside(ax: Axes, center: Any, angle: float, name: str, font: float, color: str) -> None:
    left = 90 < angle < 270
    direction = np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
    place: dict[str, Any] = {"ha": "right" if left else "left", "va": "center_baseline", "in_layout": False}
    turned: dict[str, Any] = {"rotation": angle - 180 if left else angle, "rotation_mode": "anchor"}
    x, y = center + 0.75 * font * direction
    ax.text(x, y, name, fontsize=font, color=color, parse_math=False, **place, **turned)


def _style(arrow: Arrow, bend: float, font: float, n_arrows: int) -> dict[str, Any]:
    wrong = arrow.agrees is False
    width, alpha = (1.5, 1.0) if n_arrows <= 20 else (1.1, 0.8) if n_arrows <= 80 else (0.7, 0.55)
    return {
        "arrowstyle": "-" if wrong else "-|>",
        "mutation_scale": 0.85 * font + 1,
        "connectionstyle": f"arc3,rad={bend:.3f}",
        "linestyle": (0, (3.5, 2.0)) if wrong else "-",
        "linewidth": width * (1.0 if arrow.weight is None else 0.5 + arrow.weight),
        "color": INK if arrow.agrees is None else VERMILLION if wrong else BLUE,
        "alpha": alpha,
        "shrinkA": 0.5,
        "shrinkB": 1.0,
        "zorder": 3 if wrong else 2,
        "clip_on": False,
        "in_layout": False,
    }
