"""The partitions of a Dask collection, one by one."""

from __future__ import annotations

from typing import Any

import dask.array as da
from dask.delayed import Delayed


def parts_of(collection: Any) -> list[Delayed]:
    """All partitions of an array that is chunked by rows, a frame, a series or an index.

    The optimizer of Dask reads only the needed columns of a parquet folder, and then joins partitions that became
    small. Columns of the same folder could then have different partitions, so only the first step is used.
    """
    if isinstance(collection, da.Array):
        return list(collection.to_delayed().ravel())
    return list(collection.simplify().to_delayed(optimize_graph=False))
