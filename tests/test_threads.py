"""Kernels in threads: results in order, and control-C that is answered while a kernel runs."""

import _thread
import threading
import time

import numpy as np
import pytest

from labelrank._kernels.compile import kernel
from labelrank._threads import in_threads


@kernel
def count_until_stopped(counts, stop):
    while not stop[0]:
        counts[0] += 1


def run_until_stopped(stop):
    counts = np.zeros(1, dtype=np.uint8)
    count_until_stopped(counts, stop)
    return counts


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_control_c(n_jobs):
    """Without an answer, this kernel would never end."""
    timer = threading.Timer(1.0, _thread.interrupt_main)
    timer.start()
    results = in_threads(lambda number, stop: number if number < 2 else run_until_stopped(stop), range(5), n_jobs)
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(KeyboardInterrupt):
        next(results)


def test_control_c_at_any_moment_leaves_no_thread():
    def work_without_end(timer):
        timer.start()
        for _ in in_threads(lambda number, stop: number, iter(int, 1), 2):
            pass

    def n_alive():
        return sum(thread.is_alive() for thread in threading.enumerate())

    delays, before = np.random.default_rng(0).uniform(0.005, 0.03, 50), n_alive()
    for delay in delays:
        timer = threading.Timer(delay, _thread.interrupt_main)
        with pytest.raises(KeyboardInterrupt):
            work_without_end(timer)
        timer.join()
    end = time.monotonic() + 10  # a thread that was interrupted while it started is not waited for; it ends by itself
    while n_alive() > before and time.monotonic() < end:
        time.sleep(0.01)
    assert n_alive() == before


def test_what_is_not_wanted_is_stopped():
    results = in_threads(lambda number, stop: number if number < 1 else run_until_stopped(stop), range(5), 2)
    assert next(results) == 0
    results.close()


def test_errors_are_raised():
    with pytest.raises(ZeroDivisionError):
        list(in_threads(lambda number, stop: 1 // number, [1, 0, 1]))
