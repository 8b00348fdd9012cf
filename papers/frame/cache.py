"""Results on disk: one small JSON file per cell, named by a hash of everything that determines the result."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
from scipy import sparse

from labelrank._atomic import atomic_path

Cell = Mapping[str, Any]
Numbers = dict[str, Any]


def default_folder() -> Path:
    """Return the folder for results: ``$LABELRANK_CACHE``, else ``labelrank`` in the user's cache folder."""
    if named := os.environ.get("LABELRANK_CACHE"):
        return Path(named).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME") or (os.environ.get("LOCALAPPDATA") if os.name == "nt" else None)
    return (Path(base) if base else Path.home() / ".cache").absolute() / "labelrank"


def fingerprint(*parts: Any) -> str:
    """Return a short hash of the content of arrays, sparse matrices, texts, numbers, lists and mappings.

    Examples
    --------
    >>> import numpy as np
    >>> from papers.frame import fingerprint
    >>> fingerprint(np.eye(2)) == fingerprint(np.eye(2)) != fingerprint(np.eye(3))
    True
    """
    digest = hashlib.sha256()
    _feed(digest, parts)
    return digest.hexdigest()[:16]


def _feed(digest: Any, value: Any) -> None:
    """Add content only: neither the flags of sparse matrices nor the identity of objects."""
    if sparse.issparse(value):
        matrix: Any = sparse.csr_array(cast(Any, value), copy=True)
        matrix.sum_duplicates()
        value = ["sparse", *matrix.shape, matrix.data, *(a.astype(np.int64) for a in (matrix.indices, matrix.indptr))]
    elif isinstance(value, np.ndarray) and value.dtype.hasobject:
        value = ["objects", *value.shape, *value.ravel().tolist()]
    if isinstance(value, np.ndarray):
        digest.update(f"array {value.dtype.str} {value.shape}:".encode())
        digest.update(np.ascontiguousarray(value).data)
    elif isinstance(value, (list, tuple)):
        digest.update(f"list {len(value)}:".encode())
        for part in value:
            _feed(digest, part)
    elif isinstance(value, Mapping):
        _feed(digest, ["mapping", *value.items()])
    elif value is None or isinstance(value, (str, bytes, int, float, np.generic)):
        content = repr(value.item() if isinstance(value, np.generic) else value).encode()
        digest.update(f"{type(value).__name__} {len(content)}:".encode() + content)
    else:
        raise TypeError(f"there is no fingerprint of a {type(value).__name__}")


class ResultCache:
    """Results of cells in a folder, by default :func:`default_folder`.

    Examples
    --------
    >>> import tempfile
    >>> from papers.frame import ResultCache
    >>> cache = ResultCache(tempfile.mkdtemp())
    >>> cell = {"experiment": "demo", "version": 1, "fold": 0}
    >>> cache.put(cell, {"error": 0.25})
    >>> cache.get(cell), cache.get({**cell, "fold": 1})
    ({'error': 0.25}, None)
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        self.folder = default_folder() if folder is None else Path(folder)

    def path(self, cell: Cell) -> Path:
        """Return the path of the file of a cell."""
        text = json.dumps(cell, sort_keys=True, separators=(",", ":"))
        name = hashlib.sha256(text.encode()).hexdigest()[:32]
        return self.folder / str(cell.get("experiment", "cells")) / f"{name}.json"

    def get(self, cell: Cell) -> Numbers | None:
        """Return the result of a cell; None if there is none or its file is damaged."""
        try:
            document = json.loads(self.path(cell).read_text(encoding="utf-8"))
            found = document["result"] if document["cell"] == json.loads(json.dumps(cell)) else None
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None
        return found if isinstance(found, dict) else None

    def put(self, cell: Cell, result: Numbers) -> None:
        """Store the result of a cell; an interruption leaves either the whole file or none."""
        path = self.path(cell)
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_path(path) as partial:
            partial.write_text(json.dumps({"cell": cell, "result": result}, indent=1), encoding="utf-8")
