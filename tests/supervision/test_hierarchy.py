"""Layers of a label tree, against breadth-first search on the tree with its dummy children."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.graphs import layers_of_tree
from scipy import sparse
from strategies import trees

from labelrank import PreferenceGraphs
from labelrank.supervision.hierarchy import LabelTree

from_hierarchy = PreferenceGraphs.from_hierarchy


@st.composite
def labeled_trees(draw):
    """A tree, the nodes that are labels (in some order), the label sets of some instances, a number of layers."""
    parent_of = draw(trees())
    labels = draw(st.permutations(list(parent_of)))
    labels = labels[: draw(st.integers(1, len(labels)))]
    sets = draw(st.lists(st.sets(st.sampled_from(labels), max_size=4), max_size=5))
    return parent_of, labels, sets, draw(st.integers(2, 5))


def with_ancestors(nodes, parent_of):
    closed = set(nodes)
    for node in nodes:
        while parent_of[node] is not None:
            node = parent_of[node]
            closed.add(node)
    return closed


@given(labeled_trees(), st.booleans())
def test_layers_equal_distances_in_the_tree(drawn, ancestors_along):
    parent_of, labels, sets, n_layers = drawn
    names = {node: f"node {node}" for node in parent_of}
    parents = {names[node]: None if parent is None else names[parent] for node, parent in parent_of.items()}
    given_sets = [with_ancestors(nodes, parent_of) & set(labels) if ancestors_along else nodes for nodes in sets]
    indicator = np.array([[label in nodes for label in labels] for nodes in given_sets]).reshape(-1, len(labels))
    # An ancestor that is no label changes nothing, one that is drops out of the ends by itself.
    expected = [layers_of_tree(parent_of, labels, nodes, n_layers) for nodes in sets]
    forms = [indicator, indicator.astype(float), sparse.csr_array(indicator), sparse.csc_array(indicator.astype(int))]
    if sets:
        forms.append([{names[node] for node in nodes} for nodes in given_sets])
    for Y in forms:
        graphs = from_hierarchy(Y, parents, n_layers, labels=[names[label] for label in labels])
        assert graphs.levels.tolist() == expected
        assert graphs.levels.dtype == np.int8
        assert graphs.shape == (len(sets), len(labels))


@given(labeled_trees())
def test_an_array_of_parents_is_the_same_tree(drawn):
    parent_of, _, sets, n_layers = drawn
    n = len(parent_of)
    array = np.array([-1 if parent_of[i] is None else parent_of[i] for i in range(n)])
    indicator = np.array([[i in nodes for i in range(n)] for nodes in sets]).reshape(-1, n)
    by_array = from_hierarchy(indicator, array, n_layers)
    by_mapping = from_hierarchy(indicator, parent_of, n_layers)
    assert by_array.levels.tolist() == [layers_of_tree(parent_of, range(n), nodes, n_layers) for nodes in sets]
    assert by_array == by_mapping
    assert from_hierarchy(indicator, array.tolist(), n_layers) == by_array


def test_by_hand():
    #        root
    #    a         b
    #  c   d       e
    #  f
    parents = {"c": "a", "d": "a", "e": "b", "f": "c"}
    names = ["a", "b", "c", "d", "e", "f"]
    graphs = from_hierarchy([{"d"}, {"a", "c", "f"}, {"b"}, set()], parents, 4, labels=names)
    assert graphs.levels.tolist() == [
        #  a  b  c  d  e  f
        [1, 3, 2, 0, 3, 2],  # a's dummy is d's sibling; the leaves below c are an edge further
        [2, 3, 1, 2, 3, 0],
        [3, 0, 3, 3, 1, 3],
        [-1, -1, -1, -1, -1, -1],
    ]
    assert from_hierarchy([{"d", "e"}], parents, 3, labels=names).levels.tolist() == [[1, 1, 2, 0, 0, 2]]
    assert graphs.labels.tolist() == names


def test_frames_name_the_nodes():
    frame = pl.DataFrame({"cat": [1, 0], "dog": [0, 1], "oak": [0, 1]})
    graphs = from_hierarchy(frame, {"cat": "animal", "dog": "animal", "oak": "plant"})
    assert graphs.labels.tolist() == ["cat", "dog", "oak"]
    assert graphs.levels.tolist() == [[0, 1, 2], [1, 0, 0]]


@pytest.mark.parametrize(
    ("Y", "parents", "options", "error", "message"),
    [
        ([{"a"}], {"a": "b", "b": "a"}, {"labels": ["a", "b"]}, ValueError, "parents has a cycle through"),
        ([{"a"}], {"a": "a"}, {"labels": ["a"]}, ValueError, "parents has a cycle through 'a'"),
        ([{"a"}], {"a": "r", "x": "y", "y": "x"}, {"labels": ["a"]}, ValueError, "parents has a cycle through"),
        ([[1, 0]], [1, 0], {}, ValueError, "parents has a cycle"),
        ([{"a"}], {"a": "r"}, {"labels": ["a", "z"]}, ValueError, "the label 'z' is not a node of the tree"),
        ([[1, 0]], {0: 5}, {}, ValueError, "the label 1 is not a node of the tree"),
        ([[1, 0]], [-1], {}, ValueError, "parents has 1 entries, but there are 2 labels"),
        ([[1, 0]], [-1, 2], {}, ValueError, r"parents\[1\] is 2; expected an index from 0 to 1, or -1 for none"),
        ([[1, 0]], [-2, 0], {}, ValueError, r"parents\[0\] is -2"),
        ([[1, 0]], ["a", "b"], {}, TypeError, "parents must be a mapping .* or an integer array"),
        ([[1, 0]], [-1.0, 0.0], {}, TypeError, "parents must be a mapping .* or an integer array"),
        ([[1, np.nan]], [-1, 0], {}, ValueError, r"Y has unknown labels \(NaN\), first in row 0"),
        ([[1, 2]], [-1, 0], {}, ValueError, "Y must be a matrix of 0 and 1"),
        ([[1, 0]], [-1, 0], {"labels": ["a"]}, ValueError, "labels has 1 names, but there are 2 labels"),
        ([[1, 0]], [-1, 0], {"n_layers": 1}, ValueError, "n_layers must be an integer from 2 to 127, got 1"),
        ([[1, 0]], [-1, 0], {"n_layers": 128}, ValueError, "n_layers must be an integer from 2 to 127"),
        ([[1, 0]], [-1, 0], {"n_layers": 2.5}, ValueError, "n_layers must be an integer from 2 to 127"),
    ],
)
def test_bad_trees_are_refused(Y, parents, options, error, message):
    with pytest.raises(error, match=message):
        from_hierarchy(Y, parents, **options)


@given(trees())
def test_distances_are_those_of_a_tree(parent_of):
    n = len(parent_of)
    tree = LabelTree(parent_of, range(n))
    assert (tree.distance == tree.distance.T).all()
    assert (tree.distance[~np.eye(n, dtype=bool)] >= 2).all()
    for i in range(n):
        assert set(np.flatnonzero(tree.above[i])) == with_ancestors({i}, parent_of) - {i}


@pytest.mark.data
def test_the_topic_tree_of_rcv1(data_dir):
    table = pl.read_csv(data_dir / "text" / "rcv1_topics_hierarchy.tsv", separator="\t")
    parents = dict(zip(table["child"], table["parent"], strict=True))
    parent_of = {child: None if parent == "None" else parent for child, parent in parents.items()}
    labels = [node for node in parent_of if node != "Root"]
    assert len(labels) == 103
    random = np.random.RandomState(0)
    sets = [set(random.choice(labels, size=random.randint(1, 5), replace=False).tolist()) for _ in range(20)]
    graphs = from_hierarchy(sets, parent_of, labels=labels)
    assert graphs.levels.tolist() == [layers_of_tree(parent_of, labels, nodes, 3) for nodes in sets]
