from __future__ import annotations

import numpy as np
import pytest

from labelrank import PreferenceGraphs
from labelrank.datasets import make_pairwise_battles


def edges(graphs):
    instance, better, worse = graphs.to_edges()[:3]
    return np.asarray(instance), np.asarray(better), np.asarray(worse)


def test_every_instance_has_its_battles_between_different_pairs():
    X, y = make_pairwise_battles(40, 5, n_features=3, n_battles=7, random_state=0)
    assert X.shape == (40, 3)
    assert isinstance(y, PreferenceGraphs)
    assert y.shape == (40, 5)
    instance, better, worse = edges(y)
    np.testing.assert_array_equal(np.bincount(instance), np.full(40, 7))
    pairs = set(zip(instance, np.minimum(better, worse), np.maximum(better, worse), strict=True))
    assert len(pairs) == 280
    assert (better != worse).all()


def test_number_of_battles_may_vary_down_to_none():
    _, y = make_pairwise_battles(300, 4, n_battles=(0, 6), random_state=0)
    assert set(np.bincount(edges(y)[0], minlength=300)) == set(range(7))
    _, y = make_pairwise_battles(3, 2, n_battles=0, random_state=0)
    assert y.shape == (3, 2)
    assert y.n_edges == 0


def test_all_pairs_are_drawn_equally_often():
    _, y = make_pairwise_battles(6000, 4, n_battles=2, concentration=0.0, random_state=0)
    _, better, worse = edges(y)
    counts = np.bincount(np.minimum(better, worse) * 4 + np.maximum(better, worse), minlength=16)
    counts = counts[counts > 0]
    assert len(counts) == 6
    np.testing.assert_allclose(counts / counts.sum(), 1 / 6, atol=0.012)


def test_bradley_terry_outcomes():
    _, y, u = make_pairwise_battles(20_000, 4, n_battles=6, concentration=1.5, return_utilities=True, random_state=0)
    instance, better, worse = edges(y)
    first, second = np.minimum(better, worse), np.maximum(better, worse)
    probability = 1 / (1 + np.exp(-1.5 * (u[instance, first] - u[instance, second])))
    wins = better == first
    for low in (0.0, 0.25, 0.5, 0.75):
        rows = (probability >= low) & (probability < low + 0.25)
        assert wins[rows].mean() == pytest.approx(probability[rows].mean(), abs=0.015)


def test_cycles_occur():
    _, y = make_pairwise_battles(200, 3, n_battles=3, concentration=0.0, random_state=0)
    instance, better, _ = edges(y)
    wins = np.zeros((200, 3), dtype=int)
    np.add.at(wins, (instance, better), 1)
    assert (wins == 1).all(axis=1).mean() == pytest.approx(0.25, abs=0.1)  # 2 of 8 tournaments are cyclic


def test_many_labels():  # more keys than are drawn at once
    _, y = make_pairwise_battles(50, 400, n_battles=(1, 4), random_state=0)
    counts = np.bincount(edges(y)[0], minlength=50)
    assert counts.min() >= 1
    assert counts.max() <= 4
    assert len(y) == 50


def test_reproducible():
    a, b, c = (make_pairwise_battles(20, 5, random_state=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(a[0], b[0])
    assert a[1] == b[1]
    assert a[1] != c[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_labels": 1}, "'n_labels' parameter of make_pairwise_battles must be"),
        ({"n_labels": 3, "n_battles": 4}, "more than the 3 different pairs"),
        ({"n_battles": (3, 1)}, "in this order"),
        ({"n_battles": (1, 2, 3)}, r"\(fewest, most\)"),
        ({"n_battles": (1, 2.5)}, "n_battles must be an integer or"),
        ({"n_battles": -1}, "'n_battles' parameter of make_pairwise_battles must be"),
        ({"concentration": -1}, "'concentration' parameter of"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_pairwise_battles(**arguments)
