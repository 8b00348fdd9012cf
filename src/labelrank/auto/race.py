"""A race of models: successive halving on rows and folds, within a budget of time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn import config_context, get_config

from labelrank._arrays import FloatArray, IntArray
from labelrank._compat import safe_indexing
from labelrank.auto.weighted import fit_ranker
from labelrank.supervision import PreferenceGraphs, is_graphs

Split = tuple[IntArray, IntArray]  # training rows and test rows
Result = Callable[[FloatArray, IntArray], float]  # of scores of some rows, and these rows; larger is better
_FIRST_ROWS = 1000  # of the first round on many rows; each further round has four times as many
_FIRST_SHARE = 0.5  # of the budget, after which no model is tried for the first time
_SPARE = 0.9  # of the time left, for which work is planned


class Clock:
    """Seconds left of a budget; None is unlimited."""

    def __init__(self, budget: float | None) -> None:
        self.budget, self.start = budget, time.perf_counter()

    def left(self) -> float:
        """Seconds that are left, negative if the budget is spent."""
        return np.inf if self.budget is None else self.budget - (time.perf_counter() - self.start)


class Data(NamedTuple):
    """What is learned from."""

    X: Any
    y: Any  # graphs, or costs as an array or a data frame
    graphs: PreferenceGraphs  # by which scores are combined
    weight: FloatArray | None

    def fit(self, model: Any, rows: IntArray) -> Any:
        """A clone of a model, fitted to some rows."""
        weight = None if self.weight is None else self.weight[rows]
        y = self.y[rows] if is_graphs(self.y) else safe_indexing(self.y, rows)
        return fit_ranker(model, safe_indexing(self.X, rows), y, weight)

    def scores(self, model: Any, rows: IntArray) -> FloatArray:
        """Scores of some rows by a fitted model."""
        return np.asarray(model.decision_function(safe_indexing(self.X, rows)), dtype=np.float64)


@dataclass
class Trial:
    """A model in the race, with what is known of it."""

    name: str
    model: Any
    fitted: dict[int, Any] = field(default_factory=dict)  # by fold
    left_out: dict[int, FloatArray] = field(default_factory=dict)  # scores of the test rows, by fold
    results: dict[int, float] = field(default_factory=dict)  # by fold
    seconds: list[float] = field(default_factory=list)  # of the folds
    preview: float = np.nan  # result on some of the rows
    sizes: list[tuple[int, float]] = field(default_factory=list)  # rows and seconds of the previews
    status: str = ""

    @property
    def result(self) -> float:
        """Mean result, NaN if there is none."""
        return float(np.mean(list(self.results.values()))) if self.results else self.preview

    def cost(self, n_rows: int) -> float:
        """Expected seconds of a fit to so many rows."""
        if self.seconds:
            return float(np.mean(self.seconds))
        if not self.sizes:
            return 0.0
        (size, seconds), power = self.sizes[-1], 1.2
        if len(self.sizes) > 1:
            (before, earlier) = self.sizes[-2]
            power = float(np.clip(np.log(seconds / max(earlier, 1e-9)) / np.log(size / before), 1.0, 3.0))
        return float(seconds * (n_rows / size) ** power)


class Race:
    """Models are fitted on the folds one after the other; the worst drop out where there is no time for all.

    On many rows, the models are first compared on 1000 rows, the better half on 4000, and so on. Without a budget,
    all models are fitted on all folds.

    Parameters
    ----------
    trials : list of Trial
        The models, fast ones first.
    data : Data
        What is learned from.
    splits : list of (train, test)
        The folds.
    score : callable
        Result of the scores of some rows, given with their indices; larger is better.
    clock : Clock
        The time that is left.
    n_jobs : int, optional
        Number of threads.
    on_fit : callable
        Called after each fit; True asks to stop.
    """

    def __init__(
        self,
        trials: list[Trial],
        data: Data,
        splits: list[Split],
        score: Result,
        clock: Clock,
        n_jobs: int | None,
        on_fit: Callable[[], bool],
    ) -> None:
        self.trials, self.data, self.splits, self.score, self.clock = trials, data, splits, score, clock
        self.n_jobs, self.on_fit = n_jobs, on_fit
        self.alive, self.stopped = list(trials), False

    def run(self) -> None:
        """Run the race; what is known is in the trials."""
        if not self.splits:
            return
        n_train = len(self.splits[0][0])
        size = _FIRST_ROWS
        while self.clock.budget is not None and 4 * size <= n_train and len(self.alive) > 1 and not self.stopped:
            self._preview(size)
            self._keep((len(self.alive) + 1) // 2)
            size *= 4
        for fold in range(len(self.splits)):
            if fold or self.alive[0].sizes:
                self._drop_unaffordable(len(self.splits) - fold, n_train)
            if self.stopped or not self.alive:
                return
            for trial, model, scores, seconds in self._fits(self.alive, *self.splits[fold], first=fold == 0):
                trial.fitted[fold], trial.left_out[fold] = model, scores
                trial.results[fold] = self.score(scores, self.splits[fold][1])
                trial.seconds.append(seconds)
                if self._step():
                    return
            self.alive = [trial for trial in self.alive if fold in trial.results]

    def _preview(self, size: int) -> None:
        train, test = (rows[:size] for rows in self.splits[0])
        for trial, _, scores, seconds in self._fits(self.alive, train, test, first=not self.alive[0].sizes):
            trial.preview = self.score(scores, test)
            trial.sizes.append((size, seconds))
            if self._step():
                return
        self.alive = [trial for trial in self.alive if trial.sizes and trial.sizes[-1][0] == size]

    def _step(self) -> bool:
        self.stopped = self.on_fit()
        return self.stopped

    def _keep(self, n: int) -> None:
        ranked = sorted(self.alive, key=lambda trial: -np.nan_to_num(trial.result, nan=-np.inf))
        for trial in ranked[n:]:
            trial.status = f"not among the better half on {trial.sizes[-1][0]} rows"
        self.alive = [trial for trial in self.alive if trial in ranked[:n]]

    def _drop_unaffordable(self, n_folds: int, n_rows: int) -> None:
        """Keep the best models that can go through the remaining folds, and be fitted to all rows, in time."""
        left = _SPARE * self.clock.left()
        if np.isinf(left):
            return
        workers, total = effective_n_jobs(self.n_jobs), 0.0
        kept: list[Trial] = []
        for trial in sorted(self.alive, key=lambda trial: -np.nan_to_num(trial.result, nan=-np.inf)):
            cost = trial.cost(n_rows)
            needed = (n_folds + 1) * cost
            # The best model goes on as long as it has time for a fold.
            if (total + needed) / workers <= left or (not kept and cost <= left):
                total += needed
                kept.append(trial)
            else:
                trial.status = "no time for more folds"
        if not kept and not any(trial.results for trial in self.trials):  # something must be there in the end
            kept = [min(self.alive, key=lambda trial: trial.cost(n_rows))]
            kept[0].status = ""
        self.alive = [trial for trial in self.alive if trial in kept]

    def _fits(
        self, trials: list[Trial], train: IntArray, test: IntArray, first: bool
    ) -> Iterator[tuple[Trial, Any, FloatArray, float]]:
        """Fit models to rows as long as there is time; those that raise an error are reported in their status."""

        def tasks() -> Iterable[Any]:
            for i, trial in enumerate(trials):
                reserved = (1 - _FIRST_SHARE) * (self.clock.budget or 0.0) if first else 0.0
                if self.clock.left() < reserved and (i or not first):  # something must be there in the end
                    trial.status = "no time"
                else:
                    yield delayed(_fit)(trial, self.data, train, test, config)

        config = get_config()
        run = Parallel(n_jobs=self.n_jobs, prefer="threads", pre_dispatch="n_jobs", return_as="generator_unordered")
        for trial, outcome, scores, seconds in run(tasks()):
            if isinstance(outcome, Exception):
                trial.status = f"{type(outcome).__name__}: {outcome}"
                self.alive = [other for other in self.alive if other is not trial]
            else:
                yield trial, outcome, scores, seconds


def _fit(
    trial: Trial, data: Data, train: IntArray, test: IntArray, config: dict[str, Any]
) -> tuple[Trial, Any, FloatArray, float]:
    start = time.perf_counter()
    try:
        with config_context(**config):
            model = data.fit(trial.model, train)
            scores = data.scores(model, test)
        if not np.isfinite(scores).all():
            raise ValueError("the scores are infinite or NaN")
    except Exception as error:  # a model that fails must not end the race
        return trial, error, np.empty(0), 0.0
    return trial, model, scores, time.perf_counter() - start
