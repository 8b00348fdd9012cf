"""Greedy selection against its definition, stacking against the likelihood, and the choice between them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from labelrank import PreferenceGraphs, ranks_from_scores
from labelrank.auto.ensemble import choose_weights, comparable, greedy_weights, stacked_weights
from labelrank.metrics import kendall_tau

RNG = np.random.default_rng(0)
TRUTH = RNG.normal(size=(60, 4))
Y = ranks_from_scores(TRUTH)


def models(*noise):
    errors = np.random.default_rng(1).normal(size=(len(noise), *Y.shape))
    return np.array([comparable(TRUTH + s * error) for s, error in zip(noise, errors, strict=True)])


def tau(scores, rows=slice(None)):
    return kendall_tau(Y[rows], ranks_from_scores(scores))


def literal_greedy(scores, score, rounds):
    """Caruana et al.: a bag of models, to which the one is added that makes the sum best."""
    bag, history = [], []
    for _ in range(rounds):
        sums = [sum((scores[j] for j in bag), scores[i]) for i in range(len(scores))]
        results = [score(s) for s in sums]
        best = next(i for i, r in enumerate(results) if r == max(results))
        bag.append(best)
        history.append((results[best], tuple(bag)))
    top = max(result for result, _ in history)
    bag = next(bag for result, bag in history if result == top)
    return np.array([bag.count(i) / len(bag) for i in range(len(scores))])


@pytest.mark.parametrize("noise", [(1, 1, 1), (0.5, 1, 3), (2, 2, 2, 2, 0.9), (5, 0.1)])
@pytest.mark.parametrize("rounds", [1, 2, 12])
def test_greedy_selection_is_that_of_the_paper(noise, rounds):
    scores = models(*noise)
    assert_allclose(greedy_weights(scores, tau, rounds), literal_greedy(scores, tau, rounds))


def test_greedy_selection_is_not_worse_than_the_best_model():
    scores = models(1, 1.2, 0.8)
    weights = greedy_weights(scores, tau)
    assert weights.sum() == pytest.approx(1)
    assert tau(np.tensordot(weights, scores, 1)) >= max(map(tau, scores))


def test_undefined_results_choose_the_first_model():
    assert_allclose(greedy_weights(models(1, 2), lambda _: np.nan), [1, 0])


def test_stacking_has_the_largest_likelihood_and_no_negative_weights():
    scores = models(0.7, 1.0, 4.0)
    scores[2] = -scores[2]
    weights = stacked_weights(scores, PreferenceGraphs.from_rankings(Y), np.ones(len(Y)))
    assert weights[2] == 0
    assert weights[0] > weights[1] > 0

    def loss(w):
        f = np.tensordot(w, scores, 1)
        better = Y[:, :, None] < Y[:, None, :]
        return np.log1p(np.exp(f[:, None, :] - f[:, :, None]))[better].sum() / 6 + 0.5 * np.sum(np.square(w))

    for step in 0.05 * np.eye(3)[:2]:
        assert loss(weights) < min(loss(weights + step), loss(weights - step))


def test_models_worse_than_chance_have_no_weight():
    assert not stacked_weights(-models(0.1), PreferenceGraphs.from_rankings(Y), np.ones(len(Y))).any()


def test_a_model_that_is_clearly_better_is_taken_alone_or_dominates():
    scores = models(0.05, 9, 9, 9)
    folds = np.array_split(np.arange(60), 5)
    choice = choose_weights(scores, folds, tau, PreferenceGraphs.from_rankings(Y), np.ones(60))
    assert choice.weights[0] > 0.8 * choice.weights.sum()
    assert choice.results.mean() > 0.9


def test_equal_models_are_combined():
    scores = models(1.5, 1.5, 1.5, 1.5)
    folds = np.array_split(np.arange(60), 5)
    choice = choose_weights(scores, folds, tau, PreferenceGraphs.from_rankings(Y), np.ones(60))
    assert choice.method != "single"
    assert choice.results.mean() > max(map(tau, scores))


def test_standardized_scores_have_the_same_order():
    scores = comparable(1e6 + 1e-3 * TRUTH)
    assert_allclose(ranks_from_scores(scores), Y)
    assert_allclose(scores.std(axis=1), 1)
    assert not comparable(np.full((2, 3), 0.1 + 0.2)).any()
