"""Integer matrices of levels: 0 is the best level of a row, -1 an absent label.

All functions work on blocks of rows, so that temporary arrays stay small whatever the number of instances.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from labelrank._arrays import row_blocks
from labelrank._memory import require_memory


def smallest_dtype(n_labels: int) -> np.dtype[Any]:
    """The smallest signed integers that hold -1 and all labels."""
    return np.min_scalar_type(-max(n_labels, 1))


def dense_levels(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Levels 0, 1, ... without gaps of rows of ranks (NaN: absent) or of levels (-1: absent).

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank.supervision.levels import dense_levels
    >>> dense_levels(np.array([[1.0, 2.5, 2.5, np.nan]]))
    array([[ 0,  1,  1, -1]], dtype=int8)
    """
    from scipy.stats import rankdata  # scipy.stats alone would double the time of `import labelrank`

    levels = np.full(values.shape, -1, dtype=smallest_dtype(values.shape[1]))
    if values.size:
        for rows in row_blocks(*values.shape):
            part = values[rows]
            absent = np.isnan(part) if part.dtype.kind == "f" else part < 0
            dense = rankdata(np.where(absent, np.inf, part), method="dense", axis=1)
            levels[rows] = np.where(absent, -1, dense - 1)
    return levels


def without_lone_levels(levels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Levels without gaps, and rows of a single level, which have no edges, as empty rows."""
    dense = dense_levels(levels)
    dense[dense.max(axis=1, initial=-1) == 0] = -1
    return dense


def edge_counts(levels: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """(m² − Σ_l c_l²)/2 for each row with c_l labels at level l, m in all."""
    n_rows, n_labels = levels.shape
    counts = np.zeros(n_rows, dtype=np.int64)
    depth = int(levels.max(initial=-1)) + 2
    for rows in row_blocks(n_rows, max(n_labels, depth)):
        part = levels[rows].astype(np.intp) + 1
        cells = (np.arange(len(part))[:, None] * depth + part).ravel()
        sizes = np.bincount(cells, minlength=len(part) * depth).reshape(len(part), depth)[:, 1:]
        counts[rows] = (sizes.sum(axis=1) ** 2 - (sizes**2).sum(axis=1)) // 2
    return counts


def edges_of_levels(levels: npt.NDArray[Any]) -> tuple[npt.NDArray[np.intp], ...]:
    """Row, better and worse label of every edge, sorted."""
    n_edges, k = int(edge_counts(levels).sum()), levels.shape[1]
    advice = "keep rankings as levels, without listing their pairs"
    require_memory(48.0 * n_edges + 2.0 * k**2, f"listing {n_edges} pairs of {k} labels", advice)
    found = [(np.empty(0, dtype=np.intp),) * 3]
    for rows in row_blocks(len(levels), levels.shape[1] ** 2):
        part = levels[rows]
        above = (part[:, :, None] < part[:, None, :]) & (part >= 0)[:, :, None]
        row, better, worse = np.nonzero(above)
        found.append((row + rows.start, better, worse))
    return tuple(np.concatenate(arrays) for arrays in zip(*found, strict=True))


def levels_of_edges(
    counts: npt.NDArray[np.int64], better: npt.NDArray[Any], worse: npt.NDArray[Any], n_labels: int
) -> npt.NDArray[Any] | None:
    """Levels of graphs given by their edges, `counts` of each; None when one of them is not layered.

    In a layered graph the number of incoming edges grows from level to level and is equal within one. So a
    graph is layered when all its edges go up in that number and there are as many edges as the levels so
    found have.
    """
    n_rows = len(counts)
    rows = np.repeat(np.arange(n_rows) * n_labels, counts)
    head, tail = rows + better, rows + worse
    incoming, outgoing = (np.bincount(end, minlength=n_rows * n_labels) for end in (tail, head))
    if not (incoming[head] < incoming[tail]).all():
        return None
    levels = np.where(incoming + outgoing > 0, incoming, -1).reshape(n_rows, n_labels)
    return dense_levels(levels) if np.array_equal(edge_counts(levels), counts) else None
