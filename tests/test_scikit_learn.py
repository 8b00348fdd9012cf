"""Rankers in the tools of scikit-learn: model selection, pipelines, metadata. The contract is in ``tests/testing``."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    RandomizedSearchCV,
    RepeatedKFold,
    ShuffleSplit,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import validate_data

from labelrank import DummyRanker, PreferenceGraphs, RankerMixin, all_rankers, as_graphs
from labelrank.metrics import get_scorer, kendall_tau

NAN = float("nan")
PLAIN = (np.ndarray, int, float, str, bool, BaseEstimator)  # what skops can save


# The checks fit on a handful of rows, and many times.
SMALL = {
    "ConstraintClassificationRanker": {"random_state": 0},
    "ExtraTreesRanker": {"n_estimators": 5, "random_state": 0},
    "GradientBoostingRanker": {"max_iter": 10},
    "KNeighborsRanker": {"n_neighbors": 5},
    "RandomForestRanker": {"n_estimators": 5, "random_state": 0},
    "SoftProjectionRanker": {"random_state": 0},
}


def instances():
    """Every ranker with its defaults or the parameters of `SMALL`, the baseline with each of its strategies."""
    found = [ranker(**SMALL.get(name, {})) for name, ranker in all_rankers().items() if name != "DummyRanker"]
    return found + [DummyRanker(s, random_state=0) for s in ("borda", "copeland", "kemeny", "random")]


N, K = 60, 4


def make_ranks(kind):
    rng = np.random.default_rng(1)
    utilities = np.arange(K) * 0.4 + rng.standard_normal((N, K))
    ranks = np.argsort(np.argsort(-utilities, axis=1), axis=1) + 1.0
    if kind == "ties":
        ranks = np.ceil(ranks / 2)
    if kind == "missing":
        ranks[rng.random(ranks.shape) < 0.25] = NAN
    return ranks


def make_battles():
    """Graphs with cycles and weights: stored as edges, no ranks."""
    rng = np.random.default_rng(2)
    rows, better, worse = [], [], []
    for i in range(N):
        for a in range(K):
            for b in range(a + 1, K):
                if rng.random() < 0.7:
                    first = rng.random() < 0.35
                    rows.append(i)
                    better.append(a if first else b)
                    worse.append(b if first else a)
    weight = rng.integers(1, 4, len(rows))
    return PreferenceGraphs.from_pairs(rows, better, worse, weight, n_instances=N, n_labels=K)


NAMES = ["tea", "milk", "water", "juice"]
TARGETS = {
    "ranks": make_ranks("complete"),
    "ties": make_ranks("ties"),
    "missing": make_ranks("missing"),
    "pandas": pd.DataFrame(make_ranks("missing"), columns=NAMES),
    "polars": pl.DataFrame(make_ranks("missing"), schema=NAMES),
    "levels": PreferenceGraphs.from_rankings(make_ranks("missing"), labels=NAMES),
    "edges": make_battles(),
}
X = np.random.default_rng(0).standard_normal((N, 3))

every_ranker = pytest.mark.parametrize("ranker", instances(), ids=str)
every_target = pytest.mark.parametrize("y", TARGETS.values(), ids=TARGETS.keys())
pytestmark = pytest.mark.filterwarnings("ignore:y has .* without any observed pair:UserWarning")


def take(y, rows):
    """Rows of y by the means of its own kind, not by scikit-learn's."""
    if isinstance(y, PreferenceGraphs):
        return PreferenceGraphs.concatenate([y[int(i)] for i in rows])
    return y.iloc[rows] if isinstance(y, pd.DataFrame) else y[rows]


@pytest.mark.parametrize(
    ("ranker", "y"),
    [
        *(pytest.param(ranker, TARGETS["edges"], id=f"{ranker}-edges") for ranker in instances()),
        *(pytest.param(DummyRanker(), y, id=kind) for kind, y in TARGETS.items()),
    ],
)
def test_cross_val_score_equals_the_loop(ranker, y):
    """Splits work on every kind of y, and the score of every ranker is Kendall's tau."""
    cv = ShuffleSplit(3, random_state=0)
    scores = cross_val_score(ranker, X, y, cv=cv, error_score="raise")
    expected = []
    for train, test in cv.split(X):
        fitted = clone(ranker).fit(X[train], take(y, train))
        expected.append(kendall_tau(take(y, test), fitted.predict(X[test])))
    np.testing.assert_allclose(scores, expected)
    assert np.isfinite(scores).all()


@every_target
def test_grid_search(y):
    search = GridSearchCV(
        make_pipeline(StandardScaler(), DummyRanker(random_state=0)),
        {"dummyranker__strategy": ["random", "borda", "copeland"]},
        cv=KFold(4, shuffle=True, random_state=0),
        error_score="raise",
    ).fit(X, y)
    assert search.best_params_["dummyranker__strategy"] != "random"
    assert search.best_score_ > 0.1
    assert search.predict(X).shape == (N, K)
    assert search.score(X, y) == pytest.approx(kendall_tau(y, search.predict(X)))


@every_target
@pytest.mark.filterwarnings("ignore:disagreement_error leaves out")
def test_other_tools_of_model_selection(y):
    ranker = DummyRanker("random", random_state=0)
    found = cross_validate(
        ranker,
        X,
        y,
        cv=RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
        scoring={"tau": get_scorer("kendall_tau"), "error": get_scorer("disagreement_error")},
        return_train_score=True,
        return_estimator=True,
        error_score="raise",
    )
    # A strict prediction: tau = 1 - 2 * the share of disagreeing edges, unless edges have weights.
    if not (isinstance(y, PreferenceGraphs) and y.weight is not None):
        np.testing.assert_allclose(found["test_tau"], 1 + 2 * found["test_error"], atol=1e-12)
    assert len(found["estimator"]) == 6
    search = RandomizedSearchCV(ranker, {"strategy": ["borda", "kemeny"]}, n_iter=2, cv=3, error_score="raise")
    assert search.fit(X, y).best_score_ > 0.1
    sizes, _, test_scores = learning_curve(DummyRanker(), X, y, cv=3, train_sizes=[0.5, 1.0], error_score="raise")
    assert test_scores.shape == (len(sizes), 3)


@every_target
def test_cross_val_predict_of_ranks(y):
    predicted = cross_val_predict(DummyRanker(), X, y, cv=KFold(3))
    train, test = next(iter(KFold(3).split(X)))
    np.testing.assert_array_equal(predicted[test], DummyRanker().fit(X[train], take(y, train)).predict(X[test]))


@every_ranker
def test_cross_val_predict_of_scores_is_refused(ranker):
    with pytest.raises(AttributeError, match=r'has no classes_.*use method="predict"'):
        cross_val_predict(ranker, X, TARGETS["ranks"], cv=3, method="decision_function")
    with pytest.raises(TypeError, match="PreferenceGraphs are not converted to an array"):
        cross_val_predict(ranker, X, TARGETS["levels"], cv=3, method="decision_function")


def test_with_classes_the_ranks_would_be_encoded():
    """The trap that the missing classes_ guards against; when scikit-learn no longer does this, the guard can go."""
    seen = []

    class Tempted(RankerMixin, BaseEstimator):
        classes_ = np.arange(2)

        def fit(self, X, y):
            seen.append(np.unique(y[~np.isnan(y)]))
            self._validate_fit(X, y)
            return self

        def decision_function(self, X):
            return np.zeros((len(X), 2))

    y = np.array([[10.0, 20.0], [20.0, 10.0], [10.0, NAN], [20.0, 10.0]])
    cross_val_predict(Tempted(), X[:4], y, cv=2, method="decision_function")
    assert set(np.concatenate(seen)) <= {0, 1, 2}  # 10 and 20 have become codes, NaN a code like any other


def test_validate_data_rejects_missing_ranks():
    """Why rankers check y themselves."""
    with pytest.raises(ValueError, match="y contains NaN"):
        validate_data(DummyRanker(), X, TARGETS["missing"], multi_output=True)


@every_ranker
def test_masked_arrays_are_refused(ranker):
    with pytest.raises(TypeError, match=r"y is a masked array.*filled\(np.nan\)"):
        clone(ranker).fit(X, np.ma.masked_invalid(TARGETS["missing"]))


@pytest.mark.parametrize("strategy", ["borda", "copeland", "kemeny"])
@every_target
def test_all_weight_on_one_row(strategy, y):
    """The row that goes most against the trend is what is learned when nothing else has weight."""
    with_pairs = np.flatnonzero(as_graphs(y).edge_counts())
    trend = DummyRanker(strategy).fit(X, y).predict(X[:1])
    tau = [kendall_tau(take(y, [i]), trend) for i in with_pairs]
    row = int(with_pairs[np.argmin(tau)])
    assert min(tau) < 0
    alone = DummyRanker(strategy).fit(X, y, sample_weight=np.arange(N) == row)
    assert kendall_tau(take(y, [row]), alone.predict(X[[row]])) > 0


@every_ranker
def test_fitted_state_is_arrays_and_plain_types(ranker):
    fitted = clone(ranker).fit(X, TARGETS["levels"])
    learned = {name: value for name, value in vars(fitted).items() if name.endswith("_") and name[0] != "_"}
    assert "labels_" in learned
    for name, value in learned.items():
        parts = value if isinstance(value, list) else [value]
        assert all(part is None or isinstance(part, PLAIN) for part in parts), name
    unexpected = set(vars(fitted)) - set(learned) - set(fitted.get_params())
    assert not unexpected, "private state would not be described by the documentation"


@every_ranker
def test_frames_of_features_do_not_change_the_output(ranker):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    fitted = clone(ranker).fit(frame, TARGETS["pandas"])
    assert fitted.feature_names_in_.tolist() == ["a", "b", "c"]
    assert fitted.labels_.tolist() == NAMES
    pipeline = make_pipeline(StandardScaler().set_output(transform="pandas"), clone(ranker)).fit(
        frame, TARGETS["ranks"]
    )
    assert isinstance(pipeline.predict(frame), np.ndarray)
    assert pipeline.score(frame, TARGETS["ranks"]) == pytest.approx(
        kendall_tau(TARGETS["ranks"], pipeline.predict(frame))
    )


@every_ranker
def test_html_representation(ranker):
    assert type(ranker).__name__ in clone(ranker).fit(X, TARGETS["ranks"])._repr_html_()


@every_target
def test_metadata_routing_of_weights(y):
    weight = np.zeros(N)
    weight[::3] = np.random.default_rng(0).integers(1, 5, len(weight[::3]))
    seen = []

    class Spy(DummyRanker):
        def fit(self, X, y, sample_weight=None):
            seen.append(sample_weight)
            return super().fit(X, y, sample_weight)

    with sklearn.config_context(enable_metadata_routing=True):
        ranker = Spy("borda").set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), ranker)
        scores = cross_validate(pipeline, X, y, cv=KFold(3), params={"sample_weight": weight}, error_score="raise")[
            "test_score"
        ]
    expected = []
    for i, (train, test) in enumerate(KFold(3).split(X)):
        np.testing.assert_array_equal(seen[i], weight[train])
        fitted = DummyRanker().fit(X[train], take(y, train), sample_weight=weight[train])
        expected.append(fitted.score(X[test], take(y, test), sample_weight=weight[test]))
    np.testing.assert_allclose(scores, expected)
