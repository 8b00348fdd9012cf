"""The partitions of a Dask collection, one by one."""

from __future__ import annotations

from typing import Any

import dask.array as da
from dask.delayed import Delayed


def parts_of(collection: Any) -> list[Delayed]:
    """The partitions of an array that is chunked by rows, a frame, a series or an index, as many as it says it has.

    The optimizer of Dask reads only the columns of a parquet folder that are needed, and then joins partitions that
    became small. Columns of one folder would get different partitions by that, so that only its first part is used.
    """
    if isinstance(collection, da.Array):
        return list(collection.to_delayed().ravel())
    return list(collection.simplify().to_delayed(optimize_graph=False))
