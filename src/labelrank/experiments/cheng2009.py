"""Cheng, Hühn, Hüllermeier, "Decision tree and instance-based learning for label ranking" (ICML, 2009), the table.

Constraint classification (CC), instance-based label ranking (IBLR), label ranking trees (LRT), and a forest of such
trees, by 5 times 10-fold cross-validation on complete rankings and with 30 % and 60 % of the labels missing: for each
label of each training ranking a coin is tossed, and the test rankings stay complete::

    labelrank reproduce cheng2009                              the sets in the folder lr16 of LABELRANK_DATA
    labelrank reproduce cheng2009 --folder my/sets             any folder of CSV or XARFF files, features scaled already
    labelrank reproduce cheng2009 --data raw --folder my/sets  the same, features scaled to 0..1 on the training folds
    labelrank reproduce cheng2009 --quick                      small bundled and generated sets, in seconds

IBLR weighs its neighbours as Dudani does, joins incomplete rankings by their observed pairs, and chooses the number of
neighbours and one of two scalings and distances by leave-one-out on the training rankings.

Our numbers stand beside the printed ones for the sets that the paper has, known by the names of the files. More tables
give the average ranks with the test of Friedman, the sizes of the trees relative to classification trees, and how the
learners lose accuracy with the rate of missing labels; :func:`plot_curves` draws the last.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from labelrank.experiments.cache import Cell, Numbers, ResultCache, fingerprint
from labelrank.experiments.cheng2009_curves import plot_curves
from labelrank.experiments.cheng2009_printed import RATES
from labelrank.experiments.cheng2009_report import report
from labelrank.experiments.command import command
from labelrank.experiments.runner import fold_of, run_cells
from labelrank.experiments.table import Report
from labelrank.supervision import PreferenceGraphs, mask_rankings

__all__ = [
    "DATA",
    "METHODS",
    "NAME",
    "QUICK",
    "Problem",
    "Protocol",
    "cells_of",
    "compute",
    "learner",
    "load_problems",
    "plot_curves",
    "run",
]

NAME = "cheng2009"
VERSION = 1  # of everything that determines a number and is not in a cell: raise it when a learner or `compute` changes
DATA = ("lr16", "raw")
FILES = {".csv": "read_csv", ".xarff": "read_xarff", ".arff": "read_xarff"}  # and the same with .gz

METHODS = ("CC", "IBLR", "LRT", "forest")


@dataclass(frozen=True)
class Protocol:
    """How the tables are made."""

    n_repeats: int = 5
    n_folds: int = 10
    seed: int = 0
    rates: tuple[float, ...] = RATES
    curve_rates: tuple[float, ...] = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
    curve_sets: tuple[str, ...] = ("glass", "housing", "vowel")  # one repetition is enough for the curves
    methods: tuple[str, ...] = METHODS
    n_trees: int | None = None  # of the forest; its default

    def curves(self, names: Sequence[str]) -> list[str]:
        """The sets that curves are drawn for: those named, or else the first."""
        return [name for name in names if name in self.curve_sets] or list(names[:1])


@dataclass(frozen=True)
class Problem:
    """Instances and their rankings."""

    name: str
    X: Any
    y: Any

    @property
    def size(self) -> str:
        """The size in words."""
        return f"{self.name} ({len(self.y):,} instances, {self.X.shape[1]} features, {self.y.shape[1]} labels)"


QUICK = Protocol(
    n_repeats=1, n_folds=3, rates=(0.0, 0.6), curve_rates=(0.0, 0.3, 0.6), curve_sets=("iris",), n_trees=10
)


def run(
    data: str = "lr16",
    *,
    folder: str | os.PathLike[str] | None = None,
    quick: bool = False,
    n_jobs: int | None = 1,
    cache: str | os.PathLike[str] | None = None,
    protocol: Protocol | None = None,
) -> Report:
    """Make the tables.

    Parameters
    ----------
    data : {"lr16", "raw"}, default="lr16"
        Sets whose features are scaled already, and are taken as they are; or raw ones, for which CC and IBLR scale the
        features to 0..1, and fill in missing ones by the median, both learned on each training fold.
    folder : str or path-like, optional
        A folder of CSV files (ranks in columns ``rank_*``) or XARFF files, one per set; by default ``lr16`` in the
        folder named by ``LABELRANK_DATA``.
    quick : bool, default=False
        Small bundled and generated sets instead, which need no files.
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
    >>> from labelrank.experiments import cheng2009
    >>> report = cheng2009.run(quick=True)
    >>> report.tables[0].columns
    ['CC', 'IBLR', 'LRT', 'forest']
    """
    protocol = protocol or (QUICK if quick else Protocol())
    problems = generated_problems(protocol) if quick else load_problems(data, folder)
    cells = cells_of(problems, protocol, scaled=data != "raw")
    kept = None if quick and cache is None else ResultCache(cache)
    results = run_cells(compute, cells, problems, cache=kept, n_jobs=n_jobs, title=NAME)
    return report(problems, protocol, cells, results, printed=not quick)


# --- The data


def load_problems(data: str = "lr16", folder: str | os.PathLike[str] | None = None) -> dict[str, Problem]:
    """The sets of a folder, by name."""
    if data not in DATA:
        raise ValueError(f"there is no data set {data!r}; known: {', '.join(DATA)}")
    if folder is None:
        home = os.environ.get("LABELRANK_DATA")
        if not home or data != "lr16":
            raise ValueError(
                "the sets do not come with the library: give the folder of their files (folder=, --folder), or set "
                "LABELRANK_DATA to a folder with lr16 in it; a quick run (quick=True, --quick) needs no files"
            )
        folder = Path(home) / "lr16"
    if not Path(folder).is_dir():
        raise FileNotFoundError(f"there is no folder {str(folder)!r}")
    files = {path: reader for path in sorted(Path(folder).iterdir()) if (reader := _reader_of(path))}
    if not files:
        raise ValueError(f"there is no CSV or XARFF file in {str(folder)!r}")
    problems = {}
    for path, reader in files.items():
        name = path.name.split(".")[0]
        if name in problems:
            raise ValueError(f"there are two files for the set {name!r} in {str(folder)!r}; take one of them out")
        problems[name] = _read(name, path, reader)
    return problems


def _reader_of(path: Path) -> str | None:
    return FILES.get(Path(path.name.removesuffix(".gz")).suffix.lower()) if path.is_file() else None


def _read(name: str, path: Path, reader: str) -> Problem:
    from labelrank import datasets

    bunch = getattr(datasets, reader)(path)
    X = bunch.data.toarray() if hasattr(bunch.data, "toarray") else bunch.data  # trees take no sparse matrices
    return Problem(name, np.asarray(X, dtype=np.float64), bunch.target)


def generated_problems(protocol: Protocol) -> dict[str, Problem]:
    """Sets for a quick run."""
    from labelrank.datasets import load_iris_rankings, load_wine_rankings, make_label_ranking

    sets = {
        "generated": make_label_ranking(120, 4, n_labels=5, random_state=protocol.seed),
        "iris": load_iris_rankings(return_X_y=True),
        "wine": load_wine_rankings(return_X_y=True),
    }
    scaled = {name: ((X - X.mean(axis=0)) / X.std(axis=0), y) for name, (X, y) in sets.items()}
    return {name: Problem(name, X, y) for name, (X, y) in scaled.items()}


# --- The cells


def cells_of(problems: Mapping[str, Problem], protocol: Protocol, *, scaled: bool = True) -> list[dict[str, Any]]:
    """One cell per set, rate of missing labels, fold and learner; those of the curves only once."""
    runs: dict[tuple[str, float, int, int], None] = {}
    for name in problems:
        for rate in protocol.rates:
            runs.update(dict.fromkeys((name, rate, *fold) for fold in _folds(protocol, protocol.n_repeats)))
    for name in protocol.curves(list(problems)):
        for rate in protocol.curve_rates:
            runs.update(dict.fromkeys((name, rate, *fold) for fold in _folds(protocol, 1)))
    learners = {
        method: {name: repr(value) for name, value in sorted(learner(method, protocol.n_trees).get_params().items())}
        for method in protocol.methods
    }
    prints = {name: fingerprint(problem.X, *_arrays(problem.y)) for name, problem in problems.items()}
    return [
        {
            "experiment": NAME,
            "version": VERSION,
            "data": [name, prints[name]],
            "scaled": scaled,
            "seed": protocol.seed,
            "n_folds": protocol.n_folds,
            "missing": rate,
            "repeat": repeat,
            "fold": fold,
            "method": method,
            "learner": learners[method],
            "n_trees": protocol.n_trees,
        }
        for name, rate, repeat, fold in runs
        for method in protocol.methods
    ]


def _folds(protocol: Protocol, n_repeats: int) -> list[tuple[int, int]]:
    return [(repeat, fold) for repeat in range(n_repeats) for fold in range(protocol.n_folds)]


def _arrays(y: Any) -> Sequence[Any]:
    if not isinstance(y, PreferenceGraphs):
        return [np.asarray(y)]
    return [y.levels] if y.storage == "levels" else [y.indptr, y.better, y.worse, y.weight]


class BestNeighbors(BaseEstimator):
    """IBLR with the number of neighbours, the scaling and the distance by leave-one-out on the training rankings."""

    def __init__(self, weights: Any = "dudani") -> None:
        self.weights = weights

    def fit(self, X: Any, y: Any) -> BestNeighbors:
        """Keep the better of two: features in 0..1 and city-block distance, or standardised and Euclidean."""
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import MinMaxScaler, StandardScaler

        from labelrank.neighbors.ranker_cv import KNeighborsRankerCV

        models = [
            make_pipeline(scaler, KNeighborsRankerCV(weights=self.weights, p=p, on_empty="ignore")).fit(X, y)
            for scaler, p in ((MinMaxScaler(), 1), (StandardScaler(), 2))
        ]
        self.model_ = max(models, key=lambda model: float(model[-1].best_score_))
        return self

    def predict(self, X: Any) -> Any:
        """Ranks."""
        return self.model_.predict(X)


def learner(method: str, n_trees: int | None = None) -> Any:
    """The learner of a column, with its defaults."""
    quiet: dict[str, Any] = {"on_empty": "ignore"}  # coins leave rankings without a pair; the protocol says so
    if method == "CC":
        from labelrank.rankers.constraint_classification import ConstraintClassificationRanker

        return ConstraintClassificationRanker(random_state=0, **quiet)
    if method == "IBLR":
        return BestNeighbors()
    if method == "LRT":
        from labelrank.trees.tree import DecisionTreeRanker

        return DecisionTreeRanker(random_state=0, **quiet)
    if method == "forest":
        from labelrank.trees.forests import ExtraTreesRanker

        forest = ExtraTreesRanker(random_state=0, **quiet)
        return forest if n_trees is None else forest.set_params(n_estimators=n_trees)
    raise ValueError(f"there is no method {method!r}; known: CC, IBLR, LRT, forest")


def compute(cell: Cell, problems: Mapping[str, Problem]) -> Numbers:
    """Toss the coins, train on the training fold, and measure Kendall's tau on the test fold."""
    from sklearn.exceptions import ConvergenceWarning

    from labelrank.metrics import kendall_tau

    problem = problems[cell["data"][0]]
    split = {name: cell[name] for name in ("n_folds", "fold", "repeat", "seed")}
    train, test = fold_of(len(problem.y), **split)
    # The same coins for all learners; and for all rates, so that what is missing at 30 % is missing at 60 % too.
    coins = int(np.random.SeedSequence([cell["seed"], cell["repeat"], cell["fold"]]).generate_state(1)[0])
    y = mask_rankings(problem.y[train], cell["missing"], random_state=coins)
    X, X_test = problem.X[train], problem.X[test]
    if not cell["scaled"] and cell["method"] in ("CC", "IBLR"):
        X, X_test = _prepared(X, X_test)
    ranker = learner(cell["method"], cell["n_trees"])
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ranker.fit(X, y)
    fitted = time.process_time()
    predicted = ranker.predict(X_test)
    numbers = {
        "tau": kendall_tau(problem.y[test], predicted),
        "fit_seconds": fitted - start,
        "predict_seconds": time.process_time() - fitted,
    }
    if cell["method"] == "LRT":
        numbers |= {"leaves": int(ranker.get_n_leaves()), "class_leaves": _leaves_of_classification(X, y)}
    return numbers


def _prepared(X: Any, X_test: Any) -> tuple[Any, Any]:
    """Missing features filled in, all of them between 0 and 1 on the training fold."""
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler

    steps = make_pipeline(SimpleImputer(strategy="median"), MinMaxScaler()).fit(X)
    return steps.transform(X), steps.transform(X_test)


def _leaves_of_classification(X: Any, y: Any) -> int:
    """Leaves of a classification tree for the label that is ranked first, with the stopping rules of the ranking tree.

    It splits nodes of at least twice as many instances as there are labels until they are pure. Of labels tied for the
    first place the first counts, in a graph that is no ranking the one with the most wins less losses; instances of
    which no pair is known are left out.
    """
    from sklearn.tree import DecisionTreeClassifier

    graphs = y if isinstance(y, PreferenceGraphs) else PreferenceGraphs.from_rankings(y)
    wins = np.zeros(graphs.shape)
    edges = graphs.to_edges()
    np.add.at(wins, (edges.instance, edges.better), 1.0)
    np.add.at(wins, (edges.instance, edges.worse), -1.0)
    known = graphs.edge_counts() > 0
    if not known.any():
        return 1
    tree = DecisionTreeClassifier(min_samples_split=2 * graphs.shape[1], random_state=0)
    return int(tree.fit(X[known], wins[known].argmax(axis=1)).get_n_leaves())


def main() -> None:
    """Run from the command line."""
    command(run, "The table of Cheng, Hühn and Hüllermeier (2009).", DATA)


if __name__ == "__main__":
    main()
