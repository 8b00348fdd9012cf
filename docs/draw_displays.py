"""Draw the pictures of docs/displays.rst in docs/_static; run it when the displays change."""

import re
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
from _svg import save
from sklearn.model_selection import train_test_split

from labelrank import (
    ConformalRanker,
    DecisionTreeRanker,
    ExtraTreesRanker,
    KNeighborsRanker,
    LogLinearRanker,
    PairwiseCalibrator,
)
from labelrank.datasets import load_digits_rankings
from labelrank.plots import (
    CoverageDisplay,
    CriticalDifferenceDisplay,
    MissingRateDisplay,
    PairMatrixDisplay,
    RankPositionDisplay,
    RejectionCurveDisplay,
    ReliabilityDisplay,
)

X, y = load_digits_rankings(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=0)
forest = ExtraTreesRanker(random_state=0).fit(X_train, y_train)
linear = LogLinearRanker().fit(X_train, y_train)
calibrated = PairwiseCalibrator(ExtraTreesRanker(random_state=0), random_state=0).fit(X_train, y_train)

figure, (left, right) = plt.subplots(1, 2, figsize=(10.0, 5.0), layout="constrained")
ReliabilityDisplay.from_estimator(forest, X_test, y_test, ax=left)
ReliabilityDisplay.from_estimator(calibrated, X_test, y_test, name="with PairwiseCalibrator", ax=left)
RejectionCurveDisplay.from_estimator(forest, X_test, y_test, ax=right)
RejectionCurveDisplay.from_estimator(linear, X_test, y_test, ax=right)
save(figure, "displays_trust.svg")

figure, axes = plt.subplots(figsize=(5.0, 5.0), layout="constrained")
for ranker in (ExtraTreesRanker(random_state=0), LogLinearRanker()):
    conformal = ConformalRanker(ranker, random_state=0).fit(X_train, y_train)
    CoverageDisplay.from_estimator(conformal, X_test, y_test, ax=axes)
save(figure, "displays_coverage.svg")

names = [f"digit {i}" for i in range(10)]
shown = y_test, linear.predict(X_test)
save(PairMatrixDisplay.from_predictions(*shown, labels=names).figure_, "displays_pairs.svg")
save(RankPositionDisplay.from_predictions(*shown[::-1], labels=names).figure_, "displays_positions.svg")

figure, axes = plt.subplots(figsize=(6.0, 4.0), layout="constrained")
for ranker in (KNeighborsRanker(), DecisionTreeRanker(random_state=0), LogLinearRanker()):
    MissingRateDisplay.from_estimator(ranker, X[::3], y[::3], rates=[0, 0.2, 0.4, 0.6, 0.8], random_state=0, ax=axes)
save(figure, "displays_missing.svg")

# Kendall's tau as computed for docs/results/cheng2009.rst, complete rankings: the means of its first table.
table = re.search(
    r"list-table:: tau, complete\n.*?\n\n(.*?)\n\n",
    Path(__file__).with_name("results").joinpath("cheng2009.rst").read_text(encoding="utf-8"),
    re.DOTALL,
)
assert table is not None
(_, *columns), *rows = (re.findall(r"- ?(.*)", row) for row in table[1].split("   * ")[1:])
ours = [i for i, column in enumerate(columns) if column != "paper"]
scores = [[float(row[1:][i].strip("*").split()[0]) for i in ours] for row in rows]
learners = [columns[i] for i in ours]
save(CriticalDifferenceDisplay.from_scores(scores, learners).figure_, "displays_ranks.svg")
