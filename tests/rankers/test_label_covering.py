"""AdaBoost.LC against the literal loops of Figure 2 and against scikit-learn's logistic regressions."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from oracles import label_covering as oracle
from oracles.metrics import cover_elements
from scipy import sparse
from sklearn.datasets import make_multilabel_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from labelrank import LabelCoveringClassifier, LogLinearRanker, PreferenceGraphs
from labelrank.decompositions import weighted_positive
from labelrank.metrics import get_scorer

COVERINGS = ["zero_one", "hamming", "two_sets", "weighted_positive", "weighted_negative"]
ROUNDS = 5


def quiet(model, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(*args, **kwargs)


@parametrize_with_checks(
    [
        LabelCoveringClassifier(solver="boosting", alpha=0.0, max_iter=50),
        LabelCoveringClassifier("zero_one", solver="lbfgs", alpha=0.0, max_iter=50),
        LabelCoveringClassifier("two_sets", templates="sequential", solver="boosting", alpha=0.0, max_iter=50),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@st.composite
def hypotheses_and_labels(draw, bound=1.0):
    m, n_hypotheses, k = draw(st.integers(1, 6)), draw(st.integers(1, 3)), draw(st.integers(1, 4))
    values = st.sampled_from([-1.0, -0.4, 0.0, 0.3, 1.0]).map(lambda v: v * bound)
    H = draw(st.lists(values, min_size=m * n_hypotheses, max_size=m * n_hypotheses))
    Y = draw(st.lists(st.integers(0, 1), min_size=m * k, max_size=m * k))
    return np.array(H).reshape(m, -1), np.array(Y).reshape(m, k)


def compare(model, X, Y, H, name, templates):
    alpha, curve, bounds, lead = oracle.boost(H, Y, lambda y: cover_elements(y, name), templates, ROUNDS)
    assume(lead > 1e-10)  # where two templates promise the same, rounding chooses
    quiet(model, X, Y)
    n_iter = model.n_iter_
    assert_allclose(curve[n_iter:], curve[n_iter])  # fewer rounds only when nothing can move any more
    coef = np.column_stack([model.coef_, model.intercept_]).T[: H.shape[1]]
    assert_allclose(coef, alpha, atol=1e-10)
    assert_allclose(model.loss_curve_, curve[: n_iter + 1], rtol=1e-10, atol=1e-12)
    assert_allclose(model.bound_curve_, bounds[:n_iter], atol=1e-10)
    assert (-np.diff(model.loss_curve_) >= model.bound_curve_ - 1e-10).all()


@settings(max_examples=40)
@given(hypotheses_and_labels(), st.sampled_from(COVERINGS), st.booleans(), st.booleans(), st.booleans())
def test_equals_the_literal_loops(case, name, fit_intercept, as_sparse, as_function):
    H, Y = case
    X = sparse.csr_array(H) if as_sparse else H
    hypotheses = np.column_stack([H, np.ones(len(H))]) if fit_intercept else H
    n_hypotheses = hypotheses.shape[1]
    covering = (lambda y: cover_elements(y, name)) if as_function else name
    common = {"max_iter": ROUNDS, "tol": 0, "fit_intercept": fit_intercept}
    largest = np.abs(hypotheses).sum(axis=1).max() or 1.0
    parallel = LabelCoveringClassifier(covering, **common)
    compare(parallel, X, Y, hypotheses, name, np.full((1, n_hypotheses), 1 / largest))
    sequential = LabelCoveringClassifier(covering, templates="sequential", **common)
    compare(sequential, X, Y, hypotheses, name, np.eye(n_hypotheses))
    mine = np.vstack([np.full(n_hypotheses, 1 / n_hypotheses), np.eye(n_hypotheses)[0]])
    compare(LabelCoveringClassifier(covering, templates=mine, **common), X, Y, hypotheses, name, mine)


@pytest.mark.parametrize("name", COVERINGS)
@pytest.mark.parametrize("templates", ["parallel", "sequential", "mine"])
def test_the_bound_holds_for_hypotheses_outside_the_unit_interval(name, templates):
    rng = np.random.default_rng(0)
    X, Y = 20 * rng.normal(size=(40, 5)), rng.integers(0, 2, (40, 4))
    if templates == "mine":
        templates = np.full((1, 6), 1 / 6)
    model = quiet(
        LabelCoveringClassifier(name, templates=templates, max_iter=150, tol=0, solver="boosting", alpha=0.0), X, Y
    )
    assert model.n_iter_ == 150
    assert (-np.diff(model.loss_curve_) >= model.bound_curve_ - 1e-12).all()
    assert model.loss_curve_[-1] < model.loss_curve_[0]


@pytest.mark.parametrize("templates", ["parallel", "sequential"])
def test_copies_of_one_hypothesis_do_not_oscillate(templates):
    rng = np.random.default_rng(0)
    h = rng.choice([-1.0, 1.0], 60)
    Y = np.column_stack([h > 0, rng.random(60) < 0.5]).astype(int)
    Y[:6, 0] = 1 - Y[:6, 0]
    X = np.repeat(h[:, None], 12, axis=1)
    model = quiet(
        LabelCoveringClassifier(
            templates=templates, fit_intercept=False, max_iter=40, tol=0, solver="boosting", alpha=0.0
        ),
        X,
        Y,
    )
    assert (np.diff(model.loss_curve_) <= 1e-12).all()


@pytest.mark.parametrize("alpha", [0.1, 5.0])
def test_hamming_is_one_logistic_regression_per_label(alpha):
    X, Y = make_multilabel_classification(120, 8, n_classes=4, random_state=0)
    X = X / 5
    model = LabelCoveringClassifier(solver="lbfgs", alpha=alpha, tol=1e-9, max_iter=3000).fit(X, Y)
    total = 0.0
    for label in range(4):
        reference = LogisticRegression(C=1 / alpha, tol=1e-10, max_iter=5000).fit(X, Y[:, label])
        margin = np.where(Y[:, label] == 1, 1, -1) * reference.decision_function(X)
        total += np.log1p(np.exp(-margin)).sum() + alpha / 2 * (reference.coef_**2).sum()
        assert_allclose(model.coef_[label], reference.coef_[0], atol=1e-4)
    assert_allclose(model.loss_curve_[-1] * 120, total, rtol=1e-6)


@pytest.mark.parametrize("name", COVERINGS)
def test_solvers_agree(name):
    X, Y = make_multilabel_classification(60, 4, n_classes=3, random_state=0)
    X = X / 20
    fast = LabelCoveringClassifier(name, solver="lbfgs", alpha=0.5, tol=1e-9, max_iter=1000).fit(X, Y)
    slow = quiet(LabelCoveringClassifier(name, alpha=0.5, tol=1e-7, max_iter=4000, solver="boosting"), X, Y)
    assert_allclose(slow.loss_curve_[-1], fast.loss_curve_[-1], rtol=1e-6)
    assert (np.diff(slow.loss_curve_) <= 1e-12).all()


def test_sequential_weights_do_not_drift():
    rng = np.random.default_rng(0)
    X = sparse.random(80, 30, density=0.2, format="csr", random_state=0)
    Y = rng.integers(0, 2, (80, 5))
    for name in ("hamming", "two_sets"):
        model = quiet(
            LabelCoveringClassifier(name, templates="sequential", max_iter=350, tol=0, solver="boosting", alpha=0.0),
            X,
            Y,
        )
        restarted = LabelCoveringClassifier(
            name, templates="sequential", max_iter=7, tol=0, warm_start=True, solver="boosting", alpha=0.0
        )
        for _ in range(50):  # every fit begins with fresh sums
            quiet(restarted, X, Y)
        assert_allclose(model.coef_, restarted.coef_, atol=1e-8)
        assert_allclose(model.loss_curve_, restarted.loss_curve_, rtol=1e-10)


@pytest.mark.parametrize("form", ["array", "bool", "csr", "sets", "graphs", "frame"])
def test_forms_of_y(form):
    import polars as pl

    X, Y = make_multilabel_classification(40, 5, n_classes=3, random_state=1)
    names = np.array(["a", "b", "c"], dtype=object)
    sets = [set(names[row == 1]) for row in Y]
    given = {
        "array": Y,
        "bool": Y.astype(bool),
        "csr": sparse.csr_array(Y),
        "sets": sets,
        "graphs": PreferenceGraphs.from_multilabel(Y),
        "frame": pl.DataFrame(Y, schema=list(names)),
    }[form]
    model = quiet(LabelCoveringClassifier(max_iter=5, solver="boosting", alpha=0.0), X, given)
    assert model.predict(X).shape == Y.shape
    assert_allclose(model.coef_, quiet(LabelCoveringClassifier(max_iter=5, solver="boosting", alpha=0.0), X, Y).coef_)
    assert list(model.classes_) == (["a", "b", "c"] if form in ("sets", "frame") else [0, 1, 2])


def test_in_pipeline_grid_search_and_cross_validation():
    X, Y = make_multilabel_classification(80, 10, n_classes=4, random_state=0)
    pipeline = make_pipeline(MaxAbsScaler(), LabelCoveringClassifier(solver="lbfgs", alpha=0.1, max_iter=500))
    grid = {"labelcoveringclassifier__covering": ["hamming", "two_sets", weighted_positive(3)]}
    search = GridSearchCV(pipeline, grid, scoring=get_scorer("covering_error:two_sets"), cv=3).fit(X, Y)
    assert search.best_score_ > -1.5
    assert cross_val_score(pipeline, sparse.csr_array(X), Y, cv=3).shape == (3,)
    assert cross_val_predict(pipeline, X, Y, method="decision_function", cv=3).shape == Y.shape


def test_one_binary_target():
    X, Y = make_multilabel_classification(60, 5, n_classes=3, random_state=0)
    y = np.where(Y[:, 0] == 1, "yes", "no")
    model = LabelCoveringClassifier(solver="lbfgs", alpha=1.0, max_iter=500).fit(X, y)
    assert set(model.predict(X)) <= {"yes", "no"}
    assert model.decision_function(X).shape == (60,)
    with pytest.raises(ValueError, match="Give y as a 0/1 matrix"):
        LabelCoveringClassifier(solver="boosting", alpha=0.0, max_iter=50).fit(X, np.arange(60) % 3)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"templates": "random"}, 'templates must be "parallel", "sequential" or an array'),
        ({"templates": np.ones((1, 6))}, r"templates\[0\] has the 1-norm 6"),
        ({"templates": -np.ones((1, 6))}, "finite lengths from 0"),
        ({"templates": np.ones((1, 5)) / 5}, r"expected \(n_templates, 6\).*intercept"),
        ({"templates": "sequential", "alpha": 1.0}, "alpha > 0 goes with"),
        ({"templates": "sequential", "solver": "lbfgs"}, 'templates are for solver="boosting"'),
        ({"covering": "domination"}, "covering 'domination' is not known"),
        ({"covering": lambda y: [[0, 1, 7]]}, "names the label 7"),
        ({"covering": lambda y: [[0, 1]]}, "uncovered"),
        ({"max_iter": 0}, "max_iter must be an integer from 1"),
        ({"max_iter": True}, "max_iter must be an integer from 1, got True"),
        ({"alpha": True}, "alpha must be a number from 0, got True"),
        ({"tol": True}, "tol must be a number from 0, got True"),
        ({"warm_start": "yes"}, "warm_start must be True or False, got 'yes'"),
        ({"n_jobs": "a"}, "n_jobs must be None or an integer other than 0.*got 'a'"),
        ({"n_jobs": 0}, "n_jobs must be None or an integer other than 0.*got 0"),
        ({"n_jobs": 1.5}, "n_jobs must be None or an integer other than 0.*got 1.5"),
        ({"on_empty": "x"}, "on_empty must be"),
        ({"templates": None}, 'templates must be "parallel", "sequential" or an array, got None'),
        ({"templates": [["a"] * 6]}, "templates must be an array of numbers .*'a'"),
        ({"templates": [[1.0], [0.5, 0.5]]}, "templates must be an array of numbers"),
        ({"templates": sparse.eye_array(6)}, "templates must be an array of numbers"),
    ],
)
def test_bad_parameters(parameters, message):
    X, Y = make_multilabel_classification(20, 5, n_classes=3, random_state=0)
    with pytest.raises(ValueError, match=message):
        LabelCoveringClassifier(**parameters).fit(X, Y)


def test_covering_functions_are_called_once_per_labelling():
    X, Y = make_multilabel_classification(50, 5, n_classes=3, random_state=0)
    calls = []

    def cover(y):
        calls.append(tuple(y))
        return [np.flatnonzero(y), np.flatnonzero(~y)] if 0 < y.sum() < 3 else [range(3)]

    quiet(LabelCoveringClassifier(cover, max_iter=20, tol=0, solver="boosting", alpha=0.0), X, Y)
    assert len(calls) == len(set(calls)) == len(np.unique(Y, axis=0))


def test_huge_scores():
    rng = np.random.default_rng(0)
    X, Y = 1e5 * rng.normal(size=(30, 3)), rng.integers(0, 2, (30, 4))
    for name in COVERINGS:
        model = LabelCoveringClassifier(name, solver="lbfgs", alpha=1e-6, max_iter=50)
        quiet(model, X, Y)
        assert np.isfinite(model.loss_curve_).all()
        assert np.isfinite(model.coef_).all()


def test_calibrated_ranker_learns_the_cut():
    X, Y = make_multilabel_classification(200, 10, n_classes=5, random_state=0)
    X = X / 10
    graphs = PreferenceGraphs.from_multilabel(Y)
    ranker = LogLinearRanker(solver="lbfgs", alpha=0.1, calibrated=True, max_iter=1000, on_empty="ignore").fit(
        X, graphs
    )
    assert ranker.coef_.shape == (5, 10)
    relevant = ranker.predict_relevant(X)
    assert (relevant == (ranker.decision_function(X) > 0)).all()
    ranks = ranker.predict(X)
    for row in range(200):  # the relevant labels are the first ones of the ranking
        assert set(ranks[row][relevant[row]]) <= set(range(1, relevant[row].sum() + 1))
    hamming = (relevant != Y).mean()
    base = (Y.mean(axis=0) > 0.5) != Y
    assert hamming < 0.8 * base.mean()
    plain = LogLinearRanker(solver="lbfgs", alpha=0.1, max_iter=1000, on_empty="ignore").fit(X, graphs)
    assert abs(plain.score(X, graphs) - ranker.score(X, graphs)) < 0.05
    with pytest.raises(AttributeError, match="calibrated=True"):
        plain.predict_relevant(X)
    with pytest.raises(ValueError, match="two levels"):
        LogLinearRanker(calibrated=True, solver="boosting", alpha=0.0, max_iter=100).fit(
            X, np.tile([1.0, 2, 3, 4, 5], (200, 1))
        )
    with pytest.raises(ValueError, match="base_rankers"):
        LogLinearRanker(calibrated=True, base_rankers="precomputed", solver="boosting", alpha=0.0, max_iter=100).fit(
            X, graphs
        )


def test_calibrated_warm_start_goes_on():
    X, Y = make_multilabel_classification(60, 5, n_classes=4, random_state=0)
    graphs = PreferenceGraphs.from_multilabel(Y)
    whole = quiet(LogLinearRanker(calibrated=True, max_iter=12, tol=0, solver="boosting", alpha=0.0), X, graphs)
    parts = LogLinearRanker(calibrated=True, max_iter=6, tol=0, warm_start=True, solver="boosting", alpha=0.0)
    quiet(parts, X, graphs)
    quiet(parts, X, graphs)
    assert_allclose(parts.coef_, whole.coef_, atol=1e-10)


@pytest.mark.parametrize("solver", ["boosting", "lbfgs"])
@pytest.mark.parametrize("always", [0, 1])
def test_one_column_is_one_label(solver, always):
    X = np.random.default_rng(0).normal(size=(60, 4))
    column = np.full((60, 1), always)
    forms = [column, column.astype(bool), column.astype(float), column.tolist(), sparse.csr_array(column)]
    forms.append(PreferenceGraphs.from_multilabel(column))
    # All examples pull the intercept the same way; boosting moves it with some smoothing.
    how = {"solver": solver, "alpha": 1.0, "smoothing": 0.1 * (solver == "boosting")}
    models = [quiet(LabelCoveringClassifier(**how), X, form) for form in forms]
    scores = models[0].decision_function(X)
    assert scores.shape == (60, 1)
    assert ((scores > 0) == always).all()
    assert (models[0].predict(X) == column).all()
    assert models[0].classes_.tolist() == [0]
    for model in models[1:]:
        assert model.decision_function(X).shape == (60, 1)
        assert_allclose(model.decision_function(X), scores)
        assert_allclose(model.predict(X), column)


def test_one_column_with_both_values():
    X, Y = make_multilabel_classification(60, 5, n_classes=3, random_state=0)
    model = LabelCoveringClassifier(solver="lbfgs", alpha=1.0, max_iter=500)
    column, vector = (quiet(model, X, y).decision_function(X) for y in (Y[:, :1], Y[:, 0]))
    assert_allclose(column, vector[:, None])
    with pytest.raises(ValueError, match="matrix of 0 and 1"):
        model.fit(X, Y[:, :1] + 1)


def in_parts(X):
    """The same matrix with every entry stored as two, in an order that is not sorted."""
    whole = sparse.csr_array(X)
    rows = np.repeat(np.arange(X.shape[0]), np.diff(whole.indptr))
    order = np.lexsort((-whole.indices, rows))
    data = np.column_stack([3 * whole.data[order], -2 * whole.data[order]]).ravel()
    return sparse.csr_array((data, np.repeat(whole.indices[order], 2), 2 * whole.indptr), X.shape)


def arrays_of(X):
    return [X.data, X.indices, X.indptr] if sparse.issparse(X) else [X]


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("form", ["dense", "canonical", "parts"])
@pytest.mark.parametrize("how", ["parallel", "sequential", "array", "lbfgs", "ranker", "calibrated"])
def test_the_callers_data_are_read_only(how, form, fit_intercept):
    X, Y = make_multilabel_classification(40, 5, n_classes=3, random_state=0)
    X = X - 2.0
    y = PreferenceGraphs.from_multilabel(Y) if how in ("ranker", "calibrated") else Y
    common = {"max_iter": 3, "fit_intercept": fit_intercept}
    model = {
        "parallel": LabelCoveringClassifier(**common),
        "sequential": LabelCoveringClassifier(templates="sequential", **common),
        "array": LabelCoveringClassifier(templates=np.full((2, 5 + fit_intercept), 1 / 6), **common),
        "lbfgs": LabelCoveringClassifier(solver="lbfgs", **common),
        "ranker": LogLinearRanker(**common),
        "calibrated": LogLinearRanker(solver="lbfgs", calibrated=True, **common),
    }[how]
    expected = quiet(model, X.copy(), y).decision_function(X)
    data = {"dense": X, "canonical": sparse.csr_array(X), "parts": in_parts(X)}[form]
    for lock in (False, True):
        before = [array.copy() for array in arrays_of(data)]
        for array in arrays_of(data):
            array.flags.writeable = not lock
        assert_allclose(quiet(model, data, y).decision_function(data), expected, atol=1e-10)
        for now, then in zip(arrays_of(data), before, strict=True):
            np.testing.assert_array_equal(now, then)


@pytest.mark.parametrize(
    "refit",
    [
        lambda model, X, Y: model.fit(X, np.arange(len(X)) % 3),
        lambda model, X, Y: model.fit(X, ["yes", "no"] * 5),
        lambda model, X, Y: model.fit(X, Y, sample_weight=-np.ones(len(X))),
        lambda model, X, Y: model.fit(X[:, :2], [[0, 1, 7]] * len(X)),
        lambda model, X, Y: model.set_params(templates="random").fit(X[:, :2], Y[:, 0]),
        lambda model, X, Y: model.set_params(covering=lambda y: [[0]]).fit(X, Y[:, :2]),
        lambda model, X, Y: model.set_params(warm_start=True).fit(X[:, :2], Y),
        lambda model, X, Y: model.set_params(on_empty="error").fit(X, np.full(Y.shape, np.nan)),
    ],
)
@pytest.mark.parametrize("vector", [True, False])
def test_a_refused_refit_leaves_the_old_model(refit, vector):
    X, Y = make_multilabel_classification(40, 5, n_classes=3, random_state=0)
    model = quiet(
        LabelCoveringClassifier(max_iter=5, solver="boosting", alpha=0.0),
        X,
        np.where(Y[:, 0], "in", "out") if vector else Y,
    )
    before = {name: value for name, value in vars(model).items() if name.endswith("_")}
    scores, predicted = model.decision_function(X), model.predict(X)
    with pytest.raises(ValueError, match=r"."):
        refit(model, X, Y)
    assert {name for name in vars(model) if name.endswith("_")} == set(before)
    for name, value in before.items():
        np.testing.assert_array_equal(getattr(model, name), value)
    np.testing.assert_array_equal(model.decision_function(X), scores)
    np.testing.assert_array_equal(model.predict(X), predicted)


def test_a_refused_first_fit_leaves_nothing():
    X, Y = make_multilabel_classification(40, 5, n_classes=3, random_state=0)
    model = LabelCoveringClassifier(templates="random", solver="boosting", alpha=0.0, max_iter=50)
    with pytest.raises(ValueError, match="templates must be"):
        model.fit(X, Y)
    assert not [name for name in vars(model) if name.endswith("_")]


def test_a_warm_start_needs_the_same_labels():
    pl = pytest.importorskip("polars")
    X, Y = make_multilabel_classification(40, 5, n_classes=3, random_state=0)
    model = quiet(
        LabelCoveringClassifier(warm_start=True, max_iter=3, solver="boosting", alpha=0.0),
        X,
        pl.DataFrame(Y, schema=["a", "b", "c"]),
    )
    for names in (["c", "b", "a"], ["a", "b", "d"]):
        for _ in range(2):  # a refusal is not forgotten
            with pytest.raises(ValueError, match=r"goes on with the labels \['a', 'b', 'c'\].*in the same order"):
                model.fit(X, pl.DataFrame(Y, schema=names))
    assert quiet(model, X, pl.DataFrame(Y, schema=["a", "b", "c"])).n_iter_ == 6
    binary = quiet(
        LabelCoveringClassifier(warm_start=True, max_iter=3, solver="boosting", alpha=0.0),
        X,
        np.where(Y[:, 0], "ham", "spam"),
    )
    with pytest.raises(ValueError, match=r"\['ham', 'spam'\], but y has \['no', 'yes'\]"):
        binary.fit(X, np.where(Y[:, 0], "yes", "no"))
    cold = quiet(model.set_params(warm_start=False), X, pl.DataFrame(Y, schema=["c", "b", "a"]))
    assert list(cold.classes_) == ["c", "b", "a"]


@pytest.mark.parametrize("y", ["abc", b"abc", 5, {"a": 1}, {"a"}, np.array("abc")], ids=repr)
def test_what_y_is_not(y):
    with pytest.raises(TypeError, match=r"y must be a matrix of 0 and 1.*or a vector of two classes, got"):
        LabelCoveringClassifier(solver="boosting", alpha=0.0, max_iter=50).fit(np.ones((3, 2)), y)


def test_masked_labels_are_refused():
    X, Y = make_multilabel_classification(20, 5, n_classes=3, random_state=0)
    masked = np.ma.masked_array(Y, mask=np.arange(60).reshape(20, 3) == 4)
    for y in (masked, masked[:, 1]):
        with pytest.raises((TypeError, ValueError), match="mask"):
            LabelCoveringClassifier(solver="boosting", alpha=0.0, max_iter=50).fit(X, y)


@pytest.mark.parametrize("n_labels", [1, 3])
def test_rows_of_which_nothing_is_known(n_labels):
    X, Y = make_multilabel_classification(20, 5, n_classes=3, random_state=0)
    Y = Y[:, :n_labels].astype(float)
    Y[[4, 7]] = np.nan
    model = LabelCoveringClassifier(solver="lbfgs", alpha=1.0, max_iter=500)
    with pytest.warns(UserWarning, match=r"2 rows without .*\(first: row 4\)") as caught:
        model.fit(X, Y)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="20 rows without"):
        model.fit(X, np.full_like(Y, np.nan))
    with pytest.raises(ValueError, match="first: row 4"):
        model.set_params(on_empty="error").fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(on_empty="ignore").fit(X, Y)
        kept = np.delete(np.arange(20), [4, 7])
        weight = np.where(np.isnan(Y).any(axis=1), 0, 1)
        without = LabelCoveringClassifier(solver="lbfgs", alpha=1.0, max_iter=500)
        weighted = without.fit(X, Y, sample_weight=weight).coef_  # rows of no weight are nobody's loss
        alone = without.fit(X[kept], Y[kept]).coef_
    assert_allclose(model.coef_, alone, atol=1e-3)
    assert_allclose(weighted, alone, atol=1e-3)


def test_sets_from_a_generator():
    X, Y = make_multilabel_classification(20, 5, n_classes=3, random_state=0)
    sets = [set(np.array(["a", "b", "c"])[row == 1]) for row in Y]
    expected = quiet(LabelCoveringClassifier(max_iter=3, solver="boosting", alpha=0.0), X, sets)
    assert_allclose(
        quiet(LabelCoveringClassifier(max_iter=3, solver="boosting", alpha=0.0), X, iter(sets)).coef_, expected.coef_
    )


@pytest.mark.parametrize("alpha", [0.0, 0.5])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_calibrated_boosting_goes_on_exactly(alpha, fit_intercept):
    X, Y = make_multilabel_classification(60, 5, n_classes=4, random_state=0)
    graphs = PreferenceGraphs.from_multilabel(Y)
    common = {"calibrated": True, "alpha": alpha, "tol": 0, "fit_intercept": fit_intercept}
    whole = quiet(LogLinearRanker(max_iter=10, **common), X / 5, graphs)
    parts = LogLinearRanker(max_iter=5, warm_start=True, **common)
    for _ in range(2):
        quiet(parts, X / 5, graphs)
    for name in ("coef_", "intercept_", "dummy_coef_", "dummy_intercept_", "loss_curve_", "bound_curve_"):
        assert_allclose(getattr(parts, name), getattr(whole, name), atol=1e-12)
    assert parts.n_iter_ == whole.n_iter_ == 10
    assert (np.diff(parts.loss_curve_) <= 1e-12).all()


@pytest.mark.parametrize("then", ["lbfgs", "boosting"])
def test_calibrated_lbfgs_goes_on(then):
    X, Y = make_multilabel_classification(60, 5, n_classes=4, random_state=0)
    graphs = PreferenceGraphs.from_multilabel(Y)
    common = {"calibrated": True, "alpha": 0.5}
    whole = LogLinearRanker(solver="lbfgs", max_iter=1000, tol=1e-9, **common).fit(X / 5, graphs)
    parts = quiet(LogLinearRanker(solver="lbfgs", max_iter=5, tol=1e-9, warm_start=True, **common), X / 5, graphs)
    first = parts.loss_curve_
    quiet(parts.set_params(solver=then, max_iter=1000), X / 5, graphs)
    assert_allclose(parts.loss_curve_[:6], first)
    assert (np.diff(parts.loss_curve_) <= 1e-10).all()
    if then == "lbfgs":
        assert_allclose(parts.loss_curve_[-1], whole.loss_curve_[-1], rtol=1e-9)
        assert_allclose(parts.coef_, whole.coef_, atol=1e-4)


def test_a_cut_is_what_was_fitted_and_not_what_is_asked_for():
    X, Y = make_multilabel_classification(60, 5, n_classes=4, random_state=0)
    graphs = PreferenceGraphs.from_multilabel(Y)
    ranker = LogLinearRanker(max_iter=3, calibrated=True, solver="boosting", alpha=0.0)
    with pytest.raises(NotFittedError):
        ranker.predict_relevant(X)
    relevant = quiet(ranker, X, graphs).predict_relevant(X)
    np.testing.assert_array_equal(ranker.set_params(calibrated=False).predict_relevant(X), relevant)
    quiet(ranker, X, graphs).set_params(calibrated=True)
    assert not hasattr(ranker, "dummy_coef_")
    with pytest.raises(AttributeError, match="calibrated=True"):
        ranker.predict_relevant(X)
    with pytest.raises(ValueError, match="calibrated must be True or False"):
        LogLinearRanker(calibrated="no", solver="boosting", alpha=0.0, max_iter=100).fit(X, graphs)
