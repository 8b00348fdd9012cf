"""Model selection by successive halving on rows and folds, within a time budget."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
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
Result = Callable[[FloatArray, IntArray], float]  # result(scores of rows, indices of rows); larger is better
_FIRST_ROWS = 1000  # number of rows in the first round of halving; each further round has four times as many
_FIRST_FIT = 20  # number of rows of a fit that compiles the kernels of a model
_FEW = 3  # number of models at which halving stops
_LARGEST = 0.3  # largest share of the remaining time for one fit of a model after halving
_FIRST_SHARE = 0.5  # share of the budget after which no new model is started
_SPARE = 0.9  # share of the remaining time that is planned for
_REST = 0.1  # share of the budget guaranteed after the first fold, even if compilation took longer


class Clock:
    """Remaining seconds of a budget; None is unlimited."""

    def __init__(self, budget: float | None) -> None:
        self.budget, self.start = budget, time.perf_counter()

    def left(self) -> float:
        """Remaining seconds, negative if the budget is exceeded."""
        return np.inf if self.budget is None else self.budget - (time.perf_counter() - self.start)

    def keep(self, share: float) -> None:
        """Extend the budget if less than a share of it is left."""
        if self.budget is not None:
            self.budget += max(share * self.budget - self.left(), 0.0)


class Data(NamedTuple):
    """Training data."""

    X: Any
    y: Any  # graphs, or costs as an array or a data frame
    graphs: PreferenceGraphs  # to learn the weights of an ensemble
    weight: FloatArray | None

    def fit(self, model: Any, rows: IntArray) -> Any:
        """Fit a clone of a model to some rows."""
        weight = None if self.weight is None else self.weight[rows]
        y = self.y[rows] if is_graphs(self.y) else safe_indexing(self.y, rows)
        return fit_ranker(model, safe_indexing(self.X, rows), y, weight)

    def scores(self, model: Any, rows: IntArray) -> FloatArray:
        """Scores of some rows by a fitted model."""
        return np.asarray(model.decision_function(safe_indexing(self.X, rows)), dtype=np.float64)


@dataclass
class Trial:
    """A model in the race, with its results."""

    name: str
    model: Any
    fitted: dict[int, Any] = field(default_factory=dict)  # by fold
    left_out: dict[int, FloatArray] = field(default_factory=dict)  # scores of the test rows, by fold
    results: dict[int, float] = field(default_factory=dict)  # by fold
    seconds: list[float] = field(default_factory=list)  # of the folds
    preview: float = np.nan  # result on a subset of the rows
    sizes: list[tuple[int, float]] = field(default_factory=list)  # rows and seconds of the previews
    compilation: float = 0.0  # seconds
    status: str = ""

    @property
    def result(self) -> float:
        """Mean result over the folds; before the first fold that on a subset of the rows, NaN if there is none."""
        return float(np.mean(list(self.results.values()))) if self.results else self.preview

    def cost(self, n_rows: int) -> float:
        """Expected seconds of a fit to `n_rows` rows."""
        if self.seconds:
            return float(np.mean(self.seconds))
        if not self.sizes:
            return 0.0
        size, seconds = self.sizes[-1]
        if len(self.sizes) == 1:
            return float(seconds * n_rows / size)
        before, earlier = self.sizes[-2]
        growth = max(seconds - earlier, 0.0) / (size - before)
        straight = seconds + growth * (n_rows - size)  # linear, so that the constant cost is not scaled up
        power = np.clip(np.log(seconds / max(earlier, 1e-9)) / np.log(size / before), 0.0, 3.0)
        return float(straight if power <= 1 else seconds * (n_rows / size) ** power)


class Race:
    """Compare models on the first fold, then the best ones on the other folds as long as time permits.

    With many rows, successive halving first compares all models on 1000 rows, the better half on 4000, and so on, until
    three are left. Without a budget, all models are fitted on all folds.

    Parameters
    ----------
    trials : list of Trial
        The models, fast ones first.
    data : Data
        Training data.
    splits : list of (train, test)
        The folds.
    score : callable
        Objective to maximize, a function of scores of some rows and the indices of these rows.
    clock : Clock
        The remaining time.
    n_jobs : int, optional
        Number of threads.
    on_fit : callable
        Called after each fit; returns True to stop.
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
        self.stopped = self.interrupted = False

    def run(self) -> None:
        """Run the race; the results are stored in the trials."""
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
        """Compare models on subsets of the rows; return the remaining ones."""
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
        """Fit models on folds as long as there is time; errors are stored in the status of the trial."""
        config = get_config()

        def tasks() -> Iterable[Any]:
            for number, (trial, fold) in enumerate(wanted):
                # Half of the budget is reserved for models fitted before, unless kernels had to be compiled.
                reserved = (1 - _FIRST_SHARE) * (self.clock.budget or 0.0) - sum(t.compilation for t in self.trials)
                reserved = 0.0 if trial.results or trial.sizes else max(reserved, 0.0)
                if self.clock.left() < reserved and not (fold <= 0 and trial is wanted[0][0]):  # fit at least one
                    trial.status = "no time"
                else:
                    known = bool(trial.seconds or trial.sizes)
                    # The parts of the data are separate arguments, so that large ones are sent to a cluster once.
                    yield delayed(_fit)(number, trial.model, known, splits[fold], config, *self.data)

        run = Parallel(n_jobs=self.n_jobs, prefer="threads", pre_dispatch="n_jobs", return_as="generator_unordered")
        for number, outcome, scores, seconds, compilation in run(tasks()):
            trial, fold = wanted[number]
            if self.interrupted:  # this model may have caught it, and is incomplete
                raise KeyboardInterrupt
            trial.compilation = max(trial.compilation, compilation)
            if isinstance(outcome, Exception):
                trial.status = f"{type(outcome).__name__}: {outcome}"
            else:
                yield trial, fold, outcome, scores, seconds


@contextmanager
def noting_interrupts(race: Race) -> Iterator[None]:
    """Set ``race.interrupted`` on control-C, because a ranker that is fitted may catch it to keep a partial fit."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return

    def note(number: int, frame: Any) -> None:
        race.interrupted = True
        before(number, frame)

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _ranked(trials: list[Trial]) -> list[Trial]:
    return sorted(trials, key=lambda trial: -np.nan_to_num(trial.result, nan=-np.inf))


def _compile(model: Any, data: Data, rows: IntArray) -> float:
    """Return the time of a fit to a few rows, which compiles the kernels, so that later timings exclude compilation."""
    start = time.perf_counter()
    with suppress(Exception):
        data.scores(data.fit(model, rows[:_FIRST_FIT]), rows[:1])
    return time.perf_counter() - start


def _fit(
    number: int, model: Any, known: bool, split: Split, config: dict[str, Any], *parts: Any
) -> tuple[int, Any, FloatArray, float, float]:
    """Fit a model, possibly in another process.

    Returns the number of the task, the model or an exception, its scores, and the seconds to fit and to compile.
    """
    data, compilation = Data(*parts), 0.0
    try:
        with config_context(**config):
            if not known:
                compilation = _compile(model, data, split[0])
            start = time.perf_counter()
            model = data.fit(model, split[0])
            scores = data.scores(model, split[1])
        if not np.isfinite(scores).all():
            raise ValueError("the scores are infinite or NaN")
    except Exception as error:  # a failing model must not end the race
        return number, error, np.empty(0), 0.0, compilation
    return number, model, scores, time.perf_counter() - start, compilation
