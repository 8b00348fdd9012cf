"""AdaBoost.LC against the literal loops of Figure 2 and against scikit-learn's logistic regressions."""

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from callbacks import Steps
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import label_covering as oracle
from oracles.metrics import cover_elements
from rankers.minimizers import assert_fit_reads_only, assert_same_model, fitted_attributes, quiet
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from labelrank import CalibratedRanker, GradientBoostingCoveringClassifier, LabelCoveringClassifier, PreferenceGraphs
from labelrank.decompositions import weighted_positive
from labelrank.decompositions.coverings import SetCovering
from labelrank.metrics import get_scorer

COVERINGS = ["zero_one", "hamming", "two_sets", "weighted_positive", "weighted_negative"]
ROUNDS = 5


def boosting(covering="hamming", **parameters):
    """Boosting without a penalty and, unless told otherwise, for exactly `max_iter` rounds."""
    return LabelCoveringClassifier(covering, **{"solver": "boosting", "alpha": 0.0, "tol": 0, **parameters})


@parametrize_with_checks(
    [
        LabelCoveringClassifier(),
        boosting("two_sets", templates="sequential", max_iter=50, tol=1e-4),
    ]
)
@pytest.mark.filterwarnings("ignore:LabelCoveringClassifier:sklearn.exceptions.ConvergenceWarning")
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
    common = {"max_iter": ROUNDS, "fit_intercept": fit_intercept}
    largest = np.abs(hypotheses).sum(axis=1).max() or 1.0
    parallel = boosting(covering, **common)
    compare(parallel, X, Y, hypotheses, name, np.full((1, n_hypotheses), 1 / largest))
    sequential = boosting(covering, templates="sequential", **common)
    compare(sequential, X, Y, hypotheses, name, np.eye(n_hypotheses))
    mine = np.vstack([np.full(n_hypotheses, 1 / n_hypotheses), np.eye(n_hypotheses)[0]])
    compare(boosting(covering, templates=mine, **common), X, Y, hypotheses, name, mine)


@pytest.mark.parametrize("name", COVERINGS)
@pytest.mark.parametrize("templates", ["parallel", "sequential", "mine"])
def test_the_bound_holds_for_hypotheses_outside_the_unit_interval(name, templates):
    rng = np.random.default_rng(0)
    X, Y = 20 * rng.normal(size=(40, 5)), rng.integers(0, 2, (40, 4))
    if templates == "mine":
        templates = np.full((1, 6), 1 / 6)
    model = quiet(boosting(name, templates=templates, max_iter=150), X, Y)
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
    model = quiet(boosting(templates=templates, fit_intercept=False, max_iter=40), X, Y)
    assert (np.diff(model.loss_curve_) <= 1e-12).all()


@pytest.mark.parametrize("alpha", [0.1, 5.0])
def test_hamming_is_one_logistic_regression_per_label(alpha):
    X, Y = make_multilabel_classification(120, 8, n_classes=4, random_state=0)
    X = X / 5
    model = LabelCoveringClassifier(alpha=alpha, tol=1e-9, max_iter=3000).fit(X, Y)
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
    fast = LabelCoveringClassifier(name, alpha=5.0, tol=1e-9).fit(X, Y)
    slow = quiet(boosting(name, alpha=5.0, tol=1e-6, max_iter=1000), X, Y)
    assert_allclose(slow.loss_curve_[-1], fast.loss_curve_[-1], rtol=1e-6)
    assert (np.diff(slow.loss_curve_) <= 1e-12).all()


def test_sequential_weights_do_not_drift():
    rng = np.random.default_rng(0)
    X = sparse.random(80, 30, density=0.2, format="csr", random_state=0)
    Y = rng.integers(0, 2, (80, 5))
    for name in ("hamming", "two_sets"):
        model = quiet(boosting(name, templates="sequential", max_iter=350), X, Y)
        restarted = boosting(name, templates="sequential", max_iter=7, warm_start=True)
        for _ in range(50):  # every fit begins with fresh sums
            quiet(restarted, X, Y)
        assert_allclose(model.coef_, restarted.coef_, atol=1e-8)
        assert_allclose(model.loss_curve_, restarted.loss_curve_, rtol=1e-10)


@pytest.mark.parametrize("form", ["array", "bool", "csr", "sets", "graphs", "frame"])
def test_forms_of_y(form):
    X, Y = make_multilabel_classification(40, 5, n_classes=3, random_state=0)
    names = np.array(["a", "b", "c"], dtype=object)
    sets = [set(names[row == 1]) for row in Y]
    given = {
        "array": Y,
        "bool": Y.astype(bool),
        "csr": sparse.csr_array(Y),
        "sets": sets,
        "graphs": PreferenceGraphs.from_multilabel(Y),
        "frame": pd.DataFrame(Y, columns=list(names)),
    }[form]
    model = quiet(boosting(max_iter=5), X, given)
    assert model.predict(X).shape == Y.shape
    assert_allclose(model.coef_, quiet(boosting(max_iter=5), X, Y).coef_)
    assert list(model.classes_) == (["a", "b", "c"] if form in ("sets", "frame") else [0, 1, 2])


def test_in_pipeline_grid_search_and_cross_validation():
    X, Y = make_multilabel_classification(80, 10, n_classes=4, random_state=0)
    pipeline = make_pipeline(MaxAbsScaler(), LabelCoveringClassifier(alpha=0.1))
    grid = {"labelcoveringclassifier__covering": ["hamming", "two_sets", weighted_positive(3)]}
    search = GridSearchCV(pipeline, grid, scoring=get_scorer("covering_error:two_sets"), cv=3).fit(X, Y)
    assert search.best_score_ > -1.5
    assert cross_val_score(pipeline, sparse.csr_array(X), Y, cv=3).shape == (3,)
    assert cross_val_predict(pipeline, X, Y, method="decision_function", cv=3).shape == Y.shape


def test_one_binary_target():
    X, Y = make_multilabel_classification(60, 5, n_classes=3, random_state=0)
    y = np.where(Y[:, 0] == 1, "yes", "no")
    model = LabelCoveringClassifier().fit(X, y)
    assert set(model.predict(X)) <= {"yes", "no"}
    assert model.decision_function(X).shape == (60,)
    with pytest.raises(ValueError, match="Give y as a 0/1 matrix"):
        LabelCoveringClassifier().fit(X, np.arange(60) % 3)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"templates": "random"}, "'templates' parameter of LabelCoveringClassifier must be a str among {.*'random'"),
        ({"templates": np.ones((1, 6))}, r"templates\[0\] has the 1-norm 6"),
        ({"templates": -np.ones((1, 6))}, "templates must be finite and ≥ 0"),
        ({"templates": np.ones((1, 5)) / 5}, r"expected \(n_templates, 6\).*intercept"),
        ({"templates": "sequential", "alpha": 1.0}, 'templates="sequential" has no penalty; pass alpha=0'),
        ({"templates": "sequential", "solver": "lbfgs"}, 'templates are for solver="boosting"'),
        ({"templates": np.ones((1, 6)) / 6, "solver": "lbfgs"}, 'templates are for solver="boosting"'),
        ({"templates": None}, "'templates' parameter .* must be a str among .* or an array-like. Got None"),
        ({"templates": [["a"] * 6]}, "templates must be an array of numbers .*'a'"),
        ({"templates": [[1.0], [0.5, 0.5]]}, "templates must be an array of numbers"),
        ({"templates": sparse.eye_array(6)}, "'templates' parameter .* an array-like. Got <"),
        ({"smoothing": 0.1, "solver": "lbfgs"}, 'smoothing is for solver="boosting"; got smoothing=0.1'),
        ({"smoothing": -0.1}, "'smoothing' parameter .* must be a float in the range"),
        ({"solver": "newton"}, "'solver' parameter .* must be a str among {.*}. Got 'newton'"),
        ({"covering": "domination"}, "covering 'domination' is not known"),
        ({"covering": lambda y: [[0, 1, 7]]}, "names the label 7"),
        ({"covering": lambda y: [[0, 1]]}, "uncovered"),
        ({"max_iter": 0}, r"'max_iter' parameter .* must be an int in the range \[1, inf\). Got 0"),
        ({"alpha": -0.5}, r"'alpha' parameter .* must be a float in the range \[0.0, inf\). Got -0.5"),
        ({"tol": np.nan}, r"'tol' parameter .* must be a float in the range \[0.0, inf\). Got nan"),
        ({"warm_start": "yes"}, "'warm_start' parameter .* must be an instance of 'bool'.* Got 'yes'"),
        ({"n_jobs": "a"}, "'n_jobs' parameter .* must be None or an instance of 'int'. Got 'a'"),
        ({"n_jobs": 1.5}, "'n_jobs' parameter .* must be None or an instance of 'int'. Got 1.5"),
        ({"n_jobs": 0}, "n_jobs == 0 .* has no meaning"),
        ({"on_empty": "x"}, "'on_empty' parameter .* must be a str among {.*}. Got 'x'"),
    ],
)
def test_bad_parameters(parameters, message):
    X, Y = make_multilabel_classification(20, 5, n_classes=3, random_state=0)
    with pytest.raises(ValueError, match=message):
        boosting(**parameters).fit(X, Y)


def test_covering_functions_are_called_once_per_labeling():
    X, Y = make_multilabel_classification(50, 5, n_classes=3, random_state=0)
    calls = []

    def cover(y):
        calls.append(tuple(y))
        return [np.flatnonzero(y), np.flatnonzero(~y)] if 0 < y.sum() < 3 else [range(3)]

    quiet(boosting(cover, max_iter=20), X, Y)
    assert len(calls) == len(set(calls)) == len(np.unique(Y, axis=0))


def test_huge_scores():
    rng = np.random.default_rng(0)
    X, Y = 1e5 * rng.normal(size=(30, 3)), rng.integers(0, 2, (30, 4))
    for name in COVERINGS:
        model = LabelCoveringClassifier(name, alpha=1e-6, max_iter=50)
        quiet(model, X, Y)
        assert np.isfinite(model.loss_curve_).all()
        assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize("model", [LabelCoveringClassifier(), CalibratedRanker()], ids=str)
def test_scores_that_are_nan_are_not_predicted_as_irrelevant(model, monkeypatch):
    """They are where sums of large products overflow to both sides."""
    X, Y = np.tile(np.eye(2), (10, 1)), np.tile(np.eye(2), (10, 1))
    model.fit(X, PreferenceGraphs.from_multilabel(Y))
    monkeypatch.setattr(model, "decision_function", lambda X: np.array([[1.0, np.nan]]))
    predict = model.predict if isinstance(model, LabelCoveringClassifier) else model.predict_relevant
    with pytest.raises(ValueError, match="computes scores for X that are NaN, as sums overflow; scale X"):
        predict(np.full((1, 2), 1e308))


@pytest.mark.parametrize("model", [LabelCoveringClassifier(), GradientBoostingCoveringClassifier()], ids=str)
@pytest.mark.parametrize(
    ("weight", "message"), [(1e308, "sums to infinity"), (1e-310, r"sums to .*e-308, too little to divide by")]
)
def test_weights_whose_sum_cannot_be_divided_by(model, weight, message):
    X, Y = np.tile(np.eye(2), (50, 1)), np.tile(np.eye(2), (50, 1))
    with pytest.raises(ValueError, match=f"sample_weight {message}"):
        model.fit(X, Y, np.full(100, weight))


@pytest.mark.parametrize("solver", ["boosting", "lbfgs"])
@pytest.mark.parametrize("always", [0, 1])
def test_one_column_is_one_label(solver, always):
    X = np.random.default_rng(0).normal(size=(60, 4))
    column = np.full((60, 1), always)
    forms = [column, column.astype(bool), column.astype(float), column.tolist(), sparse.csr_array(column)]
    forms.append(PreferenceGraphs.from_multilabel(column))
    # All examples pull the intercept the same way; boosting moves it with some smoothing.
    how = {"solver": solver, "alpha": 1.0, "smoothing": 0.1 * (solver == "boosting"), "max_iter": 100}
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
    model = LabelCoveringClassifier()
    column, vector = (quiet(model, X, y).decision_function(X) for y in (Y[:, :1], Y[:, 0]))
    assert_allclose(column, vector[:, None])
    with pytest.raises(ValueError, match="matrix of 0 and 1"):
        model.fit(X, Y[:, :1] + 1)


HOW = {
    "lbfgs": LabelCoveringClassifier(alpha=0.1, tol=1e-6),
    "parallel": boosting(tol=1e-6),
    "sequential": boosting("two_sets", templates="sequential", tol=1e-6),
    "array": boosting("zero_one", templates=[[0.2] * 5, [0, 0, 0, 0, 1]], tol=1e-6),
}


@pytest.mark.parametrize("how", HOW)
def test_callbacks_and_interruption(how):
    X, Y = make_multilabel_classification(40, 4, n_classes=3, random_state=0)
    model = clone(HOW[how]).set_params(max_iter=200, warm_start=True)
    steps = Steps(stop_after=5)
    model.set_callbacks(steps).fit(X, Y)
    assert len(steps.names) == model.n_iter_ == 5
    assert_allclose(steps.fitted[-1].coef_, model.coef_)
    assert not np.allclose(steps.fitted[0].coef_, model.coef_)
    model.set_callbacks(Steps(interrupt_after=4))
    with pytest.warns(UserWarning, match="interrupted after 4 iterations"):
        model.fit(X, Y)
    assert model.n_iter_ == 9
    assert model.predict(X).shape == Y.shape
    quiet(model.set_callbacks(), X, Y)
    assert len(model.loss_curve_) == model.n_iter_ + 1 > 10
    assert (np.diff(model.loss_curve_) <= 1e-10).all()


@pytest.mark.parametrize("how", HOW)
def test_warns_when_it_does_not_converge(how):
    X, Y = make_multilabel_classification(40, 4, n_classes=3, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"^LabelCoveringClassifier\(.*after max_iter=2 iter") as caught:
        clone(HOW[how]).set_params(max_iter=2).fit(X, Y)
    assert len(caught) == 1
    assert caught[0].filename == __file__


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("name", COVERINGS)
def test_weights_are_repeats(how, name):
    X, Y = make_multilabel_classification(25, 4, n_classes=3, random_state=0)
    weight = np.random.default_rng(0).integers(0, 3, 25)
    rows = np.repeat(np.arange(25), weight)
    model = clone(HOW[how]).set_params(covering=name, max_iter=15, tol=0)
    a = fitted_attributes(quiet(model, X / 10, Y, sample_weight=weight))
    b = fitted_attributes(quiet(model, X[rows] / 10, Y[rows]))
    assert_allclose(a["loss_curve_"], b["loss_curve_"])
    assert_allclose(a["coef_"], b["coef_"], atol=1e-8)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("how", ["parallel", "sequential", "array", "lbfgs"])
def test_the_data_are_only_read(how, fit_intercept):
    X, Y = make_multilabel_classification(40, 5, n_classes=3, random_state=0)
    common = {"max_iter": 3, "fit_intercept": fit_intercept}
    templates = np.full((2, 5 + fit_intercept), 1 / 6) if how == "array" else how
    model = LabelCoveringClassifier(**common) if how == "lbfgs" else boosting(templates=templates, **common)
    assert_fit_reads_only(model, X - 2.0, Y)


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
    model = quiet(boosting(max_iter=5), X, np.where(Y[:, 0], "in", "out") if vector else Y)
    before = fitted_attributes(model)
    scores, predicted = model.decision_function(X), model.predict(X)
    with pytest.raises(ValueError, match=r"."):
        refit(model, X, Y)
    assert_same_model(model, before)
    np.testing.assert_array_equal(model.decision_function(X), scores)
    np.testing.assert_array_equal(model.predict(X), predicted)


def test_a_refused_first_fit_leaves_nothing():
    X, Y = make_multilabel_classification(40, 5, n_classes=3, random_state=0)
    model = LabelCoveringClassifier(templates="random")
    with pytest.raises(ValueError, match="'templates' parameter"):
        model.fit(X, Y)
    assert not fitted_attributes(model)


def test_a_warm_start_needs_the_same_labels():
    X, Y = make_multilabel_classification(40, 5, n_classes=3, random_state=0)
    model = quiet(boosting(warm_start=True, max_iter=3), X, pd.DataFrame(Y, columns=["a", "b", "c"]))
    for names in (["c", "b", "a"], ["a", "b", "d"]):
        for _ in range(2):  # a refusal is not forgotten
            with pytest.raises(ValueError, match=r"continues with the labels \['a', 'b', 'c'\].*in the same order"):
                model.fit(X, pd.DataFrame(Y, columns=names))
    assert quiet(model, X, pd.DataFrame(Y, columns=["a", "b", "c"])).n_iter_ == 6
    binary = quiet(boosting(warm_start=True, max_iter=3), X, np.where(Y[:, 0], "ham", "spam"))
    with pytest.raises(ValueError, match=r"\['ham', 'spam'\], but y has \['no', 'yes'\]"):
        binary.fit(X, np.where(Y[:, 0], "yes", "no"))
    cold = quiet(model.set_params(warm_start=False), X, pd.DataFrame(Y, columns=["c", "b", "a"]))
    assert list(cold.classes_) == ["c", "b", "a"]


@pytest.mark.parametrize("y", ["abc", b"abc", 5, {"a": 1}, {"a"}, np.array("abc")], ids=repr)
def test_what_y_is_not(y):
    with pytest.raises(TypeError, match=r"y must be a matrix of 0 and 1.*or a vector of two classes, got"):
        LabelCoveringClassifier().fit(np.ones((3, 2)), y)


def test_masked_labels_are_refused():
    X, Y = make_multilabel_classification(20, 5, n_classes=3, random_state=0)
    masked = np.ma.masked_array(Y, mask=np.arange(60).reshape(20, 3) == 4)
    for y in (masked, masked[:, 1]):
        with pytest.raises((TypeError, ValueError), match="mask"):
            LabelCoveringClassifier().fit(X, y)


@pytest.mark.parametrize("n_labels", [1, 3])
def test_rows_of_which_nothing_is_known(n_labels):
    X, Y = make_multilabel_classification(20, 5, n_classes=3, random_state=0)
    Y = Y[:, :n_labels].astype(float)
    Y[[4, 7]] = np.nan
    model = LabelCoveringClassifier()
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
        without = LabelCoveringClassifier()
        weighted = without.fit(X, Y, sample_weight=weight).coef_  # rows of no weight are not counted
        alone = without.fit(X[kept], Y[kept]).coef_
    assert_allclose(model.coef_, alone, atol=1e-3)
    assert_allclose(weighted, alone, atol=1e-3)


def test_sets_from_a_generator():
    X, Y = make_multilabel_classification(20, 5, n_classes=3, random_state=0)
    sets = [set(np.array(["a", "b", "c"])[row == 1]) for row in Y]
    expected = quiet(boosting(max_iter=3), X, sets)
    assert_allclose(quiet(boosting(max_iter=3), X, iter(sets)).coef_, expected.coef_)


# --- Names and probabilities


@pytest.mark.parametrize(
    "learner",
    [LabelCoveringClassifier, partial(GradientBoostingCoveringClassifier, max_iter=20)],
    ids=["linear", "trees"],
)
def test_sets_of_names(learner):
    X, Y = make_multilabel_classification(60, 5, n_classes=3, random_state=0)
    names = ["tea", "milk", "water"]
    sets = [{names[j] for j in np.flatnonzero(row)} for row in Y]
    for y in (sets, pd.DataFrame(Y, columns=names), PreferenceGraphs.from_multilabel(Y, labels=names)):
        model = learner("two_sets").fit(X, y)
        assert set(model.classes_) == set(names)
        found = model.predict_sets(X)
        assert found == [{model.classes_[j] for j in np.flatnonzero(row)} for row in model.predict(X)]
        assert np.mean([a == b for a, b in zip(found, sets, strict=True)]) > 0.5
    assert learner().fit(X, Y).predict_sets(X[:1])[0] <= {0, 1, 2}
    words = learner().fit(X, np.where(Y[:, 0], "yes", "no")).predict_sets(X)
    assert all(len(one) == 1 and one <= {"yes", "no"} for one in words)


@pytest.mark.parametrize(
    "learner",
    [LabelCoveringClassifier, partial(GradientBoostingCoveringClassifier, max_iter=20)],
    ids=["linear", "trees"],
)
def test_scores_of_a_single_label(learner):
    """As a column; scikit-learn negates the scores of a classifier of one class."""
    X = np.random.default_rng(0).normal(size=(80, 2))
    Y = (X[:, :1] > 0).astype(int)
    model = learner().fit(X, Y)
    share = (model.predict(X) == Y).mean()
    assert share > 0.9
    assert model.score(X, Y) == pytest.approx(share)
    assert get_scorer("covering_error:hamming")(model, X, Y) == pytest.approx(share - 1)
    sets = [{"yes"} if row else set() for row in Y[:, 0]]
    assert learner().fit(X, sets).score(X, sets) == pytest.approx(share)


def test_one_element_of_all_labels_has_no_probabilities():
    covering = SetCovering("mine", "each", "each", joined=True)
    assert not hasattr(LabelCoveringClassifier(covering), "predict_proba")
    assert not hasattr(GradientBoostingCoveringClassifier(covering), "predict_proba")


@pytest.mark.parametrize("how", HOW)
def test_probabilities_of_labels(how):
    X, Y = make_multilabel_classification(80, 4, n_classes=3, random_state=0)
    model = quiet(clone(HOW[how]).set_params(covering="hamming"), X / 10, Y)
    proba = model.predict_proba(X / 10)
    assert_allclose(proba, 1 / (1 + np.exp(-model.decision_function(X / 10))))
    assert_array_equal(proba > 0.5, model.predict(X / 10))


def test_probabilities_are_those_of_logistic_regression():
    X, Y = make_multilabel_classification(80, 4, n_classes=3, random_state=0)
    model = LabelCoveringClassifier(tol=1e-9).fit(X, Y)
    for j in range(3):
        theirs = LogisticRegression(tol=1e-9, max_iter=1000).fit(X, Y[:, j])
        assert_allclose(model.predict_proba(X)[:, j], theirs.predict_proba(X)[:, 1], atol=1e-6)
    one = LabelCoveringClassifier(tol=1e-9).fit(X, np.where(Y[:, 0], "yes", "no"))
    assert_allclose(one.predict_proba(X)[:, 1], model.predict_proba(X)[:, 0], atol=1e-6)
    assert_allclose(one.predict_proba(X).sum(axis=1), 1)
    for covering in ("two_sets", "zero_one", "weighted_positive", lambda relevant: [[0], [1], [2]]):
        other = LabelCoveringClassifier(covering).fit(X, Y)
        assert not hasattr(other, "predict_proba")
        with pytest.raises(AttributeError, match="predict_proba"):
            other.predict_proba(X)


@pytest.mark.parametrize("Learner", [LabelCoveringClassifier, GradientBoostingCoveringClassifier])
def test_score_matches_labels_by_name(Learner):
    X, Y = make_multilabel_classification(n_samples=60, n_classes=3, random_state=0)
    names = ["tea", "milk", "cola"]
    frame = pd.DataFrame(Y, columns=names)
    model = Learner(max_iter=10).fit(X, frame)
    expected = (model.predict(X) == Y).all(axis=1).mean()
    sets = [{name for name, relevant in zip(names, row, strict=True) if relevant} for row in Y]
    forms = [Y, frame, frame[["cola", "tea", "milk"]], sparse.csr_array(Y), sets, iter(sets)]
    forms.append(PreferenceGraphs.from_multilabel(sets))  # sorted names
    assert [model.score(X, form) for form in forms] == pytest.approx([expected] * len(forms))
    weight = np.arange(60.0)
    right = (model.predict(X) == Y).all(axis=1)
    assert model.score(X, frame[names[::-1]], weight) == pytest.approx(np.average(right, weights=weight))
    with pytest.raises(ValueError, match="y and the model name different labels"):
        model.score(X, frame.rename(columns={"tea": "Tea"}))
    assert cross_val_score(model, X, sets, cv=3).shape == (3,)
    vector = np.array(["no", "yes"], dtype=object)[Y[:, 0]]
    assert Learner(max_iter=10).fit(X, vector).score(X, vector) > 0.7
