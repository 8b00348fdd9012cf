"""Helpers of displays: styles that do not rely on color, panels, tick labels, legends."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

from labelrank.plots._matplotlib import BLUE, INK, VERMILLION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito. Markers and dashes distinguish curves without their colors.
_COLORS = (BLUE, VERMILLION, "#009E73", "#CC79A7", INK, "#E69F00", "#56B4E9")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (6, 2, 1, 2)), (0, (3, 1, 1, 1, 1, 1)))
_CURVE = "labelrank-curve"
_LETTERS = 24  # maximal length of a name on an axis
LETTER = 0.58  # mean width of a letter, relative to the font size


def next_style(ax: Axes, own: Mapping[str, Any], **defaults: Any) -> dict[str, Any]:
    """Style of the next curve, different from the last ones in color, marker and dashes, unless `own` sets these."""
    i = sum(line.get_gid() == _CURVE for line in ax.lines)
    defaults |= {
        "gid": _CURVE,
        "color": _COLORS[i % len(_COLORS)],
        "marker": _MARKERS[i % len(_MARKERS)],
        "linestyle": _DASHES[i % len(_DASHES)],
        "markersize": 5,
    }
    return merged_style(defaults, own)


def merged_style(defaults: Mapping[str, Any], own: Mapping[str, Any], kind: Any = None) -> dict[str, Any]:
    """Merge defaults with user arguments, which may have short names such as ``c``; `kind` is Line2D by default."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    kind = Line2D if kind is None else kind
    return cast("dict[str, Any]", normalize_kwargs(dict(defaults), kind) | normalize_kwargs(dict(own), kind))


class _Part:
    """Locator of matplotlib that places axes in the upper or left part of their space."""

    def __init__(self, ax: Axes, side: Literal["bottom", "right"], share: float) -> None:
        self.ax, self.side, self.share = ax, side, share

    def __call__(self, ax: Any, renderer: Any) -> Any:
        from matplotlib.transforms import Bbox

        room = ax.get_position(original=True)
        if self.side == "right":
            return Bbox.from_bounds(room.x0, room.y0, self.share * room.width, room.height)
        return Bbox.from_bounds(room.x0, room.y1 - self.share * room.height, room.width, self.share * room.height)

    def get_subplotspec(self) -> Any:
        """Return the position in a grid, for ``tight_layout``."""
        return self.ax.get_subplotspec()


def panel(ax: Axes, side: Literal["bottom", "right"], *, size: float, gap: float = 0.06) -> Axes:
    """Return axes that take a part of the space of `ax` and share an axis with it; on later calls, the same ones."""
    for child in ax.child_axes:
        if child.get_label() == _CURVE:
            return cast("Axes", child)
    rest = 1 - size - gap
    ax.set_axes_locator(_Part(ax, side, rest))
    if side == "right":
        new = ax.inset_axes((1 + gap / rest, 0, size / rest, 1), sharey=ax, label=_CURVE)
        new.tick_params(labelleft=False)
    else:
        new = ax.inset_axes((0, -(size + gap) / rest, 1, size / rest), sharex=ax, label=_CURVE)
        ax.tick_params(labelbottom=False)
    return new


def abridge(name: Any, length: int) -> str:
    """Shorten a name to one line of at most `length` letters; names often differ at the end, so the middle is cut.

    Examples
    --------
    >>> from labelrank.plots._axes import abridge
    >>> abridge("gradient boosting, 100 trees", 15)
    'gradien…0 trees'
    """
    text = " ".join(str(name).split())
    tail = max(length - 1, 1) // 2
    return text if len(text) <= length else text[: max(length - 1 - tail, 1)].rstrip() + "…" + text[-tail:].lstrip()


def name_ticks(ax: Axes, side: Literal["x", "y"], names: Sequence[Any], room: float) -> None:
    """Set names as the ticks at 0, 1, ...: abridged, rotated if they are too wide, and thinned out if too many.

    `room` is the length of the axis, in points.
    """
    axis, horizontal = (ax.xaxis if side == "x" else ax.yaxis), side == "x"
    place = room / max(len(names), 1)
    font = min(max(0.85 * place, 5.0), 9.0)
    step = max(1, math.ceil(font / (0.95 * place)))
    longest = max((len(str(name)) for name in names), default=0)
    turned = horizontal and min(longest, _LETTERS) * LETTER * font > step * place
    length = _LETTERS
    if ax.figure.get_layout_engine() is None:  # the margin will not grow with the names
        box = ax.get_window_extent()
        margin = 72 / ax.figure.dpi * (box.y0 if horizontal else box.x0) - 6
        length = _LETTERS if horizontal and not turned else int(min(max(margin / (LETTER * font), 3), _LETTERS))
    texts = [abridge(name, length) for name in names]
    axis.set_ticks(range(0, len(texts), step), texts[::step], fontsize=font, parse_math=False)
    axis.set_tick_params(rotation=90 if turned else 0)


def legend(ax: Axes, **place: Any) -> None:
    """Draw a legend if a line has a name; names are not parsed as formulas."""
    handles, names = ax.get_legend_handles_labels()
    if handles:
        for text in ax.legend(handles, names, fontsize="small", handlelength=3.2, **place).get_texts():
            text.set_parse_math(False)
