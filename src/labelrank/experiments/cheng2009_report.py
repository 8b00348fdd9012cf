"""The tables of :mod:`labelrank.experiments.cheng2009`, and what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from labelrank.experiments.cache import Numbers
from labelrank.experiments.cheng2009_curves import TITLE
from labelrank.experiments.cheng2009_printed import printed as printed_numbers
from labelrank.experiments.friedman import friedman_test
from labelrank.experiments.table import Report, Table

if TYPE_CHECKING:
    from labelrank.experiments.cheng2009 import Problem, Protocol

FloatArray = npt.NDArray[np.float64]
OF_PAPER = ("CC", "IBLR", "LRT")
CLOSE = 0.015  # to the printed number


def report(
    problems: Mapping[str, Problem],
    protocol: Protocol,
    cells: list[dict[str, Any]],
    results: list[Numbers],
    *,
    printed: bool = True,
) -> Report:
    """The table of the paper, the ranks and sizes that go with it, and the curves."""
    runs = Runs(cells, results)
    names, rates = list(problems), protocol.rates
    tau = {rate: runs.taus(names, protocol.methods, rate) for rate in rates}
    paper = {rate: [printed_numbers(name, rate) for name in names] for rate in rates}
    known = printed and any(row[0] for rows in paper.values() for row in rows)
    tables: list[Table | None] = [
        _accuracies(names, protocol.methods, rate, tau[rate], paper[rate] if known else None) for rate in rates
    ]
    tables += [_ranks_of_paper(names, protocol.methods, tau, paper if known else None)]
    tables += [_ranks_of_all(protocol.methods, tau)]
    if known:
        tables += [_differences(names, protocol.methods, tau, paper)]
    if "LRT" in protocol.methods:
        tables += [_sizes(names, rates, runs, paper if known else None)]
    if protocol.curve_rates:
        tables += [_curve(name, protocol, runs) for name in protocol.curves(names)]
    tables += [_seconds(names, protocol.methods, rates, runs)]
    findings = _tests(protocol.methods, tau)
    if known:
        findings += _closeness(names, protocol.methods, tau, paper)
    return Report(_protocol_lines(problems, protocol), [table for table in tables if table is not None], findings)


def _protocol_lines(problems: Mapping[str, Problem], protocol: Protocol) -> list[str]:
    repeated = f"{protocol.n_repeats} × " if protocol.n_repeats > 1 else ""
    return [
        ", ".join(problem.size for problem in problems.values()),
        f"{repeated}{protocol.n_folds}-fold cross-validation, seed {protocol.seed}; a coin for each label of each "
        "training ranking, test rankings complete",
        "Kendall's tau, mean ± standard deviation over the folds"
        + (f"; a forest of {protocol.n_trees} trees" if protocol.n_trees is not None else ""),
    ]


class Runs:
    """Results by set, learner and rate of missing labels."""

    def __init__(self, cells: list[dict[str, Any]], results: list[Numbers]) -> None:
        self.of: dict[tuple[str, str, float], list[tuple[int, Numbers]]] = {}
        for cell, numbers in zip(cells, results, strict=True):
            key = (cell["data"][0], cell["method"], cell["missing"])
            self.of.setdefault(key, []).append((cell["repeat"], numbers))

    def values(self, name: str, method: str, rate: float, number: str, *, repeat: int | None = None) -> list[float]:
        """One number per fold, of all repetitions or of one."""
        found = self.of[name, method, rate]
        return [float(numbers[number]) for r, numbers in found if repeat is None or r == repeat]

    def taus(self, names: Sequence[str], methods: Sequence[str], rate: float) -> FloatArray:
        """Of shape (n_sets, n_methods, n_runs)."""
        return np.array([[self.values(name, method, rate, "tau") for method in methods] for name in names])


def percent(rate: float) -> str:
    """A rate of missing labels in words."""
    return "complete" if not rate else f"{100 * rate:g} % missing"


Paper = Mapping[float, Sequence[tuple[str, str, str, str]]]


def _accuracies(
    names: Sequence[str],
    methods: Sequence[str],
    rate: float,
    tau: FloatArray,
    paper: Sequence[tuple[str, str, str, str]] | None,
) -> Table:
    beside = None if paper is None else [[_of_method(row, method) for method in methods] for row in paper]
    return Table(f"tau, {percent(rate)}", "set", list(names), list(methods), tau, beside, best=None)


def _of_method(row: tuple[str, str, str, str], method: str) -> str:
    return row[OF_PAPER.index(method)] if method in OF_PAPER else ""


def _ranks_of_paper(
    names: Sequence[str], methods: Sequence[str], tau: Mapping[float, FloatArray], paper: Paper | None
) -> Table | None:
    """Average ranks among the learners of the paper; what is printed is ranked on the same sets."""
    if not set(OF_PAPER) <= set(methods):
        return None
    columns = [list(methods).index(method) for method in OF_PAPER]
    shared = [i for i in range(len(names)) if paper is None or any(paper[rate][i][0] for rate in tau)]
    values, beside = [], []
    for rate, numbers in tau.items():
        values.append(friedman_test(numbers.mean(axis=2)[shared][:, columns]).average_ranks[:, None])
        if paper is not None:
            scores = [[float(x or "nan") for x in paper[rate][i][:3]] for i in shared]
            known = not np.isnan(scores).any()
            beside.append([f"{rank:.2f}" for rank in friedman_test(scores).average_ranks] if known else [""] * 3)
    title = f"average rank among the learners of the paper, {len(shared)} sets"
    rows = [percent(rate) for rate in tau]
    return Table(title, "labels", rows, list(OF_PAPER), values, beside or None, digits=2, best=None)


def _ranks_of_all(methods: Sequence[str], tau: Mapping[float, FloatArray]) -> Table:
    values = [friedman_test(numbers.mean(axis=2)).average_ranks[:, None] for numbers in tau.values()]
    rows = [percent(rate) for rate in tau]
    n_sets = len(next(iter(tau.values())))
    return Table(f"average rank, {n_sets} sets", "labels", rows, list(methods), values, digits=2, best=None)


def _differences(
    names: Sequence[str], methods: Sequence[str], tau: Mapping[float, FloatArray], paper: Paper
) -> Table | None:
    columns, values = [], []
    for method in methods:
        if method in OF_PAPER:
            for rate, numbers in tau.items():
                columns.append(f"{method}, {percent(rate)}")
                values.append(_difference(numbers[:, list(methods).index(method)], method, paper[rate]))
    if not columns:
        return None
    return Table("tau minus the printed tau", "set", list(names), columns, np.array(values).T[:, :, None], best=None)


def _difference(tau: FloatArray, method: str, paper: Sequence[tuple[str, str, str, str]]) -> list[float]:
    """Of each set; NaN where the paper prints nothing."""
    beside = [_of_method(row, method) for row in paper]
    return [float(ours.mean() - float(text)) if text else np.nan for ours, text in zip(tau, beside, strict=True)]


def _sizes(names: Sequence[str], rates: Sequence[float], runs: Runs, paper: Paper | None) -> Table:
    values = [[_relative_sizes(runs, name, rate) for rate in rates] for name in names]
    beside = None if paper is None else [[paper[rate][i][3] for rate in rates] for i in range(len(names))]
    columns = [percent(rate) for rate in rates]
    title = "leaves of LRT relative to those of a classification tree for the first label"
    return Table(title, "set", list(names), columns, values, beside, digits=1, best=None)


def _relative_sizes(runs: Runs, name: str, rate: float) -> FloatArray:
    leaves, of_classes = (np.array(runs.values(name, "LRT", rate, key)) for key in ("leaves", "class_leaves"))
    return np.asarray(leaves / of_classes)


def _curve(name: str, protocol: Protocol, runs: Runs) -> Table:
    values = [
        [runs.values(name, method, rate, "tau", repeat=0) for method in protocol.methods]
        for rate in protocol.curve_rates
    ]
    rows = [f"{100 * rate:g} %" for rate in protocol.curve_rates]
    return Table(TITLE + name, "missing", rows, list(protocol.methods), values, best=None, spread=False)


def _seconds(names: Sequence[str], methods: Sequence[str], rates: Sequence[float], runs: Runs) -> Table:
    def spent(name: str, method: str) -> list[float]:
        keys = ("fit_seconds", "predict_seconds")
        both = [np.array([x for rate in rates for x in runs.values(name, method, rate, key)]) for key in keys]
        return [float(x) for x in both[0] + both[1]]

    values = [[spent(name, method) for method in methods] for name in names]
    title = "CPU seconds to fit and predict one fold"
    return Table(title, "set", list(names), list(methods), values, best=None, spread=False)


# --- What they say


def _tests(methods: Sequence[str], tau: Mapping[float, FloatArray]) -> list[str]:
    lines = []
    for rate, numbers in tau.items():
        test = friedman_test(numbers.mean(axis=2))
        listed = ", ".join(f"{method} {rank:.2f}" for method, rank in zip(methods, test.average_ranks, strict=True))
        line = f"{percent(rate)}: average ranks {listed}"
        if not np.isnan(test.p):
            line += (
                f"; Friedman's χ² = {test.statistic:.2f}, p = {test.p:.2g}; ranks that differ by more than "
                f"{test.critical_difference:.2f} differ at the level 0.05 (Nemenyi)"
            )
        lines.append(line)
    return lines


def _closeness(
    names: Sequence[str], methods: Sequence[str], tau: Mapping[float, FloatArray], paper: Paper
) -> list[str]:
    lines = []
    for method in methods:
        for rate, numbers in tau.items():
            ours = numbers[:, list(methods).index(method)]
            if method in OF_PAPER:
                gaps = dict(zip(names, _difference(ours, method, paper[rate]), strict=True))
                said = f"within {CLOSE} of the printed tau or above it"
            else:
                best = [max(row[:3], key=lambda text: float(text or "nan")) for row in paper[rate]]
                pairs = zip(names, ours, best, strict=True)
                gaps = {name: float(tau.mean() - float(text)) if text else np.nan for name, tau, text in pairs}
                said = "above the best printed tau"
            known = {name: gap for name, gap in gaps.items() if not np.isnan(gap)}
            if not known:
                continue
            short = {name: gap for name, gap in known.items() if gap < (-CLOSE if method in OF_PAPER else 1e-12)}
            line = f"{method}, {percent(rate)}: {said} on {len(known) - len(short)} of {len(known)} sets"
            if short:
                line += "; not on " + ", ".join(f"{name} ({gap:+.3f})" for name, gap in short.items())
            lines.append(line)
    return lines
