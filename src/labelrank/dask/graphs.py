"""Preference graphs in partitions, and partitioned tables of battles."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import dask
import dask.dataframe as dd
from dask.base import is_dask_collection
from dask.delayed import Delayed, delayed
from distributed import Future

from labelrank.dask.parts import parts_of
from labelrank.supervision import PreferenceGraphs, is_graphs
from labelrank.supervision.labels import sorted_names
from labelrank.supervision.vectors import object_array


class PartitionedGraphs:
    """Preference graphs in partitions, for rows that are partitioned in the same way.

    Parameters
    ----------
    parts : iterable of PreferenceGraphs, or of Delayed or Future of them
        The graphs of each partition of `X`, over the same labels in the same order.

    Examples
    --------
    >>> import dask
    >>> from labelrank import PreferenceGraphs
    >>> from labelrank.dask import PartitionedGraphs
    >>> graphs = dask.delayed(PreferenceGraphs.from_multilabel)([{"tea"}, {"milk"}], labels=["milk", "tea"])
    >>> PartitionedGraphs([graphs, graphs])
    PartitionedGraphs(2 partitions)
    """

    def __init__(self, parts: Iterable[Any]) -> None:
        if is_graphs(parts):
            raise TypeError("parts must hold the graphs of each partition, got PreferenceGraphs; use [graphs] for one")
        parts = list(parts)
        for i, part in enumerate(parts):
            if not (is_graphs(part) or isinstance(part, Delayed | Future)):
                raise TypeError(
                    f"parts[{i}] must be PreferenceGraphs, or a Delayed or Future of them, got {type(part).__name__}"
                )
        known = all(map(is_graphs, parts))
        self.sizes = tuple(map(len, parts)) if known else None
        self.parts: list[Any] = [part if is_dask_collection(part) else delayed(part) for part in parts]

    def __repr__(self) -> str:
        return f"PartitionedGraphs({len(self.parts)} partition{'s' * (len(self.parts) != 1)})"

    @classmethod
    def from_battles(
        cls,
        frame: Any,
        *,
        a: Any,
        b: Any,
        winner: Any = None,
        instance: Any = None,
        instances: Any = None,
        ties: Any = "half",
        labels: Any = None,
    ) -> Self:
        """Graphs of a Dask frame with a row per battle of two labels.

        Parameters
        ----------
        frame : Dask frame
            Battles; those of the instances in a partition of `X` are in the same partition here.
        a, b : str
            Columns with the two labels.
        winner, instance, ties
            As for :meth:`labelrank.PreferenceGraphs.from_battles`.
        instances : Dask series or index, optional
            The ids of all instances in the order of the rows of `X`, partitioned as `X` is; needs `instance`. Without
            it and `instance` there is a graph for each battle.
        labels : sequence, optional
            Names of the labels; by default those that occur in any partition, sorted; that takes one pass.

        Returns
        -------
        PartitionedGraphs

        Examples
        --------
        >>> import dask.dataframe as dd
        >>> import pandas as pd
        >>> from labelrank.dask import PartitionedGraphs
        >>> battles = pd.DataFrame({"a": ["x", "y", "z"], "b": ["y", "z", "x"], "winner": ["a", "b", "tie"]})
        >>> frame = dd.from_pandas(battles, npartitions=2)
        >>> PartitionedGraphs.from_battles(frame, a="a", b="b", winner="winner")
        PartitionedGraphs(2 partitions)
        """
        if not isinstance(frame, dd.DataFrame):
            raise TypeError(
                f"frame must be a Dask frame with a row per battle, got {type(frame).__name__}; for a local one use "
                "PreferenceGraphs.from_battles"
            )
        for name, argument in ((a, "a"), (b, "b"), (winner, "winner"), (instance, "instance")):
            if name is not None and name not in frame.columns:
                found = list(frame.columns)
                raise ValueError(f"frame has no column {name!r}, given as {argument}; its columns are {found}")
        if instances is not None and not isinstance(instances, dd.Series):
            raise TypeError(f"instances must be a Dask series or index, got {type(instances).__name__}")
        rows = parts_of(frame)
        ids = [None] * len(rows) if instances is None else parts_of(instances)
        if len(ids) != len(rows):
            raise ValueError(f"frame has {len(rows)} partitions and instances has {len(ids)}; partition both as X is")
        if labels is None:
            names = dask.compute(frame[a].unique(), frame[b].unique())
            labels = sorted_names(object_array([*names[0], *names[1]]), f"columns {a!r} and {b!r}")
        params = {"a": a, "b": b, "winner": winner, "instance": instance, "ties": ties, "labels": labels}
        return cls(delayed(_battles)(part, some, params) for part, some in zip(rows, ids, strict=True))


def _battles(frame: Any, instances: Any, params: dict[str, Any]) -> PreferenceGraphs:
    return PreferenceGraphs.from_battles(frame, instances=None if instances is None else list(instances), **params)
