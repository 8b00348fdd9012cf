"""Probabilities of complete, incomplete and tied rankings against all permutations, and samples against them."""

import math

import numpy as np
import pytest
from aggregation.mallows.strategies_of_mallows import NAN, THETAS, centers, partials
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import mallows as oracle
from strategies import graphs_of

from labelrank import PreferenceGraphs
from labelrank.aggregation.mallows import Mallows

INF = math.inf


# ---------------------------------------------------------------------------------------------------------------
# Probabilities of rankings
# ---------------------------------------------------------------------------------------------------------------


@given(centers(max_labels=5), THETAS)
def test_logpmf_of_complete_rankings(center, theta):
    table = oracle.probabilities(center, theta)
    log_p = Mallows.from_params(center, theta).logpmf(list(table))
    np.testing.assert_allclose(np.exp(log_p), list(table.values()), rtol=1e-11, atol=1e-300)
    assert np.exp(log_p).sum() == pytest.approx(1.0, rel=1e-12)


@given(st.data())
@settings(max_examples=60)
def test_logpmf_of_an_incomplete_ranking_is_the_sum_over_its_extensions(data):
    center = data.draw(centers())
    theta = data.draw(THETAS)
    row = data.draw(partials(len(center), ties=data.draw(st.booleans())))
    log_p = Mallows.from_params(center, theta).logpmf([row])[0]
    assert log_p == pytest.approx(math.log(oracle.probability_of_extensions(row, center, theta)), rel=1e-9, abs=1e-9)


def test_logpmf_of_pairs_is_pairwise_proba():
    model = Mallows.from_params(np.random.RandomState(0).permutation(40), 0.3)
    p = model.pairwise_proba()
    rows = np.full((2, 40), NAN)
    rows[0, [3, 17]] = [1, 2]
    rows[1, [3, 17]] = [2, 1]
    np.testing.assert_allclose(np.exp(model.logpmf(rows)), [p[3, 17], p[17, 3]], rtol=1e-12)


def test_logpmf_over_many_labels():
    """The chain of three labels a, b, c: the two orders with b last, or between, or first add up to pairs."""
    n = 17
    model = Mallows.from_params(range(n), 0.2)
    p = model.pairwise_proba()
    row = np.full(n, NAN)
    total = 0.0
    for ranks in ([1, 2, 3], [2, 1, 3], [1, 3, 2]):  # label 0 before label 16, label 8 anywhere
        row[[0, 8, 16]] = ranks
        total += math.exp(model.logpmf([row])[0])
    assert total == pytest.approx(p[0, 16], rel=1e-10)


def test_logpmf_is_refused_beyond_its_limit():
    model = Mallows.from_params(range(30), 1.0)
    row = np.full(30, NAN)
    row[[0, 1, 29]] = [1, 2, 3]
    with pytest.raises(ValueError, match=r"leaves 27 labels free.*for up to 18"):
        model.logpmf([row])
    row[:] = NAN
    row[[3, 10, 11]] = [2, 1, 3]  # what is outside these labels in the center does not matter
    shorter = Mallows.from_params(range(9), 1.0).logpmf([row[3:12]])
    np.testing.assert_allclose(model.logpmf([row]), shorter, rtol=1e-12)


@pytest.mark.parametrize("theta", [0.0, 0.7, 800.0, INF])
def test_rows_without_a_preference_are_certain(theta):
    model = Mallows.from_params([2, 3, 1], theta)
    np.testing.assert_array_equal(model.logpmf([[NAN] * 3, [NAN, 1, NAN], [5, 5, 5], [NAN, 2, 2]]), 0.0)


def test_logpmf_at_the_ends():
    far = Mallows.from_params([1, 2, 3, 4], INF)
    rows = [
        [1, 2, 3, 4],
        [2, 1, 3, 4],
        [1, NAN, NAN, 2],
        [2, NAN, NAN, 1],
        [1, 2, NAN, 3],
        [2, 1, NAN, 3],
        [1, 1, 2, 2],
    ]
    np.testing.assert_array_equal(far.logpmf(rows), [0, -INF, 0, -INF, 0, -INF, 0])
    huge = Mallows.from_params([1, 2, 3, 4], 1000.0)
    np.testing.assert_allclose(huge.logpmf(rows), [0, -1000, 0, -3000 + math.log(3), 0, -1000, 0], atol=1e-9)
    flat = Mallows.from_params([1, 2, 3, 4], 0.0)
    np.testing.assert_allclose(np.exp(flat.logpmf(rows)), np.array([1, 1, 12, 12, 4, 4, 4]) / 24, rtol=1e-12)
    assert far.logpmf(np.empty((0, 4))).shape == (0,)


def test_logpmf_of_graphs():
    rows = np.array([[1, 2, 2], [NAN, 2, 1], [3, 1, 2]])
    model = Mallows.from_params([1, 2, 3], 0.9)
    np.testing.assert_array_equal(model.logpmf(PreferenceGraphs.from_rankings(rows)), model.logpmf(rows))
    with pytest.raises(ValueError, match="these graphs are stored as edges"):
        model.logpmf(graphs_of([[(0, 1), (1, 2), (2, 0)]], 3))


def test_logpmf_refuses_other_labels():
    with pytest.raises(ValueError, match="rankings has 2 labels, but the model has 3"):
        Mallows.from_params([1, 2, 3], 1.0).logpmf([[1, 2]])


# ---------------------------------------------------------------------------------------------------------------
# Samples
# ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("theta", [0.0, 0.3, 1.5])
def test_samples_have_the_probabilities_of_the_model(theta):
    model = Mallows.from_params([3, 1, 4, 2], theta)
    drawn = model.sample(20000, random_state=0)
    different, counts = np.unique(drawn, axis=0, return_counts=True)
    p = np.exp(model.logpmf(different))
    assert (np.abs(counts / 20000 - p) < 5 * np.sqrt(p * (1 - p) / 20000)).all()


def test_samples_at_the_ends():
    center = [2, 3, 1]
    for theta in (INF, 1e4):
        np.testing.assert_array_equal(Mallows.from_params(center, theta).sample(5, random_state=0), [center] * 5)
    assert Mallows.from_params([1], 1.0).sample(2).tolist() == [[1.0], [1.0]]
    assert Mallows.from_params(center, 1.0).sample(0).shape == (0, 3)
    assert Mallows.from_params(center, 1.0).sample().shape == (1, 3)
    with pytest.raises(ValueError, match="n_samples must be an integer of at least 0, got -1"):
        Mallows.from_params(center, 1.0).sample(-1)
    one, two = (Mallows.from_params(center, 0.1).sample(50, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(one, two)
