"""Ensemble weights, learned from the scores of rankers on held-out rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from labelrank._arrays import FloatArray, IntArray
from labelrank.rankers import GraphRanker
from labelrank.supervision import PreferenceGraphs

Score = Callable[[FloatArray, IntArray], float]  # score(scores of rows, indices of rows); larger is better
_ROUNDS = 25  # number of models in a greedy ensemble, including repetitions
_CLEARLY = 3.0  # standard errors by which another method must be better than the default


class Choice(NamedTuple):
    """Weights of the models, and the method that found them."""

    weights: FloatArray  # of shape (n_models,)
    method: str  # "single", "greedy", "stacking" or "mean"
    results: FloatArray  # on each fold, with weights chosen on the other folds


def comparable(scores: FloatArray) -> FloatArray:
    """Standardize the scores in each row to a mean of 0 and a variance of 1; constant rows become 0.

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
    centered, spread = scores - scores.mean(axis=1, keepdims=True), spread_of(scores)[:, np.newaxis]
    return np.divide(centered, spread, out=np.zeros_like(centered), where=spread > 0)


def spread_of(scores: FloatArray) -> FloatArray:
    """Standard deviation of the scores in each row, 0 if they differ by rounding only."""
    spread = scores.std(axis=1)
    largest = np.abs(scores).max(axis=1, initial=0.0)
    return np.where(spread > 1e-12 * largest, spread, 0.0)


def greedy_weights(scores: FloatArray, score: Callable[[FloatArray], float], rounds: int = _ROUNDS) -> FloatArray:
    """Weights by ensemble selection with replacement (Caruana et al., 2004).

    Each round adds the model that gives the best score of the summed scores; a model can be added repeatedly. The
    ensemble of the best round is returned, the smallest one in case of ties.

    Parameters
    ----------
    scores : ndarray of shape (n_models, n_samples, n_labels)
        Standardized scores of held-out rows.
    score : callable
        Objective to maximize, a function of scores of the rows.
    rounds : int, default=25
        Largest number of models in the ensemble.

    Returns
    -------
    ndarray of shape (n_models,)
        Weights that sum to 1.

    Examples
    --------
    Two models, each correct on one of two rows:

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
    """Weights by log-linear ranking with the models as base rankers, which maximize the likelihood of observed pairs.

    Models with negative weights are removed, and the weights of the others are recomputed.

    Parameters
    ----------
    scores : ndarray of shape (n_models, n_samples, n_labels)
        Standardized scores of held-out rows.
    graphs : PreferenceGraphs of shape (n_samples, n_labels)
        Observed preferences.
    weight : ndarray of shape (n_samples,)
        Weights of the rows.

    Returns
    -------
    ndarray of shape (n_models,)
        Scaled such that differences of weighted scores are log odds of pairs. All weights are 0 if no model is better
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
    """Choose between a default method, greedy selection and the single best model, each learned on all folds but one.

    The default, stacking or the mean of all models, is used unless another method is better on the held-out folds by
    three standard errors of the difference. Choosing the best mean would select by noise.

    Parameters
    ----------
    scores : ndarray of shape (n_models, n_samples, n_labels)
        Standardized scores of held-out rows.
    folds : sequence of ndarray
        Rows of each fold.
    score : callable
        Objective to maximize, a function of scores of some rows and the indices of these rows.
    graphs : PreferenceGraphs of shape (n_samples, n_labels)
        Observed preferences.
    weight : ndarray of shape (n_samples,)
        Weights of the rows.
    default : {"stacking", "mean"}, default="stacking"
        The default method.
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
