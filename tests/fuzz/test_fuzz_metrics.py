"""A short round of the fuzzer of the metrics."""

from fuzz import fuzz_metrics
from fuzz.runner import run


def test_short_round():
    failures = run(fuzz_metrics.check, cases=300, seed=0)
    assert not failures, failures[0]
