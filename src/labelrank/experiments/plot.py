"""A table as a picture."""

from __future__ import annotations

from typing import Any

import numpy as np

from labelrank.experiments.table import Table


def plot_table(table: Table, *, axes: Any = None) -> Any:
    """Draw one panel per column of a table: means with their spread, and the printed numbers as hollow rings.

    Parameters
    ----------
    table : Table
        What to draw.
    axes : sequence of matplotlib axes, optional
        One per column; a new figure by default.

    Returns
    -------
    ndarray of matplotlib axes

    Examples
    --------
    >>> from labelrank.experiments import Table, plot_table
    >>> table = Table("errors", "trained with", ["a", "b"], ["0-1"], [[[0.5, 0.7]], [[0.3, 0.3]]])
    >>> axes = plot_table(table)
    >>> axes[0].get_title()
    '0-1'
    """
    from matplotlib.figure import Figure

    if axes is None:
        figure = Figure(figsize=(2.2 * len(table.columns) + 1, 0.4 * len(table.rows) + 1.2), layout="constrained")
        axes = figure.subplots(1, len(table.columns), sharey=True, squeeze=False)[0]
    axes = np.atleast_1d(axes)
    if len(axes) != len(table.columns):
        raise ValueError(f"axes has {len(axes)} entries, but the table has {len(table.columns)} columns; give one each")
    mean, std = table.mean(), np.nan_to_num(table.std())
    places = np.arange(len(table.rows))
    for j, (axis, column) in enumerate(zip(axes, table.columns, strict=True)):
        axis.errorbar(mean[:, j], places, xerr=std[:, j], fmt="o", capsize=3, label="here")
        if table.printed is not None and any(row[j] for row in table.printed):
            numbers = [float(row[j]) if row[j] else np.nan for row in table.printed]
            axis.plot(numbers, places, "o", markerfacecolor="none", color="gray", label="paper")
        axis.set_title(column)
        axis.set_yticks(places, table.rows)
        axis.grid(axis="x", alpha=0.3)
    if not axes[0].yaxis_inverted():  # shared: once is enough
        axes[0].invert_yaxis()
    axes[0].set_ylabel(table.stub)
    axes[-1].legend()
    return axes
