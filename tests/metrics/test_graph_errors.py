"""Errors on graphs against literal loops and explicit cuts."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from metrics.cases import NAN, cyclic, tied_incomplete
from numpy.testing import assert_allclose
from oracles import metrics as oracle

from labelrank import PreferenceGraphs, metrics
from labelrank.decompositions import get_decomposition, hamming

ERRORS = {
    "zero_one": metrics.zero_one_error,
    "disagreement": metrics.disagreement_error,
    "domination": metrics.domination_error,
    "dominated": metrics.dominated_error,
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@given(tied_incomplete())
def test_graph_errors_and_tau_of_rankings_equal_literal_loops(case):
    true, pred = case
    edges = [oracle.edges_of_ranks(row) for row in true]
    assume(any(edges))
    as_edges = PreferenceGraphs.from_pairs(
        *PreferenceGraphs.from_rankings(true).to_edges(), n_instances=len(true), n_labels=true.shape[1]
    )
    for y in (true, PreferenceGraphs.from_rankings(true), as_edges):
        assert_allclose(metrics.kendall_tau(y, pred), oracle.kendall_tau(edges, pred), atol=1e-12)
        for kind, error in ERRORS.items():
            expected = oracle.generalized_error(edges, pred, kind)
            assert_allclose(error(y, pred), expected, atol=1e-12)
            assert_allclose(metrics.generalized_error(y, pred, kind), expected, atol=1e-12)


@pytest.mark.filterwarnings("ignore::UserWarning")
@given(cyclic())
def test_graph_errors_and_tau_of_arbitrary_graphs_equal_literal_loops(case):
    edges, graphs, pred = case
    assume(any(edges))
    assert_allclose(metrics.kendall_tau(graphs, pred), oracle.kendall_tau(edges, pred), atol=1e-12)
    for kind, error in ERRORS.items():
        assert_allclose(error(graphs, pred), oracle.generalized_error(edges, pred, kind), atol=1e-12)


@pytest.mark.filterwarnings("ignore::UserWarning")
@given(tied_incomplete(), st.sampled_from(["levels", "adjacent_levels", "all_level_pairs"]))
def test_kernel_equals_explicit_cut(case, name):
    true, pred = case
    graphs = PreferenceGraphs.from_rankings(true)
    assume(graphs.n_edges)
    subgraphs = get_decomposition(name).cut(graphs)
    wrong = subgraphs.disagree(pred)
    shares = [wrong[subgraphs.instance == i].mean() for i in np.unique(subgraphs.instance)]
    assert_allclose(metrics.generalized_error(true, pred, name), np.mean(shares), atol=1e-12)


def test_paper_figure_2():
    # The graph of the figure, the order 1 2 3 4 5: three of eight edges, two of four and three of five stars disagree.
    pairs = [(1, 2), (1, 4), (1, 5), (2, 3), (3, 1), (3, 5), (5, 2), (5, 4)]
    better, worse = np.array(pairs).T - 1
    graphs = PreferenceGraphs.from_pairs(np.zeros(8, dtype=int), better, worse)
    pred = [[1, 2, 3, 4, 5]]
    assert metrics.disagreement_error(graphs, pred) == 3 / 8
    assert metrics.domination_error(graphs, pred) == 2 / 4
    assert metrics.dominated_error(graphs, pred) == 3 / 5
    assert metrics.zero_one_error(graphs, pred) == 1


def test_instances_without_edges_are_left_out_and_counted():
    true, pred = [[1, 2], [1, NAN], [1, 1]], [[1, 2], [2, 1], [2, 1]]
    with pytest.warns(UserWarning, match=r"leaves out 2 of 3 instances without edges \(first: row 1\)") as caught:
        assert metrics.zero_one_error(true, pred) == 0
    assert caught[0].filename == __file__
    assert metrics.kendall_tau(true, pred) == 1


def test_edge_weights_weigh_the_pairs():
    graphs = PreferenceGraphs.from_pairs([0, 0], [0, 1], [1, 2], [3.0, 1.0], n_labels=3)
    pred = [[1, 2, 1]]  # agrees with the first edge, not with the second
    assert metrics.kendall_tau(graphs, pred) == (3 - 1) / 4
    assert metrics.disagreement_error(graphs, pred) == 1 / 4
    assert metrics.domination_error(graphs, pred) == 1 / 4
    assert metrics.zero_one_error(graphs, pred) == 1


def test_generalized_error_of_a_users_decomposition():
    def top_edge_only(graph):
        return [[graph.edges[0]]]

    assert metrics.generalized_error([[1, 2, 3], [1, 2, 3]], [[1, 2, 3], [2, 1, 3]], top_edge_only) == 0.5
    with pytest.raises(ValueError, match="decomposition 'nope' is not known"):
        metrics.generalized_error([[1, 2]], [[1, 2]], "nope")
    with pytest.raises(TypeError, match="is a covering"):
        metrics.generalized_error([[1, 2]], [[1, 2]], hamming)


def test_many_rows_of_edges():
    rng = np.random.default_rng(3)
    pred = rng.random((3000, 1000))  # more than one block
    better, worse = rng.integers(0, 500, 3000), rng.integers(500, 1000, 3000)
    edges = PreferenceGraphs.from_pairs(np.arange(3000), better, worse, n_labels=1000)
    rows = np.arange(3000)
    expected = np.mean(pred[rows, better] >= pred[rows, worse])
    assert metrics.disagreement_error(edges, pred) == pytest.approx(expected, rel=1e-12)


def test_a_decomposition_that_leaves_a_graph_uncut_is_not_told_as_a_graph_without_edges():
    def only_short(graph):
        return [graph.edges] if len(graph.edges) < 2 else []

    y = [[1, 2, 3], [1, 2, float("nan")]]
    with pytest.warns(UserWarning, match="leaves out 1 of 2 instances without subgraphs .first: row 0"):
        assert metrics.generalized_error(y, [[1, 2, 3], [1, 2, 3]], only_short) == 0
    with pytest.warns(UserWarning, match="leaves out 1 of 2 instances without edges .first: row 1"):
        metrics.generalized_error([[1, 2], [1, 1]], [[1, 2], [1, 2]], lambda graph: [graph.edges])
