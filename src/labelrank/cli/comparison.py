"""Compare rankers on a data set by repeated cross-validation."""

from __future__ import annotations

import time
import uuid
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import RepeatedKFold
from sklearn.utils.parallel import Parallel, delayed

from labelrank._discovery import all_rankers
from labelrank.auto import AutoRanker
from labelrank.auto.preprocessing import pipeline_for
from labelrank.cli.choices import METRICS, Metric
from labelrank.metrics import holm, paired_comparison
from labelrank.rankers import DummyRanker, GraphRanker
from labelrank.supervision import mask_rankings

Vector = npt.NDArray[np.float64]
Split = tuple[Any, Any]  # indices of the training fold and of the test fold

_WARM_UP_ROWS = 100
_warm: set[tuple[str, str]] = set()  # (run, ranker) already fitted in this process


@dataclass(frozen=True)
class Protocol:
    """Repeated cross-validation that can hide a share of the labels in the training folds."""

    folds: int = 10
    repeats: int = 5
    seed: int = 0
    missing: float = 0.0
    missing_how: Literal["random", "top"] = "random"

    def __str__(self) -> str:
        text = f"{self.repeats} × {self.folds}-fold cross-validation, seed {self.seed}"
        if self.missing:
            how = "at random" if self.missing_how == "random" else "below the top"
            text += f", {self.missing:.0%} of the labels hidden {how} in the training folds"
        return text

    def splits(self, n_samples: int) -> list[Split]:
        """List the folds."""
        splitter = RepeatedKFold(n_splits=self.folds, n_repeats=self.repeats, random_state=self.seed)
        return list(splitter.split(np.empty(n_samples)))

    def hide(self, y: Any, fold: int) -> Any:
        """Hide labels of a training fold; the seed depends on the fold only, so all rankers get the same labels."""
        if not self.missing:
            return y
        seed = int(np.random.SeedSequence([self.seed, fold]).generate_state(1)[0])
        return mask_rankings(y, self.missing, how=self.missing_how, random_state=seed)


@dataclass(frozen=True)
class Row:
    """Results of one ranker on each fold."""

    ranker: str
    scores: dict[str, Vector] = field(default_factory=dict)
    fit_seconds: Vector = field(default_factory=lambda: np.empty(0))
    predict_seconds: Vector = field(default_factory=lambda: np.empty(0))
    warnings: list[str] = field(default_factory=list)  # the first warning of each fold
    error: str | None = None  # of the first failed fold; without scores then

    def mean(self, metric: str) -> float:
        """Return the mean over the folds with a defined score, NaN if there are none."""
        defined = self._defined(metric)
        return float(defined.mean()) if len(defined) else float("nan")

    def std(self, metric: str) -> float:
        """Return the standard deviation over these folds."""
        defined = self._defined(metric)
        return float(defined.std()) if len(defined) else float("nan")

    @property
    def median_seconds(self) -> float:
        """Return the median time to fit a fold."""
        return float(np.median(self.fit_seconds)) if len(self.fit_seconds) else float("nan")

    def _defined(self, metric: str) -> Vector:
        values = self.scores.get(metric, np.empty(0))
        return values[~np.isnan(values)]


@dataclass(frozen=True)
class Comparison:
    """Rows, best first, with the metrics and the protocol."""

    rows: list[Row]
    metrics: list[Metric]
    protocol: Protocol

    def best(self, metric: Metric) -> Row | None:
        """Return the row with the best mean, None if there is none."""
        known = [row for row in self.rows if not np.isnan(row.mean(metric.name))]
        sign = 1.0 if metric.larger_is_better else -1.0
        return max(known, key=lambda row: sign * row.mean(metric.name), default=None)

    def p_values(self, metric: Metric) -> dict[str, float]:
        """Return the p-value of the difference from the best row for each other row.

        Corrected paired t-test of Nadeau and Bengio on the folds, with Holm's correction for the number of rows.
        """
        best = self.best(metric)
        others = [row for row in self.rows if row is not best and not np.isnan(row.mean(metric.name))]
        if best is None or not others:
            return {}
        p = []
        for row in others:
            both = ~np.isnan(row.scores[metric.name]) & ~np.isnan(best.scores[metric.name])
            first, second = best.scores[metric.name][both], row.scores[metric.name][both]
            found = paired_comparison(first, second, test_share=1 / self.protocol.folds).p if len(first) > 1 else np.nan
            # Differences without variance: zero, or the same in all folds.
            p.append((1.0 if np.allclose(first, second) else 0.0) if np.isnan(found) else found)
        return dict(zip((row.ranker for row in others), holm(p).tolist(), strict=True))


def available_rankers(
    X: Any, seed: int = 0, text_columns: Sequence[str] | None = None, every: bool = False
) -> dict[str, BaseEstimator]:
    """Return every ranker of the library with default parameters, with the preprocessing for `X`.

    There is one baseline per strategy. `every` adds rankers that duplicate others by default, and AutoRanker.
    """
    found: dict[str, Any] = {}
    for name, ranker in all_rankers().items():
        if every or ranker not in (DummyRanker, GraphRanker):  # with its defaults a GraphRanker is a LogLinearRanker
            found[name] = ranker()
    for strategy in ("borda", "copeland", "kemeny", "random"):
        found[f"dummy-{strategy}"] = DummyRanker(strategy=strategy)
    found = {name: pipeline_for(_seeded(ranker, seed), X, text_columns=text_columns) for name, ranker in found.items()}
    return found | ({"AutoRanker": _seeded(AutoRanker(text_columns=text_columns), seed)} if every else {})


def _seeded(ranker: Any, seed: int) -> Any:
    # Rows without a pair are reported once, not by every ranker in every fold.
    settings = {"random_state": seed, "on_empty": "ignore"}
    return ranker.set_params(**{name: settings[name] for name in settings.keys() & ranker.get_params()})


def compare_rankers(
    rankers: Mapping[str, BaseEstimator],
    X: Any,
    y: Any,
    protocol: Protocol,
    *,
    metrics: Sequence[Metric] = (METRICS["tau"],),
    n_jobs: int | None = 1,
    advance: Callable[[], None] = lambda: None,
) -> Comparison:
    """Evaluate rankers by repeated cross-validation on the same folds.

    Parameters
    ----------
    rankers : mapping of str to ranker
        Cloned for each fold.
    X : array-like of shape (n_samples, n_features)
        Instances.
    y : rank matrix or PreferenceGraphs of shape (n_samples, n_labels)
        Observed preferences.
    protocol : Protocol
        The cross-validation.
    metrics : sequence of Metric
        The metrics. The rows are sorted by the first.
    n_jobs : int, optional
        Number of processes. Each first fits every ranker to a few rows, so that times do not include compilation.
    advance : callable, optional
        Called after each fold of each ranker.

    Returns
    -------
    Comparison
        Rankers that fail on a fold have an ``error`` and come last.
    """
    splits = protocol.splits(len(y))
    run = uuid.uuid4().hex
    tasks = (
        delayed(_run_fold)((run, name), ranker, X, y, splits, fold, metrics, protocol)
        for name, ranker in rankers.items()
        for fold in range(len(splits))
    )
    done: list[dict[str, Any]] = []
    for result in Parallel(n_jobs=n_jobs, return_as="generator")(tasks):
        done.append(result)
        advance()
    rows = [_row(name, done[i * len(splits) : (i + 1) * len(splits)], metrics) for i, name in enumerate(rankers)]
    first = metrics[0]
    sign = -1.0 if first.larger_is_better else 1.0
    rows.sort(key=lambda row: (row.error is not None, np.nan_to_num(sign * row.mean(first.name), nan=np.inf)))
    return Comparison(rows, list(metrics), protocol)


def _run_fold(
    key: tuple[str, str],
    ranker: BaseEstimator,
    X: Any,
    y: Any,
    splits: Sequence[Split],
    fold: int,
    metrics: Sequence[Metric],
    protocol: Protocol,
) -> dict[str, Any]:
    if key not in _warm:
        _warm.add(key)
        train, test = (indices[:_WARM_UP_ROWS] for indices in splits[0])
        # Errors are ignored: they may be due to the few rows, and otherwise occur again in the folds.
        _measure(ranker, X[train], protocol.hide(y[train], 0), X[test], y[test], ())
    train, test = splits[fold]
    return _measure(ranker, X[train], protocol.hide(y[train], fold), X[test], y[test], metrics)


def _measure(
    ranker: BaseEstimator, X: Any, y: Any, X_test: Any, y_test: Any, metrics: Sequence[Metric]
) -> dict[str, Any]:
    """Fit, predict and score; errors are returned, because a failing ranker must not end the comparison."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            start = time.perf_counter()
            fitted = clone(ranker).fit(X, y)
            between = time.perf_counter()
            predicted = fitted.predict(X_test)
            end = time.perf_counter()
            scores = {metric.name: metric.function(y_test, predicted) for metric in metrics}
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}"}
    warned = [str(caught[0].message)] if caught else []
    return {"scores": scores, "fit": between - start, "predict": end - between, "warned": warned}


def _row(name: str, results: list[dict[str, Any]], metrics: Sequence[Metric]) -> Row:
    errors = [result["error"] for result in results if "error" in result]
    if errors:
        return Row(name, error=errors[0])
    return Row(
        name,
        {metric.name: np.array([result["scores"][metric.name] for result in results]) for metric in metrics},
        np.array([result["fit"] for result in results]),
        np.array([result["predict"] for result in results]),
        [text for result in results for text in result["warned"]],
    )
