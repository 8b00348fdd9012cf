"""Metrics of rankings and of graphs against literal loops, SciPy and scikit-learn."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from oracles import metrics as oracle
from scipy import sparse, stats
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import ndcg_score

from labelrank import PreferenceGraphs, metrics, ranks_from_orders, ranks_from_scores
from labelrank.decompositions import get_decomposition, hamming

NAN = np.nan
ERRORS = {
    "zero_one": metrics.zero_one_error,
    "disagreement": metrics.disagreement_error,
    "domination": metrics.domination_error,
    "dominated": metrics.dominated_error,
}


@st.composite
def tied_incomplete(draw, max_labels=6, max_rows=5):
    """True ranks with ties and NaN, predicted ranks with ties."""
    n, k = draw(st.integers(1, max_rows)), draw(st.integers(1, max_labels))
    entry = st.one_of(st.just(NAN), st.integers(1, k).map(float))
    row = st.lists(entry, min_size=k, max_size=k)
    true = np.array(draw(st.lists(row, min_size=n, max_size=n)))
    complete = st.lists(st.integers(1, k).map(float), min_size=k, max_size=k)
    return true, np.array(draw(st.lists(complete, min_size=n, max_size=n)))


@st.composite
def cyclic(draw, max_labels=5, max_rows=4):
    """Random simple graphs, cycles and empty rows included, and predicted ranks with ties."""
    n, k = draw(st.integers(1, max_rows)), draw(st.integers(2, max_labels))
    edges = []
    for _ in range(n):
        row = []
        for a in range(k):
            for b in range(a + 1, k):
                way = draw(st.sampled_from([None, (a, b), (b, a)]))
                if way is not None:
                    row.append(way)
        edges.append(row)
    complete = st.lists(st.integers(1, k).map(float), min_size=k, max_size=k)
    pred = np.array(draw(st.lists(complete, min_size=n, max_size=n)))
    flat = [(i, a, b) for i, row in enumerate(edges) for a, b in row]
    columns = np.array(flat, dtype=int).reshape(-1, 3).T
    graphs = PreferenceGraphs.from_pairs(*columns, n_instances=n, n_labels=k)
    return edges, graphs, pred


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


@given(tied_incomplete())
def test_tau_x_and_top_k_equal_literal_loops(case):
    true, pred = case
    seen = (~np.isnan(true)).sum(axis=1)
    if (seen >= 2).any():
        assert_allclose(metrics.kendall_tau_x(true, pred), oracle.kendall_tau_x(true, pred), atol=1e-12)
    if any(oracle.edges_of_ranks(row) for row in true):
        for k in (1, 2, 3):
            assert_allclose(metrics.top_k_accuracy(true, pred, k=k), oracle.top_k_accuracy(true, pred, k), atol=1e-12)


def _per_row(true, pred, statistic):
    values = []
    for t, p in zip(true, pred, strict=True):
        seen = ~np.isnan(t)
        if len(np.unique(t[seen])) > 1:
            values.append(statistic(t[seen], p[seen]) if len(np.unique(p[seen])) > 1 else 0.0)
    return np.mean(values)


@given(tied_incomplete())
def test_tau_b_and_rho_equal_scipy(case):
    true, pred = case
    assume(any(oracle.edges_of_ranks(row) for row in true))
    tau_b = _per_row(true, pred, lambda t, p: stats.kendalltau(t, p).statistic)
    rho = _per_row(true, pred, lambda t, p: stats.spearmanr(t, p).statistic)
    assert_allclose(metrics.kendall_tau_b(true, pred), tau_b, atol=1e-12)
    assert_allclose(metrics.spearman_rho(true, pred), rho, atol=1e-12)


def test_tau_of_complete_strict_rankings_equals_scipy():
    rng = np.random.default_rng(0)
    true, pred = ranks_from_scores(rng.random((50, 7))), ranks_from_scores(rng.random((50, 7)))
    expected = np.mean([stats.kendalltau(t, p).statistic for t, p in zip(true, pred, strict=True)])
    assert_allclose(metrics.kendall_tau(true, pred), expected, atol=1e-12)


@given(tied_incomplete(), st.sampled_from([None, 1, 2, 4]))
def test_ndcg_equals_scikit_learn(case, k):
    true, pred = case
    values = []
    for t, p in zip(true, pred, strict=True):
        seen = ~np.isnan(t)
        if len(np.unique(t[seen])) > 1:
            gain = [(t[seen] > v).sum() for v in t[seen]]
            values.append(ndcg_score([gain], [-p[seen]], k=k))
    assume(values)
    assert_allclose(metrics.ndcg(true, pred, k=k), np.mean(values), atol=1e-12)


def test_tau_is_of_ranks_not_of_orders():
    # b > c > a against b > a > c: one of three pairs is reversed, so tau is 1/3; on the order strings it would be -1.
    true, pred = (ranks_from_orders([list(order)], labels=list("abc")) for order in ("bca", "bac"))
    assert_allclose(metrics.kendall_tau(true, pred), 1 / 3)


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


def test_tied_predictions_disagree_and_count_zero_in_tau():
    true, flat = [[1, 2, 3]], [[1, 1, 1]]
    assert metrics.kendall_tau(true, flat) == 0
    assert metrics.disagreement_error(true, flat) == 1
    assert metrics.kendall_tau_b(true, flat) == 0
    assert metrics.spearman_rho(true, flat) == 0
    assert metrics.top_k_accuracy(true, flat, k=2) == 0
    assert metrics.top_k_accuracy(true, flat, k=3) == 1


def test_instances_without_edges_are_left_out_and_counted():
    true, pred = [[1, 2], [1, NAN], [1, 1]], [[1, 2], [2, 1], [2, 1]]
    with pytest.warns(UserWarning, match=r"leaves out 2 of 3 instances without edges \(first: row 1\)") as caught:
        assert metrics.zero_one_error(true, pred) == 0
    assert caught[0].filename == __file__
    assert metrics.kendall_tau(true, pred) == 1


@pytest.mark.parametrize(
    "metric",
    [
        metrics.kendall_tau,
        metrics.kendall_tau_b,
        metrics.kendall_tau_x,
        metrics.spearman_rho,
        metrics.top_k_accuracy,
        metrics.ndcg,
        metrics.disagreement_error,
    ],
)
@pytest.mark.filterwarnings("ignore:.*leaves out")
def test_nothing_to_compare_is_nan_with_a_warning(metric):
    with pytest.warns(UndefinedMetricWarning, match="is undefined"):
        assert np.isnan(metric([[1.0, NAN], [NAN, NAN]], [[1, 2], [1, 2]]))
    with pytest.warns(UndefinedMetricWarning, match="is undefined"):
        assert np.isnan(metric([[1.0], [1.0]], [[1], [1]]))


@pytest.mark.parametrize("metric", [metrics.kendall_tau, metrics.spearman_rho, metrics.ndcg, metrics.domination_error])
def test_sample_weight(metric):
    rng = np.random.default_rng(1)
    true, pred = ranks_from_scores(rng.random((9, 5))), ranks_from_scores(rng.random((9, 5)))
    weight = rng.integers(0, 3, 9)
    repeated = np.repeat(np.arange(9), weight)
    expected = metric(true[repeated], pred[repeated])
    assert_allclose(metric(true, pred, sample_weight=weight), expected)
    with pytest.raises(ValueError, match="sample_weight"):
        metric(true, pred, sample_weight=weight[:3])
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        metric(true, pred, sample_weight=-weight)


def test_edge_weights_weigh_the_pairs():
    graphs = PreferenceGraphs.from_pairs([0, 0], [0, 1], [1, 2], [3.0, 1.0], n_labels=3)
    pred = [[1, 2, 1]]  # agrees with the first edge, not with the second
    assert metrics.kendall_tau(graphs, pred) == (3 - 1) / 4
    assert metrics.disagreement_error(graphs, pred) == 1 / 4
    assert metrics.domination_error(graphs, pred) == 1 / 4
    assert metrics.zero_one_error(graphs, pred) == 1


def test_many_labels_cross_the_blocks_of_the_kernel():
    rng = np.random.default_rng(2)
    true, pred = rng.random((70, 300)), rng.random((70, 300))
    true[rng.random(true.shape) < 0.2] = NAN
    i, j = np.triu_indices(300, 1)
    values = []
    for t, p in zip(true, pred, strict=True):
        s = np.sign(t[i] - t[j]) * np.sign(p[i] - p[j])
        values.append(np.nanmean(s))
    assert_allclose(metrics.kendall_tau(true, pred), np.mean(values), atol=1e-12)


@pytest.mark.parametrize("metric", [metrics.kendall_tau, metrics.disagreement_error, metrics.ndcg])
def test_bad_input_is_refused(metric):
    with pytest.raises(ValueError, match="different shapes"):
        metric([[1, 2]], [[1, 2, 3]])
    with pytest.raises(ValueError, match="y_pred contains NaN, first in row 1"):
        metric([[1, 2], [1, 2]], [[1, 2], [NAN, 2]])
    with pytest.raises(ValueError, match="y_pred contains infinity"):
        metric([[1, 2]], [[1, np.inf]])
    with pytest.raises(ValueError, match="y_true contains infinity"):
        metric([[1, np.inf]], [[1, 2]])
    with pytest.raises(TypeError, match="masked"):
        metric(np.ma.masked_array([[1.0, 2.0]], [[True, False]]), [[1, 2]])
    with pytest.raises(TypeError, match="ranks every label"):
        metric([[1, 2]], PreferenceGraphs.from_rankings([[1, 2]]))


def test_frames_with_labels_in_another_order_are_refused():
    pl = pytest.importorskip("polars")
    true, pred = pl.DataFrame({"a": [1], "b": [2]}), pl.DataFrame({"b": [1], "a": [2]})
    with pytest.raises(ValueError, match="name different labels"):
        metrics.kendall_tau(true, pred)
    assert metrics.kendall_tau(true, pred[["a", "b"]]) == -1


def test_rank_metrics_refuse_graphs_that_are_no_rankings():
    cycle = PreferenceGraphs.from_pairs([0, 0, 0], [0, 1, 2], [1, 2, 0])
    with pytest.raises(ValueError, match="not layered"):
        metrics.spearman_rho(cycle, [[1, 2, 3]])
    assert metrics.disagreement_error(cycle, [[1, 2, 3]]) == pytest.approx(1 / 3)
    with pytest.raises(ValueError, match="needs layered graphs"):
        metrics.generalized_error(cycle, [[1, 2, 3]], "levels")


@pytest.mark.parametrize("k", [0, -1, 1.5, True])
def test_k_must_be_a_positive_integer(k):
    with pytest.raises(ValueError, match="k must be a positive integer"):
        metrics.top_k_accuracy([[1, 2]], [[1, 2]], k=k)


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


@pytest.mark.parametrize(
    ("y_pred", "error", "message"),
    [
        ([[1, np.inf]], ValueError, "y_pred contains infinity, .* a prediction ranks every label: give the last one"),
        (sparse.csr_array([[1, 2]]), TypeError, "y_pred is a sparse matrix, .* a prediction ranks every label"),
        ([["a", "b"]], TypeError, "y_pred must be a matrix of ranks, and holds 'a'.* the rank of each label"),
        ([[1, np.nan]], ValueError, "y_pred contains NaN, first in row 0; a prediction ranks every label"),
    ],
)
def test_advice_about_predictions(y_pred, error, message):
    for metric in (metrics.kendall_tau, metrics.ndcg, metrics.domination_error):
        with pytest.raises(error, match=message) as caught:
            metric([[1, 2]], y_pred)
        assert "not observed" not in str(caught.value)
