"""HTML reports of comparisons and models."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import train_test_split

from labelrank import ConformalRanker
from labelrank.cli.comparison import Comparison
from labelrank.cli.data import Problem
from labelrank.cli.failure import failing
from labelrank.cli.output import check_output


def check_report(path: Path, *inputs: str | Path) -> None:
    """Raise an error if a report cannot be written."""
    check_output(path, (".html", ".htm"), inputs)
    for library in ("jinja2", "matplotlib"):
        try:
            importlib.import_module(library)
        except ImportError as error:
            raise ImportError(f'--report needs {library}; install it with: pip install "labelrank[plot]"') from error


def report_model(model: Any, problem: Problem, title: str) -> Any:
    """Return a report on a model, evaluated on test data."""
    from labelrank.report import build_report

    inside = model.estimator_ if isinstance(model, ConformalRanker) else model
    with failing("the report cannot be created"):
        rows = getattr(inside, "leaderboard_", None)
        return build_report(model, problem.data, problem.target, leaderboard=rows, title=title, random_state=0)


def report_comparison(comparison: Comparison, rankers: Mapping[str, Any], problem: Problem, seed: int) -> Any:
    """Return a report with the rows of a comparison, on the best ranker, fitted on three quarters of the data."""
    from labelrank.report import build_report

    metric = comparison.metrics[0]
    best = comparison.rows[0]
    train, test = train_test_split(np.arange(len(problem.target)), test_size=0.25, random_state=seed)
    rows = [
        {"name": row.ranker, "mean": row.mean(metric.name), "std": row.std(metric.name), "time": row.median_seconds}
        for row in comparison.rows
        if row.error is None
    ]
    with failing("the report cannot be created"):
        model = clone(rankers[best.ranker]).fit(problem.data[train], problem.target[train])
        title = f"{best.ranker} on {problem.name}"
        data, target = problem.data[test], problem.target[test]
        return build_report(model, data, target, leaderboard=rows, title=title, random_state=seed)
