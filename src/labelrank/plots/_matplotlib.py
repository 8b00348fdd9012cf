"""Lazy import of matplotlib, and colors that color-blind readers can distinguish."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito.
BLUE, VERMILLION, GRAY, FAINT, INK = "#0072B2", "#D55E00", "#767676", "#C8C8C8", "#222222"


def axes_or_new(ax: Axes | None, name: str, figsize: tuple[float, float] | None = None) -> Axes:
    """Return `ax`, or the axes of a new figure; raise ImportError if matplotlib is missing."""
    try:
        import matplotlib.pyplot as plt
        from matplotlib.axes import Axes
    except ImportError as error:
        raise ImportError(f'{name} needs matplotlib; install it with: pip install "labelrank[plot]"') from error
    if ax is None:
        return plt.subplots(figsize=figsize, layout="constrained")[1]
    if not isinstance(ax, Axes):
        raise TypeError(f"ax must be one matplotlib Axes, got {type(ax).__name__}; pass one of them, or None")
    return ax


def size_in_points(ax: Axes) -> tuple[float, float]:
    """Width and height of axes in points, after the layout engine of the figure, if any, has run."""
    root = ax.figure
    while root.figure is not root:  # out of subfigures
        root = root.figure
    engine = root.get_layout_engine()
    if engine is not None:
        engine.execute(root)
    locator: Any = ax.get_axes_locator()
    if locator is not None:
        ax.apply_aspect(locator(ax, None))
    box = ax.get_window_extent().transformed(root.dpi_scale_trans.inverted())
    return 72 * box.width, 72 * box.height
