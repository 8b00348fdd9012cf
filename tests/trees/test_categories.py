"""Missing values and categories of ranking trees, in arrays and in data frames."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from trees.rows_of_trees import NAN, make

from labelrank.trees import DecisionTreeRanker, GradientBoostingRanker


def test_missing_values_that_say_something():
    X = np.r_[np.full(30, NAN), np.linspace(0, 1, 30)][:, None]
    y = np.r_[np.tile([1.0, 2, 3], (30, 1)), np.tile([3.0, 2, 1], (30, 1))]
    tree = DecisionTreeRanker().fit(X, y)
    assert tree.threshold_[0] == np.inf
    assert "x0 is missing" in tree.export_text()
    np.testing.assert_array_equal(tree.predict(X), y)


def test_missing_values_not_seen_in_training_go_with_the_majority():
    X = np.arange(40.0)[:, None]
    y = np.r_[np.tile([1.0, 2], (30, 1)), np.tile([2.0, 1], (10, 1))]
    tree = DecisionTreeRanker().fit(X, y)
    np.testing.assert_array_equal(tree.predict([[NAN]]), [[1, 2]])
    np.testing.assert_array_equal(DecisionTreeRanker().fit(-X, y).predict([[NAN]]), [[1, 2]])


@pytest.mark.parametrize("splitter", ["best", "random"])
def test_categories_are_split_as_indicators_are(splitter):
    rng = np.random.default_rng(0)
    color = rng.integers(0, 4, 120)
    y = np.where((color == 2)[:, None], [1.0, 2, 3], [3.0, 1, 2])
    tree = DecisionTreeRanker(categorical_features=[0], splitter=splitter, random_state=0)
    tree.fit(color[:, None], y)
    np.testing.assert_array_equal(tree.predict(color[:, None]), y)
    if splitter == "best":
        assert tree.get_n_leaves() == 2
        assert tree.threshold_[0] == 2
    np.testing.assert_array_equal(tree.predict([[17.0]]), [[3, 1, 2]])  # never seen: one of the others
    indicators = (color[:, None] == np.arange(4)).astype(float)
    plain = DecisionTreeRanker().fit(indicators, y)
    np.testing.assert_array_equal(plain.predict(indicators), tree.predict(color[:, None]))


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("which", ["from_dtype", ["color"], [0], [True, False]], ids=str)
def test_categories_of_frames(library, which):
    rng = np.random.default_rng(0)
    color = rng.choice(["red", "green", "blue"], 90).tolist()
    color[3] = None
    size = rng.standard_normal(90)
    y = np.where(np.array([c == "green" for c in color])[:, None], [1.0, 2], [2.0, 1])
    if library == "pandas":
        frame = pd.DataFrame({"color": pd.Categorical(color), "size": size})
        other = pd.DataFrame({"color": ["green", "mauve", None], "size": [0.0, 0, 0]})
    else:
        frame = pl.DataFrame({"color": pl.Series(color, dtype=pl.Categorical), "size": size})
        other = pl.DataFrame({"color": ["green", "mauve", None], "size": [0.0, 0, 0]})
    tree = DecisionTreeRanker(categorical_features=which).fit(frame, y)
    assert tree.is_categorical_.tolist() == [True, False]
    assert tree.feature_names_in_.tolist() == ["color", "size"]
    assert "color = green" in tree.export_text()
    np.testing.assert_array_equal(tree.predict(frame), y)
    np.testing.assert_array_equal(tree.predict(other), [[1, 2], [2, 1], [2, 1]])
    with pytest.raises(ValueError, match="fitted on a data frame with categories"):
        tree.predict(np.zeros((2, 2)))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(tree)).predict(frame), y)


def test_frames_with_numbered_columns_another_index_and_nulls():
    color = np.random.default_rng(0).choice(["red", "green", "blue"], 60)
    y = np.where((color == "green")[:, None], [1.0, 2], [2.0, 1])
    size = pd.array([None if i % 7 == 0 else i for i in range(60)], dtype="Int64")
    frame = pd.DataFrame({0: color, 1: size}, index=np.arange(60)[::-1] * 3)
    tree = DecisionTreeRanker(categorical_features=[0]).fit(frame, y)
    np.testing.assert_array_equal(tree.predict(frame), y)
    assert tree.had_missing_.tolist() == [False, True]
    named = frame.set_axis(["color", "size"], axis=1)
    tree = DecisionTreeRanker(categorical_features=["color"]).fit(named, y)
    with pytest.raises(ValueError, match="feature names should match"):
        tree.predict(named[["size", "color"]])


@pytest.mark.parametrize(
    ("which", "message"),
    [
        ("color", "categorical_features"),
        (["color"], "'color', which is not a column of X"),
        ([5], "has the entry 5; expected names or indices of the 3 features"),
        ([True], "is a mask of 1 features, but X has 3"),
    ],
)
def test_categories_that_are_not_there(which, message):
    with pytest.raises(ValueError, match=message):
        DecisionTreeRanker(categorical_features=which).fit(*make())


@pytest.mark.parametrize("library", [pd, pl])
@pytest.mark.parametrize("declared", [None, ["shape"], "from_dtype"])
def test_strings_that_are_not_declared(library, declared):
    frame = library.DataFrame({"size": [1.0, 2.0], "color": ["red", "blue"], "shape": ["round", "square"]})
    with pytest.raises(ValueError, match=r"the column 'color' of X is not numeric .* name it in categorical_features"):
        DecisionTreeRanker(categorical_features=declared).fit(frame, [[1, 2], [2, 1]])
    with pytest.raises(ValueError, match=r"X is not numeric .*; if X has categories, pass a data frame"):
        DecisionTreeRanker().fit(np.array([[1.0, "red"], [2.0, "blue"]], dtype=object), [[1, 2], [2, 1]])


@pytest.mark.parametrize("learner", [DecisionTreeRanker(), GradientBoostingRanker()])
def test_categories_of_pandas_that_are_not_declared(learner):
    X = pd.DataFrame({"color": pd.Categorical(list("abab")), "count": pd.array([1, 2, 3, 4], dtype="Int64")})
    with pytest.raises(ValueError, match="the column 'color' of X is not numeric"):
        learner.set_params(categorical_features=None).fit(X, [[1, 2]] * 4)


def test_a_warm_start_without_trees_has_no_categories():
    """A frame with the same columns, which are numbers now, after a fit that had nothing to learn from."""
    rng = np.random.default_rng(0)
    numbers = pd.DataFrame({"x": rng.normal(size=80)})
    y = np.where(numbers[["x"]] > 0, [[1, 2]], [[2, 1]])
    model = GradientBoostingRanker(max_iter=5, warm_start=True, on_empty="ignore")
    model.fit(pd.DataFrame({"x": pd.Categorical(["a", "b"] * 40)}), np.full((80, 2), np.nan))
    assert model.fit(numbers, y).score(numbers, y) > 0.9
