"""Every learner and every way to fail: after a failed fit an estimator is, byte for byte, what it was before."""

import importlib
import inspect
import pickle
import pkgutil
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.utils import get_tags

import labelrank
import labelrank.features
from labelrank import PreferenceGraphs, RankRLS
from labelrank.rankers.items import ItemRanker
from labelrank.solvers import SoftProjection
from labelrank.testing.problems import N_SAMPLES, features, rankings

X, RANKS = features(), rankings("missing")
WIDE = np.hstack([X, X])  # of another model: with more features, other labels
GROUPS = np.repeat(np.arange(12), 5)
LINEAR = labelrank.LogLinearRanker(max_iter=5)
FAST = {"n_estimators": 2, "max_iter": 5, "n_basis": 7, "candidates": {"linear": LINEAR}, "random_state": 0}


def learners():
    """All public estimators of the package that learn from X and y."""
    for module in pkgutil.walk_packages(labelrank.__path__, "labelrank."):
        if module.name.split(".")[1] in {"_kernels", "cli", "__main__", "testing", "plots", "dask", "torch"}:
            continue
        for name, found in vars(importlib.import_module(module.name)).items():
            here = inspect.isclass(found) and issubclass(found, BaseEstimator) and found.__module__ == module.name
            is_public = hasattr(labelrank, name) or hasattr(labelrank.features, name)
            if (
                here
                and is_public
                and not name.startswith("Base")
                and {"X", "y"} <= set(inspect.signature(found.fit).parameters)
            ):
                try:
                    model = found()
                except TypeError:  # a meta-estimator
                    model = found(LINEAR)
                yield model.set_params(**{key: FAST[key] for key in FAST.keys() & model.get_params().keys()})


def boom(*args, **kwargs):
    raise RuntimeError("raised by a function of the user")


class FailingClassifier(LogisticRegression):
    def fit(self, X, y, sample_weight=None):
        raise RuntimeError("raised by a classifier of the user")


class FailingCallback:
    """Fails at an event of a fit."""

    def __init__(self, event, error=RuntimeError):
        self.event, self.error = event, error

    def _raise(self, event):
        if event == self.event:
            raise self.error(f"raised by a callback at {event}")

    def setup(self, estimator, context):
        self.steps = 0
        self._raise("setup")

    def on_fit_task_begin(self, estimator, context, **kwargs):
        self._raise("begin" if context.parent is None else "begin of a step")

    def on_fit_task_end(self, estimator, context, **kwargs):
        self.steps += context.parent is not None
        self._raise("end" if context.parent is None else f"step {self.steps}")
        return False

    def teardown(self, estimator, context):
        pass


def arguments(model, data=X, labels=4):
    """What `fit` takes, for a model of its kind."""
    if isinstance(model, ItemRanker):
        return {"X": data, "y": np.nan_to_num(RANKS[:, 0], nan=2.5), "groups": GROUPS}
    ranks = RANKS[:, :labels]
    if get_tags(model).estimator_type == "ranker" and not isinstance(model, labelrank.CalibratedRanker):
        return {"X": data, "y": PreferenceGraphs.from_rankings(ranks, labels=list("abcd")[:labels])}
    relevant = (np.nan_to_num(ranks, nan=9) <= 2).astype(int)
    return {"X": data, "y": PreferenceGraphs.from_multilabel(relevant)}


def failures(model):
    """Ways to fail: what was wrong, and the arguments of `fit`, with parameters and a callback beside them."""
    good = arguments(model) if getattr(model, "warm_start", False) else arguments(model, WIDE, 3)
    y, n = good["y"], N_SAMPLES
    bad = {
        "X infinite": {"X": np.where(WIDE > 3.9, np.inf, WIDE)},
        "X missing": {"X": np.where(WIDE > 3.9, np.nan, WIDE)},
        "X of words": {"X": np.full(WIDE.shape, "word")},
        "X complex": {"X": WIDE * 1j},
        "X flat": {"X": WIDE[:, 0]},
        "X empty": {"X": WIDE[:0]},
        "X without columns": {"X": WIDE[:, :0]},
        "X with another length": {"X": WIDE[:-1]},
        "X None": {"X": None},
        "X an object": {"X": object()},
        "y None": {"y": None},
        "y too short": {"y": y[:5]},
        "y of words": {"y": np.full((n, 3), "word")},
        "y infinite": {"y": np.full((n, 3), np.inf)},
        "y three-dimensional": {"y": np.zeros((n, 3, 2))},
        "y an object": {"y": object()},
    }
    if "sample_weight" in inspect.signature(model.fit).parameters:
        for what, weight in {
            "negative": -np.ones(n),
            "missing": np.full(n, np.nan),
            "infinite": np.full(n, np.inf),
            "too short": np.ones(n - 1),
            "two-dimensional": np.ones((n, 2)),
            "of words": np.full(n, "word"),
            "zero": np.zeros(n),
        }.items():
            bad[f"weights {what}"] = {"sample_weight": weight}
    if isinstance(model, ItemRanker):
        bad["groups too short"] = {"groups": GROUPS[:-1]}
        bad["groups missing"] = {"groups": np.where(GROUPS == 3, np.nan, GROUPS)}
        bad["groups unhashable"] = {"groups": [[g] for g in GROUPS]}
        bad["groups a name"] = {"groups": "a"}
    found = {what: (good | change, {}, None) for what, change in bad.items()}
    params = model.get_params(deep=False)
    for name, constraint in getattr(model, "_parameter_constraints", {}).items():
        if constraint != "no_validation" and name in params:
            found[f"parameter {name}"] = (good, {name: type("BadValue", (), {})()}, None)
    own = {"kernel": boom, "decomposition": boom, "covering": boom, "metric": boom, "estimator": FailingClassifier()}
    for name in own.keys() & params.keys():
        if not isinstance(model, ItemRanker) or name == "kernel":
            found[f"own {name}"] = (good, {name: own[name]}, None)
    if isinstance(model, labelrank.RankRLSCV):
        found["kernel of the estimator"] = (good, {"estimator": RankRLS(kernel=boom)}, None)
        found["all alphas too small"] = (good, {"alphas": [1e-300]}, None)
        found["splitter"] = (good, {"cv": 1000}, None)
    if hasattr(model, "set_callbacks"):
        for event in ("setup", "begin", "begin of a step", "step 1", "step 2", "end"):
            found[f"callback at {event}"] = (good, {}, FailingCallback(event))
        found["control-C at begin"] = (good, {}, FailingCallback("begin", KeyboardInterrupt))
        found["no memory at the end"] = (good, {}, FailingCallback("end", MemoryError))
    return found


def failed_fit(model, kwargs, params, callback):
    """Fit and return the error, None if there is none; the parameters and callbacks of the model stay as they were."""
    before = model.get_params(deep=False)
    if hasattr(model, "set_callbacks"):
        model.set_callbacks(*[callback] * (callback is not None))
    try:
        for name, value in params.items():
            setattr(model, name, value)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(**kwargs)
    except BaseException as error:
        return error
    finally:
        for name in params:
            setattr(model, name, before[name])
        if hasattr(model, "set_callbacks"):
            model.set_callbacks()
    return None


def state(model):
    return {name: pickle.dumps(value) for name, value in vars(model).items() if name != "_skl_callbacks"}


VARIANTS = [
    *learners(),
    labelrank.SoftProjectionRanker(kernel="rbf", max_iter=5, random_state=0),
    labelrank.KernelRidgeRanker(kernel="rbf"),
    labelrank.LogLinearRanker(solver="boosting", max_iter=5),
    labelrank.LabelCoveringClassifier(solver="boosting", templates="sequential", alpha=0, max_iter=5),
    labelrank.GraphRanker("soft_margin", solver=SoftProjection(random_state=0), max_iter=5),
    labelrank.RankRLS(kernel="rbf", n_basis=7, random_state=0),
    labelrank.RankRLSCV([0.1, 1.0], {"gamma": [0.1, 1.0]}, RankRLS(kernel="rbf"), cv=3),
]
every_learner = pytest.mark.parametrize("model", VARIANTS, ids=str)


@every_learner
def test_a_failed_fit_changes_nothing(model):
    method = "predict" if hasattr(model, "predict") else "transform"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = clone(model).fit(**arguments(model))
    predicted = getattr(fitted, method)(X)
    before = state(fitted)  # after a prediction, since trees of scikit-learn count their queries
    n_failed = 0
    for what, (kwargs, params, callback) in failures(model).items():
        error = failed_fit(fitted, kwargs, params, callback)
        if error is None:  # not every learner has steps, or looks at X
            fitted = clone(model).fit(**arguments(model))
            getattr(fitted, method)(X)
            before = state(fitted)
            continue
        n_failed += 1
        assert state(fitted) == before, f"a fit that failed because of {what} ({error!r}) has changed the model"
        fresh = clone(model)
        assert failed_fit(fresh, kwargs, params, callback) is not None, what
        if get_tags(model).requires_fit:
            with pytest.raises(NotFittedError):
                getattr(fresh, method)(X)
        assert state(fresh) == state(clone(model)), f"a first fit that failed because of {what} has left something"
    np.testing.assert_array_equal(getattr(fitted, method)(X), predicted)
    assert n_failed >= 9


@every_learner
def test_a_warning_that_is_an_error_changes_nothing(model):
    """Warnings come last, when the model is complete, or first, when nothing of it is there."""
    kwargs = arguments(model, WIDE, 3)
    if "max_iter" in model.get_params():
        model = clone(model).set_params(max_iter=1, tol=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = clone(model).fit(**arguments(model))
        silent = clone(model).fit(**kwargs)
    before = state(fitted)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            clone(model).fit(**kwargs)
        except UserWarning:
            with pytest.raises(UserWarning):
                fitted.fit(**kwargs)
            assert state(fitted) == before
        else:
            assert state(fitted.fit(**kwargs)).keys() == state(silent).keys()


def test_a_failed_partial_fit_changes_nothing():
    model = labelrank.SoftProjectionRanker().partial_fit(X, RANKS)
    before = state(model)
    for kwargs in ({"X": WIDE, "y": RANKS}, {"X": X, "y": RANKS[:, :3]}, {"X": X, "y": RANKS[:5]}, {"X": None, "y": 1}):
        with pytest.raises((ValueError, TypeError)):
            model.partial_fit(**kwargs)
        assert state(model) == before
        fresh = labelrank.SoftProjectionRanker()
        with pytest.raises((ValueError, TypeError)):
            fresh.partial_fit(kwargs["X"], None)
        assert state(fresh) == state(labelrank.SoftProjectionRanker())
