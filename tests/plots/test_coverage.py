"""Nominal and empirical coverage of conformal rankers."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from labelrank import ConformalRanker, LogLinearRanker
from labelrank.datasets import load_digits_rankings
from labelrank.plots import CoverageDisplay


@pytest.fixture(scope="module")
def problem():
    X, y = load_digits_rankings(return_X_y=True)
    model = ConformalRanker(make_pipeline(StandardScaler(), LogLinearRanker()), random_state=0)
    return model.fit(X[:400], y[:400]), X[400:600], y[400:600]


def test_coverage_and_completeness(problem):
    model, X, y = problem
    alphas = [0.1, 0.3, 0.2]
    display = CoverageDisplay.from_estimator(model, X, y, alphas=alphas)
    rankers = [model.with_alpha(alpha) for alpha in (0.3, 0.2, 0.1)]
    np.testing.assert_allclose(display.line_.get_xdata(), [0.7, 0.8, 0.9])
    np.testing.assert_allclose(display.line_.get_ydata(), [ranker.coverage(X, y) for ranker in rankers])
    np.testing.assert_allclose(display.completeness_line_.get_ydata(), [ranker.completeness(X) for ranker in rankers])
    assert display.line_.get_label() == "LogLinearRanker"
    assert display.completeness_ax_.get_ylabel() == "completeness"
    # 300 rows learn and 100 calibrate: the 10th largest slack of 101 for alpha = 0.1
    low, high = stats.betabinom.interval(0.95, 200, 91, 10)
    np.testing.assert_allclose(display.band_[:, -1], [low / 200, high / 200])
    edges = [line.get_ydata() for line in display.ax_.lines if line.get_marker() == "_"]
    np.testing.assert_allclose(edges, display.band_)


def test_partial_orders_give_the_same_coverage(problem):
    model, X, y = problem
    alphas = [0.1, 0.4]
    orders = [model.with_alpha(alpha).predict_partial(X) for alpha in alphas]
    display = CoverageDisplay.from_estimator(model, X, y, alphas=alphas)
    other = CoverageDisplay.from_predictions(y, orders, alphas, ax=display.ax_, name="orders")
    np.testing.assert_allclose(other.coverage, display.coverage)
    np.testing.assert_allclose(other.completeness, display.completeness)
    low, high = stats.binom.interval(0.95, 200, 0.9)
    np.testing.assert_allclose(other.band_[:, -1], [low / 200, high / 200])
    assert np.diff(other.band_, axis=0).max() < np.diff(display.band_, axis=0).max()


def test_a_search_around_it_and_labels_in_another_order():
    X, y = load_digits_rankings(return_X_y=True)
    y = pd.DataFrame(y, columns=[f"digit {i}" for i in range(10)])
    model = make_pipeline(StandardScaler(), ConformalRanker(LogLinearRanker(max_iter=30, tol=1.0), random_state=0))
    search = GridSearchCV(model, {"conformalranker__normalize": [None]}, cv=2).fit(X[:200], y[:200])
    display = CoverageDisplay.from_estimator(search, X[200:300], y[200:300], alphas=[0.2])
    turned = CoverageDisplay.from_estimator(search, X[200:300], y.iloc[200:300, ::-1], alphas=[0.2])
    assert display.coverage.tolist() == turned.coverage.tolist()
    assert display.coverage[0] > 0.6


def test_partial_orders_are_matched_by_name(problem):
    _, X, y = problem
    y = pd.DataFrame(y, columns=[f"digit {i}" for i in range(10)])
    model = ConformalRanker(LogLinearRanker(max_iter=30, tol=1.0), random_state=0).fit(X[:100], y[:100])
    named = [model.predict_partial(X)]
    turned = y.iloc[:, ::-1]
    assert CoverageDisplay.from_predictions(turned, named, [0.1]).coverage == [model.coverage(X, y)]
    with pytest.raises(ValueError, match=r"partial and y_true name different labels: only partial has \['digit 0'\]"):
        CoverageDisplay.from_predictions(turned.rename(columns={"digit 0": "zero"}), named, [0.1])


def test_no_band_where_it_would_not_hold(problem):
    _, X, y = problem
    groups = np.arange(len(X)) % 2
    ranker = ConformalRanker(LogLinearRanker(max_iter=30, tol=1.0), random_state=0)
    by_group = clone(ranker).fit(X, y, groups=groups)
    display = CoverageDisplay.from_estimator(by_group, X, y, alphas=[0.2, 0.4], groups=groups)
    parts = ranker.set_params(target="decomposition").fit(X, y)
    both = CoverageDisplay.from_estimator(parts, X, y, alphas=[0.2, 0.4], ax=display.ax_)
    assert display.band_ is None
    assert both.band_ is None
    assert not display.ax_.collections
    assert display.ax_.get_ylim()[0] < min(*display.coverage, *both.coverage)


def test_the_same_band_is_drawn_once():
    first = CoverageDisplay([0.1, 0.2], [0.9, 0.85], [0.5, 0.7], 50, name="a").plot()
    n_lines = len(first.ax_.lines)
    CoverageDisplay([0.1, 0.2], [0.92, 0.8], [0.4, 0.6], 50, name="b").plot(first.ax_)
    assert len(first.ax_.lines) == n_lines + 1
    assert len(first.ax_.child_axes) == 1


def test_a_single_alpha():
    display = CoverageDisplay(0.1, 0.93, 0.5, 30).plot()
    assert display.line_.get_xydata().tolist() == [[0.9, 0.93]]
    low, high = display.ax_.get_ylim()
    assert low < display.band_[0, 0] < display.band_[1, 0] < high


def test_bad_input(problem):
    model, X, y = problem
    with pytest.raises(TypeError, match="draws a ConformalRanker, got Pipeline"):
        CoverageDisplay.from_estimator(model.estimator_, X, y)
    with pytest.raises(ValueError, match="alphas must be between 0 and 1"):
        CoverageDisplay.from_estimator(model, X, y, alphas=[0.0])
    with pytest.raises(ValueError, match="at least 1"):
        CoverageDisplay([], [], [], 10)
    with pytest.raises(ValueError, match="no row with an observed pair"):
        CoverageDisplay.from_estimator(model, X[:2], np.full((2, 10), np.nan))
    with pytest.raises(ValueError, match="one prediction for each of the 1 alphas"):
        CoverageDisplay.from_predictions(y, [], [0.1])
    for draw in (
        lambda: CoverageDisplay.from_estimator(model, X, y, alphas=0.1),
        lambda: CoverageDisplay.from_predictions(y, [], 0.1),
    ):
        with pytest.raises(ValueError, match=r"alphas must be a sequence of numbers, got 0\.1; .* pass \[0\.1\]"):
            draw()
