"""Arguments of ``fit`` and ``predict``: Dask arrays, Dask frames, parquet folders and partitioned graphs, as blocks."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import dask.array as da
import dask.dataframe as dd
from dask.base import is_dask_collection
from dask.delayed import Delayed
from distributed import Future, futures_of

from labelrank.dask.graphs import PartitionedGraphs
from labelrank.dask.parts import parts_of


class Blocks(NamedTuple):
    """Rows of a collection, partition by partition, not yet computed."""

    name: str  # of the argument, for errors
    parts: list[Delayed]
    sizes: tuple[int, ...] | None  # number of rows of each part, None if they are not known
    held: bool  # whether the parts are in the memory of workers already
    is_array: bool


def is_partitioned(X: Any) -> bool:
    """Whether `X` is a Dask array, frame or the path of a parquet folder, and not local data; others are refused."""
    if isinstance(X, da.Array | dd.DataFrame | dd.Series | str | os.PathLike):
        return True
    first = X[0] if isinstance(X, list | tuple) and X else X
    if is_dask_collection(first) or isinstance(first, Future):
        found = type(first).__name__ if first is X else f"a {type(X).__name__} of {type(first).__name__}"
        raise TypeError(
            f"X must be a Dask array or frame, or the path of a parquet folder, got {found}; make one by "
            "dask.array.from_delayed or dask.dataframe.from_delayed"
        )
    return False


def opened(X: Any, name: str = "X", columns: list[Any] | None = None) -> Any:
    """The Dask frame of a parquet folder, or of some of its columns; anything else as it is."""
    if not isinstance(X, str | os.PathLike):
        return X
    path = os.fspath(X)
    if "://" not in path and not os.path.exists(path):
        raise FileNotFoundError(f"{name} names the parquet folder {path}, which does not exist")
    try:
        frame = dd.read_parquet(path)
    except (ValueError, OSError) as error:
        why = str(error).rpartition("Original Message: ")[2]
        raise ValueError(f"{name} names {path}, which cannot be read as a parquet folder: {why}") from error
    missing = [column for column in columns or () if column not in frame.columns]
    if missing:
        raise ValueError(f"{name} names {path}, which lacks the columns {missing} that the model was fitted with")
    return frame if columns is None else frame[columns]


def blocks_of(data: Any, name: str) -> Blocks:
    """Blocks of rows of one argument of ``fit``.

    Parameters
    ----------
    data : Dask array, Dask frame or series, PartitionedGraphs, path of a parquet folder, or Blocks
        Rows in partitions. An array may have dense blocks or SciPy-sparse ones. Blocks are returned as they are.
    name : str
        Name of the argument, for errors.

    Returns
    -------
    Blocks
    """
    data = opened(data, name)
    if isinstance(data, Blocks):
        return data
    if isinstance(data, PartitionedGraphs):
        return Blocks(name, list(data.parts), data.sizes, False, False)
    if isinstance(data, dd.DataFrame | dd.Series):
        return Blocks(name, parts_of(data), None, bool(futures_of(data)), False)
    if isinstance(data, da.Array):
        if any(n != 1 for n in data.numblocks[1:]):
            raise ValueError(
                f"{name} is chunked along its columns (numblocks={data.numblocks}), but rows must be whole; use "
                f"{name}.rechunk({{1: -1}})"
            )
        known = not any(math.isnan(n) for n in data.chunks[0])
        sizes = tuple(map(int, data.chunks[0])) if known else None
        return Blocks(name, parts_of(data), sizes, bool(futures_of(data)), True)
    ways = "chunks=(X.chunks[0], -1))), a Dask frame or labelrank.dask.PartitionedGraphs"
    if name != "y":
        ways = "chunks=X.chunks[:1])) or a Dask series"
    raise TypeError(
        f"X is partitioned, and {name} is of type {type(data).__name__}; partition it in the same way, as a Dask array "
        f"(dask.array.from_array(..., {ways}"
    )


def check_aligned(blocks: Sequence[Blocks]) -> None:
    """Raise if arguments of ``fit`` are partitioned differently, as far as that is known before they are computed."""
    first = blocks[0]
    for other in blocks[1:]:
        same = f"; partition {other.name} as {first.name} is"
        if len(other.parts) != len(first.parts):
            unknown = [b.name for b in (first, other) if b.is_array and b.sizes is None]
            why = f" (the chunk sizes of {' and '.join(unknown)} are not known, compute_chunk_sizes() finds them)"
            raise ValueError(
                f"{first.name} has {len(first.parts)} partitions and {other.name} has {len(other.parts)}"
                + why * bool(unknown)
                + same
            )
        if first.sizes is not None and other.sizes is not None and first.sizes != other.sizes:
            at = next(i for i, (a, b) in enumerate(zip(first.sizes, other.sizes, strict=True)) if a != b)
            raise ValueError(
                f"{first.name} and {other.name} are partitioned differently: partition {at} has {first.sizes[at]} and "
                f"{other.sizes[at]} rows{same}, for example by {other.name}.rechunk({{0: {first.name}.chunks[0]}})"
            )
