"""What would need more memory than there is raises before it starts, and says what to use instead."""

import numpy as np
import pytest

from labelrank import (
    DecisionTreeRanker,
    DummyRanker,
    GradientBoostingRanker,
    KNeighborsRanker,
    LogLinearRanker,
    PairwiseRanker,
    PreferenceGraphs,
    SoftProjectionRanker,
)
from labelrank._memory import available_memory, require_memory
from labelrank.decompositions import get_decomposition
from labelrank.models.gram import Kernel
from labelrank.pairs import pair_counts, pair_signs

MANY = 3_000_000  # labels or rows; their pairs need terabytes
needs = pytest.raises(
    MemoryError, match=r" needs [\d.e+]+ [TP]iB of memory, but only .*iB is available; (use|take|keep) "
)


@pytest.fixture(scope="module")
def ranking():
    return np.arange(1.0, MANY + 1)[np.newaxis]


def test_what_is_at_hand():
    free = available_memory()
    assert 0 < free < np.inf
    require_memory(0.5 * free, "half of it", "")
    with pytest.raises(MemoryError, match=r"twice as much needs .*iB of memory, but only .*iB is available; buy some"):
        require_memory(2 * free + 2**28, "twice as much", "buy some")


@pytest.mark.parametrize("count", [pair_counts, pair_signs, lambda y: PreferenceGraphs.from_rankings(y).to_edges()])
def test_pairs(count, ranking):
    with needs:
        count(ranking)


@pytest.mark.parametrize("ranker", [DummyRanker(), PairwiseRanker(), SoftProjectionRanker()], ids=str)
def test_fits_quadratic_in_labels(ranker, ranking):
    with needs:
        ranker.fit([[0.0]], ranking)
    assert not hasattr(ranker, "labels_")


def test_decompositions_into_pairs(ranking):
    with needs:
        get_decomposition("disagreement").cut(PreferenceGraphs.from_rankings(ranking))


def test_probabilities_of_pairs():
    y = [np.arange(1000) + 1, np.arange(1000)[::-1] + 1]
    with needs:
        DummyRanker().fit([[0.0], [1.0]], y).pairwise_proba(np.zeros((MANY, 1)))


@pytest.mark.parametrize(
    "ranker",
    [DecisionTreeRanker(), KNeighborsRanker(1), LogLinearRanker(tol=1e9), GradientBoostingRanker(max_iter=1)],
    ids=str,
)
def test_blocks_that_are_joined_need_twice_the_memory_of_the_probabilities(ranker, monkeypatch):
    k, n = 1000, 20
    y = [np.arange(k) + 1, np.arange(k)[::-1] + 1]
    ranker.fit([[0.0], [1.0]], y)
    monkeypatch.setattr("labelrank._memory.available_memory", lambda: 1.5 * 8 * n * k**2)
    with pytest.raises(MemoryError, match="pairwise_proba of 20 instances and the pairs of 1000 labels needs 305 MiB"):
        ranker.pairwise_proba(np.zeros((n, 1)))


def test_kernel_matrices():
    with needs:
        Kernel("rbf").gram(np.zeros((MANY, 1)))
