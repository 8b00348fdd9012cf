"""Counts, signs, votes and concordance over every kind of supervision."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import pairs as oracle
from oracles.graphs import edges_by_instance
from strategies import edge_rows, graphs_of, rank_matrices

from labelrank import PreferenceGraphs, as_graphs
from labelrank._kernels.pairs.rows import counts_of_neighbors
from labelrank.pairs import pair_rows, pair_shares, votes_of_counts


@st.composite
def any_graphs(draw):
    """Rank matrices kept as they are, levels, edges, and edges with weights."""
    if draw(st.booleans()):
        ranks = draw(rank_matrices(min_rows=1))
        return draw(st.sampled_from([as_graphs, PreferenceGraphs.from_rankings]))(ranks)
    rows, k = draw(edge_rows(both=True).filter(lambda drawn: drawn[0]))
    if draw(st.booleans()):
        return graphs_of(rows, k)
    flat = [(i, a, b) for i, row in enumerate(rows) for a, b in row]
    weights = draw(st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=len(flat), max_size=len(flat)))
    return graphs_of(rows, k, dict(zip(flat, weights, strict=True)))


def weights_for(graphs):
    return np.arange(len(graphs), dtype=float)  # the first one is zero


@given(any_graphs())
def test_counts(graphs):
    np.testing.assert_allclose(graphs.pair_counts(), oracle.pair_counts(graphs, np.ones(len(graphs))))
    weight = weights_for(graphs)
    np.testing.assert_allclose(graphs.pair_counts(weight), oracle.pair_counts(graphs, weight))


@given(rank_matrices())
def test_tied_pairs_can_be_half_a_vote_for_each_side(ranks):
    for graphs in (as_graphs(ranks), PreferenceGraphs.from_rankings(ranks)):
        tied = (ranks[:, :, None] == ranks[:, None, :]).sum(axis=0) * (1 - np.eye(ranks.shape[1]))
        np.testing.assert_allclose(graphs.pair_counts(ties=0.5), graphs.pair_counts() + 0.5 * tied)


def test_counts_of_many_rows():
    ranks = np.random.default_rng(0).permuted(np.tile(np.arange(30.0), (20_000, 1)), axis=1)
    graphs = PreferenceGraphs.from_rankings(ranks)  # several blocks of levels
    expected = (ranks[:, :, None] < ranks[:, None, :]).sum(axis=0)
    np.testing.assert_array_equal(graphs.pair_counts(), expected)
    np.testing.assert_array_equal(as_graphs(ranks).pair_counts(), expected)


def test_weights_are_checked():
    with pytest.raises(ValueError, match="sample_weight"):
        as_graphs([[1, 2]]).pair_counts([1.0, 2.0])
    with pytest.raises(ValueError, match="egative"):
        as_graphs([[1, 2]]).mean_votes([-1.0])


def test_shares():
    shares = pair_shares([[0, 3, 0], [1, 0, 0], [0, 0, 0]])
    np.testing.assert_array_equal(shares, [[0.5, 0.75, 0.5], [0.25, 0.5, 0.5], [0.5, 0.5, 0.5]])


@given(any_graphs())
def test_signs(graphs):
    signs = graphs.pair_signs()
    np.testing.assert_array_equal(signs, oracle.pair_signs(graphs))
    np.testing.assert_array_equal(graphs.pair_totals(), oracle.pair_totals(graphs))
    assert signs.dtype == (np.int8 if graphs.weight is None else np.float64)


@given(any_graphs())
def test_label_pairs(graphs):
    weight = weights_for(graphs)
    edges = oracle.weighted_edges(graphs)
    pairs = list(graphs.label_pairs(weight))
    assert [(pair.i, pair.j) for pair in pairs] == list(zip(*np.triu_indices(graphs.shape[1], 1), strict=True))
    for i, j, rows, first, votes in pairs:
        expected = [
            (row, int(a == i), weight[row] * w)
            for row, found in enumerate(edges)
            for a, b, w in found
            if {a, b} == {i, j} and weight[row] > 0
        ]
        assert sorted(zip(rows.tolist(), first.tolist(), votes.tolist(), strict=True)) == sorted(expected)
        assert (np.diff(rows) >= 0).all()


@given(rank_matrices())
def test_votes_of_rankings(ranks):
    expected = np.array([oracle.votes_of_ranking(row) for row in ranks.tolist()]).reshape(ranks.shape)
    for graphs in (as_graphs(ranks), PreferenceGraphs.from_rankings(ranks)):
        np.testing.assert_allclose(graphs.votes(), expected)
        if len(ranks):
            np.testing.assert_allclose(graphs.mean_votes(), expected.mean(axis=0))


@given(any_graphs().filter(lambda graphs: not graphs.is_ranked))
def test_votes_of_edges(graphs):
    k = graphs.shape[1]
    expected = np.array([oracle.votes_of_edges(row, k) for row in oracle.weighted_edges(graphs)]).reshape(graphs.shape)
    np.testing.assert_allclose(graphs.votes(), expected)
    counts = graphs.pair_counts()
    np.testing.assert_allclose(graphs.mean_votes(), 0.5 + pair_shares(counts).sum(axis=1))
    np.testing.assert_allclose(votes_of_counts(np.stack([counts, counts.T]))[0], graphs.mean_votes())


def test_votes_of_complete_rankings_do_not_depend_on_the_storage():
    ranks = np.array([[1.0, 2, 3, 4], [2, 1, 4, 3]])
    edges = graphs_of(edges_by_instance(as_graphs(ranks)), 4)
    np.testing.assert_array_equal(edges.votes(), as_graphs(ranks).votes())
    np.testing.assert_array_equal(edges.mean_votes([1, 3]), as_graphs(ranks).mean_votes([1, 3]))


def test_mean_votes_without_weight():
    np.testing.assert_array_equal(as_graphs([[1, 2, 3]]).mean_votes([0]), [2, 2, 2])


@pytest.mark.parametrize("kind", ["complete", "tied", "missing"])
def test_many_labels_are_sorted(kind):
    """Votes and concordance of many labels are found by sorting them, and are those of all pairs."""
    rng = np.random.default_rng(0)
    y, other = (rng.permuted(np.tile(np.arange(1.0, 1101), (3, 1)), axis=1) for _ in range(2))
    if kind != "complete":
        y, other = np.ceil(y / 7), np.ceil(other / 3)
        other[0] = 1.0
    if kind == "missing":
        y[rng.random(y.shape) < 0.5] = np.nan
        y[1] = np.nan
    signs = np.sign(y[:, np.newaxis] - y[:, :, np.newaxis])
    graphs = as_graphs(y)
    balance, total = graphs.concordance(other)
    np.testing.assert_array_equal(total, np.nansum(np.abs(signs), axis=(1, 2)) / 2)
    reference = np.sign(other[:, np.newaxis] - other[:, :, np.newaxis])
    np.testing.assert_array_equal(balance, np.nansum(signs * reference, axis=(1, 2)) / 2)
    observed = np.sum(~np.isnan(y), axis=1, keepdims=True)
    np.testing.assert_allclose(graphs.votes(), 550.5 + np.nansum(signs, axis=2) * 550.5 / (observed + 1))


@given(any_graphs(), st.integers(0, 2**32 - 1))
def test_concordance(graphs, seed):
    ranks = np.random.default_rng(seed).integers(1, 4, size=graphs.shape).astype(float)
    for found, expected in zip(graphs.concordance(ranks), oracle.concordance(graphs, ranks), strict=True):
        np.testing.assert_allclose(found, expected)


@given(any_graphs())
def test_counts_of_neighborhoods(graphs):
    n, k = graphs.shape
    neighbors = np.stack([np.arange(n), np.roll(np.arange(n), 1)])
    weights = np.stack([weights_for(graphs), np.ones(n)])
    counts = np.zeros((2, k, k))
    counts_of_neighbors(neighbors, weights, counts, pair_rows(graphs), 0.5)
    off = ~np.eye(k, dtype=bool)
    np.testing.assert_allclose(counts[0][off], graphs.pair_counts(weights[0], ties=0.5)[off])
    np.testing.assert_allclose(counts[1][off], graphs.pair_counts(ties=0.5)[off])


@given(any_graphs())
def test_what_was_observed(graphs):
    edges = edges_by_instance(graphs)
    np.testing.assert_array_equal(graphs.has_pairs(), [len(row) > 0 for row in edges])
    if not graphs.is_ranked:
        for row, seen in zip(edges, graphs.observed(), strict=True):
            assert set(np.flatnonzero(seen)) == {label for edge in row for label in edge}


@pytest.mark.parametrize("graphs_from", [as_graphs, PreferenceGraphs.from_rankings])
def test_complete_and_strict(graphs_from):
    strict, tied, missing = [[1, 2, 3], [3, 1, 2]], [[1, 2, 3], [1, 1, 2]], [[1, 2, 3], [1, 2, float("nan")]]
    found = [(graphs.is_complete, graphs.is_strict) for graphs in map(graphs_from, (strict, tied, missing))]
    assert found == [(True, True), (True, False), (False, False)]
    np.testing.assert_array_equal(graphs_from(missing).observed(), [[True, True, True], [True, True, False]])
    assert not PreferenceGraphs.from_pairs([0], [0], [1]).is_complete


@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (4, 2), (3,)])
def test_concordance_of_another_shape(shape):
    with pytest.raises(ValueError, match=r"ranks has shape .*, expected \(4, 3\)"):
        as_graphs(np.tile([1.0, 2.0, 3.0], (4, 1))).concordance(np.ones(shape))


@pytest.mark.parametrize("ties", [np.nan, -0.5, 2, "half"])
def test_votes_of_ties_are_shares(ties):
    with pytest.raises(ValueError, match="ties must be between 0 and 1"):
        as_graphs([[1, 1]]).pair_counts(ties=ties)


@pytest.mark.parametrize("counts", [[[1, 2, 3]], [1, 2], [[0, -1], [1, 0]]])
def test_shares_of_what_are_no_counts(counts):
    with pytest.raises(ValueError, match="counts must be square matrices of non-negative numbers"):
        pair_shares(counts)
