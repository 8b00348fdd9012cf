"""Results on disk."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from papers.frame import ResultCache, default_folder, fingerprint

CELL = {"experiment": "demo", "version": 1, "fold": 0}


@pytest.mark.parametrize(
    "damage",
    ["", "{", "[]", '{"cell": 1}', '{"cell": {"experiment": "demo"}, "result": {"value": 0}}', "null", b"\xff\xfe"],
)
def test_a_damaged_file_is_no_result(tmp_path, damage):
    cache = ResultCache(tmp_path)
    cache.put(CELL, {"value": 1.5})
    assert cache.get(CELL) == {"value": 1.5}
    cache.path(CELL).write_bytes(damage if isinstance(damage, bytes) else damage.encode())
    assert cache.get(CELL) is None
    cache.put(CELL, {"value": 2.5})
    assert cache.get(CELL) == {"value": 2.5}


def test_no_parts_are_left(tmp_path):
    cache = ResultCache(tmp_path)
    with pytest.raises(TypeError):
        cache.put(CELL, {"value": object()})
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_the_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("LABELRANK_CACHE", str(tmp_path / "mine"))
    assert default_folder() == ResultCache().folder == tmp_path / "mine"
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
        fingerprint(test_the_folder)
