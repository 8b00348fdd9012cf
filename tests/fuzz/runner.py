"""Runs of a fuzzer: many seeded cases, each of which can be repeated by its number.

A fuzzer is a function ``check(rng)`` that draws a case from a generator and raises if something is wrong.
"""

import argparse
import time
import traceback
import warnings

import numpy as np


def run(check, cases, seed, first=0):
    """Number and traceback of each case that fails, out of `cases` beginning with number `first`."""
    failures = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in range(first, first + cases):
            try:
                check(np.random.default_rng([seed, case]))
            except Exception:
                failures.append((case, traceback.format_exc()))
    return failures


def main(check, description):
    """Command line of a fuzzer; exits with 1 if a case fails."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--cases", type=int, default=1000, help="number of cases (default: 1000)")
    parser.add_argument("--seed", type=int, default=0, help="seed (default: 0)")
    parser.add_argument("--first", type=int, default=0, help="number of the first case, to repeat one (default: 0)")
    arguments = parser.parse_args()
    start = time.monotonic()
    failures = run(check, arguments.cases, arguments.seed, arguments.first)
    for case, text in failures[:10]:
        print(f"case {case} (--seed {arguments.seed} --first {case} --cases 1):\n{text}")
    print(f"{arguments.cases} cases, {len(failures)} failures, {time.monotonic() - start:.0f} s")
    raise SystemExit(bool(failures))
