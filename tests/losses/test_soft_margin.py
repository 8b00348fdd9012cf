"""The soft-margin loss against its definition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracles import soft_projection as oracle
from rankers.soft_projections import NAMES, literal_problem

from labelrank import PreferenceGraphs, as_graphs
from labelrank.losses import SoftMarginLoss


def observations(rng, shape=(6, 5)):
    y = rng.integers(1, 4, shape).astype(float)
    y[rng.random(y.shape) < 0.2] = np.nan
    return as_graphs(y)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("weighting", ["mean", "sum"])
def test_value_equals_the_definition(name, weighting):
    rng = np.random.default_rng(0)
    graphs, weight = observations(rng), rng.random(6)
    scores, targets = rng.normal(size=(2, *graphs.shape))
    gaps = -graphs.levels.astype(float)
    for options, gamma in (({}, gaps), ({"margin": "unit"}, None), ({"targets": targets}, targets)):
        loss = SoftMarginLoss(graphs, name, weight, weighting=weighting, **options)
        problem = literal_problem(graphs, name, 1.0, weighting, gamma, weight)
        expected = oracle.objective(scores.T, np.eye(6), *problem) - 0.5 * (scores**2).sum()
        assert loss.value(scores) == pytest.approx(expected)
        assert loss.value(scores[2:4], slice(2, 4)) + loss.value(scores[:2], slice(0, 2)) + loss.value(
            scores[4:], slice(4, None)
        ) == pytest.approx(expected)


@pytest.mark.parametrize("name", NAMES)
def test_gradient_is_the_slope_where_there_is_one(name):
    rng = np.random.default_rng(1)
    graphs = observations(rng)
    loss = SoftMarginLoss(graphs, name, rng.random(6))
    scores, direction = rng.normal(size=(2, *graphs.shape))
    before, gradient = scores.copy(), np.full(graphs.shape, np.nan)
    value = loss.value_and_gradient(scores, gradient)
    assert_array_equal(scores, before)
    assert value == loss.value(scores)
    slope = (loss.value(scores + 1e-7 * direction) - loss.value(scores - 1e-7 * direction)) / 2e-7
    assert_allclose((gradient * direction).sum(), slope, rtol=1e-6)
    part = np.empty((2, 5))
    loss.value_and_gradient(scores[3:5], part, slice(3, 5))
    assert_array_equal(part, gradient[3:5])


def test_subgradient_at_kinks():
    """No scores are below the plane that a value and its subgradient define."""
    rng = np.random.default_rng(2)
    graphs = observations(rng)
    loss = SoftMarginLoss(graphs)
    at, gradient = rng.integers(-2, 3, graphs.shape).astype(float), np.empty(graphs.shape)
    value = loss.value_and_gradient(at, gradient)
    for _ in range(200):
        scores = at + rng.normal(size=at.shape) * rng.choice([1e-3, 0.1, 3.0])
        assert loss.value(scores) >= value + (gradient * (scores - at)).sum() - 1e-12


def test_edges_have_no_levels():
    graphs = PreferenceGraphs.from_pairs([0, 0, 0], [0, 1, 2], [1, 2, 0], n_labels=3)  # a cycle
    scores = np.array([[0.5, 0.0, 2.0]])
    assert SoftMarginLoss(graphs).value(scores) == SoftMarginLoss(graphs, "domination").value(scores) == 3.5 / 3


def test_subgraphs_must_be_complete_bipartite():
    with pytest.raises(ValueError, match="'zero_one' gives instance 1 a subgraph that is not complete bipartite"):
        SoftMarginLoss(as_graphs([[1, 2, 2], [1, 2, 3]]), "zero_one").value(np.zeros((2, 3)))
    assert SoftMarginLoss(as_graphs([[1, 2, 2]]), "zero_one").value(np.zeros((1, 3))) == 1.0
