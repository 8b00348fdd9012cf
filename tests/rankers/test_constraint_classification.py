"""Constraint classification against explicit Kesler vectors, and against the perceptron of scikit-learn."""

import warnings

import numpy as np
import pytest
from callbacks import Steps
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import constraint_classification as oracle
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron
from sklearn.model_selection import KFold, cross_val_score
from strategies import edge_rows, graphs_of, rank_matrices

from labelrank import DummyRanker, PreferenceGraphs, as_graphs, ranks_from_scores
from labelrank.datasets import load_iris_rankings, load_wine_rankings, make_label_ranking, make_pairwise_battles
from labelrank.metrics import kendall_tau
from labelrank.rankers.constraint_classification import ConstraintClassificationRanker

VALUES = st.sampled_from([-2.0, -0.5, 0.0, 0.25, 1.0])  # sums of their products are exact, so that ties are ties
NAN = float("nan")


def quiet(ranker, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ranker.fit(*args, **kwargs)


def edges_of(graphs):
    votes = np.ones(graphs.n_edges) if graphs.weight is None else graphs.weight
    rows = [[] for _ in range(len(graphs))]
    for i, a, b, c in zip(*graphs.to_edges(), votes, strict=True):
        rows[i].append((int(a), int(b), float(c)))
    return rows


@st.composite
def problems(draw):
    """X, graphs of either storage, with weights of edges now and then, and weights of rows."""
    if draw(st.booleans()):
        graphs = as_graphs(draw(rank_matrices(min_rows=1, max_rows=5, min_labels=2, max_labels=4)))
    else:
        rows, k = draw(edge_rows(max_rows=5))
        flat = [(i, a, b) for i, row in enumerate(rows) for a, b in row]
        votes = draw(st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=len(flat), max_size=len(flat)))
        graphs = graphs_of(rows, k, dict(zip(flat, votes, strict=True)) if draw(st.booleans()) else None)
    n = len(graphs)
    X = np.array(draw(st.lists(VALUES, min_size=2 * n, max_size=2 * n)), dtype=float).reshape(n, 2)
    weight = np.array(draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=n, max_size=n)), dtype=float)
    assume(n and graphs.edge_counts()[weight > 0].sum() > 0)
    return X, graphs, weight


@given(problems(), st.sampled_from([0.0, 0.71, 3.03]), st.booleans(), st.booleans())
def test_equals_the_perceptron_on_kesler_vectors(problem, margin, fit_intercept, as_sparse):
    X, graphs, weight = problem
    ranker = ConstraintClassificationRanker(
        margin=margin, max_iter=3, tol=0, fit_intercept=fit_intercept, shuffle=False
    )
    quiet(ranker, sparse.csr_array(X) if as_sparse else X, graphs, weight)
    rows = [i for i in range(len(X)) if weight[i] > 0 and graphs.edge_counts()[i]]
    edges = edges_of(graphs)
    largest = np.abs(X[rows]).max(axis=0)
    largest[largest == 0] = 1
    expected, shares = oracle.perceptron(X / largest, edges, weight, [rows] * ranker.n_iter_, margin, fit_intercept)
    k = len(expected)  # labels after the last with an edge are not known to the oracle
    assert_allclose(ranker.coef_[:k], expected[:, :2] / largest, atol=1e-10)
    assert_allclose(ranker.intercept_[:k], expected[:, 2] if fit_intercept else 0, atol=1e-10)
    assert not ranker.coef_[k:].any()
    assert_allclose(ranker.loss_curve_, shares, atol=1e-10)


@given(problems())
def test_levels_and_edges_dense_and_sparse_are_the_same(problem):
    X, graphs, weight = problem
    ranker = ConstraintClassificationRanker(max_iter=4, tol=0, random_state=0)
    expected = quiet(clone(ranker), X, graphs, weight)
    edges = graphs.to_edges()
    as_edges = PreferenceGraphs.from_pairs(*edges, graphs.weight, n_instances=len(X), n_labels=graphs.shape[1])
    stored = quiet(clone(ranker), sparse.csr_array(X), as_edges, weight)
    assert_array_equal(stored.coef_, expected.coef_)
    assert_array_equal(stored.intercept_, expected.intercept_)


def test_weights_and_repeated_rows_are_nearly_the_same():
    X, y = make_label_ranking(100, 3, n_labels=4, concentration=1.0, random_state=0)
    weight = np.random.default_rng(0).integers(0, 4, 100)
    rows = np.repeat(np.arange(100), weight)
    ranker = ConstraintClassificationRanker(random_state=0)
    weighted, repeated = clone(ranker).fit(X, y, weight), clone(ranker).fit(X[rows], y[rows])
    assert kendall_tau(weighted.predict(X), repeated.predict(X)) > 0.9
    kept = clone(ranker).fit(X[weight > 0], y[weight > 0], weight[weight > 0])
    assert_allclose(kept.coef_, weighted.coef_)  # rows of weight zero are not visited


def test_every_pass_has_an_order_of_its_own():
    """The mean over passes in the orders drawn from random_state."""
    X, y = make_label_ranking(20, 2, n_labels=3, random_state=0)
    X /= np.abs(X).max(axis=0)
    seen = []

    class Spy(np.random.RandomState):
        def permutation(self, x):
            seen.append(super().permutation(x))
            return seen[-1]

    ranker = quiet(ConstraintClassificationRanker(max_iter=5, tol=0, random_state=Spy(3)), X, y)
    assert len(seen) == 5
    assert all(sorted(order) == list(range(20)) for order in seen)
    assert len({tuple(order) for order in seen}) == 5
    expected, _ = oracle.perceptron(X, edges_of(as_graphs(y)), np.ones(20), seen, 1.0)
    assert_allclose(ranker.coef_, expected[:, :2], atol=1e-10)
    other = quiet(ConstraintClassificationRanker(max_iter=5, tol=0, random_state=4), X, y)
    assert not np.allclose(other.coef_, ranker.coef_)


def test_two_labels_are_the_perceptron_of_scikit_learn():
    """One pass over two labels: the difference of the two rows of coefficients is a binary perceptron."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 3))
    X /= np.abs(X).max(axis=0)
    first = X @ [1.0, -2.0, 0.5] + 0.3 * rng.standard_normal(50) > 0
    rival = Perceptron(max_iter=1, tol=None, shuffle=False).fit(X, first)
    y = np.where(first[:, None], [1.0, 2.0], [2.0, 1.0])
    # scikit-learn keeps the last state. One more visit with an enormous weight makes the mean the last state too, and
    # with an x of zero it changes nothing but the intercept.
    X2, y2 = np.vstack([X, np.zeros(3)]), np.vstack([y, [1.0, 2.0]])
    weight = np.append(np.ones(50), 1e12)
    ours = quiet(
        ConstraintClassificationRanker(margin=0, max_iter=1, tol=0, shuffle=False, fit_intercept=True), X2, y2, weight
    )
    assert_allclose((ours.coef_[0] - ours.coef_[1]) / 2, rival.coef_[0], rtol=1e-8)
    assert_allclose(ours.coef_[0], -ours.coef_[1])


def test_separable_data_end_in_a_pass_without_mistakes():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 4))
    scores = X @ rng.standard_normal((4, 3))
    keep = np.diff(np.sort(scores, axis=1), axis=1).min(axis=1) > 0.3
    X, y = X[keep], (-scores[keep]).argsort(axis=1).argsort(axis=1) + 1.0
    ranker = ConstraintClassificationRanker(margin=0, tol=0, max_iter=1000, random_state=0).fit(X, y)
    assert ranker.n_iter_ < 1000
    assert ranker.loss_curve_[-1] == 0
    assert (ranker.loss_curve_[:-1] > 0).all()
    assert ranker.score(X, y) > 0.99


def test_stops_when_the_mean_settles_and_says_when_it_does_not():
    X, y = make_label_ranking(100, 3, n_labels=4, concentration=1.0, random_state=0)
    settled = ConstraintClassificationRanker(tol=0.01).fit(X, y)
    assert settled.gap_ <= 0.01
    assert settled.n_iter_ == len(settled.loss_curve_) < 200
    with pytest.warns(ConvergenceWarning, match=r"did not converge in max_iter=3 passes: .* by 0\.\d+, tol=0\.002"):
        early = ConstraintClassificationRanker(max_iter=3).fit(X, y)
    assert early.n_iter_ == 3
    assert early.gap_ > 2e-3


def test_progress_stops_and_interruptions():
    X, y = make_label_ranking(100, 3, n_labels=4, concentration=1.0, random_state=0)
    ranker = ConstraintClassificationRanker(random_state=0)
    steps = Steps()
    whole = clone(ranker).set_callbacks(steps).fit(X, y)
    assert steps.names == ["epoch"] * whole.n_iter_
    assert steps.total == 200
    assert_array_equal(steps.fitted[-1].coef_, whole.coef_)
    stopped = clone(ranker).set_callbacks(Steps(stop_after=2)).fit(X, y)
    with pytest.warns(UserWarning, match="was interrupted after 2 of 200 epochs"):
        interrupted = clone(ranker).set_callbacks(Steps(interrupt_after=2)).fit(X, y)
    short = quiet(clone(ranker).set_params(max_iter=2), X, y)
    for early in (stopped, interrupted, steps.fitted[1]):
        assert_array_equal(early.coef_, short.coef_)
        assert early.n_iter_ == len(early.loss_curve_) == 2
        assert early.gap_ == short.gap_


def test_a_failed_fit_keeps_the_model():
    X, y = make_label_ranking(30, 3, n_labels=4, random_state=0)
    ranker = quiet(ConstraintClassificationRanker(max_iter=5, random_state=0), X, y)
    before = ranker.predict(X)
    with pytest.raises(ValueError, match="NaN"):
        ranker.fit(np.full((30, 2), NAN), y[:, :2])
    with pytest.raises(ValueError, match="y has 1 row without any observed pair"):
        ranker.set_params(on_empty="error").fit(X[:, :2], np.where(np.arange(30)[:, None] == 3, NAN, y))
    assert_array_equal(ranker.predict(X), before)


def test_noise_hurts_little():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 5))
    y = (-X @ rng.standard_normal((5, 5))).argsort(axis=1).argsort(axis=1) + 1.0
    noisy = np.where(rng.random((600, 1)) < 0.2, rng.permuted(y, axis=1), y)
    ranker = ConstraintClassificationRanker().fit(X[:400], noisy[:400])
    short = quiet(ConstraintClassificationRanker(margin=0, max_iter=1), X[:400], noisy[:400])
    tau = kendall_tau(y[400:], ranker.predict(X[400:]))
    assert tau > 0.88
    assert tau > kendall_tau(y[400:], short.predict(X[400:]))


def test_permuted_labels_permute_the_model():
    X, y = make_label_ranking(40, 3, n_labels=4, missing=0.2, random_state=0)
    order = [2, 0, 3, 1]
    ranker = ConstraintClassificationRanker(shuffle=False, on_empty="ignore", max_iter=20, tol=0)
    plain, permuted = quiet(clone(ranker), X, y), quiet(clone(ranker), X, y[:, order])
    assert_allclose(permuted.coef_, plain.coef_[order], atol=1e-10)


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_units_of_the_features_do_not_matter(form):
    X, y = make_label_ranking(40, 3, n_labels=4, random_state=0)
    units = np.array([1024, 2.0**-30, 2.0**600])
    ranker = ConstraintClassificationRanker(max_iter=20, tol=0, random_state=0)
    plain, scaled = quiet(clone(ranker), form(X), y), quiet(clone(ranker), form(X * units), y)
    assert_allclose(scaled.coef_ * units, plain.coef_)
    assert_array_equal(scaled.predict(form(X * units)), plain.predict(form(X)))


@pytest.mark.filterwarnings("error")
def test_defaults_work_on_raw_data():
    X, y = load_wine_rankings(return_X_y=True)
    ranker = ConstraintClassificationRanker(random_state=0)
    assert cross_val_score(ranker, X, y, cv=KFold(5, shuffle=True, random_state=0)).mean() > 0.9


def test_beats_the_baseline_on_real_rankings():
    X, y = load_iris_rankings(return_X_y=True)
    cv = KFold(5, shuffle=True, random_state=0)
    scores = cross_val_score(ConstraintClassificationRanker(), X, y, cv=cv)
    assert scores.mean() > cross_val_score(DummyRanker(), X, y, cv=cv).mean() + 0.3


def test_cycles_and_battles():
    X, graphs = make_pairwise_battles(200, 5, n_battles=6, random_state=0)
    ranker = ConstraintClassificationRanker().fit(X[:150], graphs[:150])
    assert ranker.score(X[150:], graphs[150:]) > DummyRanker().fit(X, graphs).score(X[150:], graphs[150:])
    cycle = PreferenceGraphs.from_pairs([0, 0, 0], [0, 1, 2], [1, 2, 0])
    still = quiet(ConstraintClassificationRanker(max_iter=5), [[1.0]], cycle)
    assert not still.coef_.any()  # the three constraints cancel
    assert still.loss_curve_[0] == 1


@pytest.mark.parametrize("y", [[[1.0, 1.0], [NAN, 2.0]], [[1.0], [2.0]], [[NAN, NAN], [NAN, NAN]]])
@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_nothing_to_learn(y, form):
    ranker = ConstraintClassificationRanker(on_empty="ignore").fit(form([[1.0, 0.0], [0.0, 2.0]]), y)
    assert ranker.coef_.shape == (len(y[0]), 2)
    assert not ranker.coef_.any()
    assert ranker.n_iter_ == 0
    assert (ranker.predict([[3.0, 4.0]]) == 1).all()


def test_one_sample_constant_features_and_empty_sparse_rows():
    one = ConstraintClassificationRanker().fit([[1.0, 2.0]], [[2.0, 1.0, 3.0]])
    assert_array_equal(one.predict([[1.0, 2.0]]), [[2, 1, 3]])
    zero = ConstraintClassificationRanker().fit(sparse.csr_array((3, 2)), [[1.0, 2.0]] * 3)
    assert not zero.coef_.any()
    assert_array_equal(zero.predict(np.zeros((1, 2))), [[1, 2]])
    blind = ConstraintClassificationRanker(fit_intercept=False, max_iter=2).fit(np.zeros((3, 2)), [[1.0, 2.0]] * 3)
    assert (blind.predict(np.zeros((1, 2))) == 1).all()  # nothing that it could learn from


def test_sparse_matrices_in_any_state():
    X, y = make_label_ranking(30, 4, n_labels=3, random_state=0)
    X[np.abs(X) < 0.7] = 0
    expected = quiet(ConstraintClassificationRanker(max_iter=5, random_state=0), X, y)
    coo = sparse.coo_array(X)
    twice = sparse.csr_array(
        (np.repeat(coo.data / 2, 2), (np.repeat(coo.row, 2), np.repeat(coo.col, 2))), shape=X.shape
    )
    unsorted = sparse.csr_array(X)
    unsorted.indices = unsorted.indices.copy()
    for i in range(30):
        part = slice(unsorted.indptr[i], unsorted.indptr[i + 1])
        unsorted.indices[part], unsorted.data[part] = unsorted.indices[part][::-1], unsorted.data[part][::-1]
    unsorted.has_sorted_indices = unsorted.has_canonical_format = False
    zeros = sparse.csr_array(X)
    zeros.data[::5] = 0
    for form in (twice, unsorted, sparse.csc_array(X), sparse.csr_matrix(X)):
        before = form.copy()
        assert_array_equal(quiet(clone(expected), form, y).coef_, expected.coef_)
        assert (before != form).nnz == 0
    assert_array_equal(quiet(clone(expected), zeros, y).coef_, quiet(clone(expected), zeros.toarray(), y).coef_)


def test_errors():
    X, y = [[1.0], [2.0]], [[1.0, 2.0], [2.0, 1.0]]
    with pytest.raises(ValueError, match="'margin' parameter"):
        ConstraintClassificationRanker(margin=-1).fit(X, y)
    with pytest.raises(ValueError, match="'max_iter' parameter"):
        ConstraintClassificationRanker(max_iter=0).fit(X, y)
    with pytest.raises(ValueError, match="without any observed pair"):
        ConstraintClassificationRanker(on_empty="error").fit(X, [[1.0, 1.0], [2.0, 1.0]])


@pytest.mark.parametrize("weight", [1e-300, 1e150, 1e160, 1e300])
@pytest.mark.parametrize("scale", [1.0, 1e10])
def test_weights_of_any_size(scale, weight):
    """Without a margin the perceptron depends on the ratios of the weights only; squares of coefficients overflow."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = ranks_from_scores(X @ rng.normal(size=(3, 4)))
    plain = ConstraintClassificationRanker(margin=0, random_state=0).fit(X, y)
    ranker = ConstraintClassificationRanker(margin=0, random_state=0).fit(X * scale, y, np.full(60, weight))
    assert ranker.n_iter_ == plain.n_iter_
    np.testing.assert_array_equal(ranker.predict(X * scale), plain.predict(X))


def test_coefficients_that_overflow():
    with pytest.raises(ValueError, match="coefficients, which are proportional to sample_weight, overflow; divide"):
        ConstraintClassificationRanker().fit([[1e-10], [-1e-10]], [[1, 2], [2, 1]], [1e300, 1e300])
