"""Decompositions and coverings given as functions, and the registry."""

import pickle
import re

import numpy as np
import pytest
from hypothesis import given
from strategies import edge_rows, graphs_of, rank_matrices

import labelrank.decompositions as ld
from labelrank import PreferenceGraphs, as_graphs
from labelrank.decompositions import (
    Covering,
    Decomposition,
    FunctionCovering,
    FunctionDecomposition,
    Subgraph,
    coverings,
    get_covering,
    get_decomposition,
    register,
)
from labelrank.metrics import generalized_error


def each_edge(graph):
    return [[edge] for edge in graph.edges]


def each_half(relevant):
    return [range(len(relevant) // 2), range(len(relevant) // 2, len(relevant))]


def edges_of(subgraphs):
    return [[part.edges() for part in subgraphs.of(i)] for i in range(subgraphs.n_instances)]


# --- Decompositions


@given(edge_rows())
def test_a_function_of_edges(drawn):
    rows, k = drawn
    subgraphs = FunctionDecomposition(each_edge).cut(graphs_of(rows, k))
    assert edges_of(subgraphs) == [[[edge] for edge in row] for row in rows]
    assert subgraphs.n_labels == k
    assert subgraphs.disagree(np.zeros((len(rows), k))).all()


@given(rank_matrices())
def test_a_function_of_levels(ranks):
    def best_level(graph):
        lower = [label for level in graph.levels[1:] for label in level]
        return [Subgraph.between(graph.levels[0], lower, weight=len(lower))]

    graphs = as_graphs(ranks)
    found, blocks = FunctionDecomposition(best_level).cut(graphs), ld.levels.cut(graphs)
    for i in range(len(graphs)):
        expected = [sorted(part.edges()) for part in blocks.of(i)[:1]]
        assert [sorted(part.edges()) for part in found.of(i)] == expected
        assert [part.weight for part in found.of(i)] == [len({b for _, b in edges}) for edges in expected]


def test_what_the_function_sees():
    seen = []

    def look(graph):
        seen.append(graph)
        return [graph.edges]

    FunctionDecomposition(look).cut(PreferenceGraphs.from_rankings([[1, 2, 1]], labels=["a", "b", "c"]))
    FunctionDecomposition(look).cut(graphs_of([[(1, 0)]], 2))
    assert seen[0].edges == ((0, 1), (2, 1))
    assert seen[0].levels == ((0, 2), (1,))
    assert seen[0].labels.tolist() == ["a", "b", "c"]
    assert seen[1].levels is None


@pytest.mark.parametrize("as_edges", [False, True])
def test_the_function_is_called_once_for_each_graph(as_edges):
    calls = []

    def count(graph):
        calls.append(graph.edges)
        return [graph.edges]

    ranks = [[1, 2, 3], [3, 2, 1], [1, 2, 3], [1, 1, 1], [1, 2, 3]]
    graphs = as_graphs(ranks)
    rows = [[(0, 1), (0, 2), (1, 2)], [(1, 0), (2, 0), (2, 1)]]
    stored = graphs_of([rows[0], rows[1], rows[0], [], rows[0]], 3) if as_edges else graphs
    subgraphs = FunctionDecomposition(count).cut(stored)
    assert calls == [tuple(rows[0]), tuple(rows[1])]  # and never for a graph without edges
    assert np.diff(subgraphs.subgraph_ptr).tolist() == [1, 1, 1, 0, 1]


@pytest.mark.parametrize(
    ("returned", "error", "message"),
    [
        ([[(1, 0)]], ValueError, r"returned the edge \(1, 0\) for instance 1, whose graph does not have it"),
        ([[(0, 1), (0, 9)]], ValueError, r"the edge \(0, 9\)"),
        ([[]], ValueError, "returned a subgraph without edges for instance 1"),
        ([Subgraph(())], ValueError, "returned a subgraph without edges for instance 1"),
        ([Subgraph.between([0], [])], ValueError, "returned a subgraph without edges for instance 1"),
        ([Subgraph((((0,), (1,)), ((), (1,))))], ValueError, "returned a subgraph without edges for instance 1"),
        ([[(0, 1), (0, 1)]], ValueError, "repeats an edge in a subgraph of instance 1"),
        (
            [Subgraph.between([0], [1], weight=0)],
            ValueError,
            "returned the weight 0 for instance 1; expected a positive",
        ),
        ([Subgraph.between([0], [1], weight=np.nan)], ValueError, "returned the weight nan"),
        ([(0, 1), (0, 2)], TypeError, "must return a list of subgraphs, each a Subgraph or a list of edges"),
        (None, TypeError, "must return a list of subgraphs.* for instance 1 it returned None"),
        ([[(0, 1, 2)]], TypeError, "must return a list of subgraphs"),
        ([[(0, 1.5)]], TypeError, "must return a list of subgraphs"),
        ([[(0, "b")]], TypeError, "must return a list of subgraphs"),
    ],
)
def test_wrong_answers_are_refused(returned, error, message):
    def wrong(graph):
        return returned

    with pytest.raises(error, match=f"the decomposition 'wrong' .*{message}|the decomposition 'wrong' {message}"):
        FunctionDecomposition(wrong).cut(as_graphs([[1, 1, 1], [1, 2, 3]]))


WEIGHTED = PreferenceGraphs.from_pairs(
    [0, 0, 0, 1, 1, 1], [0, 0, 1, 0, 0, 1], [1, 2, 2, 1, 2, 2], [1.0, 2.0, 4.0, 1.0, 5.0, 4.0]
)


@pytest.mark.parametrize("name", ["zero_one", "disagreement", "domination", "dominated"])
def test_plain_edges_weigh_what_they_weigh_in_the_named_decompositions(name):
    named = getattr(ld, name).cut(WEIGHTED)

    def same(graph):
        return [[(a, b) for a, b in graph.edges if (a, b) in part.edges()] for part in named.of(0)]

    own = FunctionDecomposition(same).cut(WEIGHTED)
    assert edges_of(own) == edges_of(named)
    np.testing.assert_allclose(own.weight, named.weight)
    for ranks in ([[2, 1, 3], [2, 1, 3]], [[1, 3, 2], [2, 3, 1]]):
        assert generalized_error(WEIGHTED, ranks, same) == pytest.approx(generalized_error(WEIGHTED, ranks, name))


def test_weights_of_edges_are_seen_and_part_of_the_graph():
    seen = []

    def look(graph):
        seen.append(graph.weights)
        return [Subgraph.of_edges(graph.edges[:2], weight=10)]

    found = FunctionDecomposition(look).cut(WEIGHTED)
    assert seen == [(1, 2, 4), (1, 5, 4)]  # the same edges, but not the same graph
    assert found.weight.tolist() == [15, 30]  # 10 times the mean of the edges
    FunctionDecomposition(look).cut(as_graphs([[1, 2, 3]]))
    assert seen[-1] is None


# --- Coverings


def test_a_covering_of_halves():
    sets = PreferenceGraphs.from_multilabel([[1, 1, 0, 0], [0, 1, 0, 1]])
    found = FunctionCovering(each_half).cut(sets)
    assert found.n_labels == 5
    assert [[sorted(part) for part in row] for row in edges_of(found)] == [
        [[(0, 4), (1, 4)], [(4, 2), (4, 3)]],
        [[(1, 4), (4, 0)], [(3, 4), (4, 2)]],
    ]


def test_repeated_elements_count_twice_and_repeated_labels_once():
    sets = PreferenceGraphs.from_multilabel([[1, 0]])
    found = FunctionCovering(lambda relevant: [(0, 1, 1), (1,), (1,)]).cut(sets)
    assert edges_of(found) == [[[(0, 2), (2, 1)], [(2, 1)], [(2, 1)]]]


def test_a_covering_depends_on_the_labels_and_is_called_once_for_each():
    calls = []

    def relevant_one_by_one(relevant):
        calls.append(relevant.tolist())
        relevant[:] = True  # a copy: changes nothing
        return [range(2), *([j] for j in np.flatnonzero(calls[-1]))]

    sets = PreferenceGraphs.from_multilabel([[1, 0], [1, 1], [1, 0]])
    found = FunctionCovering(relevant_one_by_one).cut(sets)
    assert calls == [[True, False], [True, True]]
    assert np.diff(found.subgraph_ptr).tolist() == [2, 3, 2]


@pytest.mark.parametrize(
    ("elements", "message"),
    [
        ([[0, 1]], r"leaves the labels \[2\] of instance 0 uncovered"),
        ([], r"leaves the labels \[0, 1, 2\] of instance 0 uncovered"),
        ([[0, 1, 2], []], "returned an empty element for instance 0"),
        ([[0, 1, 2, 3]], "names the label 3 for instance 0; there are 3 labels, 0 to 2"),
        ([[0, 1, 2], [-1]], "names the label -1 for instance 0"),
        *(
            (wrong, f"must return a list of elements, .* for instance 0 it returned {re.escape(repr(wrong))}")
            for wrong in (None, 3, ["a"], [["a", "b"]], [0, 1, 2], [[0, 1, 1.5]], [[True, False, False]], [[None]])
        ),
    ],
)
def test_wrong_coverings_are_refused(elements, message):
    def wrong(relevant):
        return elements

    with pytest.raises((ValueError, TypeError), match=f"the covering 'wrong' {message}"):
        FunctionCovering(wrong).cut(PreferenceGraphs.from_multilabel([[1, 0, 0]]))


def test_whole_numbers_of_any_kind_are_labels():
    sets = PreferenceGraphs.from_multilabel([[1, 0]])
    assert edges_of(FunctionCovering(lambda relevant: [np.array([0.0, 1.0])]).cut(sets)) == [[[(0, 2), (2, 1)]]]
    with pytest.raises(TypeError, match=r"a subgraph must consist of label indices, integers from 0, got 0.5"):
        Subgraph.between([0.5], [1])


def test_a_covering_by_function_needs_to_know_every_label():
    sets = PreferenceGraphs.from_multilabel([[1, 0], [1, np.nan]])
    with pytest.raises(ValueError, match="instance 1 has unknown labels, and 'each_half' needs all labels"):
        FunctionCovering(each_half).cut(sets)


# --- The registry


def test_names_objects_and_functions_are_all_accepted():
    assert get_decomposition("domination") is ld.domination
    assert get_decomposition(ld.domination) is ld.domination
    own = get_decomposition(each_edge)
    assert isinstance(own, FunctionDecomposition)
    assert own.name == "each_edge"
    assert get_decomposition(own) is own
    assert get_covering("zero_one") is coverings.zero_one
    assert get_covering(coverings.hamming) is coverings.hamming
    assert isinstance(get_covering(each_half), FunctionCovering)
    assert get_covering("weighted_positive").positive_weight == 6
    assert get_covering("weighted_negative").negative_weight == 4
    assert get_covering(ld.weighted_positive).name == "weighted_positive(6)"
    assert get_covering(ld.weighted_negative(2)).negative_weight == 2


def test_names():
    of_graphs, of_labels = ld.decomposition_names(), ld.covering_names()
    assert {"zero_one", "disagreement", "domination", "dominated"} <= set(of_graphs)
    assert {"levels", "adjacent_levels", "all_level_pairs"} <= set(of_graphs)
    assert {"zero_one", "hamming", "two_sets", "weighted_positive", "weighted_negative"} <= set(of_labels)
    assert of_graphs == sorted(of_graphs)
    assert of_labels == sorted(of_labels)


def test_unknown_names_list_the_known_ones():
    with pytest.raises(
        ValueError, match=r"decomposition 'hamming' is not known; choose one of \['adjacent_levels', .*"
    ):
        get_decomposition("hamming")
    with pytest.raises(
        ValueError, match=r"covering 'domination' is not known; choose one of \['hamming', .*'zero_one'\]"
    ):
        get_covering("domination")
    with pytest.raises(TypeError, match="must be a name, a Decomposition or a function, got int"):
        get_decomposition(3)
    with pytest.raises(TypeError, match="must be a name, a Covering or a function, got NoneType"):
        get_covering(None)


def test_a_covering_is_no_decomposition_of_graphs():
    with pytest.raises(TypeError, match="<covering hamming> is a covering of labels, which needs relevant sets"):
        get_decomposition(coverings.hamming)


def test_registering():
    register(FunctionDecomposition(each_edge))
    assert get_decomposition("each_edge").function is each_edge
    assert "each_edge" in ld.decomposition_names()
    assert "each_edge" not in ld.covering_names()
    with pytest.raises(ValueError, match="the decomposition 'each_edge' is already registered"):
        register(FunctionDecomposition(each_edge))
    register(FunctionCovering(each_half), name="halves")
    assert get_covering("halves").function is each_half
    with pytest.raises(ValueError, match="the covering 'halves' is already registered"):
        register(FunctionCovering(each_half), name="halves")
    with pytest.raises(ValueError, match="the decomposition 'zero_one' is already registered"):
        register(FunctionDecomposition(each_edge), name="zero_one")
    with pytest.raises(TypeError, match="wrap a function of a graph in FunctionDecomposition"):
        register(each_edge)
    with pytest.raises(TypeError, match="register takes a Decomposition or a Covering, got list; wrap"):
        register(list)


@pytest.mark.parametrize(
    "item",
    [
        FunctionDecomposition(each_edge),
        FunctionCovering(each_half),
        coverings.zero_one,
        coverings.hamming,
        ld.weighted_positive(3),
        get_covering(ld.domination),
    ],
)
def test_all_of_them_can_be_pickled(item):
    again = pickle.loads(pickle.dumps(item))
    assert type(again) is type(item)
    assert again.name == item.name
    assert isinstance(again, Covering) is isinstance(item, Covering)
    sets = PreferenceGraphs.from_multilabel([[1, 0, 1, 0], [0, 0, 1, 1]])
    assert edges_of(again.cut(sets)) == edges_of(item.cut(sets))


def test_a_subclass_is_a_decomposition():
    class Nothing(Decomposition):
        name = "nothing"

    assert get_decomposition(Nothing())
    with pytest.raises(NotImplementedError):
        Nothing().cut(as_graphs([[1, 2]]))
