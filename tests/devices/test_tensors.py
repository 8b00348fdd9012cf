"""Tensors as features: those on the device of a learner stay there."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from labelrank import GraphRanker, KernelRidgeRanker, LabelCoveringClassifier, LogLinearRanker, RankRLS
from labelrank.metrics import get_scorer

torch = pytest.importorskip("torch")

from labelrank.torch.features import check_tensor  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:Sparse:UserWarning")  # of PyTorch, about its own class


def tensor_of(X, device, dtype=torch.float64):
    if isinstance(X, np.ndarray):
        return torch.as_tensor(X, dtype=dtype, device=device)
    parts = [torch.as_tensor(part) for part in (X.indptr, X.indices, X.data)]
    return torch.sparse_csr_tensor(*parts, size=X.shape, dtype=dtype, device=device, check_invariants=True)


@pytest.fixture
def no_large_copies(monkeypatch):
    """Refuse to hand the contents of a large tensor to the processor."""
    limit = 300 * 90 * 0.2

    for name in ("cpu", "numpy", "tolist", "__array__"):
        original = getattr(torch.Tensor, name)

        def guarded(self, *arguments, _original=original, _name=name, **named):
            size = self.values().numel() if self.layout == torch.sparse_csr else self.numel()
            assert size < limit, f"{_name} of a tensor with {size} numbers"
            return _original(self, *arguments, **named)

        monkeypatch.setattr(torch.Tensor, name, guarded)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("model", [LogLinearRanker(), GraphRanker(solver="boosting", max_iter=5), "covering"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_they_stay_there(problem, device, dtype, model, no_large_copies):
    X, y = tensor_of(problem.X, device, dtype), torch.as_tensor(problem.ranks, device=device)
    if model == "covering":
        model, y = LabelCoveringClassifier(), torch.as_tensor(problem.sets, device=device)
    weight = torch.as_tensor(problem.weight, device=device)
    expected, found = (type(model)(**{**model.get_params(), "device": where}) for where in (None, device))
    expected.fit(problem.X, np.asarray(problem.sets if y.max() == 1 else problem.ranks), problem.weight)
    found.fit(X, y, weight)
    assert found.n_features_in_ == 90
    scores = found.decision_function(X)
    assert isinstance(scores, np.ndarray)
    np.testing.assert_allclose(scores, expected.decision_function(problem.X), atol=1e-2 * abs(scores).max())
    np.testing.assert_allclose(scores, found.decision_function(problem.X), atol=1e-6 * abs(scores).max())
    np.testing.assert_array_equal(found.predict(X).shape, problem.ranks.shape)


def test_a_float32_tensor_is_not_even_copied(problem, device):
    from labelrank.torch.matrix import matrix_on

    X = tensor_of(problem.X, device, torch.float32)
    matrix = matrix_on(check_tensor(X, "model", X.device), True, X.device, 7)
    if X.layout == torch.sparse_csr:
        assert matrix.values.data_ptr() == X.values().data_ptr()
    else:
        assert matrix.X.data_ptr() == X.data_ptr()


def test_scores_of_tensors(device):
    """On a GPU, as with a gradient, NumPy cannot read them."""
    X = torch.eye(6, device=device).requires_grad_()
    ranks, weight = torch.tensor([[1.0, 2.0], [2.0, 1.0]] * 3), torch.ones(6)
    ranks, weight = (part.to(device).requires_grad_() for part in (ranks, weight))
    sets = (ranks.detach() - 1).requires_grad_()
    for model, y in [
        (LogLinearRanker(device=device), ranks),
        (LabelCoveringClassifier(device=device), sets),
        (LabelCoveringClassifier(device=device), sets[:, 0]),
        (KernelRidgeRanker(device=device), ranks),
    ]:
        assert model.fit(X, y, weight).score(X, y, weight) == 1.0
    assert get_scorer("kendall_tau")(model, X, ranks, sample_weight=weight) == 1.0
    y, groups = torch.arange(6.0, device=device).requires_grad_(), torch.zeros(6, device=device).requires_grad_()
    items = RankRLS(device=device).fit(X, y, weight, groups=groups)
    assert items.score(X, y, weight, groups=groups) == 1.0


def test_in_parts(problem, device, monkeypatch):
    """Rows of tensors that leave too little memory for an objective are worked on in parts."""
    X = tensor_of(problem.X, device)
    whole = LogLinearRanker(device=device).fit(X, problem.ranks)
    monkeypatch.setattr("labelrank.torch.objective.free_memory", lambda _: 1e5)
    monkeypatch.setattr("labelrank.torch.features.BLOCK", 1000)
    parts = LogLinearRanker(device=device).fit(X, problem.ranks)
    scores = whole.decision_function(X)
    np.testing.assert_allclose(parts.decision_function(X), scores, atol=1e-2 * abs(scores).max())


def test_other_layouts_and_types(device):
    X, y = np.array([[0, 1], [2, 0], [0, 3]]), [[1, 2], [2, 1], [1, 2]]
    expected = LogLinearRanker(device=device).fit(X, y)
    twice = torch.sparse_csr_tensor(
        [0, 1, 3, 4], [1, 0, 0, 1], [1.0, 0.5, 1.5, 3.0], size=(3, 2), device=device, check_invariants=False
    )
    whole = torch.as_tensor(X, device=device)
    for tensor in (
        twice,
        whole,
        whole.to_sparse(),
        whole.half(),
        whole.to(torch.bfloat16),
        whole.to(torch.bfloat16).to_sparse_csr(),
        whole.int().to_sparse_csc(),
        whole.float().requires_grad_(),
        whole.T.contiguous().T,
    ):
        for where in (device, None):
            model = LogLinearRanker(device=where).fit(tensor, y)
            np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-4)
            np.testing.assert_allclose(model.decision_function(tensor), model.decision_function(X), atol=1e-6)
    empty = LogLinearRanker(device=device).fit(torch.zeros(3, 2, device=device).to_sparse_csr(), y)
    np.testing.assert_array_equal(empty.coef_, 0)
    assert empty.decision_function(torch.zeros(1, 2, device=device).to_sparse_csr()).shape == (1, 2)


def test_entries_with_gaps_between_them(device):
    """A CSR tensor may hold views, which kernels that take pointers would misread."""
    X, y = torch.tensor([[0.0, 1.0], [2.0, 0.0], [0.0, 3.0]], device=device), [[1, 2], [2, 1], [1, 2]]
    whole = X.to_sparse_csr()
    columns, values = (torch.stack([part, part + 1], 1)[:, 0] for part in (whole.col_indices(), whole.values()))
    gaps = torch.sparse_csr_tensor(whole.crow_indices(), columns, values, size=X.shape, check_invariants=False)
    assert not gaps.values().is_contiguous()
    checked = check_tensor(gaps, "model", torch.device(device))
    assert all(part.is_contiguous() for part in (*checked.index, checked.values))
    for model in (LogLinearRanker(device=device), KernelRidgeRanker(kernel="rbf")):
        expected = model.fit(X, y).decision_function(X)
        np.testing.assert_allclose(model.fit(gaps, y).decision_function(gaps), expected, atol=1e-6)


@pytest.mark.parametrize("where", [None, "device"])
@pytest.mark.parametrize("solver", ["lbfgs", "boosting"])
def test_sums_of_entries_given_in_parts(device, where, solver):
    """They may be too large for the type of the parts, which may have opposite signs."""
    y, at = [[1, 2], [2, 1], [1, 2]], torch.tensor([[0, 0, 1, 1, 2], [0, 0, 1, 1, 1]], device=device)
    values = torch.tensor([100, 100, 120, -20, 50], dtype=torch.int8, device=device)
    coo = torch.sparse_coo_tensor(at, values, size=(3, 2), check_invariants=True)
    pointers = torch.tensor([0, 2, 4, 5], device=device)
    csr = torch.sparse_csr_tensor(pointers, at[1], values, size=(3, 2), check_invariants=False)
    X = np.array([[200.0, 0.0], [0.0, 100.0], [0.0, 50.0]])
    model = LogLinearRanker(solver=solver, max_iter=20, device=device if where else None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        expected = model.fit(X, y).coef_
        for tensor in (coo, csr):
            np.testing.assert_allclose(model.fit(tensor, y).coef_, expected, atol=1e-4 * abs(expected).max())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_sum_of_parts_that_overflows(device, dtype):
    pointers, columns, largest = torch.tensor([0, 2, 3]), torch.tensor([0, 0, 1]), torch.finfo(dtype).max
    values = torch.tensor([largest, largest, 1.0], dtype=dtype)
    parts = torch.sparse_csr_tensor(pointers, columns, values, size=(2, 2), check_invariants=False).to(device)
    with pytest.raises(ValueError, match="contains infinity"):
        LogLinearRanker(device=device).fit(parts, [[1, 2], [2, 1]])


@pytest.mark.parametrize("where", [None, "device"])
def test_layouts_that_are_not_taken(device, where):
    X, y = torch.eye(4, device=device), [[1, 2], [2, 1], [1, 2], [2, 1]]
    model = LogLinearRanker(device=device if where else None)
    for wrong, words in [
        (X.to_sparse_bsr((2, 2)), "of layout torch.sparse_bsr"),
        (X.to_sparse(1), "both sparse, got shape .* with 1 that are dense"),
        (torch.nested.nested_tensor([X, X], layout=torch.jagged), "nested"),
        (torch.eye(4).to_mkldnn(), "of layout torch._mkldnn"),
        (X.to("meta"), "'meta' holds no numbers"),
        (X.to(torch.float8_e5m2), "tensor of torch.float8_e5m2 is not supported; pass one of float32"),
    ]:
        with pytest.raises(ValueError, match=words):
            model.fit(wrong, y)
    model.fit(X, y)
    with pytest.raises(ValueError, match="'meta' holds no numbers"):
        model.predict(X.to("meta"))


@pytest.mark.parametrize("where", [None, "device"])
@pytest.mark.parametrize("parts", [([0, 1, 2], [0, 9]), ([0, 1, 2], [0, -1]), ([0, 2, 1], [0, 1]), ([0, 1, 1], [0, 1])])
def test_indices_that_do_not_fit(device, where, parts):
    """PyTorch creates such tensors without an error, and reads other memory."""
    wrong = torch.sparse_csr_tensor(*parts, [1.0, 2.0], size=(2, 3), device=device, check_invariants=False)
    with pytest.raises(ValueError, match=r"indices of a sparse tensor do not fit its shape \(2, 3\)"):
        LogLinearRanker(device=device if where else None).fit(wrong, [[1, 2], [2, 1]])


@pytest.mark.parametrize("make", [lambda X: X.clone().requires_grad_(), lambda X: X.bfloat16(), torch._neg_view])
def test_tensors_of_label_features(device, make):
    X, y = make(torch.rand(6, 2, 3, generator=torch.Generator().manual_seed(0)).to(device)), [[1, 2], [2, 1]] * 3
    model = GraphRanker(model="label_features").fit(X, y)
    plain = X.detach().resolve_neg().double().cpu().numpy()
    np.testing.assert_allclose(model.decision_function(X), model.decision_function(plain), rtol=1e-6)


@pytest.mark.parametrize("default", ["meta"])
def test_the_default_device_of_tensors_does_not_matter(device, default, monkeypatch):
    """New tensors are on the device of the data."""
    monkeypatch.setattr("labelrank.torch.features.BLOCK", 10)
    monkeypatch.setattr("labelrank.torch.objective.free_memory", lambda _: 1.0)
    X, y = torch.eye(6, dtype=torch.float64, device=device), np.array([[1, 2], [2, 1]] * 3)
    of_items = {"kernel": "rbf", "n_basis": 3, "random_state": 0}
    found = []
    for where in ("cpu", default):
        with torch.device(where):
            models = [LogLinearRanker(device=device).fit(part, y) for part in (X, X.to_sparse_csr())]
            scores = [models[0].predict(X), models[1].predict(X.to_sparse_csr())]
            items = RankRLS(device=device, **of_items).fit(X, y[:, 0], groups=[0, 1, 0, 1, 0, 1]).predict(X)
        found.append(np.column_stack([*scores, items]))
    np.testing.assert_allclose(found[1], found[0])


def test_they_are_checked(device):
    X, y = torch.eye(3, device=device), [[1, 2], [2, 1], [1, 2]]
    model = LogLinearRanker(device=device).fit(X, y)
    for wrong, words in [
        (X[0], "Expected 2D"),
        (X[:0], "0 sample"),
        (X[:, :0], "0 feature"),
        (X.to(torch.complex64), "Complex"),
        (X.log(), "contains infinity"),
        ((X - 1).sqrt(), "contains NaN"),
        ((X - 1).sqrt().to_sparse_csr(), "contains NaN"),
    ]:
        with pytest.raises(ValueError, match=words):
            LogLinearRanker(device=device).fit(wrong, y)
        with pytest.raises(ValueError, match=words):
            model.predict(wrong)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        LogLinearRanker(device=device).fit(X[:2], y)
    with pytest.raises(ValueError, match="X has 2 features, but LogLinearRanker is expecting 3"):
        model.predict(X[:, :2])


def test_what_has_no_version_is_learned_elsewhere(device, monkeypatch):
    """With "auto", tensors then go to the processor."""
    X, y = torch.eye(3, device=device), [[1, 2], [2, 1], [1, 2]]
    expected = GraphRanker("plackett_luce").fit(np.eye(3), y)
    monkeypatch.setattr("labelrank.torch.find_device", lambda _: torch.device(device))
    found = GraphRanker("plackett_luce", device="auto").fit(X, y)
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    with pytest.raises(ValueError, match="plackett_luce"):
        GraphRanker("plackett_luce", device=device).fit(X, y)


def test_predictions_need_no_gpu(problem, device):
    """Of a model that was fitted on one, tensors on the processor too."""
    model = LogLinearRanker(device=device).fit(problem.X, problem.ranks)
    X = tensor_of(problem.X, "cpu")
    ranks = model.predict(problem.X)
    if not torch.cuda.is_available():
        model.set_params(device="cuda")
    np.testing.assert_array_equal(model.predict(X), ranks)


def test_arrays_of_other_libraries(few, device, monkeypatch):
    """Those on a GPU, as of CuPy and JAX, become tensors without a copy; NumPy could not read them."""

    class Array:
        def __init__(self, values):
            self.tensor = torch.as_tensor(values, device=device)

        def __dlpack_device__(self):
            return 2, 0

        def __array__(self, *_):
            raise TypeError("Implicit conversion to a NumPy array is not allowed")

    X = few.X.toarray() if sparse.issparse(few.X) else few.X
    monkeypatch.setattr(torch, "from_dlpack", lambda array: array.tensor)
    for model in (LogLinearRanker(device=device, on_empty="ignore"), KernelRidgeRanker(kernel="rbf")):
        ranks = np.nan_to_num(few.ranks, nan=9.0)
        expected = model.fit(X, ranks, few.weight).predict(X)
        model.fit(Array(X), Array(ranks), Array(few.weight))
        np.testing.assert_array_equal(model.predict(Array(X)), expected)


@pytest.mark.parametrize("found", [1, 8, BufferError("on 2 devices")])
def test_arrays_that_numpy_converts(found):
    """Of other libraries, and not on a GPU that PyTorch knows."""

    class Array:
        def __dlpack_device__(self):
            if isinstance(found, Exception):
                raise found
            return found, 0

        def __array__(self, *_, **__):
            return np.eye(3)

    for model in (LogLinearRanker(), LogLinearRanker(device="cpu")):
        np.testing.assert_array_equal(model.fit(Array(), Array()).coef_, model.fit(np.eye(3), np.eye(3)).coef_)


def test_predictions_of_tensors_on_other_devices(problem, device):
    """They may have no float64 numbers: the tensors are copied to the processor."""

    class Elsewhere(torch.Tensor):
        device = torch.device("mps")

        def double(self):
            raise TypeError("Cannot convert a MPS Tensor to float64")

    model = LogLinearRanker(device=device).fit(problem.X, problem.ranks)
    X = np.eye(90, dtype=np.float32)
    np.testing.assert_array_equal(model.predict(torch.as_tensor(X).as_subclass(Elsewhere)), model.predict(X))


def test_sparse_features_and_tensors_predict_alike(device):
    """A model that was fitted on a SciPy matrix predicts tensors, and the other way round."""
    X, y = sparse.csr_array(np.eye(3)), [[1, 2], [2, 1], [1, 2]]
    for fitted, other in [(X, tensor_of(X, device)), (tensor_of(X, device), X)]:
        model = LogLinearRanker(device=device).fit(fitted, y)
        np.testing.assert_allclose(model.decision_function(other), model.decision_function(fitted), atol=1e-12)
