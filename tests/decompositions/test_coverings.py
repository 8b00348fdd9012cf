"""Coverings against their definitions, and as decompositions of the graph with a dummy label."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.decompositions import cover, element
from oracles.graphs import edges_by_instance
from strategies import graphs_of, rank_matrices

import labelrank.decompositions as ld
from labelrank import PreferenceGraphs, as_graphs
from labelrank.decompositions import coverings, get_covering

SETS = rank_matrices(entries=st.sampled_from([0.0, 0.0, 1.0, math.nan]))
COVERINGS = {
    ("zero_one", 1): coverings.zero_one,
    ("hamming", 1): coverings.hamming,
    ("two_sets", 1): coverings.two_sets,
    ("weighted_positive", 6): coverings.weighted_positive(),
    ("weighted_negative", 4): coverings.weighted_negative(),
    ("weighted_positive", 2.5): coverings.weighted_positive(2.5),
    ("weighted_negative", 1): coverings.weighted_negative(1),
}


def weighted_parts(subgraphs, i):
    return sorted((part.weight, sorted(part.edges())) for part in subgraphs.of(i))


@pytest.mark.parametrize("key", COVERINGS)
@given(indicator=SETS)
def test_elements_are_those_of_the_definition(key, indicator):
    name, weight = key
    dummy = indicator.shape[1]
    subgraphs = COVERINGS[key].cut(PreferenceGraphs.from_multilabel(indicator))
    assert subgraphs.n_labels == dummy + 1
    assert subgraphs.n_instances == len(indicator)
    for i, row in enumerate(indicator):
        relevant, irrelevant = np.flatnonzero(row == 1).tolist(), np.flatnonzero(row == 0).tolist()
        expected = [
            (float(count), sorted(element(labels, set(relevant), dummy)))
            for count, labels in cover(name, relevant, irrelevant, weight)
        ]
        assert weighted_parts(subgraphs, i) == sorted(expected)


def stars_of_the_dummy(graph):
    dummy = len(graph.labels) - 1
    stars = [[e for e in graph.edges if e[1] == dummy], [e for e in graph.edges if e[0] == dummy]]
    return [star for star in stars if star]


@pytest.mark.parametrize(
    ("covering", "decomposition"),
    [
        ("zero_one", ld.zero_one),
        ("hamming", ld.disagreement),
        (coverings.weighted_positive(1), ld.dominated),
        (coverings.weighted_negative(1), ld.domination),
        ("two_sets", ld.FunctionDecomposition(stars_of_the_dummy)),
    ],
)
@given(indicator=SETS)
def test_coverings_are_decompositions_of_the_graph_with_a_dummy(covering, decomposition, indicator):
    graphs = PreferenceGraphs.from_multilabel(indicator)
    as_covering = get_covering(covering).cut(graphs)
    as_decomposition = decomposition.cut(graphs.with_dummy())
    through_registry = get_covering(decomposition).cut(graphs)
    for i in range(len(graphs)):
        assert weighted_parts(as_covering, i) == weighted_parts(as_decomposition, i)
        assert weighted_parts(through_registry, i) == weighted_parts(as_decomposition, i)


@pytest.mark.parametrize("key", COVERINGS)
@given(indicator=SETS, data=st.data())
def test_an_element_fails_with_a_label_on_the_wrong_side_of_zero(key, indicator, data):
    name, weight = key
    n, k = indicator.shape
    scores = data.draw(rank_matrices(n, n, k, k, entries=st.sampled_from([-1.5, -0.5, 0.0, 0.5, 1.0])))
    subgraphs = COVERINGS[key].cut(PreferenceGraphs.from_multilabel(indicator))
    failed = subgraphs.disagree(np.column_stack([-scores, np.zeros(n)]))
    totals = np.bincount(subgraphs.instance, weights=failed * subgraphs.weight, minlength=n)
    for i, row in enumerate(indicator):
        relevant, irrelevant = np.flatnonzero(row == 1).tolist(), np.flatnonzero(row == 0).tolist()
        wrong = {j for j in relevant if scores[i, j] <= 0} | {j for j in irrelevant if scores[i, j] >= 0}
        expected = sum(w for w, labels in cover(name, relevant, irrelevant, weight) if labels & wrong)
        assert totals[i] == expected


def test_sets_stored_as_edges():
    sets = PreferenceGraphs.from_multilabel([[1, 0, 0], [1, 1, 0]])
    edges = graphs_of(edges_by_instance(sets), 3)
    for covering in COVERINGS.values():
        for i in range(2):
            assert weighted_parts(covering.cut(edges), i) == weighted_parts(covering.cut(sets), i)


def test_more_than_two_levels_are_refused():
    graphs = as_graphs([[1, 1, 2], [1, 2, 3]])
    for covering in (coverings.hamming, coverings.FunctionCovering(lambda relevant: [range(3)])):
        with pytest.raises(ValueError, match=r"instance 1 has 3 levels; build the graphs with .*from_multilabel"):
            covering.cut(graphs)


@pytest.mark.parametrize("weight", [0, -1, math.inf, math.nan, "6", True, None])
@pytest.mark.parametrize("factory", [ld.weighted_positive, ld.weighted_negative])
def test_weights_are_positive_numbers(factory, weight):
    with pytest.raises(ValueError, match="weight must be a positive number"):
        factory(weight)


def test_names_say_the_weight():
    assert repr(ld.weighted_positive(2.5)) == "<covering weighted_positive(2.5)>"
    assert repr(ld.weighted_negative()) == "<covering weighted_negative(4)>"
    assert repr(ld.hamming) == "<covering hamming>"
    assert repr(get_covering(ld.domination)) == "<covering domination>"
