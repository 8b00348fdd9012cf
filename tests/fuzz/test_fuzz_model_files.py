"""A short round of the fuzzer of model files."""

import pytest

pytest.importorskip("skops")

from fuzz import fuzz_model_files
from fuzz.runner import run


def test_short_round():
    failures = run(fuzz_model_files.check, cases=200, seed=0)
    assert not failures, failures[0]
