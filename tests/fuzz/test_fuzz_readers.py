"""A short round of the fuzzer of the readers."""

from fuzz import fuzz_readers
from fuzz.runner import run


def test_short_round():
    failures = run(fuzz_readers.check, cases=200, seed=0)
    assert not failures, failures[0]
