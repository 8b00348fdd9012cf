"""The list of all rankers."""

import inspect

import labelrank
from labelrank import BaseRanker, RankerMixin, all_rankers


def test_only_rankers_of_another_kind_are_left_out():
    exported = {name: getattr(labelrank, name) for name in labelrank.__all__}
    rankers = {
        name: found
        for name, found in exported.items()
        if inspect.isclass(found) and issubclass(found, RankerMixin) and found not in (BaseRanker, RankerMixin)
    }
    others = {"AutoRanker", "CalibratedRanker", "ConformalRanker", "PairwiseCalibrator"}
    assert all_rankers() == {name: found for name, found in rankers.items() if name not in others}
    assert others < set(rankers)
