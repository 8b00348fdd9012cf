"""Sparse products by Triton kernels equal those by PyTorch alone."""

import numpy as np
import pytest
from scipy import sparse

from labelrank import as_graphs
from labelrank.losses import LogLinearLoss
from labelrank.models import LinearModel, Objective

torch = pytest.importorskip("torch")

from labelrank.torch import objective  # noqa: E402
from labelrank.torch.matrix import Flowing, GatheredMatrix, SparseMatrix, pad, padded_width  # noqa: E402

pytestmark = pytest.mark.usefixtures("kernels")


def pair(X, constant, k, device):
    X = sparse.csr_array(X)
    types = zip((X.indptr, X.indices, X.data), (np.int32, np.int32, np.float32), strict=True)
    csr = tuple(torch.as_tensor(part.astype(kind), device=device) for part, kind in types)
    return GatheredMatrix(csr, X.shape[1], constant, k), SparseMatrix(csr, X.shape[1], constant)


def halves(flow, k):
    return pad(flow.half(), (0, padded_width(k) - k))


def assert_close(found, expected, rtol):
    """Each row, which is that of a feature, by its largest number."""
    assert (found - expected).abs().amax(1).le(rtol * expected.abs().amax(1)).all()


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("k", [1, 5, 16, 140])
def test_products(device, signed, constant, k):
    rng = np.random.default_rng(0)
    n, d = 20, 14
    X = rng.exponential(size=(n, d)) * (rng.random((n, d)) < np.linspace(0.9, 0.05, d))
    X[:, -1] = 0
    if signed:
        X *= rng.choice([-1, 1], size=X.shape)
    found, expected = pair(X, constant, k, device)
    assert bool(len(found.head_columns)) == (not signed and k > 1)
    numbers = torch.as_tensor(rng.random((2, max(n, d), k)), dtype=torch.float32, device=device)
    coef, (inflow, outflow) = numbers[0, :d] - 0.5, numbers[:, :n]
    np.testing.assert_allclose(
        found.scores(coef, coef[0]).cpu(), expected.scores(coef, coef[0]).cpu(), rtol=0, atol=5e-3
    )
    both = Flowing(halves(inflow, k), halves(outflow, k))
    one = torch.where(inflow > outflow, inflow, -outflow)
    for flows, plain in ((both, Flowing(inflow, outflow)), (Flowing(halves(one, k), None), Flowing(one, None))):
        for mine, theirs in zip(found.weights(flows, k), expected.weights(plain, k), strict=True):
            assert_close(mine, theirs, 1e-3)
    np.testing.assert_allclose(
        found.transposed(halves(one, k), k).cpu(), expected.transposed(one, k).cpu(), rtol=0, atol=2e-2
    )


def test_columns_of_small_numbers_keep_their_digits(device):
    """Beside large ones, in the same dense block of 16-bit numbers, they would be rounded to zero."""
    X = np.random.default_rng(0).exponential(size=(30, 12)) * np.logspace(-8, 3, 12)
    found, expected = pair(X, True, 16, device)
    assert len(found.head_columns)
    flow = torch.ones((30, 16), device=device)
    assert_close(found.transposed(halves(flow, 16), 16), expected.transposed(flow, 16), 1e-3)


@pytest.mark.parametrize("levels", [2, 4])
@pytest.mark.parametrize("smallest", [1.0, 1e-37])
def test_objectives(device, monkeypatch, levels, smallest):
    """A part whose rows all have a tiny weight adds nothing."""
    rng = np.random.default_rng(0)
    X = sparse.csr_array(rng.exponential(size=(30, 12)) * (rng.random((30, 12)) < 0.5))
    ranks = np.minimum(rng.random((30, 6)).argsort(axis=1) + 1.0, levels)
    monkeypatch.setattr(objective, "NONZEROS", X.nnz // 2)
    loss = LogLinearLoss(as_graphs(ranks), "domination", np.repeat([1.0, smallest], 15))
    exact = Objective(LinearModel(X, 6), loss)
    found = objective.TorchObjective(exact, torch.device(device))
    coef = rng.normal(size=exact.coef_shape)
    value, *weights = exact.value_and_weights(coef)
    other, *others = found.value_and_weights(found.asarray(coef))
    assert other == pytest.approx(value, rel=1e-3)
    for mine, theirs in zip(others, weights, strict=True):
        np.testing.assert_allclose(mine.cpu(), theirs, rtol=0, atol=1e-3 * theirs.max())
    gradient = found.value_and_gradient(found.asarray(coef))[1]
    np.testing.assert_allclose(gradient.cpu(), weights[0] - weights[1], rtol=0, atol=1e-3 * weights[0].max())
