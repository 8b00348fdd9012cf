"""A log-linear ranker for each decomposition, solver and fold."""

from __future__ import annotations

import time
from typing import Any

from labelrank import LogLinearRanker, PreferenceGraphs
from labelrank.features import BoostingSelector
from labelrank.metrics import generalized_error
from papers.dekel2003.data import Corpus, Protocol
from papers.frame import Cell, Numbers, fingerprint, fit_quietly, fold_of

DECOMPOSITIONS = {"zero_one": "0-1", "disagreement": "dis", "domination": "Dom", "dominated": "dom"}


def cells(corpus: Corpus, protocol: Protocol) -> list[dict[str, Any]]:
    """List a cell per fold, solver and decomposition."""
    lbfgs = {"solver": "lbfgs", "alphas": list(protocol.alphas), "max_iter": protocol.max_iter, "tol": protocol.tol}
    boosting = {"solver": "boosting", "alphas": [0.0], "max_iter": protocol.boosting_steps, "tol": 0.0}
    common = {
        "data": [corpus.name, fingerprint(corpus.features, corpus.graphs.levels)],
        "seed": protocol.seed,
        "n_folds": protocol.n_folds,
        "n_words": protocol.n_words,
        "selection": protocol.selection,
    }
    return [
        {**common, "learner": {"decomposition": decomposition, **solver}, "fold": fold}
        for solver in (lbfgs, boosting)
        for fold in range(protocol.n_folds)
        for decomposition in DECOMPOSITIONS
    ]


def compute(cell: Cell, corpus: Corpus) -> Numbers:
    """Choose words on the training fold, train with each penalty, and measure the four errors on the test fold.

    Each penalty is also tried on a part of the training fold, with the rest of it held out, so that one can be chosen.
    """
    start = time.perf_counter()
    features, graphs = corpus.features, corpus.graphs
    split = {"n_folds": cell["n_folds"], "seed": cell["seed"]}
    train, test = fold_of(len(graphs), fold=cell["fold"], **split)
    n_words = min(cell["n_words"], features.shape[1])
    words = BoostingSelector(n_words, decomposition=cell["selection"]).fit(features[train], graphs[train])
    X, y = words.transform(features[train]), graphs[train]
    tried = _path(cell["learner"], X, y, words.transform(features[test]), graphs[test])
    if len(tried) > 1:
        fit, held_out = fold_of(len(y), fold=0, **split)
        for step, inner in zip(tried, _path(cell["learner"], X[fit], y[fit], X[held_out], y[held_out]), strict=True):
            step["held_out"] = inner["errors"]
    return {"path": tried, "seconds": time.perf_counter() - start}


def _path(learner: Cell, X: Any, y: PreferenceGraphs, X_test: Any, y_test: PreferenceGraphs) -> list[dict[str, Any]]:
    """The errors with each penalty, each fit starting from the one before."""
    parameters = {name: value for name, value in learner.items() if name != "alphas"}
    ranker = LogLinearRanker(**parameters, warm_start=True, on_empty="ignore")
    path = []
    for alpha in learner["alphas"]:
        fit_quietly(ranker.set_params(alpha=alpha), X, y)
        predicted = ranker.predict(X_test)
        path.append(
            {
                "alpha": alpha,
                "errors": {error: generalized_error(y_test, predicted, error) for error in DECOMPOSITIONS},
                "n_iter": int(ranker.n_iter_),  # counted anew with each penalty
                "gap": float(ranker.gap_),
                "loss": float(ranker.loss_curve_[-1]),
            }
        )
    return path
