"""For each study the times, how much slower the others are, and how well the objectives agree; and the slopes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from papers.frame import Outcome, Report, Table
from papers.sopopo2006.solvers import NAMES
from papers.sopopo2006.timing import Protocol, Study, Versions

TITLES = {"original": "the original projection", "reduced": "the reduced projection", "batch": "batch learning"}
COLUMNS = {"sopopo": "SOPOPO", "sopopo_many": "SOPOPO, many at once", **NAMES}
TIMES = "CPU milliseconds, "


def report(found: Outcome) -> Report:
    """Make the report."""
    timings = [Timings(study, found) for study in found.protocol.studies]
    tables = [table for each in timings for table in (each.times(), each.ratios(), each.agreement())]
    findings = [*_findings(timings, found.protocol), *_missing(found.problem)]
    return Report(_protocol(found.protocol, found.problem), [*tables, _slopes(timings)], findings)


class Timings:
    """The results of one study: seconds, differences and tolerances of shape (sizes, columns, instances)."""

    def __init__(self, study: Study, found: Outcome) -> None:
        self.study = study
        self.title = TITLES[study.name]
        self.rows = [str(size) for size in study.sizes]
        self.keys = [key for key in COLUMNS if key != "sopopo_many" or study.name == "reduced"]
        self.columns = [COLUMNS[key] for key in self.keys]
        shape = (len(study.sizes), len(self.keys), len(study.C))
        self.seconds, self.difference, self.tolerance = (np.full(shape, np.nan) for _ in range(3))
        self.failed: list[tuple[str, int]] = []
        for cell, result in zip(found.cells, found.results, strict=True):
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

    def general(self, row: int | None = None) -> list[int]:
        """Return the columns of the general solvers that were timed, at any size or at one."""
        timed = ~np.isnan(self.seconds if row is None else self.seconds[[row]])
        return [j for j, key in enumerate(self.keys) if key in NAMES and timed[:, j].any()]

    def times(self) -> Table:
        """Return the times."""
        return self._table(TIMES + self.title, 1000 * self.seconds, digits=4)

    def ratios(self) -> Table:
        """Return the times relative to ours."""
        ratio = self.seconds / self.seconds[:, :1]
        return self._table(f"times as long as SOPOPO, {self.title}", ratio, digits=1)

    def agreement(self) -> Table:
        """Return how far the objectives are from the optimum, in the instance where that is the most."""
        title = f"objective minus optimum, of 1 + optimum, × 10⁶, {self.title}"
        worst = np.nan_to_num(np.abs(self.difference)).argmax(axis=2)
        largest = np.take_along_axis(self.difference, worst[:, :, None], axis=2)
        return self._table(title, 1e6 * largest, digits=4)

    def slopes(self) -> list[float]:
        """Return the slope of each of the `COLUMNS`."""
        found = {key: slope(self.study.sizes, self.seconds[:, j]) for j, key in enumerate(self.keys)}
        return [found.get(key, np.nan) for key in COLUMNS]

    def _table(self, title: str, values: Any, *, digits: int) -> Table:
        return Table(title, "labels", self.rows, self.columns, values, digits=digits, spread=False)


def slope(sizes: Any, seconds: Any) -> float:
    """Return the exponent with which times grow: a line through the larger half of the sizes, both axes logarithmic.

    Times of several instances are averaged on the logarithmic scale. NaN if fewer than two sizes were timed.

    Examples
    --------
    >>> from papers.sopopo2006.report import slope
    >>> round(slope([10, 100, 1000], [[1.0], [100.0], [10000.0]]), 6)
    2.0
    """
    logs = np.log(np.asarray(seconds, dtype=np.float64))
    timed = np.flatnonzero(~np.isnan(logs).all(axis=1))
    timed = timed[-max(2, (len(timed) + 1) // 2) :]
    if len(timed) < 2:
        return float("nan")
    return float(np.polyfit(np.log(np.asarray(sizes)[timed]), np.nanmean(logs[timed], axis=1), 1)[0])


def _protocol(protocol: Protocol, versions: Versions) -> list[str]:
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


def _slopes(timings: Sequence[Timings]) -> Table:
    title = "slope: time grows with this power of the number of labels, larger half of the sizes"
    rows, values = [each.title for each in timings], [each.slopes() for each in timings]
    return Table(title, "study", rows, list(COLUMNS.values()), values, digits=2)


def _findings(timings: Sequence[Timings], protocol: Protocol) -> list[str]:
    lines = []
    for each in timings:
        compared = [row for row in range(len(each.rows)) if each.general(row)]
        ends = sorted({*compared[:1], *compared[-1:]})
        lines += [f"{each.title}, {each.rows[row]} labels: {_fastest(each, row)}" for row in ends]
    for each in timings:
        if rivals := each.general():
            listed = "; ".join(f"{each.columns[j]} {_counted(each.tolerance[:, j])}" for j in rivals)
            lines.append(f"{each.title}, tolerance that was enough (problems): {listed}")
        for key, size in each.failed:
            lines.append(
                f"{each.title}, {size} labels: {COLUMNS[key]} is not within {protocol.accuracy:g} at any tolerance"
            )
    worst = max((np.nanmax(np.abs(each.difference)) for each in timings), default=0.0)
    return [*lines, f"largest difference of an objective that was counted, to the optimum: {worst:.1e}"]


def _fastest(each: Timings, row: int) -> str:
    mean = each.times().mean()[row]
    best = min(each.general(row), key=lambda j: mean[j])
    text = f"{each.columns[best]}, the fastest general solver, takes {_ms(mean[best])}"
    for j, key in enumerate(each.keys):
        if key not in NAMES:
            text += f"; {each.columns[j]} {_ms(mean[j])}, {mean[best] / mean[j]:,.1f} times as fast"
    return text


def _ms(value: float) -> str:
    return f"{value:,.0f} ms" if value >= 1000 else f"{value:.3g} ms"


def _counted(tolerance: Any) -> str:
    counts = Counter(tolerance[~np.isnan(tolerance)].tolist())
    return ", ".join(f"{tol:g} ({counts[tol]})" for tol in sorted(counts, reverse=True))


def _missing(versions: Versions) -> list[str]:
    missing = [name for key, name in NAMES.items() if key not in versions]
    return [f'not installed, so not compared: {", ".join(missing)}; pip install "labelrank[qp]"'] if missing else []
