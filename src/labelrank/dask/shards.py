"""Training data in ``.npz`` files, a shard in each, that together may be larger than memory."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import dask.array as da
import numpy as np
from dask.delayed import delayed
from scipy import sparse
from sklearn.utils.validation import check_array

from labelrank._arrays import canonical
from labelrank._atomic import atomic_path
from labelrank.dask.graphs import PartitionedGraphs
from labelrank.supervision import PreferenceGraphs
from labelrank.supervision.arrays import graph_arrays, graphs_of_arrays
from labelrank.supervision.weights import row_weights


class Shards(NamedTuple):
    """The arguments of ``fit`` from ``.npz`` files."""

    X: Any  # Dask array of shape (n_samples, n_features), with dense or sparse blocks
    y: PartitionedGraphs
    sample_weight: Any  # Dask array of shape (n_samples,), or None


def save_shard(path: str | os.PathLike[str], X: Any, y: Any, sample_weight: Any = None) -> None:
    """Save some rows of training data to a ``.npz`` file, without compression.

    Parameters
    ----------
    path : str or path-like
        The file; it appears when it is complete.
    X : ndarray or SciPy-sparse matrix of shape (n_samples, n_features)
        Instances.
    y : PreferenceGraphs, or rank matrix or frame of shape (n_samples, n_labels)
        What was observed. Label names must be texts or numbers. Graphs of a ranking take an eighth of the space of its
        ranks.
    sample_weight : ndarray of shape (n_samples,), optional
        Weights of the instances.

    See Also
    --------
    read_shards : Use the files as arguments of ``fit``.
    """
    arrays: dict[str, Any] = graph_arrays(y)
    n_rows = len(graphs_of_arrays(arrays))
    X = check_array(
        canonical(X), accept_sparse="csr", ensure_all_finite=False, allow_nd=True, ensure_min_samples=0, input_name="X"
    )
    if X.shape[0] != n_rows:
        raise ValueError(f"X has {X.shape[0]} rows, y has {n_rows}; a shard has the same rows of both")
    if sparse.issparse(X):
        arrays |= {f"X_{name}": getattr(X, name) for name in ("data", "indices", "indptr")}
    else:
        arrays["X"] = X
    arrays["X_shape"] = np.array(X.shape)
    if sample_weight is not None:
        arrays["sample_weight"] = row_weights(sample_weight, n_rows)
    with atomic_path(path) as partial, open(partial, "wb") as file:
        np.savez(file, **arrays)


def read_shards(paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> Shards:
    """Arguments of ``fit`` from the ``.npz`` files of :func:`save_shard`, a partition for each file.

    Parameters
    ----------
    paths : path of a folder or a file, or iterable of paths of files
        The shards; of a folder all files ``*.npz``, sorted. Every worker must be able to read them.

    Returns
    -------
    Shards
        With ``X``, ``y`` and ``sample_weight``, which is None if no file has weights.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from labelrank.dask import read_shards, save_shard
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for i in range(2):
    ...         save_shard(Path(folder, f"{i}.npz"), [[0.0], [1.0]], [[1, 2], [2, 1]])
    ...     X, y, weight = read_shards(folder)
    >>> X.chunks, y, weight
    (((2, 2), (1,)), PartitionedGraphs(2 partitions), None)
    """
    if isinstance(paths, str | os.PathLike):
        folder = Path(paths)
        files = [folder] if folder.is_file() else sorted(folder.glob("*.npz"))
        if not files:
            raise FileNotFoundError(f"there is no file *.npz in the folder {folder}")
    else:
        files = [Path(path) for path in paths]
        if not files:
            raise ValueError("paths is empty; name at least one file of save_shard")
    heads = [_head(file) for file in files]
    for file, head in zip(files, heads, strict=True):
        if head.shape[1:] != heads[0].shape[1:]:
            raise ValueError(
                f"{file} has X of shape {head.shape}, {files[0]} has {heads[0].shape}; shards share columns"
            )
        if head.is_sparse != heads[0].is_sparse:
            dense, thin = (file, files[0]) if heads[0].is_sparse else (files[0], file)
            raise ValueError(f"{dense} has dense features and {thin} has sparse ones; save all shards alike")
    weighted = [head.has_weight for head in heads]
    if any(weighted) != all(weighted):
        raise ValueError(f"{files[weighted.index(False)]} has no sample_weight, and other shards have")
    names, sizes = [str(file) for file in files], tuple(head.shape[0] for head in heads)
    y = PartitionedGraphs(delayed(_graphs)(name) for name in names)
    y.sizes = sizes
    weight = _array(_weight, names, (sizes,), np.empty(0)) if all(weighted) else None
    empty = np.empty((0,) * len(heads[0].shape))
    meta = sparse.csr_array(empty) if heads[0].is_sparse else empty
    return Shards(_array(_X, names, (sizes, *((n,) for n in heads[0].shape[1:])), meta), y, weight)


def _array(load: Callable[..., Any], names: list[str], chunks: tuple[Any, ...], meta: Any) -> da.Array:
    """An array with a block for each file, empty ones too."""
    position = da.from_array(np.arange(len(names)), chunks=1)
    new = list(range(1, len(chunks)))
    return da.map_blocks(load, position, names=names, chunks=chunks, new_axis=new or None, meta=meta, dtype=np.float64)


class _Head(NamedTuple):
    shape: tuple[int, ...]
    is_sparse: bool
    has_weight: bool


def _head(path: Path) -> _Head:
    """Description of a file for the client, without its arrays."""
    if path.exists() and not zipfile.is_zipfile(path):
        raise ValueError(f"{path} is not a shard of labelrank.dask.save_shard, or is damaged; save it again")
    with np.load(path) as shard:
        if "X_shape" not in shard:
            raise ValueError(f"{path} is not a shard of labelrank.dask.save_shard: it has the arrays {shard.files}")
        return _Head(tuple(shard["X_shape"].tolist()), "X_data" in shard, "sample_weight" in shard)


# --- On workers


@contextmanager
def _arrays(path: str) -> Iterator[Any]:
    """The arrays of a shard, which may have changed since the client has seen it."""
    try:
        with np.load(path) as shard:
            yield shard
    except (zipfile.BadZipFile, EOFError, KeyError) as error:
        raise ValueError(f"{path} is not a shard of labelrank.dask.save_shard, or is damaged; save it again") from error


def _X(position: Any, names: list[str]) -> Any:
    with _arrays(names[int(position[0])]) as shard:
        if "X" in shard:
            return shard["X"]
        parts = (shard["X_data"], shard["X_indices"], shard["X_indptr"])
        return sparse.csr_array(parts, shape=tuple(shard["X_shape"]))


def _graphs(path: str) -> PreferenceGraphs:
    with _arrays(path) as shard:
        return graphs_of_arrays(shard)


def _weight(position: Any, names: list[str]) -> Any:
    with _arrays(names[int(position[0])]) as shard:
        return shard["sample_weight"]
