"""Kendall's tau over a rank matrix against a loop over SciPy and against one bare NumPy pass.

Claims: at least 50 times faster than a loop over ``scipy.stats.kendalltau``, and within 10 times of ``A * B`` over the
two matrices, validation included. Ratios are medians of runs that alternate in one process. Exit status 1 if a claim
does not hold (except with --quick, whose few runs are not conclusive).

    python benchmarks/bench_metrics.py [--quick]
"""

import argparse
import sys
import time

import numpy as np
from scipy.stats import kendalltau

from labelrank import ranks_from_scores
from labelrank.metrics import disagreement_error, domination_error, kendall_tau


def seconds(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    quick = parser.parse_args().quick
    n, k = 100_000, 10
    rng = np.random.default_rng(0)
    true, pred = ranks_from_scores(rng.random((n, k))), ranks_from_scores(rng.random((n, k)))
    incomplete = np.where(rng.random((n, k)) < 0.3, np.nan, true)
    sample = slice(0, 300 if quick else 2000)

    def scipy_loop():
        return np.mean([kendalltau(t, p).statistic for t, p in zip(true[sample], pred[sample], strict=True)])

    np.testing.assert_allclose(kendall_tau(true[sample], pred[sample]), scipy_loop())
    ours, with_nan, bare, loop = [], [], [], []
    for _ in range(5 if quick else 25):
        ours.append(seconds(lambda: kendall_tau(true, pred)))
        bare.append(seconds(lambda: true * pred))
        with_nan.append(seconds(lambda: kendall_tau(incomplete, pred)))
        loop.append(seconds(scipy_loop) * n / len(true[sample]) if len(loop) < 3 else loop[-1])
    tau, product, missing, scipy_time = (np.median(x) for x in (ours, bare, with_nan, loop))
    print(f"kendall_tau, {n} x {k} complete rankings: {1e3 * tau:.1f} ms; 30 % missing: {1e3 * missing:.1f} ms")
    print(f"  bare A * B: {1e3 * product:.1f} ms, ratio {tau / product:.1f} (claim: at most 10)")
    print(f"  loop over scipy.stats.kendalltau: {scipy_time:.1f} s, {scipy_time / tau:.0f} times slower (claim: 50)")
    for error in (disagreement_error, domination_error):
        error(true, pred)
        print(f"{error.__name__}: {1e3 * np.median([seconds(lambda e=error: e(true, pred)) for _ in range(3)]):.0f} ms")
    return 0 if quick or (tau / product <= 10 and scipy_time / tau >= 50) else 1


if __name__ == "__main__":
    sys.exit(main())
