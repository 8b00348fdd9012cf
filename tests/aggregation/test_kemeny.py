"""Kemeny rankings against all permutations, and what the local search promises."""

import numpy as np
import pytest
from aggregation.cases import NAN, battle_graphs, battles, graphs_of, preference_order, rank_matrices
from hypothesis import given, settings
from oracles import consensus as oracle

from labelrank.aggregation import borda, borda_scores, kemeny, pair_counts


@settings(max_examples=60, deadline=None)
@given(rank_matrices(max_rows=5))
def test_kemeny_is_the_best_permutation_closest_to_borda(case):
    rows, k, weights = case
    counts = oracle.pair_counts(rows, k, weights)
    expected = oracle.kemeny(counts, preference_order(oracle.borda_scores(rows, k, weights)))
    np.testing.assert_array_equal(kemeny(rows, weights), expected)


@settings(max_examples=60, deadline=None)
@given(battles())
def test_kemeny_of_battles(case):
    edges, n, k, weights = case
    graphs = graphs_of(edges, n, k)
    counts = oracle.edge_counts(edges, k, weights)
    expected = oracle.kemeny(counts, preference_order(list(borda_scores(graphs, weights))))
    np.testing.assert_array_equal(kemeny(graphs, weights), expected)


def test_local_search_is_never_better_than_exact_and_mostly_as_good():
    rng = np.random.default_rng(0)
    equal = 0
    for _ in range(60):
        graphs = battle_graphs(rng, 7)
        counts = pair_counts(graphs)
        exact = oracle.kemeny_cost(kemeny(graphs), counts)
        local = oracle.kemeny_cost(kemeny(graphs, max_exact=0), counts)
        assert local >= exact
        equal += local == exact
    assert equal >= 48


@pytest.mark.parametrize("k", [12, 25, 40])
def test_local_search_cannot_be_improved_by_moving_one_label(k):
    graphs = battle_graphs(np.random.default_rng(k), k)
    counts = pair_counts(graphs)
    order = list(np.argsort(kemeny(graphs, max_exact=0)))
    assert sorted(order) == list(range(k))

    def cost(order):
        return sum(counts[b, a] for i, a in enumerate(order) for b in order[i + 1 :])

    start = cost(order)
    assert start < cost(list(np.argsort(borda(graphs), kind="stable")))
    for place in range(k):
        without = order[:place] + order[place + 1 :]
        for target in range(k):
            assert cost([*without[:target], order[place], *without[target:]]) >= start


def test_many_labels_are_exact_when_the_majorities_fall_into_small_groups():
    # 8 cycles of 3 labels, each cycle above the next: 24 labels, but groups of 3.
    cycle = np.array([[1, 2, 3], [2, 3, 1], [3, 1, 2], [1, 2, 3]], dtype=float)
    y = np.hstack([cycle + 3 * block for block in range(8)])
    shuffle = np.random.default_rng(0).permutation(24)
    expected = np.arange(1, 25)[shuffle]
    np.testing.assert_array_equal(kemeny(y[:, shuffle]), expected)


def test_fifteen_labels_recover_the_center():
    rng = np.random.default_rng(3)
    y = np.argsort(np.argsort(np.arange(15) + 2 * rng.standard_normal((2000, 15)), axis=1), axis=1) + 1.0
    y[rng.random(y.shape) < 0.4] = NAN
    np.testing.assert_array_equal(kemeny(y), np.arange(1, 16))


def test_kemeny_of_nothing_goes_by_index():
    assert kemeny(np.full((3, 4), NAN)).tolist() == [1, 2, 3, 4]
    assert kemeny(np.full((2, 17), NAN)).tolist() == list(range(1, 18))


def test_bad_sizes_are_refused():
    with pytest.raises(ValueError, match="max_exact must be an integer from 0 to 20, got 21"):
        kemeny([[1, 2]], max_exact=21)
