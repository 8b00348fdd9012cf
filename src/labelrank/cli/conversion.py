"""Convert data to tables that every command reads without options."""

from __future__ import annotations

from typing import Any

import polars as pl

from labelrank.cli.data import Problem
from labelrank.datasets._columns import frame_of_matrix
from labelrank.datasets._files import MAX_BYTES, DataFile, repeated
from labelrank.supervision import PreferenceGraphs
from labelrank.supervision.graphs import is_graphs


def table_of(problem: Problem) -> pl.DataFrame:
    """Return a table of the features, and of rankings in columns rank_LABEL, or pairs as text in a column "ranking"."""
    limit = DataFile(problem.name, max_bytes=MAX_BYTES)
    names = [f"x{i}" for i in range(problem.data.shape[1])]
    data = frame_of_matrix(problem.data, names, limit)
    ranking = _ranking(problem.target, limit)
    columns = [*data, *ranking]
    if twice := repeated(series.name for series in columns):
        raise ValueError(f"{problem.name} has a feature {twice[0]!r}, which is also the name of a label column")
    return pl.DataFrame(columns)


def _ranking(target: Any, limit: DataFile) -> pl.DataFrame:
    if is_graphs(target):
        if not target.is_ranked:
            return pl.DataFrame({"ranking": _pairs(target)})
        ranks, names = target.rank_values(), target.labels.tolist()
    elif isinstance(target, pl.DataFrame):
        return target.rename(lambda name: f"rank_{name}")
    else:
        ranks, names = target, list(range(target.shape[1]))
    return frame_of_matrix(ranks, [f"rank_{name}" for name in names], limit)


def _pairs(graphs: PreferenceGraphs) -> list[str | None]:
    texts: list[list[str]] = [[] for _ in range(len(graphs))]
    edges = graphs.to_edges()
    names = [str(name) for name in graphs.labels]
    if marked := [name for name in names if set(name) & set(">=|")]:
        raise ValueError(f"the label {marked[0]!r} contains >, = or |, which separate labels")
    for row, better, worse in zip(edges.instance, edges.better, edges.worse, strict=True):
        texts[row].append(f"{names[better]}>{names[worse]}")
    return ["|".join(pairs) or None for pairs in texts]
