"""Battles: pairs and pair tables made into simple graphs."""

import io
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.graphs import edges_by_instance, first_conflict, simple_edges
from strategies import edge_rows, graphs_of

from labelrank import PreferenceGraphs

from_pairs = PreferenceGraphs.from_pairs
BATTLES = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 3)), max_size=12)


def columns(battles):
    return ([battle[i] for battle in battles] for i in range(3))


@given(edge_rows(), st.randoms(use_true_random=False))
def test_simple_battles_in_any_order(drawn, random):
    rows, k = drawn
    flat = [(i, a, b) for i, row in enumerate(rows) for a, b in row]
    random.shuffle(flat)
    graphs = from_pairs(*columns(flat), n_instances=len(rows), n_labels=k)
    assert graphs.storage == "edges"
    assert graphs.shape == (len(rows), k)
    assert edges_by_instance(graphs) == rows
    assert graphs.n_edges == len(flat)
    assert graphs.edge_counts().tolist() == [len(row) for row in rows]
    assert graphs.indptr.tolist() == np.cumsum([0] + [len(row) for row in rows]).tolist()


@given(BATTLES)
def test_the_first_offender_is_named(battles):
    instance, better, worse = columns(battles)
    conflict = first_conflict(instance, better, worse)
    if conflict is None:
        assert from_pairs(instance, better, worse).n_edges == len(battles)
        return
    at, kind = conflict
    with pytest.raises(ValueError, match=rf"^pair {at} \(instance {instance[at]}\) .*{kind}.*graph is simple"):
        from_pairs(instance, better, worse, n_instances=3, n_labels=4)


@given(BATTLES, st.sampled_from(["drop", "keep_majority", "keep"]), st.booleans(), st.randoms(use_true_random=False))
def test_conflicts_are_resolved(battles, conflicts, weighted, random):
    instance, better, worse = columns(battles)
    weight = [random.choice([0.5, 1.0, 2.0]) for _ in battles] if weighted else None
    graphs = from_pairs(instance, better, worse, weight, n_instances=3, n_labels=4, conflicts=conflicts)
    expected = simple_edges(instance, better, worse, weight, conflicts)
    edges = [tuple(edge) for edge in np.array(graphs.to_edges()).T.tolist()]
    assert edges == sorted(expected)
    if weighted:
        assert graphs.weight.tolist() == [expected[edge] for edge in edges]
    elif conflicts == "keep":
        assert graphs.edge_weights().tolist() == [expected[edge] for edge in edges]
    else:
        assert graphs.weight is None


def test_conflicts_by_hand():
    #         0>1 twice, 1>0 once; 2>2; 3>0 and 0>3
    battles = [(0, 0, 1), (0, 1, 0), (0, 0, 1), (0, 2, 2), (0, 3, 0), (0, 0, 3), (0, 1, 2)]
    assert edges_by_instance(from_pairs(*columns(battles), conflicts="drop")) == [[(1, 2)]]
    assert edges_by_instance(from_pairs(*columns(battles), conflicts="keep_majority")) == [[(0, 1), (1, 2)]]
    heavy = from_pairs(*columns(battles), [1, 5, 1, 1, 1, 1, 3], conflicts="keep_majority")
    assert edges_by_instance(heavy) == [[(1, 0), (1, 2)]]
    assert heavy.weight.tolist() == [5, 3]
    with pytest.raises(ValueError, match=r"^pair 1 \(instance 0\) prefers 1 to 0, an earlier pair 0 to 1; "):
        from_pairs(*columns(battles))
    with pytest.raises(ValueError, match=r'conflicts must be "error", "drop", .*got \'ignore\''):
        from_pairs(*columns(battles), conflicts="ignore")


def test_the_same_pair_in_another_instance_is_no_conflict():
    assert from_pairs([0, 1, 2], [0, 1, 0], [1, 0, 1]).n_edges == 3


def test_cycles_are_legal():
    graphs = from_pairs([0, 0, 0], [0, 1, 2], [1, 2, 0])
    assert edges_by_instance(graphs) == [[(0, 1), (1, 2), (2, 0)]]
    assert not graphs.is_layered


def test_names_and_sizes():
    graphs = from_pairs([0, 1], ["tea", "milk"], ["milk", "water"])
    assert graphs.labels.tolist() == ["milk", "tea", "water"]
    assert edges_by_instance(graphs) == [[(1, 0)], [(0, 2)]]
    given_order = from_pairs([0], ["tea"], ["milk"], labels=["tea", "milk", "water"], n_instances=3)
    assert given_order.shape == (3, 3)
    assert edges_by_instance(given_order) == [[(0, 1)], [], []]
    assert from_pairs([], [], []).shape == (0, 0)
    assert from_pairs([], [], [], n_instances=2, n_labels=3).shape == (2, 3)
    with pytest.raises(ValueError, match="repeats the edge from 'tea' to 'milk'"):
        from_pairs([0, 0], ["tea", "tea"], ["milk", "milk"])
    assert from_pairs(pd.Series([0]), pl.Series(["b"]), pd.Series(["a"])).labels.tolist() == ["a", "b"]
    assert from_pairs([0.0], [1.0], [0.0]).shape == (1, 2)


def test_integers_are_indices_unless_labels_are_integers():
    by_index = from_pairs([0], [0], [1], labels=["x", "y"])
    assert edges_by_instance(by_index) == [[(0, 1)]]
    by_name = from_pairs([0], [0], [1], labels=[1, 0])
    assert edges_by_instance(by_name) == [[(1, 0)]]
    assert edges_by_instance(from_pairs([0], [20], [10], labels=[10, 20])) == [[(1, 0)]]
    assert edges_by_instance(from_pairs([0], [True], [False])) == [[(1, 0)]]


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (([0], [0, 1], [1, 0]), {}, ValueError, "have different lengths: 1, 2, 2"),
        (([0, 1], [0, 1], [1]), {}, ValueError, "have different lengths: 2, 2, 1"),
        (([0, -3, -5], [0, 0, 0], [1, 1, 1]), {}, ValueError, "instance holds -3 in entry 1; indices start at 0"),
        (([0, 7, 9], [0, 0, 0], [1, 1, 1]), {"n_instances": 5}, ValueError, "holds 7 in entry 1, but n_instances=5"),
        (([0.5], [0], [1]), {}, ValueError, "instance must hold integers from 0, got 0.5"),
        ((["a"], [0], [1]), {}, ValueError, "instance must hold integers from 0, got 'a'"),
        (([0], [-1], [1]), {}, ValueError, "better holds -1 in entry 0; indices start at 0"),
        (([0, 0], [0, 1], [1, -1]), {}, ValueError, "^worse holds -1 in entry 1; indices start at 0"),
        (([0, 0], [0, 0], [1, 5]), {"n_labels": 3}, ValueError, "^worse holds 5 in entry 1, but n_labels=3"),
        (([0, 0], [0, 1], [1, 2]), {"labels": ["a", "b"]}, ValueError, "^worse holds 2 in entry 1, but the number of"),
        (([0], ["a"], ["x"]), {"labels": ["a", "b"]}, ValueError, "^worse names the label 'x'"),
        (([0], [0], [1], ["x"]), {}, TypeError, "^weight must hold one positive number for each of 1 pairs; .*'x'"),
        (([0], [0], [1], [None]), {}, (TypeError, ValueError), "^weight must"),
        (([0], [0], [1]), {"n_labels": 2.5}, ValueError, "n_labels must be an integer of at least 0, got 2.5"),
        (([0], [0], [1]), {"n_labels": -2}, ValueError, "n_labels must be an integer of at least 0, got -2"),
        (([0], [0], [1]), {"n_instances": 1.5}, ValueError, "n_instances must be an integer of at least 0, got 1.5"),
        (([], [], []), {"n_instances": -1}, ValueError, "n_instances must be an integer of at least 0, got -1"),
        (([0], [0], [1]), {"n_instances": "2"}, TypeError, "n_instances must be an integer of at least 0, got '2'"),
        (([0], [[0], [1, 2]], [1]), {}, ValueError, "better must be one-dimensional, and some of its entries are"),
        (([0], [0], [1]), {"labels": 3}, TypeError, "labels must be a sequence of names, got 3 of type int"),
        (([0], [4], [1]), {"n_labels": 3}, ValueError, "^better holds 4 in entry 0, but n_labels=3"),
        (([0], ["x"], ["a"]), {"labels": ["a", "b"]}, ValueError, "names the label 'x', which is not in labels"),
        (([0], ["x"], ["a"]), {"n_labels": 3}, ValueError, "holds 2 different names, but n_labels=3"),
        (([0], [0], [1]), {"labels": ["a", "b"], "n_labels": 3}, ValueError, "n_labels=3 does not fit labels"),
        (([0], [2], [1]), {"labels": ["a", "b"]}, ValueError, "holds 2 in entry 0, but the number of labels=2"),
        (([0, 0], [0.0, math.nan], [1.0, 1.0]), {}, ValueError, "better has no value .* in entry 1; drop"),
        (([0, 0], ["a", "b"], ["b", None]), {}, ValueError, "worse has no value .* in entry 1; drop"),
        (([0], ["a"], [1]), {}, TypeError, "mixes label names that cannot be sorted"),
        (([[0]], [0], [1]), {}, ValueError, r"instance must be one-dimensional, got shape \(1, 1\)"),
        (("0", [0], [1]), {}, TypeError, "instance must be a sequence, got the string '0'"),
        ((np.ma.masked_equal([0], 0), [0], [1]), {}, TypeError, "instance is a masked array"),
        (([0], [0], [1], [0.0]), {}, ValueError, "weight must be positive and finite, got 0.0 in entry 0"),
        (([0], [0], [1], [math.nan]), {}, ValueError, "weight must be positive and finite, got nan in entry 0"),
        (([0], [0], [1], [1.0, 2.0]), {}, ValueError, r"weight has shape \(2,\), expected one weight for each of 1"),
    ],
)
def test_bad_battles_are_refused(arguments, options, error, message):
    with pytest.raises(error, match=message):
        from_pairs(*arguments, **options)


@pytest.mark.parametrize("conflicts", ["error", "drop", "keep_majority", "keep"])
def test_instances_do_not_mix_whatever_their_number(conflicts):
    # n k^2 = 2^64: a key of 64 bits would be the same for both battles
    graphs = from_pairs([0, 16], [0, 0], [1, 1], n_labels=2**30, conflicts=conflicts)
    assert graphs.edge_counts().tolist() == [1, *[0] * 15, 1]
    assert graphs.weight is None


# --- Tables

TABLE = {"age": [31, 45, 20], "tea:milk": [1, -1, None], "milk:water": [0, None, 1], "tea:water": [1, 1, -1]}


@pytest.mark.parametrize(
    "table",
    [pl.DataFrame(TABLE), pd.DataFrame(TABLE), pd.DataFrame(TABLE, dtype="Int64"), pd.DataFrame(TABLE, dtype=object)],
)
def test_a_table_of_pairs(table):
    graphs = PreferenceGraphs.from_pair_table(table)
    assert graphs.labels.tolist() == ["tea", "milk", "water"]
    assert edges_by_instance(graphs) == [[(0, 1), (0, 2)], [(0, 2), (1, 0)], [(1, 2), (2, 0)]]
    chosen = PreferenceGraphs.from_pair_table(table, ["tea:milk"])
    assert chosen.labels.tolist() == ["tea", "milk"]
    assert edges_by_instance(chosen) == [[(0, 1)], [(1, 0)], []]
    ordered = PreferenceGraphs.from_pair_table(table, labels=["water", "milk", "tea", "beer"])
    assert ordered.shape == (3, 4)
    assert edges_by_instance(ordered)[0] == [(2, 0), (2, 1)]


def test_a_table_as_an_array():
    values = [[1, 0], [-1, None], [None, 1]]
    for pairs in (["a:b", "b:c"], [("a", "b"), ("b", "c")]):
        graphs = PreferenceGraphs.from_pair_table(values, pairs)
        assert graphs.labels.tolist() == ["a", "b", "c"]
        assert edges_by_instance(graphs) == [[(0, 1)], [(1, 0)], [(1, 2)]]
    by_index = PreferenceGraphs.from_pair_table(values, [(0, 1), (1, 2)], labels=["x", "y", "z"])
    assert by_index.labels.tolist() == ["x", "y", "z"]
    assert edges_by_instance(by_index) == [[(0, 1)], [(1, 0)], [(1, 2)]]
    assert PreferenceGraphs.from_pair_table(np.zeros((0, 1)), ["a:b"]).shape == (0, 2)


def test_the_columns_that_pandas_names_are_no_pairs():
    saved = io.StringIO()
    pd.DataFrame({"a:b": [1, -1]}).to_csv(saved)  # with its index, a column without a name
    table = pd.read_csv(io.StringIO(saved.getvalue()))
    assert table.columns[0] == "Unnamed: 0"
    graphs = PreferenceGraphs.from_pair_table(table)
    assert graphs.labels.tolist() == ["a", "b"]
    assert edges_by_instance(graphs) == [[(0, 1)], [(1, 0)]]
    assert PreferenceGraphs.from_pair_table(table, ["Unnamed: 0"]).labels.tolist() == ["Unnamed", " 0"]  # when asked
    with pytest.raises(ValueError, match="no column with ':' in its name"):
        PreferenceGraphs.from_pair_table(table[["Unnamed: 0"]])


def test_another_separator():
    graphs = PreferenceGraphs.from_pair_table(pl.DataFrame({"a vs b": [1], "x:y": [5]}), sep=" vs ")
    assert graphs.labels.tolist() == ["a", "b"]


def test_both_columns_of_one_pair():
    table = pl.DataFrame({"a:b": [1, 1, None], "b:a": [None, 1, 1]})
    with pytest.raises(ValueError, match=r"^column 'b:a' \(row 1\) prefers 'b' to 'a', an earlier pair 'a' to 'b'"):
        PreferenceGraphs.from_pair_table(table)
    assert edges_by_instance(PreferenceGraphs.from_pair_table(table, conflicts="drop")) == [[(0, 1)], [], [(1, 0)]]
    with pytest.raises(ValueError, match=r"^column 'a:a' \(row 0\) prefers the label 'a' to itself"):
        PreferenceGraphs.from_pair_table(pl.DataFrame({"a:a": [1]}))


@pytest.mark.parametrize(
    ("table", "options", "error", "message"),
    [
        (pl.DataFrame({"a:b": [1, 2]}), {}, ValueError, "holds 2 in row 1, column 'a:b'; expected 1 .the first"),
        (pl.DataFrame({"a:b": [1], "at 9:30": [7]}), {}, ValueError, "nothing; pass pairs= to choose the columns"),
        (pl.DataFrame({"a:b": [1], "9:30": ["x"]}), {}, TypeError, "nothing; pass pairs= to choose the columns"),
        (pl.DataFrame({"a:b": [0.5]}), {}, ValueError, "holds 0.5 in row 0, column 'a:b'"),
        (pl.DataFrame({"a:b": [math.inf]}), {}, ValueError, "table contains infinity.*expected 1, 0, -1 or nothing"),
        (pl.DataFrame({"a:b": ["1", "NA"]}), {}, TypeError, "holds '1' of type str; numbers in quotes.*expected 1, 0"),
        (pl.DataFrame({"a": [1]}), {}, ValueError, "no column with ':' in its name; .* is called 'a:b'"),
        (pl.DataFrame({"a:b": [1]}), {"pairs": ["a:c"]}, ValueError, "table has no column 'a:c'"),
        (pl.DataFrame({"a:b": [1]}), {"pairs": ["a:b", "a:b"]}, ValueError, "the column 'a:b' twice"),
        (pd.DataFrame([[1, 1]], columns=["a:b", "a:b"]), {}, ValueError, "must have different names"),
        (pl.DataFrame({"a:b:c": [1]}), {}, ValueError, "pairs must be 'a:b' or .a, b., got 'a:b:c'; pass another sep"),
        ([[1, 0]], {}, ValueError, "pairs must be given when table is an array"),
        ([[1, 0]], {"pairs": ["a:b"]}, ValueError, "pairs has 1 entries, but table has 2 columns"),
        ([[1]], {"pairs": ["a:b"], "labels": ["a", "c"]}, ValueError, "pairs names the label 'b', which is not in"),
        ([[1]], {"pairs": ["a:b"], "conflicts": "no"}, ValueError, "conflicts must be"),
    ],
)
def test_bad_tables_are_refused(table, options, error, message):
    with pytest.raises(error, match=message):
        PreferenceGraphs.from_pair_table(table, **options)


@given(edge_rows())
def test_a_table_and_the_pairs_it_holds_agree(drawn):
    rows, k = drawn
    pairs = [(a, b) for a in range(k) for b in range(a + 1, k)]
    values = [[1 if p in row else -1 if p[::-1] in row else 0 for p in pairs] for row in rows]
    if pairs:
        table = np.array(values, dtype=float).reshape(len(rows), len(pairs))
        graphs = PreferenceGraphs.from_pair_table(table, pairs, labels=range(k))
        assert graphs == graphs_of(rows, k)


@pytest.mark.data
@pytest.mark.parametrize(
    ("file", "n_labels"), [("CEMSChoice.csv", 6), ("GermanParties2009.csv", 6), ("SoundQuality.csv", 8)]
)
def test_tables_of_real_people(data_dir, file, n_labels):
    table = pl.read_csv(data_dir / "pairwise" / file, infer_schema_length=None)
    graphs = PreferenceGraphs.from_pair_table(table)
    columns = [c for c in table.columns if ":" in c]
    assert graphs.shape == (len(table), n_labels)
    assert graphs.n_edges == sum(table[c].abs().sum() for c in columns)
    name, first = columns[0].split(":"), table[columns[0]].to_list()
    a, b = (graphs.labels.tolist().index(label) for label in name)
    rows = edges_by_instance(graphs)
    assert [(a, b) in row for row in rows] == [value == 1 for value in first]
    assert [(b, a) in row for row in rows] == [value == -1 for value in first]


@pytest.mark.parametrize(("winner", "tied"), [("tieger", False), ("tie (bothbad)", True), ("Drawn", True)])
def test_only_the_word_is_a_tie(winner, tied):
    frame = pd.DataFrame({"i": [0], "a": ["tiger"], "b": ["x"], "w": [winner]})
    if tied:
        graphs = PreferenceGraphs.from_battles(frame, instance="i", a="a", b="b", winner="w")
        assert graphs.edge_weights().tolist() == [0.5, 0.5]
    else:
        with pytest.raises(ValueError, match="tieger"):
            PreferenceGraphs.from_battles(frame, instance="i", a="a", b="b", winner="w")


def test_true_and_false_are_no_winners():
    frame = pd.DataFrame({"i": [0, 1], "a": [1, 2], "b": [2, 1], "w": [True, True]})
    with pytest.raises(ValueError, match="holds True and False"):
        PreferenceGraphs.from_battles(frame, instance="i", a="a", b="b", winner="w")
