"""Ensembles of rankers, chosen by the scores that they gave to rows which they had not learned from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from labelrank._arrays import FloatArray, IntArray
from labelrank.rankers import GraphRanker
from labelrank.supervision import PreferenceGraphs

Score = Callable[[FloatArray, IntArray], float]  # of scores of some rows, and these rows; larger is better
_ROUNDS = 25  # models of a greedy ensemble, repeats included
_CLEARLY = 3.0  # standard errors by which another method must be better than the default


class Choice(NamedTuple):
    """Weights of the models, and how they were found."""

    weights: FloatArray  # of shape (n_models,)
    method: str  # "single", "greedy", "stacking" or "mean"
    results: FloatArray  # on each fold, with weights chosen on the other folds


def comparable(scores: FloatArray) -> FloatArray:
    """Scores of models on a common scale: with a mean of 0 and a variance of 1 in each row, or 0 if all are equal.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_labels)
        Scores of a model.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank.auto.ensemble import comparable
    >>> comparable(np.array([[10.0, 30.0], [0.2, 0.1], [7.0, 7.0]]))
    array([[-1.,  1.],
           [ 1., -1.],
           [ 0.,  0.]])
    """
    centered = scores - scores.mean(axis=1, keepdims=True)
    spread = np.sqrt(np.square(centered).mean(axis=1, keepdims=True))
    known = spread > 1e-12 * np.abs(scores).max(axis=1, keepdims=True, initial=0.0)
    return np.divide(centered, spread, out=np.zeros_like(centered), where=known)


def greedy_weights(scores: FloatArray, score: Callable[[FloatArray], float], rounds: int = _ROUNDS) -> FloatArray:
    """Ensemble selection with replacement (Caruana et al., 2004): shares of the models in the best ensemble.

    Starting from the best model, each round adds the model, chosen before or not, with which the sum of the scores is
    best. The ensemble of the round with the best score is taken, the smallest of them if several have it.

    Parameters
    ----------
    scores : ndarray of shape (n_models, n_samples, n_labels)
        Comparable scores of rows that the models have not learned from.
    score : callable
        What is maximized, a function of scores of the rows.
    rounds : int, default=25
        Largest number of models in the ensemble.

    Returns
    -------
    ndarray of shape (n_models,)
        Weights that sum to 1.

    Examples
    --------
    Two models that are right about one of two rows each:

    >>> import numpy as np
    >>> from labelrank.auto.ensemble import greedy_weights
    >>> scores = np.array([[[3.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [2.0, 0.0]]])
    >>> greedy_weights(scores, lambda sums: np.mean(sums[:, 0] > sums[:, 1]))
    array([0.5, 0.5])
    """
    counts, total = np.zeros(len(scores)), np.zeros(scores.shape[1:])
    best, best_counts = -np.inf, counts
    for _ in range(rounds):
        found = [score(total + each) for each in scores]
        chosen = int(np.nanargmax(found)) if not np.isnan(found).all() else 0
        counts[chosen] += 1
        total += scores[chosen]
        if found[chosen] > best or not best_counts.any():
            best, best_counts = found[chosen], counts.copy()
    return best_counts / best_counts.sum()


def stacked_weights(scores: FloatArray, graphs: PreferenceGraphs, weight: FloatArray) -> FloatArray:
    """Weights by log-linear ranking with the models as base rankers: the likelihood of the observed pairs is largest.

    Models with negative weights are left out, and the others are weighted anew.

    Parameters
    ----------
    scores : ndarray of shape (n_models, n_samples, n_labels)
        Comparable scores of rows that the models have not learned from.
    graphs : PreferenceGraphs of shape (n_samples, n_labels)
        What was observed.
    weight : ndarray of shape (n_samples,)
        Weights of the rows.

    Returns
    -------
    ndarray of shape (n_models,)
        A difference of weighted scores is the logarithm of the odds of a pair. All weights are 0 if no model is better
        than chance.
    """
    stack = GraphRanker(decomposition="disagreement", model="label_features", on_empty="ignore")
    weights, kept = np.zeros(len(scores)), np.arange(len(scores))
    while len(kept):
        coef = np.asarray(stack.fit(np.moveaxis(scores[kept], 0, 2), graphs, weight).coef_)
        if (coef >= 0).all():
            weights[kept] = coef
            break
        kept = kept[coef >= 0]
    return weights


def choose_weights(
    scores: FloatArray,
    folds: Sequence[IntArray],
    score: Score,
    graphs: PreferenceGraphs,
    weight: FloatArray,
    default: str = "stacking",
) -> Choice:
    """Choose between stacking, greedy selection and the best model alone, each learned on all folds but one.

    Stacking, or the mean of all models, is the choice unless another is better on the folds left out by three standard
    errors of the difference: a choice between methods by the best mean would be one more selection by noise.

    Parameters
    ----------
    scores : ndarray of shape (n_models, n_samples, n_labels)
        Comparable scores of rows that the models have not learned from.
    folds : sequence of ndarray
        Rows of each fold.
    score : callable
        Score of the scores of some rows, given with their indices.
    graphs : PreferenceGraphs of shape (n_samples, n_labels)
        What was observed.
    weight : ndarray of shape (n_samples,)
        Weights of the rows.
    default : {"stacking", "mean"}, default="stacking"
        What the others are compared with.
    """
    everything = np.sort(np.concatenate(folds))

    def weights_of(method: str, rows: IntArray) -> FloatArray:
        part = scores[:, rows]
        if method == "mean":
            return np.full(len(scores), 1 / len(scores))
        if method == "stacking":
            weights = stacked_weights(part, graphs[rows], weight[rows])
            if weights.any():
                return weights
        return greedy_weights(part, lambda sums: score(sums, rows), _ROUNDS if method == "greedy" else 1)

    def result(method: str, fold: IntArray) -> float:
        weights = weights_of(method, np.setdiff1d(everything, fold))
        return score(np.tensordot(weights, scores[:, fold], 1), fold)

    if len(folds) < 2:
        weights = weights_of(default, everything)
        return Choice(weights, default, np.array([score(np.tensordot(weights, scores, 1), everything)]))
    methods = (default, "greedy", "single")
    results = {method: np.array([result(method, fold) for fold in folds]) for method in methods}
    chosen = default
    for method in methods[1:]:
        gain = results[method] - results[chosen]
        if gain.mean() > _CLEARLY * np.std(gain, ddof=1) / np.sqrt(len(gain)):
            chosen = method
    return Choice(weights_of(chosen, everything), chosen, results[chosen])
