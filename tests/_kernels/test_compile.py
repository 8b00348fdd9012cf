"""Kernels are cached where a cache can be written, and work everywhere else with one warning."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import labelrank

MODULE = """
from labelrank._kernels.compile import kernel

@kernel
def double(x):
    return 2 * x

@kernel(fastmath=True)
def quadruple(x):
    return double(double(x))
"""

RUN = """
import shutil, sys, warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import kernels
    {before}
    assert kernels.quadruple(2.0) == 8.0
    assert kernels.quadruple(2) == 8
messages = [str(warning.message) for warning in caught if issubclass(warning.category, UserWarning)]
print(sum(kernels.quadruple.stats.cache_hits.values()), len(messages), *messages)
"""


@pytest.fixture
def run(tmp_path):
    """Run the module in a new process; returns the number of cache hits and the warnings."""
    (tmp_path / "kernels.py").write_text(MODULE)

    def run(before="", **environment):
        path = os.pathsep.join([str(tmp_path), str(Path(labelrank.__file__).parents[1])])
        inherited = {k: v for k, v in os.environ.items() if k not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
        done = subprocess.run(
            [sys.executable, "-B", "-c", RUN.format(before=before)],
            env={**inherited, "PYTHONPATH": path, **environment},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        hits, n_warnings, *messages = done.stdout.split(maxsplit=2)
        return int(hits), int(n_warnings), "".join(messages)

    return run


def test_the_cache_is_written_and_read(run, tmp_path):
    assert run() == (0, 0, "")
    assert list((tmp_path / "__pycache__").glob("kernels.quadruple*.nbc"))
    assert run() == (2, 0, "")
    folder = tmp_path / "elsewhere"
    assert run(NUMBA_CACHE_DIR=str(folder)) == (0, 0, "")
    assert list(folder.rglob("kernels.quadruple*.nbc"))


def test_without_a_folder_for_the_cache(run, tmp_path):
    (tmp_path / "__pycache__").write_text("a file where the folder should be")
    hits, n_warnings, message = run(HOME=os.devnull)
    assert (hits, n_warnings) == (0, 1)
    assert "cannot be cached (no cache folder can be written)" in message
    assert "NUMBA_CACHE_DIR" in message


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        ("import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))", "File too large"),
        ("shutil.rmtree(sys.argv[1]); open(sys.argv[1], 'w').close()", "Not a directory"),
    ],
    ids=["disk full", "folder lost"],
)
@pytest.mark.skipif(os.name == "nt", reason="limits the size of files as POSIX does")
def test_when_the_cache_fails_later(run, tmp_path, before, reason):
    folder = tmp_path / "cache"
    hits, n_warnings, message = run(before.replace("sys.argv[1]", repr(str(folder))), NUMBA_CACHE_DIR=str(folder))
    assert (hits, n_warnings) == (0, 1)
    assert reason in message
    assert "NUMBA_CACHE_DIR" in message
