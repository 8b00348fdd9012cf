"""
Ten rankers in a critical-difference diagram
============================================

Which learner is better over many data sets, and which differences are significant? The diagram shows average ranks over
data sets; bars join learners that do not differ significantly by Nemenyi's test. Sets are read from ``lr16`` in the
folder given by `LABELRANK_DATA`; otherwise generated sets and sets of scikit-learn are used.
"""

import os
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import labelrank
from labelrank.datasets import load_iris_rankings, load_wine_rankings, make_label_ranking, read_csv
from labelrank.plots import CriticalDifferenceDisplay

quick = "--quick" in sys.argv
folder = Path(os.environ.get("LABELRANK_DATA", "."), "lr16")
if folder.exists():
    sets = [(data.data, data.target) for data in map(read_csv, sorted(folder.glob("*.csv")))]
else:
    sets = [make_label_ranking(500, 6, n_labels=k, utilities=u, random_state=0)
            for k in (4, 6, 8) for u in ("linear", "nonlinear")]  # fmt: skip
    sets += [load_iris_rankings(return_X_y=True), load_wine_rankings(return_X_y=True)]
print(f"{len(sets)} data sets, {'lr16' if folder.exists() else 'generated and bundled'}")
rankers = [
    labelrank.DummyRanker(),
    labelrank.ConstraintClassificationRanker(tol=0.005, random_state=0),
    labelrank.LogLinearRanker(),
    labelrank.SoftProjectionRanker(max_iter=50 if quick else 1000, tol=0.1, random_state=0),
    labelrank.KernelRidgeRanker(kernel="rbf"),
    labelrank.KNeighborsRanker(),
    labelrank.DecisionTreeRanker(random_state=0),
    labelrank.RandomForestRanker(10 if quick else 100, random_state=0),
    labelrank.ExtraTreesRanker(10 if quick else 100, random_state=0),
    labelrank.GradientBoostingRanker(max_iter=10 if quick else 100, random_state=0),
]

# %%
# Kendall's tau by cross-validation, a row per data set.
tau, cv = np.empty((len(sets), len(rankers))), KFold(2 if quick else 5)
for i, (X, y) in enumerate(sets):
    rows = np.random.default_rng(0).permutation(len(X))[: 150 if quick else 1000]
    for j, ranker in enumerate(rankers):
        tau[i, j] = cross_val_score(make_pipeline(StandardScaler(), ranker), X[rows], y[rows], cv=cv).mean()
CriticalDifferenceDisplay.from_scores(tau, [type(ranker).__name__.removesuffix("Ranker") for ranker in rankers])
plt.show()
