"""Implementation of ``labelrank fit``: choose a model, evaluate it, fit it and save it."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold, cross_validate

from labelrank import AutoRanker, ConformalRanker, all_rankers, save
from labelrank.auto.preprocessing import pipeline_for
from labelrank.auto.ranker import OF_COSTS
from labelrank.cli.columns import closest
from labelrank.cli.data import Problem, fingerprint
from labelrank.cli.failure import failing
from labelrank.cli.progress import spinner
from labelrank.metrics import get_scorer
from labelrank.supervision import as_graphs

SCORES = {"kendall_tau": "Kendall's tau", "top_1": "top label right"}
_FOLDS = 5
_WORDS = {"True": True, "False": False, "None": None}


@dataclass(frozen=True)
class Chosen:
    """An unfitted model and its name."""

    name: str
    model: Any
    auto: bool = False  # whether it is an AutoRanker, which evaluates itself


@dataclass(frozen=True)
class Trained:
    """A fitted model with its scores and its training data."""

    name: str
    model: Any
    problem: Problem
    metrics: dict[str, float]
    how: str  # how the metrics were computed

    def text(self, path: Path) -> str:
        """Return the output as text."""
        size = " × ".join(f"{n} {what}" for what, n in self.problem.shape.items())
        labels = self.problem.options.get("labels")
        read = f" ({labels}: {self.problem.options['kind']})" if labels and "kind" in self.problem.options else ""
        found = ", ".join(
            f"{SCORES.get(name, name)} {value:.3f}{self._error(name)}"
            for name, value in self.metrics.items()
            if not name.endswith("_error")
        )
        return "\n".join(
            [
                f"{self.problem.name}: {size}{read}",
                f"{self.name}: {found} ({self.how})",
                f"{path}: saved; for new rows: labelrank predict {path} NEW.csv",
            ]
        )

    def _error(self, name: str) -> str:
        error = self.metrics.get(f"{name}_error", math.nan)
        return "" if math.isnan(error) else f" ± {error:.3f}"

    def document(self, path: Path) -> dict[str, Any]:
        """Return the output for JSON."""
        data = {"name": self.problem.name, **{f"n_{what}": n for what, n in self.problem.shape.items()}}
        metrics = {name: None if math.isnan(value) else value for name, value in self.metrics.items()}
        reading = self.problem.options
        return {"model": str(path), "ranker": self.name, "data": data, "reading": reading, "metrics": metrics}


def choose_model(
    problem: Problem, name: str | None, settings: Sequence[str], budget: float | None, seed: int, jobs: int
) -> Chosen:
    """Return the model that the options select."""
    known: dict[str, Any] = dict(all_rankers())
    auto = name is None or name.lower() == "autoranker"
    if auto:
        found: Any = AutoRanker(time_budget=60.0 if budget is None else budget)
        name = "AutoRanker"
    else:
        if budget is not None:
            raise ValueError(f"--budget is for AutoRanker, not for --ranker {name}; leave one of them out")
        by_lower_case = {each.lower(): each for each in known}
        if str(name).lower() not in by_lower_case:
            listed = ", ".join(["AutoRanker", *known])
            raise ValueError(f"there is no ranker {name!r}{closest(str(name), known) or '.'} Known: {listed}")
        name = by_lower_case[str(name).lower()]
        found = known[name]()
    usual = {"random_state": seed, "n_jobs": jobs, "on_empty": "ignore"}
    found.set_params(**{each: value for each, value in usual.items() if each in found.get_params(deep=False)})
    _set(found, settings)
    if auto:
        if found.scoring in OF_COSTS:
            raise ValueError(
                f"--set scoring={found.scoring} needs the values of costs, and `labelrank fit` learns from their "
                "order; leave it out, or fit AutoRanker to a matrix of costs in Python"
            )
        return Chosen(str(name), found.set_params(text_columns=problem.text_columns), auto)
    return Chosen(str(name), pipeline_for(found, problem.data, text_columns=problem.text_columns))


def _set(ranker: BaseEstimator, settings: Sequence[str]) -> None:
    known = ranker.get_params()
    for setting in settings:
        name, equals, text = setting.partition("=")
        name = name.strip()
        if not equals:
            raise ValueError(f"--set {setting}: expected NAME=VALUE")
        if name not in known:
            kind = type(ranker).__name__
            near = closest(name, known) or "."
            raise ValueError(f"--set {setting}: {kind} has no parameter {name!r}{near} Known: {', '.join(known)}")
        ranker.set_params(**{name: _value(text.strip())})
    if hasattr(ranker, "_validate_params"):
        ranker._validate_params()


def _value(text: str) -> Any:
    """Parse the value of a setting: JSON, or True, False and None; otherwise the text itself."""
    try:
        return _WORDS[text] if text in _WORDS else json.loads(text)
    except ValueError:
        return text


def train(chosen: Chosen, problem: Problem, conformal: float | None, seed: int, jobs: int) -> Trained:
    """Evaluate and fit a model."""
    X, y = problem.data, problem.target
    model = chosen.model
    if conformal is not None:
        if not 0 < conformal < 1:
            raise ValueError(f"--conformal must be between 0 and 1, such as 0.1; got {conformal}")
        model = ConformalRanker(model, alpha=conformal, random_state=seed)
    title = f"fitting {chosen.name}" + (f", up to {chosen.model.time_budget:g} s" if chosen.auto else "")
    with failing(f"{chosen.name} cannot be fitted to {problem.name}"), spinner(title):
        metrics = {} if chosen.auto else _cross_validated(chosen.model, X, y, seed, jobs)
        model = model.fit(X, y)
    how = f"{_FOLDS}-fold cross-validation"
    if chosen.auto:
        auto = model.estimator_ if conformal is not None else model
        scores = np.asarray(getattr(auto, "fold_scores_", ()))
        metrics = {str(auto.scoring): float(auto.best_score_)}
        if len(scores) > 1:
            metrics[f"{auto.scoring}_error"] = float(scores.std(ddof=1) / math.sqrt(len(scores)))
        chosen_from = ", ".join(f"{name} {weight:.0%}" for name, weight in auto.weights_.items())
        how = f"{_folds(len(scores), auto.cv)}; {chosen_from}"
    return Trained(chosen.name, model, problem, metrics, how)


def _folds(n_scores: int, cv: Any) -> str:
    """Describe the folds that a score of an AutoRanker was computed on."""
    if n_scores == 1:
        asked = f"one of {cv} folds" if isinstance(cv, int) else "one fold"
        return f"{asked}: the budget was too short for more"
    return f"{n_scores} folds" if n_scores else "cross-validation"


def _cross_validated(model: Any, X: Any, y: Any, seed: int, jobs: int) -> dict[str, float]:
    """Mean scores over the folds, and their standard errors."""
    scorers = {"kendall_tau": get_scorer("kendall_tau")}
    if as_graphs(y).is_ranked:  # battles have no top
        scorers["top_1"] = get_scorer("top_k_accuracy")
    cv = KFold(_FOLDS, shuffle=True, random_state=seed)
    found = cross_validate(model, X, y, cv=cv, scoring=scorers, n_jobs=jobs, error_score="raise")
    metrics = {}
    for name in scorers:
        values = found[f"test_{name}"]
        values = values[~np.isnan(values)]
        metrics[name] = float(values.mean()) if len(values) else math.nan
        metrics[f"{name}_error"] = float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan
    return metrics


def require_skops() -> None:
    """Raise ImportError if model files cannot be written."""
    try:
        import skops.io  # noqa: F401
    except ImportError as error:
        raise ImportError('model files need skops; install it with: pip install "labelrank[cli]"') from error


def save_model(trained: Trained, path: Path, data: str) -> None:
    """Save a model with all information that the other commands need."""
    X = trained.problem.data
    problem = trained.problem
    notes = {"reading": problem.options, "data": problem.name, "fingerprint": fingerprint(data), "how": trained.how}
    metrics = {name: value for name, value in trained.metrics.items() if not math.isnan(value)}
    save(trained.model, path, X=X if hasattr(X, "columns") else None, metrics=metrics, notes=notes)
