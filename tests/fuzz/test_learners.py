"""A short round of the fuzzer of the learners."""

import pytest
from fuzz.fuzz_learners import LEARNERS, run


@pytest.mark.parametrize("name", LEARNERS)
def test_a_short_round(name):
    for case in range(20):
        run(name, case, 0)
