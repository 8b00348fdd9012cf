"""PreferenceGraphs as a container: rows, equality, conversions, scikit-learn, memory."""

import gc
import math
import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.graphs import edges_by_instance, level_of_each_label
from scipy import sparse
from sklearn.model_selection import KFold, train_test_split
from sklearn.utils import _safe_indexing, check_consistent_length, indexable, resample
from strategies import edge_rows, graphs_of, rank_matrices

from labelrank import PreferenceGraphs, as_graphs

NAN = math.nan


def five(storage):
    """Five different instances; of those stored as edges some are cyclic and weighted."""
    if storage == "levels":
        return PreferenceGraphs.from_rankings(
            [[1, 2, 3], [2, 2, 1], [NAN, NAN, NAN], [1, NAN, 2], [3, 2, 1]], labels=["a", "b", "c"]
        )
    return PreferenceGraphs.from_pairs(
        [0, 0, 0, 1, 3, 3, 4],
        ["a", "b", "c", "c", "b", "b", "c"],
        ["b", "c", "a", "a", "a", "c", "b"],
        [1, 2, 3, 4, 5, 6, 7],
        n_instances=5,
    )


both_storages = pytest.mark.parametrize("storage", ["levels", "edges"])


# --- Looking at them


def test_repr_len_and_shape():
    graphs = five("levels")
    assert repr(graphs) == "PreferenceGraphs(5 instances, 3 labels, 9 edges, storage='levels')"
    assert repr(five("edges")[:1]) == "PreferenceGraphs(1 instance, 3 labels, 3 edges, storage='edges')"
    assert len(graphs) == 5
    assert graphs.shape == (5, 3)
    assert graphs.n_edges == 9
    assert graphs.labels.tolist() == ["a", "b", "c"]


def test_each_storage_says_what_it_has_not():
    with pytest.raises(AttributeError, match=r"stored as levels have no array 'better'; to_edges\(\)"):
        _ = five("levels").better
    with pytest.raises(AttributeError, match=r"stored as edges have no levels; use to_levels\(\)"):
        _ = five("edges").levels


@both_storages
def test_they_do_not_turn_into_an_array_silently(storage):
    with pytest.raises(TypeError, match=r"are not converted to an array implicitly; use to_ranks\(\)"):
        np.asarray(five(storage))


@both_storages
def test_they_are_not_hashable(storage):
    with pytest.raises(TypeError, match="unhashable"):
        hash(five(storage))


@both_storages
def test_pickle(storage):
    graphs = five(storage)
    again = pickle.loads(pickle.dumps(graphs))
    assert again == graphs
    assert again.storage == storage
    assert again.labels.tolist() == graphs.labels.tolist()


def test_edge_storage_is_three_flat_arrays_of_small_integers():
    graphs = five("edges")
    assert graphs.better.dtype == graphs.worse.dtype == np.int8
    assert graphs.indptr.tolist() == [0, 3, 4, 4, 6, 7]
    assert len(graphs.better) == len(graphs.worse) == graphs.n_edges == 7


# --- Taking rows


@both_storages
@pytest.mark.parametrize(
    ("key", "rows"),
    [
        (0, [0]),
        (-1, [4]),
        (np.int64(2), [2]),
        (slice(None), [0, 1, 2, 3, 4]),
        (slice(1, 4), [1, 2, 3]),
        (slice(None, None, 2), [0, 2, 4]),
        (slice(None, None, -1), [4, 3, 2, 1, 0]),
        (slice(4, 1), []),
        (slice(3, 100), [3, 4]),
        ([3, 0, 0], [3, 0, 0]),
        ([-1, 1], [4, 1]),
        ([], []),
        (np.array([], dtype=int), []),
        (np.array([4, 4, 2]), [4, 4, 2]),
        (np.array([True, False, False, True, True]), [0, 3, 4]),
        ([True, False, False, True, True], [0, 3, 4]),
        (np.zeros(5, dtype=bool), []),
        ((slice(2), ...), [0, 1]),
        (([1, 2], ...), [1, 2]),
        ((np.array([1, 2]), slice(None)), [1, 2]),
    ],
)
def test_rows(storage, key, rows):
    graphs = five(storage)
    taken = graphs[key]
    everything = edges_by_instance(graphs)
    assert taken.shape == (len(rows), 3)
    assert taken.storage == storage
    assert edges_by_instance(taken) == [everything[row] for row in rows]
    assert taken.labels.tolist() == ["a", "b", "c"]
    if storage == "edges":
        weight_of = dict(zip(zip(*graphs.to_edges(), strict=True), graphs.weight, strict=True))
        weights = [weight_of[row, a, b] for row in rows for a, b in everything[row]]
        assert taken.weight.tolist() == weights


@both_storages
@pytest.mark.parametrize(
    ("key", "message"),
    [
        (5, "row 5 is out of range for 5 instances"),
        (-6, "row -6 is out of range"),
        ([0, 5], "out of bounds"),
        ([True, False], "boolean"),
        ((0, 1), "index of rows only; labels are fixed"),
        ((0, slice(0, 2)), "index of rows only; labels are fixed"),
        ((0, [0, 1]), "index of rows only; labels are fixed"),
        ((0, ..., 1), "index of rows only; labels are fixed"),
        (np.zeros((5, 3), dtype=bool), "one index of rows, got 2 dimensions"),
        (np.array(1), "one index of rows, got 0 dimensions"),
        (None, "one index of rows, got 0 dimensions"),
        ([0.5], "integer"),
        ("a", "one index of rows, got 0 dimensions"),
    ],
)
def test_bad_rows(storage, key, message):
    with pytest.raises(IndexError, match=message):
        five(storage)[key]


@both_storages
def test_iteration(storage):
    graphs = five(storage)
    parts = list(graphs)
    assert [len(part) for part in parts] == [1] * 5
    assert PreferenceGraphs.concatenate(parts) == graphs


@both_storages
def test_scikit_learn_can_split_them(storage):
    graphs = five(storage)
    X = np.arange(5)[:, None]
    check_consistent_length(X, graphs)
    assert indexable(X, graphs)[1] is graphs
    for key in ([3, 1], np.array([3, 1]), np.array([True, False] * 2 + [False]), slice(1, 3), [True] + [False] * 4):
        rows = np.arange(5)[key].tolist()
        assert _safe_indexing(graphs, key) == graphs[rows]
    for train, test in KFold(2).split(X, graphs):
        assert edges_by_instance(graphs[train]) == [edges_by_instance(graphs)[i] for i in train]
        assert len(graphs[test]) == len(test)
    X_train, X_test, y_train, y_test = train_test_split(X, graphs, test_size=2, random_state=0)
    assert y_train == graphs[X_train.ravel()]
    assert y_test == graphs[X_test.ravel()]
    X_again, y_again = resample(X, graphs, random_state=0)
    assert y_again == graphs[X_again.ravel()]


# --- Joining and comparing


def test_concatenation_of_both_storages():
    levels, edges = five("levels"), five("edges")
    joined = PreferenceGraphs.concatenate([levels, edges, levels[:0], levels[:2]])
    assert joined.storage == "edges"
    assert edges_by_instance(joined) == [
        *edges_by_instance(levels),
        *edges_by_instance(edges),
        *edges_by_instance(levels[:2]),
    ]
    assert joined.weight.tolist() == [1.0] * 9 + [1, 2, 3, 4, 5, 6, 7] + [1.0] * 5
    same = PreferenceGraphs.concatenate([levels, levels])
    assert same.storage == "levels"
    assert same.labels.tolist() == ["a", "b", "c"]
    unweighted = graphs_of([[(0, 1)]], 3)
    assert PreferenceGraphs.concatenate([unweighted, unweighted]).weight is None


def test_concatenation_refuses_what_does_not_fit():
    levels = five("levels")
    with pytest.raises(ValueError, match=r"part 1 has the labels .* they must agree"):
        PreferenceGraphs.concatenate([levels, PreferenceGraphs.from_rankings([[1, 2, 3]])])
    with pytest.raises(ValueError, match="part 1 has the labels"):
        PreferenceGraphs.concatenate([levels, PreferenceGraphs.from_rankings([[1, 2]], labels=["a", "b"])])
    with pytest.raises(ValueError, match="at least one"):
        PreferenceGraphs.concatenate([])
    with pytest.raises(TypeError, match="got list at position 1"):
        PreferenceGraphs.concatenate([levels, [[1, 2, 3]]])


@given(rank_matrices(max_rows=3, max_labels=3), rank_matrices(max_rows=3, max_labels=3))
def test_equality_is_equality_of_edges(a, b):
    graphs = [PreferenceGraphs.from_rankings(y) for y in (a, b)]
    stored = [[g, graphs_of(edges_by_instance(g), g.shape[1])] for g in graphs]
    expected = a.shape == b.shape and edges_by_instance(graphs[0]) == edges_by_instance(graphs[1])
    for left in stored[0]:
        for right in stored[1]:
            assert (left == right) is expected
            assert (left != right) is not expected
    assert stored[0][0] == stored[0][1]


def test_equality_looks_at_labels_weights_and_kind():
    graphs = PreferenceGraphs.from_rankings([[1, 2]])
    assert graphs != PreferenceGraphs.from_rankings([[1, 2]], labels=["a", "b"])
    assert graphs != [[1, 2]]
    light, heavy = (PreferenceGraphs.from_pairs([0], [0], [1], [w]) for w in (1.0, 2.0))
    assert light == graphs
    assert heavy != graphs
    assert heavy != light


# --- Levels of edges


@given(edge_rows())
def test_layered_graphs_are_recognized(drawn):
    rows, k = drawn
    graphs = graphs_of(rows, k)
    expected = [level_of_each_label(row, k) for row in rows]
    assert graphs.is_layered is all(levels is not None for levels in expected)
    assert [graph.is_layered for graph in graphs] == [levels is not None for levels in expected]
    if graphs.is_layered:
        stored = graphs.to_levels()
        assert stored.storage == "levels"
        assert stored.levels.tolist() == expected
        assert stored == graphs
        np.testing.assert_array_equal(np.isnan(graphs.to_ranks()), stored.levels < 0)
    else:
        first = expected.index(None)
        with pytest.raises(ValueError, match=f"the graph of instance {first} is not layered"):
            graphs.to_levels()


def test_levels_of_many_rows():
    rng = np.random.RandomState(0)
    ranks = rng.randint(0, 4, size=(3000, 200)).astype(float)  # more than one block
    ranks[rng.random_sample(ranks.shape) > 0.03] = NAN
    graphs = PreferenceGraphs.from_rankings(ranks)
    edges = PreferenceGraphs.from_pairs(*graphs.to_edges(), n_instances=len(ranks), n_labels=200)
    assert edges.to_levels() == graphs
    cyclic = PreferenceGraphs.concatenate([edges, graphs_of([[(0, 1), (1, 2), (2, 0)]], 200)])
    with pytest.raises(ValueError, match="instance 3000 is not layered"):
        cyclic.to_levels()


def test_weighted_edges_have_no_levels():
    weighted = PreferenceGraphs.from_pairs([0], [0], [1], [2.0])
    assert weighted.is_layered
    with pytest.raises(ValueError, match="weighted edges cannot be stored as levels"):
        weighted.to_levels()


def test_no_labels_no_rows():
    nothing = PreferenceGraphs.from_pairs([], [], [], n_instances=3)
    assert nothing.shape == (3, 0)
    assert nothing.is_layered
    assert nothing.to_levels().levels.shape == (3, 0)
    assert nothing == nothing.to_levels()
    for graphs in (PreferenceGraphs.from_rankings(np.zeros((0, 4))), graphs_of([], 4)):
        assert len(graphs) == graphs.n_edges == 0
        assert graphs.is_layered
        assert graphs.to_ranks().shape == (0, 4)
        assert graphs[[]].shape == (0, 4)


# --- The dummy label


@given(rank_matrices(entries=st.sampled_from([0.0, 1.0, NAN])))
def test_the_dummy_stands_between(indicator):
    graphs = PreferenceGraphs.from_multilabel(indicator)
    dummy = indicator.shape[1]
    expected = [
        sorted((j, dummy) if value else (dummy, j) for j, value in enumerate(row) if not math.isnan(value))
        for row in indicator.tolist()
    ]
    with_dummy = graphs.with_dummy()
    assert edges_by_instance(with_dummy) == expected
    assert with_dummy.shape == (len(indicator), dummy + 1)


def test_the_dummy_needs_two_levels():
    with pytest.raises(ValueError, match="with_dummy needs labels that are relevant or not, and instance 1 has 3"):
        PreferenceGraphs.from_rankings([[1, 1, 2], [1, 2, 3]]).with_dummy()
    named = PreferenceGraphs.from_multilabel([{"a"}], labels=["a", "b"]).with_dummy()
    assert named.labels.tolist() == ["a", "b", "(dummy)"]


# --- Memory

N_ROWS, N_LABELS = 80_000, 103


def bytes_per_entry(build):
    """Peak of what `build` allocates, and what is left of it, for each label of each instance."""
    build()  # imports
    gc.collect()
    tracemalloc.start()
    kept = build()
    left, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(kept) == N_ROWS
    return peak / (N_ROWS * N_LABELS), left / (N_ROWS * N_LABELS)


@pytest.fixture(scope="module")
def many_sets():
    rng = np.random.RandomState(0)
    Y = sparse.random_array((N_ROWS, N_LABELS), density=0.03, rng=rng, dtype=np.float32, format="csr")
    Y.data[:] = 1
    return Y.astype(np.int8)


def tree_of_topics():
    """A tree of three levels over all labels: each has a parent among those before it."""
    return np.array([-1 if i < 4 else i % 4 if i < 30 else 4 + i % 26 for i in range(N_LABELS)])


@pytest.mark.parametrize("source", ["sparse", "dense", "hierarchy"])
def test_building_takes_a_byte_per_label(many_sets, source):
    dense = many_sets.toarray() if source == "dense" else None
    build = {
        "sparse": lambda: PreferenceGraphs.from_multilabel(many_sets),
        "dense": lambda: PreferenceGraphs.from_multilabel(dense),
        "hierarchy": lambda: PreferenceGraphs.from_hierarchy(many_sets, tree_of_topics()),
    }[source]
    peak, left = bytes_per_entry(build)
    assert left < 1.1
    assert peak < 3


def test_counting_edges_takes_no_edges(many_sets):
    graphs = PreferenceGraphs.from_multilabel(many_sets)
    counts = np.diff(many_sets.indptr)

    def count():
        assert int(graphs.edge_counts().sum()) == int((counts * (N_LABELS - counts)).sum())
        return graphs

    peak, _ = bytes_per_entry(count)
    assert peak < 3


def test_an_array_is_not_equal_to_graphs():
    y = np.array([[1.0, 2.0]])
    graphs = as_graphs(y)
    assert (graphs == y) is False
    assert (y == graphs) is False
    assert (y != graphs) is True


def test_to_look_at_graphs_does_not_change_them():
    edges = PreferenceGraphs.from_pairs([0, 0], [0, 1], [1, 2])
    for graphs in (as_graphs([[1, 2, 2]]), PreferenceGraphs.from_rankings([[1, 2, 2]]), edges):
        before = pickle.dumps(graphs)
        assert (graphs.n_edges, graphs.is_layered, len(graphs.to_edges())) == (2, graphs is not edges, 3)
        assert graphs is edges or graphs.levels.shape == (1, 3)
        assert pickle.dumps(graphs) == before
        assert pickle.loads(before) == graphs
