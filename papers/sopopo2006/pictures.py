"""Times by the number of labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from papers.frame import Report
from papers.sopopo2006.report import COLUMNS, TIMES, slope

COLORS = ("#222222", "#777777", "#0072B2", "#D55E00", "#009E73", "#CC79A7")  # Okabe and Ito


def plot_times(report: Report) -> Any:
    """Draw the times by the number of labels, both axes logarithmic: one panel per study, slopes in the legends.

    Examples
    --------
    >>> from papers.frame import Report, Table
    >>> from papers.sopopo2006.pictures import plot_times
    >>> table = Table("CPU milliseconds, a study", "labels", ["10", "100"], ["SOPOPO"], [[1.0], [10.0]])
    >>> [axis] = plot_times(Report([], [table])).axes
    >>> axis.get_title(), [line.get_label() for line in axis.lines]
    ('a study', ['SOPOPO: 1.0'])
    """
    tables = [table for table in report.tables if table.title.startswith(TIMES)]
    figure = Figure(figsize=(3.6 * len(tables), 4.2), layout="constrained")
    axes = figure.subplots(1, len(tables), squeeze=False)[0]
    color = dict(zip(COLUMNS.values(), COLORS, strict=True))
    for axis, table in zip(axes, tables, strict=True):
        sizes = np.array(table.rows, dtype=int)
        for j, name in enumerate(table.columns):
            seconds = table.values[:, j] / 1000
            timed = ~np.isnan(seconds).all(axis=1)
            if not timed.any():
                continue
            mean = np.exp(np.nanmean(np.log(seconds[timed]), axis=1))
            exponent = slope(sizes, seconds)
            label = name if np.isnan(exponent) else f"{name}: {exponent:.1f}"
            axis.loglog(sizes[timed], mean, "o-", markersize=3, color=color.get(name), label=label)
        if sizes[-1] < 100 * sizes[0]:  # powers of ten would leave hardly a number on the axis
            axis.set_xticks(sizes, table.rows)
            axis.set_xticks([], minor=True)
        axis.set(title=table.title.removeprefix(TIMES), xlabel="labels")
        axis.grid(alpha=0.3)
        axis.legend(fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=2)
    axes[0].set_ylabel("CPU seconds")
    return figure
