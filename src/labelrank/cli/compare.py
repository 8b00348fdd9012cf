"""Every ranker on one data set under repeated cross-validation: the numbers, without the printing."""

from __future__ import annotations

import difflib
import time
import uuid
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import RepeatedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Bunch
from sklearn.utils.parallel import Parallel, delayed

from labelrank import metrics
from labelrank._discovery import all_rankers
from labelrank.rankers import DummyRanker, LogLinearRanker
from labelrank.supervision import mask_rankings
from labelrank.trees import DecisionTreeRanker, ExtraTreesRanker, RandomForestRanker

Vector = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Metric:
    """A ranking metric: its name here, the function ``f(y_true, y_pred)``, and which way is better."""

    name: str
    function: Callable[..., float]
    larger_is_better: bool = True


METRICS = {
    metric.name: metric
    for metric in (
        Metric("tau", metrics.kendall_tau),
        Metric("tau_b", metrics.kendall_tau_b),
        Metric("tau_x", metrics.kendall_tau_x),
        Metric("rho", metrics.spearman_rho),
        Metric("ndcg", metrics.ndcg),
        Metric("top1", metrics.top_k_accuracy),
        Metric("zero_one", metrics.zero_one_error, larger_is_better=False),
        Metric("disagreement", metrics.disagreement_error, larger_is_better=False),
        Metric("domination", metrics.domination_error, larger_is_better=False),
        Metric("dominated", metrics.dominated_error, larger_is_better=False),
    )
}


@dataclass(frozen=True)
class Row:
    """What one ranker reached: a value per fold."""

    ranker: str
    scores: dict[str, Vector]
    fit_seconds: Vector
    predict_seconds: Vector
    warnings: list[str] = field(default_factory=list)  # one for each fold that warned
    error: str | None = None  # of the first fold that failed; there are no scores then

    def mean(self, metric: str) -> float:
        """Mean over the folds that have something to compare."""
        return _over_defined(np.mean, self.scores[metric]) if not self.error else float("nan")

    def std(self, metric: str) -> float:
        """Standard deviation over the same folds."""
        return _over_defined(np.std, self.scores[metric]) if not self.error else float("nan")


@dataclass(frozen=True)
class Comparison:
    """Rows, best first, and how they came about."""

    rows: list[Row]
    metrics: list[Metric]
    folds: int
    repeats: int
    seed: int
    missing: float
    missing_how: str

    @property
    def protocol(self) -> str:
        """The cross-validation in words."""
        text = f"{self.repeats} × {self.folds}-fold cross-validation, seed {self.seed}"
        if self.missing:
            how = "at random" if self.missing_how == "random" else "below the top"
            text += f", {self.missing:.0%} of the labels hidden {how} in the training folds"
        return text


def available_rankers(seed: int = 0) -> dict[str, BaseEstimator]:
    """Every ranker of the library, ready to be cloned; the baseline once for each of its strategies."""
    found: dict[str, BaseEstimator] = {}
    for name, ranker in all_rankers().items():
        if ranker is DummyRanker:
            continue
        # The optimum is what is compared, so the log-linear ranker goes there by the shortest way.
        shortest = {"solver": "lbfgs", "alpha": 1.0, "max_iter": 1000} if ranker is LogLinearRanker else {}
        found[name] = _seeded(ranker(**shortest), seed)
        if ranker not in (DecisionTreeRanker, ExtraTreesRanker, RandomForestRanker):  # the others want one scale
            found[name] = make_pipeline(StandardScaler(), found[name])
    for strategy in ("borda", "copeland", "kemeny", "random"):
        found[f"dummy-{strategy}"] = _seeded(DummyRanker(strategy=strategy), seed)
    return found


def _seeded(ranker: Any, seed: int) -> Any:
    # Rows without a pair are said once, in the report, and not for each fold.
    settings = {"random_state": seed, "on_empty": "ignore"}
    return ranker.set_params(**{name: settings[name] for name in settings.keys() & ranker.get_params()})


def choose_rankers(rankers: Mapping[str, BaseEstimator], names: str | None) -> dict[str, BaseEstimator]:
    """The rankers named in a comma-separated list, in any case; all without one."""
    if names is None:
        return dict(rankers)
    return {name: rankers[name] for name in _choose("ranker", rankers, names.split(","))}


def choose_metrics(names: Sequence[str]) -> list[Metric]:
    """The metrics named in comma-separated lists."""
    # The names of labelrank.metrics are understood too.
    full = {metric.function.__name__: metric.name for metric in METRICS.values()}
    wanted = [full.get(name.strip(), name) for text in names for name in text.split(",")]
    return [METRICS[name] for name in _choose("metric", METRICS, wanted)]


def _choose(what: str, known: Iterable[str], names: Iterable[str]) -> list[str]:
    by_lower_case = {name.lower(): name for name in known}
    chosen = []
    for name in names:
        key = name.strip().lower()
        if not key:
            continue
        if key not in by_lower_case:
            near = difflib.get_close_matches(key, by_lower_case, n=1)
            hint = f"; did you mean {by_lower_case[near[0]]!r}?" if near else ""
            raise ValueError(
                f"there is no {what} {name.strip()!r}{hint or '.'} Known: {', '.join(by_lower_case.values())}"
            )
        chosen.append(by_lower_case[key])
    if not chosen:
        raise ValueError(f"no {what} is named; known: {', '.join(by_lower_case.values())}")
    return list(dict.fromkeys(chosen))


def compare_rankers(
    rankers: Mapping[str, BaseEstimator],
    X: Any,
    y: Any,
    *,
    metrics: Sequence[Metric] = (METRICS["tau"],),
    folds: int = 10,
    repeats: int = 5,
    missing: float = 0.0,
    missing_how: str = "random",
    seed: int = 0,
    n_jobs: int | None = 1,
    advance: Callable[[], None] | None = None,
) -> Comparison:
    """Run rankers under repeated cross-validation, all on the same folds.

    Parameters
    ----------
    rankers : mapping of str to ranker
        Cloned for each fold.
    X : array-like of shape (n_samples, n_features)
        Instances.
    y : rank matrix or PreferenceGraphs of shape (n_samples, n_labels)
        What was observed.
    metrics : sequence of Metric
        The rows are sorted by the first.
    folds, repeats, seed : int
        The same splits as ``RepeatedKFold(n_splits=folds, n_repeats=repeats, random_state=seed)``.
    missing : float
        The share of labels to hide in the training folds; the test folds stay as they are.
    missing_how : {"random", "top"}
        How to hide them; see :func:`labelrank.mask_rankings`.
    n_jobs : int, optional
        Processes.
    advance : callable, optional
        Called after each fold of each ranker.

    Notes
    -----
    Each process fits and predicts once per ranker on a little of the first fold before it takes times, so that these
    do not hold the time of compiling.

    Returns
    -------
    Comparison
        A ranker that fails on a fold has an ``error`` and comes last.
    """
    splits = list(RepeatedKFold(n_splits=folds, n_repeats=repeats, random_state=seed).split(np.empty(len(y))))
    hiding = (missing, missing_how, seed)
    run = uuid.uuid4().hex
    tasks = (
        delayed(_run_fold)(ranker, X, y, split, fold, metrics, hiding, ((run, name), splits[0]))
        for name, ranker in rankers.items()
        for fold, split in enumerate(splits)
    )
    done: list[Bunch] = []
    for result in Parallel(n_jobs=n_jobs, return_as="generator")(tasks):
        done.append(result)
        if advance is not None:
            advance()
    rows = [_row(name, done[i * len(splits) : (i + 1) * len(splits)], metrics) for i, name in enumerate(rankers)]
    first = metrics[0]
    sign = -1.0 if first.larger_is_better else 1.0
    rows.sort(key=lambda row: (row.error is not None, np.nan_to_num(sign * row.mean(first.name), nan=np.inf)))
    return Comparison(rows, list(metrics), folds, repeats, seed, missing, missing_how)


_Split = tuple[Any, Any]  # indices of the training and of the test fold
_Hiding = tuple[float, Any, int]  # missing, missing_how, seed

_WARM_UP_ROWS = 100
_warm: set[tuple[str, str]] = set()  # (run, ranker) that this process has fitted before


def _run_fold(
    ranker: BaseEstimator,
    X: Any,
    y: Any,
    split: _Split,
    fold: int,
    metrics: Sequence[Metric],
    hiding: _Hiding,
    warm_up: tuple[tuple[str, str], _Split],
) -> Bunch:
    key, first_split = warm_up
    if key not in _warm:
        _warm.add(key)
        _warm_up(ranker, X, y, first_split, hiding)
    train, test = split
    known = _hide(y[train], hiding, fold)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            start = time.perf_counter()
            fitted = clone(ranker).fit(X[train], known)
            between = time.perf_counter()
            predicted = fitted.predict(X[test])
            end = time.perf_counter()
            scores = {metric.name: metric.function(y[test], predicted) for metric in metrics}
        except Exception as error:  # one ranker that cannot do with these data must not end the comparison
            return Bunch(error=f"{type(error).__name__}: {error}")
    said = str(caught[0].message) if caught else None
    return Bunch(error=None, scores=scores, fit=between - start, predict=end - between, warning=said)


def _hide(known: Any, hiding: _Hiding, fold: int) -> Any:
    """The labels of a training fold that a ranker is shown."""
    missing, missing_how, seed = hiding
    if not missing:
        return known
    # One seed per fold, so that all rankers learn from the same labels.
    hidden_by = int(np.random.SeedSequence([seed, fold]).generate_state(1)[0])
    return mask_rankings(known, missing, how=missing_how, random_state=hidden_by)


def _warm_up(ranker: BaseEstimator, X: Any, y: Any, split: _Split, hiding: _Hiding) -> None:
    """Fit and predict once on a little of the first fold, so that no fold is timed while its kernels are compiled."""
    train, test = (indices[:_WARM_UP_ROWS] for indices in split)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            clone(ranker).fit(X[train], _hide(y[train], hiding, 0)).predict(X[test])
        except Exception:  # too little for this ranker, or its own fault: the folds will tell
            return


def _row(name: str, results: list[Bunch], metrics: Sequence[Metric]) -> Row:
    errors = [result.error for result in results if result.error]
    if errors:
        return Row(name, {}, np.empty(0), np.empty(0), error=errors[0])
    return Row(
        name,
        {metric.name: np.array([result.scores[metric.name] for result in results]) for metric in metrics},
        np.array([result.fit for result in results]),
        np.array([result.predict for result in results]),
        [result.warning for result in results if result.warning],
    )


def _over_defined(average: Callable[..., Any], values: Vector) -> float:
    defined = values[~np.isnan(values)]
    return float(average(defined)) if len(defined) else float("nan")
