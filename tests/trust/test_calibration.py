"""Calibrated pair probabilities, confidence, and the curves that judge them."""

import numpy as np
import pytest
from oracles.trust import is_strict_partial_order, pairs_by_row
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import labelrank
from labelrank import (
    DummyRanker,
    ExtraTreesRanker,
    LogLinearRanker,
    PairwiseCalibrator,
    SoftProjectionRanker,
    all_rankers,
)
from labelrank.datasets import make_label_ranking
from labelrank.trust import (
    area_under_risk_coverage,
    expected_calibration_error,
    reliability_curve,
    risk_coverage_curve,
)

X, Y = make_label_ranking(600, 4, n_labels=4, concentration=2.0, random_state=0)
X_TRAIN, X_TEST, Y_TRAIN, Y_TEST = train_test_split(X, Y, random_state=0)


def test_the_slope_is_that_of_logistic_regression():
    fitted = SoftProjectionRanker().fit(X, Y)
    ranker = PairwiseCalibrator(fitted, cv="prefit").fit(X, Y)
    f = fitted.decision_function(X)
    a, b = np.triu_indices(4, 1)
    gaps, first = (f[:, a] - f[:, b]).ravel(), (Y[:, a] < Y[:, b]).ravel()
    rival = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10).fit(gaps[:, None], first)
    assert ranker.slope_ == pytest.approx(rival.coef_[0, 0], rel=1e-4)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize(
    "estimator",
    [SoftProjectionRanker(), make_pipeline(StandardScaler(), LogLinearRanker()), ExtraTreesRanker(20, random_state=0)],
)
def test_calibrated_probabilities(estimator, method):
    y = Y_TRAIN.copy()
    y[::3, 1] = np.nan
    ranker = PairwiseCalibrator(estimator, method=method, random_state=0).fit(X_TRAIN, y)
    proba = ranker.pairwise_proba(X_TEST)
    assert proba + proba.transpose(0, 2, 1) == pytest.approx(1.0)
    assert (proba[:, range(4), range(4)] == 0.5).all()
    assert expected_calibration_error(Y_TEST, proba) < 0.06
    assert (ranker.predict(X_TEST) == ranker.estimator_.predict(X_TEST)).all()
    sure = ranker.confidence(X_TEST)
    assert ((sure >= 0) & (sure <= 1)).all()


def test_confidence_is_the_mean_probability_of_the_predicted_order():
    ranker = ExtraTreesRanker(20, random_state=0).fit(X_TRAIN, Y_TRAIN)
    proba, ranks = ranker.pairwise_proba(X_TEST), ranker.predict(X_TEST)
    for row in range(5):
        shares = [
            proba[row, a, b]
            if ranks[row, a] < ranks[row, b]
            else proba[row, b, a]
            if ranks[row, b] < ranks[row, a]
            else 0.5
            for a in range(4)
            for b in range(a)
        ]
        assert ranker.confidence(X_TEST)[row] == pytest.approx(np.mean(shares))


def test_partial_orders_of_every_ranker_with_probabilities():
    for name, ranker in all_rankers().items():
        model = ranker().fit(X_TRAIN, Y_TRAIN)
        if not hasattr(model, "pairwise_proba"):
            with pytest.raises(AttributeError, match="predict_partial") as error:
                model.predict_partial(X_TEST)
            assert "PairwiseCalibrator" in str(error.value.__cause__)
            continue
        ranks = model.predict(X_TEST[:20])
        for threshold in (0.5, 0.7, 1.0):
            for row, pairs in enumerate(pairs_by_row(model.predict_partial(X_TEST[:20], threshold))):
                assert is_strict_partial_order(pairs), name
                assert all(ranks[row, a] < ranks[row, b] for a, b in pairs), name


def test_through_pipelines_and_searches():
    pipeline = make_pipeline(StandardScaler(), LogLinearRanker())
    search = GridSearchCV(pipeline, {"loglinearranker__alpha": [0.1, 1.0]}, cv=2).fit(X_TRAIN, Y_TRAIN)
    best = search.best_estimator_
    expected = best[-1].pairwise_proba(best[0].transform(X_TEST))
    assert (labelrank.pairwise_proba(search, X_TEST) == expected).all()
    assert labelrank.confidence(search, X_TEST).shape == (len(X_TEST),)
    assert (
        labelrank.predict_partial(search, X_TEST, 0.9).n_edges < labelrank.predict_partial(search, X_TEST, 0.6).n_edges
    )
    with pytest.raises(AttributeError, match=r"SoftProjectionRanker has no pairwise_proba.*PairwiseCalibrator"):
        labelrank.pairwise_proba(make_pipeline(SoftProjectionRanker()).fit(X_TRAIN, Y_TRAIN), X_TEST)


def test_a_ranker_without_information_has_probabilities_of_one_half():
    ranker = PairwiseCalibrator(DummyRanker(strategy="random", random_state=0), random_state=0).fit(X, Y)
    assert np.abs(ranker.pairwise_proba(X) - 0.5).max() < 0.1


def test_labels_that_were_never_compared_are_marked():
    y = Y_TRAIN.copy()
    y[:, 2] = np.nan
    with pytest.warns(UserWarning, match="label"):
        ranker = ExtraTreesRanker(20, random_state=0).fit(X_TRAIN, y)
    assert ranker.observed_.tolist() == [True, True, False, True]
    without = ExtraTreesRanker(20, random_state=0).fit(X_TRAIN, y[:, [0, 1, 3]])
    assert ranker.confidence(X_TEST) == pytest.approx((3 * without.confidence(X_TEST) + 3 * 0.5) / 6)
    for pairs in pairs_by_row(ranker.predict_partial(X_TEST[:20], 0.9)):
        assert is_strict_partial_order(pairs)
        assert {(a, b) for a, b in pairs if 2 in (a, b)} == {(0, 2), (1, 2), (3, 2)}


@pytest.mark.parametrize("threshold", [0.4, 1.1, np.nan])
def test_thresholds_out_of_range(threshold):
    with pytest.raises(ValueError, match=r"threshold must be a probability from 0.5 to 1"):
        LogLinearRanker().fit(X, Y).predict_partial(X, threshold)


def test_nothing_to_calibrate_on():
    with pytest.raises(ValueError, match="no observed pair to calibrate on"):
        PairwiseCalibrator(LogLinearRanker().fit(X, Y), cv="prefit").fit(X, np.full(Y.shape, np.nan))


def test_reliability_against_scikit_learn():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.5, 1, 500)
    first = rng.random(500) < p
    proba = np.full((500, 2, 2), 0.5)
    proba[:, 0, 1], proba[:, 1, 0] = p, 1 - p
    curve = reliability_curve(np.where(first[:, None], [1, 2], [2, 1]), proba, n_bins=5)
    observed, predicted = calibration_curve(first, p, n_bins=10)  # of equal width from 0 to 1
    assert curve.observed == pytest.approx(observed)
    assert curve.predicted == pytest.approx(predicted)
    assert curve.weight.sum() == 500


@pytest.mark.parametrize("bad", [np.full((1, 2, 2), np.nan), np.full((1, 2, 2), 1.5), np.full((1, 2, 2), 0.9)])
def test_probabilities_that_are_none(bad):
    with pytest.raises(ValueError, match="proba must be probabilities"):
        expected_calibration_error([[1, 2]], bad)
    with pytest.raises(ValueError, match=r"n_bins must be an integer"):
        reliability_curve([[1, 2]], np.full((1, 2, 2), 0.5), n_bins=2.5)


def test_risk_and_coverage():
    rng = np.random.default_rng(0)
    loss, sure = rng.random(50), rng.integers(0, 10, 50)
    curve = risk_coverage_curve(np.append(loss, np.nan), np.append(sure, 3))
    levels = np.unique(sure)[::-1]
    assert curve.coverage == pytest.approx([(sure >= level).mean() for level in levels])
    assert curve.risk == pytest.approx([loss[sure >= level].mean() for level in levels])
    assert (
        area_under_risk_coverage(loss, -loss)
        < area_under_risk_coverage(loss, np.zeros(50))
        == pytest.approx(loss.mean())
    )
    assert np.isnan(area_under_risk_coverage([], []))
    with pytest.raises(ValueError, match="must have the same length"):
        risk_coverage_curve([1.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="confidence must not contain NaN"):
        risk_coverage_curve([1.0], [np.nan])
