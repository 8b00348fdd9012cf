"""What all tests share: the hypothesis profile, the number of threads and the folder of downloaded data."""

import os
import signal
from pathlib import Path

# Two processes of pytest share the cores; threads of BLAS and OpenMP that wait for one another take most of their time.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# A first call may compile or import for seconds, so no deadline. The same examples are tried every time, so that a run
# says something about a change; `pytest --hypothesis-profile=explore` looks for new ones.
for name, repeatable in (("labelrank", True), ("explore", False)):
    settings.register_profile(
        name,
        deadline=None,
        max_examples=60,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
        derandomize=repeatable,
    )
settings.load_profile("labelrank")

# Jobs in the background of a shell ignore control-C, and so would the tests that send it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def data_dir():
    """The folder named by LABELRANK_DATA; the test is skipped where there is none."""
    folder = os.environ.get("LABELRANK_DATA")
    if not folder:
        pytest.skip("LABELRANK_DATA is not set")
    return Path(folder)


def pytest_runtest_setup(item):
    """Give estimators with ``random_state=None`` the same numbers in every run, whatever ran before."""
    np.random.seed(0)  # noqa: NPY002
