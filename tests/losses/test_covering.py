"""The covering loss against its definition: value, flows, unknown labels, huge scores, and the graph with a dummy."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from oracles.metrics import cover_elements
from scipy import sparse
from scipy.optimize import approx_fprime
from solvers.calls import linear

from labelrank import PreferenceGraphs
from labelrank.decompositions import (
    FunctionCovering,
    FunctionDecomposition,
    Subgraph,
    coverings,
    get_covering,
    get_decomposition,
    weighted_negative,
    weighted_positive,
)
from labelrank.losses import CoveringLoss, LogLinearLoss

NAMES = ["zero_one", "hamming", "two_sets", "weighted_positive", "weighted_negative"]
SCORES = st.sampled_from([-400.0, -40.0, -3.0, -1.0, 0.0, 0.5, 2.0, 30.0, 310.0])
WEIGHTS = st.sampled_from([0.0, 0.25, 1.0, 3.0])


def cyclic(relevant):
    """Neighbors on a circle, the relevant labels twice, and everything: labels in several elements, and repeated."""
    k = len(relevant)
    positive = np.flatnonzero(relevant)
    circle = [[label, (label + 1) % k] for label in range(k)]
    return [*circle, *[positive] * (2 * bool(len(positive))), range(k), [0]]


def first_and_rest(relevant):
    """An answer that depends on the labeling."""
    k = len(relevant)
    return [[label] for label in range(k)] if relevant[0] or k == 1 else [[0], range(1, k)]


FUNCTIONS = {function.__name__: function for function in (cyclic, first_and_rest)}


def elements_of(y, name):
    """The elements of one example, each as often as it counts; labels that are not known (NaN) are in none."""
    if name in FUNCTIONS:
        return [sorted({int(label) for label in element}) for element in FUNCTIONS[name](np.asarray(y) == 1)]
    known = np.flatnonzero(~np.isnan(y))
    found = cover_elements(np.asarray(y)[known], name)
    return [[int(known[j]) for j in element] for element in found if element]


def literal_flows(y, f, elements):
    """Loss, inflow and outflow of one example in extended precision, element by element."""
    f = np.asarray(f, dtype=np.longdouble)
    value, into, out_of = np.longdouble(0), np.zeros(len(f), np.longdouble), np.zeros(len(f), np.longdouble)
    for element in elements:
        terms = {label: np.exp(-f[label] if y[label] == 1 else f[label]) for label in element}
        total = 1 + sum(terms.values())
        value += np.log1p(sum(terms.values()))
        for label, term in terms.items():
            (out_of if y[label] == 1 else into)[label] += term / total
    return value, into, out_of


def covering_named(name):
    return FunctionCovering(FUNCTIONS[name]) if name in FUNCTIONS else get_covering(name)


def loss_of(Y, name, weight=None):
    weight = np.ones(len(Y)) if weight is None else weight
    return CoveringLoss(PreferenceGraphs.from_multilabel(Y), covering_named(name), weight)


def losses(loss, rows, scores):
    scores = np.array(scores, dtype=float)[rows]
    before, into, out_of = scores.copy(), np.full(scores.shape, np.nan), np.full(scores.shape, np.nan)
    found = loss.losses(scores, into, out_of, rows)
    np.testing.assert_array_equal(scores, before)  # the scores are not written to
    return found, into, out_of


@st.composite
def labeled_scores(draw, unknown=True):
    """0/1 matrices with NaN where a label is not known, scores, weights of the examples."""
    n, k = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    entries = st.sampled_from([0.0, 1.0, 1.0, np.nan] if unknown else [0.0, 1.0])
    Y = draw(st.lists(entries, min_size=n * k, max_size=n * k))
    scores = draw(st.lists(SCORES, min_size=n * k, max_size=n * k))
    weight = draw(st.lists(WEIGHTS, min_size=n, max_size=n))
    return np.reshape(Y, (n, k)), np.reshape(scores, (n, k)), np.array(weight)


def check_against_loops(case, name, rows):
    Y, scores, weight = case
    loss = loss_of(Y, name, weight)
    found, into, out_of = losses(loss, rows, scores)
    for position, i in enumerate(np.arange(len(Y))[rows]):
        value, t, o = literal_flows(Y[i], scores[i], elements_of(Y[i], name))
        assert_allclose(found[position], float(weight[i] * value), rtol=1e-12, atol=1e-14)
        assert_allclose(into[position], (weight[i] * t).astype(float), rtol=1e-12, atol=1e-14)
        assert_allclose(out_of[position], (weight[i] * o).astype(float), rtol=1e-12, atol=1e-14)


@given(labeled_scores(), st.sampled_from(NAMES), st.data())
@example((np.full((1, 3), np.nan), np.ones((1, 3)), np.ones(1)), "zero_one", None)  # nothing is known
def test_value_and_flows(case, name, data):
    n = len(case[0])
    check_against_loops(case, name, slice(None))
    if data is not None:
        first, last = sorted(data.draw(st.tuples(st.integers(0, n), st.integers(0, n))))
        check_against_loops(case, name, slice(first, last))
        check_against_loops(case, name, np.array(data.draw(st.lists(st.integers(0, n - 1))), dtype=np.intp))


@given(labeled_scores(unknown=False), st.sampled_from(list(FUNCTIONS)), st.data())
def test_value_and_flows_of_functions(case, name, data):
    check_against_loops(case, name, slice(None))
    rows = data.draw(st.lists(st.integers(0, len(case[0]) - 1)))
    check_against_loops(case, name, np.array(rows, dtype=np.intp))


@given(labeled_scores(unknown=False), st.sampled_from(NAMES))
def test_a_built_in_covering_given_as_a_function_is_the_same(case, name):
    Y, scores, weight = case
    graphs = PreferenceGraphs.from_multilabel(Y)
    function = FunctionCovering(lambda relevant: cover_elements(relevant, name))
    fast, slow = loss_of(Y, name, weight), CoveringLoss(graphs, function, weight)
    for ours, theirs in zip(losses(fast, slice(None), scores), losses(slow, slice(None), scores), strict=True):
        assert_allclose(ours, theirs, rtol=1e-12, atol=1e-14)


def test_flows_are_the_losses_of_consecutive_rows():
    rng = np.random.default_rng(0)
    Y, scores = rng.integers(0, 2, (20, 4)), rng.normal(size=(20, 4))
    loss = loss_of(Y, "two_sets", rng.random(20))
    each, into, out_of = losses(loss, slice(5, 12), scores)
    t, o = np.empty((7, 4)), np.empty((7, 4))
    assert_allclose(loss.flows(scores[5:12], t, o, slice(5, 12)), each.sum())
    assert_allclose(t, into)
    assert_allclose(o, out_of)


def test_a_label_that_is_not_known_has_no_say():
    Y = np.array([[1.0, np.nan, 0.0]])
    for name in NAMES:
        for score in (-5.0, 700.0):
            value, into, out_of = losses(loss_of(Y, name), slice(None), [[0.2, score, -0.3]])
            assert into[0, 1] == out_of[0, 1] == 0
            assert_allclose(value, losses(loss_of([[1.0, 0.0]], name), slice(None), [[0.2, -0.3]])[0])


def test_what_is_counted():
    Y = np.array([[1.0, 0.0], [np.nan, np.nan], [0.0, 0.0], [np.nan, 1.0]])
    loss = loss_of(Y, "hamming", np.array([1.0, 1.0, 0.0, 2.0]))
    assert loss.counted.tolist() == [True, False, False, True]
    assert linear(np.array([[1.0], [50.0], [70.0], [-3.0]]), loss).largest_change == 4  # and the constant


@pytest.mark.parametrize("name", [*NAMES, *FUNCTIONS])
@pytest.mark.parametrize("size", [299.0, 301.0, 1e4, 1e8])
def test_huge_scores_are_finite(name, size):
    rng = np.random.default_rng(0)
    Y = rng.integers(0, 2, (30, 6))
    scores = size * rng.choice([-1.0, 0.0, 1.0], (30, 6))
    value, into, out_of = losses(loss_of(Y, name), slice(None), scores)
    # In the limit an element pays the largest of 0 and its labels' -y f, and log of how many attain it.
    for i in range(30):
        z, expected = np.where(Y[i] == 1, -scores[i], scores[i]), 0.0
        for element in elements_of(Y[i].astype(float), name):
            top = max(0.0, z[element].max())
            expected += top + np.log((z[element] == top).sum() + (top == 0))
        assert_allclose(value[i], expected, rtol=1e-14)
    assert (into[Y == 1] == 0).all()
    assert (out_of[Y == 0] == 0).all()
    flow = into + out_of
    assert np.isfinite(flow).all()
    assert (flow >= 0).all()
    assert (flow.sum(axis=1) <= [len(elements_of(y, name)) + 1e-9 for y in Y.astype(float)]).all()


def test_products_of_many_elements_do_not_overflow():
    """Factors 1 + exp(z) share a logarithm; a thousand of them, each below the limit, are more than a float holds."""
    for k in (5, 1000):
        Y, scores = np.zeros((1, k)), np.full((1, k), 290.0)
        assert_allclose(losses(loss_of(Y, "hamming"), slice(None), scores)[0], 290.0 * k)
        single = FunctionCovering(lambda relevant: [[label] for label in range(len(relevant))])
        loss = CoveringLoss(PreferenceGraphs.from_multilabel(Y), single, np.ones(1))
        assert_allclose(losses(loss, slice(None), scores)[0], 290.0 * k)


@pytest.mark.parametrize("name", [*NAMES, *FUNCTIONS])
@pytest.mark.parametrize("size", [1.0, 400.0])
def test_curvature_is_the_slope_of_the_gradient(name, size):
    rng = np.random.default_rng(1)
    Y, scores = rng.integers(0, 2, (12, 4)), size * rng.normal(size=(12, 4))
    loss = loss_of(Y, name, rng.random(12))
    curvature, gradient, again = (np.full((12, 4), np.nan) for _ in range(3))
    loss.curvature(scores, curvature)
    value = loss.value_and_derivatives(scores, gradient, again)
    assert_allclose(again, curvature)
    up, down = np.empty((12, 4)), np.empty((12, 4))
    assert_allclose(loss.value_and_gradient(scores, up), value)
    assert_allclose(up, gradient)
    for label in range(4):
        step = np.zeros(4)
        step[label] = 1e-5
        loss.value_and_gradient(scores + step, up)
        loss.value_and_gradient(scores - step, down)
        assert_allclose(curvature[:, label], (up - down)[:, label] / 2e-5, atol=1e-7)


@pytest.mark.parametrize("name", [*NAMES, *FUNCTIONS])
@pytest.mark.parametrize("form", ["dense", "csr"])
def test_gradient_is_the_slope_of_the_value(name, form):
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(12, 3)), rng.integers(0, 2, (12, 4))
    data = sparse.csr_array(X) if form == "csr" else X
    objective = linear(data, loss_of(Y, name, rng.random(12)))
    coef = rng.normal(size=16)
    gradient = objective.value_and_gradient(coef.reshape(4, 4))[1]
    slope = approx_fprime(coef, lambda c: objective.value_and_gradient(c.reshape(4, 4))[0], 1e-7)
    assert_allclose(gradient.ravel(), slope, atol=1e-5)
    value, plus, minus = objective.value_and_weights(coef.reshape(4, 4))
    assert_allclose(value, objective.value_and_gradient(coef.reshape(4, 4))[0])
    assert_allclose(plus - minus, gradient, atol=1e-12)
    assert (plus >= 0).all()
    assert (minus >= 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_two_threads_give_the_same_sums(name):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(700, 4)), rng.integers(0, 2, (700, 6))
    loss, coef = loss_of(Y, name, rng.random(700)), rng.normal(size=(5, 6))
    one = linear(X, loss, n_jobs=1).value_and_weights(coef)
    two = linear(X, loss, n_jobs=2).value_and_weights(coef)
    for ours, theirs in zip(one, two, strict=True):
        assert_allclose(ours, theirs, rtol=1e-10)


# -- on the graph with a dummy label of score 0 ---------------------------------------------------------------------

AS_DECOMPOSITION = {
    "zero_one": (coverings.zero_one, "zero_one"),
    "hamming": (coverings.hamming, "disagreement"),
    "weighted_positive(1)": (weighted_positive(1), "dominated"),
    "weighted_negative(1)": (weighted_negative(1), "domination"),
    "two_sets": (coverings.two_sets, FunctionDecomposition(lambda graph: dummy_stars(graph))),
}


def dummy_stars(graph):
    """One star into the dummy, the last label, and one out of it."""
    dummy = len(graph.labels) - 1
    stars = [[edge for edge in graph.edges if edge[side] == dummy] for side in (1, 0)]
    return [Subgraph.of_edges(star) for star in stars if star]


@given(labeled_scores(), st.sampled_from(list(AS_DECOMPOSITION)))
def test_it_is_the_log_linear_loss_on_the_graph_with_a_dummy(case, name):
    """Summed over the subgraphs instead of averaged; what flows into the dummy is not of interest."""
    Y, scores, weight = case
    covering, decomposition = AS_DECOMPOSITION[name]
    graphs = PreferenceGraphs.from_multilabel(Y)
    value, into, out_of = losses(CoveringLoss(graphs, covering, weight), slice(None), scores)
    wide = graphs.with_dummy()
    n_elements = np.diff(covering.cut(graphs).subgraph_ptr)
    loss = LogLinearLoss(wide, get_decomposition(decomposition), weight * n_elements)
    wide_scores = np.column_stack([scores, np.zeros(len(Y))])
    t, o = np.empty_like(wide_scores), np.empty_like(wide_scores)
    assert_allclose(loss.flows(wide_scores, t, o), value.sum(), rtol=1e-10, atol=1e-12)
    assert_allclose(t[:, :-1], into, rtol=1e-9, atol=1e-12)
    assert_allclose(o[:, :-1], out_of, rtol=1e-9, atol=1e-12)


@given(labeled_scores(), st.sampled_from(list(AS_DECOMPOSITION)))
def test_a_decomposition_is_taken_as_a_covering(case, name):
    Y, scores, weight = case
    covering, decomposition = AS_DECOMPOSITION[name]
    graphs = PreferenceGraphs.from_multilabel(Y)
    given_so = CoveringLoss(graphs, get_covering(get_decomposition(decomposition)), weight)
    ours = losses(CoveringLoss(graphs, covering, weight), slice(None), scores)
    for one, other in zip(ours, losses(given_so, slice(None), scores), strict=True):
        assert_allclose(one, other, rtol=1e-12, atol=1e-14)


def test_every_element_is_a_subgraph():
    """The elements that a covering cuts are those that the loss sums over, weights included."""
    rng = np.random.default_rng(0)
    Y, scores = rng.integers(0, 2, (10, 5)), 3 * rng.normal(size=(10, 5))
    graphs = PreferenceGraphs.from_multilabel(Y)
    wide = np.column_stack([scores, np.zeros(10)])
    for name in (*NAMES, *FUNCTIONS):
        covering = covering_named(name)
        cut = covering.cut(graphs)
        found = losses(CoveringLoss(graphs, covering, np.ones(10)), slice(None), scores)[0]
        for i in range(10):
            parts = cut.of(i)
            sums = [sum(np.exp(wide[i, b] - wide[i, a]) for a, b in part.edges()) for part in parts]
            assert_allclose(found[i], sum(part.weight * np.log1p(s) for part, s in zip(parts, sums, strict=True)))


def test_graphs_with_more_levels_are_refused():
    graphs = PreferenceGraphs.from_rankings([[1.0, 2.0, 3.0]])
    with pytest.raises(ValueError, match="3 levels"):
        CoveringLoss(graphs, coverings.hamming, np.ones(1))


def test_functions_are_asked_once_for_each_labeling():
    calls = []

    def whole(relevant):
        calls.append(tuple(relevant))
        return [range(len(relevant))]

    Y = np.tile([[1, 0, 0], [0, 1, 1]], (50, 1))
    loss = CoveringLoss(PreferenceGraphs.from_multilabel(Y), FunctionCovering(whole), np.ones(100))
    for _ in range(3):
        losses(loss, slice(None), np.zeros((100, 3)))
        losses(loss, np.array([4, 1]), np.zeros((100, 3)))
    assert sorted(calls) == [(False, True, True), (True, False, False)]
