"""The report of a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import train_test_split

from labelrank.cli.comparison import Comparison
from labelrank.cli.data import Problem
from labelrank.cli.failure import failing


def report_comparison(comparison: Comparison, rankers: Mapping[str, Any], problem: Problem, seed: int) -> Any:
    """Return a report with the rows of a comparison, and on the best of them, fitted on three quarters of the rows."""
    from labelrank.report import build_report

    metric = comparison.metrics[0]
    best = comparison.rows[0]
    train, test = train_test_split(np.arange(len(problem.target)), test_size=0.25, random_state=seed)
    rows = [
        {"name": row.ranker, "mean": row.mean(metric.name), "std": row.std(metric.name), "time": row.median_seconds}
        for row in comparison.rows
        if row.error is None
    ]
    with failing("there is no report"):
        model = clone(rankers[best.ranker]).fit(problem.data[train], problem.target[train])
        title = f"{best.ranker} on {problem.name}"
        data, target = problem.data[test], problem.target[test]
        return build_report(model, data, target, leaderboard=rows, title=title, random_state=seed)
