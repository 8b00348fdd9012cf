"""Checks of what rankers learn and predict."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.utils import get_tags

from labelrank.metrics import kendall_tau
from labelrank.supervision import PreferenceGraphs, ranks_from_scores
from labelrank.testing.contract import agree, clause, expect, fitted, is_deterministic, quiet, raises
from labelrank.testing.problems import (
    N_LABELS,
    N_SAMPLES,
    NAMES,
    battles,
    features,
    frames,
    in_halves,
    rankings,
    supervision,
)


@clause
def check_supervision(estimator: Any) -> None:
    """Every kind of supervision is accepted, and predictions are complete ranks in the order of the scores."""
    X = features()
    for what, y in supervision().items():
        model = fitted(estimator, X, y, what)
        with quiet():
            ranks, scores = model.predict(X), model.decision_function(X)
        shape = (N_SAMPLES, N_LABELS)
        for method, result in (("predict", ranks), ("decision_function", scores)):
            expect(isinstance(result, np.ndarray), f"{method} must return an array, not {type(result).__name__}")
            expect(result.shape == shape, f"{method} must have shape {shape}, not {result.shape}, after {what}")
            expect(np.isfinite(result).all(), f"{method} must be finite after {what}")
        expect(
            np.array_equal(ranks, ranks_from_scores(scores)),
            f"predict must be 1 + the number of labels with a larger decision_function after {what}",
        )
        expect(len(model.labels_) == N_LABELS, f"labels_ must have one name per label after {what}")
        expect(model.n_features_in_ == X.shape[1], "n_features_in_ must be the number of features")


@clause
def check_small_problems(estimator: Any) -> None:
    """One label, one sample and labels that are all tied are valid problems."""
    X, y = features(), rankings()
    alone = fitted(estimator, X, y[:, :1], "a single label")
    expect((alone.predict(X) == 1).all(), "it must give the only label the rank 1")
    error = raises(clone(estimator).fit, X[:1], y[:1])
    expect(
        error is None or (isinstance(error, ValueError) and "sample" in str(error)),
        f"fit must learn from a single sample, or raise a ValueError that mentions samples, not {error!r}",
    )
    tied = fitted(estimator, X, np.ones_like(y), "rows in which all labels are tied")
    expect(np.isfinite(tied.decision_function(X)).all(), "it must have finite scores if all labels are tied")
    y[3] = 1
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clone(estimator).fit(X, y)
    named = any("row 3" in str(warning.message) for warning in caught)
    expect(named or getattr(estimator, "on_empty", "warn") != "warn", "fit must warn of rows without any pair")


@clause
def check_label_names(estimator: Any) -> None:
    """Names of labels are preserved, and `score` matches labels by name and rejects other names."""
    X, ranks = features(), rankings("missing")
    named = {"graphs with names": PreferenceGraphs.from_rankings(ranks, labels=NAMES)} | frames(ranks)
    for what, y in named.items():
        model = fitted(estimator, X, y, what)
        expect(list(model.labels_) == NAMES, f"labels_ must be the names in {what}, not {model.labels_!r}")
    shuffled = PreferenceGraphs.from_rankings(ranks[:, ::-1], labels=NAMES[::-1])
    expect(
        abs(model.score(X, shuffled) - model.score(X, ranks)) < 1e-12,
        "score must match the labels of y with labels_ by name, in any order",
    )
    other = PreferenceGraphs.from_rankings(ranks, labels=[*NAMES[:-1], "another label"])
    expect(
        isinstance(raises(model.score, X, other), ValueError),
        "score must raise ValueError if y has other labels than in fit",
    )
    model = fitted(estimator, X, ranks, "ranks without names")
    expect(list(model.labels_) == list(range(N_LABELS)), "labels_ must count from 0 if labels have no names")


@clause
def check_weights(estimator: Any) -> None:
    """A weight is equivalent to repeating a row; rows of weight 0 have no effect."""
    X = features()
    accepted = "sample_weight" in inspect.signature(estimator.fit).parameters
    expect(accepted, "fit must have the parameter sample_weight")
    for bad, what in ((-np.ones(N_SAMPLES), "negative weights"), (np.ones(N_SAMPLES - 1), "a weight too few")):
        error = raises(clone(estimator).fit, X, rankings(), sample_weight=bad)
        expect(isinstance(error, ValueError), f"fit must raise ValueError for {what}, not {error!r}")
    if not is_deterministic(estimator):
        return
    weight = np.random.default_rng(5).integers(0, 4, N_SAMPLES)
    rows = np.repeat(np.arange(N_SAMPLES), weight)
    extreme = np.where(weight[:, np.newaxis] > 0, X, 1000 * X)
    for what, y in (("ranks with missing labels", rankings("missing")), ("graphs of pairs", battles())):
        weighted = fitted(estimator, extreme, y, f"{what} with weights", sample_weight=weight)
        repeated = fitted(estimator, X[rows], y[rows], what)
        expect(
            agree(weighted.decision_function(X), repeated.decision_function(X)),
            f"it must learn the same from a row of weight 2 as from the row twice, but does not for {what}",
        )


@clause
def check_row_order(estimator: Any) -> None:
    """The order of the rows changes neither the model nor the prediction for a row."""
    if not is_deterministic(estimator):
        return
    X = features()
    order = np.random.default_rng(7).permutation(N_SAMPLES)
    for what, y in (("ranks with missing labels", rankings("missing")), ("graphs of pairs", battles())):
        model = fitted(estimator, X, y, what)
        scores = model.decision_function(X)
        for rows in (order, order[:7]):
            expect(
                agree(scores[rows], model.decision_function(X[rows])),
                "the prediction for a row must not depend on the other rows of X",
            )
        shuffled = fitted(estimator, X[order], y[order], what)
        expect(
            agree(scores, shuffled.decision_function(X)),
            f"it must learn the same from rows in any order, but does not for {what}; if it draws random numbers "
            "or goes through the rows one by one, set the tag non_deterministic",
        )


@clause
def check_random_state(estimator: Any) -> None:
    """An integer `random_state` makes fits reproducible."""
    if "random_state" not in estimator.get_params():
        return
    X, y = features(), rankings("missing")
    first, second = (
        fitted(clone(estimator).set_params(random_state=3), X, y, "ranks with missing labels").decision_function(X)
        for _ in range(2)
    )
    expect(np.array_equal(first, second), "two fits with random_state=3 must give the same scores")


@clause
def check_sparse(estimator: Any) -> None:
    """Sparse features give the same results as dense ones, if the tags allow them."""
    if not get_tags(estimator).input_tags.sparse:
        return
    X, y = features(), rankings("missing")
    X[X < 1] = 0
    expected = fitted(estimator, X, y, "dense features").decision_function(X)
    given = {form.__name__: form(X) for form in (sparse.csr_array, sparse.csc_array, sparse.csr_matrix)}
    given["csr_array with duplicate entries"] = halves = in_halves(X)
    for name, matrix in given.items():
        scores = fitted(estimator, matrix, y, f"a {name} of features").decision_function(matrix)
        expect(
            not is_deterministic(estimator) or agree(expected, scores),
            f"it must learn and predict the same from a {name} as from an array",
        )
    expect(halves.nnz == 2 * np.count_nonzero(X), "it must not sum the duplicate entries of X in place")


@clause
def check_score(estimator: Any) -> None:
    """``score`` is the mean tau over the observed pairs, also in cross-validation."""
    X = features()
    weight = np.random.default_rng(3).integers(0, 3, N_SAMPLES)
    for what, y in (("ranks with missing labels", rankings("missing")), ("graphs of pairs", battles())):
        model = fitted(estimator, X, y, what)
        for weights in (None, weight):
            expect(
                np.isclose(
                    model.score(X, y, sample_weight=weights), kendall_tau(y, model.predict(X), sample_weight=weights)
                ),
                f"score must be labelrank.metrics.kendall_tau of the predictions for {what}",
            )
        with quiet():
            scores = cross_val_score(estimator, X, y, cv=3, error_score="raise")
        expect(np.isfinite(scores).all(), f"cross_val_score must give finite scores on {what}")


@clause
def check_pairwise_proba(estimator: Any) -> None:
    """Probabilities of pairs add up to 1; confidence is one number in [0, 1] per instance."""
    X = features()
    for what, y in supervision().items():
        model = fitted(estimator, X, y, what)
        if hasattr(model, "pairwise_proba"):
            proba = model.pairwise_proba(X)
            shape = (N_SAMPLES, N_LABELS, N_LABELS)
            expect(proba.shape == shape, f"pairwise_proba must have shape {shape}, not {proba.shape}")
            expect(
                np.allclose(proba + proba.transpose(0, 2, 1), 1) and (proba >= 0).all() and (proba <= 1).all(),
                "pairwise_proba: P(i before j) and P(j before i) must be in [0, 1] and add up to 1",
            )
            diagonal = proba[:, range(N_LABELS), range(N_LABELS)]
            expect((diagonal == 0.5).all(), "pairwise_proba of a label with itself must be 1/2")
        if hasattr(model, "confidence"):
            confidence = model.confidence(X)
            expect(
                confidence.shape == (N_SAMPLES,) and (confidence >= 0).all() and (confidence <= 1).all(),
                "confidence must be one number in [0, 1] per instance",
            )


CHECKS = (
    check_supervision,
    check_small_problems,
    check_label_names,
    check_weights,
    check_row_order,
    check_random_state,
    check_sparse,
    check_score,
    check_pairwise_proba,
)
