from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import consensus as oracle

from labelrank import PreferenceGraphs
from labelrank.aggregation.consensus import borda, borda_scores, copeland, kemeny, pair_counts

NAN = float("nan")


@st.composite
def rank_matrices(draw, max_labels=6, max_rows=8):
    """Rank matrices with ties and missing labels, and integer weights (None: no weights)."""
    k = draw(st.integers(1, max_labels))
    n = draw(st.integers(1, max_rows))
    entry = st.one_of(st.integers(1, k).map(float), st.just(NAN))
    rows = draw(st.lists(st.lists(entry, min_size=k, max_size=k), min_size=n, max_size=n))
    weights = draw(st.none() | st.lists(st.integers(0, 3), min_size=n, max_size=n))
    return rows, k, weights


@st.composite
def battles(draw, max_labels=6, max_rows=5):
    k = draw(st.integers(2, max_labels))
    n = draw(st.integers(1, max_rows))
    edges = []
    for i in range(n):
        for a in range(k):
            for b in range(a + 1, k):
                side = draw(st.sampled_from([-1, 0, 1]))
                if side:
                    edges.append((i, a, b, draw(st.integers(1, 3))) if side > 0 else (i, b, a, draw(st.integers(1, 3))))
    weights = draw(st.none() | st.lists(st.integers(0, 3), min_size=n, max_size=n))
    return edges, n, k, weights


def graphs_of(edges, n, k):
    columns = list(zip(*edges, strict=True)) if edges else [[], [], [], []]
    return PreferenceGraphs.from_pairs(*columns, n_instances=n, n_labels=k)


def preference_order(scores):
    return sorted(range(len(scores)), key=lambda label: (-scores[label], label))


@settings(deadline=None)  # the first example pays for compiling
@given(rank_matrices())
def test_rank_matrices_agree_with_the_loops(case):
    rows, k, weights = case
    counts = oracle.pair_counts(rows, k, weights)
    scores = oracle.borda_scores(rows, k, weights)
    for y in (np.array(rows), PreferenceGraphs.from_rankings(rows)):
        np.testing.assert_array_equal(pair_counts(y, weights), counts)
        np.testing.assert_allclose(borda_scores(y, weights), [float(s) for s in scores], rtol=1e-12)
        # Exact fractions on the other side: a tie that rounding pulls apart would fail here.
        np.testing.assert_array_equal(borda(y, weights), oracle.ranks(scores))
        np.testing.assert_array_equal(copeland(y, weights), oracle.ranks(oracle.copeland_scores(counts)))


@settings(deadline=None)
@given(battles())
def test_graphs_stored_as_edges_agree_with_the_loops(case):
    edges, n, k, weights = case
    graphs = graphs_of(edges, n, k)
    counts = oracle.edge_counts(edges, k, weights)
    np.testing.assert_array_equal(pair_counts(graphs, weights), counts)
    np.testing.assert_allclose(borda_scores(graphs, weights), oracle.borda_scores_of_counts(counts), rtol=1e-9)
    np.testing.assert_array_equal(copeland(graphs, weights), oracle.ranks(oracle.copeland_scores(counts)))


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


def battle_graphs(rng, k):
    """One instance per pair, random votes: majorities in all directions."""
    edges = [(a * k + b, a, b, int(rng.integers(1, 50))) for a in range(k) for b in range(k) if a != b]
    return graphs_of(edges, k * k, k)


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


def test_fifteen_labels_recover_the_centre():
    rng = np.random.default_rng(3)
    y = np.argsort(np.argsort(np.arange(15) + 2 * rng.standard_normal((2000, 15)), axis=1), axis=1) + 1.0
    y[rng.random(y.shape) < 0.4] = NAN
    np.testing.assert_array_equal(kemeny(y), np.arange(1, 16))


def test_generalized_borda_votes_are_expected_votes_over_completions():
    # Of the 12 rankings of 4 labels with 0 before 1, uniformly; the literature's claim, not our formula.
    from itertools import permutations

    completions = [p for p in permutations(range(1, 5)) if p[0] < p[1]]
    expected = np.mean([[5 - rank for rank in p] for p in completions], axis=0)
    np.testing.assert_allclose(borda_scores([[1, 2, NAN, NAN]]), expected)


def test_edges_of_complete_rankings_give_the_plain_count():
    y = np.argsort(np.random.default_rng(0).random((9, 5)), axis=1) + 1.0
    levels = PreferenceGraphs.from_rankings(y)
    edges = PreferenceGraphs.from_pairs(*levels.to_edges(), n_instances=9, n_labels=5)
    assert edges.storage == "edges"
    np.testing.assert_allclose(borda_scores(edges), borda_scores(y))


def test_ties_survive_rounding():
    # 0.1 + 0.2 against 0.3: the same votes, summed in another order.
    y = [[1, 2], [1, 2], [2, 1]]
    weight = [0.1, 0.2, 0.3]
    assert borda(y, weight).tolist() == [1, 1]
    assert copeland(y, weight).tolist() == [1, 1]
    assert kemeny(y, weight).tolist() == [1, 2]


@pytest.mark.parametrize("consensus", [borda, copeland])
def test_nothing_known_ties_all(consensus):
    assert consensus(np.full((3, 4), NAN)).tolist() == [1, 1, 1, 1]
    assert consensus([[NAN, 1, NAN]]).tolist() == [1, 1, 1]
    assert consensus(PreferenceGraphs.from_pairs([], [], [], n_instances=2, n_labels=3)).tolist() == [1, 1, 1]
    assert consensus([[1, 2]], sample_weight=[0]).tolist() == [1, 1]


def test_kemeny_of_nothing_goes_by_index():
    assert kemeny(np.full((3, 4), NAN)).tolist() == [1, 2, 3, 4]
    assert kemeny(np.full((2, 17), NAN)).tolist() == list(range(1, 18))


@pytest.mark.parametrize("consensus", [borda, copeland, kemeny])
def test_one_label(consensus):
    assert consensus([[1], [NAN]]).tolist() == [1]
    assert pair_counts([[1], [2]]).tolist() == [[0]]


def test_a_label_nobody_ranked_is_in_the_middle():
    y = [[1, 2, NAN], [1, 2, NAN]]
    assert borda(y).tolist() == [1, 3, 2]
    assert copeland(y).tolist() == [1, 3, 2]
    assert kemeny(y).tolist() == [1, 3, 2]


@pytest.mark.parametrize("function", [pair_counts, borda_scores, borda, copeland, kemeny])
@pytest.mark.parametrize("y", [[[1, 2], [2, 1]], PreferenceGraphs.from_pairs([0, 1], [0, 1], [1, 0])])
def test_weights_are_checked(function, y):
    with pytest.raises(ValueError, match=r"[Nn]egative values"):
        function(y, sample_weight=[1, -1])
    with pytest.raises(ValueError, match=r"sample_weight.shape == \(3,\), expected \(2,\)"):
        function(y, sample_weight=[1, 1, 1])
    with pytest.raises(ValueError, match="NaN"):
        function(y, sample_weight=[1, NAN])


def test_bad_input():
    with pytest.raises(TypeError, match="masked array"):
        borda(np.ma.masked_invalid([[1.0, NAN]]))
    with pytest.raises(ValueError, match="0 instances"):
        borda(PreferenceGraphs.from_pairs([], [], [], n_instances=0, n_labels=3))
    with pytest.raises(ValueError, match="max_exact must be an integer from 0 to 20, got 21"):
        kemeny([[1, 2]], max_exact=21)


def test_many_rows_go_through_several_blocks():
    rng = np.random.default_rng(1)
    y = rng.integers(1, 4, (1300, 4)).astype(float)
    y[rng.random(y.shape) < 0.3] = NAN
    weight = rng.integers(0, 5, 1300)
    expected = [[float(np.sum(weight[y[:, a] < y[:, b]])) if a != b else 0.0 for b in range(4)] for a in range(4)]
    np.testing.assert_array_equal(pair_counts(y, weight), expected)


def test_levels_go_through_several_blocks(monkeypatch):
    import labelrank.aggregation.consensus as module

    monkeypatch.setattr(module, "_BLOCK", 64)
    y = np.argsort(np.random.default_rng(1).random((200, 4)), axis=1) + 1.0
    np.testing.assert_array_equal(pair_counts(PreferenceGraphs.from_rankings(y)), pair_counts(y))


def test_importing_does_not_load_numba():
    code = "import sys, labelrank.aggregation.consensus; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
