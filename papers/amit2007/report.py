"""The table of the paper, the comparison behind its claim, and how far the loss was minimized."""

from __future__ import annotations

from collections.abc import Sequence

from papers.amit2007.data import TEXT, Protocol
from papers.amit2007.measures import COVERINGS, MEASURES, FloatArray
from papers.amit2007.study import WAYS, BoolArray, Study, compare_diagonal, studies
from papers.frame import Outcome, Report, Table

SHORT = list(COVERINGS.values())
PARTS = {"train": "training data", "test": "test data"}

PRINTED = (
    ("0.567", "1.587", "0.759", "3.300", "2.407", "0.100", "4.493", "0.865"),
    ("0.579", "1.492", "0.757", "3.297", "2.365", "0.091", "4.378", "0.870"),
    ("0.574", "1.599", "0.747", "3.209", "2.356", "0.094", "4.376", "0.870"),
    ("0.652", "1.792", "0.857", "3.022", "2.403", "0.094", "4.177", "0.872"),
    ("0.610", "1.614", "0.817", "3.051", "2.314", "0.094", "4.227", "0.872"),
)


def report(outcome: Outcome) -> Report:
    """Make the full report on one problem, or a summary of several."""
    found = studies(outcome)
    if len(found) > 1:
        tables = [
            _table(f"{each.problem.name}, {title}: test data", each.measures(way, "test"), False)
            for each in found
            for way, title in _titles(each.protocol).items()
        ]
        findings = [f"{each.problem.name}, {line}" for each in found for line in _findings(each)]
        return Report(_protocol(found, False), [_counts(found), *tables], findings)
    [each] = found
    printed = each.problem.name in TEXT
    tables = []
    for way, title in _titles(each.protocol).items():
        tables += [
            _table(f"{title}: test data", each.measures(way, "test"), printed),
            _p_values(f"{title}: p of the diagonal against the row, test data", each, way, "test"),
            _table(f"{title}: training data", each.measures(way, "train"), False),
            _p_values(f"{title}: p of the diagonal against the row, training data", each, way, "train"),
            _solving(f"{title}: how far it was minimized", each, way),
        ]
    return Report(_protocol(found, printed), [*tables, _counts(found)], _findings(each))


def _titles(protocol: Protocol) -> dict[str, str]:
    details = {"boosting": f", {protocol.rounds} rounds", "same": f" of {protocol.alphas[-1]:g}"}
    return {way: words + details.get(way, "") for way, words in WAYS.items()}


def _protocol(found: Sequence[Study], printed: bool) -> list[str]:
    return [
        *[f"{each.problem.size}; {_solvers(each.protocol)}" for each in found],
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
    best = ["largest" if name == "AvgP" else "smallest" for name in columns]
    return Table(title, "trained", SHORT, columns, values, PRINTED if printed else None, best=best)


def _p_values(title: str, found: Study, way: str, part: str) -> Table:
    return Table(title, "trained", SHORT, SHORT, found.diagonal(way, part).p)


def _solving(title: str, found: Study, way: str) -> Table:
    """Seconds are those of the whole cell: all penalties, twice; for boosting the errors after every round."""
    columns = {"alpha": "penalty", "n_iter": "iterations", "gap": "gap", "loss": "mean loss", "seconds": "seconds"}
    values = [[numbers[name] for name in columns] for numbers in found.of(way)]
    return Table(title, "trained", SHORT, list(columns.values()), values, digits=(1, 0, 5, 4, 0))


def _counts(found: Sequence[Study]) -> Table:
    """For how many of the five errors the diagonal is best, is so significantly, and is beaten significantly."""
    rows, values = [], []
    for each in found:
        for way, words in WAYS.items():
            rows.append(f"{each.problem.name}, {words}")
            both = [each.diagonal(way, part) for part in PARTS]
            values.append([int(c.sum()) for d in both for c in (d.best, d.clearly_best, d.clearly_beaten)])
    columns = [f"{part}: {what}" for part in PARTS for what in ("best", "p < 0.01", "beaten")]
    title = "for how many of the five errors the diagonal is best, is best with p < 0.01, is beaten with p < 0.01"
    return Table(title, "data", rows, columns, values, digits=0)


def _findings(found: Study) -> list[str]:
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


def _against_hamming(found: Study) -> list[str]:
    """The change by training with the covering of the error instead of the Hamming covering."""
    lines = []
    hamming = SHORT.index("HM")
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


def _over_rounds(found: Study) -> list[str]:
    """For how many errors the diagonal is best, after so many rounds of boosting."""
    lines = []
    for part, where in PARTS.items():
        curves = found.curves(part)
        rounds = [n for n in (5, 10, 20, 50, 100, 200, 500, 1000) if n < curves.shape[2]]
        counts = [int(compare_diagonal(curves[:, :, [n]]).best.sum()) for n in rounds]
        listed = ", ".join(f"{count} after {n}" for n, count in zip(rounds, counts, strict=True))
        lines.append(f"boosting, {where}, the diagonal is best on {listed} rounds")
    return lines
