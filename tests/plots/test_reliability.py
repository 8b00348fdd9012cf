"""Calibration of pair probabilities, and rejection by confidence."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from labelrank import LogLinearRanker, SoftProjectionRanker, confidence, pairwise_proba
from labelrank.datasets import load_wine_rankings
from labelrank.metrics import kendall_tau
from labelrank.plots import (
    CoverageDisplay,
    LossCurveDisplay,
    MissingRateDisplay,
    RejectionCurveDisplay,
    ReliabilityDisplay,
)
from labelrank.trust import expected_calibration_error, reliability_curve, risk_coverage_curve

NAMES = ["tea", "milk", "water"]


@pytest.fixture(scope="module")
def problem():
    X, y = load_wine_rankings(return_X_y=True)
    y = pd.DataFrame(y, columns=NAMES)
    pipeline = make_pipeline(StandardScaler(), LogLinearRanker())
    search = GridSearchCV(pipeline, {"loglinearranker__alpha": [1.0, 10.0]}, cv=2)
    return search.fit(X[::2], y[::2]), X[1::2], y[1::2]


def labels_in(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


# --- Reliability


def test_reliability_through_a_search_and_a_pipeline(problem):
    model, X, y = problem
    display = ReliabilityDisplay.from_estimator(model, X, y, n_bins=5)
    proba = pairwise_proba(model, X)
    predicted, observed, weight = reliability_curve(y, proba, n_bins=5)
    np.testing.assert_array_equal(display.line_.get_xydata(), np.column_stack([predicted, observed]))
    (histogram,) = display.histogram_ax_.lines
    np.testing.assert_array_equal(histogram.get_xydata(), np.column_stack([predicted, weight]))
    assert display.error_ == pytest.approx(expected_calibration_error(y, proba, n_bins=5))
    assert labels_in(display) == ["calibrated", f"LogLinearRanker, error {display.error_:.3f}"]
    assert display.histogram_ax_.get_xlabel() == "predicted probability"


def test_labels_are_matched_by_name(problem):
    model, X, y = problem
    turned = y[NAMES[::-1]]
    for display in (ReliabilityDisplay, RejectionCurveDisplay):
        straight, other = (display.from_estimator(model, X, each).line_.get_xydata() for each in (y, turned))
        np.testing.assert_allclose(other, straight)
    with pytest.raises(ValueError, match="name different labels"):
        ReliabilityDisplay.from_estimator(model, X, y.rename(columns={"tea": "cola"}))
    with pytest.raises(ValueError, match="y has 2 labels, but LogLinearRanker was fitted with 3"):
        ReliabilityDisplay.from_estimator(model, X, y.to_numpy()[:, :2])


def test_several_curves_differ_without_their_colors(problem):
    model, X, y = problem
    display = ReliabilityDisplay.from_estimator(model, X, y)
    others = [ReliabilityDisplay.from_estimator(model, X, y, name=name, ax=display.ax_).line_ for name in "abcdefg"]
    assert len({line.get_marker() for line in (display.line_, *others)}) == 8
    assert len({line.get_linestyle() for line in (display.line_, *others[:1])}) == 2
    assert len(display.ax_.child_axes) == 1
    assert labels_in(display).count("calibrated") == 1


def test_one_bin_and_a_curve_below_one_half():
    proba = np.array([[[0.5, 0.9], [0.1, 0.5]]] * 4)
    display = ReliabilityDisplay.from_predictions([[2, 1], [2, 1], [1, 2], [2, 1]], proba, n_bins=1)
    assert display.line_.get_xydata().tolist() == [[0.9, 0.25]]
    assert display.ax_.get_ylim()[0] < 0.25


def test_nothing_to_draw():
    proba = np.full((2, 2, 2), 0.5)
    with pytest.raises(ValueError, match="there is no pair to draw"):
        ReliabilityDisplay.from_predictions([[1, 1], [1, np.nan]], proba)
    with pytest.raises(ValueError, match="there is no pair to draw"):
        ReliabilityDisplay.from_predictions([[1], [1]], np.full((2, 1, 1), 0.5))
    with pytest.raises(ValueError, match="vectors of one length"):
        ReliabilityDisplay([0.5], [0.5, 0.6], [1])
    with pytest.raises(ValueError, match="must be finite"):
        ReliabilityDisplay([0.5], [np.nan], [1])
    X, y = load_wine_rankings(return_X_y=True)
    ranker = SoftProjectionRanker().fit(X, y)
    with pytest.raises(AttributeError, match="PairwiseCalibrator"):
        ReliabilityDisplay.from_estimator(ranker, X, y)
    assert plt.get_fignums() == []  # errors come before a figure is made


@pytest.mark.parametrize("layout", ["constrained", "tight", None])
def test_the_histogram_stays_in_the_room_of_the_axes(layout, problem):
    model, X, y = problem
    figure, axes = plt.subplots(1, 2, layout=layout)
    room = axes[0].get_position(original=True)
    display = ReliabilityDisplay.from_estimator(model, X, y, ax=axes[0])
    figure.canvas.draw()
    if layout is None:
        below = display.histogram_ax_.get_position()
        assert below.y0 == pytest.approx(room.y0)
        assert below.y1 < axes[0].get_position().y0
    box = display.histogram_ax_.get_tightbbox()
    assert box.y0 >= 0


# --- Rejection


def test_rejection_curve(problem):
    model, X, y = problem
    display = RejectionCurveDisplay.from_estimator(model, X, y, name="linear")
    tau = np.array([kendall_tau(y[i : i + 1], model.predict(X[i : i + 1])) for i in range(len(X))])
    curve = risk_coverage_curve((1 - tau) / 2, confidence(model, X))
    np.testing.assert_allclose(display.line_.get_xydata(), np.column_stack(curve))
    oracle = risk_coverage_curve((1 - tau) / 2, tau)
    np.testing.assert_allclose(display.oracle_line_.get_xydata(), np.column_stack(oracle))
    assert display.mean_line_.get_ydata()[0] == pytest.approx(curve.risk[-1])
    first, *others = labels_in(display)
    assert first.startswith(f"linear, area {display.area_:.3f} (oracle {display.oracle_area_:.3f}, mean ")
    assert others == ["oracle", "mean: reject at random"]
    second = RejectionCurveDisplay.from_estimator(model, X, y, ax=display.ax_)
    assert labels_in(second)[1:3] == ["oracle", "mean: reject at random"]
    assert second.line_.get_marker() != display.line_.get_marker()


def test_rows_without_a_pair_are_left_out():
    y = [[1, 2], [2, 1], [1, np.nan], [1, 2]]
    display = RejectionCurveDisplay.from_predictions(y, [[1, 2]] * 4, [0.9, 0.2, 0.99, 0.5])
    assert display.line_.get_ydata().round(3).tolist() == [0, 0, 0.333]
    figure = mpl.figure.Figure()
    own = RejectionCurveDisplay([0.5], [1.0]).plot(figure.add_subplot(), ref_lines=False, color="red")
    assert own.oracle_line_ is None
    assert own.line_.get_color() == "red"
    assert own.figure_ is figure
    with pytest.raises(ValueError, match="there is no instance to draw"):
        RejectionCurveDisplay.from_predictions([[1, np.nan]], [[1, 2]], [0.9])
    with pytest.raises(ValueError, match="loss must be finite, or NaN to leave an instance out; instance 1 has inf"):
        RejectionCurveDisplay([0.5, np.inf], [0.5, 0.1])
    with pytest.raises(ValueError, match="confidence must not contain NaN"):
        RejectionCurveDisplay([0.5], [np.nan])


@pytest.mark.parametrize(
    "display",
    [
        ReliabilityDisplay([0.6, 0.9], [0.5, 1.0], [3, 4]),
        RejectionCurveDisplay([0.5, 0.1], [0.2, 0.9]),
        CoverageDisplay([0.1, 0.2], [0.9, 0.8], [0.5, 0.6], 50),
        MissingRateDisplay([0.0, 0.5], [[0.9, 0.8], [0.6, 0.5]]),
        LossCurveDisplay([3.0, 2.0]),
    ],
    ids=lambda display: type(display).__name__,
)
def test_short_names_of_styles(display):
    line = display.plot(c="k", ls="--", lw=3, ms=9).line_
    assert line.get_color() == "k"
    assert (line.get_linestyle(), line.get_linewidth(), line.get_markersize()) == ("--", 3, 9)
