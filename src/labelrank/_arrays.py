"""Array types and helpers for arrays: row blocks, CSR pointers, ranks, sparse matrices, missing values."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

BLOCK = 2**18  # entries of a temporary array
_GPUS = (2, 10, 13)  # devices of DLPack: CUDA, ROCm, managed memory of CUDA


def row_blocks(n_rows: int, width: int, entries: int = BLOCK) -> Iterator[slice]:
    """Split the rows into consecutive slices of at most about `entries` entries each.

    Examples
    --------
    >>> from labelrank._arrays import row_blocks
    >>> list(row_blocks(5, width=10, entries=20))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    size = max(1, entries // max(width, 1))
    return (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))


def pointers(counts: Any) -> IntArray:
    """Return CSR pointers: row i, with ``counts[i]`` entries, has the entries ``pointers[i]:pointers[i + 1]``.

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


def largest(values: FloatArray) -> float:
    """Return the largest absolute value, without allocating an array of absolute values.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank._arrays import largest
    >>> largest(np.array([2.0, -3.0])), largest(np.empty(0))
    (3.0, 0.0)
    """
    return max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))


def canonical(X: Any) -> Any:
    """Return a sparse matrix without duplicate entries; duplicates are summed as floats, in a copy.

    A PyTorch tensor, on any device, becomes a NumPy array or, if it is sparse, a CSR matrix. Everything else is
    returned unchanged. Called before validation, which rejects a sum that overflows.

    Examples
    --------
    >>> from scipy import sparse
    >>> from labelrank._arrays import canonical
    >>> parts = sparse.csr_array(([1.0, 2.0], [0, 0], [0, 2]), shape=(1, 1))
    >>> canonical(parts).data, parts.data
    (array([3.]), array([1., 2.]))
    """
    X = of_tensor(X)
    is_sparse: bool = sparse.issparse(X)
    if not is_sparse or getattr(X, "has_canonical_format", True):
        return X
    whole = X.astype(X.dtype if X.dtype.kind == "f" else np.float64)
    whole.sum_duplicates()
    return whole


def as_tensor(X: Any) -> Any:
    """Return an array of another library that is on a GPU, such as CuPy or JAX, as a PyTorch tensor.

    Everything else is returned unchanged: NumPy converts arrays that are not on a GPU.
    """
    torch: Any = sys.modules.get("torch")
    if isinstance(X, np.ndarray) or (torch is not None and isinstance(X, torch.Tensor)):
        return X
    if not hasattr(X, "__dlpack_device__") or find_spec("torch") is None:
        return X
    try:
        on_gpu = X.__dlpack_device__()[0] in _GPUS
    except BufferError:  # of JAX, for an array on several devices
        return X
    return import_module("torch").from_dlpack(X) if on_gpu else X


def of_tensor(X: Any) -> Any:
    """Convert a PyTorch tensor, or an array on a GPU, to a NumPy or SciPy array; return everything else unchanged."""
    X = as_tensor(X)
    torch: Any = sys.modules.get("torch")
    if torch is None or not isinstance(X, torch.Tensor):
        return X
    tensor: Any = dense_or_csr(X).cpu()
    if tensor.is_floating_point() and tensor.dtype not in (torch.float16, torch.float32, torch.float64):
        tensor = tensor.to(torch.float32)  # from bfloat16, which NumPy does not have
    if tensor.layout == torch.strided:
        return tensor.resolve_conj().resolve_neg().numpy()
    parts = (tensor.values(), tensor.col_indices(), tensor.crow_indices())
    return sparse.csr_array(tuple(part.contiguous().numpy() for part in parts), shape=tuple(tensor.shape))


def dense_or_csr(X: Any) -> Any:
    """Return a PyTorch tensor without its gradient, a sparse one as CSR."""
    torch: Any = sys.modules["torch"]
    X = X.detach()
    check_layout(X)
    if X.layout == torch.strided:
        return X
    if X.layout == torch.sparse_coo and not X.is_coalesced() and not X.is_complex():
        X = X.to(torch.float64)  # the sum of some integers may be too large for their type
    if X.layout != torch.sparse_csr:
        X = X.to_sparse_csr()
    ends, columns = X.crow_indices(), X.col_indices()
    # PyTorch does not check them, and products would read other memory.
    inside = ends[0] == 0 and ends[-1] == len(columns) and bool((ends.diff() >= 0).all())
    if not (inside and (not len(columns) or (columns.min() >= 0 and columns.max() < X.shape[1]))):
        raise ValueError(
            f"the indices of a sparse tensor do not fit its shape {tuple(X.shape)}; create it with "
            "check_invariants=True to see why"
        )
    return X


def check_layout(X: Any) -> None:
    """Raise ValueError if a PyTorch tensor is neither dense nor a sparse matrix, or holds 8-bit floats or nothing."""
    torch: Any = sys.modules["torch"]
    is_sparse = X.layout in (torch.sparse_csr, torch.sparse_csc, torch.sparse_coo)
    if X.is_nested or X.is_quantized or not (is_sparse or X.layout == torch.strided):
        kind = "nested" if X.is_nested else "quantized" if X.is_quantized else f"of layout {X.layout}"
        raise ValueError(f"a tensor that is {kind} is not supported; pass a dense, CSR, CSC or COO tensor of numbers")
    if X.is_meta:
        raise ValueError("a tensor on the device 'meta' holds no numbers; pass one on 'cpu' or on a GPU")
    if X.is_floating_point() and X.dtype.itemsize < 2:
        raise ValueError(f"a tensor of {X.dtype} is not supported; pass one of float32 or float64")
    if is_sparse and (X.ndim != 2 or X.dense_dim()):
        raise ValueError(
            f"a sparse tensor must have two dimensions, both sparse, got shape {tuple(X.shape)} with {X.dense_dim()} "
            "that are dense"
        )


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN or ``pandas.NA``."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:  # pandas.NA has no truth value
        return True
    except ValueError:  # the truth value of an array is ambiguous
        return False
