"""Dekel, Manning, Singer, "Log-linear models for label ranking" (NIPS 16, 2003), Figure 4.

Documents are labelled with nodes of a topic tree. Each gives a preference graph of three layers (its topics, their
siblings, the rest); the words are log counts, some 3200 of them chosen on each training fold. A log-linear ranker is
trained with each of the four decompositions and measured with all four errors, by 5-fold cross-validation::

    labelrank reproduce dekel2003                 Reuters-21578, in the folder named by LABELRANK_DATA
    labelrank reproduce dekel2003 --data rcv1     RCV1, by scikit-learn
    labelrank reproduce dekel2003 --quick         generated documents, in seconds

The paper boosts, on 66,000 documents of RCV1. Its steps are small, so the loss is minimised by L-BFGS here, with a
penalty chosen on a part of the training fold; a second table is what a fixed number of boosting steps gives.
"""

from __future__ import annotations

import os
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from labelrank.experiments.cache import Cell, Numbers, ResultCache, fingerprint
from labelrank.experiments.command import command
from labelrank.experiments.paired import Paired, paired_comparison
from labelrank.experiments.runner import fold_of, run_cells
from labelrank.experiments.table import Report, Table
from labelrank.supervision import PreferenceGraphs

NAME = "dekel2003"
VERSION = 2  # of everything that determines a number and is not in a cell: raise it when `compute` changes
DATA = ("reuters", "rcv1")

DECOMPOSITIONS = {"zero_one": "0-1", "disagreement": "dis", "domination": "Dom", "dominated": "dom"}

# Rows are what was minimised, columns the errors. The text of the paper can be read the other way round, but not
# the numbers: a ranking that gets a share of its edges wrong gets the graph wrong, so the disagreement error is never
# above the 0-1 error, and 0.73 beside 0.63 cannot be the two of one ranker.
PRINTED = (
    ("0.63", "0.068", "0.42", "0.12"),
    ("0.73", "0.063", "0.51", "0.14"),
    ("0.59", "0.049", "0.35", "0.10"),
    ("0.59", "0.067", "0.41", "0.10"),
)


@dataclass(frozen=True)
class Protocol:
    """How a table is made."""

    n_folds: int = 5
    seed: int = 0
    n_layers: int = 3
    n_words: int = 3200
    selection: str = "disagreement"  # words are chosen once for all four; not by the one that the paper finds best
    alphas: tuple[float, ...] = (3.0, 0.3, 0.03)  # largest first: each fit starts from the one before
    max_iter: int = 75
    tol: float = 1e-6
    boosting_steps: int = 100


QUICK = Protocol(n_folds=3, n_words=100, alphas=(1.0, 0.1), max_iter=20, tol=1e-4, boosting_steps=10)


@dataclass(frozen=True)
class Corpus:
    """Documents as features, and what is known about the order of their topics."""

    name: str
    features: sparse.csr_array
    graphs: PreferenceGraphs

    @property
    def size(self) -> str:
        """The size in words."""
        edges = self.graphs.edge_counts()
        documents, words = self.features.shape
        return (
            f"{self.name}: {documents:,} documents, {words:,} words, {self.graphs.shape[1]} topics, "
            f"{edges.mean():,.0f} edges per graph (median {np.median(edges):,.0f})"
        )


def run(
    data: str = "reuters",
    *,
    folder: str | os.PathLike[str] | None = None,
    quick: bool = False,
    n_jobs: int | None = 1,
    cache: str | os.PathLike[str] | None = None,
    protocol: Protocol | None = None,
) -> Report:
    """Make the table.

    Parameters
    ----------
    data : {"reuters", "rcv1"}, default="reuters"
        Reuters-21578 with its topic groups, or RCV1 as :func:`sklearn.datasets.fetch_rcv1` loads it.
    folder : str or path-like, optional
        The files of Reuters-21578, by default found through the environment variable ``LABELRANK_DATA``; for RCV1 the
        `data_home` of scikit-learn.
    quick : bool, default=False
        A small generated problem instead, which needs no files.
    n_jobs : int, optional
        Processes.
    cache : str or path-like, optional
        Where results are kept; :func:`~labelrank.experiments.default_folder` by default. A quick run without it keeps
        nothing.
    protocol : Protocol, optional
        Another protocol than that of the paper.

    Returns
    -------
    Report

    Examples
    --------
    >>> from labelrank.experiments import dekel2003
    >>> report = dekel2003.run(quick=True)
    >>> report.tables[0].rows, report.tables[0].columns
    (['0-1', 'dis', 'Dom', 'dom'], ['0-1', 'dis', 'Dom', 'dom'])
    """
    protocol = protocol or (QUICK if quick else Protocol())
    corpus = generated_corpus(protocol) if quick else load_corpus(data, folder, protocol)
    cells = cells_of(corpus, protocol)
    kept = None if quick and cache is None else ResultCache(cache)
    results = run_cells(compute, cells, corpus.features, corpus.graphs, cache=kept, n_jobs=n_jobs, title=NAME)
    return report(corpus, protocol, cells, results, printed=not quick)


# --- The data


def load_corpus(data: str, folder: str | os.PathLike[str] | None, protocol: Protocol) -> Corpus:
    """Reuters-21578 or RCV1 as features and graphs."""
    if data not in DATA:
        raise ValueError(f"there is no data set {data!r}; known: {', '.join(DATA)}")
    return _reuters(folder, protocol) if data == "reuters" else _rcv1(folder, protocol)


def _reuters(folder: str | os.PathLike[str] | None, protocol: Protocol) -> Corpus:
    from sklearn.feature_extraction.text import CountVectorizer

    from labelrank.datasets import read_reuters21578
    from labelrank.features import LogCountTransformer

    if folder is None:
        home = os.environ.get("LABELRANK_DATA")
        if not home:
            raise ValueError(
                "Reuters-21578 does not come with the library: give the folder of its files (folder=, --folder), or "
                "set LABELRANK_DATA; a quick run (quick=True, --quick) needs no files"
            )
        folder = Path(home) / "text"
    reuters = read_reuters21578(folder)
    # Lower case, words of two and more letters or digits, in at least three documents; no list of stop words.
    counts = CountVectorizer(min_df=3).fit_transform(reuters.data)
    return corpus_of("reuters", LogCountTransformer().fit_transform(counts), reuters, protocol)


def _rcv1(folder: str | os.PathLike[str] | None, protocol: Protocol) -> Corpus:
    from labelrank.datasets import fetch_rcv1_topics

    # As many as the January 1997 of the paper; the files have no dates. Nor counts: the weights are taken as they are.
    rcv1 = fetch_rcv1_topics(n_samples=66_000, data_home=folder)
    return corpus_of("rcv1", rcv1.data, rcv1, protocol)


def corpus_of(name: str, features: Any, bunch: Any, protocol: Protocol) -> Corpus:
    """Features, and the layers of the tree as graphs; documents without a topic are left out."""
    labels = bunch.label_names.tolist()
    graphs = PreferenceGraphs.from_hierarchy(bunch.target, bunch.parents, protocol.n_layers, labels=labels)
    rows = np.flatnonzero(graphs.edge_counts())
    return Corpus(name, sparse.csr_array(features)[rows], graphs[rows])


def generated_corpus(protocol: Protocol) -> Corpus:
    """Documents for a quick run."""
    from labelrank.datasets import make_multilabel_hierarchy

    X, Y, parents = make_multilabel_hierarchy(240, 200, n_labels=10, random_state=protocol.seed)
    return Corpus("generated", X, PreferenceGraphs.from_hierarchy(Y, parents, protocol.n_layers))


# --- The cells


def cells_of(corpus: Corpus, protocol: Protocol) -> list[dict[str, Any]]:
    """One cell per fold, way of minimising and decomposition."""
    lbfgs = {"solver": "lbfgs", "alphas": list(protocol.alphas), "max_iter": protocol.max_iter, "tol": protocol.tol}
    boosting = {"solver": "boosting", "alphas": [0.0], "max_iter": protocol.boosting_steps, "tol": 0.0}
    common = {
        "experiment": NAME,
        "version": VERSION,
        "data": [corpus.name, fingerprint(corpus.features, corpus.graphs.levels)],
        "seed": protocol.seed,
        "n_folds": protocol.n_folds,
        "n_words": protocol.n_words,
        "selection": protocol.selection,
    }
    return [
        {**common, "learner": {"decomposition": decomposition, **solver}, "fold": fold}
        for solver in (lbfgs, boosting)
        for fold in range(protocol.n_folds)
        for decomposition in DECOMPOSITIONS
    ]


def compute(cell: Cell, features: Any, graphs: PreferenceGraphs) -> Numbers:
    """Choose words on the training fold, train with each penalty, and measure the four errors on the test fold.

    Each penalty is also tried on a part of the training fold, the rest of it held out, so that one can be chosen.
    """
    from labelrank.features import BoostingSelector

    start = time.perf_counter()
    split = {"n_folds": cell["n_folds"], "seed": cell["seed"]}
    train, test = fold_of(len(graphs), fold=cell["fold"], **split)
    n_words = min(cell["n_words"], features.shape[1])
    words = BoostingSelector(n_words, decomposition=cell["selection"]).fit(features[train], graphs[train])
    X, y = words.transform(features[train]), graphs[train]
    X_test, y_test = words.transform(features[test]), graphs[test]
    tried = _path(cell["learner"], X, y, X_test, y_test)
    if len(tried) > 1:
        fit, held_out = fold_of(len(y), fold=0, **split)
        for step, inner in zip(tried, _path(cell["learner"], X[fit], y[fit], X[held_out], y[held_out]), strict=True):
            step["held_out"] = inner["errors"]
    return {"path": tried, "seconds": time.perf_counter() - start}


def _path(learner: Cell, X: Any, y: PreferenceGraphs, X_test: Any, y_test: PreferenceGraphs) -> list[dict[str, Any]]:
    """The errors with each penalty, each fit starting from the one before."""
    from labelrank.metrics import generalized_error
    from labelrank.rankers import LogLinearRanker

    parameters = {name: value for name, value in learner.items() if name != "alphas"}
    ranker = LogLinearRanker(**parameters, warm_start=True, on_empty="ignore")
    path = []
    for alpha in learner["alphas"]:
        _fit(ranker.set_params(alpha=alpha), X, y)
        predicted = ranker.predict(X_test)
        path.append(
            {
                "alpha": alpha,
                "errors": {error: generalized_error(y_test, predicted, error) for error in DECOMPOSITIONS},
                "n_iter": int(ranker.n_iter_),  # counted anew with each penalty
                "gap": float(ranker.gap_),
                "loss": float(ranker.loss_curve_[-1]) / len(y),
            }
        )
    return path


def _fit(ranker: Any, X: Any, y: PreferenceGraphs) -> Any:
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the gap it reached is among the numbers
        return ranker.fit(X, y)


# --- The tables


def report(
    corpus: Corpus, protocol: Protocol, cells: list[dict[str, Any]], results: list[Numbers], *, printed: bool = True
) -> Report:
    """The table of the paper, the comparison over folds behind its claim, and the table of boosting."""
    runs = {"lbfgs": Runs(cells, results, "lbfgs"), "boosting": Runs(cells, results, "boosting")}
    ours = errors_of(runs["lbfgs"])
    tuned = errors_of(runs["lbfgs"], tuned_for="measured")
    boosted = errors_of(runs["boosting"])
    return Report(
        [
            corpus.size,
            f"{protocol.n_folds}-fold cross-validation, seed {protocol.seed}; {protocol.n_layers} layers; "
            f"{min(protocol.n_words, corpus.features.shape[1]):,} words chosen on each training fold",
            "mean ± standard deviation over the folds, best of each column marked; rows: what was minimised, "
            "columns: the error",
        ],
        [
            _table("L-BFGS, the penalty chosen for the error that was minimised", ours, printed),
            _differences("Dom minus the others, fold by fold", ours),
            _p_values("p of these differences, corrected paired t-test", ours),
            _table("L-BFGS, the penalty chosen for the error that is measured", tuned, printed),
            _p_values("p of Dom against the others, corrected paired t-test", tuned),
            _table(f"{protocol.boosting_steps} steps of boosting", boosted, printed),
            _solving("L-BFGS, chosen penalty", runs["lbfgs"]),
            _solving("boosting", runs["boosting"]),
        ],
        [*_findings(ours), *_chosen(runs["lbfgs"])],
    )


class Runs:
    """What one solver gave: for each decomposition, a result per fold."""

    def __init__(self, cells: list[dict[str, Any]], results: list[Numbers], solver: str) -> None:
        self.of: dict[str, list[Numbers]] = {}
        for decomposition in DECOMPOSITIONS:
            wanted = {"solver": solver, "decomposition": decomposition}
            found = [r for cell, r in zip(cells, results, strict=True) if wanted.items() <= cell["learner"].items()]
            self.of[decomposition] = found

    def chosen(self, decomposition: str, error: str) -> list[dict[str, Any]]:
        """In each fold, the step with the smallest error on the held-out part; of equals the larger penalty."""
        return [
            min(result["path"], key=lambda step: step["held_out"][error] if "held_out" in step else 0.0)
            for result in self.of[decomposition]
        ]


def errors_of(runs: Runs, tuned_for: str = "minimised") -> Any:
    """Errors on the test folds, of shape (4 decompositions, 4 errors, n_folds).

    The penalty is chosen on the held-out part of each training fold: by the error that belongs to what was
    ``"minimised"``, so that a row is one ranker, or by the error that is ``"measured"``.
    """
    return np.array(
        [
            [
                [step["errors"][error] for step in runs.chosen(row, row if tuned_for == "minimised" else error)]
                for error in DECOMPOSITIONS
            ]
            for row in DECOMPOSITIONS
        ]
    )


SHORT = list(DECOMPOSITIONS.values())
DOM = list(DECOMPOSITIONS).index("domination")
OTHERS = [i for i in range(len(SHORT)) if i != DOM]


def _table(title: str, errors: Any, printed: bool) -> Table:
    return Table(title, "minimised", SHORT, SHORT, errors, PRINTED if printed else None, digits=(3, 4, 3, 4))


def _differences(title: str, errors: Any) -> Table:
    rows = [SHORT[i] for i in OTHERS]
    return Table(title, "Dom minus", rows, SHORT, errors[DOM] - errors[OTHERS], digits=4, best=None)


def _p_values(title: str, errors: Any) -> Table:
    values = [[[_dom_against(errors, i, j).p] for j in range(len(SHORT))] for i in OTHERS]
    return Table(title, "Dom against", [SHORT[i] for i in OTHERS], SHORT, values, best=None)


def _dom_against(errors: Any, row: int, column: int) -> Paired:
    return paired_comparison(errors[DOM, column], errors[row, column], test_share=1 / errors.shape[2])


def _solving(title: str, runs: Runs) -> Table:
    """Iterations and gap of the chosen step, seconds of the whole cell."""
    values = []
    for row in DECOMPOSITIONS:
        steps = runs.chosen(row, row)
        columns = [[step["n_iter"] for step in steps], [step["gap"] * 1e6 for step in steps]]
        columns += [[step["loss"] for step in steps], [result["seconds"] for result in runs.of[row]]]
        values.append(columns)
    names = ["iterations", "gap × 10⁶", "mean loss", "seconds"]
    return Table(title, "minimised", SHORT, names, values, digits=(0, 2, 4, 0), best=None)


def _findings(errors: Any) -> list[str]:
    """Under each error: which decomposition is best, and how far domination is from it."""
    lines = []
    mean = errors.mean(axis=2)
    for j, name in enumerate(SHORT):
        first = int(mean[:, j].argmin())
        line = f"{name} error: smallest after minimising {SHORT[first]} ({mean[first, j]:.4f})"
        if first != DOM:
            against = _dom_against(errors, first, j)
            line += (
                f"; Dom {mean[DOM, j]:.4f}, {against.difference:.4f} more, smaller in {against.wins} of "
                f"{errors.shape[2]} folds (p = {against.p:.3f})"
            )
        lines.append(line)
    return lines


def _chosen(runs: Runs) -> list[str]:
    listed = [
        f"{short} {', '.join(format(step['alpha'], 'g') for step in runs.chosen(name, name))}"
        for name, short in DECOMPOSITIONS.items()
    ]
    return ["penalty chosen for the error that was minimised, fold by fold: " + "; ".join(listed)]


def main() -> None:
    """Run from the command line."""
    command(run, "The table of Dekel, Manning and Singer (2003).", DATA)


if __name__ == "__main__":
    main()
