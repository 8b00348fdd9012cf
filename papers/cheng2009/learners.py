"""The four learners, and what is computed with one of them on one fold."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from labelrank import (
    ConstraintClassificationRanker,
    DecisionTreeRanker,
    ExtraTreesRanker,
    KNeighborsRankerCV,
    as_graphs,
    mask_rankings,
)
from labelrank.metrics import kendall_tau
from papers.cheng2009.data import Problem, Protocol, Sets
from papers.frame import Cell, Numbers, fingerprint, fit_quietly, fold_of

METHODS = ("CC", "IBLR", "LRT", "forest")


class BestNeighbors(BaseEstimator):
    """IBLR with the number of neighbors, the scaling and the distance by leave-one-out on the training rankings."""

    def __init__(self, weights: Any = "dudani") -> None:
        self.weights = weights

    def fit(self, X: Any, y: Any) -> BestNeighbors:
        """Keep the better of two: features in 0..1 and city-block distance, or standardized and Euclidean."""
        models = [
            make_pipeline(scaler, KNeighborsRankerCV(weights=self.weights, p=p, on_empty="ignore")).fit(X, y)
            for scaler, p in ((MinMaxScaler(), 1), (StandardScaler(), 2))
        ]
        self.model_ = max(models, key=lambda model: float(model[-1].best_score_))
        return self

    def predict(self, X: Any) -> Any:
        """Return ranks."""
        return self.model_.predict(X)


def learner(method: str, n_trees: int | None = None) -> Any:
    """Return the learner of a column, with its defaults."""
    quiet: dict[str, Any] = {"on_empty": "ignore"}  # coins leave some rankings without a pair
    forest: dict[str, Any] = {} if n_trees is None else {"n_estimators": n_trees}
    return {
        "CC": ConstraintClassificationRanker(random_state=0, **quiet),
        "IBLR": BestNeighbors(),
        "LRT": DecisionTreeRanker(random_state=0, **quiet),
        "forest": ExtraTreesRanker(random_state=0, **forest, **quiet),
    }[method]


def cells(sets: Sets, protocol: Protocol) -> list[dict[str, Any]]:
    """List a cell per set, rate of missing labels, fold and learner; those that a curve shares only once."""
    runs: dict[tuple[str, float, int, int], None] = {}
    for names, rates, n_repeats in (
        (list(sets), protocol.rates, protocol.n_repeats),
        (protocol.curves(list(sets)), protocol.curve_rates, 1),
    ):
        folds = [(repeat, fold) for repeat in range(n_repeats) for fold in range(protocol.n_folds)]
        runs.update(dict.fromkeys((name, rate, *fold) for name in names for rate in rates for fold in folds))
    learners = {
        method: {name: repr(value) for name, value in sorted(learner(method, protocol.n_trees).get_params().items())}
        for method in METHODS
    }
    prints = {
        name: fingerprint(problem.X, *([problem.y] if isinstance(problem.y, np.ndarray) else problem.y.to_edges()))
        for name, problem in sets.items()
    }
    return [
        {
            "data": [name, prints[name]],
            "scaled": sets[name].scaled,
            "seed": protocol.seed,
            "n_folds": protocol.n_folds,
            "missing": rate,
            "repeat": repeat,
            "fold": fold,
            "method": method,
            "learner": learners[method],
            "n_trees": protocol.n_trees,
        }
        for name, rate, repeat, fold in runs
        for method in METHODS
    ]


def compute(cell: Cell, sets: Sets) -> Numbers:
    """Toss the coins, train on the training fold, and measure Kendall's tau on the test fold."""
    problem = sets[cell["data"][0]]
    train, test = _split(cell, problem)
    X, X_test = problem.X[train], problem.X[test]
    y = known_labels(cell, problem)
    if not cell["scaled"] and cell["method"] in ("CC", "IBLR"):
        steps = make_pipeline(SimpleImputer(strategy="median"), MinMaxScaler()).fit(X)
        X, X_test = steps.transform(X), steps.transform(X_test)
    ranker = learner(cell["method"], cell["n_trees"])
    start = time.process_time()
    fit_quietly(ranker, X, y)
    fitted = time.process_time()
    predicted = ranker.predict(X_test)
    numbers = {
        "tau": kendall_tau(problem.y[test], predicted),
        "fit_seconds": fitted - start,
        "predict_seconds": time.process_time() - fitted,
    }
    if cell["method"] == "LRT":
        numbers |= {"leaves": int(ranker.get_n_leaves()), "class_leaves": leaves_of_classification(X, y)}
    return numbers


def _split(cell: Cell, problem: Problem) -> Any:
    return fold_of(len(problem.y), **{name: cell[name] for name in ("n_folds", "fold", "repeat", "seed")})


def known_labels(cell: Cell, problem: Problem) -> Any:
    """Return the rankings of the training fold without the labels that a coin hides.

    The coins are the same for all learners. They are also shared by all rates, so that a label that is missing at 30 %
    is missing at 60 %, too.
    """
    train, _ = _split(cell, problem)
    coins = int(np.random.SeedSequence([cell["seed"], cell["repeat"], cell["fold"]]).generate_state(1)[0])
    return mask_rankings(problem.y[train], cell["missing"], random_state=coins)


def leaves_of_classification(X: Any, y: Any) -> int:
    """Count the leaves of a classification tree for the label ranked first, with the ranking tree's stopping rules.

    It splits nodes of at least twice as many instances as there are labels until they are pure. Of labels tied for the
    first place the first counts, in a graph that is no ranking the one with the most wins minus losses; instances of
    which no pair is known are left out.
    """
    graphs = as_graphs(y)
    wins = np.zeros(graphs.shape)
    edges = graphs.to_edges()
    np.add.at(wins, (edges.instance, edges.better), 1.0)
    np.add.at(wins, (edges.instance, edges.worse), -1.0)
    known = graphs.edge_counts() > 0
    if not known.any():
        return 1
    tree = DecisionTreeClassifier(min_samples_split=2 * graphs.shape[1], random_state=0)
    return int(tree.fit(X[known], wins[known].argmax(axis=1)).get_n_leaves())
