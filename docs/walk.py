"""Print the files that ``fit`` and ``predict`` of the five published systems visit, in the order of the first visit.

    python docs/walk.py

Stages follow the picture of the design: what was observed, how it is cut, the loss, the model, the solver, the ranker.
The template (``rankers/base.py``) and the preset open every walk. Helpers whose names begin with an underscore are not
listed; compiled kernels are not visible to the tracer and are named by the files that call them.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import labelrank
from labelrank import KNeighborsRanker, LabelCoveringClassifier, LogLinearRanker, RankRLS, SoftProjectionRanker
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
                if name not in files:
                    files.append(name)

    sys.setprofile(trace)
    try:
        function()
    finally:
        sys.setprofile(None)
    return files


def systems() -> dict[str, tuple[Any, Any, Any]]:
    """An estimator of each system, with data."""
    X, y = load_iris_rankings(return_X_y=True)
    relevant = (y <= 2).astype(int)
    return {
        "log-linear ranking": (LogLinearRanker(), X, y),
        "AdaBoost.LC": (LabelCoveringClassifier(solver="boosting", max_iter=20, tol=0.1), X, relevant),
        "SOPOPO": (SoftProjectionRanker(tol=0.01), X, y),
        "RankRLS": (RankRLS(), X, y[:, 0]),
        "IBLR": (KNeighborsRanker(5), X, y),
        "LRT": (labelrank.DecisionTreeRanker(), X, y),
    }


def main() -> None:
    """Print the walks."""
    for name, (estimator, X, y) in systems().items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            estimator.fit(X, y)  # compiled and imported before the walk
            files = visited(lambda: estimator.fit(X, y).predict(np.asarray(X)))  # noqa: B023
        print(f"{name} ({type(estimator).__name__}): {len(files)} files")
        for file in files:
            print(f"    {file}")


if __name__ == "__main__":
    main()
