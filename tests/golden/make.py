"""Make the golden files: a saved model of each estimator, with the scores that it gave.

    python tests/golden/make.py [NAME ...]

Files that there are stay as they are: they show that models saved by older versions are still loaded. Delete one to
have it made anew, when its format was changed on purpose.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import labelrank
from labelrank import PreferenceGraphs, all_rankers, save
from labelrank.auto import WeightedRanker
from labelrank.datasets import make_label_ranking

FOLDER = Path(__file__).parent
QUERIES = 4


def data():
    """Instances, their rankings, and instances to predict."""
    X, y = make_label_ranking(30, 3, n_labels=3, random_state=0)
    X = np.round(X, 3)
    return X[:-QUERIES], y[:-QUERIES], X[-QUERIES:]


def small(name):
    """A ranker of few parameters."""
    options = {
        "ExtraTreesRanker": {"n_estimators": 2, "random_state": 0},
        "RandomForestRanker": {"n_estimators": 2, "random_state": 0},
        "DecisionTreeRanker": {"random_state": 0},
        "GradientBoostingRanker": {"max_iter": 3, "max_leaf_nodes": 4},
        "ConstraintClassificationRanker": {"random_state": 0},
        "KernelRidgeRanker": {"kernel": "rbf"},
        "PairwiseRanker": {"estimator": LogisticRegression()},
    }
    return getattr(labelrank, name)(**options.get(name, {}))


def models():
    """Name and fitted model of everything that has a golden file."""
    X, y, _ = data()
    for name in all_rankers():
        yield name, lambda name=name: small(name).fit(X, y)
    relevant = y <= 1
    yield "CalibratedRanker", lambda: labelrank.CalibratedRanker().fit(X, PreferenceGraphs.from_multilabel(relevant))
    yield "LabelCoveringClassifier", lambda: labelrank.LabelCoveringClassifier().fit(X, relevant)
    boosted = labelrank.GradientBoostingCoveringClassifier(max_iter=3, max_leaf_nodes=4)
    yield "GradientBoostingCoveringClassifier", lambda: boosted.fit(X, relevant)
    groups = np.arange(len(X)) // 5
    yield "RankRLS", lambda: labelrank.RankRLS(kernel="rbf").fit(X, y[:, 0], groups=groups)
    yield "RankRLSCV", lambda: labelrank.RankRLSCV().fit(X, y[:, 0], groups=groups)
    yield "ConformalRanker", lambda: labelrank.ConformalRanker(small("LogLinearRanker"), cv=2, alpha=0.4).fit(X, y)
    yield "PairwiseCalibrator", lambda: labelrank.PairwiseCalibrator(small("LogLinearRanker"), cv=2).fit(X, y)
    candidates = {"linear": small("LogLinearRanker"), "trees": small("ExtraTreesRanker")}
    auto = labelrank.AutoRanker(None, candidates=candidates, cv=2, random_state=0)
    yield "AutoRanker", lambda: auto.fit(X, y)
    weighted = WeightedRanker([*candidates.values()], [0.25, 0.75])
    yield "WeightedRanker", lambda: weighted.fit(X, y)
    kernel = labelrank.SoftProjectionRanker(kernel="rbf")
    yield "SoftProjectionRanker_kernel", lambda: kernel.fit(X, y)
    yield "Pipeline", lambda: make_pipeline(StandardScaler(), labelrank.LogLinearRanker()).fit(X, y)


def scores(model, X):
    """What is compared: scores of the labels, or of items."""
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


def make(names):
    """Make the files that there are not."""
    X = data()[-1]
    for name, fitted in models():
        path = FOLDER / f"{name}.lrk"
        if (names and name not in names) or path.exists():
            continue
        model = fitted()
        save(model, path)
        expected = {"X": X.tolist(), "scores": scores(model, X).tolist()}
        expected["predict"] = np.asarray(model.predict(X), float).tolist()
        path.with_suffix(".json").write_text(json.dumps(expected) + "\n")
        print(path.name, path.stat().st_size)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    make(sys.argv[1:])
