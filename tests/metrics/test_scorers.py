"""Metrics as scikit-learn scorers."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import make_multilabel_classification
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import check_scoring
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from labelrank import (
    DummyRanker,
    LabelCoveringClassifier,
    LogLinearRanker,
    PreferenceGraphs,
    SoftProjectionRanker,
    metrics,
    ranks_from_scores,
)
from labelrank.metrics import get_scorer, get_scorer_names, get_scorers, make_scorer


class Recorded(BaseEstimator):
    """Predicts ranks and scores it was told."""

    def __init__(self, scores):
        self.scores = scores

    def fit(self, X, y):
        return self

    def predict(self, X):
        return ranks_from_scores(self.scores)

    def decision_function(self, X):
        return np.asarray(self.scores)


@pytest.mark.parametrize("name", get_scorer_names())
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_scorer_has_the_sign_and_value_of_its_metric(name):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(8, 4))
    y = rng.integers(0, 2, (8, 4))
    X = np.zeros((8, 1))
    base, _, argument = name.partition(":")
    metric = getattr(metrics, base)
    if base == "group_disagreement":

        class Items(Recorded):
            def predict(self, X):
                return self.scores[:, 0]

        assert get_scorer(name, groups=None)(Items(scores), X, y[:, 0]) == -metric(y[:, 0], scores[:, 0], None)
        return
    of_sets = base in ("covering_error", "one_error", "coverage", "average_precision")
    target = y if of_sets else ranks_from_scores(y)
    arguments = [argument] if argument else []
    expected = metric(target, scores if of_sets else ranks_from_scores(scores), *arguments)
    sign = -1 if base.endswith("_error") or base in ("coverage", "mean_cost", "regret") else 1
    assert get_scorer(name)(Recorded(scores), X, target) == pytest.approx(sign * expected)


def test_names_and_arguments():
    assert repr(get_scorer("neg_domination_error")) == repr(get_scorer("domination_error"))
    assert "k=2" in repr(get_scorer("top_k_accuracy", k=2))
    scorer = get_scorer("covering_error", covering=lambda relevant: [range(len(relevant))])
    assert scorer(Recorded([[1.0, -1.0]]), [[0]], [[1, 1]]) == -1
    with pytest.raises(ValueError, match="scorer 'tau' is not known; choose one of"):
        get_scorer("tau")
    for name in (None, 3, ["kendall_tau"], "neg_neg_zero_one_error"):
        with pytest.raises(ValueError, match="is not known; choose one of"):
            get_scorer(name)


def test_neg_is_for_errors_only():
    larger_is_better = {"average_precision", "kendall_tau", "kendall_tau_b", "kendall_tau_x", "ndcg", "spearman_rho"}
    for name in get_scorer_names():
        if name in larger_is_better | {"top_k_accuracy", "closed_gap"}:
            assert get_scorer(name)._sign == 1
            with pytest.raises(ValueError, match=f"scorer 'neg_{name}' is not known"):
                get_scorer(f"neg_{name}")
        else:
            assert get_scorer(f"neg_{name}")._sign == -1
            assert repr(get_scorer(f"neg_{name}")) == repr(get_scorer(name))


@pytest.mark.parametrize(("name", "argument"), [("covering_error", "covering"), ("generalized_error", "decomposition")])
def test_metrics_with_an_argument_say_so(name, argument):
    for called in (name, f"neg_{name}"):
        with pytest.raises(ValueError, match=f'{name} needs {argument}=: .*, or a name behind a colon, as in "{name}:'):
            get_scorer(called)
    assert get_scorer(f"neg_{name}", **{argument: "zero_one"})._sign == -1


OF_SETS = ["one_error", "coverage", "average_precision", "covering_error:hamming"]


@pytest.mark.parametrize("name", OF_SETS)
def test_a_ranker_and_a_matrix_of_0_and_1_do_not_go_together(name):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(30, 2)), np.tile([1, 0, 0], (30, 1))  # label 0 is relevant throughout
    scorer = get_scorer(name)
    graphs = PreferenceGraphs.from_multilabel(Y)
    for ranker in (DummyRanker(), make_pipeline(StandardScaler(), DummyRanker())):
        message = "y must be PreferenceGraphs for this scorer, got ndarray.*PreferenceGraphs.from_multilabel"
        with pytest.raises(TypeError, match=message):
            cross_val_score(ranker, X, Y, scoring=scorer, error_score="raise")
        with pytest.raises(TypeError, match=message):  # the scorers of a dict are called in another way
            cross_validate(ranker, X, Y, scoring={"a": scorer, "b": scorer}, error_score="raise")
        with pytest.raises(TypeError, match="got list"):
            scorer(ranker.fit(X, graphs), X, Y.tolist())
    expected = getattr(metrics, name.partition(":")[0])
    found = cross_val_score(DummyRanker(), X, graphs, scoring=scorer, error_score="raise")
    arguments = ["hamming"] if ":" in name else []
    value = expected(Y, DummyRanker().fit(X, graphs).decision_function(X), *arguments)
    assert found.tolist() == pytest.approx([scorer._sign * value] * 5)


@pytest.mark.parametrize("name", [*OF_SETS, "group_disagreement"])
def test_they_are_scorers_like_others(name):
    scorer = get_scorer(name)
    metric = name.partition(":")[0]
    assert repr(scorer).startswith(f"make_scorer({metric}, ")
    for copied in (pickle.loads(pickle.dumps(scorer)), clone(scorer, safe=False), check_scoring(scoring=scorer)):
        assert repr(copied) == repr(scorer)
    assert scorer._accept_sample_weight()


def test_weights_reach_the_metrics_of_sets():
    scores, Y = [[2.0, 1.0], [2.0, 1.0]], [[1, 0], [0, 1]]
    ranker = Recorded(scores)
    scorer = get_scorer("one_error")
    assert scorer(ranker, [[0], [0]], Y, sample_weight=[3, 1]) == -0.25
    X, weight = np.zeros((8, 1)), np.tile([3, 1], 4)
    model = Recorded(np.tile(scores, (2, 1)))
    with sklearn.config_context(enable_metadata_routing=True):
        routed = get_scorer("one_error").set_score_request(sample_weight=True)
        found = cross_validate(
            model,
            X,
            np.tile(Y, (4, 1)),
            scoring={"routed": routed, "plain": get_scorer("one_error").set_score_request(sample_weight=False)},
            params={"sample_weight": weight},
            cv=2,
            error_score="raise",
        )
    assert found["test_routed"].tolist() == [-0.25, -0.25]
    assert found["test_plain"].tolist() == [-0.5, -0.5]
    search = GridSearchCV(Recorded(np.tile(scores, (2, 1))), {}, scoring=get_scorer("one_error"), cv=2, refit=False)
    assert search.fit(X, np.tile(Y, (4, 1))).cv_results_["mean_test_score"].tolist() == [-0.5]


def test_in_cross_validation_with_a_scikit_learn_regressor_and_a_ranker():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = ranks_from_scores(X @ rng.normal(size=(3, 4)))
    tau = cross_val_score(KNeighborsRegressor(), X, y, scoring=get_scorer("kendall_tau"))
    assert tau.mean() > 0.5
    found = cross_validate(
        DummyRanker(),
        X,
        PreferenceGraphs.from_rankings(y),
        scoring={name: get_scorer(name) for name in ("kendall_tau", "domination_error")},
    )
    assert (found["test_domination_error"] <= 0).all()
    np.testing.assert_allclose(found["test_kendall_tau"], cross_val_score(DummyRanker(), X, y))


def test_of_sets_with_a_scikit_learn_classifier():
    from sklearn.neural_network import MLPClassifier

    X, Y = make_multilabel_classification(60, n_classes=4, random_state=0)
    model = MLPClassifier((5,), max_iter=20, random_state=0)
    with pytest.warns(UserWarning, match="."):
        scores = cross_val_score(model, X, Y, scoring=get_scorer("average_precision"), cv=2)
    assert ((scores > 0) & (scores <= 1)).all()


def test_groups_are_routed():
    rng = np.random.default_rng(0)
    X, y, groups = rng.normal(size=(40, 2)), rng.normal(size=40), np.repeat(np.arange(10), 4)
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = get_scorer("group_disagreement").set_score_request(groups=True)
        found = cross_val_score(KNeighborsRegressor(), X, y, scoring=scorer, params={"groups": groups}, cv=2)
    expected = []
    for test in (slice(0, 20), slice(20, 40)):
        train = np.setdiff1d(np.arange(40), np.arange(40)[test])
        pred = KNeighborsRegressor().fit(X[train], y[train]).predict(X[test])
        expected.append(-metrics.group_disagreement(y[test], pred, groups[test]))
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("routing", [False, True])
def test_groups_must_not_be_forgotten(routing):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), rng.normal(size=20)
    with sklearn.config_context(enable_metadata_routing=routing):
        scorer = get_scorer("group_disagreement")
        message = r"needs groups, .*enable_metadata_routing=True.*set_score_request\(groups=True\)"
        with pytest.raises(ValueError, match=message):
            scorer(KNeighborsRegressor().fit(X, y), X, y)
        with pytest.raises(ValueError, match=message):
            cross_val_score(KNeighborsRegressor(), X, y, scoring=scorer, error_score="raise")
        one_group = get_scorer("group_disagreement", groups=None)
        model = KNeighborsRegressor().fit(X, y)
        assert one_group(model, X, y) == -metrics.group_disagreement(y, model.predict(X), None)


# --- Names of labels

NAMES = ["b", "d", "a", "c"]


def named_problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    return X, ranks_from_scores(X @ rng.normal(size=(3, 4)))


@pytest.mark.parametrize("DataFrame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("name", ["kendall_tau", "spearman_rho", "top_1", "disagreement_error", "mean_cost", "regret"])
def test_scorers_align_by_name(name, DataFrame):
    X, ranks = named_problem()
    y = DataFrame(dict(zip(NAMES, ranks.T, strict=True)))
    turned, scorer = y[sorted(NAMES)], get_scorer(name)
    expected = scorer(LogLinearRanker().fit(X, ranks), X, ranks)
    ranker = LogLinearRanker().fit(X, y)
    search = GridSearchCV(make_pipeline(StandardScaler(with_std=False), ranker), {}, scoring=scorer, cv=3).fit(X, y)
    for model in (ranker, make_pipeline(ranker), FrozenEstimator(ranker), search):
        for truth in (y, turned, PreferenceGraphs.from_rankings(turned)):
            if name in ("mean_cost", "regret") and isinstance(truth, PreferenceGraphs):
                continue
            assert scorer(model, X, truth) == pytest.approx(expected, abs=1e-3)
    assert search.score(X, turned) == pytest.approx(expected, abs=1e-3)
    assert ranker.score(X, turned) == make_pipeline(ranker).score(X, turned) == ranker.score(X, ranks)
    other = DataFrame(dict(zip("axcd", ranks.T, strict=True)))
    with pytest.raises(
        ValueError, match=r"y and the model name different labels: only y has \['x'\], only the model has"
    ):
        scorer(search, X, other)


def test_scorers_of_sets_know_the_names_of_the_model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    Y = (X @ rng.normal(size=(3, 4)) > 0).astype(int)
    sets = [{name for name, relevant in zip(NAMES, row, strict=True) if relevant} for row in Y]
    graphs = PreferenceGraphs.from_multilabel(Y, labels=NAMES)
    frame = pd.DataFrame(Y, columns=NAMES)
    for name in OF_SETS:
        scorer = get_scorer(name)
        classifier = LabelCoveringClassifier().fit(X, Y)
        expected = scorer(classifier, X, Y)
        named = LabelCoveringClassifier().fit(X, graphs)
        for truth in (graphs, frame, frame[sorted(NAMES)], sets, iter(sets)):
            assert scorer(named, X, truth) == pytest.approx(expected)
        ranker = LogLinearRanker(on_empty="ignore").fit(X, graphs)
        turned = PreferenceGraphs.from_multilabel(frame[sorted(NAMES)])
        assert scorer(ranker, X, turned) == pytest.approx(scorer(ranker, X, graphs))


def test_make_scorer_for_a_metric_of_your_own():
    X, ranks = named_problem()
    y = pd.DataFrame(ranks, columns=NAMES)
    model = LogLinearRanker().fit(X, y)
    scorer = make_scorer(lambda true, pred, power: float(np.mean(np.abs(true - pred) ** power)), power=2)
    negated = make_scorer(metrics.zero_one_error, greater_is_better=False)
    assert scorer(model, X, y) == np.mean(np.abs(ranks - model.predict(X)) ** 2)
    assert negated(model, X, y[sorted(NAMES)]) == -metrics.zero_one_error(ranks, model.predict(X))


def test_get_scorers_is_what_scikit_learn_wants():
    X, ranks = named_problem()
    calls = []

    class Counted(DummyRanker):
        def predict(self, X):
            calls.append(len(X))
            return super().predict(X)

    scorers = get_scorers("kendall_tau", "top_1", "neg_domination_error")
    found = cross_validate(Counted(), X, pd.DataFrame(ranks, columns=NAMES), scoring=scorers, cv=3, error_score="raise")
    assert len(calls) == 3  # all scorers share a prediction
    for name in scorers:
        expected = cross_val_score(DummyRanker(), X, ranks, scoring=get_scorer(name), cv=3)
        np.testing.assert_allclose(found[f"test_{name}"], expected)
    with pytest.raises(ValueError, match="scorer 'top_0' is not known"):
        get_scorers("kendall_tau", "top_0")


def test_names_of_another_type_are_told_apart():
    X, y = np.zeros((1, 1)), [[1, 2]]
    model = LogLinearRanker().fit(X, pd.DataFrame(y, columns=[0, 1]))
    with pytest.raises(ValueError, match=r"only y has \['0', '1'\], only the model has \[0, 1\]"):
        get_scorer("kendall_tau")(model, X, pd.DataFrame(y, columns=["0", "1"]))


def test_scores_as_y_are_scores_to_scorers_as_to_the_ranker():
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(60, 3)), rng.normal(size=(3, 4))
    y = pd.DataFrame(X @ weights, columns=list("abcd"))
    model = make_pipeline(StandardScaler(), SoftProjectionRanker(10.0, targets="scores", random_state=0)).fit(X, y)
    assert model.score(X, y) > 0.9
    for name in ("kendall_tau", "kendall_tau_b", "spearman_rho", "ndcg", "top_1"):
        assert get_scorer(name)(model, X, y[list("dcba")]) > 0.8
    for name in ("disagreement_error", "domination_error", "generalized_error:levels"):
        assert get_scorer(name)(model, X, y) > -0.2
    assert get_scorer("kendall_tau")(model, X, PreferenceGraphs.from_scores(y)) == model.score(X, y)
    assert cross_val_score(model, X, y, scoring=get_scorer("kendall_tau")).min() > 0.8
    with pytest.raises(TypeError, match=r"reads y as costs .*, but SoftProjectionRanker reads y as scores"):
        get_scorer("regret")(model, X, y)


@pytest.mark.parametrize("name", ["kendall_tau", "top_1", "zero_one_error", "mean_cost"])
def test_relevant_labels_are_no_ranks(name):
    """To a metric of rankings, 1 for a relevant label is the worse rank."""
    X, Y = make_multilabel_classification(n_classes=3, random_state=0)
    model = make_pipeline(StandardScaler(), LabelCoveringClassifier()).fit(X, Y)
    for y in (Y, PreferenceGraphs.from_multilabel(Y)):
        with pytest.raises(TypeError, match=r"needs predicted ranks, .* predicts 1 for relevant labels"):
            get_scorer(name)(model, X, y)
