"""The table of the paper, the tests behind its claim, and how much both depend on the draw."""

from __future__ import annotations

import numpy as np

from labelrank.metrics import signed_rank_test
from papers.frame import Numbers, Outcome, Report, Table
from papers.tsivtsivadze2008.data import FloatArray
from papers.tsivtsivadze2008.draws import draw_of
from papers.tsivtsivadze2008.learners import METHODS

PRINTED = (("0.27", ""), ("0.24", ""), ("0.23", ""), ("0.21", ""))
SHORT = list(METHODS.values())
LEVEL = 0.05  # of the tests, that of the paper


class Draws:
    """For each draw and learner, the errors of the test groups and what was chosen."""

    def __init__(self, found: Outcome) -> None:
        self.problem, self.protocol = found.problem, found.protocol
        pairs = zip(found.cells, found.results, strict=True)
        self.of = {(cell["draw"], cell["method"]): numbers for cell, numbers in pairs}
        self.draws = sorted({draw for draw, _ in self.of})

    def errors(self, draw: int, what: str = "disagreement") -> FloatArray:
        """Return the errors, of shape (4 learners, n_groups), NaN where there is no pair."""
        return np.array([self.of[draw, method][what] for method in METHODS], dtype=np.float64)

    def means(self, draw: int) -> FloatArray:
        """Return the mean errors, of shape (4 learners, 2): of all pairs and of those that are not tied."""
        return np.column_stack([np.nanmean(self.errors(draw, what), axis=1) for what in ("disagreement", "untied")])


def report(outcome: Outcome) -> Report:
    """Make the report."""
    found = Draws(outcome)
    groups, items = found.problem.words
    n = len(found.draws)
    columns = ["disagreement", "untied pairs"]
    first, every = found.means(0), np.stack([found.means(draw) for draw in found.draws], axis=2)
    printed = PRINTED if found.problem.name == "parse" else None
    better = _better(found)
    title = "the table: errors on the test data, first draw"
    tables = [
        Table(title, "learner", SHORT, columns, first, printed, best="smallest"),
        _p_values(f"p of Wilcoxon's signed-rank test over the {groups}, first draw", found),
        Table(f"errors in {n} draws", "learner", SHORT, columns, every, digits=4, best="smallest"),
        Table(
            f"in how many of {n} draws the row is better than the column with p < {LEVEL}",
            *("learner", SHORT, SHORT, better),
            digits=0,
        ),
        _training(f"training, first draw ({items} and basis vectors; seconds of the whole search)", found),
    ]
    return Report(_protocol(found), tables, _findings(found, better))


def _protocol(found: Draws) -> list[str]:
    problem, protocol = found.problem, found.protocol
    groups, items = problem.words
    n_train, n_test = found.of[0, "rls"]["n_groups"], found.errors(0).shape[1]
    drawn = f"{groups} and {items}" if problem.test is None else items
    return [
        problem.size,
        f"{n_train} {groups} to train on and to choose the parameters, {n_test} to test on; {protocol.n_basis} {items} "
        f"each for the basic learners and as basis, {protocol.n_more} more for the sparse ones; {drawn} drawn "
        f"{protocol.n_draws} times, seed {protocol.seed}",
        f"kernel and penalty by {protocol.n_folds}-fold cross-validation over {groups}; penalties "
        + ", ".join(format(alpha, "g") for alpha in protocol.alphas),
        f"disagreement: the error (1) of the paper, all pairs of different {items}; untied pairs: the same over pairs "
        "with different scores",
    ]


def _p_values(title: str, found: Draws) -> Table:
    errors = found.errors(0)
    values = [[np.nan if a == b else signed_rank_test(errors[a], errors[b]) for b in range(4)] for a in range(4)]
    return Table(title, "learner", SHORT, SHORT, values, digits=4)


def _better(found: Draws) -> FloatArray:
    counts = np.zeros((4, 4))
    for draw in found.draws:
        errors = found.errors(draw)
        for a in range(4):
            for b in range(4):
                if errors[a].mean() < errors[b].mean():
                    counts[a, b] += signed_rank_test(errors[a], errors[b]) < LEVEL
    np.fill_diagonal(counts, np.nan)
    return counts


def _training(title: str, found: Draws) -> Table:
    names = {"n_items": "items", "n_basis": "basis", "cv_error": "error in the folds", "seconds": "seconds"}
    values = [[found.of[0, method][name] for name in names] for method in METHODS]
    return Table(title, "learner", SHORT, list(names.values()), values, digits=(0, 0, 3, 1))


def _findings(found: Draws, better: FloatArray) -> list[str]:
    means = np.array([found.means(draw)[:, 0] for draw in found.draws])
    paper = f"the paper's order ({', '.join(SHORT)}, from the worst to the best)"
    held = sum(_holds(row) == "holds" for row in means)
    lines = [
        f"first draw, from the worst to the best: {_order(means[0])}",
        f"mean of the draws: {_order(means.mean(axis=0))}",
        f"{paper} {_holds(means[0])} in the first draw, {_holds(means.mean(axis=0))} for the mean of the draws, and "
        f"holds in {held} of {len(means)} draws",
    ]
    sparse_rank = SHORT.index("sparse RankRLS")
    for other in range(4):
        if other != sparse_rank:
            p = signed_rank_test(*found.errors(0)[[sparse_rank, other]])
            gap = means[:, sparse_rank] - means[:, other]
            lines.append(
                f"sparse RankRLS against {SHORT[other]}: {gap[0]:+.4f} in the first draw (p = {p:.2g}), smaller in "
                f"{(gap < 0).sum()} of {len(gap)} draws, with p < {LEVEL} in {better[sparse_rank, other]:.0f}; larger "
                f"with p < {LEVEL} in {better[other, sparse_rank]:.0f}"
            )
    lines.append(_limits(found))
    chosen = [f"{name} {_kernel(found.of[0, method])}" for method, name in METHODS.items()]
    return [*lines, "chosen in the first draw: " + "; ".join(chosen)]


def _holds(means: FloatArray) -> str:
    return "holds" if (np.diff(means) < 0).all() else "does not hold"


def _order(means: FloatArray) -> str:
    return ", ".join(f"{SHORT[i]} {means[i]:.4f}" for i in np.argsort(-means, kind="stable"))


def _kernel(numbers: Numbers) -> str:
    kernel = numbers["kernel"]
    gamma = f", gamma {kernel['gamma']:g}" if "gamma" in kernel else ""
    return f"{kernel['view']}{gamma}, penalty {numbers['alpha']:g}"


def _limits(found: Draws) -> str:
    """Ties in the truth set limits to the error: broken ones cost ½, and so do all others of a constant score."""
    problem = found.problem
    items = problem.words[1]
    tied = []
    test = draw_of(problem, vars(found.protocol), 0).test
    for name in np.unique(problem.groups[test]):
        y = problem.y[problem.groups == name]
        if len(y) > 1:
            i, j = np.triu_indices(len(y), 1)
            tied.append(np.mean(y[i] == y[j]))
    share = float(np.mean(tied))
    return (
        f"{100 * share:.0f} % of the pairs of {items} that are tested are tied: scores without ties have an error of "
        f"{share / 2:.3f} or more, a constant score has {(1 - share) / 2:.3f}, scores at random 0.5"
    )
