"""Average ranks of learners over data sets, and which learners do not differ significantly."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from labelrank._arrays import BoolArray, FloatArray
from labelrank.metrics import critical_difference, differing_pairs, friedman_test
from labelrank.plots._axes import LETTER, abridge
from labelrank.plots._matplotlib import BLUE, INK, VERMILLION, axes_or_new, size_in_points
from labelrank.supervision import label_names
from labelrank.supervision.frames import frame_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

_LONGEST = 28  # maximal number of letters of a name
_SHORTEST = 8  # minimal length of a bar in points, also between equal ranks


class CriticalDifferenceDisplay:
    """Average ranks of learners over data sets, on a line; bars join learners that do not differ significantly.

    Parameters
    ----------
    average_ranks : array-like of shape (n_learners,)
        1 is best.
    names : sequence of str, optional
        Names of the learners; by default 0, 1, ...
    critical_difference : float, optional
        Learners differ if their average ranks differ by more (Nemenyi's test); it is drawn above the line.
    differ : array-like of bool of shape (n_learners, n_learners), optional
        Which learners differ significantly; by default according to `critical_difference`.
    title : str, optional
        Title of the picture.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the picture.
    figure_ : matplotlib Figure
        The figure of the axes.
    joined_ : list of tuple
        The learners of each bar, from the best to the worst, as positions in `names`.
    bars_ : list of matplotlib Line2D
        The bars.

    References
    ----------
    Demšar: Statistical comparisons of classifiers over multiple data sets. JMLR 7, 2006.

    Examples
    --------
    >>> from labelrank.plots import CriticalDifferenceDisplay
    >>> display = CriticalDifferenceDisplay([1.2, 2.9, 1.9], ["forest", "linear", "neighbors"], critical_difference=1.0)
    >>> display.joined_
    [(0, 2), (2, 1)]
    >>> display.plot().bars_[0].get_xdata().round(1)
    array([1.2, 1.9])
    """

    ax_: Axes
    figure_: Figure | SubFigure
    bars_: list[Line2D]

    def __init__(
        self,
        average_ranks: Any,
        names: Any = None,
        *,
        critical_difference: float | None = None,
        differ: Any = None,
        title: str | None = None,
    ) -> None:
        self.average_ranks: FloatArray = np.asarray(average_ranks, dtype=np.float64)
        k = len(self.average_ranks) if self.average_ranks.ndim == 1 else 0
        if k < 2 or not np.isfinite(self.average_ranks).all():
            raise ValueError(f"average_ranks must be finite, of at least two learners; got {average_ranks!r}")
        self.names = [str(i) for i in range(k)] if names is None else [str(name) for name in names]
        if len(self.names) != k:
            raise ValueError(f"names has {len(self.names)} names, but there are {k} learners")
        if critical_difference is not None and not 0 <= critical_difference < math.inf:
            raise ValueError(f"critical_difference must be finite and at least 0, got {critical_difference}")
        if differ is None:
            if critical_difference is None:
                raise ValueError("pass critical_difference, or differ; or use CriticalDifferenceDisplay.from_scores")
            differ = np.abs(self.average_ranks[:, None] - self.average_ranks) > critical_difference + 1e-12
        self.differ: BoolArray = np.asarray(differ, dtype=bool)
        if self.differ.shape != (k, k):
            raise ValueError(f"differ must have shape {(k, k)}, got {self.differ.shape}")
        self.critical_difference, self.title = critical_difference, title
        self.joined_ = _joined(self.average_ranks, self.differ)

    @classmethod
    def from_scores(
        cls,
        scores: Any,
        names: Any = None,
        *,
        test: Literal["nemenyi", "holm"] = "nemenyi",
        level: float = 0.05,
        larger_is_better: bool = True,
        ax: Axes | None = None,
    ) -> CriticalDifferenceDisplay:
        """Compare learners over data sets, and draw the result.

        Parameters
        ----------
        scores : array-like or data frame of shape (n_sets, n_learners)
            One number for each data set and learner, such as the mean over folds. At least two sets and two learners.
        names : sequence of str, optional
            Names of the learners; by default the columns of a data frame.
        test : {"nemenyi", "holm"}, default="nemenyi"
            As in :func:`labelrank.metrics.differing_pairs`. The title gives the p-value of Friedman's test; if it does
            not reject that all learners perform equally, all are joined.
        level : float, default=0.05
            Significance level.
        larger_is_better : bool, default=True
            False for errors.
        ax : matplotlib Axes, optional
            As in :meth:`plot`.

        Returns
        -------
        CriticalDifferenceDisplay
        """
        table = _numbers(scores)
        if table.ndim != 2 or min(table.shape) < 2:
            raise ValueError(f"scores must be a table of at least two sets and two learners, got shape {table.shape}")
        if not np.isfinite(table).all():
            row, column = np.argwhere(~np.isfinite(table))[0]
            raise ValueError(
                f"scores has {table[row, column]} for set {row}, learner {column}; leave out sets that are not known "
                "for all learners"
            )
        if not 0 < level < 1:
            raise ValueError(f"level must be between 0 and 1, got {level}")
        table = table if larger_is_better else -table
        n, k = table.shape
        friedman = friedman_test(table, level=level)
        differ = differing_pairs(table, test=test, level=level)
        known = np.isfinite(friedman.p)
        title = f"{n} data sets" + (f", Friedman p = {friedman.p:.2g}" if known else "")
        title += "" if test == "nemenyi" else f"; Holm at {level:g}"
        return cls(
            friedman.average_ranks,
            label_names(scores) if names is None else names,
            critical_difference=critical_difference(k, n, level=level) if test == "nemenyi" else None,
            differ=differ,
            title=title,
        ).plot(ax)

    def plot(self, ax: Axes | None = None) -> CriticalDifferenceDisplay:
        """Draw the ranks.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure of suitable size.

        Returns
        -------
        self
        """
        ranks, k = self.average_ranks, len(self.average_ranks)
        n_left = (k + 1) // 2
        lines = n_left + 0.45 * len(self.joined_) + 3.2  # of text, from the top
        letters = min(max(map(len, self.names)), _LONGEST)
        ax = axes_or_new(ax, "CriticalDifferenceDisplay.plot", (5.0 + 0.14 * letters, 0.21 * lines + 0.4))
        ax.set_axis_off()
        if self.title:
            ax.set_title(self.title, fontsize="medium")
        width, height = size_in_points(ax)
        font = float(np.clip(0.75 * height / lines, 5.0, 9.0))
        texts = [f"{abridge(name, _LONGEST)} {rank:.2f}" for name, rank in zip(self.names, ranks, strict=True)]
        order = np.argsort(ranks, kind="stable")
        left, right = (  # space for the names of both sides
            min(LETTER * font * max(len(texts[i]) for i in side) + 8, 0.36 * width)
            for side in (order[:n_left], order[n_left:])
        )
        unit = (k - 1) / (width - left - right)  # ranks per point
        ax.set(xlim=(1 - left * unit, k + right * unit), ylim=(-(lines - 2.4), 2.4))
        self._draw_line(ax, font, unit)
        self.bars_ = []
        for level, group in enumerate(self.joined_):
            depth = -0.4 - 0.45 * level
            ends = ranks[[group[0], group[-1]]]
            more = max(_SHORTEST * unit - (ends[1] - ends[0]), 0.0) / 2
            (bar,) = ax.plot([ends[0] - more, ends[1] + more], [depth, depth], color=VERMILLION, linewidth=3.0)
            bar.set(solid_capstyle="round", zorder=3)
            self.bars_.append(bar)
        first = -0.45 * len(self.joined_) - 0.9
        for place, i in enumerate(order):
            is_left = place < n_left
            depth = first - (place if is_left else k - 1 - place)
            end = 1 - 4 * unit if is_left else k + 4 * unit
            ax.plot([ranks[i], ranks[i], end], [0, depth, depth], color=BLUE, linewidth=0.9, zorder=2)
            align: dict[str, Any] = {"ha": "right" if is_left else "left", "va": "center", "parse_math": False}
            ax.text(end - 2 * unit if is_left else end + 2 * unit, depth, texts[i], fontsize=font, **align)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_line(self, ax: Axes, font: float, unit: float) -> None:
        """Draw the line of ranks with its ticks, and the critical difference above it; `unit` is ranks per point."""
        k, step = len(self.average_ranks), max(1, math.ceil(1.8 * font * unit))
        ax.plot([1, k], [0, 0], color=INK, linewidth=1)
        for tick in range(1, k + 1, step):
            ax.plot([tick, tick], [0, 0.25], color=INK, linewidth=1)
            ax.text(tick, 0.35, str(tick), ha="center", va="bottom", fontsize=font)
        if self.critical_difference is None:
            return
        text = f"critical difference {self.critical_difference:.2f}"
        end = 1 + self.critical_difference
        ax.plot([1, min(end, k)], [1.9, 1.9], color=INK, linewidth=1.2)
        ax.plot(1, 1.9, color=INK, marker="|", markersize=7)
        # an arrow if it is longer than the line
        ax.plot(min(end, k), 1.9, color=INK, marker="|" if end <= k else ">", markersize=7 if end <= k else 5)
        if end + LETTER * font * (len(text) + 2) * unit <= ax.get_xlim()[1]:
            ax.text(end, 1.9, "  " + text, va="center", fontsize=font)
        else:  # no space behind the line
            box: dict[str, Any] = {"facecolor": ax.figure.get_facecolor(), "edgecolor": "none", "pad": 2}
            ax.text((1 + min(end, k)) / 2, 1.9, text, ha="center", va="center", fontsize=font, bbox=box)


def _numbers(scores: Any) -> FloatArray:
    """Scores as an array; raise ValueError if columns are not numbers."""
    frame = frame_of(scores)
    if frame is not None:
        text = [name for name, kind in frame.schema.items() if not kind.is_numeric() and str(kind) != "Object"]
        if text:
            raise ValueError(f"scores has columns that are not numbers: {text}; drop them, every column is a learner")
    try:
        return np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"scores must be a table of numbers, a column for each learner: {error}") from error


def _joined(ranks: FloatArray, differ: BoolArray) -> list[tuple[int, ...]]:
    """The maximal runs of learners, sorted by rank, in which no two differ."""
    order = np.argsort(ranks, kind="stable")
    runs: list[tuple[int, ...]] = []
    end = 0
    for start in range(len(order)):
        stop = start + 1
        while stop < len(order) and not differ[order[start : stop + 1]][:, order[stop]].any():
            stop += 1
        if stop > max(end, start + 1):
            runs.append(tuple(order[start:stop].tolist()))
            end = stop
    return runs
