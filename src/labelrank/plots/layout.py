"""Positions of labels and bends of edges, in points; nothing is drawn here."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from labelrank._arrays import FloatArray

_LETTER = 0.62  # approximate width of a letter, relative to the font size


@dataclass(frozen=True)
class Layout:
    """Positions of nodes on a canvas, origin at the lower left."""

    width: float
    height: float
    centers: FloatArray  # of shape (n_nodes, 2)
    sizes: FloatArray  # width and height of their boxes
    bands: Sequence[tuple[float, float]] = ()  # (low, high) of each row of a layered graph
    angles: FloatArray | None = None  # of names outside of the nodes; None if they are inside

    @property
    def is_tight(self) -> bool:
        """Whether boxes of different lines touch."""
        y = np.unique(self.centers[:, 1].round(3))
        return len(y) > 1 and bool(np.diff(y).min() < self.sizes[:, 1].max() - 0.1)

    def bend(self, start: int, stop: int, ignored: Collection[int] = ()) -> float:
        """The smallest bend with which an edge avoids the nodes of other rows; see ``arc3`` of matplotlib."""
        others = np.ones(len(self.centers), dtype=bool)
        others[[start, stop, *ignored]] = False
        if not self.bands or not others.any():
            return 0.0
        a, b = self.centers[start], self.centers[stop]
        normal = np.array([b[1] - a[1], a[0] - b[0]])
        outward = np.sign((a + b)[0] - self.width + 0.5 - start % 2) * np.sign(normal[0])  # first away from the middle
        t = np.linspace(0.06, 0.94, 23)[:, None]

        def obstacles(bend: float) -> float:
            points = (1 - t) ** 2 * a + 2 * t * (1 - t) * ((a + b) / 2 + bend * normal) + t**2 * b
            gaps = np.abs(points[:, None] - self.centers[others]) - self.sizes[others] / 2
            outside = ((points < 0) | (points > (self.width, self.height))).any()
            return float((gaps < 2.5).all(axis=2).any(axis=0).sum() + 1.5 * outside)

        return min((outward * bend for bend in (0.0, 0.22, -0.22, 0.4, -0.4, 0.6, -0.6, 0.8, -0.8)), key=obstacles)


def box_sizes(names: Sequence[str], font: float) -> FloatArray:
    """Widths and heights of names in boxes."""
    return np.array([((max(len(name) * _LETTER, 1.0) + 0.7) * font, 1.75 * font) for name in names]).reshape(-1, 2)


def shorten(name: str, length: int) -> str:
    """Shorten a name to one line of at most `length` letters, its beginning."""
    name = " ".join(name.split())
    return name if len(name) <= length else name[: max(length - 1, 1)].rstrip() + "…"


def circle(names: Sequence[str], width: float, height: float, font: float) -> Layout:
    """Nodes clockwise on a circle, the first at the top; names that are too long for the nodes are outside."""
    n = max(len(names), 1)
    angle = np.pi / 2 - 2 * np.pi * np.arange(len(names)) / n
    sizes, middle = box_sizes(names, font), np.array([width, height]) / 2
    radius = max(min(middle - sizes.max(axis=0, initial=font) / 2 - 2), font)
    longest = max((len(name) for name in names), default=1)
    angles = None
    if longest > 2 and n > 3 and 2 * radius * np.sin(np.pi / n) < 1.15 * sizes[:, 0].max():
        angles, sizes = np.degrees(angle), box_sizes([""] * n, 0.5 * font)
        radius = max(min(middle) - (longest * _LETTER + 0.8) * font, 2 * font)
    return Layout(width, height, middle + radius * np.column_stack([np.cos(angle), np.sin(angle)]), sizes, (), angles)


def layers(rows: Sequence[Sequence[int]], names: Sequence[str], width: float, height: float, font: float) -> Layout:
    """Nodes row by row from the top; a row that is too wide continues on another line.

    Examples
    --------
    >>> from labelrank.plots.layout import layers
    >>> layers([[0], [1, 2]], ["a", "b", "c"], width=100, height=60, font=10).centers.round(1)
    array([[50. , 49.2],
           [30.5, 10.8],
           [69.5, 10.8]])
    """
    sizes = box_sizes(names, font)
    gap = 1.3 * font
    rows_of_lines = [_lines(row, sizes[:, 0], 0.6 * gap, width) for row in rows]
    n_lines = sum(len(lines) for lines in rows_of_lines)
    line_height = min(1.75 * font, (height - 5 * len(rows)) / max(n_lines, 1))  # closer if space is short
    heights = [len(lines) * line_height + 4 for lines in rows_of_lines]
    free = height - sum(heights)
    step = min(max(free / max(len(rows) - 1, 1), 0.0), 6 * line_height)
    top = height - (free - step * (len(rows) - 1)) / 2
    centers = np.zeros((len(names), 2))
    bands = []
    for lines, size in zip(rows_of_lines, heights, strict=True):
        for i, line in enumerate(lines):
            # Few nodes spread out, so that edges between rows are apart; many are side by side.
            spread = min(2.2 * gap, (width - sizes[line, 0].sum()) / (len(line) + 1)) if len(line) > 1 else 0.0
            right = np.cumsum(sizes[line, 0] + spread)
            centers[line, 0] = width / 2 + right - sizes[line, 0] / 2 - spread - (right[-1] - spread) / 2
            centers[line, 1] = top - 2 - line_height * (i + 0.5)
        bands.append((top - size, top))
        top -= size + step
    return Layout(width, height, centers, sizes, bands)


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
    """Numbers of rows and columns that make `n` panels, `aspect` times as wide as high, as large as possible.

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
