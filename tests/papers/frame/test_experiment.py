"""Experiments: each cell computed once, kept on disk, and the same in parallel."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from papers.frame import Experiment, Outcome, Report, ResultCache, fold_of, run_cells

ROOT = Path(__file__).parents[3]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
CELLS = [{"experiment": "demo", "version": 1, "learner": {"power": p}, "fold": f} for p in (1, 2) for f in range(3)]


def power(cell, problem):
    """The cell's numbers; leaves a letter for each call."""
    X, calls = problem
    if calls is not None:
        with open(Path(calls) / "calls", "a") as file:
            file.write("x")
    return {"value": float((X[cell["fold"] :] ** cell["learner"]["power"]).sum()), "who": "ü"}


def n_calls(folder):
    path = Path(folder) / "calls"
    return len(path.read_text()) if path.exists() else 0


@pytest.fixture
def X():
    return np.random.RandomState(0).normal(size=(50, 30))


@pytest.fixture
def cache(tmp_path):
    return ResultCache(tmp_path / "cache")


def test_numbers_come_in_the_order_of_the_cells(X):
    assert run_cells(power, CELLS, (X, None)) == [power(cell, (X, None)) for cell in CELLS]


def test_a_cell_is_computed_once(X, cache, tmp_path):
    first = run_cells(power, CELLS[:4], (X, tmp_path), cache=cache)
    assert n_calls(tmp_path) == 4
    assert run_cells(power, CELLS, (X, tmp_path), cache=cache)[:4] == first
    assert n_calls(tmp_path) == 6
    assert run_cells(power, CELLS[::-1], (X, tmp_path), cache=ResultCache(cache.folder))[:1:-1] == first
    assert n_calls(tmp_path) == 6


@pytest.mark.parametrize("change", [{"version": 2}, {"learner": {"power": 3}}, {"fold": 7}, {"seed": 0}])
def test_a_changed_cell_is_computed_anew(X, cache, tmp_path, change):
    cell = CELLS[0]
    run_cells(power, [cell], (X, tmp_path), cache=cache)
    run_cells(power, [{**cell, **change}], (X, tmp_path), cache=cache)
    assert n_calls(tmp_path) == 2
    assert cache.path(dict(reversed(cell.items()))) == cache.path(cell)


def test_what_was_computed_before_a_failure_is_kept(X, cache, tmp_path):
    wrong = {**CELLS[2], "learner": {"power": "two"}}
    with pytest.raises(TypeError) as caught:
        run_cells(power, [*CELLS[:2], wrong, CELLS[3]], (X, tmp_path), cache=cache)
    assert "'power': 'two'" in caught.value.__notes__[-1]
    assert [cache.get(cell) is not None for cell in CELLS[:4]] == [True, True, False, False]


def test_parallel_equals_serial(cache, tmp_path):
    # In a script of its own: the functions of a test module cannot be imported by another process.
    script = tmp_path / "script.py"
    script.write_text(
        "import json, sys\nimport numpy as np\nfrom papers.frame import ResultCache, run_cells\n"
        "def dot(cell, X):\n    return {'value': float((X.T @ X)[cell['fold']].sum())}\n"
        "if __name__ == '__main__':\n"
        "    X = np.random.RandomState(0).normal(size=(500, 300))\n"  # large enough to be shared as a file
        "    cells = [{'fold': fold} for fold in range(5)]\n"
        "    serial = run_cells(dot, cells, X)\n"
        "    parallel = run_cells(dot, cells, X, cache=ResultCache(sys.argv[1]), n_jobs=2)\n"
        "    again = run_cells(None, cells, X, cache=ResultCache(sys.argv[1]), n_jobs=2)\n"
        "    print(json.dumps([serial == parallel, again == parallel]))\n"
    )
    call = [sys.executable, str(script), str(cache.folder)]
    done = subprocess.run(call, capture_output=True, text=True, check=True, env=ENVIRONMENT)
    assert json.loads(done.stdout) == [True, True]
    assert done.stderr == ""  # no progress bar in a pipe


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
def test_a_bar_on_a_terminal():
    code = "from papers.frame import run_cells; run_cells(lambda cell, problem: {}, [{}] * 3, title='demo')"
    leader, follower = pty.openpty()
    environment = {**ENVIRONMENT, "TERM": "xterm"}
    subprocess.run([sys.executable, "-c", code], stdout=follower, stderr=follower, env=environment, check=True)
    os.close(follower)
    shown = os.read(leader, 65536).decode()
    os.close(leader)
    assert "demo" in shown
    assert "3/3" in shown


def test_folds_partition_the_rows():
    for repeat in (0, 1):
        folds = [fold_of(23, n_folds=4, fold=fold, repeat=repeat, seed=5) for fold in range(4)]
        assert sorted(np.concatenate([test for _, test in folds])) == list(range(23))
        for train, test in folds:
            assert sorted([*train, *test]) == list(range(23))
    first, again, other, reseeded = (
        fold_of(23, n_folds=4, fold=1, **more)[1].tolist() for more in ({}, {}, {"repeat": 1}, {"seed": 1})
    )
    assert first == again
    assert len({tuple(rows) for rows in (first, other, reseeded)}) == 3


# --- The whole experiment


def demo(**changes):
    parts = {
        "name": "demo",
        "title": "A demonstration",
        "version": 3,
        "data": {"small": "sub/folder", "web": None},
        "protocol": {"folds": 4},
        "quick": {"folds": 2},
        "load": lambda data, folder, protocol: (data, folder),
        "generate": lambda protocol: ("generated", None),
        "cells": lambda problem, protocol: [
            {"fold": f, "learner": {"solver": s}} for f in range(protocol["folds"]) for s in "ab"
        ],
        "compute": lambda cell, problem: {"value": cell["fold"], "problem": problem[0]},
        "report": lambda found: Report([str(found.problem), str(len(found.results))], []),
    }
    return Experiment(**{**parts, **changes})


def test_a_run(tmp_path, monkeypatch):
    monkeypatch.setenv("LABELRANK_DATA", str(tmp_path))
    found = demo().outcome(cache=tmp_path)
    assert found.problem == ("small", tmp_path / "sub" / "folder")
    assert len(found.results) == 8
    assert found.cells[0] == {"experiment": "demo", "version": 3, "fold": 0, "learner": {"solver": "a"}}
    assert len(list((tmp_path / "demo").iterdir())) == 8
    # A finished run computes nothing, and a new version everything.
    assert demo(compute=None).outcome(cache=tmp_path).results == found.results
    with pytest.raises(TypeError):
        demo(compute=None, version=4).outcome(cache=tmp_path)
    assert demo().run(folder=tmp_path / "other", cache=tmp_path).protocol == [str(("small", tmp_path / "other")), "8"]
    assert demo().run("web", cache=tmp_path, protocol={"folds": 1}).protocol == [str(("web", None)), "2"]


def test_a_quick_run_needs_no_files_and_stores_nothing(tmp_path, monkeypatch):
    monkeypatch.delenv("LABELRANK_DATA", raising=False)
    monkeypatch.setenv("LABELRANK_CACHE", str(tmp_path))
    found = demo().outcome(quick=True)
    assert found.quick
    assert len(found.results) == 4
    assert not list(tmp_path.iterdir())
    demo().run(quick=True, cache=tmp_path)
    assert len(list((tmp_path / "demo").iterdir())) == 4


def test_results_by_their_cells():
    cells = [{"fold": 0, "learner": {"solver": "a"}}, {"fold": 1, "learner": {"solver": "a"}}, {"fold": 1}]
    found = Outcome(None, None, cells, [{"n": 1}, {"n": 2}, {"n": 3}])
    assert found.of(solver="a") == [{"n": 1}, {"n": 2}]
    assert found.of(fold=1) == [{"n": 2}, {"n": 3}]
    assert found.of(fold=1, solver="a") == [{"n": 2}]
    assert found.of(solver="b") == []


def test_what_is_not_there(monkeypatch):
    monkeypatch.delenv("LABELRANK_DATA", raising=False)
    with pytest.raises(ValueError, match="demo has no data set 'mnist'; known: small, web"):
        demo().run("mnist")
    with pytest.raises(ValueError, match="set LABELRANK_DATA to a folder with sub/folder in it; a quick run"):
        demo().run()
