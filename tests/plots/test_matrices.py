"""Who beats whom, and labels by position."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from labelrank import LogLinearRanker, PreferenceGraphs
from labelrank.datasets import load_iris_rankings
from labelrank.plots import PairMatrixDisplay, RankPositionDisplay

NAN = np.nan
NAMES = ["setosa", "versicolor", "virginica"]


@pytest.fixture(scope="module")
def problem():
    X, y = load_iris_rankings(return_X_y=True)
    y = pd.DataFrame(y, columns=NAMES)
    return make_pipeline(StandardScaler(), LogLinearRanker()).fit(X, y), X, y


def names_on(axis):
    return [text.get_text() for text in axis.get_ticklabels()]


def texts(ax):
    return [text.get_text() for text in ax.texts]


# --- Pairs


def test_shares_of_pairs():
    y = [[1, 2, 3], [1, 2, NAN], [2, 1, NAN], [1, 2, NAN]]
    predicted = [[2, 1, 3], [2, 1, 3], [1, 1, 2], [1, 2, 3]]
    display = PairMatrixDisplay.from_predictions(y, predicted, labels=["a", "b", "c"])
    assert display.order_.tolist() == [0, 1, 2]
    observed, shown = (image.get_array().filled(NAN) for image in display.images_)
    np.testing.assert_allclose(observed, [[NAN, 0.75, 1], [0.25, NAN, 1], [0, 0, NAN]])
    np.testing.assert_allclose(shown, [[NAN, 0.375, 1], [0.625, NAN, 1], [0, 0, NAN]])
    assert texts(display.ax_) == [".75", "1", ".25", "1", "0", "0"]
    assert names_on(display.ax_.yaxis) == names_on(display.predicted_ax_.xaxis) == ["a", "b", "c"]
    assert display.reversed_.tolist() == [[False, True, False], [True, False, False], [False, False, False]]
    framed = [patch for patch in display.predicted_ax_.patches if not patch.get_fill()]
    assert sorted(patch.get_center().tolist() for patch in framed) == [[0, 1], [1, 0]]


def test_pairs_of_a_pipeline(problem):
    model, X, y = problem
    display = PairMatrixDisplay.from_estimator(model, X, y)
    turned = PairMatrixDisplay.from_estimator(model, X, y[NAMES[::-1]])
    assert names_on(display.ax_.yaxis) == names_on(turned.ax_.yaxis) == ["versicolor", "virginica", "setosa"]
    for one, other in zip(display.images_, turned.images_, strict=True):
        np.testing.assert_allclose(one.get_array().filled(NAN), other.get_array().filled(NAN))
    unnamed = PairMatrixDisplay.from_estimator(model, X, y.to_numpy())
    assert names_on(unnamed.ax_.yaxis) == ["versicolor", "virginica", "setosa"]


def test_battles_with_weights_and_pairs_never_observed():
    y = PreferenceGraphs.from_pairs([0, 1], ["a", "b"], ["b", "a"], weight=[3, 1], labels=["a", "b", "c"])
    display = PairMatrixDisplay.from_predictions(y, [[1, 2, 3], [1, 2, 3]])
    observed = display.images_[0].get_array()
    assert observed[0, 1] == 0.75
    assert observed.mask[2].all()  # c
    assert display.ax_.patch.get_hatch()


def test_no_pair():
    with pytest.raises(ValueError, match=r"there is no pair to draw: none was observed among 1 label$"):
        PairMatrixDisplay.from_predictions([[1]], [[1]])
    with pytest.raises(ValueError, match="there is no pair to draw"):
        PairMatrixDisplay.from_predictions([[1, 1]], [[1, 2]])
    with pytest.raises(ValueError, match="square matrices of one shape"):
        PairMatrixDisplay(np.ones((2, 2)), np.ones((3, 3)))
    with pytest.raises(ValueError, match="labels has 1 names"):
        PairMatrixDisplay(np.ones((2, 2)), np.ones((2, 2)), labels=["a"])
    assert plt.get_fignums() == []


@pytest.mark.parametrize(("k", "layout"), [(24, "constrained"), (80, None)])
def test_many_long_names_do_not_overlap(k, layout):
    rng = np.random.default_rng(0)
    y = rng.normal(size=(30, k)).argsort(axis=1) + 1.0
    names = [f"a name that is too long for an axis, $x$ {i}" for i in range(k)]
    ax = None if layout else plt.subplots(figsize=(8, 4))[1]
    display = PairMatrixDisplay.from_predictions(y, y, labels=names, ax=ax)
    display.figure_.canvas.draw()
    for axis in (display.ax_.xaxis, display.ax_.yaxis):
        labels = axis.get_ticklabels()
        along = [box.intervalx if axis.axis_name == "x" else box.intervaly for box in map(_box, labels)]
        starts, ends = np.sort(along, axis=0).T
        assert (starts[1:] > ends[:-1] - 1.5).all()
        assert all(len(text.get_text()) <= 24 for text in labels)
    assert min(_box(text).x0 for text in display.ax_.get_yticklabels()) >= -1
    assert len({text.get_text() for text in display.ax_.get_yticklabels()}) == len(display.ax_.get_yticklabels())


def _box(text):
    return text.get_window_extent()


# --- Positions


def test_positions_of_a_pipeline(problem):
    model, X, y = problem
    display = RankPositionDisplay.from_estimator(model, X, y)
    observed, predicted = (image.get_array() for image in display.images_)
    ranks = model.predict(X)[:, display.order_]
    for matrix, values in ((observed, y.to_numpy()[:, display.order_]), (predicted, ranks)):
        expected = [[(values[:, label] == position).mean() for position in (1, 2, 3)] for label in range(3)]
        np.testing.assert_allclose(matrix, expected)
    assert [ax.get_title() for ax in display.axes_] == ["observed", "predicted"]
    assert names_on(display.ax_.xaxis) == ["1", "2", "3"]
    assert names_on(display.ax_.yaxis)[-1] == "setosa"
    assert len(RankPositionDisplay.from_estimator(model, X).axes_) == 1
    turned = RankPositionDisplay.from_estimator(model, X, y[NAMES[::-1]])
    np.testing.assert_allclose(turned.images_[1].get_array(), predicted)


def test_positions_with_ties_and_missing_labels():
    y = [[5, 5, 9, NAN], [NAN, 2, 1, NAN]]
    display = RankPositionDisplay.from_predictions(y, labels=["a", "b", "c", "d"])
    assert names_on(display.ax_.yaxis) == ["a", "b", "c", "d"]
    shares = display.images_[0].get_array()
    np.testing.assert_allclose(shares[:3], [[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0.5, 0, 0.5, 0]])
    assert shares.mask[3].all()
    one = RankPositionDisplay.from_predictions([[1], [1]])
    assert one.images_[0].get_array().tolist() == [[1.0]]


def test_no_positions():
    with pytest.raises(ValueError, match="there is no position to draw"):
        RankPositionDisplay.from_predictions(np.full((2, 3), NAN))
    with pytest.raises(ValueError, match="not layered"):
        RankPositionDisplay.from_predictions(PreferenceGraphs.from_pairs([0, 0, 0], [0, 1, 2], [1, 2, 0]))
    with pytest.raises(ValueError, match="one or two matrices"):
        RankPositionDisplay({})
    with pytest.raises(ValueError, match="labels has 1 names"):
        RankPositionDisplay({"": np.eye(2)}, labels=["a"])
