"""What is drawn, and what is computed with one learner on one draw."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold

from papers.frame import Cell, Numbers, fingerprint
from papers.tsivtsivadze2008.data import FloatArray, IntArray, Problem, Protocol
from papers.tsivtsivadze2008.learners import METHODS, Training, choose


@dataclass(frozen=True)
class Draw:
    """Items of one draw: those of the basic learners, those of the sparse ones (with the former), the test."""

    basic: IntArray
    sparse: IntArray
    test: IntArray


def draw_of(problem: Problem, protocol: Mapping[str, Any], draw: int) -> Draw:
    """Draw training groups, if they are not given, and items of them."""
    rng = np.random.default_rng([protocol["seed"], draw])
    names = np.unique(problem.groups)
    in_test = problem.test
    if in_test is None:
        in_test = np.isin(problem.groups, rng.permutation(names)[len(names) // 2 :])
    basic, every = [], []
    for name in names:
        items = rng.permutation(np.flatnonzero(problem.groups == name))
        if not in_test[items[0]]:
            basic.append(items[: protocol["n_basis"]])
            every.append(items[: protocol["n_basis"] + protocol["n_more"]])
    return Draw(np.sort(np.concatenate(basic)), np.sort(np.concatenate(every)), np.flatnonzero(in_test))


def cells(problem: Problem, protocol: Protocol) -> list[dict[str, Any]]:
    """List a cell per draw and learner."""
    parts = [*problem.views.values(), problem.y, problem.groups, problem.test]
    common = {
        "data": [problem.name, fingerprint(*parts)],
        "kernels": [dict(kernel) for kernel in problem.kernels],
        "alphas": list(protocol.alphas),
        "n_basis": protocol.n_basis,
        "n_more": protocol.n_more,
        "n_folds": protocol.n_folds,
        "seed": protocol.seed,
    }
    return [{**common, "draw": draw, "method": method} for draw in range(protocol.n_draws) for method in METHODS]


def compute(cell: Cell, problem: Problem) -> Numbers:
    """Choose kernel and penalty, train, and measure the errors of each test group that has two items or more."""
    start = time.process_time()
    y, groups = problem.y, problem.groups
    draw = draw_of(problem, cell, cell["draw"])
    rows = draw.sparse if cell["method"].startswith("sparse") else draw.basic
    basis = np.flatnonzero(np.isin(rows, draw.basic))
    # The folds are drawn over the sorted names of the groups, so they are the same for all four learners.
    splitter = GroupKFold(cell["n_folds"], shuffle=True, random_state=cell["seed"])
    folds = list(splitter.split(rows, groups=groups[rows]))
    train = {view: X[rows] for view, X in problem.views.items()}
    training = Training(y[rows], groups[rows], basis, folds, np.asarray(cell["alphas"]))
    chosen = choose(cell["method"], train, cell["kernels"], training)
    scores = np.full(len(y), np.nan)
    scores[draw.test] = chosen.scores(problem.views[chosen.kernel["view"]][draw.test])
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
    """Return the mean of ½|sign Δy − sign Δf| over all pairs of a group, and over those whose items are not tied.

    Scores that differ only by rounding errors are tied. The second is None if all items are tied.

    Examples
    --------
    >>> import numpy as np
    >>> from papers.tsivtsivadze2008.draws import group_errors
    >>> group_errors(np.array([3.0, 2.0, 2.0]), np.array([0.5, 0.7, 0.1]))  # one of two wrong, and a tie broken
    (0.5, 0.5)
    """
    i, j = np.triu_indices(len(y), 1)
    f = f.round(9)
    truth = np.sign(y[i] - y[j])
    errors = np.abs(truth - np.sign(f[i] - f[j])) / 2
    untied = truth != 0
    return float(errors.mean()), float(errors[untied].mean()) if untied.any() else None
