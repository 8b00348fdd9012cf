from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from labelrank import DummyRanker, LogLinearRanker, PreferenceGraphs, RankerMixin
from labelrank.metrics import kendall_tau

NAN = float("nan")


class FeaturesAsScores(RankerMixin, BaseEstimator):
    """The least that a ranker must bring; X is validated, unlike in DummyRanker."""

    def fit(self, X, y, sample_weight=None):
        self.seen_ = self._validate_fit(X, y, sample_weight, accept_sparse="csr")
        return self

    def decision_function(self, X):
        check_is_fitted(self)
        return validate_data(self, X, reset=False)[:, : len(self.labels_)]


X = np.array([[0.1, 0.9, 0.5], [0.8, 0.3, 0.3], [0.2, 0.1, 0.0]])
Y = np.array([[3, 1, 2], [1, 2, NAN], [2, 1, 1]])


def test_predict_ranks_the_scores_with_ties():
    ranker = FeaturesAsScores().fit(X, Y)
    assert ranker.predict(X).tolist() == [[3, 1, 2], [1, 2, 2], [1, 2, 3]]
    assert ranker.n_features_in_ == 3
    assert ranker.labels_.tolist() == [0, 1, 2]


def test_predict_gives_an_array_whatever_the_scores_are():
    class Named(FeaturesAsScores):
        def decision_function(self, X):
            return pd.DataFrame(super().decision_function(X))

    assert isinstance(Named().fit(X, Y).predict(X), np.ndarray)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_predict_refuses_scores_that_have_no_order(bad):
    X, y = np.array([[0.1, 0.9], [0.8, 0.3]]), np.array([[2, 1], [1, 2]])
    ranker = FeaturesAsScores().fit(X, y)
    ranker.decision_function = lambda X: np.array([[1.0, bad]])
    with pytest.raises(ValueError, match="FeaturesAsScores computes scores for X that are infinite or NaN"):
        ranker.predict(X[:1])


def test_score_is_kendall_tau():
    ranker = FeaturesAsScores().fit(X, Y)
    # Row 0 agrees, row 1 agrees on its one pair, row 2 has both its pairs the wrong way round.
    assert ranker.score(X, Y) == pytest.approx(1 / 3)
    assert ranker.score(X, Y, sample_weight=[1, 1, 0]) == 1
    assert ranker.score(X, PreferenceGraphs.from_rankings(Y)) == kendall_tau(Y, ranker.predict(X))


def test_what_fit_gets():
    ranker = FeaturesAsScores().fit(X.astype(np.float32), Y.tolist(), [1, 2, 3])
    seen_X, seen_y, seen_weight = ranker.seen_
    assert seen_X.shape == (3, 3)
    np.testing.assert_array_equal(seen_y.rank_values(), Y)
    assert seen_weight.tolist() == [1, 2, 3]
    graphs = PreferenceGraphs.from_rankings(Y)
    assert FeaturesAsScores().fit(X, graphs).seen_[1] is graphs


def test_tags():
    tags = get_tags(FeaturesAsScores())
    assert tags.estimator_type == "ranker"
    assert tags.target_tags.required
    assert tags.target_tags.multi_output
    assert not tags.target_tags.single_output
    assert tags.classifier_tags is None
    assert tags.regressor_tags is None


@pytest.mark.parametrize(
    "y",
    [
        pd.DataFrame(Y, columns=["tea", "milk", "water"]),
        pl.DataFrame(Y, schema=["tea", "milk", "water"]),
        PreferenceGraphs.from_rankings(Y, labels=["tea", "milk", "water"]),
    ],
    ids=["pandas", "polars", "graphs"],
)
def test_label_names(y):
    ranker = FeaturesAsScores().fit(X, y)
    assert ranker.labels_.tolist() == ["tea", "milk", "water"]
    assert ranker.score(X, y) == ranker.score(X, Y)


def test_score_aligns_columns_by_name():
    y = pd.DataFrame(Y, columns=["tea", "milk", "water"])
    ranker = FeaturesAsScores().fit(X, y)
    assert ranker.score(X, y[["milk", "tea", "water"]]) == ranker.score(X, Y)
    with pytest.raises(ValueError, match=r"y and FeaturesAsScores name different labels: only y has \['cola'\], only"):
        ranker.score(X, y.rename(columns={"tea": "cola"}))


def test_refitting_forgets_names():
    ranker = DummyRanker().fit(pd.DataFrame(X, columns=list("abc")), pl.DataFrame(Y, schema=list("xyz")))
    assert ranker.feature_names_in_.tolist() == list("abc")
    ranker.fit(X, Y[:, :2])
    assert ranker.labels_.tolist() == [0, 1]
    assert not hasattr(ranker, "feature_names_in_")


def test_bad_arguments_of_fit():
    ranker = FeaturesAsScores()
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        ranker.fit(X, None)
    with pytest.raises(ValueError, match="X has 3, y has 2"):
        ranker.fit(X, Y[:2])
    with pytest.raises(ValueError, match=r"sample_weight.shape == \(2,\)"):
        ranker.fit(X, Y, sample_weight=[1, 2])
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        ranker.fit(X, Y, sample_weight=[1, 2, -1])
    with pytest.raises(ValueError, match="non-zero"):
        ranker.fit(X, Y, sample_weight=[0, 0, 0])
    with pytest.raises(ValueError, match="infinity"):
        ranker.fit(X, np.where(np.isnan(Y), np.inf, Y))
    with pytest.raises(ValueError, match="no labels"):
        ranker.fit(X, PreferenceGraphs.from_pairs([], [], [], n_instances=3, n_labels=0))
    twice = pd.DataFrame(Y, columns=["tea", "milk", "tea"])
    with pytest.raises(ValueError, match="must have different names"):
        ranker.fit(X, twice)
    for nothing in (np.empty((0, 3)), PreferenceGraphs.from_rankings(np.empty((0, 3)))):
        with pytest.raises(
            ValueError, match=r"y has 0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required"
        ):
            DummyRanker().fit(np.empty((0, 2)), nothing)
    with pytest.raises(TypeError, match="masked array"):
        ranker.fit(X, np.ma.masked_invalid(Y))


EMPTY = np.array([[1, 2, 3], [NAN, NAN, NAN], [1, NAN, NAN], [1, 1, NAN], [NAN, 2, 1]])


@pytest.mark.parametrize(
    "y",
    [
        EMPTY,
        PreferenceGraphs.from_rankings(EMPTY),
        PreferenceGraphs.from_pairs([0, 0, 4], [0, 1, 2], [1, 2, 1], n_instances=5, n_labels=3),
    ],
    ids=["ranks", "levels", "edges"],
)
def test_rows_without_a_pair(y):
    X = np.zeros((5, 1))
    message = r'y has 3 rows without any observed pair \(first: row 1\); drop them or pass on_empty="ignore"'
    with pytest.warns(UserWarning, match=message) as caught:
        DummyRanker().fit(X, y)
    assert caught[0].filename == __file__  # the caller is shown, not the inside of the library
    with pytest.raises(ValueError, match=message):
        DummyRanker(on_empty="error").fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DummyRanker(on_empty="ignore").fit(X, y)
        DummyRanker().fit(X, y, sample_weight=[1, 0, 0, 0, 1])  # weight 0: as if the row were not there
        DummyRanker().fit(X[:1], y[:1])
    with pytest.warns(UserWarning, match=r"y has 1 row without any observed pair \(first: row 0\); drop it"):
        DummyRanker().fit(X[:1], y[1:2])


UNSEEN = np.array([[1, 2, np.nan, np.nan], [np.nan, np.nan, 1, np.nan], [2, 1, np.nan, np.nan], [np.nan, np.nan, 1, 2]])


@pytest.mark.parametrize("kind", ["frame", "levels", "edges"])
def test_labels_without_a_pair_are_named(kind):
    X, names = np.zeros((4, 1)), ["tea", "milk", "cola", "beer"]
    y = pd.DataFrame(UNSEEN, columns=names)
    if kind == "levels":
        y = PreferenceGraphs.from_rankings(y)
    elif kind == "edges":
        y = PreferenceGraphs.from_pairs([0, 2, 3], [0, 1, 2], [1, 0, 3], n_instances=4, labels=names)
    message = r"y has 2 of 4 labels without any observed pair \('cola', 'beer'\), so their .* arbitrary; remove"
    weight = [1, 0, 1, 0]  # the comparison of cola and beer has no weight
    with pytest.warns(UserWarning, match=message) as caught:
        DummyRanker().fit(X, y, sample_weight=weight)
    assert [warning.filename for warning in caught] == [__file__]
    with pytest.raises(ValueError, match=message):
        DummyRanker(on_empty="error").fit(X, y, sample_weight=weight)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DummyRanker(on_empty="ignore").fit(X, y, sample_weight=weight)
        DummyRanker().fit(X, y, sample_weight=[1, 0, 1, 1])
    many = pd.DataFrame(np.full((1, 30), np.nan), columns=[f"label {i}" for i in range(30)])
    many.iloc[0, :2] = 1, 2
    with pytest.warns(UserWarning, match=r"y has 28 of 30 labels .*'label 11', \.\.\.\)"):
        DummyRanker().fit(X[:1], many)


@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        (
            [{"tea"}, {"milk", "tea"}, set()],
            TypeError,
            r"for sets of relevant labels use PreferenceGraphs.from_multilabel",
        ),
        (pd.Series([{"tea"}, {"milk"}, set()]), TypeError, r"PreferenceGraphs.from_multilabel"),
        (
            [["tea"], ["milk", "tea"], []],
            ValueError,
            r"ranks_from_orders; for lists of relevant labels use .*multilabel",
        ),
        (
            ["tea", "milk", "tea"],
            TypeError,
            r"holds 'tea' of type str; for one class per instance use .*from_multiclass",
        ),
        (pd.Series(["tea", "milk", "tea"]), TypeError, r"PreferenceGraphs.from_multiclass"),
        (pl.Series(["1", "2", "1"]), TypeError, r"PreferenceGraphs.from_multiclass"),
        ([0, 1, 0], ValueError, r"PreferenceGraphs.from_multiclass"),
        (
            [["1", "2"], ["2", "1"], ["1", ""]],
            TypeError,
            r"'1' of type str; numbers in quotes .* np.asarray\(y, dtype=float",
        ),
        (pd.DataFrame({"a": ["1", "2", "1"], "b": ["2", "1", None]}), TypeError, r"numbers in quotes are text"),
        (
            [["tea", "milk"], ["milk", "tea"], ["tea", "milk"]],
            TypeError,
            r"'tea' of type str; for label names in order of",
        ),
    ],
)
def test_what_is_no_rank_matrix_is_told_what_to_use(y, error, message):
    with pytest.raises(error, match=message):
        DummyRanker().fit(np.zeros((3, 1)), y)


def test_one_label_says_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ranker = DummyRanker(on_empty="error").fit(X, [[1], [1], [NAN]])
    assert ranker.predict(X).tolist() == [[1], [1], [1]]


def test_there_is_no_classes_():
    ranker = DummyRanker().fit(X, Y)
    assert not hasattr(ranker, "classes_")
    with pytest.raises(AttributeError, match=r"DummyRanker has no classes_: it ranks labels, see labels_"):
        _ = ranker.classes_


def test_weights_too_small_to_divide_by():
    with pytest.raises(ValueError, match=r"sample_weight sums to .*e-309, too little to divide by"):
        LogLinearRanker().fit([[0.0], [1.0]], [[1, 2], [2, 1]], np.full(2, 1e-309))
