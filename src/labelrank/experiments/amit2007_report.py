"""The tables and the picture of :mod:`labelrank.experiments.amit2007`, and what they say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from labelrank.experiments.amit2007_data import Protocol
from labelrank.experiments.amit2007_outcome import (
    COVERINGS,
    MEASURES,
    BoolArray,
    FloatArray,
    Outcome,
    compare_diagonal,
)
from labelrank.experiments.table import Report, Table

SHORT = list(COVERINGS.values())
WAYS = {"chosen": "L-BFGS, chosen penalty", "same": "L-BFGS, one penalty", "boosting": "boosting"}
PARTS = {"train": "training data", "test": "test data"}
COLOURS = ("#222222", "#0072B2", "#009E73", "#D55E00", "#CC79A7")  # Okabe and Ito

PRINTED = (
    ("0.567", "1.587", "0.759", "3.300", "2.407", "0.100", "4.493", "0.865"),
    ("0.579", "1.492", "0.757", "3.297", "2.365", "0.091", "4.378", "0.870"),
    ("0.574", "1.599", "0.747", "3.209", "2.356", "0.094", "4.376", "0.870"),
    ("0.652", "1.792", "0.857", "3.022", "2.403", "0.094", "4.177", "0.872"),
    ("0.610", "1.614", "0.817", "3.051", "2.314", "0.094", "4.227", "0.872"),
)


# --- The tables


class MeasureTable(Table):
    """A table whose last column, average precision, is best when it is largest."""

    def is_best(self) -> BoolArray:
        """Which means are the best of their column."""
        last = self.mean()[:, -1]
        best = super().is_best()
        best[:, -1] = last == last.max()
        return best


def report(found: Outcome, *, printed: bool = True) -> Report:
    """The table of the paper, the comparison behind its claim, and how far the loss was minimised."""
    tables: list[Table] = []
    for way, title in _titles(found.protocol).items():
        tables += [
            _table(f"{title}: test data", found.measures(way, "test"), printed),
            _p_values(f"{title}: p of the diagonal against the row, test data", found, way, "test"),
            _table(f"{title}: training data", found.measures(way, "train"), False),
            _p_values(f"{title}: p of the diagonal against the row, training data", found, way, "train"),
            _solving(f"{title}: how far it was minimised", found, way),
        ]
    return Report(_protocol([found], printed), [*tables, _counts([found])], _findings(found))


def summary(outcomes: Sequence[Outcome]) -> Report:
    """How often the diagonal wins, on several data sets, and their tables on test data."""
    tables = [
        _table(f"{each.problem.name}, {title}: test data", each.measures(way, "test"), False)
        for each in outcomes
        for way, title in _titles(each.protocol).items()
    ]
    findings = [f"{each.problem.name}, {line}" for each in outcomes for line in _findings(each)]
    return Report(_protocol(outcomes, False), [_counts(outcomes), *tables], findings)


def _titles(protocol: Protocol) -> dict[str, str]:
    details = {"boosting": f", {protocol.rounds} rounds", "same": f" of {protocol.alphas[-1]:g}"}
    return {way: words + details.get(way, "") for way, words in WAYS.items()}


def _protocol(outcomes: Sequence[Outcome], printed: bool) -> list[str]:
    return [
        *[f"{each.problem.size}; {_solvers(each.protocol)}" for each in outcomes],
        "boosting with the parallel template; of the penalties, the one with the smallest error, of the covering "
        "that is trained with, on a fifth of the training data, or the smallest for all",
        "rows: the covering that was trained with, columns: the error; best of each column marked; coverage is counted "
        "from 1" + (", in the paper from 0" if printed else ""),
        "p: paired t-test over the examples, two-sided, not corrected for the number of tests",
    ]


def _solvers(protocol: Protocol) -> str:
    penalties = ", ".join(format(alpha, "g") for alpha in protocol.alphas)
    smoothing = f" with smoothing {protocol.smoothing:g}" if protocol.smoothing else ""
    return (
        f"{protocol.rounds} rounds of boosting{smoothing}; {protocol.max_iter} iterations of L-BFGS for each of the "
        f"penalties {penalties}"
    )


def _table(title: str, values: FloatArray, printed: bool) -> Table:
    columns = list(MEASURES.values())
    return MeasureTable(title, "trained", SHORT, columns, values[:, :, None], PRINTED if printed else None)


def _p_values(title: str, found: Outcome, way: str, part: str) -> Table:
    return Table(title, "trained", SHORT, SHORT, found.diagonal(way, part).p[:, :, None], best=None)


def _solving(title: str, found: Outcome, way: str) -> Table:
    """Seconds are those of the whole cell: all penalties, twice; for boosting the errors after every round."""
    columns = {"alpha": "penalty", "n_iter": "iterations", "gap": "gap", "loss": "mean loss", "seconds": "seconds"}
    values = [[[numbers[name]] for name in columns] for numbers in found.of(way)]
    return Table(title, "trained", SHORT, list(columns.values()), values, digits=(1, 0, 5, 4, 0), best=None)


def _counts(outcomes: Sequence[Outcome]) -> Table:
    """For how many of the five errors the diagonal is best, is so significantly, and is beaten significantly."""
    rows, values = [], []
    for each in outcomes:
        for way, words in WAYS.items():
            rows.append(f"{each.problem.name}, {words}")
            both = [each.diagonal(way, part) for part in PARTS]
            values.append([[int(c.sum())] for d in both for c in (d.best, d.clearly_best, d.clearly_beaten)])
    columns = [f"{part}: {what}" for part in PARTS for what in ("best", "p < 0.01", "beaten")]
    title = "for how many of the five errors the diagonal is best, is best with p < 0.01, is beaten with p < 0.01"
    return Table(title, "data", rows, columns, values, digits=0, best=None)


def _findings(found: Outcome) -> list[str]:
    lines = []
    for way, words in WAYS.items():
        for part, where in PARTS.items():
            diagonal = found.diagonal(way, part)
            said = [
                f"{what} {int(columns.sum())}{_named(columns)}"
                for what, columns in (
                    ("best on", diagonal.best),
                    ("with p < 0.01 against each other row on", diagonal.clearly_best),
                    ("beaten by another row with p < 0.01 on", diagonal.clearly_beaten),
                )
            ]
            lines.append(f"{words}, {where}, of five errors the diagonal is " + "; ".join(said))
    return [*lines, *_against_hamming(found), *_over_rounds(found)]


def _against_hamming(found: Outcome) -> list[str]:
    """What training with the covering of the error brings, compared with training with the Hamming covering."""
    lines = []
    hamming = list(COVERINGS).index("hamming")
    for way, words in WAYS.items():
        diagonal, errors = found.diagonal(way, "test"), found.measures(way, "test")
        changes = [
            f"{name} {100 * diagonal.difference[hamming, j] / errors[hamming, j]:+.1f} % (p = {p:.2g})"
            for j, (name, p) in enumerate(zip(SHORT, diagonal.p[hamming], strict=True))
            if j != hamming and errors[hamming, j] > 0
        ]
        lines.append(f"{words}, test data, the diagonal compared with HM: " + ", ".join(changes))
    return lines


def _named(columns: BoolArray) -> str:
    names = [name for name, there in zip(SHORT, columns, strict=True) if there]
    return f" ({', '.join(names)})" if names else ""


def _over_rounds(found: Outcome) -> list[str]:
    """For how many errors the diagonal is best, as boosting goes on."""
    lines = []
    for part, where in PARTS.items():
        curves = found.curves(part)
        rounds = [n for n in (5, 10, 20, 50, 100, 200, 500, 1000) if n < curves.shape[2]]
        counts = [int(compare_diagonal(curves[:, :, [n]]).best.sum()) for n in rounds]
        listed = ", ".join(f"{count} after {n}" for n, count in zip(rounds, counts, strict=True))
        lines.append(f"boosting, {where}, the diagonal is best on {listed} rounds")
    return lines


# --- The picture


def plot_training_errors(found: Outcome, *, axes: Any = None) -> Any:
    """Draw Figure 3: the covering errors on the training data by round, one panel per error, one line per covering.

    Parameters
    ----------
    found : Outcome
        What :func:`outcome` returns.
    axes : sequence of five matplotlib axes, optional
        A new figure by default.

    Returns
    -------
    ndarray of matplotlib axes

    Examples
    --------
    >>> from labelrank.experiments import amit2007
    >>> axes = amit2007.plot_training_errors(amit2007.outcome(quick=True))
    >>> [axis.get_title() for axis in axes]
    ['ZO', 'HM', 'TS', 'WP', 'WN']
    """
    from matplotlib.figure import Figure

    curves = found.curves()
    if axes is None:
        axes = Figure(figsize=(13, 3.0), layout="constrained").subplots(1, len(SHORT))
    axes = np.atleast_1d(axes)
    if len(axes) != len(SHORT):
        raise ValueError(f"axes has {len(axes)} entries; five are needed, one for each error")
    rounds = np.arange(curves.shape[2])
    for j, axis in enumerate(axes):
        for i, name in enumerate(SHORT):
            # The line that the paper says is the lowest is the thick one.
            axis.plot(rounds, curves[i, j], color=COLOURS[i], linewidth=2.4 if i == j else 1.1, label=name)
        axis.set(title=SHORT[j], xlabel="round", yscale="log")
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("error on the training data")
    legend = axes[-1].legend(title="trained with", loc="upper left", bbox_to_anchor=(1.02, 1.0), borderaxespad=0.0)
    for line in legend.get_lines():
        line.set_linewidth(1.8)
    return axes
