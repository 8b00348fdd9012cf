"""Borda and Copeland against literal loops, and what all kinds of consensus have in common."""

import numpy as np
import pytest
from aggregation.cases import NAN, battles, graphs_of, rank_matrices
from hypothesis import given, settings
from oracles import consensus as oracle

from labelrank import PreferenceGraphs
from labelrank.aggregation import borda, borda_scores, copeland, kemeny, pair_counts


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
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        borda(PreferenceGraphs.from_pairs([], [], [], n_instances=0, n_labels=3))
    with pytest.raises(ValueError, match="0 labels"):
        borda(PreferenceGraphs.from_pairs([], [], [], n_instances=2, n_labels=0))
