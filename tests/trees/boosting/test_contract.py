"""The contract of rankers, with and without threads and random numbers."""

from __future__ import annotations

import pytest

from labelrank import GradientBoostingRanker
from labelrank.testing import ranker_checks

RANKERS = [
    GradientBoostingRanker(max_iter=5, min_samples_leaf=3),
    GradientBoostingRanker(max_iter=4, subsample=0.7, max_features=0.5, early_stopping=True, n_jobs=2, random_state=0),
]


@pytest.mark.parametrize("check", ranker_checks(), ids=lambda check: check.__name__)
@pytest.mark.parametrize("ranker", RANKERS, ids=["exact", "random"])
def test_contract(ranker, check):
    check(ranker)
