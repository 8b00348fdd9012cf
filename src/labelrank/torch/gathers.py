"""Triton kernels of the sparse products: they gather rows of coefficients, or of flows, and add them up in float32.

Gathers bound these products, so that flows are stored in 16 bits; sums are always float32. A program works on `WIDE`
entries of the matrix at a time, which keeps as many loads in flight, and on at most 128 labels.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

WIDE = 4


@triton.jit
def _rows(
    pointers, columns, values, source, head, scale, intercept, out, stride,
    WIDTH: tl.constexpr, WIDE: tl.constexpr, HEAD: tl.constexpr,
):  # fmt: skip
    """A row of a CSR matrix times `source`, plus the two halves of `head`, scaled, plus the intercept."""
    row = tl.program_id(0).to(tl.int64)
    label = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)
    stored = label < stride  # source, head and out have this many columns: an aligned number, for wide loads
    first, last = tl.load(pointers + row), tl.load(pointers + row + 1)
    total = tl.zeros((WIDE, WIDTH), tl.float32)
    for start in range(first, last, WIDE):
        at = start + tl.arange(0, WIDE)
        there = at < last
        column = tl.load(columns + at, there, 0).to(tl.int64)
        value = tl.load(values + at, there, 0.0).to(tl.float32)
        block = tl.load(source + column[:, None] * stride + label[None, :], there[:, None] & stored[None, :], 0.0)
        total += value[:, None] * block.to(tl.float32)
    found = tl.sum(total, 0) + tl.load(intercept + label, stored, 0.0)
    if HEAD:
        place = head + row * 2 * stride + label
        found += tl.load(scale) * (tl.load(place, stored, 0.0) + tl.load(place + stride, stored, 0.0))
    tl.store(out + row * stride + label, found, stored)


@triton.jit
def _pieces(
    features, starts, stops, rows, values, source, plus, minus, k, stride,
    WIDTH: tl.constexpr, WIDE: tl.constexpr, BOTH: tl.constexpr,
):  # fmt: skip
    """Add pieces of the columns of a matrix times `source` to `plus`.

    With `BOTH`, positive products are added to `plus` and the sizes of negative ones to `minus`.
    """
    piece = tl.program_id(0)
    label = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)
    inside, stored = label < k, label < stride
    feature = tl.load(features + piece).to(tl.int64)
    first, last = tl.load(starts + piece), tl.load(stops + piece)
    up = tl.zeros((WIDE, WIDTH), tl.float32)
    down = tl.zeros((WIDE, WIDTH), tl.float32)
    for start in range(first, last, WIDE):
        at = start + tl.arange(0, WIDE)
        there = at < last
        row = tl.load(rows + at, there, 0).to(tl.int64)
        value = tl.load(values + at, there, 0.0).to(tl.float32)
        block = tl.load(source + row[:, None] * stride + label[None, :], there[:, None] & stored[None, :], 0.0)
        product = value[:, None] * block.to(tl.float32)
        if BOTH:
            up += tl.maximum(product, 0.0)
            down += tl.maximum(-product, 0.0)
        else:
            up += product
    place = feature * k + label
    tl.atomic_add(plus + place, tl.sum(up, 0), inside, sem="relaxed")
    if BOTH:
        tl.atomic_add(minus + place, tl.sum(down, 0), inside, sem="relaxed")


def _width(k: int) -> int:
    return min(128, triton.next_power_of_2(k))


def row_products(
    csr: tuple[Any, ...],
    source: torch.Tensor,
    head: tuple[torch.Tensor, torch.Tensor] | None,
    intercept: torch.Tensor,
) -> torch.Tensor:
    """Return the rows of a CSR matrix times `source`, plus both halves of the columns of `head`, plus the intercept.

    `head` comes with a scale. `source`, `intercept` and a half of `head` have the same, aligned number of columns, and
    so has the result.
    """
    pointers, columns, values = csr
    n, columns_of_source = len(pointers) - 1, source.shape[1]
    out = torch.empty((n, columns_of_source), dtype=torch.float32, device=source.device)
    width = _width(columns_of_source)
    _rows[(n, triton.cdiv(columns_of_source, width))](
        pointers, columns, values, source, *(head or (out, out)), intercept, out, columns_of_source,
        WIDTH=width, WIDE=WIDE, HEAD=head is not None, num_warps=1,
    )  # fmt: skip
    return out


def add_pieces(
    pieces: tuple[Any, ...], source: torch.Tensor, plus: torch.Tensor, minus: torch.Tensor | None = None
) -> None:
    """Add the product of a transposed matrix with `source` to `plus`, or its two signs to `plus` and `minus`."""
    k = plus.shape[1]
    width = _width(k)
    _pieces[(len(pieces[0]), triton.cdiv(k, width))](
        *pieces, source, plus, plus if minus is None else minus, k, source.stride(0),
        WIDTH=width, WIDE=WIDE, BOTH=minus is not None, num_warps=1,
    )  # fmt: skip
