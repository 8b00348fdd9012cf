"""Accuracy by the rate of missing labels, and average ranks with their critical difference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from papers.cheng2009.report import CURVE
from papers.frame import Report


def plot_curves(report: Report) -> Any:
    """Draw tau by the rate of missing labels: one panel per set, one line per learner.

    Examples
    --------
    >>> from papers.cheng2009.pictures import plot_curves
    >>> from papers.cheng2009.report import CURVE
    >>> from papers.frame import Report, Table
    >>> table = Table(CURVE + "iris", "missing", ["0 %", "30 %"], ["IBLR", "LRT"], [[0.96, 0.94], [0.94, 0.9]])
    >>> [axis] = plot_curves(Report([], [table])).axes
    >>> axis.get_title(), [line.get_label() for line in axis.lines]
    ('iris', ['IBLR', 'LRT'])
    """
    tables = [table for table in report.tables if table.title.startswith(CURVE)]
    figure = Figure(figsize=(3.2 * len(tables) + 0.8, 3.2), layout="constrained")
    axes = figure.subplots(1, len(tables), squeeze=False)[0]
    for axis, table in zip(axes, tables, strict=True):
        rates = [float(row.removesuffix(" %")) for row in table.rows]
        for j, method in enumerate(table.columns):
            axis.plot(rates, table.mean()[:, j], marker="o", markersize=3, label=method)
        axis.set(title=table.title.removeprefix(CURVE), xlabel="missing labels (%)")
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("Kendall's tau")
    axes[0].legend()
    return figure


def plot_critical_difference(
    titles: Sequence[str], learners: Sequence[str], ranks: Sequence[Sequence[float]], difference: float
) -> Any:
    """Draw average ranks on a line, one panel per title, and join the learners whose ranks do not differ significantly.

    Examples
    --------
    >>> from papers.cheng2009.pictures import plot_critical_difference
    >>> figure = plot_critical_difference(["all sets"], ["a", "b", "c"], [[1.2, 1.9, 2.9]], 1.0)
    >>> [text.get_text() for text in figure.axes[0].texts[-3:]]
    ['a 1.20', 'b 1.90', 'c 2.90']
    """
    n = len(learners)
    figure = Figure(figsize=(8.0, 1.75 * len(titles)), layout="constrained")
    for axis, title, values in zip(figure.subplots(len(titles), 1, squeeze=False)[:, 0], titles, ranks, strict=True):
        axis.set(xlim=(0.6, n + 0.4), ylim=(-0.45 * ((n + 1) // 2) - 0.55, 1.15))
        axis.axis("off")
        axis.set_title(title, loc="left", fontsize="medium")
        axis.plot([1, n], [0, 0], color="black", linewidth=1)
        for tick in range(1, n + 1):
            axis.plot([tick, tick], [0, 0.12], color="black", linewidth=1)
            axis.text(tick, 0.2, str(tick), ha="center", va="bottom")
        axis.plot([1, 1 + difference], [0.95, 0.95], color="black", linewidth=1.5, marker="|")
        axis.text(1 + difference + 0.08, 0.95, f"critical difference {difference:.2f}", va="center", fontsize="small")
        order = np.argsort(values, kind="stable")
        for place, i in enumerate(order):
            left = place < (n + 1) // 2
            depth = -0.45 * ((place if left else n - 1 - place) + 1) - 0.25
            end = 0.85 if left else n + 0.15
            axis.plot([values[i], values[i], end], [0, depth, depth], color="#0072B2", linewidth=1)
            axis.text(
                *(end - 0.03 if left else end + 0.03, depth, f"{learners[i]} {values[i]:.2f}"),
                ha="right" if left else "left",
                va="center",
            )
        for level, (first, last) in enumerate(_cliques(np.sort(values), difference)):
            height = -0.12 - 0.13 * level
            axis.plot(
                [first - 0.03, last + 0.03], [height, height], color="#D55E00", linewidth=3, solid_capstyle="butt"
            )
    return figure


def _cliques(ranks: Any, difference: float) -> list[tuple[float, float]]:
    """The longest stretches of sorted ranks that differ by no more than the critical difference."""
    stretches: list[tuple[float, float]] = []
    for i, first in enumerate(ranks):
        j = int(np.searchsorted(ranks, first + difference, side="right")) - 1
        if j > i and (not stretches or ranks[j] > stretches[-1][1]):
            stretches.append((float(first), float(ranks[j])))
    return stretches
