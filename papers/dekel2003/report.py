"""The table of the paper, the comparison over folds behind its claim, and the table of boosting."""

from __future__ import annotations

from typing import Any

import numpy as np

from labelrank.metrics import Paired, paired_comparison
from papers.dekel2003.learners import DECOMPOSITIONS
from papers.frame import Outcome, Report, Table

# Rows are what was minimized, columns the errors. The text of the paper can be read the other way around, but not the
# numbers: a ranking that gets a share of its edges wrong gets the graph wrong, so the disagreement error is never above
# the 0-1 error, and 0.73 beside 0.63 cannot belong to one ranker.
PRINTED = (
    ("0.63", "0.068", "0.42", "0.12"),
    ("0.73", "0.063", "0.51", "0.14"),
    ("0.59", "0.049", "0.35", "0.10"),
    ("0.59", "0.067", "0.41", "0.10"),
)
SHORT = list(DECOMPOSITIONS.values())
DOM = SHORT.index("Dom")
OTHERS = [i for i in range(len(SHORT)) if i != DOM]


def report(found: Outcome) -> Report:
    """Make the report."""
    corpus, protocol = found.problem, found.protocol
    printed = None if found.quick else PRINTED
    ours, tuned = errors(found, "lbfgs"), errors(found, "lbfgs", tuned_for="measured")
    boosted = errors(found, "boosting")
    return Report(
        [
            corpus.size,
            f"{protocol.n_folds}-fold cross-validation, seed {protocol.seed}; {protocol.n_layers} layers; "
            f"{min(protocol.n_words, corpus.features.shape[1]):,} words chosen on each training fold",
            "mean ± standard deviation over the folds, best of each column marked; rows: what was minimized, "
            "columns: the error",
        ],
        [
            _table("L-BFGS, the penalty chosen for the error that was minimized", ours, printed),
            _differences("Dom minus the others, fold by fold", ours),
            _p_values("p of these differences, corrected paired t-test", ours),
            _table("L-BFGS, the penalty chosen for the error that is measured", tuned, printed),
            _p_values("p of Dom against the others, corrected paired t-test", tuned),
            _table(f"{protocol.boosting_steps} steps of boosting", boosted, printed),
            _solving("L-BFGS, chosen penalty", found, "lbfgs"),
            _solving("boosting", found, "boosting"),
        ],
        [*_findings(ours), _penalties(found)],
    )


def chosen(found: Outcome, solver: str, decomposition: str, error: str) -> list[dict[str, Any]]:
    """Return, for each fold, the step with the smallest error on the held-out part; of equals the larger penalty."""
    return [
        min(result["path"], key=lambda step: step["held_out"][error] if "held_out" in step else 0.0)
        for result in found.of(solver=solver, decomposition=decomposition)
    ]


def errors(found: Outcome, solver: str, tuned_for: str = "minimized") -> Any:
    """Return the errors on the test folds, of shape (4 decompositions, 4 errors, n_folds).

    The penalty is chosen on the held-out part of each training fold: by the error that belongs to what was
    ``"minimized"``, so that a row is one ranker, or by the error that is ``"measured"``.
    """
    return np.array(
        [
            [
                [
                    step["errors"][error]
                    for step in chosen(found, solver, row, row if tuned_for == "minimized" else error)
                ]
                for error in DECOMPOSITIONS
            ]
            for row in DECOMPOSITIONS
        ]
    )


def _table(title: str, errors: Any, printed: Any) -> Table:
    return Table(title, "minimized", SHORT, SHORT, errors, printed, digits=(3, 4, 3, 4), best="smallest")


def _differences(title: str, errors: Any) -> Table:
    return Table(title, "Dom minus", [SHORT[i] for i in OTHERS], SHORT, errors[DOM] - errors[OTHERS], digits=4)


def _p_values(title: str, errors: Any) -> Table:
    values = [[_dom_against(errors, i, j).p for j in range(len(SHORT))] for i in OTHERS]
    return Table(title, "Dom against", [SHORT[i] for i in OTHERS], SHORT, values)


def _dom_against(errors: Any, row: int, column: int) -> Paired:
    return paired_comparison(errors[DOM, column], errors[row, column], test_share=1 / errors.shape[2])


def _solving(title: str, found: Outcome, solver: str) -> Table:
    """Iterations and gap of the chosen step, seconds of the whole cell."""
    values = []
    for row in DECOMPOSITIONS:
        steps = chosen(found, solver, row, row)
        seconds = [result["seconds"] for result in found.of(solver=solver, decomposition=row)]
        columns = [[step["n_iter"] for step in steps], [step["gap"] * 1e6 for step in steps]]
        values.append([*columns, [step["loss"] for step in steps], seconds])
    names = ["iterations", "gap × 10⁶", "mean loss", "seconds"]
    return Table(title, "minimized", SHORT, names, values, digits=(0, 2, 4, 0))


def _findings(errors: Any) -> list[str]:
    """Under each error: which decomposition is best, and how far domination is from it."""
    lines = []
    mean = errors.mean(axis=2)
    for j, name in enumerate(SHORT):
        first = int(mean[:, j].argmin())
        line = f"{name} error: smallest after minimizing {SHORT[first]} ({mean[first, j]:.4f})"
        if first != DOM:
            against = _dom_against(errors, first, j)
            line += (
                f"; Dom {mean[DOM, j]:.4f}, {against.difference:.4f} more, smaller in {against.wins} of "
                f"{errors.shape[2]} folds (p = {against.p:.3f})"
            )
        lines.append(line)
    return lines


def _penalties(found: Outcome) -> str:
    listed = [
        f"{short} {', '.join(format(step['alpha'], 'g') for step in chosen(found, 'lbfgs', name, name))}"
        for name, short in DECOMPOSITIONS.items()
    ]
    return "penalty chosen for the error that was minimized, fold by fold: " + "; ".join(listed)
