"""The curve of the loss, and the bound of boosting."""

import warnings

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from labelrank import DummyRanker, LogLinearRanker
from labelrank.datasets import load_iris_rankings
from labelrank.plots import LossCurveDisplay


@pytest.fixture(scope="module")
def rankers():
    X, y = load_iris_rankings(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return {solver: LogLinearRanker(solver=solver, max_iter=10).fit(X, y) for solver in ("boosting", "lbfgs")}


def test_loss_curve_with_its_bound(rankers):
    ranker = rankers["boosting"]
    display = LossCurveDisplay.from_estimator(ranker)
    np.testing.assert_array_equal(display.line_.get_ydata(), ranker.loss_curve_)
    bound = display.bound_line_.get_ydata()
    assert bound[0] == ranker.loss_curve_[0]
    assert len(bound) == ranker.n_iter_ + 1
    assert (np.asarray(display.line_.get_ydata()) <= bound + 1e-9).all()
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == [
        "LogLinearRanker, boosting",
        "guaranteed: not above",
    ]


def test_loss_curve_without_bound(rankers):
    figure = mpl.figure.Figure()
    display = LossCurveDisplay.from_estimator(rankers["lbfgs"], name="L-BFGS", ax=figure.add_subplot(), color="red")
    assert display.bound_line_ is None
    assert display.line_.get_label() == "L-BFGS"
    assert display.line_.get_color() == "red"
    assert display.figure_ is figure
    assert plt.get_fignums() == []
    assert LossCurveDisplay([2.0, 1.0]).plot().ax_.get_legend() is None


def test_bad_curves():
    with pytest.raises(ValueError, match=r"loss_curve must be a vector of at least one loss, got shape \(0,\)"):
        LossCurveDisplay([])
    with pytest.raises(ValueError, match="expected one decrease for each of the 1 iterations"):
        LossCurveDisplay([2.0, 1.0], bound_curve=[0.5, 0.5])
    with pytest.raises(NotFittedError):
        LossCurveDisplay.from_estimator(LogLinearRanker())
    with pytest.raises(TypeError, match="DummyRanker has no loss_curve_"):
        LossCurveDisplay.from_estimator(DummyRanker().fit([[0.0], [1.0]], [[1, 2], [1, 2]]))
