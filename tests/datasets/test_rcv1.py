from __future__ import annotations

import numpy as np
import pytest
import sklearn.datasets
from scipy import sparse
from sklearn.utils import Bunch

from labelrank import PreferenceGraphs
from labelrank.datasets import fetch_rcv1_topics, read_topic_tree, topics_of_rcv1

HIER = """parent: None    child: Root    child-description: No Description
parent: CCAT    child: C15     child-description: PERFORMANCE
parent: C15     child: C151    child-description: ACCOUNTS EARNINGS
parent: Root    child: CCAT    child-description: CORPORATE/INDUSTRIAL
parent: GCAT    child: GSPO    child-description: SPORTS
parent: Root    child: GCAT    child-description: GOVERNMENT/SOCIAL
"""
TREE = {"Root": None, "C15": "CCAT", "C151": "C15", "CCAT": "Root", "GSPO": "GCAT", "GCAT": "Root"}
NAMES = np.array(["C15", "C151", "CCAT", "GCAT", "GSPO"], dtype=object)


@pytest.fixture
def rcv1():
    """What fetch_rcv1 returns, in small."""
    target = np.array([[1, 1, 1, 0, 0], [1, 0, 1, 0, 0], [0, 0, 0, 1, 1], [0, 0, 1, 1, 1]], dtype=np.uint8)
    data = sparse.csr_array([[0.6, 0.8, 0], [0, 1, 0], [0, 0, 1], [0.8, 0, 0.6]])
    return Bunch(data=data, target=sparse.csr_array(target), target_names=NAMES, sample_id=np.array([2, 3, 5, 8]))


def test_hier_file(write):
    assert read_topic_tree(write("rcv1.topics.hier.orig", HIER)) == TREE


def test_tables(write):
    assert read_topic_tree(write("a.tsv", "parent\tchild\tdescription\nNone\ta\t\na\tb\tB b\n")) == {
        "a": None,
        "b": "a",
    }
    assert read_topic_tree(write("b.tsv", "child\tparent\n\nb\ta\n")) == {"b": "a"}
    assert read_topic_tree(write("c.tsv", "group\ttopic\r\ng\tx\r\n")) == {"x": "g"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "tree.tsv: expected lines of a topic tree, found an empty file"),
        ("a\tb\n", "tree.tsv, line 1: expected parent: X .*, or group and topic, found"),
        ("parent\tchild\na\n", "tree.tsv, line 2: expected 2 values, as in the header, found 1"),
        ("parent\tchild\na\tb\n\t c\n", "line 3: expected a parent and a child"),
        (
            "parent\tchild\na\tb\nc\tb\n",
            "line 3: expected one line for each child, and line 2 has 'b', found 'b' again",
        ),
        (HIER + "parent: GCAT\n", "line 7: expected parent: X  child: Y  child-description: Z, found 'parent: GCAT'"),
    ],
)
def test_malformed_trees(write, text, message):
    with pytest.raises(ValueError, match=message):
        read_topic_tree(write("tree.tsv", text))


def test_topics(rcv1, write):
    path = write("rcv1.topics.hier.orig", HIER)
    bunch = topics_of_rcv1(rcv1, path)
    assert bunch.parents == TREE
    assert isinstance(bunch.data, sparse.csr_array)
    assert bunch.data.shape == (4, 3)
    assert bunch.label_names.tolist() == NAMES.tolist()
    assert bunch.sample_id.tolist() == [2, 3, 5, 8]
    graphs = PreferenceGraphs.from_hierarchy(bunch.target, bunch.parents, labels=bunch.label_names.tolist())
    np.testing.assert_array_equal(graphs.levels[0], [1, 0, 2, 2, 2])  # C151; its sibling is C15 and nothing more
    np.testing.assert_array_equal(graphs.levels[1], [0, 1, 2, 2, 2])  # C15, and CCAT is above it
    assert topics_of_rcv1(rcv1, TREE).parents == TREE


def test_the_tree_is_in_the_codes(rcv1):
    bunch = topics_of_rcv1(rcv1)
    assert bunch.parents == {"C15": "CCAT", "C151": "C15", "CCAT": None, "GCAT": None, "GSPO": "GCAT"}
    given = PreferenceGraphs.from_hierarchy(rcv1.target, TREE, labels=NAMES.tolist())
    assert PreferenceGraphs.from_hierarchy(bunch.target, bunch.parents, labels=NAMES.tolist()) == given


def test_a_tree_that_does_not_fit(rcv1):
    with pytest.raises(ValueError, match=r"lacks 2 of 5 topics \(first: 'GCAT'\)"):
        topics_of_rcv1(rcv1, {"C15": "CCAT", "C151": "C15", "CCAT": None})
    with pytest.raises(ValueError, match="'X1' has no topic above it"):
        topics_of_rcv1(Bunch(**{**rcv1, "target_names": ["C15", "C151", "CCAT", "GCAT", "X1"]}))


def test_fetch(rcv1, monkeypatch):
    asked = {}

    def fetch_rcv1(**options):
        asked.update(options)
        return rcv1

    monkeypatch.setattr(sklearn.datasets, "fetch_rcv1", fetch_rcv1)
    assert fetch_rcv1_topics(data_home="here", download_if_missing=False).data.shape == (4, 3)
    assert asked == {"data_home": "here", "download_if_missing": False}
    some = fetch_rcv1_topics(n_samples=2)
    assert some.sample_id.tolist() == fetch_rcv1_topics(n_samples=2).sample_id.tolist()
    rows = np.isin(rcv1.sample_id, some.sample_id)
    np.testing.assert_array_equal(some.target.toarray(), rcv1.target.toarray()[rows])
    np.testing.assert_array_equal(some.data.toarray(), rcv1.data.toarray()[rows])


@pytest.mark.data
def test_real_trees(data_dir):
    orig = read_topic_tree(data_dir / "text" / "rcv1.topics.hier.orig")
    assert orig == read_topic_tree(data_dir / "text" / "rcv1_topics_hierarchy.tsv")
    names = sorted(set(orig) - {"Root"})
    assert len(names) == 103
    rcv1 = Bunch(data=np.ones((1, 1)), target=np.ones((1, 103)), target_names=names, sample_id=[1])
    read_off = topics_of_rcv1(rcv1).parents
    assert read_off == {name: None if orig[name] == "Root" else orig[name] for name in names}
    assert len(read_topic_tree(data_dir / "text" / "rcv1.topics.hier.expanded")) > len(orig)


@pytest.mark.data
def test_topics_with_two_parents_are_no_tree(data_dir):
    with pytest.raises(ValueError, match=r"line 14: expected one line for each child, .* found 'sorghum' again"):
        read_topic_tree(data_dir / "text" / "reuters21578_derived_hierarchy.tsv")
