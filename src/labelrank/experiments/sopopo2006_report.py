"""The tables and the picture of :mod:`labelrank.experiments.sopopo2006`, and what they say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from labelrank.experiments.cache import Cell, Numbers
from labelrank.experiments.sopopo2006_solvers import NAMES
from labelrank.experiments.table import Report, Table

if TYPE_CHECKING:
    from labelrank.experiments.sopopo2006 import Protocol, Study

TITLES = {"original": "the original projection", "reduced": "the reduced projection", "batch": "batch learning"}
COLUMNS = {"sopopo": "SOPOPO", "sopopo_many": "SOPOPO, many at once", **NAMES}
TIMES = "CPU milliseconds, "
COLOURS = ("#222222", "#777777", "#0072B2", "#D55E00", "#009E73", "#CC79A7")  # Okabe and Ito


def report(protocol: Protocol, versions: dict[str, str], cells: Sequence[Cell], results: Sequence[Numbers]) -> Report:
    """For each study: the times, how much slower the others are, and how well the objectives agree; and the slopes."""
    outcomes = [Outcome(study, cells, results) for study in protocol.studies]
    tables: list[Table] = []
    for outcome in outcomes:
        tables += [outcome.times(), outcome.ratios(), outcome.agreement()]
    return Report(
        _protocol(protocol, versions),
        [*tables, _slopes(outcomes)],
        [*_findings(outcomes, protocol), *_missing(versions)],
    )


class Outcome:
    """What one study gave: seconds, differences and tolerances of shape (sizes, columns, instances)."""

    def __init__(self, study: Study, cells: Sequence[Cell], results: Sequence[Numbers]) -> None:
        self.study = study
        self.title = TITLES[study.name]
        self.rows = [str(size) for size in study.sizes]
        self.keys = [key for key in COLUMNS if key != "sopopo_many" or study.name == "reduced"]
        self.columns = [COLUMNS[key] for key in self.keys]
        shape = (len(study.sizes), len(self.keys), len(study.C))
        self.seconds, self.difference, self.tolerance = (np.full(shape, np.nan) for _ in range(3))
        self.failed: list[tuple[str, int]] = []
        for cell, result in zip(cells, results, strict=True):
            if cell["study"] != study.name:
                continue
            i = study.sizes.index(cell["n_labels"])
            for key, numbers in result["times"].items():
                at = i, self.keys.index(key), cell["instance"]
                if numbers["seconds"] is None:
                    self.failed.append((key, cell["n_labels"]))
                    continue
                self.seconds[at], self.difference[at] = numbers["seconds"], numbers["difference"]
                self.tolerance[at] = numbers["tolerance"]

    def times(self) -> Table:
        """The times."""
        return self._table(TIMES + self.title, 1000 * self.seconds, digits=4)

    def ratios(self) -> Table:
        """How many times as long as ours."""
        ratio = self.seconds / self.seconds[:, :1]
        return self._table(f"times as long as SOPOPO, {self.title}", ratio, digits=1)

    def agreement(self) -> Table:
        """How far objectives are from the optimum."""
        title = f"objective minus optimum, of 1 + optimum, × 10⁶, {self.title}"
        largest = np.take_along_axis(self.difference, _largest(self.difference)[:, :, None], axis=2)
        return self._table(title, 1e6 * largest, digits=4)

    def slopes(self) -> list[float]:
        """Of each column, in the order of `COLUMNS`."""
        found = {key: slope(self.study.sizes, self.seconds[:, j]) for j, key in enumerate(self.keys)}
        return [found.get(key, np.nan) for key in COLUMNS]

    def _table(self, title: str, values: Any, *, digits: int) -> Table:
        return Table(title, "labels", self.rows, self.columns, values, digits=digits, best=None, spread=False)


def slope(sizes: Sequence[int], seconds: Any) -> float:
    """The exponent with which times grow: a line through the larger half of the sizes, both axes logarithmic.

    Times of several instances are averaged on the logarithmic scale. NaN where fewer than two sizes were timed.

    Examples
    --------
    >>> from labelrank.experiments.sopopo2006 import slope
    >>> round(slope([10, 100, 1000], [[1.0], [100.0], [10000.0]]), 6)
    2.0
    """
    logs = np.log(np.asarray(seconds, dtype=np.float64))
    timed = np.flatnonzero(~np.isnan(logs).all(axis=1))
    timed = timed[-max(2, (len(timed) + 1) // 2) :]
    if len(timed) < 2:
        return float("nan")
    return float(np.polyfit(np.log(np.asarray(sizes)[timed]), np.nanmean(logs[timed], axis=1), 1)[0])


def plot_times(report: Report, *, axes: Any = None) -> Any:
    """Draw the times by the number of labels, both axes logarithmic: one panel per study, slopes in the legends.

    Parameters
    ----------
    report : Report
        What :func:`labelrank.experiments.sopopo2006.run` returns.
    axes : sequence of matplotlib axes, optional
        One per study; a new figure by default.

    Returns
    -------
    ndarray of matplotlib axes

    Examples
    --------
    >>> from labelrank.experiments import Report, Table
    >>> from labelrank.experiments.sopopo2006 import plot_times
    >>> table = Table("CPU milliseconds, a study", "labels", ["10", "100"], ["SOPOPO"], [[[1.0]], [[10.0]]])
    >>> axes = plot_times(Report([], [table]))
    >>> axes[0].get_title(), [line.get_label() for line in axes[0].lines]
    ('a study', ['SOPOPO: 1.0'])
    """
    from matplotlib.figure import Figure

    tables = [table for table in report.tables if table.title.startswith(TIMES)]
    if not tables:
        raise ValueError("the report has no tables of times")
    if axes is None:
        figure = Figure(figsize=(3.6 * len(tables), 4.2), layout="constrained")
        axes = figure.subplots(1, len(tables), squeeze=False)[0]
    axes = np.atleast_1d(axes)
    if len(axes) != len(tables):
        raise ValueError(f"axes has {len(axes)} entries, but there are {len(tables)} studies; give one each")
    colour = dict(zip(COLUMNS.values(), COLOURS, strict=True))
    for axis, table in zip(axes, tables, strict=True):
        sizes = [int(row) for row in table.rows]
        for j, name in enumerate(table.columns):
            seconds = table.values[:, j] / 1000
            timed = ~np.isnan(seconds).all(axis=1)
            if not timed.any():
                continue
            mean = np.exp(np.nanmean(np.log(seconds[timed]), axis=1))
            exponent = slope(sizes, seconds)
            label = name if np.isnan(exponent) else f"{name}: {exponent:.1f}"
            axis.loglog(np.array(sizes)[timed], mean, "o-", markersize=3, color=colour.get(name), label=label)
        if sizes and sizes[-1] < 100 * sizes[0]:  # powers of ten would leave hardly a number on the axis
            axis.set_xticks(sizes, [str(size) for size in sizes])
            axis.set_xticks([], minor=True)
        axis.set_title(table.title.removeprefix(TIMES))
        axis.set_xlabel("labels")
        axis.grid(alpha=0.3)
        axis.legend(fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=2)
    axes[0].set_ylabel("CPU seconds")
    return axes


# --- In words


def _protocol(protocol: Protocol, versions: dict[str, str]) -> list[str]:
    solvers = ", ".join(f"{NAMES[name]} {version}" for name, version in versions.items()) or "none installed"
    tolerances = ", ".join(format(tol, "g") for tol in protocol.tolerances)
    return [
        f"general solvers: {solvers}",
        f"Gaussian data, {protocol.n_features} features, half of the labels above the other half; batch learning: 10 "
        "examples per label, C = 1; projections: mean of one with C = 1 and one with C = number of labels",
        f"CPU time of one thread, set-up and solving, smallest of {protocol.repeats} repeats (one if it is above 1 s)",
        f"equal accuracy: at a feasible point the objective is within {protocol.accuracy:g} of the optimum, relative "
        f"to 1 + optimum; each solver at the loosest of the tolerances {tolerances} that gives it",
    ]


def _slopes(outcomes: Sequence[Outcome]) -> Table:
    values = [[[found] for found in outcome.slopes()] for outcome in outcomes]
    title = "slope: time grows with this power of the number of labels, larger half of the sizes"
    rows = [outcome.title for outcome in outcomes]
    return Table(title, "study", rows, list(COLUMNS.values()), values, digits=2, best=None)


def _findings(outcomes: Sequence[Outcome], protocol: Protocol) -> list[str]:
    lines = [
        f"{outcome.title}, {outcome.rows[i]} labels: {_fastest(outcome, i)}"
        for outcome in outcomes
        for i in _told(outcome)
    ]
    for outcome in outcomes:
        rival = [j for j, key in enumerate(outcome.keys) if key in NAMES and (~np.isnan(outcome.seconds[:, j])).any()]
        if rival:
            listed = "; ".join(f"{outcome.columns[j]} {_counted(outcome.tolerance[:, j])}" for j in rival)
            lines.append(f"{outcome.title}, tolerance that was enough (problems): {listed}")
        for key, size in outcome.failed:
            lines.append(
                f"{outcome.title}, {size} labels: {COLUMNS[key]} is not within {protocol.accuracy:g} at any tolerance"
            )
    worst = max((np.nanmax(np.abs(outcome.difference)) for outcome in outcomes), default=0.0)
    lines.append(f"largest difference of an objective that was counted, to the optimum: {worst:.1e}")
    return lines


def _told(outcome: Outcome) -> list[int]:
    """The smallest and the largest size with a general solver."""
    general = [j for j, key in enumerate(outcome.keys) if key in NAMES]
    rows = np.flatnonzero((~np.isnan(outcome.seconds[:, general])).any(axis=(1, 2)))
    return [] if not len(rows) else sorted({int(rows[0]), int(rows[-1])})


def _fastest(outcome: Outcome, row: int) -> str:
    mean = outcome.times().mean()[row]
    general = [j for j, key in enumerate(outcome.keys) if key in NAMES and not np.isnan(mean[j])]
    best = min(general, key=lambda j: mean[j])
    text = f"{outcome.columns[best]}, the fastest general solver, takes {_ms(mean[best])}"
    for j, key in enumerate(outcome.keys):
        if key not in NAMES:
            text += f"; {outcome.columns[j]} {_ms(mean[j])}, {mean[best] / mean[j]:,.1f} times as fast"
    return text


def _ms(value: float) -> str:
    return f"{value:,.0f} ms" if value >= 1000 else f"{value:.3g} ms"


def _counted(tolerance: Any) -> str:
    counts = Counter(tolerance[~np.isnan(tolerance)].tolist())
    return ", ".join(f"{tol:g} ({counts[tol]})" for tol in sorted(counts, reverse=True))


def _missing(versions: dict[str, str]) -> list[str]:
    missing = [name for key, name in NAMES.items() if key not in versions]
    if not missing:
        return []
    return [f'not installed, so not compared: {", ".join(missing)}; pip install "labelrank[qp]"']


def _largest(difference: Any) -> Any:
    """The instance with the largest difference; any where there is none."""
    return np.nan_to_num(np.abs(difference)).argmax(axis=2)
