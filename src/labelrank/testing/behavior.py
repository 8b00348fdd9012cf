"""Checks of rankers as estimators of scikit-learn."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

from labelrank.supervision import PreferenceGraphs
from labelrank.testing.contract import agree, clause, expect, fitted, is_deterministic, quiet, raises, refitted
from labelrank.testing.problems import N_LABELS, N_SAMPLES, features, rankings, supervision


@clause
def check_tags(estimator: Any) -> None:
    """The estimator is a ranker: neither classifier nor regressor, without classes."""
    tags = get_tags(estimator)
    kind = tags.estimator_type
    expect(kind == "ranker", f"the estimator_type must be 'ranker', not {kind!r}")
    expect(tags.target_tags.required, "its tags must say that it requires y")
    expect(not is_classifier(estimator) and not is_regressor(estimator), "it must not be a classifier or regressor")
    model = fitted(estimator, features(), rankings(), "complete ranks")
    expect(not hasattr(model, "classes_"), "it must not have classes_; the names of the labels are labels_")


@clause
def check_not_fitted(estimator: Any) -> None:
    """Predictions before ``fit`` raise NotFittedError."""
    for method in ("predict", "decision_function", "pairwise_proba", "confidence"):
        if hasattr(estimator, method):
            error = raises(getattr(clone(estimator), method), features())
            expected = f"{method} must raise NotFittedError before fit"
            expect(isinstance(error, NotFittedError), f"{expected}, not {error!r}")


@clause
def check_pickle_and_clone(estimator: Any) -> None:
    """A pickled model predicts the same; a clone has the parameters and no model."""
    X = features()
    model = fitted(estimator, X, rankings("missing"), "ranks with missing labels")
    copy = pickle.loads(pickle.dumps(model))
    expect(np.array_equal(copy.predict(X), model.predict(X)), "it must predict the same after pickling")
    expect(list(copy.labels_) == list(model.labels_), "it must keep labels_ in a pickle")
    expect(not hasattr(clone(model), "labels_"), "a clone must not be fitted")
    expect(str(clone(model).get_params()) == str(estimator.get_params()), "fit must not change the parameters")


class _Callback:
    """A callback that counts the tasks that begin and end, and raises an error when the given task ends."""

    def __init__(self, error: type[BaseException] | None = None, *, at: int = 1, subtasks: bool = False) -> None:
        self.error, self.at, self.subtasks = error, at, subtasks
        self.began = self.ended = 0

    def setup(self, estimator: Any, context: Any) -> None:
        pass

    def teardown(self, estimator: Any, context: Any) -> None:
        pass

    def on_fit_task_begin(self, estimator: Any, context: Any, **kwargs: Any) -> None:
        self.began += self._counts(context)

    def on_fit_task_end(self, estimator: Any, context: Any, **kwargs: Any) -> bool:
        self.ended += self._counts(context)
        if self.error is not None and self._counts(context) and self.ended == self.at:
            raise self.error("raised by a callback")
        return False

    def _counts(self, context: Any) -> bool:
        return not self.subtasks or context.parent is not None


@clause
def check_refit(estimator: Any) -> None:
    """A second fit replaces the first one; if it fails, the model does not change."""
    X, y = features(), rankings("missing")
    if getattr(estimator, "warm_start", False):
        estimator = clone(estimator).set_params(warm_start=False)
    model = fitted(estimator, X, y, "ranks with missing labels")
    before = model.predict(X)
    wide = np.hstack([X, X])
    other = PreferenceGraphs.from_rankings(rankings()[:, :3], labels=["red", "green", "blue"])
    failures: dict[str, dict[str, Any]] = {
        "y with too few rows": {"X": wide, "y": other[:5]},
        "negative weights": {"X": wide, "y": other, "sample_weight": -np.ones(N_SAMPLES)},
    }
    if not get_tags(estimator).no_validation:
        failures["infinite values in X"] = {"X": np.where(wide > 3, np.inf, wide), "y": other}
    if hasattr(model, "set_callbacks"):
        failures["a callback that fails"] = {"X": wide, "y": other}
    for what, arguments in failures.items():
        if what == "a callback that fails":
            model.set_callbacks(_Callback(RuntimeError))
        error = raises(model.fit, **arguments)
        expect(error is not None, f"fit must raise an error because of {what}")
        as_before = f"it must predict as before a fit that failed because of {what}"
        error = raises(model.predict, X)
        expect(error is None, f"{as_before}, but raises {error!r}")
        expect(np.array_equal(model.predict(X), before), as_before)
        expect(list(model.labels_) == list(range(N_LABELS)), f"{as_before}, with the same labels_")
    if hasattr(model, "set_callbacks"):
        model.set_callbacks()
    again = refitted(model, wide, other, "other data in a second fit")
    fresh = fitted(estimator, wide, other, "graphs of rankings")
    expect(
        not is_deterministic(estimator) or agree(again.decision_function(wide), fresh.decision_function(wide)),
        "it must forget the first fit in a second one",
    )
    expect(list(again.labels_) == list(fresh.labels_), "labels_ must be those of the last fit")


@clause
def check_parameters(estimator: Any) -> None:
    """A bad value of a constrained parameter raises an error that names the parameter."""
    X, y = features(), rankings()
    constraints = getattr(estimator, "_parameter_constraints", {})
    for parameter in estimator.get_params(deep=False):
        if parameter not in constraints or constraints[parameter] == "no_validation":
            continue
        bad = clone(estimator)
        setattr(bad, parameter, type("BadValue", (), {})())
        error = raises(bad.fit, X, y)
        expect(
            isinstance(error, (ValueError, TypeError)) and parameter in str(error),
            f"fit must raise an error that names {parameter} if its value is not allowed, not {error!r}",
        )


@clause
def check_inputs_unchanged(estimator: Any) -> None:
    """Neither ``fit`` nor ``predict`` modifies its arguments."""
    X = features()
    for what, y in supervision().items():
        weight = np.ones(N_SAMPLES)
        kept = [pickle.dumps(value) for value in (X, y, weight)]
        model = fitted(estimator, X, y, what, sample_weight=weight)
        with quiet():
            model.predict(X)
        for argument, value, before in zip(("X", "y", "sample_weight"), (X, y, weight), kept, strict=True):
            expect(pickle.dumps(value) == before, f"it must not modify {argument}, but does for {what}")


@clause
def check_n_features(estimator: Any) -> None:
    """A number of features that differs from ``fit`` raises ValueError."""
    if get_tags(estimator).no_validation:
        return
    X = features()
    model = fitted(estimator, X, rankings(), "complete ranks")
    for method in ("predict", "decision_function", "pairwise_proba", "confidence"):
        if hasattr(model, method):
            error = raises(getattr(model, method), X[:, 1:])
            expected = f"{method} must raise ValueError for X with one column too few"
            expect(isinstance(error, ValueError), f"{expected}, not {error!r}")


@clause
def check_callbacks(estimator: Any) -> None:
    """Callbacks are called when the fit, and each task of it, begins and ends; they do not change the model."""
    if not hasattr(estimator, "set_callbacks"):
        return
    X, y = features(), rankings()
    recorder = _Callback()
    watched = refitted(clone(estimator).set_callbacks(recorder), X, y, "complete ranks with a callback")
    expect(recorder.began > 0, "fit must call the callbacks that are set")
    expect(
        recorder.began == recorder.ended,
        f"fit must end every task that it begins; callbacks saw {recorder.began} begin and {recorder.ended} end",
    )
    alone = fitted(estimator, X, y, "complete ranks")
    expect(
        not is_deterministic(estimator) or agree(alone.decision_function(X), watched.decision_function(X)),
        "it must learn the same with and without callbacks",
    )


@clause
def check_interruption(estimator: Any) -> None:
    """A fit that is interrupted after some of its tasks keeps what was learned, and warns."""
    if not hasattr(estimator, "set_callbacks"):
        return
    X, y = features(), rankings()
    interrupting = _Callback(KeyboardInterrupt, at=2, subtasks=True)
    model = clone(estimator).set_callbacks(interrupting)
    kept = True
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(X, y)
        except KeyboardInterrupt:
            kept = False
    if interrupting.ended < interrupting.at:
        return  # fit has fewer tasks
    expect(kept, "fit must keep what it has learned if it is interrupted (control-C) after its second task")
    warned = any("interrupted" in str(warning.message) for warning in caught)
    expect(warned, "fit must warn that it was interrupted")
    error = raises(model.predict, X)
    expect(error is None, f"it must predict after an interrupted fit, but raises {error!r}")


@clause
def check_scikit_learn(estimator: Any) -> None:
    """The checks of scikit-learn hold."""
    with quiet():
        results = check_estimator(estimator, on_skip=None, on_fail=None)
    for result in results:
        expect(
            result["status"] != "failed",
            f"it fails {result['check_name']} of scikit-learn: {result['exception']!r}",
        )


CHECKS = (
    check_tags,
    check_not_fitted,
    check_pickle_and_clone,
    check_refit,
    check_parameters,
    check_inputs_unchanged,
    check_n_features,
    check_callbacks,
    check_interruption,
    check_scikit_learn,
)
