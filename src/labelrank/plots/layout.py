"""Where labels and edges of a graph go, in points; nothing is drawn here."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Layout:
    """Places of some nodes on a canvas of the given size, origin at the lower left.

    Attributes
    ----------
    width, height : float
        Of the canvas.
    centres : array of shape (n_nodes, 2)
        Middles of the nodes.
    sizes : array of shape (n_nodes, 2)
        Widths and heights of their boxes.
    bands : list of (low, high)
        From where to where each row reaches, for layered graphs; empty otherwise.
    spokes : array of shape (n_nodes,) or None
        Angles at which names are written outside the nodes, in degrees; None when they are written inside.
    """

    width: float
    height: float
    centres: FloatArray
    sizes: FloatArray
    bands: list[tuple[float, float]]
    spokes: FloatArray | None = None

    @property
    def is_tight(self) -> bool:
        """Whether boxes of different lines touch."""
        y = np.unique(self.centres[:, 1].round(3))
        return len(y) > 1 and bool(np.diff(y).min() < self.sizes[:, 1].max() - 0.1)

    def bend(self, start: int, stop: int, ignored: Collection[int] = ()) -> float:
        """How much an edge must bend to pass beside the nodes of other rows; see ``arc3`` of matplotlib."""
        others = np.ones(len(self.centres), dtype=bool)
        others[[start, stop, *ignored]] = False
        if not self.bands or not others.any():
            return 0.0
        a, b = self.centres[start], self.centres[stop]
        normal = np.array([b[1] - a[1], a[0] - b[0]])
        offset = (a + b)[0] - self.width
        to_the_right = offset > 1 or (offset > -1 and start % 2 == 0)  # away from the middle
        side = 1.0 if to_the_right == (normal[0] > 0) else -1.0
        t = np.linspace(0.06, 0.94, 23)[:, None]
        best, fewest = 0.0, math.inf
        for bend in (0.0, 0.22, -0.22, 0.3, -0.3, 0.15, -0.15, 0.4, -0.4, 0.6, -0.6, 0.8, -0.8):
            points = (1 - t) ** 2 * a + 2 * t * (1 - t) * ((a + b) / 2 + side * bend * normal) + t**2 * b
            gaps = np.abs(points[:, None] - self.centres[others]) - self.sizes[others] / 2
            hits = int((gaps < 2.5).all(axis=2).any(axis=0).sum())
            outside = bool(((points < 0) | (points > (self.width, self.height))).any())
            if hits + 1.5 * outside < fewest:
                best, fewest = side * bend, hits + 1.5 * outside
        return best


def box_sizes(names: Sequence[str], font: float) -> FloatArray:
    """Widths and heights of text in boxes, near enough: a letter is 0.62 of the font size wide."""
    widths = [max(len(name) * 0.62, 1.0) * font + 0.7 * font for name in names]
    return np.array([(width, 1.75 * font) for width in widths]).reshape(-1, 2)


def shorten(name: str, length: int) -> str:
    """A name of at most `length` letters on one line."""
    name = " ".join(name.split())
    return name if len(name) <= length else name[: max(length - 1, 1)].rstrip() + "…"


def circle(names: Sequence[str], width: float, height: float, font: float) -> Layout:
    """Clockwise on a circle, the first at the top; names that are too long for their place are written outside."""
    n = max(len(names), 1)
    angle = np.pi / 2 - 2 * np.pi * np.arange(len(names)) / n
    sizes = box_sizes(names, font)
    middle = np.array([width, height]) / 2
    margin = sizes.max(axis=0, initial=font) / 2 + 2
    radius = max(min(*(middle - margin)), font)
    longest = max((len(name) for name in names), default=1)
    spokes = None
    if longest > 2 and n > 3 and 2 * radius * np.sin(np.pi / n) < 1.15 * sizes[:, 0].max():
        spokes = np.degrees(angle)
        sizes = box_sizes([""] * len(names), 0.5 * font)
        radius = max(min(middle) - longest * 0.62 * font - 0.8 * font, 2 * font)
    centres = middle + radius * np.column_stack([np.cos(angle), np.sin(angle)])
    return Layout(width, height, centres, sizes, [], spokes)


def layers(rows: Sequence[Sequence[int]], names: Sequence[str], width: float, height: float, font: float) -> Layout:
    """Row by row from the top; a row that is too wide goes on in another line.

    Parameters
    ----------
    rows : list of lists of int
        Nodes of each row.
    names : list of str
        Text of each node.
    width, height : float
        Size of the canvas.
    font : float
        Size of the letters.

    Examples
    --------
    >>> from labelrank.plots.layout import layers
    >>> layers([[0], [1, 2]], ["a", "b", "c"], 100, 60, 10).centres.round(1)
    array([[50. , 49.2],
           [30.5, 10.8],
           [69.5, 10.8]])
    """
    sizes = box_sizes(names, font)
    gap = 1.3 * font
    rows_of_lines = [_lines(row, sizes[:, 0], 0.6 * gap, width) for row in rows]
    n_lines = sum(len(lines) for lines in rows_of_lines)
    line_height = min(1.75 * font, (height - 5 * len(rows)) / max(n_lines, 1))  # closer when there is no room
    heights = [len(lines) * line_height + 4 for lines in rows_of_lines]
    free = (height - sum(heights)) / max(len(rows) - 1, 1)
    step = min(max(free, 0.0), 6 * line_height)
    top = height - (height - sum(heights) - step * (len(rows) - 1)) / 2
    centres = np.zeros((len(names), 2))
    bands = []
    for lines, size in zip(rows_of_lines, heights, strict=True):
        for i, line in enumerate(lines):
            # Few nodes spread out, so that edges between rows come apart; many stand side by side.
            spread = min(2.2 * gap, (width - sizes[line, 0].sum()) / (len(line) + 1)) if len(line) > 1 else 0.0
            x = width / 2 - (sizes[line, 0].sum() + spread * (len(line) - 1)) / 2
            for node in line:
                centres[node] = x + sizes[node, 0] / 2, top - 2 - line_height * (i + 0.5)
                x += sizes[node, 0] + spread
        bands.append((top - size, top))
        top -= size + step
    return Layout(width, height, centres, sizes, bands)


def _lines(row: Sequence[int], widths: FloatArray, gap: float, width: float) -> list[list[int]]:
    """Nodes of a row broken into lines that are not wider than `width`."""
    lines: list[list[int]] = []
    used = math.inf
    for node in row:
        if used + gap + widths[node] > width:
            lines.append([])
            used = 0.0
        lines[-1].append(node)
        used += gap + widths[node]
    return lines


def grid(n: int, width: float, height: float, aspect: float) -> tuple[int, int]:
    """Rows and columns of `n` panels that become as large as they can, `aspect` times as wide as high.

    Examples
    --------
    >>> from labelrank.plots.layout import grid
    >>> grid(8, width=400, height=150, aspect=1.0)
    (2, 4)
    """
    if n == 0:
        return 1, 1

    def size(columns: int) -> float:
        return round(min(width / columns / aspect, height / math.ceil(n / columns)), 6)

    n_rows = math.ceil(n / max(range(1, n + 1), key=size))
    return n_rows, math.ceil(n / n_rows)  # rows of equal length
