"""PreferenceGraphs from rankings, scores, sets and classes, against the definitions."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.graphs import edges_by_instance, edges_of_levels, edges_of_ranks, edges_of_set
from scipy import sparse
from strategies import rank_matrices

from labelrank import PreferenceGraphs, as_graphs, ranks_from_orders

NAN = math.nan
BITS = st.sampled_from([0.0, 1.0])


# --- Rankings and scores


@given(rank_matrices())
def test_from_rankings(ranks):
    graphs = PreferenceGraphs.from_rankings(ranks)
    expected = [edges_of_ranks(row) for row in ranks.tolist()]
    assert edges_by_instance(graphs) == expected
    assert graphs.shape == ranks.shape
    assert graphs.storage == "levels"
    assert graphs.n_edges == sum(map(len, expected))
    assert graphs.edge_counts().tolist() == [len(edges) for edges in expected]
    assert graphs.levels.dtype == np.int8
    assert [edges_of_levels(row) for row in graphs.levels.tolist()] == expected
    for row in graphs.levels.tolist():  # levels have no gaps
        assert sorted({level for level in row if level >= 0}) == list(range(max(row, default=-1) + 1))
    assert [edges_of_ranks(row) for row in graphs.to_ranks().tolist()] == expected


@given(rank_matrices())
def test_from_scores_turns_them_around(scores):
    graphs = PreferenceGraphs.from_scores(scores)
    assert edges_by_instance(graphs) == [edges_of_ranks(row) for row in (-scores).tolist()]


@pytest.mark.parametrize("n_labels", [127, 128, 129, 300])
def test_levels_and_edges_do_not_wrap_around(n_labels):
    graphs = PreferenceGraphs.from_rankings([np.arange(n_labels)])
    assert graphs.levels[0].tolist() == list(range(n_labels))
    assert graphs.n_edges == n_labels * (n_labels - 1) // 2
    rows, better, worse = graphs.to_edges()
    again = PreferenceGraphs.from_pairs(rows, better, worse, n_labels=n_labels)
    assert again == graphs
    assert again.to_levels().levels[0].tolist() == list(range(n_labels))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_name_the_labels(frame):
    graphs = PreferenceGraphs.from_rankings(frame({"red": [1, 2], "blue": [2, 1]}))
    assert graphs.labels.tolist() == ["red", "blue"]
    assert graphs.has_names
    scores = PreferenceGraphs.from_scores(frame({"red": [1.0, 2.0], "blue": [2.0, 1.0]}))
    assert scores.labels.tolist() == ["red", "blue"]
    sets = PreferenceGraphs.from_multilabel(frame({"red": [1, 0], "blue": [0, 1]}))
    assert sets.labels.tolist() == ["red", "blue"]
    assert graphs[:1].labels.tolist() == ["red", "blue"]
    assert not PreferenceGraphs.from_rankings([[1, 2]]).has_names
    assert PreferenceGraphs.from_rankings([[1, 2]], labels=["x", "y"]).labels.tolist() == ["x", "y"]


def test_labels_are_as_many_as_columns_and_different():
    with pytest.raises(ValueError, match="labels has 1 names, but there are 2 labels"):
        PreferenceGraphs.from_rankings([[1, 2]], labels=["a"])
    with pytest.raises(ValueError, match=r"labels has repeated names: \['a', 'a'\]"):
        PreferenceGraphs.from_rankings([[1, 2]], labels=["a", "a"])
    with pytest.raises(TypeError, match="labels must be a sequence of names, got the string 'ab'"):
        PreferenceGraphs.from_rankings([[1, 2]], labels="ab")


def test_as_graphs():
    graphs = PreferenceGraphs.from_rankings([[1, 2]])
    assert as_graphs(graphs) is graphs
    assert as_graphs([[1, 2]]) == graphs
    assert as_graphs([[1, 2]]).labels.tolist() == [0, 1]


# --- Sets


@given(rank_matrices(entries=BITS))
def test_from_multilabel_in_every_form(indicator):
    n, k = indicator.shape
    sets = [set(np.flatnonzero(row).tolist()) for row in indicator]
    expected = [sorted(edges_of_set(relevant, range(k))) for relevant in sets]
    names = [f"label {j}" for j in range(k)]
    forms = [
        indicator,
        indicator.astype(np.int8),
        indicator.astype(bool),
        sparse.csr_array(indicator),
        sparse.csc_matrix(indicator.astype(np.int64)),
        sparse.coo_array(indicator.astype(bool)),
        pd.DataFrame(indicator.astype(np.int64), columns=names),
        pl.DataFrame(indicator.astype(np.int64), schema=names),
    ]
    for form in forms:
        graphs = PreferenceGraphs.from_multilabel(form)
        assert graphs.shape == (n, k)
        assert edges_by_instance(graphs) == expected
        assert graphs.levels.dtype == np.int8
        np.testing.assert_array_equal(graphs.levels, np.where(indicator == 1, 0, 1))
    if n:
        of_names = [{names[j] for j in relevant} for relevant in sets]
        for rows in (of_names, iter(of_names), np.array([*of_names, None], dtype=object)[:-1]):
            graphs = PreferenceGraphs.from_multilabel(rows, labels=names)
            np.testing.assert_array_equal(graphs.levels, np.where(indicator == 1, 0, 1))
            assert graphs.labels.tolist() == names


def test_unknown_relevance_is_absent():
    graphs = PreferenceGraphs.from_multilabel([[1, 0, NAN], [NAN, NAN, NAN]])
    assert graphs.levels.tolist() == [[0, 1, -1], [-1, -1, -1]]
    nullable = pd.DataFrame({"a": [1, None], "b": [0, None], "c": [None, None]}, dtype="Int64")
    assert PreferenceGraphs.from_multilabel(nullable).levels.tolist() == graphs.levels.tolist()


def test_sets_of_indices_and_of_sorted_names():
    assert PreferenceGraphs.from_multilabel([{2}, set(), {0, 2}]).levels.tolist() == [[1, 1, 0], [1, 1, 1], [0, 1, 0]]
    graphs = PreferenceGraphs.from_multilabel([["tax", "law"], ["art"]])
    assert graphs.labels.tolist() == ["art", "law", "tax"]
    assert graphs.levels.tolist() == [[1, 0, 0], [0, 1, 1]]
    repeated = PreferenceGraphs.from_multilabel([("tax", "tax"), {"law"}])
    assert repeated.levels.tolist() == [[1, 0], [0, 1]]
    for series in (pd.Series, pl.Series):
        graphs = PreferenceGraphs.from_multilabel(series([["tax", "law"], ["art"]]))
        assert graphs.labels.tolist() == ["art", "law", "tax"]
        assert graphs.levels.tolist() == [[1, 0, 0], [0, 1, 1]]


def test_sparse_matrices_are_left_as_they_were():
    zeros = sparse.csr_array((np.array([1, 0, 1]), np.array([0, 1, 2]), np.array([0, 3])), shape=(1, 3))
    assert PreferenceGraphs.from_multilabel(zeros).levels.tolist() == [[0, 1, 0]]
    assert zeros.nnz == 3
    twice = sparse.csr_array((np.array([1, 1]), np.array([1, 1]), np.array([0, 2])), shape=(1, 3))
    assert PreferenceGraphs.from_multilabel(twice).levels.tolist() == [[1, 0, 1]]
    assert twice.nnz == 2


@pytest.mark.parametrize(
    ("Y", "error", "message"),
    [
        ([[1, 0], [0, 2]], ValueError, r"holds 2.0 in row 1, column 1; for a rank matrix use from_rankings"),
        (np.array([[1, 0], [3, 1]]), ValueError, "holds 3 in row 1, column 0"),
        (np.array([[1, -1]]), ValueError, "holds -1 in row 0, column 1"),
        (sparse.csr_array([[0, 2.5]]), ValueError, "matrix of 0 and 1, and holds 2.5"),
        (sparse.csr_array([[0, NAN]]), ValueError, "matrix of 0 and 1, and holds nan"),
        (sparse.csr_array([[0, 1j]]), ValueError, "matrix of 0 and 1, and holds complex128"),
        ([[1, np.inf]], ValueError, "Y contains infinity, first at row 0, column 1; expected 0, 1 or NaN"),
        (np.ma.masked_equal([[1, 0]], 0), TypeError, "Y is a masked array"),
        (np.ma.masked_equal([[1.0, 0.0]], 0), TypeError, "Y is a masked array"),
        (["tax", "sport"], TypeError, r"row 0 is the string 'tax'; write {'tax'}.*from_multiclass"),
        ("tax", TypeError, "got the string 'tax'"),
        ([[0, 1], [1]], ValueError, r"rows of equal length; .*\[set\(row\) for row in Y\]"),
        ([1, 0, 1], ValueError, r"1 dimension\(s\)"),
        ([{0, -1}], ValueError, "Y holds -1 in entry .*; indices start at 0"),
        ([{"a", 1}], TypeError, "Y mixes label names"),
        ([{1}, 3], TypeError, r"one set of labels per instance, and row 1 is 3; write set\(\) for no label"),
        ([{"a"}, None], TypeError, r"one set of labels per instance, and row 1 is None; write set\(\) for no label"),
        ([["a"], NAN], TypeError, "and row 1 is nan"),
        (
            [["1", "0", "0"], ["0", "0", "1"]],
            TypeError,
            r"Y holds rows of equal length of numbers in quotes .first: \['1', '0', '0'\].; for a matrix of 0 and 1 "
            r"pass np.asarray\(Y, dtype=float\), for label names pass sets: \[set\(row\) for row in Y\]",
        ),
        ([("1.0", "0.0")], TypeError, "numbers in quotes"),
        (3, ValueError, r"0 dimension\(s\)"),
    ],
)
def test_bad_sets_are_refused(Y, error, message):
    with pytest.raises(error, match=message):
        PreferenceGraphs.from_multilabel(Y)


def test_numbers_as_names_are_taken_where_they_cannot_be_a_matrix():
    for rows in ([["7"], ["7", "9"]], [{"7"}, {"9"}], [["7", "a"], ["a", "7"]]):
        assert "7" in PreferenceGraphs.from_multilabel(rows).labels
    graphs = PreferenceGraphs.from_multilabel([["7", "9"], ["8", "9"]], labels=["7", "8", "9"])
    assert graphs.levels.tolist() == [[0, 1, 0], [1, 0, 0]]
    with pytest.raises(TypeError, match="numbers in quotes"):
        PreferenceGraphs.from_hierarchy([["1", "0"]], {})


def test_labels_of_sets_must_be_known():
    with pytest.raises(ValueError, match=r"Y names the label 'x', which is not in labels=\['a', 'b'\]"):
        PreferenceGraphs.from_multilabel([{"x"}], labels=["a", "b"])
    with pytest.raises(ValueError, match="labels has 1 names, but there are 2 labels"):
        PreferenceGraphs.from_multilabel(sparse.csr_array([[1, 0]]), labels=["a"])


# --- Classes


@given(st.lists(st.integers(0, 3), max_size=6), st.integers(4, 6))
def test_from_multiclass(classes, n_labels):
    graphs = PreferenceGraphs.from_multiclass(np.array(classes, dtype=int), n_labels=n_labels)
    assert graphs.shape == (len(classes), n_labels)
    expected = [[(c, other) for other in range(n_labels) if other != c] for c in classes]
    assert edges_by_instance(graphs) == expected
    sets = PreferenceGraphs.from_multilabel([{c} for c in classes] or np.zeros((0, n_labels)), labels=range(n_labels))
    assert sets == graphs


def test_classes_by_name():
    graphs = PreferenceGraphs.from_multiclass(np.array(["b", "a", "b"]))
    assert graphs.labels.tolist() == ["a", "b"]
    assert graphs.levels.tolist() == [[1, 0], [0, 1], [1, 0]]
    given_order = PreferenceGraphs.from_multiclass(["b", "a"], labels=["c", "b", "a"])
    assert given_order.levels.tolist() == [[1, 0, 1], [1, 1, 0]]
    assert PreferenceGraphs.from_multiclass([10, 30, 10]).labels.tolist() == [10, 30]
    assert PreferenceGraphs.from_multiclass([1, 0], labels=["no", "yes"]).levels.tolist() == [[1, 0], [0, 1]]
    assert PreferenceGraphs.from_multiclass([True, False]).labels.tolist() == [False, True]


@pytest.mark.parametrize(
    "y",
    [["a", None, "b"], ["a", NAN, "b"], pd.Series(["a", None, "b"]), pl.Series(["a", None, "b"])],
)
def test_an_unknown_class_has_no_edges(y):
    graphs = PreferenceGraphs.from_multiclass(y)
    assert graphs.labels.tolist() == ["a", "b"]
    assert graphs.levels.tolist() == [[0, 1], [-1, -1], [1, 0]]


def test_unknown_classes_among_numbers():
    assert PreferenceGraphs.from_multiclass([1, NAN], n_labels=2).levels.tolist() == [[1, 0], [-1, -1]]
    nullable = pd.Series([1, None], dtype="Int64")
    assert PreferenceGraphs.from_multiclass(nullable, n_labels=2).levels.tolist() == [[1, 0], [-1, -1]]


@pytest.mark.parametrize(
    ("y", "options", "error", "message"),
    [
        (["a", "c"], {"labels": ["a", "b"]}, ValueError, "y names the label 'c'"),
        ([0, 3], {"n_labels": 3}, ValueError, "y holds 3 in entry 1, but n_labels=3"),
        ([0, -1, -2], {"n_labels": 3}, ValueError, "y holds -1 in entry 1; indices start at 0"),
        (["a"], {"n_labels": 2}, ValueError, "y holds 1 different names, but n_labels=2"),
        ([0], {"n_labels": 3, "labels": ["a"]}, ValueError, "n_labels=3 does not fit labels"),
        ([0], {"n_labels": 2.5}, ValueError, "n_labels must be an integer of at least 0, got 2.5"),
        ([0], {"n_labels": -1}, ValueError, "n_labels must be an integer of at least 0, got -1"),
        ([0], {"n_labels": [3]}, TypeError, "n_labels must be an integer of at least 0, got .3. of type list"),
        (["a"], {"labels": 3}, TypeError, "labels must be a sequence of names, got 3 of type int"),
        ([[0, 1]], {}, ValueError, r"y must be one-dimensional, got shape \(1, 2\)"),
        ("ab", {}, TypeError, "y must be a sequence, got the string 'ab'"),
        (np.ma.masked_equal([0, 1], 1), {}, TypeError, "y is a masked array"),
        (["a", 1], {}, TypeError, "y mixes label names"),
    ],
)
def test_bad_classes_are_refused(y, options, error, message):
    with pytest.raises(error, match=message):
        PreferenceGraphs.from_multiclass(y, **options)


@pytest.mark.parametrize(
    "build",
    [
        lambda labels: PreferenceGraphs.from_multilabel([{1}, {2}], labels=labels),
        lambda labels: PreferenceGraphs.from_multiclass([1, 2], labels=labels),
        lambda labels: PreferenceGraphs.from_rankings(ranks_from_orders([[1, 2]], labels=labels)),
    ],
    ids=["sets", "classes", "orders"],
)
def test_integers_are_no_columns_where_their_texts_are_names(build):
    with pytest.raises(ValueError, match="holds 1, the column of '2', while labels has the text '1' elsewhere"):
        build(["1", "2", "3"])
    assert build(["0", "1", "2"]).shape[1] == build(["2019", "2020", "2021"]).shape[1] == build([3, 2, 1]).shape[1] == 3


def test_indices_beyond_any_machine():
    with pytest.raises(ValueError, match=r"instance holds 1e\+30 in entry 1; indices are 0, 1, ... and below"):
        PreferenceGraphs.from_pairs([0, 1e30], [0, 0], [1, 1])
    with pytest.raises(ValueError, match=r"better and worse|better holds 1180591620717411303424 in entry 0"):
        PreferenceGraphs.from_pairs([0], [2**70], [1])
    with pytest.raises(ValueError, match="instance holds 9223372036854775808 in entry 0; indices are"):
        PreferenceGraphs.from_pairs(np.array([2**63], dtype=np.uint64), [0], [1])
    with pytest.raises(ValueError, match="n_labels must be below"):
        PreferenceGraphs.from_multiclass([0], n_labels=1e30)
    with pytest.raises(MemoryError, match=r"graphs of 1099511627777 instances needs .*from_battles takes ids"):
        PreferenceGraphs.from_pairs([2**40], [0], [1])
    for build in (lambda: PreferenceGraphs.from_multilabel([{2**46}]), lambda: ranks_from_orders([[2**46]])):
        with pytest.raises(MemoryError, match=r"1 rows and 70368744177665 labels needs .*pass labels="):
            build()


def test_weights_of_pairs_have_a_finite_sum():
    with pytest.raises(ValueError, match="weight sums to infinity; divide"):
        PreferenceGraphs.from_pairs([0, 0], [0, 0], [1, 1], [1e308, 1e308], conflicts="keep")
