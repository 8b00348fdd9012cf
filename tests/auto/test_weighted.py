"""Sums of rankers: the scores, and arguments that are refused."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from labelrank import DummyRanker, LogLinearRanker
from labelrank.auto import WeightedRanker
from labelrank.datasets import make_label_ranking

X, Y = make_label_ranking(30, 3, n_labels=3, random_state=0)


def test_scores_are_standardized_and_weighted():
    model = WeightedRanker((LogLinearRanker(), DummyRanker()), np.array([0.25, 2])).fit(X, Y)
    parts = [ranker.decision_function(X) for ranker in (LogLinearRanker().fit(X, Y), DummyRanker().fit(X, Y))]
    first, second = ((p - p.mean(axis=1, keepdims=True)) / p.std(axis=1, keepdims=True) for p in parts)
    np.testing.assert_allclose(model.decision_function(X), 0.25 * first + 2 * second)


@pytest.mark.parametrize(
    ("rankers", "weights", "error", "message"),
    [
        ([], [], ValueError, "rankers is empty; pass at least one ranker"),
        (DummyRanker(), [1.0], TypeError, r"rankers must be a list, got DummyRanker\(\)"),
        ([DummyRanker()], 1.0, TypeError, r"weights must be a list, got 1.0"),
        ([DummyRanker()], "1", TypeError, r"weights must be a list, got '1'"),
        ([DummyRanker()], [0.5, 0.5], ValueError, "one number for each of the 1 rankers, got 2"),
        ([DummyRanker()], ["1"], ValueError, "weights must be finite numbers, got '1'"),
        ([DummyRanker()], [np.nan], ValueError, "weights must be finite numbers, got nan"),
        ([DummyRanker(), LinearRegression()], [1, 1], TypeError, r"rankers must be rankers, .*got LinearRegression"),
    ],
)
def test_wrong_arguments(rankers, weights, error, message):
    with pytest.raises(error, match=message):
        WeightedRanker(rankers, weights).fit(X, Y)
