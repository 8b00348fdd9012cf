"""Section on the data: rows, features, observed labels, ties, pairs and cycles."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from labelrank._arrays import is_missing, row_blocks
from labelrank.report.evidence import Evidence
from labelrank.report.parts import DASH, Cards, Cell, Section, Table, compact, count, count_cell, share, share_cell
from labelrank.supervision import PreferenceGraphs
from labelrank.supervision.frames import frame_of

_MOST_FEATURES = 200
_FEW_VALUES = 20  # text with at most this number of distinct values is a category


def data_section(evidence: Evidence) -> Section:
    """Describe instances and observations."""
    graphs, names = evidence.graphs, evidence.feature_names
    n, k = graphs.shape
    observed = sum(int(graphs[rows].observed().sum()) for rows in row_blocks(n, k))
    pairs, empty = graphs.n_edges, n - len(evidence.known)
    tied, contradictory = _tied_rows(graphs), _contradictory_rows(graphs)
    cards = [
        ("rows", count(n), "", f"{count(empty)} without an observed pair" if empty else "all with an observed pair"),
        ("features", DASH if names is None else count(len(names)), "", _kind_of(evidence.X)),
        ("labels", count(k), "", f"{share(observed / (n * k))} observed"),
        ("observed pairs", count(pairs), "", f"{pairs / n:,.1f} in a row"),
        ("rows with ties", count(tied), "", share(tied / n)),
        ("rows with cycles", count(contradictory), "", "such as a > b > c > a"),
    ]
    blocks: list[Any] = [Cards(cards)]
    table = _features(evidence)
    if table is not None:
        blocks.append(table)
    return Section("data", "Data", "The instances that the model is evaluated on.", blocks)


def _kind_of(X: Any) -> str:
    frame = frame_of(X)
    if frame is not None:
        return f"{frame.implementation.value} frame"
    if hasattr(X, "toarray"):
        return f"sparse, {share(X.nnz / max(X.shape[0] * X.shape[1], 1))} stored"
    return "array" if len(getattr(X, "shape", ())) == 2 else "an instance is a text"


def _tied_rows(graphs: PreferenceGraphs) -> int:
    """Number of rows in which two labels have the same rank."""
    if not graphs.is_ranked:
        return 0
    tied = 0
    for _, values in graphs.blocks_of_ranks():
        with np.errstate(invalid="ignore"):
            tied += int((np.diff(np.sort(values, axis=1), axis=1) == 0).any(axis=1).sum())
    return tied


def _contradictory_rows(graphs: PreferenceGraphs) -> int:
    """Number of rows whose pairs have a cycle, such as a > b, b > c and c > a."""
    if graphs.is_ranked:
        return 0
    edges, (n, k) = graphs.to_edges(), graphs.shape
    ends = edges.instance * k + edges.better, edges.instance * k + edges.worse
    links = csr_array((np.ones(len(edges.instance)), ends), shape=(n * k, n * k))
    component = connected_components(links, connection="strong")[1]
    sizes = np.bincount(component)
    return len(np.unique(np.flatnonzero(sizes[component] > 1) // k))


def _features(evidence: Evidence) -> Table | None:
    X, names = evidence.X, evidence.feature_names
    if names is None or not names:
        return None
    frame = frame_of(X)
    rows = []
    for column, name in enumerate(names[:_MOST_FEATURES]):
        if frame is not None:
            kind, missing, distinct, values = _of_series(frame.get_column(frame.columns[column]))
        else:
            kind, missing, distinct, values = _of_array(_column(X, column))
        rows.append([Cell(name), Cell(kind), share_cell(missing), count_cell(distinct), Cell(values)])
    note = f"The first {_MOST_FEATURES} of {len(names):,} features." if len(names) > _MOST_FEATURES else ""
    return Table("Features", ["feature", "type", "missing", "different values", "values"], rows, note)


def _column(X: Any, column: int) -> npt.NDArray[Any]:
    if hasattr(X, "toarray"):
        return np.asarray(X[:, [column]].toarray()).ravel()
    return np.asarray(X[:, column])


_Description = tuple[str, float, int, str]


def _of_array(values: npt.NDArray[Any]) -> _Description:
    """Type, share of missing values, number of distinct values, and a summary of a column."""
    if values.dtype.kind in "OUST":
        present = [value for value in values.tolist() if not is_missing(value)]
        return _of_objects(present, len(values), "category")
    return _of_numbers(np.asarray(values, dtype=np.float64))


def _of_series(series: Any) -> _Description:
    dtype = series.dtype
    if dtype.is_numeric():
        return _of_numbers(np.asarray(series.to_numpy(), dtype=np.float64))
    kind = str(dtype).partition("(")[0].lower()
    named = {"boolean": "yes or no", "categorical": "category", "enum": "category", "string": "text", "object": "text"}
    return _of_objects(series.drop_nulls().to_list(), len(series), named.get(kind, kind))


def _of_numbers(values: npt.NDArray[np.float64]) -> _Description:
    present = values[~np.isnan(values)]
    missing = 1 - len(present) / max(len(values), 1)
    if not len(present):
        return "number", missing, 0, ""
    low, middle, high = np.quantile(present, [0, 0.5, 1])
    return "number", missing, len(np.unique(present)), f"{low:.4g} … {middle:.4g} … {high:.4g}"


def _of_objects(values: list[Any], total: int, kind: str) -> _Description:
    texts, counts = np.unique(np.array([str(value) for value in values], dtype=object), return_counts=True)
    missing = 1 - len(values) / max(total, 1)
    if kind == "text" and len(texts) <= _FEW_VALUES:
        kind = "category"
    if kind == "text" and len(values):
        return kind, missing, len(texts), compact(values[0])
    top = np.argsort(-counts, kind="stable")[:3]
    common = ", ".join(f"{compact(texts[i])} ({share(counts[i] / len(values))})" for i in top)
    return kind, missing, len(texts), common + (", …" if len(texts) > 3 else "")
