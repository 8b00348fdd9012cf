"""Devices of this machine, and problems to solve there."""

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


@pytest.fixture(params=devices())
def device(request):
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    return request.param


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
