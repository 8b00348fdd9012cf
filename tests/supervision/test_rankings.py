"""Rank matrices: checking and converting."""

import math
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.graphs import edges_of_ranks
from scipy import sparse
from strategies import rank_matrices

from labelrank import (
    PreferenceGraphs,
    check_rankings,
    from_top_k,
    mask_rankings,
    orders_from_ranks,
    ranks_from_orders,
    ranks_from_scores,
)
from labelrank.supervision import label_names

NAN = math.nan


def same_preferences(a, b):
    return [edges_of_ranks(row) for row in a.tolist()] == [edges_of_ranks(row) for row in b.tolist()]


# --- check_rankings


def test_a_sound_matrix_is_returned_as_it_is():
    y = np.array([[1.0, 2.0], [NAN, 1.0]])
    assert check_rankings(y) is y


@pytest.mark.parametrize(
    "y",
    [
        [[1, 2, 3], [3, None, 1]],
        [[1, 2, 3], [3, NAN, 1]],
        np.array([[1, 2, 3], [3, None, 1]], dtype=object),
        np.array([[1, 2, 3], [3, NAN, 1]], dtype=np.float32),
        np.asfortranarray([[1, 2, 3], [3, NAN, 1]]),
        pd.DataFrame({"a": [1, 3], "b": [2.0, NAN], "c": [3, 1]}),
        pd.DataFrame({"a": [1, 3], "b": [2, pd.NA], "c": [3, 1]}, dtype="Int64"),
        pd.DataFrame({"a": [1, 3], "b": pd.array([2, pd.NA], dtype="Int64"), "c": [3.0, 1.0]}),
        pd.DataFrame({"a": [1, 3], "b": [2, None], "c": [3, 1]}, dtype=object),
        pl.DataFrame({"a": [1, 3], "b": [2, None], "c": [3, 1]}),
        pl.DataFrame({"a": [1.0, 3.0], "b": [2, None], "c": [3, 1]}),
        [[1, 2, 3], [3, pd.NA, 1]],
        np.array([[1, 2, 3], [3, pd.NA, 1]], dtype=object),
        pl.DataFrame({"a": [1, 3], "b": [2, None], "c": [3, 1]}).cast(pl.Decimal(10, 2)),
        [[Decimal(1), 2, 3], [Decimal(3), Decimal("NaN"), 1]],
    ],
)
def test_everything_that_is_a_matrix_of_numbers_is_read(y):
    checked = check_rankings(y)
    np.testing.assert_array_equal(checked, [[1, 2, 3], [3, NAN, 1]])
    assert checked.dtype == np.float64
    assert checked.flags.c_contiguous


@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        (np.ma.masked_less([[1.0, 2.0]], 1.5), TypeError, r"y is a masked array.*filled\(np.nan\)"),
        (sparse.csr_array([[1, 0]]), TypeError, "y is a sparse matrix.*from_multilabel"),
        ([[1.0, np.inf], [1, 2]], ValueError, "y contains infinity, first at row 0, column 1; mark"),
        ([[1, 2], [-np.inf, 1]], ValueError, "first at row 1, column 0"),
        ([[np.inf, -np.inf]], ValueError, "first at row 0, column 0"),
        ([[NAN, 1], [1, np.inf]], ValueError, "first at row 1, column 1"),
        ("abc", TypeError, "got the string 'abc'"),
        ([["a", "b"]], TypeError, "holds 'a' of type str; .*ranks_from_orders"),
        (np.array([["1", "2"]], dtype=object), TypeError, "holds '1' of type str"),
        (pd.DataFrame({"a": ["1", "2"], "b": ["2", "1"]}), TypeError, "holds '1' of type str"),
        (pl.DataFrame({"a": ["1", "2"]}), TypeError, "holds '1' of type str"),
        (pd.DataFrame({"a": pd.to_datetime(["2020-01-01"])}), TypeError, "y must be a matrix of ranks"),
        ([[1 + 2j, 1]], ValueError, "Complex data not supported"),
        ([[1, 2], [1]], ValueError, "rows of equal length.*ranks_from_orders"),
        ([1, 2, 3], ValueError, r"1 dimension\(s\), shape \(3,\).*np.newaxis.*Reshape your data"),
        (3.0, ValueError, r"0 dimension\(s\)"),
        (np.zeros((2, 2, 2)), ValueError, r"3 dimension\(s\), shape \(2, 2, 2\)"),
        (np.zeros((0, 3)), ValueError, r"0 sample\(s\) .* minimum of 1"),
        (np.zeros((3, 0)), ValueError, r"0 label\(s\) .* minimum of 1"),
        ([{1, 2}], TypeError, "holds {1, 2} of type set"),
        (PreferenceGraphs.from_rankings([[1, 2]]), TypeError, "to_ranks"),
    ],
)
def test_what_is_no_rank_matrix_is_refused_with_advice(y, error, message):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(error, match=f"(?s){message}"):
            check_rankings(y)


def test_the_name_of_the_argument_is_in_the_message():
    with pytest.raises(ValueError, match=r"^y_true has 2 label\(s\) \(shape=\(1, 2\)\).*minimum of 3"):
        check_rankings([[1, 2]], ensure_min_labels=3, input_name="y_true")


def test_huge_finite_ranks_are_neither_infinite_nor_warned_about():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert check_rankings([[1e308, 1.5e308, -1e308, 1.7e308]]).shape == (1, 4)


def test_names_of_frames():
    assert label_names([[1, 2]]) is None
    assert label_names(np.zeros((1, 2))) is None
    assert label_names(pl.DataFrame({"x": [1], "y": [2]})).tolist() == ["x", "y"]
    assert label_names(pd.DataFrame({"x": [1], "y": [2]})).tolist() == ["x", "y"]
    multi = pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2)]))
    assert label_names(multi).tolist() == [("a", 1), ("a", 2)]
    assert PreferenceGraphs.from_rankings(multi).labels.tolist() == [("a", 1), ("a", 2)]


# --- Scores


@given(rank_matrices())
def test_ranks_from_scores_by_counting(scores):
    ranks = ranks_from_scores(scores)
    for row, found in zip(scores.tolist(), ranks.tolist(), strict=True):
        for score, rank in zip(row, found, strict=True):
            if math.isnan(score):
                assert math.isnan(rank)
            else:
                assert rank == 1 + sum(other > score for other in row)


def test_scores_refuse_infinity():
    with pytest.raises(ValueError, match="scores contains infinity, first at row 0, column 1; use a large"):
        ranks_from_scores([[1, -np.inf]])


# --- Orders


@given(rank_matrices())
def test_orders_and_back_keep_the_preferences(ranks):
    orders = orders_from_ranks(ranks)
    assert len(orders) == len(ranks)
    back = ranks_from_orders(orders, n_labels=ranks.shape[1])
    assert np.array_equal(np.isnan(back), np.isnan(ranks))
    assert same_preferences(back, ranks)
    assert orders_from_ranks(back) == orders


@given(rank_matrices(max_labels=4))
def test_orders_of_names_and_back(ranks):
    names = ["water", "tea", "milk", "juice"][: ranks.shape[1]]
    orders = orders_from_ranks(ranks, labels=names)
    back = ranks_from_orders(orders, labels=names)
    assert same_preferences(back, ranks)
    assert orders_from_ranks(pl.DataFrame(back, schema=names)) == orders


def test_orders_take_groups_padding_arrays_and_frames():
    expected = [[1, 1, 3], [NAN, 1, NAN]]
    for orders in (
        [[(0, 1), 2], [1]],
        [[{0, 1}, 2], [1, None]],
        [[[0, 1], 2], [1, NAN, None]],
        [[(0, 1, None), 2], [1]],
        iter([[frozenset({0, 1}), 2], np.array([1])]),
    ):
        np.testing.assert_array_equal(ranks_from_orders(orders, n_labels=3), expected)
    np.testing.assert_array_equal(ranks_from_orders(np.array([[2, 0, 1], [1, NAN, NAN]])), [[2, 3, 1], [NAN, 1, NAN]])
    for frame in (pl.DataFrame({"1st": ["b", "a"], "2nd": ["a", None]}), pd.DataFrame([["b", "a"], ["a", None]])):
        np.testing.assert_array_equal(ranks_from_orders(frame), [[2, 1], [1, NAN]])


def test_orders_of_sorted_names_and_of_no_rows():
    np.testing.assert_array_equal(ranks_from_orders([["b", "c"], ["a"]]), [[NAN, 1, 2], [1, NAN, NAN]])
    assert ranks_from_orders([]).shape == (0, 0)
    assert ranks_from_orders([[], []], n_labels=2).shape == (2, 2)


def test_integers_are_indices_unless_labels_are_integers():
    np.testing.assert_array_equal(ranks_from_orders([[2, 0, 1]], labels=["a", "b", "c"]), [[2, 3, 1]])
    np.testing.assert_array_equal(ranks_from_orders([[2, 0, 1]], labels=[1, 2, 0]), [[3, 1, 2]])
    np.testing.assert_array_equal(ranks_from_orders([[20, 10]], labels=[10, 20]), [[2, 1]])


@pytest.mark.parametrize(
    ("orders", "options", "error", "message"),
    [
        ("abc", {}, TypeError, "got the string 'abc'"),
        (["abc", "cba"], {}, TypeError, "row 0 is 'abc'"),
        ([[0, 1], 3], {}, TypeError, "row 1 is 3"),
        (np.ma.masked_less([[0, 1]], 1), {}, TypeError, "masked array"),
        ([[0, 1], [0, 2, 0]], {}, ValueError, "names the label 0 twice in row 1"),
        ([["a", ("b", "a")]], {}, ValueError, "names the label 'a' twice in row 0"),
        ([["a", "x"]], {"labels": ["a", "b"]}, ValueError, r"names the label 'x', which is not in labels=\['a', 'b'\]"),
        ([["a"]], {"labels": ["a", "a"]}, ValueError, "labels has repeated names"),
        ([["a"]], {"labels": ["a", "b"], "n_labels": 3}, ValueError, "n_labels=3 does not fit labels, which has 2"),
        ([["a", "b"]], {"n_labels": 3}, ValueError, "holds 2 different names, but n_labels=3"),
        ([[0, 1], [-1]], {}, ValueError, "orders holds -1 in entry 2; indices start at 0"),
        ([[0, 3]], {"n_labels": 3}, ValueError, "orders holds 3 in entry 1, but n_labels=3"),
        ([["a", 1]], {}, TypeError, "mixes label names that cannot be sorted"),
        ([["a"]], {"labels": "abc"}, TypeError, "labels must be a sequence of names"),
        ([["a"]], {"labels": 3}, TypeError, "labels must be a sequence of names, got 3 of type int"),
        ([["a"]], {"labels": [["a"]]}, TypeError, "labels must hold names, .*unhashable"),
        (None, {}, TypeError, "orders must hold one list of labels per instance, got None"),
        (3, {}, TypeError, "orders must hold one list of labels per instance, got 3"),
        ([[0, 1]], {"n_labels": 2.5}, ValueError, "n_labels must be an integer of at least 0, got 2.5"),
        ([[0, 1]], {"n_labels": -1}, ValueError, "n_labels must be an integer of at least 0, got -1"),
        ([[0, 1]], {"n_labels": "3"}, TypeError, "n_labels must be an integer of at least 0, got '3' of type str"),
        ([[0, 1]], {"n_labels": True}, TypeError, "n_labels must be an integer of at least 0, got True of type bool"),
        ([["a"]], {"labels": ["a"], "n_labels": 1.5}, ValueError, "n_labels must be an integer"),
    ],
)
def test_bad_orders_are_refused(orders, options, error, message):
    with pytest.raises(error, match=message):
        ranks_from_orders(orders, **options)


def test_orders_from_ranks_wants_a_name_for_each_column():
    with pytest.raises(ValueError, match="labels has 1 names, but there are 2 labels"):
        orders_from_ranks([[1, 2]], labels=["a"])
    with pytest.raises(TypeError, match="labels must be a sequence of names, got the string 'ab'"):
        orders_from_ranks([[1, 2]], labels="ab")
    with pytest.raises(ValueError, match=r"labels has repeated names: \['a', 'a'\]"):
        orders_from_ranks([[1, 2]], labels=["a", "a"])
    with pytest.raises(TypeError, match="labels must be a sequence of names, got 3 of type int"):
        orders_from_ranks([[1, 2]], labels=3)


# --- Frames and graphs come back as what they were


@pytest.mark.parametrize("convert", [ranks_from_scores, from_top_k, lambda y: mask_rankings(y, 0.5, "top")])
def test_frames_give_frames(convert):
    y = np.array([[1.0, 2.0, NAN], [3.0, 1.0, 2.0]])
    expected = convert(y)
    assert isinstance(expected, np.ndarray)
    assert isinstance(convert(y.tolist()), np.ndarray)
    of_pandas = convert(pd.DataFrame(y, columns=["a", "b", "c"], index=["x", "y"]))
    pd.testing.assert_frame_equal(of_pandas, pd.DataFrame(expected, columns=["a", "b", "c"], index=["x", "y"]))
    of_polars = convert(pl.DataFrame(y, schema=["a", "b", "c"]))
    assert isinstance(of_polars, pl.DataFrame)
    assert of_polars.columns == ["a", "b", "c"]
    np.testing.assert_array_equal(of_polars.to_numpy(), expected)
    assert of_polars.null_count().sum_horizontal().item() == np.isnan(expected).sum()
    two_rows = pd.DataFrame(y, columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)]))
    assert convert(two_rows).columns.equals(two_rows.columns)


@pytest.mark.parametrize("as_edges", [False, True])
def test_layered_graphs_serve_as_ranks(as_edges):
    graphs = PreferenceGraphs.from_rankings([[2, 1, NAN], [1, 1, 2]], labels=["a", "b", "c"])
    if as_edges:
        rows, better, worse = graphs.to_edges()
        graphs = PreferenceGraphs.from_pairs(rows, better, worse, labels=["a", "b", "c"])
    assert orders_from_ranks(graphs) == [["b", "a"], [("a", "b"), "c"]]
    assert orders_from_ranks(graphs, labels=["x", "y", "z"]) == [["y", "x"], [("x", "y"), "z"]]
    complete = from_top_k(graphs)
    assert complete == PreferenceGraphs.from_rankings([[2, 1, 3], [1, 1, 2]], labels=["a", "b", "c"])
    assert from_top_k(graphs, k=1).to_ranks().tolist() == [[2, 1, 2], [1, 1, 2]]
    unnamed = from_top_k(PreferenceGraphs.from_rankings([[2, 1, NAN]]))
    assert not unnamed.has_names
    assert orders_from_ranks(unnamed) == [[1, 0, 2]]
    cycle = PreferenceGraphs.from_pairs([0, 0, 0], [0, 1, 2], [1, 2, 0])
    for convert in (from_top_k, orders_from_ranks):
        with pytest.raises(ValueError, match="the graph of instance 0 is not layered"):
            convert(cycle)


@pytest.mark.parametrize(
    ("scores", "error", "message"),
    [
        (sparse.csr_array([[1, 0]]), TypeError, r"scores is a sparse matrix.* pass scores.toarray\(\)"),
        ([["a", "b"]], TypeError, "holds 'a' of type str; scores are numbers, larger is better"),
        ([[1, 2], [1]], ValueError, "rows of equal length; give every label of a row a score"),
        ([1, 2], ValueError, r"for one instance pass scores\[np.newaxis, :\]. Reshape"),
    ],
)
def test_what_is_no_score_matrix_is_refused_with_advice(scores, error, message):
    with pytest.raises(error, match=message):
        ranks_from_scores(scores)


# --- Top lists


@given(rank_matrices(), st.one_of(st.none(), st.integers(1, 4)))
def test_top_k_ties_the_rest_below(ranks, k):
    complete = from_top_k(ranks, k)
    for row, found in zip(ranks.tolist(), complete.tolist(), strict=True):
        place = [NAN if math.isnan(r) else 1 + sum(other < r for other in row) for r in row]
        listed = [j for j, p in enumerate(place) if not math.isnan(p) and (k is None or p <= k)]
        for j in range(len(row)):
            assert found[j] == (place[j] if j in listed else len(listed) + 1)


@pytest.mark.parametrize("k", [0, -1, 1.5, "2", True])
def test_top_k_wants_a_positive_integer(k):
    with pytest.raises(ValueError, match="k must be a positive integer or None"):
        from_top_k([[1, 2]], k)


def test_no_rows_and_one_label():
    assert ranks_from_scores(np.zeros((0, 3))).shape == (0, 3)
    assert from_top_k(np.zeros((0, 3))).shape == (0, 3)
    assert orders_from_ranks(np.zeros((0, 3))) == []
    assert orders_from_ranks([[NAN], [4]]) == [[], [0]]


@pytest.mark.parametrize(
    "y",
    [
        np.array([[True, False]]),
        [[True, False]],
        pd.DataFrame({"a": [True], "b": [False]}),
        pd.DataFrame({"a": [True], "b": [2]}),
        pd.DataFrame({"a": [True, None], "b": [False, True]}, dtype="boolean"),
        pl.DataFrame({"a": [True], "b": [2]}),
    ],
    ids=["array", "list", "pandas", "mixed", "nullable", "polars"],
)
def test_booleans_are_no_ranks(y):
    """True means relevant, and would be the worst rank."""
    with pytest.raises(TypeError, match=r"holds booleans.*from_multilabel"):
        check_rankings(y)
    assert PreferenceGraphs.from_scores([[True, False]]).levels.tolist() == [[0, 1]]


@pytest.mark.parametrize(
    "y",
    [
        np.array([[2**53 + 1, 2**53]]),
        np.array([[2**64 - 1, 2**64 - 2]], dtype=np.uint64),
        np.array([[-(2**60), -(2**60) + 1]]),
        [[2**70, 2**70 + 1]],
        [[10**400, None]],
        pl.DataFrame({"a": [2**60 + 1], "b": [2**60]}),
        pl.DataFrame({"a": [2**60 + 1, None], "b": [2**60, 1]}),
        pl.DataFrame({"a": [2**60 + 1], "b": [2**60], "c": [0.5]}),
        pd.DataFrame({"a": [2**60 + 1, None], "b": [2**60, 1]}, dtype="Int64"),
        [[-(2**60), -(2**60) + 1, 0.5]],
    ],
    ids=["int64", "uint64", "negative", "70 bits", "thousand bits", "polars", "null", "mixed", "pandas", "list"],
)
def test_integers_that_floats_do_not_tell_apart_are_no_ties(y):
    with pytest.raises(ValueError, match=r"represent integers exactly up to 2\*\*53 only; subtract"):
        check_rankings(y)
    assert check_rankings(np.array([[2**53, 2**53 - 1]])).tolist() == [[2.0**53, 2.0**53 - 1]]
    for floats in ([[1e300, 2**53]], pl.DataFrame({"a": [1e300], "b": [2**53]})):
        assert check_rankings(floats).tolist() == [[1e300, 2.0**53]]


def test_lazy_frames_are_collected_first():
    with pytest.raises(TypeError, match=r"LazyFrame .* collect\(\)"):
        check_rankings(pl.LazyFrame({"a": [1], "b": [2]}))
    with pytest.raises(TypeError, match=r"collect\(\)"):
        PreferenceGraphs.from_battles(pl.LazyFrame({"a": ["x"], "b": ["y"]}), a="a", b="b")
