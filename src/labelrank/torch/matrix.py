r"""Features on a device, and their products with coefficients and with flows.

Three kinds: dense; sparse by PyTorch alone; sparse by the kernels of :mod:`labelrank.torch.gathers`, with the most
frequent columns as a dense block of 16-bit numbers for the matrix units. Flows come as `Flowing`: the weights of
boosting are the positive and the negative products of :math:`X^\top (T - I)`, taken apart, where no label has both
flows.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy import sparse
from torch import Tensor
from torch.nn.functional import embedding_bag, pad

from labelrank._arrays import row_blocks
from labelrank.supervision import stacklevel_of_user
from labelrank.torch.device import entries_of_block, first_line, free_memory, tensor_of
from labelrank.torch.features import DeviceFeatures

BLOCK = 2**27  # numbers of a block of rows in float64
PIECE = 512  # entries of a column that a program of a kernel adds up
# Measured on an H200: a stored number of the dense block costs as much as this share of a gathered label, there and
# back. A column belongs to the block where that is less than its entries times the number of labels.
DENSE_COST = 1.4
SMALLEST_HEAD = 64
LARGE = 2**25  # entries from which on 16 bits are used: they pay, and rounding averages out
SMALLEST_NORMAL, LARGEST = 2.0**-14, 6e4  # between them, 16-bit numbers have all their digits
ALIGNED = 16  # rows that are gathered begin at multiples of 32 bytes


class Flowing(NamedTuple):
    """Flows of some rows, times a scale: T − I alone if no label has both, otherwise T and I."""

    first: Tensor
    second: Tensor | None


def padded_width(k: int) -> int:
    """Number of columns that rows of `k` labels are stored with."""
    return -(-k // ALIGNED) * ALIGNED


class DenseMatrix:
    """Dense features."""

    halves = False

    def __init__(self, X: Tensor, constant: bool) -> None:
        self.X, self.constant = X, constant
        self.has_negative = bool((X < 0).any())

    def scores(self, coef: Tensor, intercept: Tensor) -> Tensor:
        """X @ coef + intercept."""
        return torch.addmm(intercept, self.X, coef)

    def transposed(self, source: Tensor, k: int) -> Tensor:
        """Xᵀ @ source."""
        return _with_sums(self.X.T @ source, source, self.constant)

    def weights(self, flows: Flowing, k: int) -> tuple[Tensor, Tensor]:
        """[X]₊ᵀ T + [X]₋ᵀ I and [X]₊ᵀ I + [X]₋ᵀ T."""
        inflow, outflow = _apart(flows)
        if not self.has_negative:
            return self.transposed(inflow, k), self.transposed(outflow, k)
        plus, minus = self.X.new_zeros((2, self.X.shape[1], k))
        for rows in self._blocks():
            upper = self.X[rows].clamp(min=0)
            lower = upper - self.X[rows]
            plus.addmm_(upper.T, inflow[rows]).addmm_(lower.T, outflow[rows])
            minus.addmm_(upper.T, outflow[rows]).addmm_(lower.T, inflow[rows])
        return _with_sums(plus, inflow, self.constant), _with_sums(minus, outflow, self.constant)

    def largest_norm(self, counted: Tensor) -> float:
        """Largest 1-norm of the counted rows."""
        norms = (self.X[rows].abs().sum(1, dtype=torch.float64) for rows in self._blocks())
        return float(torch.where(counted, torch.cat(list(norms)), 0.0).max())

    def mean_squares(self, share: Tensor) -> Tensor:
        """Weighted sums of the squares of each column."""
        squares = torch.zeros(self.X.shape[1], dtype=torch.float64, device=share.device)
        for rows in self._blocks():
            squares += self.X[rows].to(torch.float64).square().T @ share[rows]
        return squares

    def _blocks(self) -> Iterator[slice]:
        """Rows in blocks, where copies of all of X would leave too little memory for it."""
        n, d = self.X.shape
        return row_blocks(n, d, entries_of_block(self.X.device, BLOCK))


class SparseMatrix:
    """Sparse features, by sums over bags of rows."""

    halves = False

    def __init__(self, csr: tuple[Tensor, ...], n_features: int, constant: bool) -> None:
        self.pointers, self.columns, self.values = csr
        self.constant = constant
        self.shape = (len(self.pointers) - 1, n_features)
        self.has_negative = bool((self.values < 0).any())
        self.transpose = _transposed(csr, n_features)

    def scores(self, coef: Tensor, intercept: Tensor) -> Tensor:
        """X @ coef + intercept."""
        return _bags(self.pointers, self.columns, self.values, coef) + intercept

    def transposed(self, source: Tensor, k: int) -> Tensor:
        """Xᵀ @ source."""
        return _with_sums(_bags(*self.transpose, source), source, self.constant)

    def weights(self, flows: Flowing, k: int) -> tuple[Tensor, Tensor]:
        """[X]₊ᵀ T + [X]₋ᵀ I and [X]₊ᵀ I + [X]₋ᵀ T."""
        inflow, outflow = _apart(flows)
        if not self.has_negative:
            return self.transposed(inflow, k), self.transposed(outflow, k)
        pointers, rows, values = self.transpose
        upper, lower = values.clamp(min=0), (-values).clamp(min=0)
        plus = _bags(pointers, rows, upper, inflow) + _bags(pointers, rows, lower, outflow)
        minus = _bags(pointers, rows, upper, outflow) + _bags(pointers, rows, lower, inflow)
        return _with_sums(plus, inflow, self.constant), _with_sums(minus, outflow, self.constant)

    def largest_norm(self, counted: Tensor) -> float:
        """Largest 1-norm of the counted rows."""
        values = self.values.abs().to(torch.float64)
        norms = _bags(self.pointers, self.columns, values, values.new_ones((self.shape[1], 1)))[:, 0]
        return float(torch.where(counted, norms, 0.0).max())

    def mean_squares(self, share: Tensor) -> Tensor:
        """Weighted sums of the squares of each column."""
        row = torch.repeat_interleave(torch.arange(self.shape[0], device=share.device), self.pointers.diff())
        squares = self.values.to(torch.float64) ** 2 * share[row]
        return torch.zeros(self.shape[1], dtype=torch.float64, device=share.device).index_add_(0, self.columns, squares)


class GatheredMatrix(SparseMatrix):
    """Sparse features by kernels, with a dense block of the most frequent columns if that is faster.

    `halves` says that flows are given in 16 bits.
    """

    def __init__(self, csr: tuple[Tensor, ...], n_features: int, constant: bool, k: int) -> None:
        self.pointers, self.columns, self.values = csr
        self.constant = constant
        n = len(self.pointers) - 1
        self.shape = (n, n_features)
        self.halves = len(self.values) >= LARGE
        device = self.values.device
        self.has_negative = bool((self.values < 0).any())
        row = torch.repeat_interleave(torch.arange(n, device=device), self.pointers.diff())
        self.head_columns = self._choose_head(k)
        self.head = torch.empty(0)
        self.tail: tuple[Tensor, ...] = csr
        column, value = self.columns, self.values
        if len(self.head_columns):
            place = torch.full((n_features,), -1, dtype=torch.int64, device=device)
            place[self.head_columns] = torch.arange(len(self.head_columns), device=device)
            at = place[column]
            frequent = at >= 0
            self.head = torch.zeros((n, len(self.head_columns)), dtype=torch.float16, device=device)
            self.head[row[frequent], at[frequent]] = value[frequent].half()
            row, column, value = row[~frequent], column[~frequent], value[~frequent]
            del at, frequent  # the pieces need room to be sorted
            pointers = torch.zeros(n + 1, dtype=self.pointers.dtype, device=device)
            pointers[1:] = torch.cumsum(torch.bincount(row, minlength=n), 0)
            self.tail = (pointers, column, value)
        if constant:
            row = torch.cat([row, torch.arange(n, device=device)])
            column = torch.cat([column, torch.full((n,), n_features, dtype=column.dtype, device=device)])
            value = torch.cat([value, value.new_ones(n)])
        self.pieces = _pieces(row, column, value, (n, n_features + constant), k)

    def _choose_head(self, k: int) -> Tensor:
        """Columns that are cheaper as a part of a dense block, without columns of numbers too small for 16 bits."""
        n, n_features = self.shape
        if self.has_negative or not self.halves or not float(self.values.max()) < LARGEST or not _mixed_products():
            return torch.empty(0, dtype=torch.int64)
        counts = torch.bincount(self.columns[self.values >= SMALLEST_NORMAL], minlength=n_features)
        order = torch.argsort(counts, descending=True)
        size = int((counts * k > DENSE_COST * n).sum())
        size = min(size, int(0.25 * free_memory(counts.device) / (2 * max(n, 1)))) // SMALLEST_HEAD * SMALLEST_HEAD
        return torch.sort(order[:size]).values

    def scores(self, coef: Tensor, intercept: Tensor) -> Tensor:
        """X @ coef + intercept; the coefficients of the dense block are split into two 16-bit numbers each."""
        from labelrank.torch.gathers import row_products

        k = coef.shape[1]
        more = (0, padded_width(k) - k)
        source = pad(coef, more)
        head = None
        if len(self.head_columns):
            frequent = source[self.head_columns]
            scale = frequent.abs().max().clamp(min=1e-30) / 2**12
            frequent = frequent / scale
            high = frequent.half()
            low = (frequent - high).half()
            head = torch.mm(self.head, torch.cat([high, low], 1), out_dtype=torch.float32), scale
        return row_products(self.tail, source, head, pad(intercept, more))[:, :k]

    def transposed(self, source: Tensor, k: int) -> Tensor:
        """Xᵀ @ source."""
        from labelrank.torch.gathers import add_pieces

        total = torch.zeros((self.shape[1] + self.constant, k), dtype=torch.float32, device=source.device)
        add_pieces(self.pieces, source, total)
        if len(self.head_columns):
            found = torch.mm(self.head.T, source.half(), out_dtype=torch.float32)
            total[self.head_columns] = found[:, :k]
        return total

    def weights(self, flows: Flowing, k: int) -> tuple[Tensor, Tensor]:
        """[X]₊ᵀ T + [X]₋ᵀ I and [X]₊ᵀ I + [X]₋ᵀ T."""
        from labelrank.torch.gathers import add_pieces

        if flows.second is not None and not self.has_negative:
            return self.transposed(flows.first, k), self.transposed(flows.second, k)
        shape = (2, self.shape[1] + self.constant, k)
        plus, minus = torch.zeros(shape, dtype=torch.float32, device=flows.first.device)
        add_pieces(self.pieces, flows.first, plus, minus)
        if flows.second is not None:
            add_pieces(self.pieces, flows.second, minus, plus)
        elif len(self.head_columns):
            both = torch.cat([flows.first.clamp(min=0), (-flows.first).clamp(min=0)], 1).half()
            found = torch.mm(self.head.T, both, out_dtype=torch.float32)
            width = flows.first.shape[1]
            plus[self.head_columns], minus[self.head_columns] = found[:, :k], found[:, width : width + k]
        return plus, minus


def matrix_on(
    X: Any, constant: bool, device: torch.device, k: int, dtype: torch.dtype = torch.float32
) -> DenseMatrix | SparseMatrix:
    """Return the features of some rows, a NumPy array, a SciPy CSR matrix or `DeviceFeatures`, on a device.

    With `constant`, the transposed products have a last row for a feature that is 1 in all rows.
    """
    resident, host = isinstance(X, DeviceFeatures), np.float32 if dtype == torch.float32 else np.float64
    thin: bool = X.is_sparse if resident else sparse.issparse(X)
    with np.errstate(over="ignore"):  # the solver refuses a loss that is not finite
        values = None if resident else (X.data if thin else X).astype(host, copy=False)
    if not thin:
        return DenseMatrix(X.values.to(dtype) if resident else tensor_of(values, device), constant)
    if resident:
        parts = *X.index, X.values
    else:
        parts = tuple(tensor_of(part, device) for part in (X.indptr, X.indices, values))
    index = _index_type(len(parts[2]))
    csr = parts[0].to(index), parts[1].to(torch.int32), parts[2].to(dtype)
    if device.type == "cuda" and dtype == torch.float32 and kernels_compile(device):
        return GatheredMatrix(csr, X.shape[1], constant, k)
    return SparseMatrix(csr, X.shape[1], constant)


def _apart(flows: Flowing) -> tuple[Tensor, Tensor]:
    """Return T and I, float32."""
    if flows.second is not None:
        return flows.first, flows.second
    return flows.first.clamp(min=0), (-flows.first).clamp(min=0)


def _with_sums(products: Tensor, source: Tensor, constant: bool) -> Tensor:
    return torch.cat([products, source.sum(0, keepdim=True)]) if constant else products


def _bags(pointers: Tensor, at: Tensor, values: Tensor, source: Tensor) -> Tensor:
    """Return the rows of a CSR matrix times `source`."""
    if not len(at):
        return source.new_zeros((len(pointers) - 1, source.shape[1]))
    at = at.to(pointers.dtype)  # which has room for the number of entries
    return embedding_bag(
        at, source.contiguous(), pointers, mode="sum", per_sample_weights=values, include_last_offset=True
    )


def _transposed(csr: tuple[Tensor, ...], n_features: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return the transpose of a CSR matrix."""
    pointers, columns, values = csr
    order = torch.argsort(columns, stable=True)
    row = torch.repeat_interleave(torch.arange(len(pointers) - 1, device=values.device), pointers.diff())
    of_columns = torch.zeros(n_features + 1, dtype=pointers.dtype, device=values.device)
    of_columns[1:] = torch.cumsum(torch.bincount(columns, minlength=n_features), 0)
    return of_columns, row[order].to(columns.dtype), values[order]


def _pieces(row: Tensor, column: Tensor, value: Tensor, shape: tuple[int, int], k: int) -> tuple[Tensor, ...]:
    """Return the columns of a matrix cut into pieces: feature, start and stop of each, and the sorted rows and values.

    Pieces are sorted by bands of rows whose flows fit the cache of the device, and then by column.
    """
    n, d = shape
    device = value.device
    cache = getattr(torch.cuda.get_device_properties(device), "L2_cache_size", 2**25)
    bands = max(1, round(2.0 * n * padded_width(k) / (0.4 * cache)))
    key = (row * bands // max(n, 1)) * d + column
    order = torch.argsort(key, stable=True)
    keys, counts = torch.unique_consecutive(key[order], return_counts=True)
    ends = torch.cumsum(counts, 0)
    parts = (counts + PIECE - 1) // PIECE
    which = torch.repeat_interleave(torch.arange(len(keys), device=device), parts)
    place = torch.arange(len(which), device=device) - (torch.cumsum(parts, 0) - parts)[which]
    starts = (ends - counts)[which] + place * PIECE
    stops = torch.minimum(starts + PIECE, ends[which])
    index = _index_type(len(value))
    return (keys % d)[which].int(), starts.to(index), stops.to(index), row[order].int(), value[order]


def _index_type(n_entries: int) -> torch.dtype:
    return torch.int32 if n_entries < 2**31 - 2**10 else torch.int64  # loops of kernels go a step beyond the end


@cache
def kernels_compile(device: torch.device) -> bool:
    """Whether Triton is installed and compiles kernels for a device, which takes a C compiler; warns if it does not."""
    if find_spec("triton") is None:
        return False
    row = torch.zeros((1, ALIGNED), dtype=torch.float32, device=device)
    ends = torch.tensor([0, 1], dtype=torch.int32, device=device)
    csr = ends, ends[:1], row[0, :1]  # a matrix with one entry
    try:
        from labelrank.torch.gathers import row_products

        row_products(csr, row, None, row[0])
    except torch.OutOfMemoryError:
        raise
    except Exception as error:  # of Triton, or of the compiler that it calls
        warnings.warn(
            f"Triton cannot compile for {device} ({first_line(error)}); sparse features use slower products of "
            "PyTorch. Triton needs a C compiler such as gcc",
            UserWarning,
            stacklevel=stacklevel_of_user(),
        )
        return False
    return True


def _mixed_products() -> bool:
    """Whether this version of PyTorch multiplies 16-bit matrices into a float32 one."""
    try:
        a = torch.ones((16, 16), dtype=torch.float16, device="cuda")
        torch.mm(a, a, out_dtype=torch.float32)
    except (TypeError, RuntimeError):
        return False
    return True
