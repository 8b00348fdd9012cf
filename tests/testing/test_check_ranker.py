"""The contract holds for every ranker of the library, and its checks find rankers that break it."""

import pytest
from sklearn.base import clone
from testing.mutants import MUTANTS, Ridge

from labelrank import DummyRanker, all_rankers
from labelrank.testing import check_ranker, ranker_checks

# Smaller than the defaults: the checks fit a hundred times, on 60 rows.
SMALL = {
    "ConstraintClassificationRanker": {"random_state": 0},
    "ExtraTreesRanker": {"n_estimators": 5, "random_state": 0},
    "GradientBoostingRanker": {"max_iter": 10},
    "KNeighborsRanker": {"n_neighbors": 5},
    "RandomForestRanker": {"n_estimators": 5, "random_state": 0},
    "SoftProjectionRanker": {"random_state": 0},
}
RANKERS = [ranker(**SMALL.get(name, {})) for name, ranker in all_rankers().items() if name != "DummyRanker"]
RANKERS += [DummyRanker(strategy, random_state=0) for strategy in ("borda", "copeland", "kemeny", "random")]

CHECKS = {check.__name__: check for check in ranker_checks()}


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("ranker", RANKERS, ids=str)
def test_every_ranker_keeps_the_contract(ranker, check):
    CHECKS[check](ranker)


@pytest.mark.parametrize("ranker", RANKERS, ids=str)
def test_every_ranker_has_callbacks_and_parameter_constraints(ranker):
    assert hasattr(ranker, "set_callbacks")
    assert set(ranker.get_params(deep=False)) <= set(ranker._parameter_constraints)


def test_a_ranker_of_others_keeps_it():
    check_ranker(Ridge())


@pytest.mark.parametrize(("mutant", "check", "message"), MUTANTS, ids=lambda value: getattr(value, "__name__", ""))
def test_the_checks_find_what_is_broken(mutant, check, message):
    with pytest.raises(AssertionError, match=message):
        CHECKS[check](mutant())
    with pytest.raises(AssertionError):
        check_ranker(mutant())


def test_every_check_finds_something():
    assert {check for _, check, _ in MUTANTS} == set(CHECKS)


def test_the_estimator_is_not_touched():
    ranker = Ridge(alpha=0.5)
    check_ranker(ranker)
    assert vars(ranker) == vars(clone(ranker))
