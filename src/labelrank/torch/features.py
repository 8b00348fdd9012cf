"""Features in a tensor that is on the device of a learner: checked there, and never copied to the processor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from labelrank._arrays import FloatArray, canonical, check_layout, dense_or_csr, row_blocks
from labelrank.torch.device import entries_of_block, memory_errors

BLOCK = 2**27  # numbers of a block of rows in float64, where there is room for it


class DeviceFeatures:
    """Rows of features in tensors, dense or sparse CSR, for an objective on their device and for linear scores.

    Parameters
    ----------
    values : Tensor of shape (n_samples, n_features) or (n_stored,)
        Real numbers.
    index : tuple of Tensor, optional
        Pointers and columns of a sparse matrix, whose stored numbers are `values`.
    shape : tuple of int, optional
        Shape of a sparse matrix.

    Examples
    --------
    >>> import numpy as np, torch
    >>> from labelrank.torch.features import DeviceFeatures
    >>> DeviceFeatures(torch.eye(2)) @ np.array([[1.0, 2.0], [3.0, 4.0]])
    array([[1., 2.],
           [3., 4.]])
    """

    def __init__(
        self, values: Tensor, index: tuple[Tensor, Tensor] | None = None, shape: tuple[int, ...] | None = None
    ) -> None:
        self.values, self.index = values, index
        self.is_sparse = index is not None
        self.shape = tuple(values.shape) if shape is None else shape
        self.device = values.device

    def __len__(self) -> int:
        return self.shape[0]

    def as_tensor(self) -> Tensor:
        """The features as one tensor."""
        if self.index is None:
            return self.values
        return torch.sparse_csr_tensor(*self.index, self.values, size=self.shape, check_invariants=False)

    def __getitem__(self, rows: Any) -> DeviceFeatures:
        """Some consecutive rows or, if they are dense, the rows of an array of indices."""
        if self.index is None and isinstance(rows, slice):
            return DeviceFeatures(self.values[rows])
        if self.index is None:
            with self.memory_errors("a selection from", 8.0 * len(rows) * self.shape[1]):
                return DeviceFeatures(self.values[torch.as_tensor(rows, device=self.device)])
        start, stop, _ = rows.indices(len(self))
        pointers, columns = self.index
        pointers = pointers[start : stop + 1]
        part = slice(int(pointers[0]), int(pointers[-1]))
        index = pointers - pointers[0], columns[part]
        return DeviceFeatures(self.values[part], index, (stop - start, self.shape[1]))

    def __matmul__(self, coef: FloatArray) -> FloatArray:
        """Products with coefficients, computed on the device in float64, as a NumPy array."""
        if coef.ndim == 1:
            return (self @ coef[:, np.newaxis])[:, 0]
        found = np.empty((len(self), coef.shape[1]))
        per_row = max(self.values.numel() // max(len(self), 1), coef.shape[1], 1)
        with self.memory_errors("scoring", 8.0 * coef.size):
            right = torch.as_tensor(np.ascontiguousarray(coef, dtype=np.float64), device=self.device)
            for rows in self._blocks(per_row):
                found[rows] = self[rows]._product(right).cpu().numpy()
        return found

    def _product(self, right: Tensor) -> Tensor:
        if self.index is None:
            return self.values.double() @ right
        pointers, columns = self.index
        if not len(columns):
            return right.new_zeros((len(self), right.shape[1]))
        return embedding_bag(
            columns, right, pointers, mode="sum", per_sample_weights=self.values.double(), include_last_offset=True
        )

    def memory_errors(self, what: str, n_bytes: float = 0.0) -> Any:
        """Context in which a failed allocation is an error that says how much a block of rows and `n_bytes` need."""
        (n, d), entries = self.shape, min(self.values.numel(), BLOCK)
        return memory_errors(self.device, n_bytes + 24.0 * entries, f"{what} {n} x {d} data")

    def _blocks(self, per_row: int) -> Iterator[slice]:
        return row_blocks(len(self), per_row, entries_of_block(self.device, BLOCK))

    def check_finite(self, name: str) -> None:
        """Raise ValueError on NaN and infinity, which the estimator `name` does not take."""
        values = self.values
        if not values.is_floating_point():
            return
        for rows in row_blocks(len(values), max(values[:1].numel(), 1), entries_of_block(values.device, BLOCK)):
            if not bool(torch.isfinite(part := values[rows]).all()):
                found = "NaN" if bool(torch.isnan(part).any()) else f"infinity or a value too large for {values.dtype}"
                raise ValueError(f"Input X contains {found}; {name} needs finite numbers")

    def variance(self, weight: FloatArray) -> float:
        """Variance of all entries of dense features, their rows weighted."""
        with self.memory_errors("the variance of", 16.0 * len(self)):
            share = torch.as_tensor(weight / weight.sum(), device=self.device)
            mean = self.values.mean(1, dtype=torch.float64) @ share
            blocks = self._blocks(self.shape[1])
            return float(sum((self.values[b].double() - mean).square().mean(1) @ share[b] for b in blocks))

    def numpy(self) -> Any:
        """A copy on the processor, float64: a NumPy array, or a CSR matrix of SciPy."""
        X = canonical(self.as_tensor())
        return X.astype(np.float64) if self.is_sparse else np.ascontiguousarray(X, dtype=np.float64)


def check_tensor(X: Tensor, name: str, device: torch.device) -> DeviceFeatures:
    """Check, on its device, that a tensor has two dimensions and finite real numbers; sums entries given in parts.

    Parameters
    ----------
    X : Tensor
        What ``fit`` or a prediction is called with; not changed.
    name : str
        The estimator, for error messages.
    device : torch.device
        The device of X, or another one of its type, to which it is copied.
    """
    check_layout(X)
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {X.ndim}D tensor instead: X has shape {tuple(X.shape)}. Reshape X to "
            "(n_samples, n_features)"
        )
    if X.is_complex():
        raise ValueError(f"Complex data not supported: X has dtype {X.dtype}")
    for size, what in zip(X.shape, ("sample(s)", "feature(s)"), strict=True):
        if not size:
            raise ValueError(
                f"Found array with 0 {what} (shape={tuple(X.shape)}) while a minimum of 1 is required by {name}."
            )
    is_sparse = X.layout != torch.strided
    n_bytes = 40.0 * X._nnz() if is_sparse else 24.0 * min(X.numel(), BLOCK)
    with memory_errors(device, n_bytes, f"the check of {X.shape[0]} x {X.shape[1]} data"):
        X = X.to(device)
        features = _one_entry_each(dense_or_csr(X)) if is_sparse else DeviceFeatures(X.detach())
        features.check_finite(name)
    return features


def _one_entry_each(X: Tensor) -> DeviceFeatures:
    """Return the features of a CSR tensor, with sorted columns that differ within each row."""
    shape = tuple(X.shape)
    pointers, columns, values = (part.contiguous() for part in (X.crow_indices(), X.col_indices(), X.values()))
    falls = columns[1:] <= columns[:-1]
    starts = pointers[1:-1]
    inner = starts[(starts > 0) & (starts < len(columns))]
    falls[inner - 1] = False
    if not bool(falls.any()):
        return DeviceFeatures(values, (pointers, columns), shape)
    is_wide = values.dtype in (torch.float32, torch.float64)  # enough for a sum
    row = torch.repeat_interleave(torch.arange(shape[0], device=X.device), pointers.diff())
    values = values if is_wide else values.to(torch.float64)
    whole = torch.sparse_coo_tensor(torch.stack([row, columns.to(row.dtype)]), values, shape).coalesce()
    row, columns = whole.indices()
    pointers = torch.zeros(shape[0] + 1, dtype=row.dtype, device=X.device)
    pointers[1:] = torch.cumsum(torch.bincount(row, minlength=shape[0]), 0)
    return DeviceFeatures(whole.values(), (pointers, columns.contiguous()), shape)
