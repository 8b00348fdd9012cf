from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from labelrank import DummyRanker, PreferenceGraphs, all_rankers
from labelrank import aggregation as consensus

NAN = float("nan")
rng = np.random.default_rng(0)
X = rng.standard_normal((40, 3))
Y = np.argsort(rng.random((40, 5)), axis=1) + 1.0
Y[rng.random(Y.shape) < 0.3] = NAN


@pytest.mark.parametrize("strategy", ["borda", "copeland", "kemeny"])
@pytest.mark.parametrize("y", [Y, PreferenceGraphs.from_rankings(Y)], ids=["ranks", "graphs"])
@pytest.mark.filterwarnings("ignore:y has")
def test_predicts_the_consensus_for_everyone(strategy, y):
    weight = np.arange(40)
    ranker = DummyRanker(strategy).fit(X, y, sample_weight=weight)
    expected = getattr(consensus, strategy)(Y, weight)
    np.testing.assert_array_equal(ranker.ranks_, expected)
    np.testing.assert_array_equal(ranker.predict(X[:7]), np.tile(expected, (7, 1)))
    np.testing.assert_array_equal(ranker.decision_function(X[:7]), np.tile(ranker.scores_, (7, 1)))


def test_kemeny_and_borda_differ_where_they_should():
    y = [[1, 2, 3]] * 3 + [[3, 1, 2]] * 2  # 0 wins every majority, 1 has the most votes
    X = np.zeros((5, 1))
    assert DummyRanker("kemeny").fit(X, y).ranks_.tolist() == [1, 2, 3]
    assert DummyRanker("copeland").fit(X, y).ranks_.tolist() == [1, 2, 3]
    assert DummyRanker("borda").fit(X, y).ranks_.tolist() == [2, 1, 3]


def test_pairwise_proba():
    ranker = DummyRanker().fit(np.zeros((4, 1)), [[1, 2, NAN], [1, 2, NAN], [1, 2, NAN], [2, 1, NAN]])
    proba = ranker.pairwise_proba(np.zeros((2, 1)))
    assert proba.shape == (2, 3, 3)
    np.testing.assert_array_equal(proba[0], [[0.5, 0.75, 0.5], [0.25, 0.5, 0.5], [0.5, 0.5, 0.5]])
    np.testing.assert_allclose(proba + proba.transpose(0, 2, 1), 1)


def test_random_rankings():
    ranker = DummyRanker("random", random_state=0).fit(X, np.argsort(Y, axis=1))
    predicted = ranker.predict(np.zeros((6000, 1)))
    assert (np.sort(predicted, axis=1) == np.arange(1, 6)).all()
    np.testing.assert_allclose(predicted.mean(axis=0), 3, atol=0.1)
    assert len(np.unique(predicted, axis=0)) == 120
    np.testing.assert_array_equal(predicted, ranker.predict(np.zeros((6000, 1))))
    assert (DummyRanker("random", random_state=1).fit(X, np.argsort(Y, axis=1)).predict(X) != predicted[:40]).any()
    assert (ranker.pairwise_proba(X) == 0.5).all()


def test_a_random_state_instance_moves_on():
    ranker = DummyRanker("random", random_state=np.random.RandomState(0)).fit(X, np.argsort(Y, axis=1))
    assert (ranker.predict(X) != ranker.predict(X)).any()


@pytest.mark.parametrize(
    "X",
    [["a text", "another", "a third"], sparse.csr_array((3, 2)), [[NAN], [1], [2]], [{"a": 1}, {}, {}]],
    ids=["texts", "sparse", "nan", "dicts"],
)
def test_X_can_be_anything_with_a_length(X):
    ranker = DummyRanker().fit(X, [[1, 2], [1, 2], [2, 1]])
    assert ranker.predict(X).tolist() == [[1, 2]] * 3


def test_not_fitted():
    for method in ("predict", "decision_function", "pairwise_proba"):
        with pytest.raises(NotFittedError):
            getattr(DummyRanker(), method)(X)


@pytest.mark.parametrize("parameters", [{"strategy": "mean"}, {"on_empty": "drop"}, {"random_state": "seed"}])
def test_bad_parameters(parameters):
    with pytest.raises(ValueError, match=f"The '{next(iter(parameters))}' parameter of DummyRanker must be"):
        DummyRanker(**parameters).fit(X, Y)


def test_many_labels():
    y = np.argsort(np.arange(30) + rng.standard_normal((50, 30)), axis=1).argsort(axis=1) + 1.0
    ranker = DummyRanker("kemeny").fit(np.zeros((50, 1)), y)
    assert sorted(ranker.ranks_) == list(range(1, 31))
    assert ranker.score(np.zeros((50, 1)), y) > 0.8


def test_all_rankers_is_complete():
    """Every ranker that the package exports is listed, so that the contract tests and the command line see it."""
    from labelrank import RankerMixin, neighbors, rankers, trees

    exported = {name: getattr(room, name) for room in (rankers, neighbors, trees) for name in room.__all__}
    found = {name for name, value in exported.items() if isinstance(value, type) and issubclass(value, RankerMixin)}
    abstract_or_of_sets = {"BaseRanker", "CalibratedRanker", "RankerMixin"}
    assert found - abstract_or_of_sets == set(all_rankers())
    assert all(name == ranker.__name__ for name, ranker in all_rankers().items())
