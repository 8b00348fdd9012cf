"""The log-linear loss against its definition: value, flows, huge scores, every path of evaluation."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from oracles import decompositions as cuts
from scipy import sparse
from scipy.optimize import approx_fprime
from solvers.calls import linear
from strategies import edge_rows, graphs_of, rank_matrices

from labelrank import PreferenceGraphs, as_graphs
from labelrank.decompositions import get_decomposition
from labelrank.losses import LogLinearLoss

NAMES = ["zero_one", "disagreement", "domination", "dominated"]
SCORES = st.sampled_from([-40.0, -3.0, -1.0, 0.0, 0.5, 2.0, 30.0])


def literal_flows(parts, f):
    """Loss, inflow and outflow of one instance in extended precision."""
    f = np.asarray(f, dtype=np.longdouble)
    value, into, out_of = np.longdouble(0), np.zeros(len(f), np.longdouble), np.zeros(len(f), np.longdouble)
    for part in parts:
        terms = {(a, b): np.exp(f[b] - f[a]) for a, b in part}
        total = 1 + sum(terms.values())
        value += np.log(total) / len(parts)
        for (a, b), term in terms.items():
            into[b] += term / total / len(parts)
            out_of[a] += term / total / len(parts)
    return value, into, out_of


def flows(loss, scores):
    scores = np.array(scores, dtype=float)
    before, into, out_of = scores.copy(), np.full(scores.shape, np.nan), np.full(scores.shape, np.nan)
    value = loss.flows(scores, into, out_of)
    np.testing.assert_array_equal(scores, before)  # the scores are not written to
    return value, into, out_of


@given(rank_matrices(min_rows=1), st.sampled_from(NAMES), st.data())
def test_layered_graphs(ranks, name, data):
    graphs = as_graphs(ranks)
    scores = np.array(data.draw(st.lists(SCORES, min_size=ranks.size, max_size=ranks.size))).reshape(ranks.shape)
    weight = np.arange(1.0, len(ranks) + 1)
    value, into, out_of = flows(LogLinearLoss(graphs, get_decomposition(name), weight), scores)
    expected = 0.0
    for i, row in enumerate(graphs):
        _, better, worse = row.to_edges()
        parts = cuts.OF_EDGES[name](list(zip(better.tolist(), worse.tolist(), strict=True)))
        one, t, o = literal_flows(parts, scores[i])
        expected += weight[i] * one
        assert_allclose(into[i], (weight[i] * t).astype(float), rtol=1e-9, atol=1e-14)
        assert_allclose(out_of[i], (weight[i] * o).astype(float), rtol=1e-9, atol=1e-14)
    assert_allclose(value, float(expected), rtol=1e-10, atol=1e-13)


@given(edge_rows(), st.sampled_from(NAMES), st.data())
def test_any_graphs(case, name, data):
    rows, k = case
    assume(rows)
    scores = np.array(data.draw(st.lists(SCORES, min_size=len(rows) * k, max_size=len(rows) * k))).reshape(-1, k)
    loss = LogLinearLoss(graphs_of(rows, k), get_decomposition(name), np.ones(len(rows)))
    value, into, out_of = flows(loss, scores)
    expected = 0.0
    for i, edges in enumerate(rows):
        one, t, o = literal_flows(cuts.OF_EDGES[name](edges), scores[i])
        expected += one
        assert_allclose(into[i], t.astype(float), rtol=1e-9, atol=1e-14)
        assert_allclose(out_of[i], o.astype(float), rtol=1e-9, atol=1e-14)
    assert_allclose(value, float(expected), rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("name", [*NAMES, "levels", "all_level_pairs"])
@pytest.mark.parametrize("size", [1e4, 1e8])
def test_huge_scores_are_finite(name, size):
    rng = np.random.default_rng(0)
    ranks = rng.integers(1, 4, (30, 6)).astype(float)
    scores = size * rng.choice([-1.0, 0.0, 1.0], (30, 6))
    value, into, out_of = flows(LogLinearLoss(as_graphs(ranks), get_decomposition(name), np.ones(30)), scores)
    assert np.isfinite(value)
    assert value > size / 10
    assert np.isfinite(into).all()
    assert np.isfinite(out_of).all()
    assert_allclose(into.sum(axis=1), out_of.sum(axis=1))  # what flows in has flowed out
    assert (into >= 0).all()
    assert (into <= 1 + 1e-6).all()


def test_domination_of_one_class_is_the_multinomial_loss():
    rng = np.random.default_rng(0)
    scores, y = rng.normal(size=(20, 5)), rng.integers(0, 5, 20)
    graphs = PreferenceGraphs.from_multiclass(y, n_labels=5)
    value, into, out_of = flows(LogLinearLoss(graphs, get_decomposition("domination"), np.ones(20)), scores)
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    assert_allclose(value, -np.log(p[np.arange(20), y]).sum())
    assert_allclose(into - out_of, p - np.eye(5)[y])


@pytest.mark.parametrize("storage", ["levels", "edges"])
@pytest.mark.parametrize("form", ["dense", "csr", "nonnegative", "csr nonnegative"])
@pytest.mark.parametrize("name", NAMES)
def test_objective_paths_agree(storage, form, name):
    """Dense and sparse X, levels and edges, one thread or two, all give the sums of the definition."""
    rng = np.random.default_rng(0)
    n, d, k = 700, 5, 30
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6)
    if "nonnegative" in form:
        X = np.abs(X)
    ranks = np.where(rng.random((n, k)) < 0.9, np.nan, rng.integers(1, 4, (n, k)))
    graphs = as_graphs(ranks)
    if storage == "edges":
        flat = graphs.to_edges()
        graphs = type(graphs).from_pairs(*flat, n_instances=n, n_labels=k)
    weight = rng.random(n)
    loss = LogLinearLoss(graphs, get_decomposition(name), weight)
    data = sparse.csr_array(X) if "csr" in form else X
    coef = rng.normal(size=(d + 1, k))
    scores = X @ coef[:d] + coef[d]
    value, into, out_of = flows(LogLinearLoss(as_graphs(ranks), get_decomposition(name), weight), scores)
    ones = np.hstack([X, np.ones((n, 1))])
    plus = np.maximum(ones, 0).T @ into + np.maximum(-ones, 0).T @ out_of
    minus = np.maximum(ones, 0).T @ out_of + np.maximum(-ones, 0).T @ into
    for n_jobs in (1, 2):
        objective = linear(data, loss, n_jobs=n_jobs)
        found = objective.value_and_weights(coef)
        assert_allclose(found[0], value)
        assert_allclose(found[1], plus, atol=1e-12)
        assert_allclose(found[2], minus, atol=1e-12)
        assert_allclose(objective.value_and_gradient(coef)[1], plus - minus, atol=1e-12)
    assert_allclose(objective.largest_change, 2 * (np.abs(X).sum(axis=1)[loss.counted].max() + 1))


def test_gradient_is_the_slope_of_the_value():
    rng = np.random.default_rng(1)
    X, ranks = rng.normal(size=(12, 3)), rng.integers(1, 4, (12, 4)).astype(float)
    for name in (*NAMES, "adjacent_levels", lambda graph: [graph.edges[:2], graph.edges[1:]]):
        loss = LogLinearLoss(as_graphs(ranks), get_decomposition(name), np.ones(12))
        objective = linear(X, loss)
        coef = rng.normal(size=16)
        slope = approx_fprime(coef, lambda c, o=objective: o.value_and_gradient(c.reshape(4, 4))[0], 1e-7)
        assert_allclose(objective.value_and_gradient(coef.reshape(4, 4))[1].ravel(), slope, atol=1e-5)


@given(edge_rows(), st.sampled_from(NAMES), st.data())
def test_curvature_of_any_graphs(case, name, data):
    rows, k = case
    assume(rows)
    scores = np.array(data.draw(st.lists(SCORES, min_size=len(rows) * k, max_size=len(rows) * k))).reshape(-1, k)
    found = np.full(scores.shape, np.nan)
    LogLinearLoss(graphs_of(rows, k), name).curvature(scores, found)
    for i, edges in enumerate(rows):
        parts = cuts.OF_EDGES[name](edges)
        expected = np.zeros(k, np.longdouble)
        for part in parts:
            _, into, out_of = literal_flows([part], scores[i])
            expected += (into + out_of - (into - out_of) ** 2) / len(parts)
        assert_allclose(found[i], expected.astype(float), rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("name", [*NAMES, "levels"])
def test_curvature_is_the_slope_of_the_gradient(name):
    rng = np.random.default_rng(2)
    loss = LogLinearLoss(as_graphs(rng.integers(1, 4, (6, 5)).astype(float)), name, rng.random(6))
    scores, curvature = rng.normal(size=(6, 5)), np.empty((6, 5))
    loss.curvature(scores, curvature)
    up, down = np.empty((6, 5)), np.empty((6, 5))
    for label in range(5):
        step = 1e-6 * np.eye(5)[label]
        loss.value_and_gradient(scores + step, up)
        loss.value_and_gradient(scores - step, down)
        assert_allclose(curvature[:, label], (up - down)[:, label] / 2e-6, atol=1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_flows_along_edges_add_up(name):
    rng = np.random.default_rng(3)
    ranks = np.where(rng.random((9, 5)) < 0.2, np.nan, rng.integers(1, 4, (9, 5)))
    loss, scores = LogLinearLoss(as_graphs(ranks), name, rng.random(9)), rng.normal(size=(9, 5))
    value, into, out_of = flows(loss, scores)
    edges = loss.edge_flows(scores)
    found_into, found_out = np.zeros((9, 5)), np.zeros((9, 5))
    np.add.at(found_into, (edges.row, edges.worse), edges.flow)
    np.add.at(found_out, (edges.row, edges.better), edges.flow)
    assert_allclose(edges.value, value)
    assert_allclose(found_into, into, atol=1e-14)
    assert_allclose(found_out, out_of, atol=1e-14)


@pytest.mark.parametrize("name", ["zero_one", "domination", "dominated"])
def test_rows_beside_far_ones(name):
    """A row whose exponentials underflow is evaluated otherwise, and changes nothing for the others."""
    rng = np.random.default_rng(4)
    ranks, scores = rng.integers(1, 4, (8, 5)).astype(float), rng.normal(size=(8, 5))
    ranks[3], scores[3] = [1, 2, 3, 1, 2], [0.0, 900.0, -50.0, 3.0, -800.0]
    value, into, out_of = flows(LogLinearLoss(as_graphs(ranks), name), scores)
    expected = 0.0
    for i, row in enumerate(as_graphs(ranks)):
        _, better, worse = row.to_edges()
        parts = cuts.OF_EDGES[name](list(zip(better.tolist(), worse.tolist(), strict=True)))
        one, t, o = literal_flows(parts, scores[i])
        expected += one
        assert_allclose(into[i], t.astype(float), rtol=1e-9, atol=1e-14)
        assert_allclose(out_of[i], o.astype(float), rtol=1e-9, atol=1e-14)
    assert_allclose(value, float(expected))
