"""Metrics as scikit-learn scorers."""

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator
from sklearn.datasets import make_multilabel_classification
from sklearn.model_selection import cross_val_score, cross_validate
from sklearn.neighbors import KNeighborsRegressor

from labelrank import DummyRanker, PreferenceGraphs, metrics, ranks_from_scores
from labelrank.metrics import get_scorer, get_scorer_names


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

        assert get_scorer(name)(Items(scores), X, y[:, 0]) == -metric(y[:, 0], scores[:, 0])
        return
    of_sets = base in ("covering_error", "one_error", "coverage", "average_precision")
    target = y if of_sets else ranks_from_scores(y)
    arguments = [argument] if argument else []
    expected = metric(target, scores if of_sets else ranks_from_scores(scores), *arguments)
    sign = -1 if base.endswith("_error") or base == "coverage" else 1
    assert get_scorer(name)(Recorded(scores), X, target) == pytest.approx(sign * expected)


def test_names_and_arguments():
    assert repr(get_scorer("neg_domination_error")) == repr(get_scorer("domination_error"))
    assert "k=2" in repr(get_scorer("top_k_accuracy", k=2))
    scorer = get_scorer("covering_error", covering=lambda relevant: [range(len(relevant))])
    assert scorer(Recorded([[1.0, -1.0]]), [[0]], [[1, 1]]) == -1
    with pytest.raises(ValueError, match="scorer 'tau' is not known; choose one of"):
        get_scorer("tau")


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
