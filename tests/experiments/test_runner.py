"""Cells: each computed once, kept on disk, the same in parallel."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from labelrank.experiments import ResultCache, default_folder, fingerprint, fold_of, run_cells

CELLS = [{"experiment": "demo", "version": 1, "learner": {"power": p}, "fold": f} for p in (1, 2) for f in range(3)]


def power(cell, X, calls=None):
    """The cell's numbers; leaves a file for each call."""
    if calls is not None:
        with open(Path(calls) / "calls", "a") as file:
            file.write("x")
    return {"value": float((X[cell["fold"] :] ** cell["learner"]["power"]).sum()), "who": "ü"}


def n_calls(folder):
    path = Path(folder) / "calls"
    return len(path.read_text()) if path.exists() else 0


@pytest.fixture
def X():
    return np.random.RandomState(0).normal(size=(500, 300))  # large enough to be shared as a file


@pytest.fixture
def cache(tmp_path):
    return ResultCache(tmp_path / "cache")


def test_numbers_come_in_the_order_of_the_cells(X):
    results = run_cells(power, CELLS, X)
    assert results == [power(cell, X) for cell in CELLS]


def test_a_cell_is_computed_once(X, cache, tmp_path):
    first = run_cells(power, CELLS[:4], X, tmp_path, cache=cache)
    assert n_calls(tmp_path) == 4
    assert run_cells(power, CELLS, X, tmp_path, cache=cache)[:4] == first
    assert n_calls(tmp_path) == 6
    assert run_cells(power, CELLS[::-1], X, tmp_path, cache=ResultCache(cache.folder))[:1:-1] == first
    assert n_calls(tmp_path) == 6


@pytest.mark.parametrize("change", [{"version": 2}, {"learner": {"power": 3}}, {"fold": 7}, {"seed": 0}])
def test_a_changed_cell_is_computed_anew(X, cache, tmp_path, change):
    cell = CELLS[0]
    run_cells(power, [cell], X, tmp_path, cache=cache)
    run_cells(power, [{**cell, **change}], X, tmp_path, cache=cache)
    assert n_calls(tmp_path) == 2
    reordered = dict(reversed(cell.items()))
    assert cache.path(reordered) == cache.path(cell)


@pytest.mark.parametrize(
    "damage",
    ["", "{", "[]", '{"cell": 1}', '{"cell": {"experiment": "demo"}, "result": {"value": 0}}', "null", b"\xff\xfe"],
)
def test_a_damaged_file_is_written_anew(X, cache, tmp_path, damage):
    [good] = run_cells(power, CELLS[:1], X, tmp_path, cache=cache)
    path = cache.path(CELLS[0])
    path.write_bytes(damage if isinstance(damage, bytes) else damage.encode())
    assert cache.get(CELLS[0]) is None
    assert run_cells(power, CELLS[:1], X, tmp_path, cache=cache) == [good]
    assert n_calls(tmp_path) == 2
    assert cache.get(CELLS[0]) == good


def test_no_parts_are_left(X, cache):
    with pytest.raises(TypeError):
        cache.put(CELLS[0], {"value": object()})
    run_cells(power, CELLS, X, cache=cache)
    assert sorted(path.suffix for path in cache.folder.rglob("*") if path.is_file()) == [".json"] * len(CELLS)


def test_what_was_done_before_a_failure_is_kept(X, cache, tmp_path):
    wrong = {**CELLS[2], "learner": {"power": "two"}}
    with pytest.raises(TypeError) as caught:
        run_cells(power, [*CELLS[:2], wrong, CELLS[3]], X, tmp_path, cache=cache)
    assert "'power': 'two'" in caught.value.__notes__[-1]
    assert [cache.get(cell) is not None for cell in CELLS[:4]] == [True, True, False, False]


def test_parallel_equals_serial(X, cache, tmp_path):
    # In a script of its own: the functions of a test module cannot be imported by another process.
    script = tmp_path / "script.py"
    script.write_text(
        "import json, sys\nimport numpy as np\nfrom labelrank.experiments import ResultCache, run_cells\n"
        "def dot(cell, X):\n    return {'value': float((X.T @ X)[cell['fold']].sum())}\n"
        "if __name__ == '__main__':\n"
        "    X = np.random.RandomState(0).normal(size=(500, 300))\n"
        "    cells = [{'fold': fold} for fold in range(5)]\n"
        "    serial = run_cells(dot, cells, X)\n"
        "    parallel = run_cells(dot, cells, X, cache=ResultCache(sys.argv[1]), n_jobs=2)\n"
        "    again = run_cells(None, cells, X, cache=ResultCache(sys.argv[1]), n_jobs=2)\n"
        "    print(json.dumps([serial == parallel, again == parallel]))\n"
    )
    done = subprocess.run(
        [sys.executable, str(script), str(cache.folder)], capture_output=True, text=True, check=True, timeout=120
    )
    assert json.loads(done.stdout) == [True, True]
    assert done.stderr == ""  # no progress bar in a pipe


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
def test_a_bar_on_a_terminal():
    code = "from labelrank.experiments import run_cells; run_cells(lambda cell: {}, [{}] * 3, title='demo')"
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm"}
    done = subprocess.run(
        [sys.executable, "-c", code], stdout=follower, stderr=follower, env=environment, check=True, timeout=60
    )
    os.close(follower)
    shown = os.read(leader, 65536).decode()
    os.close(leader)
    assert done.returncode == 0
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
    assert first != other
    assert first != reseeded
    assert other != reseeded
    with pytest.raises(ValueError, match="fold must be from 0 to 3, got 4"):
        fold_of(23, n_folds=4, fold=4)


def test_the_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("LABELRANK_CACHE", str(tmp_path / "mine"))
    assert default_folder() == tmp_path / "mine"
    assert ResultCache().folder == tmp_path / "mine"
    monkeypatch.delenv("LABELRANK_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "labelrank"


def test_fingerprints():
    X = sparse.random_array((20, 5), density=0.3, rng=np.random.default_rng(0), format="csr")
    twin = sparse.csr_array(X.tocoo())
    twin.has_sorted_indices = twin.has_canonical_format = False  # flags are not content
    assert fingerprint(X, ["a", "bc"]) == fingerprint(twin, ["a", "".join(["b", "c"])])
    names = np.array(["a", "b"], dtype=object)
    assert fingerprint(names) == fingerprint(names[::-1][::-1].copy())
    changed = X.copy()
    changed.data[0] += 1
    different = [(X,), (changed,), (X, 1), (X, "1"), (X, 1.0), (X, None), (X.toarray(),), (X.toarray().T,), (names,)]
    different += [(["ab"],), (["a", "b"],), ({"a": "b"},), ("a", "b"), ([["a"], "b"],), ([["a", "b"]],), ()]
    assert len({fingerprint(*parts) for parts in different}) == len(different)
    with pytest.raises(TypeError, match="no fingerprint of a function"):
        fingerprint(power)
