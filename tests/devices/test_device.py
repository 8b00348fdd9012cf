"""Devices that are not there."""

import sys
import warnings
from importlib.machinery import ModuleSpec
from types import ModuleType

import numpy as np
import pytest

from labelrank import KernelRidgeRanker, LogLinearRanker, RankRLS
from labelrank.torch import find_device
from labelrank.torch.device import memory_errors

X, Y = np.array([[1.0], [-1.0]]), [[1, 2], [2, 1]]


@pytest.fixture
def no_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)


@pytest.mark.usefixtures("no_torch")
def test_without_torch():
    for device in ("cpu", "cuda"):
        with pytest.raises(ImportError, match=r"labelrank\[torch\]"):
            LogLinearRanker(device=device).fit(X, Y)
    coefs = [LogLinearRanker(device=device).fit(X, Y).coef_ for device in (None, "auto")]
    np.testing.assert_array_equal(*coefs)


def test_without_a_gpu():
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    model = LogLinearRanker().fit(X, Y)
    coef = model.coef_
    with pytest.raises(ValueError, match=r"device='cuda' needs a GPU.*labelrank\[torch\]"):
        model.set_params(device="cuda").fit(X, Y)
    assert model.coef_ is coef
    assert find_device("auto") is None


@pytest.mark.filterwarnings("error")
def test_auto_is_silent_about_an_old_driver(monkeypatch):
    torch = pytest.importorskip("torch")

    def is_available():
        warnings.warn("CUDA initialization: the NVIDIA driver on your system is too old", UserWarning, stacklevel=2)
        return False

    monkeypatch.setattr(torch.cuda, "is_available", is_available)
    assert find_device("auto") is None
    with pytest.raises(UserWarning, match="driver"):
        find_device("cuda")


def test_without_a_compiler(monkeypatch):
    """Triton is there and cannot compile: products of PyTorch remain."""
    torch = pytest.importorskip("torch")
    from labelrank.torch.matrix import kernels_compile

    def fail(*arguments):
        raise RuntimeError("Failed to find C compiler")

    triton, gathers = ModuleType("triton"), ModuleType("labelrank.torch.gathers")
    triton.__spec__, gathers.row_products = ModuleSpec("triton", None), fail
    monkeypatch.setitem(sys.modules, "triton", triton)
    monkeypatch.setitem(sys.modules, "labelrank.torch.gathers", gathers)
    with pytest.warns(UserWarning, match=r"cannot compile for cpu \(Failed to find C compiler\).* such as gcc"):
        assert not kernels_compile(torch.device("cpu"))


def test_too_little_memory(monkeypatch):
    """The error says how much was needed, and the estimator stays as it was."""
    torch = pytest.importorskip("torch")

    def fail(*arguments, **named):
        raise torch.OutOfMemoryError("no memory")

    model = LogLinearRanker(device="cpu").fit(X, Y)
    coef = model.coef_
    monkeypatch.setattr("labelrank.torch.objective.matrix_on", fail)
    with pytest.raises(MemoryError, match=r"needs about .* of memory on device 'cpu'"):
        model.fit(X, Y)
    assert model.coef_ is coef


def no_memory(*arguments, **named):
    import torch

    raise torch.OutOfMemoryError("no memory")


def no_memory_of_the_processor(*arguments, **named):
    import torch

    return torch.empty(2**55, dtype=torch.uint8, device="cpu")


@pytest.mark.parametrize("fail", [no_memory, no_memory_of_the_processor])
@pytest.mark.parametrize(
    ("model", "target", "fails", "words"),
    [
        (LogLinearRanker(), Y, "labelrank.torch.solvers._direction", "learning from 2 x 1 data and 2 labels"),
        (RankRLS(), Y[0], "torch.linalg.cholesky_ex", "least squares with 1 coefficients"),
        (RankRLS(n_basis=1), Y[0], "labelrank.torch.least_squares.kernel_values", "least squares of 2 items"),
        (RankRLS(n_basis=1), Y[0], "torch.linalg.cholesky_ex", "least squares with 1 coefficients"),
        (KernelRidgeRanker(), Y, "torch.linalg.cholesky_ex", "least squares of 2 rankings and 1 features"),
        (KernelRidgeRanker(), Y, "labelrank.torch.least_squares._features", "least squares of 2 rankings"),
    ],
    ids=str,
)
def test_too_little_memory_anywhere(model, target, fails, words, fail, monkeypatch):
    pytest.importorskip("torch")
    more = {"groups": None} if isinstance(model, RankRLS) else {}
    model.set_params(device="cpu").fit(X, target, **more)
    before = dict(vars(model))
    monkeypatch.setattr(fails, fail)
    with pytest.raises(MemoryError, match=rf"{words}.* needs about .* of memory on device 'cpu'"):
        model.fit(X, target, **more)
    assert all(vars(model)[name] is value for name, value in before.items())


@pytest.mark.parametrize(
    ("fails", "words"),
    [
        ("torch.isfinite", "the check of 2 x 1 data"),
        ("torch.Tensor.double", "scoring 2 x 1 data"),
        ("labelrank.torch.least_squares.kernel_values", "kernel values of 2 x 1 data"),
    ],
)
def test_too_little_memory_to_predict(fails, words, monkeypatch):
    torch = pytest.importorskip("torch")
    models = LogLinearRanker(device="cpu").fit(X, Y), RankRLS(kernel="rbf", n_basis=1, device="cpu")
    models[1].fit(X, Y[0], groups=None)
    monkeypatch.setattr(fails, no_memory)
    with pytest.raises(MemoryError, match=rf"{words} needs about .* of memory on device 'cpu'"):
        models["kernel" in fails].predict(torch.as_tensor(X))


def test_too_little_memory_for_a_variance(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr("torch.Tensor.double", no_memory)
    with pytest.raises(MemoryError, match="the variance of 2 x 1 data needs about"):
        RankRLS(kernel="rbf", n_basis=1, device="cpu").fit(torch.as_tensor(X), Y[0], groups=None)


def test_too_little_memory_to_reorder_items(monkeypatch):
    """Items of RankRLS are sorted by their groups, on the device."""
    torch = pytest.importorskip("torch")
    items, original = torch.rand(6, 2), torch.Tensor.__getitem__

    def guarded(self, index):
        if isinstance(index, torch.Tensor) and self.shape == (6, 2):
            raise torch.OutOfMemoryError("no memory")
        return original(self, index)

    monkeypatch.setattr(torch.Tensor, "__getitem__", guarded)
    with pytest.raises(MemoryError, match="a selection from 6 x 2 data needs about"):
        RankRLS(device="cpu").fit(items, np.arange(6.0), groups=[0, 1, 0, 1, 0, 1])


def test_other_errors_are_not_about_memory():
    pytest.importorskip("torch")
    with pytest.raises(RuntimeError, match="another"), memory_errors("cpu", 1.0, "this"):
        raise RuntimeError("another")


def test_eigenvectors_that_do_not_fit(monkeypatch):
    pytest.importorskip("torch")
    model = RankRLS(device="cpu").fit(X, Y[0], groups=None)
    expected = RankRLS().fit(X, Y[0], groups=None).path([1.0, 2.0])
    with monkeypatch.context() as patch:
        patch.setattr("torch.linalg.eigh", no_memory)
        with pytest.raises(MemoryError, match="least squares with 1 coefficients needs"):
            model.path([1.0])
    np.testing.assert_allclose(model.path([1.0, 2.0]), expected)


def test_device_is_checked():
    with pytest.raises(ValueError, match="'device' parameter of LogLinearRanker"):
        LogLinearRanker(device="gpu").fit(X, Y)
