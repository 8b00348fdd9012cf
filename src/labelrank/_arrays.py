"""Types of arrays, blocks of rows, pointers, ranks, sparse entries and missing values: helpers of all parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

BLOCK = 2**18  # entries of a temporary array


def row_blocks(n_rows: int, width: int, entries: int = BLOCK) -> Iterator[slice]:
    """Slices of consecutive rows that cover all rows, each of about `entries` entries at most.

    Examples
    --------
    >>> from labelrank._arrays import row_blocks
    >>> list(row_blocks(5, width=10, entries=20))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    size = max(1, entries // max(width, 1))
    return (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))


def pointers(counts: Any) -> IntArray:
    """Pointers of a CSR layout: the entries of row i are ``pointers[i]:pointers[i + 1]`` if it has ``counts[i]``.

    Examples
    --------
    >>> from labelrank._arrays import pointers
    >>> pointers([2, 0, 3])
    array([0, 2, 2, 5])
    """
    ends = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=ends[1:])
    return ends


def competition_ranks(values: FloatArray) -> FloatArray:
    """1 + the number of strictly smaller values in the row; NaN stays NaN."""
    from scipy.stats import rankdata  # scipy.stats alone would double the time of `import labelrank`

    missing = np.isnan(values)
    if missing.any():
        ranks = rankdata(np.where(missing, np.inf, values), method="min", axis=1)
        return np.where(missing, np.nan, ranks)
    return np.asarray(rankdata(values, method="min", axis=1), dtype=np.float64)


def canonical(X: Any) -> Any:
    """Return a sparse matrix with one entry per position; entries given in parts are summed in a copy, in floats.

    Everything else is returned as it is. Called before validation, so that a sum that overflows is refused there.

    Examples
    --------
    >>> from scipy import sparse
    >>> from labelrank._arrays import canonical
    >>> parts = sparse.csr_array(([1.0, 2.0], [0, 0], [0, 2]), shape=(1, 1))
    >>> canonical(parts).data, parts.data
    (array([3.]), array([1., 2.]))
    """
    is_sparse: bool = sparse.issparse(X)
    if not is_sparse or getattr(X, "has_canonical_format", True):
        return X
    whole = X.astype(X.dtype if X.dtype.kind == "f" else np.float64)
    whole.sum_duplicates()
    return whole


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN or the NA of pandas."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:  # the NA of pandas has no truth value
        return True
    except ValueError:  # an array has too many
        return False
