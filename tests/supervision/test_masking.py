"""The two protocols for missing labels."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.graphs import edges_by_instance, edges_of_ranks
from strategies import edge_rows, graphs_of, rank_matrices

from labelrank import PreferenceGraphs, mask_rankings

NAN = math.nan
FRACTIONS = st.sampled_from([0, 0.2, 0.3, 0.5, 0.7, 1.0])


def test_the_coin_is_fair_and_independent():
    y = np.tile(np.arange(1.0, 6.0), (20_000, 1))
    hidden = np.isnan(mask_rankings(y, 0.3, random_state=0))
    assert abs(hidden.mean() - 0.3) < 0.005  # five standard deviations are 0.007
    np.testing.assert_allclose(hidden.mean(axis=0), 0.3, atol=0.016)
    assert np.abs(np.corrcoef(hidden.T) - np.eye(5)).max() < 0.03
    counts = np.bincount(hidden.sum(axis=1), minlength=6) / len(y)
    binomial = [math.comb(5, m) * 0.3**m * 0.7 ** (5 - m) for m in range(6)]
    np.testing.assert_allclose(counts, binomial, atol=0.016)  # rows are not forced to lose the same number


@given(rank_matrices(), FRACTIONS, st.sampled_from(["random", "top"]), st.integers(0, 3))
def test_what_is_kept_is_untouched_and_what_was_missing_stays_missing(y, fraction, how, seed):
    before = y.copy()
    masked = mask_rankings(y, fraction, how, random_state=seed)
    np.testing.assert_array_equal(y, before)
    kept = ~np.isnan(masked)
    assert np.array_equal(masked[kept], y[kept])
    np.testing.assert_array_equal(masked, mask_rankings(y, fraction, how, random_state=seed))
    if fraction == 0:
        np.testing.assert_array_equal(masked, y)
    if fraction == 1:
        assert np.isnan(masked).all()


@given(rank_matrices(), FRACTIONS)
def test_top_keeps_the_best_and_the_ties_at_the_cut(y, fraction):
    masked = mask_rankings(y, fraction, how="top")
    for row, found in zip(y.tolist(), masked.tolist(), strict=True):
        observed = [r for r in row if not math.isnan(r)]
        n_kept = round((1 - fraction) * len(observed))
        cut = sorted(observed)[n_kept - 1] if n_kept else -math.inf
        assert [not math.isnan(r) for r in found] == [r <= cut for r in row]


def test_ties_at_the_cut_by_hand():
    assert mask_rankings([[1, 2, 2, 2]], 0.5, "top").tolist() == [[1, 2, 2, 2]]
    np.testing.assert_array_equal(mask_rankings([[1, 1, 2, 3]], 0.5, "top"), [[1, 1, NAN, NAN]])


@given(rank_matrices(), FRACTIONS, st.sampled_from(["random", "top"]), st.booleans())
def test_graphs_lose_the_same_labels_as_ranks(y, fraction, how, as_edges):
    levels = PreferenceGraphs.from_rankings(y)
    graphs = graphs_of(edges_by_instance(levels), y.shape[1]) if as_edges else levels
    # A lone label is observed in a rank matrix and invisible in a graph of edges.
    ranks = graphs.to_ranks()
    masked = mask_rankings(graphs, fraction, how, random_state=1)
    assert masked.storage == graphs.storage
    expected = mask_rankings(ranks, fraction, how, random_state=1)
    assert edges_by_instance(masked) == [edges_of_ranks(row) for row in expected.tolist()]


@given(edge_rows(), st.integers(0, 3))
def test_coins_on_cyclic_graphs_remove_labels_with_their_edges(drawn, seed):
    rows, k = drawn
    masked = mask_rankings(graphs_of(rows, k), 0.5, random_state=seed)
    hidden = np.isnan(mask_rankings(np.zeros((len(rows), k)), 0.5, random_state=seed))
    expected = [[(a, b) for a, b in row if not hidden[i, a] and not hidden[i, b]] for i, row in enumerate(rows)]
    assert edges_by_instance(masked) == expected


def test_masked_weights_stay_with_their_edges():
    graphs = PreferenceGraphs.from_pairs([0, 0, 0], [0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0])
    masked = graphs.without_labels(np.array([[True, False, False]]))
    assert edges_by_instance(masked) == [[(1, 2)]]
    assert masked.weight.tolist() == [2.0]


def test_frames_are_read():
    masked = mask_rankings(pl.DataFrame({"a": [1, 2], "b": [2, 1]}), 0.5, "top")
    assert masked.columns == ["a", "b"]
    np.testing.assert_array_equal(masked, [[1, NAN], [NAN, 1]])


def test_bad_arguments():
    with pytest.raises(ValueError, match=r"fraction must be between 0 and 1, got 1.5"):
        mask_rankings([[1, 2]], 1.5)
    with pytest.raises(ValueError, match="fraction must be between 0 and 1, got nan"):
        mask_rankings([[1, 2]], NAN)
    with pytest.raises(ValueError, match="fraction must be between 0 and 1, got 'half'"):
        mask_rankings([[1, 2]], "half")
    with pytest.raises(ValueError, match='how must be "random" or "top", got \'bottom\''):
        mask_rankings([[1, 2]], 0.5, how="bottom")
    cycle = PreferenceGraphs.from_pairs([0, 0, 0], [0, 1, 2], [1, 2, 0])
    with pytest.raises(ValueError, match="instance 0 is not layered"):
        mask_rankings(cycle, 0.5, how="top")
    with pytest.raises(ValueError, match=r"hidden has shape \(1, 2\), the graphs have \(1, 3\)"):
        cycle.without_labels(np.zeros((1, 2), dtype=bool))
