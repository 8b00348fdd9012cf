"""Every cut of every graph, in both storages, against the definitions."""

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.decompositions import OF_EDGES, OF_LEVELS, disagrees, mean_weight
from oracles.graphs import edges_by_instance
from strategies import edge_rows, graphs_of, rank_matrices

import labelrank.decompositions as ld
from labelrank import PreferenceGraphs, as_graphs
from labelrank.decompositions import EdgeWeighted, Subgraph, get_decomposition

SCORES = st.sampled_from([1.0, 2.0, 2.0, 3.0, 4.5])


def as_sets(subgraphs):
    """The subgraphs of each instance as sorted lists of sets of edges, and a check of the flat arrays on the way."""
    assert (np.diff(subgraphs.block_ptr) > 0).all()
    assert (subgraphs.better_stop > subgraphs.better_start).all()
    assert (subgraphs.worse_stop > subgraphs.worse_start).all()
    assert subgraphs.subgraph_ptr[-1] == len(subgraphs) == len(subgraphs.weight)
    assert subgraphs.block_ptr[-1] == len(subgraphs.better_start)
    assert subgraphs.member_ptr[-1] == len(subgraphs.members)
    found = []
    for i in range(subgraphs.n_instances):
        parts = [part.edges() for part in subgraphs.of(i)]
        for part in parts:
            assert len(part) == len(set(part))
        found.append(sorted(sorted(part) for part in parts))
    return found


def expected_of(rows, oracle):
    return [sorted(sorted(part) for part in oracle(row)) for row in rows]


@pytest.mark.parametrize("name", OF_EDGES)
@given(drawn=edge_rows())
def test_cuts_of_edges(name, drawn):
    rows, k = drawn
    subgraphs = get_decomposition(name).cut(graphs_of(rows, k))
    assert as_sets(subgraphs) == expected_of(rows, OF_EDGES[name])
    assert subgraphs.n_labels == k
    assert subgraphs.n_instances == len(rows)
    assert (subgraphs.weight == 1).all()


@pytest.mark.parametrize("name", OF_EDGES)
@given(ranks=rank_matrices())
def test_cuts_of_levels(name, ranks):
    graphs = as_graphs(ranks)
    subgraphs = get_decomposition(name).cut(graphs)
    assert as_sets(subgraphs) == expected_of(edges_by_instance(graphs), OF_EDGES[name])
    assert (subgraphs.weight == 1).all()


@pytest.mark.parametrize("name", OF_LEVELS)
@given(ranks=rank_matrices(), as_edges=st.booleans())
def test_cuts_into_blocks_of_levels(name, ranks, as_edges):
    graphs = as_graphs(ranks)
    stored = graphs_of(edges_by_instance(graphs), graphs.shape[1]) if as_edges else graphs
    subgraphs = get_decomposition(name).cut(stored)
    assert as_sets(subgraphs) == expected_of(graphs.levels.tolist(), OF_LEVELS[name])
    assert (np.diff(subgraphs.block_ptr) == 1).all()  # complete bipartite


@pytest.mark.parametrize("name", [*OF_EDGES, *OF_LEVELS])
def test_levels_may_have_gaps(name):
    graphs = as_graphs([[1, 2, 3, 4]]).without_labels(np.array([[False, True, False, False]]))
    assert graphs.levels.tolist() == [[0, -1, 2, 3]]
    dense = as_graphs([[1, math.nan, 2, 3]])
    cut = get_decomposition(name).cut
    assert as_sets(cut(graphs)) == as_sets(cut(dense))


@pytest.mark.parametrize("name", OF_EDGES)
@given(drawn=edge_rows(), random=st.randoms(use_true_random=False))
def test_weighted_edges_give_their_mean_weight(name, drawn, random):
    rows, k = drawn
    weights = {(i, a, b): random.choice([0.5, 1.0, 3.0]) for i, row in enumerate(rows) for a, b in row}
    subgraphs = get_decomposition(name).cut(graphs_of(rows, k, weights))
    assert as_sets(subgraphs) == expected_of(rows, OF_EDGES[name])
    for i, row in enumerate(rows):
        weight_of = {(a, b): weights[i, a, b] for a, b in row}
        for part in subgraphs.of(i):
            assert part.weight == pytest.approx(mean_weight(part.edges(), weight_of))


@pytest.mark.parametrize("name", OF_EDGES)
@given(drawn=edge_rows(), data=st.data())
def test_disagreement_with_ranks(name, drawn, data):
    rows, k = drawn
    ranks = data.draw(rank_matrices(len(rows), len(rows), k, k, entries=SCORES))
    subgraphs = get_decomposition(name).cut(graphs_of(rows, k))
    found = subgraphs.disagree(ranks)
    at = 0
    for i in range(len(rows)):
        for part in subgraphs.of(i):
            assert found[at] == disagrees(part.edges(), ranks[i])
            assert subgraphs.instance[at] == i
            assert subgraphs.edge_counts()[at] == len(part.edges())
            at += 1
    assert at == len(found) == len(subgraphs.edge_counts())


@pytest.mark.parametrize("name", [*OF_EDGES, *OF_LEVELS])
@given(y=rank_matrices(), data=st.data())
def test_disagreement_of_layered_graphs(name, y, data):
    n, k = y.shape
    ranks = data.draw(rank_matrices(n, n, k, k, entries=SCORES))
    subgraphs = get_decomposition(name).cut(as_graphs(y))
    expected = [disagrees(part.edges(), ranks[i]) for i in range(n) for part in subgraphs.of(i)]
    assert subgraphs.disagree(ranks).tolist() == expected


def test_a_missing_prediction_agrees_with_nothing():
    subgraphs = ld.disagreement.cut(as_graphs([[1, 2, 3]]))
    assert subgraphs.disagree(np.array([[1, math.nan, 3]])).tolist() == [True, False, True]
    with pytest.raises(ValueError, match=r"ranks has shape \(1, 2\), expected \(1, 3\)"):
        subgraphs.disagree(np.zeros((1, 2)))


@pytest.mark.parametrize("name", OF_LEVELS)
def test_cuts_into_levels_refuse_a_cycle(name):
    cyclic = graphs_of([[(0, 1)], [(0, 1), (1, 2), (2, 0)]], 3)
    with pytest.raises(
        ValueError, match=f"the decomposition '{name}' needs layered graphs: .* instance 1 is not layered"
    ):
        get_decomposition(name).cut(cyclic)
    weighted = PreferenceGraphs.from_pairs([0], [0], [1], [2.0])
    with pytest.raises(ValueError, match="needs layered graphs: weighted edges cannot be stored as levels"):
        get_decomposition(name).cut(weighted)


def test_layered_cuts_store_no_edges():
    graphs = as_graphs([np.arange(300)])
    for decomposition in (ld.zero_one, ld.domination, ld.dominated, ld.levels, ld.adjacent_levels):
        subgraphs = decomposition.cut(graphs)
        assert len(subgraphs.members) == 300
        assert len(subgraphs.better_start) == 299
    assert ld.zero_one.cut(graphs).edge_counts().tolist() == [graphs.n_edges]


@given(rank_matrices(), st.sampled_from([*OF_EDGES, *OF_LEVELS]))
def test_edge_weighted(ranks, name):
    graphs = as_graphs(ranks)
    plain, weighted = get_decomposition(name).cut(graphs), EdgeWeighted(get_decomposition(name)).cut(graphs)
    assert as_sets(plain) == as_sets(weighted)
    assert weighted.weight.tolist() == [len(part.edges()) for i in range(len(graphs)) for part in plain.of(i)]


def test_edge_weighted_multiplies_the_weights_there_are():
    graphs = PreferenceGraphs.from_pairs([0, 0], [0, 0], [1, 2], [1.0, 3.0])
    cut = EdgeWeighted(ld.domination).cut(graphs)
    assert cut.weight.tolist() == [4.0]
    assert EdgeWeighted(ld.domination).name == "domination, weighted by edges"


@pytest.mark.parametrize("name", [*OF_EDGES, *OF_LEVELS])
def test_named_decompositions_survive_pickle_and_copy_as_themselves(name):
    decomposition = get_decomposition(name)
    assert pickle.loads(pickle.dumps(decomposition)) is decomposition
    assert copy.deepcopy(decomposition) is decomposition
    assert repr(decomposition) == f"<decomposition {name}>"
    assert getattr(ld, name) is decomposition
    wrapped = pickle.loads(pickle.dumps(EdgeWeighted(decomposition)))
    assert wrapped.decomposition is decomposition


def test_subgraph():
    assert Subgraph.between([0, 1], (2, 3), 2.0).edges() == [(0, 2), (0, 3), (1, 2), (1, 3)]
    star = Subgraph.of_edges([(0, 1), (2, 1), (0, 3)])
    assert sorted(star.edges()) == [(0, 1), (0, 3), (2, 1)]
    assert len(star.blocks) == 2
