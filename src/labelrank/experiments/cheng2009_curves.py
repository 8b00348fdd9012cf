"""Accuracy by the rate of missing labels, as a picture."""

from __future__ import annotations

from typing import Any

import numpy as np

from labelrank.experiments.table import Report

TITLE = "tau by the rate of missing labels: "


def plot_curves(report: Report, *, axes: Any = None) -> Any:
    """Draw how the learners lose accuracy with missing labels: one panel per set, one line per learner.

    Parameters
    ----------
    report : Report
        What :func:`labelrank.experiments.cheng2009.run` returns.
    axes : sequence of matplotlib axes, optional
        One per set; a new figure by default.

    Returns
    -------
    ndarray of matplotlib axes

    Examples
    --------
    >>> from labelrank.experiments import Report, Table
    >>> from labelrank.experiments.cheng2009_curves import TITLE, plot_curves
    >>> table = Table(TITLE + "iris", "missing", ["0 %", "30 %"], ["IBLR", "LRT"], [[[0.96], [0.94]], [[0.94], [0.9]]])
    >>> axes = plot_curves(Report([], [table]))
    >>> axes[0].get_title(), [line.get_label() for line in axes[0].lines]
    ('iris', ['IBLR', 'LRT'])
    """
    from matplotlib.figure import Figure

    tables = [table for table in report.tables if table.title.startswith(TITLE)]
    if not tables:
        raise ValueError("the report has no tables of tau by the rate of missing labels")
    if axes is None:
        figure = Figure(figsize=(3.2 * len(tables) + 0.8, 3.2), layout="constrained")
        axes = figure.subplots(1, len(tables), squeeze=False)[0]
    axes = np.atleast_1d(axes)
    if len(axes) != len(tables):
        raise ValueError(f"axes has {len(axes)} entries, but there are {len(tables)} sets; give one each")
    for axis, table in zip(axes, tables, strict=True):
        rates = [float(row.removesuffix(" %")) for row in table.rows]
        for j, method in enumerate(table.columns):
            axis.plot(rates, table.mean()[:, j], marker="o", markersize=3, label=method)
        axis.set_title(table.title.removeprefix(TITLE))
        axis.set_xlabel("missing labels (%)")
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("Kendall's tau")
    axes[0].legend()
    return axes
