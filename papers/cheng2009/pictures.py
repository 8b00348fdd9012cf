"""Accuracy by the rate of missing labels, and average ranks with their critical difference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from labelrank.plots import CriticalDifferenceDisplay, MissingRateDisplay
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
        rates = [float(row.removesuffix(" %")) / 100 for row in table.rows]
        for method, mean in zip(table.columns, table.mean().T, strict=True):
            MissingRateDisplay(rates, mean[:, np.newaxis], score_name="Kendall's tau", name=method).plot(axis)
        axis.set_title(table.title.removeprefix(CURVE))
    for axis in axes[1:]:
        axis.get_legend().remove()
        axis.set_ylabel("")
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
    figure = Figure(figsize=(7.0, 1.7 * len(titles)), layout="constrained")
    for axis, title, values in zip(figure.subplots(len(titles), 1, squeeze=False)[:, 0], titles, ranks, strict=True):
        CriticalDifferenceDisplay(values, learners, critical_difference=difference, title=title).plot(axis)
    return figure
