"""Tsivtsivadze et al., "A sparse regularized least-squares preference learning algorithm" (SCAI, 2008), Table 1.

The parses of a sentence are ranked by an RLS regressor, a sparse RLS regressor, RankRLS and sparse RankRLS. The basic
learners are trained on five parses a sentence; these are the basis of the sparse ones, which learn from fifteen more::

    labelrank reproduce tsivtsivadze2008                link-grammar parses, in the folder named by LABELRANK_DATA
    labelrank reproduce tsivtsivadze2008 --data letor   graded documents of queries
    labelrank reproduce tsivtsivadze2008 --quick        generated parses, in seconds

Half of the sentences are for training and for the choice of kernel and penalty, by 10-fold cross-validation over
sentences, each learner on the parses that it is trained on. The other half is for the table: the disagreement error of
all parses of a sentence, averaged over sentences, and Wilcoxon's signed-rank test over sentences. The normaliser of the
error is the number of pairs of different parses. The kernel is that of
:class:`~labelrank.features.ParsePathVectorizer`; for documents it is Gaussian.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from labelrank.experiments.cache import Cell, Numbers, ResultCache, fingerprint
from labelrank.experiments.command import command
from labelrank.experiments.runner import run_cells
from labelrank.experiments.table import Report
from labelrank.experiments.tsivtsivadze2008_data import (
    DATA,
    QUICK,
    FloatArray,
    IntArray,
    Problem,
    Protocol,
    draw_of,
    generated_problem,
    load_problem,
)
from labelrank.experiments.tsivtsivadze2008_learners import METHODS, choose
from labelrank.experiments.tsivtsivadze2008_report import report

__all__ = [
    "DATA",
    "METHODS",
    "NAME",
    "QUICK",
    "Problem",
    "Protocol",
    "cells_of",
    "compute",
    "generated_problem",
    "group_errors",
    "load_problem",
    "report",
    "run",
]

NAME = "tsivtsivadze2008"
VERSION = 1  # of everything that determines a number and is not in a cell: raise it when a learner or `compute` changes


def run(
    data: str = "parse",
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
    data : {"parse", "letor"}, default="parse"
        Link-grammar parses of 500 sentences, or graded documents of 201 + 50 queries.
    folder : str or path-like, optional
        The files, by default ``parse`` or ``letor/lightgbm`` in the folder named by ``LABELRANK_DATA``.
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
    >>> from labelrank.experiments import tsivtsivadze2008
    >>> table = tsivtsivadze2008.run(quick=True).tables[0]
    >>> table.rows
    ['RLS regressor', 'sparse RLS regressor', 'RankRLS', 'sparse RankRLS']
    """
    protocol = protocol or (QUICK if quick else Protocol())
    problem = generated_problem(protocol) if quick else load_problem(data, folder)
    cells = cells_of(problem, protocol)
    kept = None if quick and cache is None else ResultCache(cache)
    arguments = (dict(problem.views), problem.y, problem.groups, problem.test)
    results = run_cells(compute, cells, *arguments, cache=kept, n_jobs=n_jobs, title=NAME)
    return report(problem, protocol, cells, results, printed=problem.name == "parse")


def cells_of(problem: Problem, protocol: Protocol) -> list[dict[str, Any]]:
    """One cell per draw and learner."""
    parts = [*problem.views.values(), problem.y, problem.groups, problem.test]
    common = {
        "experiment": NAME,
        "version": VERSION,
        "data": [problem.name, fingerprint(*parts)],
        "kernels": [dict(kernel) for kernel in problem.kernels],
        "alphas": list(protocol.alphas),
        "n_basis": protocol.n_basis,
        "n_more": protocol.n_more,
        "n_folds": protocol.n_folds,
        "seed": protocol.seed,
    }
    return [{**common, "draw": draw, "method": method} for draw in range(protocol.n_draws) for method in METHODS]


def compute(cell: Cell, views: Mapping[str, Any], y: FloatArray, groups: IntArray, test: Any) -> Numbers:
    """Choose kernel and penalty, train, and measure the errors of each test group that has two items or more."""
    from sklearn.model_selection import GroupKFold

    start = time.process_time()
    draw = draw_of(groups, test, cell, cell["draw"])
    rows = draw.sparse if cell["method"].startswith("sparse") else draw.basic
    basis = np.flatnonzero(np.isin(rows, draw.basic))
    # The folds are drawn over the sorted names of the groups, so all four learners have the same.
    splitter = GroupKFold(cell["n_folds"], shuffle=True, random_state=cell["seed"])
    folds = list(splitter.split(rows, groups=groups[rows]))
    train = {view: X[rows] for view, X in views.items()}
    chosen = choose(cell["method"], train, cell["kernels"], cell["alphas"], y[rows], groups[rows], basis, folds)
    scores = np.full(len(y), np.nan)
    scores[draw.test] = chosen.scores(views[chosen.kernel["view"]][draw.test])
    errors = [
        group_errors(y[items], scores[items])
        for items in (np.flatnonzero(groups == name) for name in np.unique(groups[draw.test]))
        if len(items) > 1
    ]
    return {
        "disagreement": [all_pairs for all_pairs, _ in errors],
        "untied": [untied for _, untied in errors],
        "kernel": dict(chosen.kernel),
        "alpha": chosen.alpha,
        "cv_error": chosen.error,
        "n_items": len(rows),
        "n_basis": len(basis),
        "n_groups": len(np.unique(groups[rows])),
        "seconds": time.process_time() - start,
    }


def group_errors(y: FloatArray, f: FloatArray) -> tuple[float, float | None]:
    """Mean of ½|sign Δy − sign Δf| over all pairs of a group, and over those whose items are not tied.

    Scores that differ by rounding errors are tied. The second is None where all items are tied.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank.experiments.tsivtsivadze2008 import group_errors
    >>> group_errors(np.array([3.0, 2.0, 2.0]), np.array([0.5, 0.7, 0.1]))  # one of two wrong, and a tie broken
    (0.5, 0.5)
    """
    i, j = np.triu_indices(len(y), 1)
    f = f.round(9)
    truth = np.sign(y[i] - y[j])
    errors = np.abs(truth - np.sign(f[i] - f[j])) / 2
    untied = truth != 0
    return float(errors.mean()), float(errors[untied].mean()) if untied.any() else None


def main() -> None:
    """Run from the command line."""
    command(run, "The table of Tsivtsivadze, Pahikkala, Airola, Boberg and Salakoski (2008).", DATA)


if __name__ == "__main__":
    main()
