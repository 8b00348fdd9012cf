"""A race of models: successive halving on rows and folds, within a budget of time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
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
_FIRST_FIT = 20  # rows of a fit that compiles the kernels of a model
_FEW = 3  # models that are not compared on some of the rows only
_LARGEST = 0.3  # of the time left, for one fit of a model that was tried on some of the rows
_FIRST_SHARE = 0.5  # of the budget, after which no model is tried for the first time
_SPARE = 0.9  # of the time left, for which work is planned
_REST = 0.1  # of the budget that is there after the first fold, even if it was spent on compiling kernels


class Clock:
    """Seconds left of a budget; None is unlimited."""

    def __init__(self, budget: float | None) -> None:
        self.budget, self.start = budget, time.perf_counter()

    def left(self) -> float:
        """Seconds that are left, negative if the budget is spent."""
        return np.inf if self.budget is None else self.budget - (time.perf_counter() - self.start)

    def keep(self, share: float) -> None:
        """Extend a budget that is spent, so that a share of it is left."""
        if self.budget is not None:
            self.budget += max(share * self.budget - self.left(), 0.0)


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
    compilation: float = 0.0  # seconds
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
        size, seconds = self.sizes[-1]
        if len(self.sizes) == 1:
            return float(seconds * n_rows / size)
        before, earlier = self.sizes[-2]
        growth = max(seconds - earlier, 0.0) / (size - before)
        straight = seconds + growth * (n_rows - size)  # what all fits cost weighs less and less
        power = np.clip(np.log(seconds / max(earlier, 1e-9)) / np.log(size / before), 0.0, 3.0)
        return float(straight if power <= 1 else seconds * (n_rows / size) ** power)


class Race:
    """Models are compared on the first fold; the best go through the others, as far as the time suffices.

    On many rows, the models are first compared on 1000 rows, the better half on 4000, and so on, until three are left.
    Without a budget, all models are fitted on all folds.

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
        self.n_jobs, self.workers, self.on_fit = n_jobs, effective_n_jobs(n_jobs), on_fit
        self.stopped = False

    def run(self) -> None:
        """Run the race; what is known is in the trials."""
        if not self.splits:
            return
        left = self._previews(self.trials)
        self._folds(left, [0])
        self.clock.keep(_REST)
        n_others, refits = len(self.splits) - 1, 0.0
        for trial in _ranked([trial for trial in left if trial.results]):
            cost = trial.cost(len(self.splits[0][0]))
            rounds = -(-n_others // self.workers)
            if rounds * cost + (refits + cost) / self.workers > _SPARE * self.clock.left():
                trial.status = "no time for more folds"
            elif not self.stopped:
                self._folds([trial], list(range(1, len(self.splits))))
                refits += cost

    def _previews(self, trials: list[Trial]) -> list[Trial]:
        """Compare models on some of the rows; return those that are left."""
        n_train, size = len(self.splits[0][0]), _FIRST_ROWS
        if self.clock.budget is None or n_train < 4 * size:
            return trials
        while len(trials) > _FEW and not self.stopped and (size == _FIRST_ROWS or 2 * size <= n_train):
            train, test = (rows[:size] for rows in self.splits[0])
            for trial, _, _, scores, seconds in self._fits([(trial, -1) for trial in trials], [(train, test)]):
                trial.preview = self.score(scores, test)
                trial.sizes.append((size, seconds))
                self._step()
            known = [trial for trial in trials if trial.sizes and trial.sizes[-1][0] == size]
            kept = _ranked(known)[: max(_FEW, (len(trials) + 1) // 2)]
            for trial in known:
                if trial not in kept:
                    trial.status = f"not among the better half on {size} rows"
            trials, size = [trial for trial in trials if trial in kept], 4 * size
        ranked = _ranked(trials)
        for i, trial in enumerate(ranked):
            if i and trial.cost(n_train) > _LARGEST * self.clock.left():
                trial.status = "no time"
        return [trial for trial in ranked if not trial.status]

    def _folds(self, trials: list[Trial], folds: list[int]) -> None:
        tasks = [(trial, fold) for trial in trials for fold in folds]
        for trial, fold, model, scores, seconds in self._fits(tasks, self.splits):
            trial.fitted[fold], trial.left_out[fold] = model, scores
            trial.results[fold] = self.score(scores, self.splits[fold][1])
            trial.seconds.append(seconds)
            if self._step():
                return

    def _step(self) -> bool:
        self.stopped = self.on_fit() or self.stopped
        return self.stopped

    def _fits(
        self, wanted: list[tuple[Trial, int]], splits: list[Split]
    ) -> Iterator[tuple[Trial, int, Any, FloatArray, float]]:
        """Fit models on folds as long as there is time; those that raise an error are reported in their status."""
        config = get_config()

        def tasks() -> Iterable[Any]:
            for trial, fold in wanted:
                # Half of the time is for models that were tried before, unless kernels had to be compiled.
                reserved = (1 - _FIRST_SHARE) * (self.clock.budget or 0.0) - sum(t.compilation for t in self.trials)
                reserved = 0.0 if trial.results or trial.sizes else max(reserved, 0.0)
                if self.clock.left() < reserved and not (fold <= 0 and trial is wanted[0][0]):  # one must be there
                    trial.status = "no time"
                else:
                    yield delayed(_fit)(trial, fold, self.data, splits[fold], config)

        run = Parallel(n_jobs=self.n_jobs, prefer="threads", pre_dispatch="n_jobs", return_as="generator_unordered")
        for trial, fold, outcome, scores, seconds in run(tasks()):
            if isinstance(outcome, Exception):
                trial.status = f"{type(outcome).__name__}: {outcome}"
            else:
                yield trial, fold, outcome, scores, seconds


def _ranked(trials: list[Trial]) -> list[Trial]:
    return sorted(trials, key=lambda trial: -np.nan_to_num(trial.result, nan=-np.inf))


def _compile(trial: Trial, data: Data, rows: IntArray) -> None:
    """Fit a model to a few rows, so that the time of compilation is not taken for that of each fit."""
    start = time.perf_counter()
    with suppress(Exception):
        data.scores(data.fit(trial.model, rows[:_FIRST_FIT]), rows[:1])
    trial.compilation = time.perf_counter() - start


def _fit(
    trial: Trial, fold: int, data: Data, split: Split, config: dict[str, Any]
) -> tuple[Trial, int, Any, FloatArray, float]:
    start = time.perf_counter()
    try:
        with config_context(**config):
            if not (trial.seconds or trial.sizes):
                _compile(trial, data, split[0])
                start = time.perf_counter()
            model = data.fit(trial.model, split[0])
            scores = data.scores(model, split[1])
        if not np.isfinite(scores).all():
            raise ValueError("the scores are infinite or NaN")
    except Exception as error:  # a model that fails must not end the race
        return trial, fold, error, np.empty(0), 0.0
    return trial, fold, model, scores, time.perf_counter() - start
