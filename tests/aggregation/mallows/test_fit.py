"""Fitting a Mallows model: parameters come back from samples, the scheme for missing labels, weights, edge cases."""

import itertools
import math
import warnings

import numpy as np
import pytest
from aggregation.mallows.strategies_of_mallows import NAN, samples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import mallows as oracle
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from strategies import graphs_of

from labelrank import PreferenceGraphs, mask_rankings
from labelrank._kernels.aggregation.completion import center_of_completed
from labelrank.aggregation import kemeny
from labelrank.aggregation.mallows import (
    Mallows,
    most_probable_extension,
    spread_of_counts,
    theta_from_mean_distance,
)

INF = math.inf
# Rankings whose center takes four rounds to settle.
SLOW = [[3, 2, 5, 1, NAN], [NAN, 5, 2, NAN, 1], [NAN, NAN, 4, NAN, 5], [NAN, 2, NAN, 4, 3]]


# ---------------------------------------------------------------------------------------------------------------
# Fitting
# ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("center", ["borda", "copeland", "kemeny"])
@pytest.mark.parametrize("theta", [0.2, 0.5, 1.0, 2.5])
@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_parameters_come_back_from_samples(center, theta, missing):
    rng = np.random.RandomState(1)
    true = Mallows.from_params(rng.permutation(8), theta)
    rankings = mask_rankings(true.sample(4000, random_state=rng), missing, random_state=rng)
    model = Mallows(center=center).fit(rankings)
    np.testing.assert_array_equal(model.center_, true.center_)
    assert model.theta_ == pytest.approx(theta, rel=0.05)


def test_completed_rankings_make_theta_too_large():
    """60 % of the labels deleted, true theta 0.8."""
    true = Mallows.from_params(range(5), 0.8)
    rankings = mask_rankings(true.sample(20000, random_state=0), 0.6, random_state=0)
    pairwise = Mallows(spread="pairwise").fit(rankings)
    completed = Mallows(spread="completed").fit(rankings)
    np.testing.assert_array_equal(pairwise.center_, true.center_)
    np.testing.assert_array_equal(completed.center_, true.center_)
    assert pairwise.theta_ == pytest.approx(0.8, abs=0.03)
    assert completed.theta_ == pytest.approx(1.8, abs=0.1)


@given(samples(max_labels=5))
def test_fit_to_complete_rankings_is_maximum_likelihood_around_its_center(sample):
    rows = np.array([most_probable_extension(row, np.arange(len(row))) for row in sample[0]])
    rows = np.argsort(np.argsort(rows, axis=1, kind="stable"), axis=1) + 1.0  # break ties
    for spread in ("pairwise", "completed"):
        model = Mallows(spread=spread).fit(rows)
        distances = [oracle.distance(row, model.center_) for row in rows]
        assert model.theta_ == pytest.approx(theta_from_mean_distance(np.mean(distances), rows.shape[1]), rel=1e-9)
        if 0 < model.theta_ < INF:
            likelihood = model.logpmf(rows).sum()
            for theta in (0.99 * model.theta_, 1.01 * model.theta_):
                assert Mallows.from_params(model.center_, theta).logpmf(rows).sum() < likelihood + 1e-12


@given(samples())
@settings(max_examples=150)
def test_fit_to_incomplete_rankings_is_the_published_scheme(sample):
    rows, weights = np.array(sample[0]), np.array(sample[1], dtype=float)
    center, rounds, distance = oracle.iterated_center(*sample)
    model = Mallows(spread="completed").fit(rows, weights)
    assert tuple(model.center_) == center
    assert model.n_iter_ == rounds
    assert model.theta_ == pytest.approx(theta_from_mean_distance(distance, rows.shape[1]), rel=1e-6)


@given(samples(), st.sampled_from(["borda", "copeland", "kemeny"]), st.sampled_from(["pairwise", "completed"]))
def test_weights_are_repeats(sample, center, spread):
    rows, weights = np.array(sample[0]), np.array(sample[1])
    if not weights.sum():
        weights[0] = 1
    weighted = Mallows(center, spread).fit(rows, sample_weight=weights)
    repeated = Mallows(center, spread).fit(np.repeat(rows, weights, axis=0))
    shuffled = Mallows(center, spread).fit(rows[::-1], sample_weight=weights[::-1])
    for other in (repeated, shuffled):
        np.testing.assert_array_equal(weighted.center_, other.center_)
        assert weighted.theta_ == pytest.approx(other.theta_, rel=1e-7, abs=1e-9)


@given(samples(), st.sampled_from(["borda", "copeland", "kemeny"]))
def test_every_center_is_a_permutation(sample, center):
    model = Mallows(center).fit(sample[0], sample[1])
    assert sorted(model.center_) == list(range(1, len(sample[0][0]) + 1))
    assert model.theta_ >= 0


def test_kemeny_center_is_that_of_consensus_and_has_the_smallest_distance():
    rankings = Mallows.from_params(range(5), 0.2).sample(7, random_state=5)
    model = Mallows("kemeny").fit(rankings)
    np.testing.assert_array_equal(model.center_, kemeny(rankings))
    best = min(sum(oracle.distance(row, c) for row in rankings) for c in oracle.all_rankings(5))
    assert sum(oracle.distance(row, model.center_) for row in rankings) == best


def test_copeland_center():
    # Label 0 wins all majorities although label 1 has more votes.
    rankings = [[1, 2, 3, 4]] * 3 + [[4, 1, 2, 3]] * 2
    np.testing.assert_array_equal(Mallows("copeland").fit(rankings).center_, [1, 2, 3, 4])
    np.testing.assert_array_equal(Mallows("borda").fit(rankings).center_, [2, 1, 3, 4])
    # A cycle of three majorities: equal labels are ordered by votes, then by index.
    np.testing.assert_array_equal(Mallows("copeland").fit([[1, 2, 3], [2, 3, 1], [3, 1, 2]]).center_, [1, 2, 3])


def test_one_row():
    for spread in ("pairwise", "completed"):
        model = Mallows(spread=spread).fit([[2, 1, 3]])
        np.testing.assert_array_equal(model.center_, [2, 1, 3])
        assert model.theta_ == INF
        np.testing.assert_array_equal(model.sample(3, random_state=0), [[2, 1, 3]] * 3)
        np.testing.assert_array_equal(model.logpmf([[2, 1, 3], [1, 2, 3]]), [0, -INF])
        np.testing.assert_array_equal(model.pairwise_proba(), [[0.5, 0, 1], [1, 0.5, 1], [0, 0, 0.5]])
        incomplete = Mallows(spread=spread).fit([[2, 1, NAN]])
        np.testing.assert_array_equal(incomplete.center_, [3, 1, 2])
        assert incomplete.theta_ == INF


def test_one_label():
    model = Mallows().fit([[1], [NAN], [3]])
    assert model.center_.tolist() == [1.0]
    assert model.theta_ == 0.0
    assert model.logpmf([[1], [NAN]]).tolist() == [0.0, 0.0]
    assert model.pairwise_proba().tolist() == [[0.5]]


@pytest.mark.parametrize("center", ["borda", "copeland", "kemeny"])
@pytest.mark.parametrize("spread", ["pairwise", "completed"])
@pytest.mark.parametrize("rankings", [[[NAN] * 3], [[NAN, 1, NAN], [NAN] * 3], [[2, 2, 2]]])
def test_rankings_that_say_nothing(center, spread, rankings):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = Mallows(center, spread).fit(rankings)
    np.testing.assert_array_equal(model.center_, [1, 2, 3])
    assert model.theta_ == 0.0
    zero = Mallows(center, spread).fit([[3, 2, 1]], sample_weight=[0.0])
    assert zero.theta_ == 0.0


@pytest.mark.parametrize("spread", ["pairwise", "completed"])
def test_single_labels_change_nothing(spread):
    rows = Mallows.from_params(range(4), 0.5).sample(30, random_state=0)
    rows = mask_rankings(rows, 0.3, random_state=0)
    rows = rows[(~np.isnan(rows)).sum(axis=1) > 1]
    more = np.vstack([rows, np.diag([1.0] * 4) + np.where(np.eye(4), 0, NAN), np.full((1, 4), NAN)])
    one, two = Mallows(spread=spread).fit(rows), Mallows(spread=spread).fit(more)
    np.testing.assert_array_equal(one.center_, two.center_)
    assert one.theta_ == pytest.approx(two.theta_, rel=1e-12)


def test_only_the_order_of_ranks_counts():
    rows = mask_rankings(Mallows.from_params(range(5), 0.7).sample(40, random_state=0), 0.3, random_state=1)
    for spread in ("pairwise", "completed"):
        one, two = Mallows(spread=spread).fit(rows), Mallows(spread=spread).fit(np.exp(rows) - 7)
        np.testing.assert_array_equal(one.center_, two.center_)
        assert one.theta_ == two.theta_
    np.testing.assert_array_equal(one.logpmf(rows), one.logpmf(10 * rows))


def test_rounds():
    rows = np.array(SLOW)
    assert Mallows().fit(rows).n_iter_ == 4
    center = np.empty(rows.shape[1])
    # No data are known whose center does not settle, so the kernel is called with fewer rounds than it needs.
    assert center_of_completed(rows, np.ones(len(rows)), center, 2) == -2
    assert sorted(center) == list(range(1, rows.shape[1] + 1))


# ---------------------------------------------------------------------------------------------------------------
# What else can be given
# ---------------------------------------------------------------------------------------------------------------


def test_graphs_of_rankings_are_rankings():
    rows = mask_rankings(Mallows.from_params(range(4), 0.7).sample(30, random_state=0), 0.3, random_state=0)
    graphs = PreferenceGraphs.from_rankings(rows)
    for center, spread in itertools.product(("borda", "copeland", "kemeny"), ("pairwise", "completed")):
        one, two = Mallows(center, spread).fit(rows), Mallows(center, spread).fit(graphs)
        np.testing.assert_array_equal(one.center_, two.center_)
        assert one.theta_ == two.theta_


def test_graphs_of_edges_use_their_pairs():
    graphs = graphs_of([[(0, 1), (1, 2), (2, 0)], [(0, 1)], [(0, 2), (1, 2)]], 3)
    assert graphs.storage == "edges"
    for center in ("borda", "copeland", "kemeny"):
        model = Mallows(center).fit(graphs)
        np.testing.assert_array_equal(model.center_, [1, 2, 3])
        assert model.theta_ == spread_of_counts([graphs.pair_counts()], [model.center_])[0]
    with pytest.raises(ValueError, match='spread="completed" needs rankings'):
        Mallows(spread="completed").fit(graphs)


def test_names_of_labels():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"red": [1, 2], "blue": [2, 1], "green": [3, None]})
    assert Mallows().fit(frame).labels_.tolist() == ["red", "blue", "green"]
    assert Mallows().fit(frame.to_numpy()).labels_.tolist() == [0, 1, 2]
    assert Mallows.from_params([1, 2], 1.0).labels_.tolist() == [0, 1]


def test_it_is_an_estimator():
    model = Mallows(center="kemeny", spread="completed")
    assert clone(model).get_params() == {"center": "kemeny", "spread": "completed"}
    with pytest.raises(NotFittedError):
        model.sample()
    with pytest.raises(ValueError, match="'center' parameter of Mallows must be"):
        Mallows(center="mean").fit([[1, 2]])
    with pytest.raises(ValueError, match="'spread' parameter of Mallows must be"):
        Mallows(spread="wide").fit([[1, 2]])
    with pytest.raises(ValueError, match="rankings"):
        Mallows().fit([[1, INF]])
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        Mallows().fit([[1, 2]], sample_weight=[-1.0])


@pytest.mark.parametrize("theta", [-1.0, NAN, "1", True])
def test_bad_theta_is_refused(theta):
    with pytest.raises(ValueError, match="theta must be a number of at least 0"):
        Mallows.from_params([1, 2], theta)
