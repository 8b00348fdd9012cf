"""The soft-projection ranker against literal objectives, quadratic programs and support vector machines."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import soft_projection as oracle
from rankers.soft_projections import NAMES, NAN, coefficients, literal_problem, tight, with_constant
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.svm import LinearSVC
from strategies import edge_rows, graphs_of, rank_matrices

from labelrank import GraphRanker, PreferenceGraphs, as_graphs, ranks_from_scores
from labelrank.datasets import make_label_ranking
from labelrank.decompositions import EdgeWeighted, Subgraph, levels
from labelrank.losses import SoftMarginLoss
from labelrank.metrics import kendall_tau
from labelrank.rankers.soft_projection import SoftProjectionRanker
from labelrank.solvers import SoftProjection

# ---------------------------------------------------------------------------------------------------------------
# The optimum
# ---------------------------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(
    rank_matrices(min_rows=1, max_rows=5, min_labels=2, max_labels=5),
    st.sampled_from(NAMES),
    st.sampled_from([0.05, 1.0, 20.0]),
    st.sampled_from(["mean", "sum"]),
    st.booleans(),
    st.integers(0, 100),
)
def test_certificate_of_the_literal_objective(y, name, C, weighting, unit, seed):
    """The objective, pair by pair, cannot be above its optimum by more than the gap to any feasible duals."""
    graphs = as_graphs(y)
    assume(graphs.n_edges)
    X = np.random.default_rng(seed).normal(size=(len(y), 2))
    gamma = None if unit else -graphs.levels.astype(float)
    ranker = SoftProjectionRanker(
        C, decomposition=name, weighting=weighting, margin="unit" if unit else "gaps", **tight
    )
    ranker.set_params(warm_start=True)  # to see the duals
    ranker.fit(X, y)
    subgraphs, gammas, bounds = literal_problem(graphs, name, C, weighting, gamma)
    W = coefficients(ranker)
    value = oracle.objective(W, with_constant(X), subgraphs, gammas, bounds)
    assert ranker.objective_ == pytest.approx(value, rel=1e-10, abs=1e-12)
    assert ranker.gap_ <= 1e-10
    assert len(ranker.duals_) == sum(len(A) + len(B) for _, A, B in subgraphs)
    assert ranker.duals_.min() >= 0
    assert ranker.dual_objective_ <= value + 1e-9


@settings(max_examples=25)
@given(edge_rows(max_rows=4, max_labels=4), st.sampled_from(["disagreement", "domination", "dominated"]))
def test_graphs_of_edges(case, name):
    graphs = graphs_of(*case)
    assume(graphs.n_edges)
    X = np.random.default_rng(0).normal(size=(len(graphs), 2))
    ranker = SoftProjectionRanker(decomposition=name, fit_intercept=False, **tight).fit(X, graphs)
    value = oracle.objective(ranker.coef_, X, *literal_problem(graphs, name, 1.0))
    assert ranker.objective_ == pytest.approx(value, rel=1e-10, abs=1e-12)
    assert ranker.gap_ <= 1e-10
    if name == "domination":
        default = SoftProjectionRanker(fit_intercept=False, **tight).fit(X, graphs)
        assert_allclose(default.coef_, ranker.coef_, atol=1e-4)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("C", [0.1, 5.0])
def test_quadratic_program(name, C):
    clarabel = pytest.importorskip("clarabel")
    X, y = make_label_ranking(7, 2, n_labels=4, concentration=1.0, random_state=1)
    y[2, 1], y[3] = NAN, [1, 1, 2, 2]
    graphs = as_graphs(y)
    problem = literal_problem(graphs, name, C, gamma=-graphs.levels.astype(float))
    P, q, G, h = oracle.primal_program(X, *problem, 4)
    options = clarabel.DefaultSettings()
    options.verbose = False
    for option in ("tol_gap_abs", "tol_gap_rel", "tol_feas"):
        setattr(options, option, 1e-12)
    cones = [clarabel.NonnegativeConeT(len(h))]
    solved = clarabel.DefaultSolver(sparse.csc_matrix(P), q, sparse.csc_matrix(G), h, cones, options).solve()
    ranker = SoftProjectionRanker(C, decomposition=name, fit_intercept=False, tol=1e-8, random_state=0).fit(X, y)
    assert ranker.objective_ == pytest.approx(solved.obj_val, rel=1e-7, abs=1e-7)
    assert_allclose(ranker.coef_.ravel(), np.array(solved.x)[:8], atol=1e-3)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("name", NAMES)
def test_one_optimum_by_any_way(kernel, name):
    X, y = make_label_ranking(40, 3, n_labels=5, concentration=1.0, random_state=0)
    ranker = SoftProjectionRanker(decomposition=name, kernel=kernel, **tight)
    plain = clone(ranker).fit(X, y)
    ways = {"shuffle": False, "shrinking": False, "random_state": 7}
    for way, value in ways.items():
        other = clone(ranker).set_params(**{way: value}).fit(X, y)
        assert other.objective_ == pytest.approx(plain.objective_, rel=1e-9)
        assert_allclose(other.decision_function(X), plain.decision_function(X), atol=1e-3)
    if kernel == "linear":
        other = clone(ranker).fit(sparse.csr_array(X), y)
        assert_allclose(other.coef_, plain.coef_, atol=1e-6)
        assert_allclose(other.decision_function(sparse.csr_array(X)), plain.decision_function(X), atol=1e-6)
        gram = clone(ranker).set_params(kernel=lambda A, B: A @ B.T).fit(X, y)
        assert_allclose(gram.decision_function(X), plain.decision_function(X), atol=1e-3)
        assert gram.objective_ == pytest.approx(plain.objective_, rel=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_composed_of_its_parts(form):
    X, y = make_label_ranking(40, 3, n_labels=5, concentration=1.0, random_state=0)
    preset = SoftProjectionRanker(0.5, random_state=0).fit(form(X), y)
    composed = GraphRanker(loss="soft_margin", solver=SoftProjection(random_state=0), alpha=2.0, tol=1e-3)
    composed.fit(form(X), y)
    assert_array_equal(composed.coef_, preset.coef_)
    assert_array_equal(composed.intercept_, preset.intercept_)
    assert (composed.n_iter_, composed.gap_) == (preset.n_iter_, preset.gap_)
    assert_array_equal(composed.loss_curve_, preset.loss_curve_)
    by_name = GraphRanker(loss="soft_margin", solver="soft_projection", decomposition="disagreement").fit(X, y)
    assert by_name.gap_ <= by_name.tol
    with pytest.raises(ValueError, match="'soft_projection' needs a loss with blocks, but the loss 'plackett_luce'"):
        GraphRanker(loss="plackett_luce", solver="soft_projection").fit(X, y)


# ---------------------------------------------------------------------------------------------------------------
# Machines that people know
# ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_two_labels_are_a_binary_svm(form, fit_intercept):
    X, classes = make_classification(80, 5, random_state=0)
    graphs = PreferenceGraphs.from_multiclass(classes, n_labels=2)
    ranker = SoftProjectionRanker(0.15, fit_intercept=fit_intercept, **tight).fit(form(X), graphs)
    # w_1 = -w_0 at the optimum, so that half of ½‖w_1 - w_0‖² is paid: the weight of the loss is 2 C.
    svm = LinearSVC(C=0.3, loss="hinge", fit_intercept=fit_intercept, tol=1e-9, max_iter=10**6, random_state=0)
    svm.fit(X, classes)
    assert_allclose(ranker.coef_[1] - ranker.coef_[0], svm.coef_[0], atol=1e-5)
    assert_allclose(ranker.coef_[1], -ranker.coef_[0], atol=1e-12)
    if fit_intercept:
        assert_allclose(ranker.intercept_[1] - ranker.intercept_[0], svm.intercept_[0], atol=1e-5)
    else:
        assert_array_equal(ranker.intercept_, 0)


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_one_class_is_crammer_and_singer(C):
    X, y = load_iris(return_X_y=True)
    X = X - X.mean(axis=0)
    svm = LinearSVC(multi_class="crammer_singer", C=C, fit_intercept=False, tol=1e-8, max_iter=10**6, random_state=0)
    svm.fit(X, y)

    def objective(W):
        scores = X @ W.T
        own = scores[np.arange(len(y)), y]
        scores = scores + 1.0
        scores[np.arange(len(y)), y] -= 1.0
        return 0.5 * (W**2).sum() + C * (scores.max(axis=1) - own).sum()

    ranker = SoftProjectionRanker(C, fit_intercept=False, **tight).fit(X, PreferenceGraphs.from_multiclass(y))
    assert ranker.objective_ == pytest.approx(objective(ranker.coef_), rel=1e-12)
    assert ranker.objective_ == pytest.approx(objective(svm.coef_), rel=1e-5)
    assert_allclose(ranker.coef_, svm.coef_, atol=1e-2)
    assert_array_equal(ranker.predict(X).argmin(axis=1), svm.predict(X))


def test_single_pairs_are_a_svm_on_differences():
    X, y = make_label_ranking(30, 3, n_labels=3, concentration=2.0, random_state=0)
    blocks, signs = [], []
    for x, row in zip(X, y, strict=True):
        for a in range(3):
            for b in range(a + 1, 3):
                pair = np.zeros((3, 3))
                pair[a], pair[b] = x, -x
                sign = 1 if row[a] < row[b] else -1
                blocks.append(pair.ravel())
                signs.append(sign)
    svm = LinearSVC(C=0.2, loss="hinge", fit_intercept=False, tol=1e-9, max_iter=10**6).fit(blocks, signs)
    ranker = SoftProjectionRanker(
        0.2, decomposition="disagreement", weighting="sum", margin="unit", fit_intercept=False, **tight
    ).fit(X, y)
    assert_allclose(ranker.coef_.ravel(), svm.coef_[0], atol=1e-4)


# ---------------------------------------------------------------------------------------------------------------
# What was observed
# ---------------------------------------------------------------------------------------------------------------


def test_scores_as_targets():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    gamma = X @ rng.normal(size=(3, 4)) * 0.5
    ranker = SoftProjectionRanker(100.0, targets="scores", **tight).fit(X, gamma)
    f = ranker.decision_function(X)
    assert_allclose(f - f.mean(axis=1, keepdims=True), gamma - gamma.mean(axis=1, keepdims=True), atol=1e-2)
    assert ranker.score(X, gamma) == pytest.approx(kendall_tau(ranks_from_scores(gamma), ranker.predict(X)))
    assert ranker.score(X, gamma) > 0.95
    ranks = ranks_from_scores(gamma)  # 1, 2, 3, 4: minus the rank is a score
    a = SoftProjectionRanker(**tight).fit(X, ranks)
    b = SoftProjectionRanker(targets="scores", **tight).fit(X, -ranks)
    assert_allclose(a.coef_, b.coef_, atol=1e-6)


def test_scores_with_ties_and_gaps():
    rng = np.random.default_rng(1)
    X, gamma = rng.normal(size=(8, 2)), rng.integers(0, 3, (8, 5)) / 2.0
    gamma[rng.random(gamma.shape) < 0.3] = NAN
    graphs = PreferenceGraphs.from_scores(gamma)
    ranker = SoftProjectionRanker(3.0, targets="scores", fit_intercept=False, **tight).fit(X, gamma)
    value = oracle.objective(ranker.coef_, X, *literal_problem(graphs, "levels", 3.0, gamma=gamma))
    assert ranker.objective_ == pytest.approx(value)


def test_only_the_order_of_ranks_counts():
    X, y = make_label_ranking(20, 3, n_labels=4, random_state=0)
    plain = SoftProjectionRanker(**tight).fit(X, y)
    assert_array_equal(SoftProjectionRanker(**tight).fit(X, y * 10 - 3).coef_, plain.coef_)
    assert_array_equal(SoftProjectionRanker(**tight).fit(X, as_graphs(y)).coef_, plain.coef_)


def test_sets_of_relevant_labels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 4))
    Y = X @ rng.normal(size=(4, 6)) > 0.5
    graphs = PreferenceGraphs.from_multilabel(Y.astype(int))
    ranker = SoftProjectionRanker(on_empty="ignore", random_state=0).fit(X, graphs)
    assert ranker.score(X, graphs) > 0.9
    whole = SoftProjectionRanker(decomposition="zero_one", on_empty="ignore", random_state=0).fit(X, graphs)
    assert_array_equal(whole.coef_, ranker.coef_)  # two levels: the whole graph is bipartite


def test_subgraphs_must_be_complete_bipartite():
    X, y = make_label_ranking(5, 2, n_labels=3, random_state=0)
    with pytest.raises(ValueError, match="'zero_one' gives instance 0 a subgraph that is not complete bipartite"):
        SoftProjectionRanker(decomposition="zero_one").fit(X, y)


def test_decompositions_of_the_user():
    X, y = make_label_ranking(20, 3, n_labels=4, random_state=0)
    y[:5] = [1, 1, 2, 2]

    def by_edges(graph):  # listed edge by edge, found to be bipartite
        return [
            [(a, b) for a in upper for lower in graph.levels[i + 1 :] for b in lower]
            for i, upper in enumerate(graph.levels[:-1])
        ]

    def by_blocks(graph):
        return [
            Subgraph.between(upper, [b for lower in graph.levels[i + 1 :] for b in lower])
            for i, upper in enumerate(graph.levels[:-1])
        ]

    expected = SoftProjectionRanker(**tight).fit(X, y)
    for function in (by_edges, by_blocks):
        ranker = SoftProjectionRanker(decomposition=function, **tight).fit(X, y)
        assert_allclose(ranker.coef_, expected.coef_, atol=1e-6)
    weighted = SoftProjectionRanker(decomposition=EdgeWeighted(levels), **tight).fit(X, y)
    assert weighted.objective_ > expected.objective_


def test_weights_are_numbers_of_rows():
    X, y = make_label_ranking(25, 3, n_labels=4, concentration=1.0, random_state=0)
    weight = np.random.default_rng(0).integers(0, 3, 25)
    rows = np.repeat(np.arange(25), weight)
    for kernel in ("linear", "rbf"):
        ranker = SoftProjectionRanker(kernel=kernel, gamma=0.5, **tight)
        a = clone(ranker).fit(X, y, sample_weight=weight)
        b = clone(ranker).fit(X[rows], y[rows])
        assert a.objective_ == pytest.approx(b.objective_, rel=1e-9)
        assert_allclose(a.decision_function(X), b.decision_function(X), atol=1e-4)


def test_weights_of_edges():
    X = np.random.default_rng(0).normal(size=(3, 2))
    rows, better, worse = [0, 0, 1, 2], [0, 1, 1, 2], [1, 2, 0, 0]
    graphs = PreferenceGraphs.from_pairs(rows, better, worse, [1, 3, 2, 1], n_instances=3, n_labels=3)
    ranker = SoftProjectionRanker(decomposition="disagreement", fit_intercept=False, **tight).fit(X, graphs)
    subgraphs = [(0, [0], [1]), (0, [1], [2]), (1, [1], [0]), (2, [2], [0])]
    value = oracle.objective(ranker.coef_, X, subgraphs, [([1.0], [0.0])] * 4, [0.5, 1.5, 2.0, 1.0])
    assert ranker.objective_ == pytest.approx(value)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_few_of_many_labels(form):
    rng = np.random.default_rng(0)
    y = np.full((40, 30), NAN)
    for row in y:
        row[rng.choice(30, 3, replace=False)] = [1, 2, 3]
    X = rng.normal(size=(40, 3))
    ranker = SoftProjectionRanker(fit_intercept=False, **tight).fit(form(X), y)
    graphs = as_graphs(y)
    gamma = -graphs.levels.astype(float)
    value = oracle.objective(ranker.coef_, X, *literal_problem(graphs, "levels", 1.0, gamma=gamma))
    assert ranker.objective_ == pytest.approx(value)


@pytest.mark.parametrize("kernel", ["linear", "precomputed"])
def test_instances_without_features(kernel):
    """A row of zeros cannot be ranked without an intercept, and the certificate knows."""
    X, y = make_label_ranking(12, 3, n_labels=3, random_state=0)
    X[[2, 5]] = 0.0
    X[3] = 1e-160
    ranker = SoftProjectionRanker(kernel=kernel, fit_intercept=False, **tight)
    ranker.fit(X if kernel == "linear" else X @ X.T, y)
    assert ranker.gap_ <= 1e-10
    nothing = SoftProjectionRanker(fit_intercept=False, **tight).fit(np.zeros((12, 3)), y)
    assert_array_equal(nothing.coef_, 0)
    assert nothing.gap_ == pytest.approx(0, abs=1e-10)


@pytest.mark.parametrize("kernel", ["linear", "precomputed"])
def test_squared_norms_too_small_for_C(kernel):
    """They are rounded up to 1e-200, with which duals of this size stop far from the optimum."""
    X, y = make_label_ranking(12, 3, n_labels=3, random_state=0)
    data = X * 1e-110 if kernel == "linear" else X @ X.T * 1e-220
    ranker = SoftProjectionRanker(C=1e220, kernel=kernel, fit_intercept=False, random_state=0)
    with pytest.raises(ValueError, match=r"of X has a squared norm below 1e-200, .* too small for C=1e\+220; scale X"):
        ranker.fit(data, y)
    if kernel == "linear":
        with pytest.raises(ValueError, match="scale X"):
            ranker.partial_fit(data, y)
    mixed = X * np.where(np.arange(12) % 2, 1.0, 1e-104)[:, np.newaxis]
    with pytest.raises(ValueError, match="row 0 of X has a squared norm below"):
        SoftProjectionRanker(1e208, fit_intercept=False).fit(mixed, y)
    plain = SoftProjectionRanker(fit_intercept=False, **tight).fit(X, y)
    small = SoftProjectionRanker(1e180, fit_intercept=False, **tight).fit(X * 1e-90, y)
    assert small.objective_ * 1e-180 == pytest.approx(plain.objective_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("scale", [1e8, 1e12])
def test_the_certificate_of_large_kernel_values(scale):
    """Scores of 1 out of kernel values of 1e12 are computed anew from the duals before a gap is accepted."""
    rng = np.random.default_rng(0)
    for C in (1e-13, 1e-10, 1.0):
        X, y = rng.normal(size=(20, 2)), ranks_from_scores(rng.normal(size=(20, 3)))
        gram = (X @ X.T + 1.0) * scale
        ranker = SoftProjectionRanker(C, kernel="precomputed", fit_intercept=False, random_state=0).fit(gram, y)
        coef = np.zeros((20, 3))
        coef[ranker.support_] = ranker.dual_coef_.T
        scores = gram @ coef
        value = 0.5 * np.vdot(coef, scores) + C * SoftMarginLoss(as_graphs(y)).value(scores)
        rounding = 1e-15 * float((abs(gram) @ abs(coef)).max())
        assert abs(ranker.objective_ - value) <= (1e-12 + 60 * rounding) * value
        assert ranker.gap_ >= 0


def test_small_data():
    one = SoftProjectionRanker(random_state=0).fit([[1.0]], [[2.0, 1.0]])
    assert_array_equal(one.predict([[1.0]]), [[2, 1]])
    single = SoftProjectionRanker().fit([[1.0], [2.0]], [[1.0], [1.0]])
    assert_array_equal(single.predict([[1.0]]), [[1.0]])
    assert single.n_iter_ == 0
    with pytest.warns(UserWarning, match="2 rows without any observed pair"):
        empty = SoftProjectionRanker().fit([[1.0], [2.0]], [[1.0, NAN], [2.0, 2.0]])
    assert_array_equal(empty.coef_, 0)
    kernel = SoftProjectionRanker(kernel="rbf", on_empty="ignore").fit([[1.0], [2.0]], [[1.0, NAN], [2.0, 2.0]])
    assert_array_equal(kernel.predict([[3.0]]), [[1, 1]])
    constant = SoftProjectionRanker(**tight).fit(np.ones((4, 2)), [[1, 2]] * 3 + [[2, 1]])
    assert_array_equal(constant.predict(np.ones((1, 2))), [[1, 2]])


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_scale_of_features_and_targets(scale):
    rng = np.random.default_rng(0)
    X, gamma = rng.normal(size=(20, 3)), rng.normal(size=(20, 4))
    plain = SoftProjectionRanker(targets="scores", fit_intercept=False, **tight).fit(X, gamma)
    scaled = SoftProjectionRanker(1 / scale, targets="scores", fit_intercept=False, **tight).fit(
        X * scale, gamma * scale
    )
    # w stays, losses and their weight cancel
    assert_allclose(scaled.coef_, plain.coef_, atol=1e-4)


def test_single_precision():
    X, y = make_label_ranking(60, 4, n_labels=5, concentration=1.0, random_state=0)
    double = SoftProjectionRanker(random_state=0, tol=1e-5).fit(X, y)
    single = SoftProjectionRanker(random_state=0, tol=1e-5).fit(X.astype(np.float32), y)
    assert single.coef_.dtype == np.float64
    assert single.objective_ == pytest.approx(double.objective_, rel=3e-5)


@pytest.mark.parametrize("unit", [1e-100, 1e-12, 1e-3, 1e6])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_gap_is_relative_in_any_unit(unit, kernel):
    """With targets in another unit and C in its inverse, all is the same up to the unit; rounding aside."""
    rng = np.random.default_rng(0)
    X, gamma = rng.normal(size=(40, 3)), rng.normal(size=(40, 4))
    params = {"targets": "scores", "kernel": kernel, "gamma": 0.5, "random_state": 0, "tol": 1e-6}
    plain = SoftProjectionRanker(2.0, **params).fit(X, gamma)
    other = SoftProjectionRanker(2.0 * unit, **params).fit(X, gamma * unit)
    assert plain.gap_ <= 1e-6
    assert other.gap_ <= 1e-6
    assert other.objective_ == pytest.approx(plain.objective_ * unit**2, rel=2e-6)
    assert_allclose(other.decision_function(X) / unit, plain.decision_function(X), atol=2e-2)


def test_a_small_C_learns_as_well():
    """However small the objective, the gap is small in comparison, so that the first step is not the last."""
    X, y = make_label_ranking(30, 3, n_labels=4, concentration=2.0, random_state=0)
    ranker = SoftProjectionRanker(1e-7, random_state=0).fit(X, y)
    assert ranker.objective_ < 1e-3
    assert ranker.coef_.any()
    assert ranker.score(X, y) > 0.3


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csr_matrix])
def test_features_too_large_to_be_squared(form):
    X, y = make_label_ranking(20, 3, n_labels=4, random_state=0)
    large = X.copy()
    large[7] *= 1e160
    for method in ("fit", "partial_fit"):
        with pytest.raises(ValueError, match=r"row 7 of X is so large .* scale X"):
            getattr(SoftProjectionRanker(), method)(form(large), y)
    with pytest.raises(ValueError, match="the poly kernel has NaN or infinite values: too large numbers"):
        SoftProjectionRanker(kernel="poly", gamma=1.0).fit(form(large), y)
    fitted = SoftProjectionRanker(1e-250, fit_intercept=False, random_state=0).fit(form(X * 1e120), y)
    assert np.isfinite(fitted.decision_function(form(X * 1e120))).all()


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("scale", [1e-15, 1e25])
def test_32_bits_of_any_scale(form, scale):
    """Neither do squares overflow, nor do duals become zero by rounding."""
    X, y = make_label_ranking(20, 3, n_labels=4, random_state=0)
    C = scale**-2  # as if X was not scaled
    single = SoftProjectionRanker(C, fit_intercept=False, random_state=0).fit(form((X * scale).astype(np.float32)), y)
    double = SoftProjectionRanker(fit_intercept=False, random_state=0).fit(X, y)
    assert single.objective_ / C == pytest.approx(double.objective_, rel=3e-3)
    assert single.gap_ <= 1e-3
