"""A classifier for each covering and solver."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from labelrank import LabelCoveringClassifier
from papers.amit2007.data import Problem, Protocol
from papers.amit2007.measures import COVERINGS, covering_errors, measures, mistakes, pack
from papers.frame import Cell, Numbers, fingerprint, fit_quietly, fold_of

Parts = Mapping[str, tuple[Any, Any]]  # examples and relevant labels, to train on and to test on


def cells(problems: Sequence[Problem], protocol: Protocol) -> list[dict[str, Any]]:
    """List a cell per problem, solver and covering."""
    listed = []
    for problem in problems:
        own = protocol.of(problem)
        boosting = {"solver": "boosting", "max_iter": own.rounds, "smoothing": own.smoothing, "tol": 0.0}
        lbfgs = {"solver": "lbfgs", "max_iter": own.max_iter, "tol": own.tol}
        content = fingerprint(problem.X, problem.Y, problem.X_test, problem.Y_test)
        listed += [
            {
                "data": [problem.name, content],
                "seed": own.seed,
                "learner": {"covering": covering, **solver},
                "alphas": alphas,
            }
            for solver, alphas in ((boosting, [0.0]), (lbfgs, list(own.alphas)))
            for covering in COVERINGS
        ]
    return listed


def compute(cell: Cell, problems: Sequence[Problem]) -> Numbers:
    """Train with one covering, with each penalty, and measure everything on the training data and on the test data.

    So that one penalty can be chosen, each is tried on a fifth of the training data, trained on the rest.
    """
    problem = next(problem for problem in problems if problem.name == cell["data"][0])
    start = time.perf_counter()
    numbers: Numbers = {}
    learner = cell["learner"]
    parts = {"train": (problem.X, problem.Y), "test": (problem.X_test, problem.Y_test)}
    if learner["solver"] == "boosting":
        watch = Watch(parts)
        numbers["curves"] = watch.curves
        classifier = LabelCoveringClassifier(**learner, alpha=0.0).set_callbacks(watch)
        models = iter([fit_quietly(classifier, *parts["train"])])
    else:
        numbers["held_out"] = _held_out_errors(cell, *parts["train"])
        models = _path(cell, *parts["train"])
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


def _path(cell: Cell, X: Any, Y: Any) -> Iterator[Any]:
    """The classifier after training with each penalty, each time starting from the last one."""
    model = LabelCoveringClassifier(**cell["learner"], warm_start=True)
    for alpha in cell["alphas"]:
        yield fit_quietly(model.set_params(alpha=alpha), X, Y)


def _held_out_errors(cell: Cell, X: Any, Y: Any) -> list[float]:
    """The error with each penalty on a fifth of the examples."""
    covering = cell["learner"]["covering"]
    fit, rest = fold_of(len(Y), n_folds=5, fold=0, seed=cell["seed"])
    path = _path(cell, X[fit], Y[fit])
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
