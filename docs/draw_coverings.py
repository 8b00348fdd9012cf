"""Draw docs/_static/coverings.svg, the picture of the page on label covering.

Run it when the coverings change; the same code gives the same file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from labelrank import PreferenceGraphs
from labelrank.decompositions import Subgraph, get_covering
from labelrank.metrics import covering_error

FILE = Path(__file__).with_name("_static") / "coverings.svg"
LABELS, RELEVANT, SCORES = "abcde", [1, 1, 0, 0, 0], [0.8, -0.45, 0.75, 0.4, -0.8]
NAMES = {
    "hamming": "each label by itself",
    "zero_one": "all labels together",
    "two_sets": "the relevant together,\nthe others together",
    "weighted_positive": "the relevant together,\n6 times; each other",
    "weighted_negative": "each relevant label; the\nothers together, 4 times",
}
BLUE, VERMILLION, GREY, FAINT, INK = "#0072B2", "#D55E00", "#767676", "#C8C8C8", "#222222"


def draw_element(ax: Axes, element: Subgraph) -> None:
    """The labels at their scores; those of the element as circles, wrong ones in vermillion."""
    dummy = len(LABELS)
    members = {label for edge in element.edges() for label in edge} - {dummy}
    failed = False
    ax.axhline(0, color=GREY, linewidth=0.8, zorder=1)
    for label, (name, relevant, score) in enumerate(zip(LABELS, RELEVANT, SCORES, strict=True)):
        if label not in members:
            ax.plot(label, score, marker="o", markersize=2.5, color=FAINT, zorder=2)
            continue
        wrong = bool(relevant) != (score > 0)
        failed |= wrong
        color = VERMILLION if wrong else BLUE
        face = color if relevant else "white"
        ax.plot([label, label], [0, score], color=color, linewidth=1.2, linestyle="--" if wrong else "-", zorder=2)
        ax.plot(label, score, marker="o", markersize=12, color=color, markerfacecolor=face, zorder=3)
        text: dict[str, Any] = {"ha": "center", "va": "center_baseline", "fontsize": 8, "zorder": 4}
        ax.text(label, score, name, color="white" if relevant else color, **text)
    if element.weight != 1:
        ax.text(
            0.97, 0.95, f"× {element.weight:g}", transform=ax.transAxes, ha="right", va="top", fontsize=8, color=INK
        )
    ax.set(xlim=(-0.7, dummy - 0.3), ylim=(-1.3, 1.3), xticks=[], yticks=[])
    ax.set_facecolor("#FDF3EC" if failed else "white")
    for spine in ax.spines.values():
        spine.set(color=VERMILLION if failed else FAINT, linewidth=1.4 if failed else 0.8)


def draw_coverings() -> Figure:
    """One row for each covering: its name, what it ties together, its error, and a panel for each element."""
    graphs = PreferenceGraphs.from_multilabel([RELEVANT], labels=list(LABELS))
    figure, axes = plt.subplots(
        len(NAMES), 1 + len(LABELS), figsize=(8.6, 6.6), layout="constrained", width_ratios=[1.9] + [1] * len(LABELS)
    )
    for row, (name, what) in zip(axes, NAMES.items(), strict=True):
        covering = get_covering(name)
        elements = covering.cut(graphs).of(0)
        error = covering_error([RELEVANT], [SCORES], covering)
        row[0].text(0, 0.78, covering.name, fontsize=10, family="monospace", va="center", color=INK)
        row[0].text(0, 0.45, what, fontsize=8.5, va="center", color=GREY, linespacing=1.25)
        row[0].text(0, 0.12, f"error {error:g}", fontsize=10, va="center", color=VERMILLION)
        for ax in row:
            ax.set_axis_off()
        for ax, element in zip(row[1:], elements, strict=False):
            ax.set_axis_on()
            draw_element(ax, element)
    circle: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 8}
    keys = [
        Line2D([], [], color=INK, **circle, label="relevant: should be above the line"),
        Line2D([], [], color=INK, markerfacecolor="white", **circle, label="not relevant: below"),
        Line2D([], [], color=GREY, linewidth=0.8, label="score 0, the dummy label"),
    ]
    figure.legend(handles=keys, loc="outside lower center", ncols=3, frameon=False, fontsize=8.5)
    return figure


if __name__ == "__main__":
    mpl.rcParams["svg.hashsalt"] = "labelrank"
    figure = draw_coverings()
    figure.savefig(FILE, metadata={"Date": None, "Creator": None}, facecolor="white")
    lines = FILE.read_text(encoding="utf-8").splitlines()
    FILE.write_text("\n".join(line.rstrip() for line in lines) + "\n", encoding="utf-8")
    plt.close(figure)
