from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from labelrank.datasets import rankings_from_classification, rankings_from_table


def test_ranks_follow_the_posteriors():
    X, y = load_iris(return_X_y=True)
    bunch = rankings_from_classification(X, np.array(["c", "a", "b"])[y])
    posterior = GaussianNB().fit(X, y).predict_joint_log_proba(X)[:, [1, 2, 0]]  # columns a, b, c
    rows = np.arange(len(X))[:, None]
    in_order = posterior[rows, np.argsort(bunch.target, axis=1)]
    assert (np.diff(in_order, axis=1) <= 0).all()
    assert bunch.label_names.tolist() == ["a", "b", "c"]
    assert bunch.feature_names == ["x0", "x1", "x2", "x3"]
    assert bunch.data is X
    assert "GaussianNB" in bunch.DESCR


def test_underflow_does_not_tie():
    X, y = load_digits(return_X_y=True)
    posterior = GaussianNB().fit(X, y).predict_proba(X)
    assert (posterior == 0).any()  # the case in question
    target = rankings_from_classification(X, y).target
    np.testing.assert_array_equal(np.sort(target, axis=1), np.tile(np.arange(1, 11), (len(X), 1)))
    # The labels whose probability is zero are not left in class order.
    zero = posterior == 0
    row = np.flatnonzero(zero.sum(axis=1) >= 4)
    ranks = [target[i, zero[i]] for i in row]
    assert any((np.diff(r) < 0).any() for r in ranks)


def test_exact_ties_by_class():
    X = np.zeros((6, 1))
    bunch = rankings_from_classification(X, [2, 1, 0, 2, 1, 0], estimator=DecisionTreeClassifier())
    np.testing.assert_array_equal(bunch.target, np.tile([1, 2, 3], (6, 1)))


def test_other_estimators_are_cloned():
    X, y = load_digits(return_X_y=True)
    estimator = MultinomialNB()
    bunch = rankings_from_classification(pd.DataFrame(X[:200]).add_prefix("p"), y[:200], estimator=estimator)
    assert not hasattr(estimator, "classes_")
    assert bunch.feature_names[:2] == ["p0", "p1"]


def test_bad_classification_input():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(TypeError, match="LinearSVC has none of them"):
        rankings_from_classification(X, y, estimator=LinearSVC())
    with pytest.raises(ValueError, match="vector of classes"):
        rankings_from_classification(X, np.ones((150, 2)))
    with pytest.raises(ValueError, match=r"[Uu]nknown label type"):
        rankings_from_classification(X, X[:, 0])


TABLE = {
    "city": ["a", "b", "a", None],
    "p": [1.0, 2.0, 3.0, 4.0],
    "q": [40, 30, 20, 10],
    "r": [0.5, 0.5, 0.5, None],
}


def reference(columns):
    z = (columns - np.nanmean(columns, axis=0)) / np.where(
        np.nanstd(columns, axis=0) > 0, np.nanstd(columns, axis=0), 1
    )
    ranks = np.array([[1 + np.sum(row > value) for value in row] for row in z], dtype=float)
    ranks[np.isnan(z)] = np.nan
    return ranks


@pytest.mark.parametrize("frame", [pl.DataFrame, pd.DataFrame])
def test_table(frame):
    bunch = rankings_from_table(frame(TABLE), ["q", "p", "r"])
    expected = reference(np.array([[40, 1, 0.5], [30, 2, 0.5], [20, 3, 0.5], [10, 4, np.nan]]))
    np.testing.assert_array_equal(bunch.target, expected)
    assert bunch.label_names.tolist() == ["q", "p", "r"]
    assert bunch.feature_names == ["city=a", "city=b"]
    np.testing.assert_array_equal(bunch.data, [[1, 0], [0, 1], [1, 0], [np.nan, np.nan]])


def test_table_reversed_and_matrix():
    rng = np.random.RandomState(0)
    matrix = rng.standard_normal((30, 6)) * [1, 10, 100, 1, 1, 1] + [0, 5, 1000, 0, 0, 0]
    up = rankings_from_table(matrix, [2, 0, 1])
    down = rankings_from_table(matrix, [2, 0, 1], largest_first=False)
    np.testing.assert_array_equal(up.target, reference(matrix[:, [2, 0, 1]]))
    np.testing.assert_array_equal(up.target + down.target, np.full((30, 3), 4))
    np.testing.assert_array_equal(up.data, matrix[:, 3:])
    assert up.feature_names == ["x3", "x4", "x5"]
    assert {tuple(row) for row in up.target} > {(1.0, 2.0, 3.0), (3.0, 2.0, 1.0)}  # the scale does not decide


def test_constant_columns_tie_despite_rounding():
    matrix = np.column_stack([np.full(7, 0.1), np.full(7, 1e9 / 3), np.arange(7.0)])
    np.testing.assert_array_equal(rankings_from_table(matrix, [0, 1]).target, np.ones((7, 2)))


def test_bad_tables():
    with pytest.raises(ValueError, match="'z', which is not a column"):
        rankings_from_table(pl.DataFrame(TABLE), ["p", "z"])
    with pytest.raises(ValueError, match="'city' must be numeric"):
        rankings_from_table(pl.DataFrame(TABLE), ["p", "city"])
    with pytest.raises(ValueError, match="twice"):
        rankings_from_table(pl.DataFrame(TABLE), ["p", "p"])
    with pytest.raises(ValueError, match="non-empty list"):
        rankings_from_table(pl.DataFrame(TABLE), "p")
    with pytest.raises(ValueError, match="matrix of numbers"):
        rankings_from_table([["a", "b"]], [0])
    with pytest.raises(ValueError, match="infinity"):
        rankings_from_table([[1.0, np.inf], [1.0, 2.0]], [0, 1])


def test_columns_of_pandas():
    table = pd.DataFrame(
        {
            "objects": pd.Series([1, None, 3], dtype=object),
            "nullable": pd.array([True, None, False], dtype="boolean"),
            "category": pd.Categorical(["x", None, "y"], categories=["y", "x", "z"], ordered=True),
            0: [1.0, 2.0, 3.0],
            1: pd.array([3, None, 1], dtype="Int64"),
        }
    )
    bunch = rankings_from_table(table, [0, 1])
    np.testing.assert_array_equal(bunch.target, reference(np.array([[1, 3], [2, np.nan], [3, 1]])))
    assert bunch.feature_names == ["objects", "nullable", "category=y", "category=x", "category=z"]
    nan = np.nan
    np.testing.assert_array_equal(bunch.data, [[1, 1, 0, 1, 0], [nan, nan, nan, nan, nan], [3, 0, 1, 0, 0]])
    assert rankings_from_table(table, ["objects", 1]).feature_names[-1] == "0"
    kept = rankings_from_table(table, [0, 1], nominal="keep").data
    pd.testing.assert_frame_equal(kept, table[["objects", "nullable", "category"]])


def test_other_types_are_refused():
    table = pd.DataFrame({"when": pd.to_datetime(["2020-01-01"]), "a": [1], "b": [2]})
    with pytest.raises(ValueError, match="the feature column 'when' holds values of type Datetime"):
        rankings_from_table(table, ["a", "b"])
    with pytest.raises(ValueError, match="unique column names"):
        rankings_from_table(pd.DataFrame([[1, 2]], columns=["a", "a"]), ["a"])
