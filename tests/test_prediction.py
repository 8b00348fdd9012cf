"""Predictions as data frames."""

import importlib.util

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from labelrank import (
    DecisionTreeRanker,
    LabelCoveringClassifier,
    LogLinearRanker,
    PreferenceGraphs,
    predict_frame,
    ranks_from_scores,
)

NAMES = ["tea", "milk", "cola"]
RNG = np.random.default_rng(0)
DATA = RNG.normal(size=(30, 3))
RANKS = ranks_from_scores(DATA @ RNG.normal(size=(3, 3)))
X, Y = (
    pd.DataFrame(DATA, columns=list("abc"), index=[f"row {i}" for i in range(30)]),
    pd.DataFrame(RANKS, columns=NAMES),
)
RANKER = LogLinearRanker()


@pytest.mark.parametrize(
    "model",
    [
        RANKER,
        make_pipeline(StandardScaler(), RANKER),
        GridSearchCV(make_pipeline(StandardScaler(), RANKER), {"loglinearranker__alpha": [0.1, 1]}, cv=2),
        make_pipeline(StandardScaler(), GridSearchCV(RANKER, {"alpha": [0.1, 1]}, cv=2)),
    ],
    ids=["ranker", "pipeline", "search", "search in a pipeline"],
)
def test_names_and_index_come_out(model):
    model = model.fit(X, Y)
    ranks = model.predict(X)
    for fitted in (model, FrozenEstimator(model)):
        frame = predict_frame(fitted, X)
        assert frame.index.equals(X.index)
        assert frame.columns.tolist() == NAMES
        assert frame.dtypes.unique().tolist() == [np.int64]
        np.testing.assert_array_equal(frame, ranks)
    scores = predict_frame(model, X, kind="scores")
    assert scores.index.equals(X.index)
    np.testing.assert_array_equal(scores[NAMES], model.decision_function(X))
    order = predict_frame(model, X, kind="order")
    assert order.columns.tolist() == ["1", "2", "3"]
    expected = np.array(NAMES)[np.argsort(ranks, axis=1)]
    np.testing.assert_array_equal(order, expected)
    assert predict_frame(model, X, kind="order", k=2).equals(order[["1", "2"]])
    long = predict_frame(model, X, kind="long", k=2)
    assert long.columns.tolist() == ["row", "label", "rank", "score"]
    assert long.index.tolist() == np.repeat(X.index, 2).tolist()
    assert long["row"].tolist() == np.repeat(np.arange(30), 2).tolist()
    assert long["label"].tolist() == expected[:, :2].ravel().tolist()
    assert long["rank"].tolist() == [1, 2] * 30
    first = long[long["rank"] == 1]
    np.testing.assert_array_equal(first["score"], model.decision_function(X).max(axis=1))


def test_the_frame_is_of_the_library_of_x():
    model = LogLinearRanker().fit(pl.from_pandas(X), pl.from_pandas(Y))
    for kind in ("ranks", "order", "scores", "long"):
        assert isinstance(predict_frame(model, pl.from_pandas(X), kind=kind), pl.DataFrame)
    array = LogLinearRanker().fit(DATA, RANKS)
    assert predict_frame(array, pd.DataFrame(DATA)).columns.tolist() == [0, 1, 2]
    for X_test in (DATA, DATA.tolist(), pl.DataFrame(DATA)):
        assert predict_frame(array, X_test).columns == ["0", "1", "2"]
        assert predict_frame(array, X_test, kind="order")["1"].dtype == pl.Int64
        assert predict_frame(array, X_test, kind="long").columns == ["row", "label", "rank", "score"]
    numbered = LogLinearRanker().fit(DATA, pd.DataFrame(RANKS, columns=[7, 42, 1001]))
    assert predict_frame(numbered, pd.DataFrame(DATA)).columns.tolist() == [7, 42, 1001]
    assert predict_frame(numbered, pd.DataFrame(DATA), kind="order")["1"].isin([7, 42, 1001]).all()


def test_a_series_of_texts():
    texts = pd.Series(["tea please", "milk please", "tea tea", "cola"], index=[9, 8, 7, 6])
    ranks = pd.DataFrame({"tea": [1, 2, 1, 2], "milk": [2, 1, 2, 3], "cola": [3, 3, 3, 1]})
    model = make_pipeline(TfidfVectorizer(), LogLinearRanker()).fit(texts, ranks)
    assert predict_frame(model, texts).index.tolist() == [9, 8, 7, 6]
    assert len(predict_frame(model, texts.tolist())) == 4


def test_without_polars_it_is_pandas_and_without_both_an_error(monkeypatch):
    model, find_spec = LogLinearRanker().fit(DATA, Y), importlib.util.find_spec
    missing = {"polars"}
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in missing else find_spec(name))
    assert isinstance(predict_frame(model, DATA), pd.DataFrame)
    missing.add("pandas")
    with pytest.raises(ImportError, match="a data frame of predictions needs polars or pandas; install polars"):
        predict_frame(model, DATA)
    assert isinstance(predict_frame(model, pd.DataFrame(DATA)), pd.DataFrame)


def test_what_is_refused():
    model = DecisionTreeRanker().fit(DATA, Y)
    with pytest.raises(ValueError, match=r'k=2 is for kind="order" and kind="long"'):
        predict_frame(model, DATA, k=2)
    for k in (0, 4):
        with pytest.raises(ValueError, match=f"k must be between 1 and the number of labels, 3, got {k}"):
            predict_frame(model, DATA, kind="order", k=k)
    with pytest.raises(ValueError, match="The 'kind' parameter of predict_frame must be"):
        predict_frame(model, DATA, kind="best")
    with pytest.raises(
        TypeError, match=r"found no labels_ for the predictions of Ridge, which have the shape \(30, 3\)"
    ):
        predict_frame(Ridge().fit(DATA, RANKS), DATA)
    covering = LabelCoveringClassifier().fit(DATA, PreferenceGraphs.from_multilabel(RANKS == 1, labels=NAMES))
    with pytest.raises(TypeError, match='needs a ranker, got LabelCoveringClassifier; use kind="scores"'):
        predict_frame(covering, DATA)
    assert predict_frame(covering, DATA, kind="scores").columns == NAMES


def test_labels_that_are_the_same_as_text_are_not_lost():
    model = LogLinearRanker().fit(DATA, pd.DataFrame(RANKS, columns=[1, "1", "c"]))
    with pytest.raises(ValueError, match=r"not different as text.*rename one of them"):
        predict_frame(model, DATA)
    assert list(predict_frame(model, pd.DataFrame(DATA)).columns) == [1, "1", "c"]
