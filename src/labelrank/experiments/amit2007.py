"""Amit, Dekel, Singer, "A boosting algorithm for label covering in multilabel problems" (AISTATS, 2007), Figures 3, 4.

A classifier is trained with each of five coverings and measured with all five covering errors, and with one-error,
coverage and average precision. The claim is that the diagonal wins: for each covering error, the classifier that was
trained with this covering is the best::

    labelrank reproduce amit2007                  Reuters-21578, in the folder named by LABELRANK_DATA
    labelrank reproduce amit2007 --data yeast     or emotions, scene, enron, flags: the files of Mulan
    labelrank reproduce amit2007 --data all       all of these, one line each
    labelrank reproduce amit2007 --data rcv1      RCV1, by scikit-learn
    labelrank reproduce amit2007 --quick          generated documents, in seconds

The paper boosts. Its steps are small where examples have many features, and a table after a fixed number of rounds says
how far these led as much as what the losses are good for. So the loss is minimised by L-BFGS, with a penalty chosen for
each covering on a part of the training data, and with one small penalty for all; a third table is what boosting gives.
Whether the diagonal is better than another row is tested over the examples, by the paired t-test: the paired Wald test
of the paper with Student's distribution in the place of the normal.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from labelrank.experiments.amit2007_data import (
    DATA,
    MULAN,
    QUICK,
    TEXT,
    Problem,
    Protocol,
    data_home,
    generated_problem,
    load_problem,
)
from labelrank.experiments.amit2007_outcome import COVERINGS, Outcome, covering_errors, measures, mistakes, pack
from labelrank.experiments.amit2007_report import plot_training_errors, report, summary
from labelrank.experiments.cache import Cell, Numbers, ResultCache, fingerprint
from labelrank.experiments.command import command
from labelrank.experiments.runner import fold_of, run_cells
from labelrank.experiments.table import Report

__all__ = [
    "DATA",
    "NAME",
    "QUICK",
    "Outcome",
    "Problem",
    "Protocol",
    "cells_of",
    "compute",
    "generated_problem",
    "load_problem",
    "outcome",
    "plot_training_errors",
    "report",
    "run",
    "summary",
]

NAME = "amit2007"
VERSION = 2  # of everything that determines a number and is not in a cell: raise it when `compute` changes

Parts = Mapping[str, tuple[Any, Any]]  # examples and relevant labels, to train on and to test on


def run(
    data: str = "reuters",
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
    data : {"reuters", "emotions", "scene", "yeast", "enron", "flags", "rcv1", "all"}, default="reuters"
        Reuters-21578, a data set of Mulan, or RCV1 as :func:`sklearn.datasets.fetch_rcv1` loads it. ``"all"`` is all
        but RCV1, with one line each on how often the diagonal wins.
    folder : str or path-like, optional
        The files of the data set, by default found through the environment variable ``LABELRANK_DATA`` (in ``text``
        and in ``multilabel/NAME`` there); for RCV1 the `data_home` of scikit-learn, for ``"all"`` a folder like that of
        ``LABELRANK_DATA``.
    quick : bool, default=False
        A small generated problem instead, which needs no files.
    n_jobs : int, optional
        Processes.
    cache : str or path-like, optional
        Where results are kept; :func:`~labelrank.experiments.default_folder` by default. A quick run without it keeps
        nothing.
    protocol : Protocol, optional
        Another protocol.

    Returns
    -------
    Report

    Examples
    --------
    >>> from labelrank.experiments import amit2007
    >>> table = amit2007.run(quick=True).tables[0]
    >>> table.rows
    ['ZO', 'HM', 'TS', 'WP', 'WN']
    >>> table.columns
    ['ZO', 'HM', 'TS', 'WP', 'WN', 'OneErr', 'Coverage', 'AvgP']
    """
    options: dict[str, Any] = {"n_jobs": n_jobs, "cache": cache, "protocol": protocol}
    if data == "all" and not quick:
        home = data_home(folder)
        folders = {"reuters": home / "text", **{name: home / "multilabel" / name for name in MULAN}}
        return summary([outcome(name, folder=folders[name], **options) for name in folders])
    found = outcome(data, folder=folder, quick=quick, **options)
    return report(found, printed=found.problem.name in ("reuters", "rcv1"))


def outcome(
    data: str = "reuters",
    *,
    folder: str | os.PathLike[str] | None = None,
    quick: bool = False,
    n_jobs: int | None = 1,
    cache: str | os.PathLike[str] | None = None,
    protocol: Protocol | None = None,
) -> Outcome:
    """Compute what the tables are made of, or read it from the cache; the parameters are those of :func:`run`.

    Examples
    --------
    >>> from labelrank.experiments import amit2007
    >>> found = amit2007.outcome(quick=True)
    >>> found.errors("boosting", "test").shape  # trained with, measured with, example
    (5, 5, 100)
    """
    protocol = protocol or (QUICK if quick else TEXT if data in ("reuters", "rcv1") else Protocol())
    problem = generated_problem(protocol) if quick else load_problem(data, folder, protocol)
    cells = cells_of(problem, protocol)
    kept = None if quick and cache is None else ResultCache(cache)
    parts = (problem.X, problem.Y, problem.X_test, problem.Y_test)
    results = run_cells(compute, cells, *parts, cache=kept, n_jobs=n_jobs, title=f"{NAME} {problem.name}")
    return Outcome(problem, protocol, cells, results)


# --- The cells


def cells_of(problem: Problem, protocol: Protocol) -> list[dict[str, Any]]:
    """One cell per way of minimising and covering."""
    boosting = {"solver": "boosting", "max_iter": protocol.rounds, "smoothing": protocol.smoothing, "tol": 0.0}
    lbfgs = {"solver": "lbfgs", "max_iter": protocol.max_iter, "tol": protocol.tol}
    alphas = {"boosting": [0.0], "lbfgs": list(protocol.alphas)}
    parts = (problem.X, problem.Y, problem.X_test, problem.Y_test)
    common = {
        "experiment": NAME,
        "version": VERSION,
        "data": [problem.name, fingerprint(*parts)],
        "seed": protocol.seed,
    }
    return [
        {**common, "learner": {"covering": covering, **solver}, "alphas": alphas[str(solver["solver"])]}
        for solver in (boosting, lbfgs)
        for covering in COVERINGS
    ]


def compute(cell: Cell, X: Any, Y: Any, X_test: Any, Y_test: Any) -> Numbers:
    """Train with one covering, with each penalty, and measure everything on the training data and on the test data.

    So that one penalty can be chosen, each is tried on a fifth of the training data, trained on the rest.
    """
    start = time.perf_counter()
    numbers: Numbers = {}
    learner = cell["learner"]
    parts = {"train": (X, Y), "test": (X_test, Y_test)}
    if learner["solver"] == "boosting":
        watch = Watch(parts)
        numbers["curves"] = watch.curves
        models = iter([_fit(_classifier(learner).set_callbacks(watch), X, Y)])
    else:
        numbers["held_out"] = _held_out_errors(cell, X, Y)
        models = _path(learner, cell["alphas"], X, Y)
    numbers["path"] = [_measured(model, parts) for model in models]
    return {**numbers, "seconds": time.perf_counter() - start}


def _measured(model: Any, parts: Parts) -> Numbers:
    numbers: Numbers = {
        "alpha": float(model.alpha),
        "n_iter": int(model.n_iter_),
        "gap": float(model.gap_),
        "loss": float(model.loss_curve_[-1]),
    }
    for part, (X, Y) in parts.items():
        scores = model.decision_function(X)
        missed, added = mistakes(Y, scores)
        numbers[part] = {"measures": measures(Y, scores), "missed": pack(missed), "added": pack(added)}
    return numbers


def _classifier(learner: Cell, **options: Any) -> Any:
    from labelrank.rankers import LabelCoveringClassifier

    return LabelCoveringClassifier(**learner, **options)


def _fit(model: Any, X: Any, Y: Any) -> Any:
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the gap it reached is among the numbers
        return model.fit(X, Y)


def _path(learner: Cell, alphas: Sequence[float], X: Any, Y: Any) -> Iterator[Any]:
    """The classifier after training with each penalty, each time starting from what the last one left."""
    model = _classifier(learner, warm_start=True)
    for alpha in alphas:
        yield _fit(model.set_params(alpha=alpha), X, Y)


def _held_out_errors(cell: Cell, X: Any, Y: Any) -> list[float]:
    """The error with each penalty on a fifth of the examples."""
    covering = cell["learner"]["covering"]
    fit, rest = fold_of(len(Y), n_folds=5, fold=0, seed=cell["seed"])
    path = _path(cell["learner"], cell["alphas"], X[fit], Y[fit])
    return [float(covering_errors(*mistakes(Y[rest], m.decision_function(X[rest])))[covering].mean()) for m in path]


class Watch:
    """Callback that notes the five covering errors before the first round and after each."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.curves: dict[str, dict[str, list[float]]] = {part: {name: [] for name in COVERINGS} for part in parts}
        for part, (_, Y) in parts.items():
            self._note(part, np.zeros(Y.shape))

    def _note(self, part: str, scores: Any) -> None:
        for name, errors in covering_errors(*mistakes(self.parts[part][1], scores)).items():
            self.curves[part][name].append(float(errors.mean()))

    def setup(self, estimator: Any, context: Any) -> None:
        """Nothing to prepare."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Nothing to clean up."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Nothing to note yet."""

    def on_fit_task_end(self, estimator: Any, context: Any, *, fitted_estimator: Any) -> None:
        """Note the errors after a round."""
        if "iteration" in context.task_name:
            for part, (X, _) in self.parts.items():
                self._note(part, fitted_estimator.decision_function(X))


def main() -> None:
    """Run from the command line."""
    command(run, "The table of Amit, Dekel and Singer (2007).", DATA)


if __name__ == "__main__":
    main()
