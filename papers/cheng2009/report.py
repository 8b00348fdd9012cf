"""The table of the paper, average ranks and tree sizes, and accuracy by the rate of missing labels."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from labelrank.metrics import friedman_test
from papers.cheng2009.learners import METHODS
from papers.cheng2009.printed import printed
from papers.frame import Numbers, Outcome, Report, Table

FloatArray = npt.NDArray[np.float64]
OF_PAPER = METHODS[:3]
CLOSE = 0.015  # to the printed number
CURVE = "tau by the rate of missing labels: "


def report(found: Outcome) -> Report:
    """Make the report."""
    runs = Runs(found)
    names, protocol = runs.names, found.protocol
    tables = [runs.accuracies(rate) for rate in protocol.rates]
    tables += [_ranks_of_paper(runs), _ranks_of_all(runs)]
    if runs.known:
        tables += [_differences(runs)]
    tables += [_sizes(runs)]
    if protocol.curve_rates:
        tables += [runs.curve(name, protocol.curve_rates) for name in protocol.curves(names)]
    tables += [_seconds(runs)]
    repeated = f"{protocol.n_repeats} × " if protocol.n_repeats > 1 else ""
    lines = [
        ", ".join(problem.size for problem in found.problem.values()),
        f"{repeated}{protocol.n_folds}-fold cross-validation, seed {protocol.seed}; labels removed at random from "
        "training rankings, test rankings complete",
        "Kendall's tau, mean ± standard deviation over the folds"
        + (f"; a forest of {protocol.n_trees} trees" if protocol.n_trees is not None else ""),
    ]
    return Report(lines, tables, [*_tests(runs), *_closeness(runs)])


def percent(rate: float) -> str:
    """Return a rate of missing labels in words."""
    return "complete" if not rate else f"{100 * rate:g} % missing"


class Runs:
    """Results by set, learner and rate of missing labels, and the printed numbers."""

    def __init__(self, found: Outcome) -> None:
        self.names, self.rates = list(found.problem), found.protocol.rates
        self.of: dict[tuple[str, str, float], list[tuple[int, Numbers]]] = {}
        for cell, numbers in zip(found.cells, found.results, strict=True):
            key = (cell["data"][0], cell["method"], cell["missing"])
            self.of.setdefault(key, []).append((cell["repeat"], numbers))
        self.paper = {rate: [printed(name, rate) for name in self.names] for rate in self.rates}
        self.known = not found.quick and any(row[0] for rows in self.paper.values() for row in rows)

    def values(self, name: str, method: str, rate: float, number: str, *, repeat: int | None = None) -> FloatArray:
        """Return one number per fold, of all repetitions or of one."""
        found = self.of[name, method, rate]
        return np.array([numbers[number] for r, numbers in found if repeat is None or r == repeat], dtype=float)

    def taus(self, rate: float) -> FloatArray:
        """Return tau, of shape (n_sets, n_methods, n_runs)."""
        return np.array([[self.values(name, method, rate, "tau") for method in METHODS] for name in self.names])

    def accuracies(self, rate: float) -> Table:
        """Return the table of the paper for a rate."""
        beside = [(*row[:3], "") for row in self.paper[rate]] if self.known else None
        return Table(f"tau, {percent(rate)}", "set", self.names, list(METHODS), self.taus(rate), beside)

    def curve(self, name: str, rates: tuple[float, ...]) -> Table:
        """Return the accuracy on a set, by rate."""
        values = [[self.values(name, method, rate, "tau", repeat=0) for method in METHODS] for rate in rates]
        return Table(CURVE + name, "missing", [f"{100 * rate:g} %" for rate in rates], METHODS, values, spread=False)

    def gaps(self, method: str, rate: float) -> FloatArray:
        """Return tau minus the printed one, for each set; that of the best learner of the paper for another method."""
        ours = self.taus(rate)[:, METHODS.index(method)].mean(axis=1)
        paper = np.array([[float(text or "nan") for text in row[:3]] for row in self.paper[rate]])
        return np.asarray(ours - (paper[:, OF_PAPER.index(method)] if method in OF_PAPER else paper.max(axis=1)))


def _ranks_of_paper(runs: Runs) -> Table:
    """Average ranks among the learners of the paper; the printed numbers are ranked on the same sets."""
    shared = [i for i in range(len(runs.names)) if not runs.known or any(runs.paper[rate][i][0] for rate in runs.rates)]
    values, beside = [], []
    for rate in runs.rates:
        values.append(friedman_test(runs.taus(rate).mean(axis=2)[shared, :3]).average_ranks)
        rows = [runs.paper[rate][i][:3] for i in shared]
        scores = np.array([[float(text or "nan") for text in row] for row in rows])
        known = runs.known and not np.isnan(scores).any()
        beside.append([f"{rank:.2f}" for rank in friedman_test(scores).average_ranks] if known else [""] * 3)
    title = f"average rank among the learners of the paper, {len(shared)} sets"
    return Table(title, "labels", [percent(rate) for rate in runs.rates], OF_PAPER, values, beside, digits=2)


def _ranks_of_all(runs: Runs) -> Table:
    values = [friedman_test(runs.taus(rate).mean(axis=2)).average_ranks for rate in runs.rates]
    rows = [percent(rate) for rate in runs.rates]
    return Table(f"average rank, {len(runs.names)} sets", "labels", rows, METHODS, values, digits=2)


def _differences(runs: Runs) -> Table:
    pairs = [(method, rate) for method in OF_PAPER for rate in runs.rates]
    values = np.array([runs.gaps(method, rate) for method, rate in pairs]).T
    columns = [f"{method}, {percent(rate)}" for method, rate in pairs]
    return Table("tau minus the printed tau", "set", runs.names, columns, values)


def _sizes(runs: Runs) -> Table:
    values = [
        [
            runs.values(name, "LRT", rate, "leaves") / runs.values(name, "LRT", rate, "class_leaves")
            for rate in runs.rates
        ]
        for name in runs.names
    ]
    rows = [[runs.paper[rate][i][3] for rate in runs.rates] for i in range(len(runs.names))]
    columns = [percent(rate) for rate in runs.rates]
    title = "leaves of LRT relative to those of a classification tree for the first label"
    return Table(title, "set", runs.names, columns, values, rows if runs.known else None, digits=1)


def _seconds(runs: Runs) -> Table:
    def spent(name: str, method: str) -> FloatArray:
        both = [
            runs.values(name, method, rate, "fit_seconds") + runs.values(name, method, rate, "predict_seconds")
            for rate in runs.rates
        ]
        return np.concatenate(both)

    values = [[spent(name, method) for method in METHODS] for name in runs.names]
    return Table("CPU seconds to fit and predict one fold", "set", runs.names, METHODS, values, spread=False)


def _tests(runs: Runs) -> list[str]:
    lines = []
    for rate in runs.rates:
        test = friedman_test(runs.taus(rate).mean(axis=2))
        listed = ", ".join(f"{method} {rank:.2f}" for method, rank in zip(METHODS, test.average_ranks, strict=True))
        line = f"{percent(rate)}: average ranks {listed}"
        if not np.isnan(test.p):
            line += (
                f"; Friedman's χ² = {test.statistic:.2f}, p = {test.p:.2g}; ranks that differ by more than "
                f"{test.critical_difference:.2f} differ at the level 0.05 (Nemenyi)"
            )
        lines.append(line)
    return lines


def _closeness(runs: Runs) -> list[str]:
    """On how many sets ours is close to the printed number or above it; the forest: above the best printed one."""
    lines = []
    for method in METHODS if runs.known else ():
        least = -CLOSE if method in OF_PAPER else 1e-12
        said = f"within {CLOSE} of the printed tau or above it" if method in OF_PAPER else "above the best printed tau"
        for rate in runs.rates:
            gaps = zip(runs.names, runs.gaps(method, rate), strict=True)
            known = {name: gap for name, gap in gaps if not np.isnan(gap)}
            if not known:
                continue
            short = [f"{name} ({gap:+.3f})" for name, gap in known.items() if gap < least]
            line = f"{method}, {percent(rate)}: {said} on {len(known) - len(short)} of {len(known)} sets"
            lines.append(line + ("; not on " + ", ".join(short) if short else ""))
    return lines
