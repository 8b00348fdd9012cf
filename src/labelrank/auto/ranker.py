"""AutoRanker: model selection and ensembles within a time budget."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar

import narwhals as nw
import numpy as np
from scipy.special import expit
from sklearn.model_selection import KFold, check_cv
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from labelrank._arrays import FloatArray, IntArray, canonical
from labelrank._compat import Interval, safe_indexing
from labelrank._memory import require_pair_matrices
from labelrank.auto.candidates import prepared_candidates
from labelrank.auto.choice import Scored, choose, fit_chosen, leaderboard, run_race
from labelrank.auto.costs import costs_to_learn
from labelrank.auto.race import Clock, Data, Race, Result, Split, Trial, noting_interrupts
from labelrank.metrics import get_scorer
from labelrank.rankers.base import BaseRanker, OnEmpty, Progress, Training, warn_interrupted
from labelrank.supervision import PreferenceGraphs, as_graphs, is_graphs
from labelrank.supervision.frames import frame_of, installed

OF_COSTS = ("mean_cost", "neg_mean_cost", "regret", "neg_regret", "closed_gap")


class AutoRanker(BaseRanker):
    """Ensemble of the best rankers for the data, found within a time budget.

    Accepts raw tables with missing values, categories, booleans and text columns, and sparse matrices. Boosted trees,
    forests, linear models (also with quadratic features), kernel ridge regression and nearest neighbors are compared by
    cross-validation, each with the preprocessing that it needs. The held-out scores determine the weights of an
    ensemble, or that the best candidate is used alone.

    Parameters
    ----------
    time_budget : float or None, default=60
        Seconds for ``fit``; running fits are completed. None is unlimited.
    scoring : str or callable, default="kendall_tau"
        Metric to maximize: a name for :func:`labelrank.metrics.get_scorer`, or a scorer.
    candidates : mapping of str to ranker, list of rankers or None, default=None
        Rankers to compare, fast ones first. Rankers get the preprocessing of :func:`labelrank.auto.pipeline_for`;
        pipelines are used unchanged. None is a selection that works for most data.
    ensemble : bool, default=True
        Whether to consider ensembles, or only the best candidate.
    cv : int, cross-validation generator or iterable, default=5
        Number of folds, or a splitter. No row may be in two test folds.
    text_columns : list of column names or indices, optional
        Columns with text; guessed by default, see :func:`labelrank.auto.pipeline_for`.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds and of the candidates.
    n_jobs : int, optional
        Number of models that are fitted in parallel, in threads, or by the joblib backend of ``parallel_config``.
    on_empty : {"warn", "error", "ignore"}, default="warn"
        What to do about rows of `y` without any observed pair, which are not informative.

    Attributes
    ----------
    leaderboard_ : data frame
        A row for each candidate, best first: ``name``, ``mean`` and ``std`` of its results on the folds, the number of
        ``folds``, ``time`` (mean seconds of a fit), ``weight`` in the ensemble, and ``status``, the reason if not all
        folds were used. The data frame library is that of `X`; for arrays polars, or pandas if it is not installed.
    weights_ : dict
        Weight of each candidate in the ensemble; they sum to 1.
    method_ : {"single", "greedy", "stacking", "mean"}
        Method that found the weights.
    fold_scores_ : ndarray of shape (n_folds,)
        Results of the selected model on the folds, with weights from the other folds; only of the first fold if no
        candidate had time for all folds.
    best_score_ : float
        Mean of ``fold_scores_``.
    best_estimator_ : estimator
        The selected model: a candidate with its preprocessing, or a :class:`labelrank.auto.WeightedRanker` of several.
        If there was no time to fit candidates to all rows, the models of their folds are averaged.
    slope_ : float
        Factor that turns a difference of scores into the log odds of a pair, learned from held-out rows.
    labels_ : ndarray of shape (n_labels,)
        Names of the labels.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    labelrank.auto.pipeline_for : The preprocessing.
    labelrank.ConformalRanker : Rankings with a guarantee, also for an AutoRanker.

    Notes
    -----
    All candidates are fitted on the first fold. The other folds follow, best candidate first, as long as the time
    suffices for the candidate and a final fit. With 4000 training rows or more, all candidates are first compared on
    1000 rows, the better half on 4000, and so on, until three are left. Held-out rows are never used in a fit.

    Scores are standardized in each row before they are added. Weights are found by greedy selection with replacement
    and by log-linear ranking with the models as base rankers (stacking), on all folds but one, and compared on the
    other. Stacking is used unless greedy selection or the single best candidate is better by three standard errors.

    If `scoring` is ``"mean_cost"``, ``"regret"`` or ``"closed_gap"``, or a scorer of them with a `cutoff`, and `y` is a
    matrix of costs, the candidates are forests that predict costs and ranking forests trained on pairs weighted by the
    difference of their costs. Their mean replaces stacking, which ignores costs.

    An interrupted ``fit`` (control-C) warns and uses the completed fits. The same `random_state` gives the same model
    if ``time_budget=None``.

    References
    ----------
    Caruana, Niculescu-Mizil, Crew, Ksikes: Ensemble selection from libraries of models. ICML 2004.

    Examples
    --------
    >>> from labelrank import AutoRanker, LogLinearRanker, KNeighborsRanker
    >>> from labelrank.datasets import load_iris_rankings
    >>> X, y = load_iris_rankings(return_X_y=True)
    >>> model = AutoRanker(candidates=[LogLinearRanker(), KNeighborsRanker(5)], random_state=0).fit(X[::2], y[::2])
    >>> print(f"{model.score(X[1::2], y[1::2]):.2f}")
    0.97
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseRanker._parameter_constraints,
        "time_budget": [Interval(Real, 0, None, closed="neither"), None],
        "scoring": [str, callable],
        "candidates": [Mapping, list, tuple, None],
        "ensemble": ["boolean"],
        "cv": ["cv_object"],
        "text_columns": [list, tuple, None],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
    }

    def __init__(
        self,
        time_budget: float | None = 60,
        scoring: Any = "kendall_tau",
        candidates: Any = None,
        ensemble: bool = True,
        cv: Any = 5,
        *,
        text_columns: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        on_empty: OnEmpty = "warn",
    ) -> None:
        self.time_budget = time_budget
        self.scoring = scoring
        self.candidates = candidates
        self.ensemble = ensemble
        self.cv = cv
        self.text_columns = text_columns
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.on_empty = on_empty

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = tags.input_tags.string = True
        tags.non_deterministic = True  # the folds depend on the order of the rows
        return tags

    # --- fit

    def _validate(self, X: Any, y: Any, sample_weight: Any) -> Training:
        checks: dict[str, Any] = {"on_empty": self.on_empty, "skip_check_array": True}
        return Training(*self._validate_fit(_checked(X), y, sample_weight, **checks))

    def _learn(self, data: Training, progress: Progress) -> None:
        clock, rng, frame = Clock(self.time_budget), check_random_state(self.random_state), frame_of(data.X)
        self.frame_library_ = None if frame is None else str(frame.implementation.value)
        scorer = get_scorer(self.scoring) if isinstance(self.scoring, str) else self.scoring
        costs, graphs = costs_to_learn(scorer, progress.y), data.graphs
        if costs is not None:
            graphs = as_graphs(costs)
        models = prepared_candidates(self.candidates, data.X, self.text_columns, rng, costs is not None)
        trials = [Trial(name, model) for name, model in models.items()]
        weight = None if (data.weight == 1).all() else data.weight
        known = Data(data.X, graphs if costs is None else costs, graphs, weight)
        splits, result = self._splits(data, rng), self._result(scorer, progress.y, data.graphs, weight)
        race = Race(trials, known, splits, result, clock, self.n_jobs, lambda: progress.step("model"))
        progress.begin(None)
        with warnings.catch_warnings(), noting_interrupts(race):
            warnings.simplefilter("ignore")  # warnings about small folds; failures are in the leaderboard
            run_race(race)
            choice = choose(race, data.weight, self.ensemble, "stacking" if costs is None else "mean")
            final = fit_chosen(race, choice)
        if race.interrupted:
            warn_interrupted(type(self).__name__, f"{sum(len(trial.results) for trial in trials)} fits")
        self.__dict__.update(final)
        self.leaderboard_columns_ = leaderboard(trials, self.weights_, len(splits))

    def _splits(self, data: Training, rng: Any) -> list[Split]:
        n = len(data.graphs)
        if not isinstance(self.cv, Integral) and self.cv is not None:
            return [(np.arange(n)[train], np.arange(n)[test]) for train, test in check_cv(self.cv).split(data.X)]
        n_folds = min(int(self.cv or 5), n)
        if n_folds < 2:
            return []
        return list(KFold(n_folds, shuffle=True, random_state=rng.randint(2**31 - 1)).split(np.empty(n)))

    def _result(self, scorer: Any, y: Any, graphs: PreferenceGraphs, weight: FloatArray | None) -> Result:
        """Objective to maximize, a function of scores of some rows and the indices of these rows."""
        by_order = isinstance(self.scoring, str) and self.scoring not in OF_COSTS
        if by_order or not hasattr(y, "shape"):
            y = graphs  # metrics of costs need the values of y
        last: list[Any] = [None, None]  # cache: the last rows and their part of y

        def result(scores: FloatArray, rows: IntArray) -> float:
            if rows is not last[0]:
                last[:] = rows, y[rows] if is_graphs(y) else safe_indexing(y, rows)
            params = {} if weight is None else {"sample_weight": weight[rows]}
            return float(scorer(Scored(scores, self.labels_), np.empty((len(rows), 0)), last[1], **params))

        return result

    # --- predict

    def _check_X(self, X: Any) -> Any:
        check_is_fitted(self)
        return validate_data(self, _checked(X), reset=False, skip_check_array=True)

    def decision_function(self, X: Any) -> FloatArray:
        """Scores of the labels by the selected model.

        Parameters
        ----------
        X : data frame, array-like or sparse matrix of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Larger is better.
        """
        X = self._check_X(X)
        return np.asarray(self.best_estimator_.decision_function(X), dtype=np.float64)

    def pairwise_proba(self, X: Any) -> FloatArray:
        """Probability that label i is before label j, calibrated on held-out rows.

        Parameters
        ----------
        X : data frame, array-like or sparse matrix of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        ndarray of shape (n_samples, n_labels, n_labels)
            ``1 / (1 + exp(slope_ * (f_j - f_i)))``; 0.5 on the diagonal.
        """
        scores = self.decision_function(X) * self.slope_
        require_pair_matrices(scores.shape, copies=2)
        return np.asarray(expit(scores[:, :, None] - scores[:, None, :]))

    # --- what was found

    @property
    def leaderboard_(self) -> Any:
        """Results of the candidates as a data frame, best first."""
        check_is_fitted(self)
        library: Any = self.frame_library_ or installed(("polars", "pandas"), "the leaderboard")
        return nw.from_dict(dict(self.leaderboard_columns_), backend=library).to_native()

    def report(self, X: Any = None, y: Any = None) -> Any:
        """Report about the search and, given test data, about the predictions.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features), optional
            Instances that ``fit`` has not seen.
        y : rank matrix or PreferenceGraphs of shape (n_samples, n_labels), optional
            Observed preferences.

        Returns
        -------
        labelrank.report.Report
            The report, which can be saved or displayed.
        """
        from labelrank.report import build_report

        return build_report(self, X, y, leaderboard=self.leaderboard_, random_state=self.random_state)


def _checked(X: Any) -> Any:
    """Convert X to CSR or an array of numbers or objects; data frames are returned unchanged."""
    if frame_of(X) is not None:
        return X
    X = check_array(canonical(X), accept_sparse="csr", dtype=None, ensure_all_finite="allow-nan")
    if X.dtype.kind in "OUS":
        try:
            X = check_array(X, dtype=np.float64, ensure_all_finite="allow-nan")
        except (ValueError, TypeError):
            return X.astype(object)  # strings are categories
    return X
