"""Print the files that ``fit`` and ``predict`` of the published systems visit, in the order of the first visit.

    python docs/walk.py

The four contracts (``base.py`` of losses, models, solvers and rankers) are marked by a dot and not counted: every walk
passes through them. Preferences are given as ``PreferenceGraphs``, so that reading and checking them is not part of the
walk. Modules with an underscore hold small helpers and are left out.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import labelrank
from labelrank import (
    DecisionTreeRanker,
    KNeighborsRanker,
    LabelCoveringClassifier,
    LogLinearRanker,
    PreferenceGraphs,
    RankRLS,
    SoftProjectionRanker,
    as_graphs,
)
from labelrank.datasets import load_iris_rankings

ROOT = Path(labelrank.__file__).parent


def visited(function: Callable[[], Any]) -> list[str]:
    """Files of the package in which a function is called, in the order of the first call."""
    files: list[str] = []

    def trace(frame: Any, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code.co_name != "<module>":
            path = Path(frame.f_code.co_filename)
            if path.is_relative_to(ROOT):
                name = path.relative_to(ROOT).as_posix()
                if name not in files and not Path(name).name.startswith("_") and name != "_kernels/compile.py":
                    files.append(name)

    sys.setprofile(trace)
    try:
        function()
    finally:
        sys.setprofile(None)
    return files


def systems() -> dict[str, tuple[Any, Any, Any]]:
    """An estimator of each system, with data."""
    X, ranks = load_iris_rankings(return_X_y=True)
    y = as_graphs(ranks)
    relevant = PreferenceGraphs.from_multilabel(ranks <= 2)
    return {
        "log-linear ranking": (LogLinearRanker(), X, y),
        "AdaBoost.LC": (LabelCoveringClassifier(solver="boosting", max_iter=500, tol=0.1), X, relevant),
        "SOPOPO": (SoftProjectionRanker(tol=0.01), X, y),
        "RankRLS": (RankRLS(), X, ranks[:, 0]),
        "IBLR": (KNeighborsRanker(5), X, y),
        "LRT": (DecisionTreeRanker(), X, y),
    }


def walk(name: str, estimator: Any, X: Any, y: Any) -> str:
    """Describe the files that one system visits."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(X, y)  # compiled and imported before the walk
        files = visited(lambda: estimator.fit(X, y).predict(np.asarray(X)))
    contracts = {f"{stage}/base.py" for stage in ("losses", "models", "solvers", "rankers")}
    title = f"{name} ({type(estimator).__name__}): {len(set(files) - contracts)} files"
    return "\n".join([title, *(f"  {'·' if file in contracts else ' '} {file}" for file in files)])


def main() -> None:
    """Print the walks."""
    for name, given in systems().items():
        print(walk(name, *given))


if __name__ == "__main__":
    main()
