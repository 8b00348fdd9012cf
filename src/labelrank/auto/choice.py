"""Results of a race: the weights of the models, the fitted models, and the leaderboard."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import BaseEstimator, clone

from labelrank._arrays import FloatArray, IntArray
from labelrank.auto.ensemble import choose_weights, comparable, stacked_weights
from labelrank.auto.race import Data, Race, Trial
from labelrank.auto.weighted import WeightedRanker
from labelrank.rankers.base import RankerMixin

_ROWS = 10_000  # largest number of rows for the comparison of ensembles
_NEGLIGIBLE = 0.01  # models with a weight below, relative to the largest, are dropped
_OVERTIME = 1.1  # share of the remaining time that the fits to all rows may take


class Scored(RankerMixin, BaseEstimator):
    """Ranker with precomputed scores, for scorers."""

    def __init__(self, scores: FloatArray, labels: npt.NDArray[Any]) -> None:
        self.scores = scores
        self.labels = labels

    @property
    def labels_(self) -> npt.NDArray[Any]:  # type: ignore[override]
        """Names of the labels."""
        return self.labels

    def decision_function(self, X: Any) -> FloatArray:
        """Return the precomputed scores; X is ignored."""
        return self.scores


class Chosen(NamedTuple):
    """Selected models with their weights."""

    trials: list[Trial]
    weights: FloatArray
    method: str
    results: FloatArray  # on the folds
    slope: float


def run_race(race: Race) -> None:
    """Run a race, until it is interrupted. Raises ValueError if no model could be fitted."""
    try:
        race.run()
    except KeyboardInterrupt:
        if not any(trial.results for trial in race.trials):
            raise
        race.interrupted = True
    if race.splits and not any(trial.results for trial in race.trials):
        failed = [f"{trial.name}: {trial.status}" for trial in race.trials if trial.status]
        raise ValueError(f"no candidate could be fitted; {'; '.join(failed) or 'fit was stopped before the first'}")


def choose(race: Race, weight: FloatArray, ensemble: bool, default: str) -> Chosen:
    """Weights of the models fitted on all folds; if there are none, of the models fitted on the first fold."""
    if not race.splits:  # a single row cannot be split
        return Chosen(race.trials[:1], np.ones(1), "single", np.empty(0), 1.0)
    n_folds = len(race.splits)
    if not any(len(trial.results) == n_folds for trial in race.trials):
        n_folds = 1
    trials = [trial for trial in race.trials if set(range(n_folds)) <= trial.results.keys()]
    by_fold = np.array([[trial.results[fold] for fold in range(n_folds)] for trial in trials])
    alone = by_fold.mean(axis=1)
    best = int(np.argmax(np.nan_to_num(alone, nan=-np.inf)))
    weights, method, results = np.eye(len(trials))[best], "single", by_fold[best]

    step = 1 + sum(len(race.splits[fold][1]) for fold in range(n_folds)) // _ROWS
    rows = [race.splits[fold][1][::step] for fold in range(n_folds)]
    scores = [np.concatenate([trial.left_out[fold][::step] for fold in range(n_folds)]) for trial in trials]
    everything = np.concatenate(rows)
    graphs, weight = race.data.graphs[everything], weight[everything]
    if ensemble and len(trials) > 1 and not np.isnan(alone).all():
        folds = np.split(np.arange(len(everything)), np.cumsum([len(part) for part in rows])[:-1])
        last: list[Any] = [None, None]  # the same object for the same rows, because race.score caches the last rows

        def score(sums: FloatArray, part: IntArray) -> float:
            if part is not last[0]:
                last[:] = part, everything[part]
            return race.score(sums, last[1])

        standard = np.array([comparable(each) for each in scores])
        weights, method, results = choose_weights(standard, folds, score, graphs, weight, default)
    weights = np.where(weights > _NEGLIGIBLE * weights.max(), weights, 0.0) / weights.sum()
    used = np.flatnonzero(weights)
    if len(used) == 1:  # a single model needs no standardized scores
        method, total = "single", scores[used[0]]
    else:
        total = np.tensordot(weights, standard, 1)
    slope = float(stacked_weights(total[np.newaxis], graphs, weight)[0]) if graphs.shape[1] > 1 else 1.0
    return Chosen([trials[i] for i in used], weights[used], method, results, max(slope, 1e-6))


def fit_chosen(race: Race, chosen: Chosen) -> dict[str, Any]:
    """Fitted attributes, with models fitted to all rows, or those of the folds if there is no time for that."""
    n, names = len(race.data.graphs), [trial.name for trial in chosen.trials]
    cost = sum(trial.cost(n) for trial in chosen.trials) / effective_n_jobs(race.n_jobs)
    fitted = [[trial.fitted[fold] for fold in sorted(trial.fitted)] for trial in chosen.trials]
    if not race.splits or (not race.interrupted and cost <= _OVERTIME * race.clock.left()):
        run, rows = Parallel(n_jobs=race.n_jobs, prefer="threads"), np.arange(n)
        try:
            refitted = [[model] for model in run(delayed(_refit)(t.model, rows, *race.data) for t in chosen.trials)]
        except KeyboardInterrupt:
            race.interrupted = True
            if not race.splits:
                raise
        if not race.splits or not race.interrupted:
            fitted = refitted
    if [len(models) for models in fitted] == [1]:
        best = fitted[0][0]
    else:
        weights = [float(w) / len(m) for w, m in zip(chosen.weights, fitted, strict=True) for _ in m]
        unfitted = [clone(model) for models in fitted for model in models]
        best = WeightedRanker(unfitted, weights)._hold([model for models in fitted for model in models])
    return {
        "best_estimator_": best,
        "weights_": dict(zip(names, chosen.weights.tolist(), strict=True)),
        "method_": chosen.method,
        "fold_scores_": chosen.results,
        "best_score_": float(chosen.results.mean()) if len(chosen.results) else np.nan,
        "slope_": chosen.slope,
    }


def _refit(model: Any, rows: IntArray, *parts: Any) -> Any:
    return Data(*parts).fit(model, rows)


def leaderboard(trials: list[Trial], weights: dict[str, float], n_folds: int) -> dict[str, list[Any]]:
    """Columns of the leaderboard, sorted by the number of folds and the mean result, best first."""
    ranked = sorted(trials, key=lambda trial: (-len(trial.results), -np.nan_to_num(trial.result, nan=-np.inf)))
    results = [list(trial.results.values()) for trial in ranked]
    return {
        "name": [trial.name for trial in ranked],
        "mean": [float(np.mean(values)) if values else np.nan for values in results],
        "std": [float(np.std(values)) if values else np.nan for values in results],
        "folds": [len(values) for values in results],
        "time": [float(np.mean(trial.seconds)) if trial.seconds else np.nan for trial in ranked],
        "weight": [weights.get(trial.name, 0.0) for trial in ranked],
        "status": [trial.status or ("complete" if len(trial.results) == n_folds else "stopped") for trial in ranked],
    }
