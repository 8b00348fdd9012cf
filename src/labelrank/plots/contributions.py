"""Bars of an explanation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from labelrank.plots._matplotlib import BLUE, INK, VERMILLION, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_contributions(explanation: Any, ax: Axes | None, max_items: int) -> Axes:
    """Draw the largest contributions, the largest on top; bars to the right favor the better label."""
    order = np.argsort(-np.abs(explanation.contributions), kind="stable")
    shown, rest = order[:max_items], order[max_items:]
    names = [f"{explanation.items[i]} = {_short(explanation.values[i])}".removesuffix(" = ") for i in shown]
    widths = explanation.contributions[shown].tolist()
    if len(rest):
        names.append(f"{len(rest)} others")
        widths.append(float(explanation.contributions[rest].sum()))
    names.append("base")
    widths.append(explanation.base)
    ax = axes_or_new(ax, "Explanation.plot", (6.4, 1.2 + 0.32 * len(names)))
    places = np.arange(len(names))[::-1]
    for sign, color, hatch in ((1, BLUE, ""), (-1, VERMILLION, "///")):
        chosen = [i for i, width in enumerate(widths) if np.sign(width) == sign]
        ax.barh(places[chosen], np.array(widths)[chosen], color=color, hatch=hatch, edgecolor="white", height=0.7)
    ax.axvline(0, color=INK, linewidth=0.8)
    ax.set_yticks(places, names)
    ax.set_xlabel(f"for {explanation.worse}  ←  contribution  →  for {explanation.better}")
    ax.set_title(f"{explanation.better} over {explanation.worse}: {explanation.difference:+.3g}")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, (float, np.floating)) else str(value)[:20]
