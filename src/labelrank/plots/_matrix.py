"""Matrices of shares, side by side, with names on both axes and, if they fit, numbers in the cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from labelrank._arrays import FloatArray
from labelrank.plots._axes import name_ticks, panel
from labelrank.plots._matplotlib import INK, axes_or_new, size_in_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

_GAP = 0.03
_LONGEST = 24


def figure_size(n_matrices: int, rows: Sequence[Any], columns: Sequence[Any]) -> tuple[float, float]:
    """Size of a new figure, in inches, that fits the cells and names."""
    names = [max((min(len(str(name)), _LONGEST) for name in each), default=1) * 0.07 for each in (rows, columns)]
    cell = 0.5 if max(len(rows), len(columns)) <= 12 else 0.22
    width = max(n_matrices * max(cell * len(columns), 1.6) + names[0] + 1.2, 3.2)
    return min(width, 16.0), min(max(cell * len(rows), 1.4) + min(names[1], 1.8) + 0.7, 14.0)


def draw_matrices(
    ax: Axes | None,
    name: str,
    matrices: dict[str, FloatArray],
    rows: Sequence[Any],
    columns: Sequence[Any],
    what: str,
    largest: float = 1.0,
) -> tuple[list[Axes], list[AxesImage]]:
    """Draw shares from 0 (white) to the largest (dark); NaN is hatched.

    Returns the axes and images, one for each matrix.

    Parameters
    ----------
    ax : matplotlib Axes or None
        Axes that all matrices share.
    name : str
        Name of the caller, for an error.
    matrices : dict
        One or two matrices with their titles.
    rows, columns : sequences
        Names of rows and columns.
    what : str
        Label of the color bar.
    largest : float, default=1.0
        The share with the darkest color.
    """
    ax = axes_or_new(ax, name, figure_size(len(matrices), rows, columns))
    axes = [ax]
    if len(matrices) == 2:
        axes.append(panel(ax, "right", size=0.5 - _GAP / 2, gap=_GAP))
    images = []
    for each, (title, matrix) in zip(axes, matrices.items(), strict=True):
        each.patch.set(hatch="////", facecolor="white", edgecolor="#B0B0B0", linewidth=0)
        images.append(each.imshow(matrix, cmap="Blues", vmin=0, vmax=largest, aspect="auto", interpolation="nearest"))
        each.set_title(title, fontsize="medium")
        each.tick_params(length=0)
    bar = ax.figure.colorbar(images[-1], ax=ax, label=what, fraction=0.1, aspect=25, pad=0.02)
    bar.outline.set_visible(False)
    for _ in range(2):  # names change the space that is left for the matrices
        width, height = size_in_points(ax)
        for each in axes:
            name_ticks(each, "x", columns, width)
        name_ticks(ax, "y", rows, height)
    font = min(width / max(len(columns), 1) / 2.2, height / max(len(rows), 1) / 1.6, 9.0)
    for each, matrix in zip(axes, matrices.values(), strict=True):
        _write_numbers(each, matrix, font, largest)
    return axes, images


def _write_numbers(ax: Axes, matrix: FloatArray, font: float, largest: float) -> None:
    if font < 5:
        return
    for row, column in np.argwhere(~np.isnan(matrix)):
        share = float(matrix[row, column])
        text = f"{share:.0f}" if share < 0.005 or share >= 0.995 else f"{share:.2f}"[1:]
        place: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": font, "in_layout": False}
        ax.text(column, row, text, color="white" if share > 0.6 * largest else INK, **place)
