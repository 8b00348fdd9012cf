"""Devices of this machine, and problems to solve there."""

import os
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from labelrank import ranks_from_scores


def devices():
    try:
        import torch
    except ImportError:
        return ["cpu"]
    return ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]


if "cuda" not in devices():
    os.environ.setdefault("TRITON_INTERPRET", "1")  # read when Triton is imported


@pytest.fixture(params=devices())
def device(request):
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    return request.param


@pytest.fixture
def kernels(device, monkeypatch):
    """Use Triton kernels, flows in 16 bits and dense blocks in small data; on the processor by Triton's interpreter."""
    pytest.importorskip("triton", minversion="3.7" if device == "cpu" else None)  # whose interpreter takes NumPy 2.4
    import torch

    from labelrank.torch import matrix, objective

    for name, value in {"LARGE": 0, "SMALLEST_HEAD": 4, "PIECE": 8}.items():
        monkeypatch.setattr(matrix, name, value)
    if device == "cuda":
        return
    if "cuda" in devices():
        pytest.skip("compiled for the GPU")
    product, matrix_on = torch.mm, matrix.matrix_on

    def gathered(*arguments):
        plain = matrix_on(*arguments)
        if not isinstance(plain, matrix.SparseMatrix) or plain.values.dtype != torch.float32:
            return plain
        csr = plain.pointers, plain.columns, plain.values
        return matrix.GatheredMatrix(csr, plain.shape[1], plain.constant, arguments[3])

    monkeypatch.setattr(objective, "matrix_on", gathered)
    monkeypatch.setattr(torch, "mm", lambda a, b, out_dtype: product(a.to(out_dtype), b.to(out_dtype)))
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: SimpleNamespace(L2_cache_size=2000))
    monkeypatch.setattr(matrix, "_mixed_products", lambda: True)


class Problem:
    """Features and incomplete rankings of labels, or relevant sets."""

    def __init__(self, kind, n=300, d=90, k=7):
        rng = np.random.default_rng(3)
        X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.3)
        if "counts" in kind:
            X = abs(X)
        scores = X @ rng.normal(size=(d, k)) + rng.normal(size=(n, k))
        self.ranks = ranks_from_scores(scores)
        self.ranks[rng.random((n, k)) < 0.2] = np.nan
        self.sets = (scores > 1).astype(float)
        self.weight = rng.integers(0, 3, size=n).astype(float)
        self.X = sparse.csr_array(X) if "sparse" in kind else X


@pytest.fixture(params=["dense", "sparse"])
def few(request):
    return Problem(request.param, n=100, d=20, k=5)


@pytest.fixture(params=["dense", "dense counts", "sparse", "sparse counts"])
def problem(request):
    return Problem(request.param)
