"""Pipelines for raw instances: every kind of column goes in, for every kind of ranker, and comes out of a file."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from labelrank import (
    DummyRanker,
    GradientBoostingRanker,
    KernelRidgeRanker,
    KNeighborsRanker,
    LogLinearRanker,
    RandomForestRanker,
)
from labelrank.auto import MissingAsNaN, TextVectorizer, pipeline_for
from labelrank.auto.preprocessing import column_kinds

RANKERS = [
    LogLinearRanker(),
    KNeighborsRanker(5),
    KernelRidgeRanker(kernel="rbf"),
    GradientBoostingRanker(max_iter=3),
    RandomForestRanker(n_estimators=3, random_state=0),
    DummyRanker(),
]
WORDS = ["printer", "fire", "mail", "network", "password", "screen", "paper"]


def frame(n=40):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "number": rng.normal(size=n),
            "count": pd.array(rng.integers(0, 5, n), dtype="Int64"),
            "flag": rng.random(n) > 0.5,
            "maybe": pd.array(rng.random(n) > 0.5, dtype="boolean"),
            "city": rng.choice(["Ulm", "Bonn", "Kiel"], n).astype(object),
            "kind": pd.Categorical(rng.choice(["a", "b"], n)),
            "ticket": [" ".join(rng.choice(WORDS, 5)) for _ in range(n)],
        }
    )
    X.loc[3, X.columns != "flag"] = None
    X.loc[10:20, ["number", "city"]] = None
    y = np.argsort(rng.normal(size=(n, 3)), axis=1) + 1.0
    return X, y


def in_polars(X):
    columns = {name: [None if pd.isna(v) else v for v in X[name].tolist()] for name in X}
    return pl.DataFrame(columns).with_columns(pl.col("kind").cast(pl.Categorical))


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
def test_frames_of_two_libraries_give_the_same_scores(ranker):
    X, y = frame()
    for columns in (list(X), [name for name in X if name != "ticket"]):
        frames = X[columns], in_polars(X[columns])
        found = [pipeline_for(ranker, Z).fit(Z, y).decision_function(Z[:7]) for Z in frames]
        np.testing.assert_allclose(found[0], found[1], atol=1e-9)


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
def test_missing_strings_are_alike(ranker):
    X, y = frame()
    city = X["city"]
    frames = [X.assign(city=city.astype(dtype)) for dtype in ("string", "category")]
    frames += [X.assign(city=city.where(city.notna(), missing)) for missing in (None, np.nan, pd.NA)]
    model = pipeline_for(ranker, frames[0]).fit(frames[0], y)
    for Z in frames:
        for fitted in (model, pipeline_for(ranker, Z).fit(Z, y)):
            np.testing.assert_allclose(fitted.decision_function(Z), model.decision_function(frames[0]), atol=1e-9)


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
def test_arrays_sparse_matrices_and_objects(ranker):
    X, y = frame()
    numbers, thin = X[["number", "flag"]].to_numpy(np.float64), sparse.random(len(X), 6, 0.5, "csr", rng=0)
    for Z in (numbers, np.nan_to_num(numbers), thin, X[["number", "city", "ticket"]].to_numpy(object)):
        model = pipeline_for(ranker, Z).fit(Z, y)
        assert model.predict(Z[:4]).shape == (4, 3)


def test_trees_take_frames_as_they_are_and_others_are_prepared():
    X, _ = frame()
    X = X.drop(columns="ticket")
    ranker = GradientBoostingRanker(max_iter=3)
    trees = pipeline_for(ranker, X)
    assert type(trees) is GradientBoostingRanker
    assert trees.categorical_features == ["city", "kind"]
    assert ranker.categorical_features == "from_dtype"
    assert type(pipeline_for(ranker, np.eye(3))) is GradientBoostingRanker
    assert type(pipeline_for(LogLinearRanker(), np.eye(3))[0]) is StandardScaler


def test_missing_values_and_categories_that_only_predictions_have():
    X, y = frame()
    known = X.dropna().reset_index(drop=True)
    new = X[2:5].assign(city="Jena")
    for ranker in RANKERS:
        model = pipeline_for(ranker, known).fit(known, y[: len(known)])
        assert np.isfinite(model.decision_function(new)).all()


def test_a_column_that_is_missing_altogether():
    X, y = frame()
    X = X[["number", "flag"]].assign(nothing=np.nan)
    assert pipeline_for(LogLinearRanker(), X).fit(X, y).predict(X).shape == y.shape


def test_steps_of_a_pipeline_follow_the_preparation():
    X, _ = frame()
    model = pipeline_for(make_pipeline(PolynomialFeatures(), LogLinearRanker()), X)
    assert isinstance(model, Pipeline)
    assert [name for name, _ in model.steps] == ["columntransformer", "polynomialfeatures", "loglinearranker"]


def test_text_is_found_or_named():
    X, _ = frame()
    assert column_kinds(X)[0]["ticket"] == "text"
    assert column_kinds(X, [])[0]["ticket"] == "category"
    assert column_kinds(X, ["city"])[0] == {
        "number": "number",
        "count": "number",
        "flag": "number",
        "maybe": "number",
        "city": "text",
        "kind": "category",
        "ticket": "category",
    }
    names = pd.DataFrame(
        {"id": [f"user {i}" for i in range(30)], "long": ["one of a few kinds", "the other kind"] * 15}
    )
    assert set(column_kinds(names)[0].values()) == {"category"}


def test_words_of_the_text_are_learned_from():
    rng = np.random.default_rng(1)
    fire = rng.random(60) > 0.5
    X = pd.DataFrame({"ticket": [" ".join([*rng.choice(WORDS[2:], 6), "fire" if f else "jam"]) for f in fire]})
    y = np.where(fire[:, np.newaxis], [[1, 2, 3]], [[3, 2, 1]])
    for ranker in (LogLinearRanker(alpha=0.01), GradientBoostingRanker(max_iter=20)):
        assert pipeline_for(ranker, X[:40]).fit(X[:40], y[:40]).score(X[40:], y[40:]) == 1.0


@pytest.mark.parametrize(
    ("X", "text_columns", "message"),
    [
        (pd.DataFrame({"a": [1]}), ["b"], "text_columns has 'b', which is not a column of X"),
        (pd.DataFrame({"a": [1]}), "a", "must be a list of columns"),
        (sparse.eye_array(3, format="csr"), [0], "sparse matrix"),
        (pd.DataFrame({"day": pd.to_datetime(["2020-01-01"])}), None, "the column 'day' of X has the type Datetime"),
        (
            pd.DataFrame({"size": [1, None, "XL"]}),
            None,
            "the column 'size' of X has strings.*'XL' and 1",
        ),
        (np.array([[1, 2], [3, "XL"]], dtype=object), None, "the column 1 of X has strings and other values"),
        (np.ones(3), None, "two dimensions"),
    ],
)
def test_errors_name_the_column(X, text_columns, message):
    with pytest.raises(ValueError, match=message):
        pipeline_for(LogLinearRanker(), X, text_columns=text_columns)


def test_missing_documents_are_empty():
    found = TextVectorizer().fit_transform(["mail mail", None, np.nan, pd.NA, 12])
    assert found.toarray()[1:4].sum() == 0


@pytest.mark.parametrize("X", [["a", None], np.array(["a"]), pd.Series(["a"]), 3])
def test_categories_are_in_columns(X):
    with pytest.raises(ValueError, match=r"Expected (2D array|a 2-dimensional container)"):
        MissingAsNaN().fit(X)
