"""Critical differences over data sets, and scores by the share of missing labels."""

import io

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from labelrank import DecisionTreeRanker, KNeighborsRanker, mask_rankings
from labelrank.datasets import load_iris_rankings
from labelrank.metrics import critical_difference, friedman_test, get_scorer
from labelrank.plots import CriticalDifferenceDisplay, MissingRateDisplay

# --- Critical differences


@pytest.mark.parametrize(
    ("ranks", "difference", "joined"),
    [
        ([1.0, 2.0, 3.0], 0.5, []),
        ([3.0, 1.0, 2.0], 1.0, [(1, 2), (2, 0)]),
        ([1.2, 1.4, 3.4], 0.9, [(0, 1)]),
        ([1.5, 2.0, 2.5], 1.5, [(0, 1, 2)]),
    ],
)
def test_learners_that_do_not_differ_are_joined(ranks, difference, joined):
    display = CriticalDifferenceDisplay(ranks, ["a", "b", "c"], critical_difference=difference).plot()
    assert display.joined_ == joined
    ends = [(ranks[group[0]], ranks[group[-1]]) for group in joined]
    np.testing.assert_allclose([bar.get_xdata() for bar in display.bars_], ends or np.empty((0,)))
    assert len({bar.get_ydata()[0] for bar in display.bars_}) == len(joined)  # bars do not cover each other
    texts = [text.get_text().strip() for text in display.ax_.texts]
    assert f"b {ranks[1]:.2f}" in texts
    assert f"critical difference {difference:.2f}" in texts


def test_scores_of_a_frame():
    rng = np.random.default_rng(0)
    scores = rng.normal([0, 0.1, 5, 5.1], size=(12, 4))
    frame = pl.DataFrame(scores, schema=["a", "b", "c", "d"])
    display = CriticalDifferenceDisplay.from_scores(frame)
    assert display.names == ["a", "b", "c", "d"]
    np.testing.assert_allclose(display.average_ranks, friedman_test(scores).average_ranks)
    assert display.critical_difference == critical_difference(4, 12)
    assert [sorted(group) for group in display.joined_] == [[2, 3], [0, 1]]
    assert display.ax_.get_title().startswith("12 data sets, Friedman p = ")
    holm = CriticalDifferenceDisplay.from_scores(frame, test="holm")
    assert [sorted(group) for group in holm.joined_] == [[2, 3], [0, 1]]
    assert not any("critical" in text.get_text() for text in holm.ax_.texts)
    errors = CriticalDifferenceDisplay.from_scores(-scores, frame.columns, larger_is_better=False)
    np.testing.assert_allclose(errors.average_ranks, display.average_ranks)


def test_all_are_joined_if_friedmans_test_does_not_reject():
    scores = np.random.default_rng(0).normal(size=(6, 5))
    display = CriticalDifferenceDisplay.from_scores(scores)
    assert [sorted(group) for group in display.joined_] == [[0, 1, 2, 3, 4]]


def test_names_of_many_learners_do_not_overlap():
    rng = np.random.default_rng(0)
    names = [f"a learner with a rather long name: $\\alpha$ = {i}" for i in range(25)]
    display = CriticalDifferenceDisplay.from_scores(rng.normal(size=(9, 25)), names)
    display.figure_.canvas.draw()
    boxes = [text.get_window_extent() for text in display.ax_.texts]
    assert not any(a.padded(-1).overlaps(b.padded(-1)) for i, a in enumerate(boxes) for b in boxes[:i])
    assert all(len(text.get_text()) < 36 for text in display.ax_.texts)


def test_equal_average_ranks_are_joined_by_a_visible_bar():
    display = CriticalDifferenceDisplay([1.5, 1.5, 3.0], critical_difference=1.0).plot()
    (bar,) = display.bars_
    (low, _), (high, _) = display.ax_.transData.transform(bar.get_xydata())
    assert high - low == pytest.approx(8 * display.figure_.dpi / 72, rel=0.02)
    assert np.mean(bar.get_xdata()) == pytest.approx(1.5)


@pytest.mark.parametrize("difference", [0.9, 1.0, 1.4, 1e6])
def test_a_critical_difference_longer_than_the_ranks_stays_on_the_axes(difference):
    display = CriticalDifferenceDisplay([1.2, 1.8], critical_difference=difference).plot()
    display.figure_.canvas.draw()
    room = display.ax_.get_window_extent().padded(1)
    for artist in (*display.ax_.lines, *display.ax_.texts):
        box = artist.get_window_extent()
        assert room.x0 <= box.x0 <= box.x1 <= room.x1, artist
    file = io.BytesIO()
    display.figure_.savefig(file, bbox_inches="tight")
    assert f"critical difference {difference:.2f}" in [text.get_text().strip() for text in display.ax_.texts]
    assert (">" in {line.get_marker() for line in display.ax_.lines}) == (difference > 1)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_text_in_a_frame_of_scores_is_named(frame):
    scores = frame({"data set": ["iris", "wine"], "tree": [0.9, 0.8], "forest": [0.95, 0.9], "note": ["1", "2"]})
    with pytest.raises(ValueError, match=r"columns that are not numbers: \['data set', 'note'\]; drop them"):
        CriticalDifferenceDisplay.from_scores(scores)
    with pytest.raises(ValueError, match=r"scores must be a table of numbers, a column for each learner: .*'iris'"):
        CriticalDifferenceDisplay.from_scores([["iris", 0.9], ["wine", 0.8]])


def test_bad_scores():
    with pytest.raises(ValueError, match=r"at least two sets and two learners, got shape \(1, 3\)"):
        CriticalDifferenceDisplay.from_scores([[1.0, 2.0, 3.0]])
    with pytest.raises(ValueError, match="scores has nan for set 1, learner 0"):
        CriticalDifferenceDisplay.from_scores([[1.0, 2.0], [np.nan, 1.0]])
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        CriticalDifferenceDisplay.from_scores([[1.0, 2.0], [2.0, 1.0]], level=5)
    with pytest.raises(ValueError, match="names has 1 names, but there are 2 learners"):
        CriticalDifferenceDisplay([1, 2], ["a"], critical_difference=1)
    with pytest.raises(ValueError, match="pass critical_difference, or differ"):
        CriticalDifferenceDisplay([1, 2])
    with pytest.raises(ValueError, match="at least two learners"):
        CriticalDifferenceDisplay([1], critical_difference=1)
    for difference in (np.nan, np.inf, -1):
        with pytest.raises(ValueError, match="critical_difference must be finite and at least 0"):
            CriticalDifferenceDisplay([1, 2], critical_difference=difference)


# --- Missing labels


def test_scores_by_the_share_of_missing_labels():
    X, y = load_iris_rankings(return_X_y=True)
    model = make_pipeline(StandardScaler(), DecisionTreeRanker(random_state=0))
    display = MissingRateDisplay.from_estimator(model, X, y, rates=[0.5, 0.0], cv=KFold(3), random_state=0)
    assert display.scores.shape == (2, 3)
    np.testing.assert_allclose(display.scores[1], cross_val_score(model, X, y, cv=KFold(3)))
    masked = mask_rankings(y, 0.5, random_state=0)
    expected = []
    for train, test in KFold(3).split(X):
        kept = train[np.sum(~np.isnan(masked[train]), axis=1) > 1]
        expected.append(model.fit(X[kept], masked[kept]).score(X[test], y[test]))
    np.testing.assert_allclose(display.scores[0], expected)
    assert display.line_.get_xdata().tolist() == [0.0, 0.5]
    np.testing.assert_allclose(display.line_.get_ydata(), display.scores.mean(axis=1)[::-1])
    (band,) = display.ax_.collections
    low, high = band.get_datalim(display.ax_.transData).intervaly
    spread = display.scores.std(axis=1, ddof=1)
    assert low == pytest.approx((display.scores.mean(axis=1) - spread).min())
    assert high == pytest.approx((display.scores.mean(axis=1) + spread).max())
    other = MissingRateDisplay.from_estimator(
        KNeighborsRanker(), X, y, rates=[0.2], how="top", cv=2, scoring="domination_error", ax=display.ax_
    )
    assert other.score_name == "domination_error"
    assert other.line_.get_marker() != display.line_.get_marker()
    assert [t.get_text() for t in display.ax_.get_legend().get_texts()] == ["DecisionTreeRanker", "KNeighborsRanker"]


def test_a_search_is_named_after_its_ranker_and_its_scoring():
    X, y = load_iris_rankings(return_X_y=True)
    model = make_pipeline(StandardScaler(), KNeighborsRanker())
    search = GridSearchCV(model, {"kneighborsranker__n_neighbors": [3]}, cv=2, scoring=get_scorer("spearman_rho"))
    display = MissingRateDisplay.from_estimator(search, X, y, rates=[0.0], cv=2, random_state=0, ls="--")
    assert display.line_.get_label() == "KNeighborsRanker"
    assert display.line_.get_linestyle() == "--"
    assert display.ax_.get_ylabel() == "score"  # not Kendall's tau


def test_scorers_by_name():
    X, y = load_iris_rankings(return_X_y=True)
    arguments = {"rates": [0.0], "cv": 2, "random_state": 0}
    top = MissingRateDisplay.from_estimator(KNeighborsRanker(), X, y, scoring="top_1", **arguments)
    by_function = MissingRateDisplay.from_estimator(KNeighborsRanker(), X, y, scoring=get_scorer("top_1"), **arguments)
    np.testing.assert_array_equal(top.scores, by_function.scores)
    with pytest.raises(ValueError, match=r"scorer 'spearman' is not known; choose one of .*'spearman_rho'"):
        MissingRateDisplay.from_estimator(KNeighborsRanker(), X, y, scoring="spearman", **arguments)


def test_folds_are_the_same_for_learners_with_the_same_random_state():
    X, y = load_iris_rankings(return_X_y=True)
    tree = DecisionTreeRanker(random_state=0)
    one, two = (MissingRateDisplay.from_estimator(tree, X, y, cv=2, random_state=1).scores for _ in range(2))
    np.testing.assert_array_equal(one, two)


def test_bad_rates():
    with pytest.raises(ValueError, match="rates must be shares from 0 to 1"):
        MissingRateDisplay([1.5], [[0.5]])
    with pytest.raises(ValueError, match="rates must be shares from 0 to 1, at least one"):
        MissingRateDisplay([], np.empty((0, 3)))
    with pytest.raises(ValueError, match=r"a fold has no score at the rate 0\.5"):
        MissingRateDisplay([0, 0.5], [[0.5, 0.4], [np.nan, 0.1]])
    with pytest.raises(ValueError, match="a row for each of the 2 rates"):
        MissingRateDisplay([0, 0.5], [0.5, 0.4])
    X, y = load_iris_rankings(return_X_y=True)
    with pytest.raises(ValueError, match="no training row has an observed pair left"):
        MissingRateDisplay.from_estimator(DecisionTreeRanker(), X, y, rates=[1.0], cv=2)
    with pytest.raises(ValueError, match=r"rates must be a sequence of numbers, got 0\.5; .* pass \[0\.5\]"):
        MissingRateDisplay.from_estimator(DecisionTreeRanker(), X, y, rates=0.5)
