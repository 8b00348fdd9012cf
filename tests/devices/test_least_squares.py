"""Least squares on a device finds what it finds without PyTorch."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from labelrank import KernelRidgeRanker, RankRLS, ranks_from_scores

torch = pytest.importorskip("torch")

from labelrank.torch import least_squares  # noqa: E402

RNG = np.random.default_rng(0)
X, GROUPS = RNG.normal(size=(300, 4)), RNG.integers(0, 12, size=300)
Y = np.sin(X[:, 0]) + X[:, 1] + 10 * GROUPS
WEIGHT = RNG.integers(0, 3, size=300)

ROUTES = [
    {"kernel": "linear"},
    {"kernel": "linear", "n_basis": 3},
    {"kernel": "rbf", "n_basis": 40},
    {"kernel": "poly", "n_basis": 20, "weighting": "groups"},
    {"kernel": "sigmoid", "gamma": 0.01, "basis": [3, 5, 7]},
    {"kernel": "rbf", "n_basis": 20, "basis": "kmeans"},
]


def fit(device, X=X, groups=GROUPS, **params):
    return RankRLS(random_state=0, device=device, **params).fit(X, Y, WEIGHT, groups=groups)


@pytest.mark.parametrize("params", ROUTES, ids=str)
@pytest.mark.parametrize("block", [2**20, 100], ids=["whole", "in blocks"])
def test_rank_rls(device, params, block, monkeypatch):
    monkeypatch.setattr("labelrank.torch.least_squares.BLOCK", {device: block})
    expected, found = fit(None, **params), fit(device, **params)
    scores = expected.predict(X)
    np.testing.assert_allclose(found.predict(X), scores, atol=1e-6 * abs(scores).max())
    paths = [model.path([0.1, 1.0, 10.0]) for model in (expected, found)]
    np.testing.assert_allclose(paths[1], paths[0], atol=1e-5 * abs(paths[0]).max())
    assert all(isinstance(value, np.ndarray | int | float | None) for value in found.system_.values())


@pytest.mark.parametrize("params", [*ROUTES[:-1], {"kernel": "rbf"}], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_tensors(device, params, dtype, monkeypatch):
    """On the device of the learner, they stay there; what has no version for a device is an error as for arrays."""
    tensor = torch.as_tensor(X.astype(dtype), device=device)
    if params == {"kernel": "rbf"}:
        with pytest.raises(ValueError, match=f"device='{device}' does not support"):
            fit(device, tensor, **params)
        monkeypatch.setattr("labelrank.rankers.rank_rls.find_device", lambda _: None)
        device = "auto"
    expected = fit(device, X.astype(dtype), **params)
    if device != "auto":
        for name in ("cpu", "numpy", "__array__"):
            original = getattr(torch.Tensor, name)

            def guarded(self, *arguments, _original=original):
                assert self.shape != X.shape
                return _original(self, *arguments)

            monkeypatch.setattr(torch.Tensor, name, guarded)
    weight = torch.as_tensor(WEIGHT, device=device if device != "auto" else "cpu")
    found = RankRLS(random_state=0, device=device, **params).fit(
        tensor, torch.as_tensor(Y, device=weight.device), weight, groups=GROUPS
    )
    scores = expected.predict(X)
    np.testing.assert_allclose(found.predict(tensor), scores, atol=1e-5 * abs(scores).max())
    np.testing.assert_allclose(found.predict(X), scores, atol=1e-5 * abs(scores).max())
    assert all(not isinstance(value, torch.Tensor) for value in vars(found).values())


@pytest.mark.parametrize("params", [{}, {"kernel": "rbf", "n_basis": 20}], ids=str)
def test_features_go_there_in_blocks(device, params, monkeypatch):
    monkeypatch.setattr("labelrank.torch.least_squares.BLOCK", {device: 400})
    original, sizes = least_squares.tensor_of, []

    def watched(values, where):
        sizes.append(values.shape)
        return original(values, where)

    monkeypatch.setattr(least_squares, "tensor_of", watched)
    fit(device, **params)
    assert max(rows for rows, _ in sizes) <= 100


@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_distances_far_from_the_origin(device, offset):
    expected, found = (fit(where, X + offset, kernel="rbf", gamma=0.3, n_basis=20) for where in (None, device))
    scores = expected.predict(X + offset)
    np.testing.assert_allclose(found.predict(X + offset), scores, atol=1e-6 * abs(scores).max())
    tensor = torch.as_tensor(X + offset, device=device)
    np.testing.assert_allclose(found.predict(tensor), scores, atol=1e-6 * abs(scores).max())
    y = ranks_from_scores(X)
    models = [KernelRidgeRanker(kernel="rbf", gamma=0.3, device=where).fit(X + offset, y) for where in (None, device)]
    np.testing.assert_allclose(models[1].dual_coef_, models[0].dual_coef_, atol=1e-6)


def test_kernel_values_that_are_not_finite(device):
    """The error is that of arrays, in predictions too."""
    model = fit(device, kernel="poly", degree=2, n_basis=10)
    wrong = torch.full((2, 4), 1e200, dtype=torch.float64, device=device)
    for features in (wrong, wrong.cpu().numpy()):
        with pytest.raises(ValueError, match=r"the poly kernel has NaN or infinite values.*scale the features"):
            model.predict(features)
    for params in ({"kernel": "poly", "degree": 2.5}, {"kernel": "rbf", "gamma": 1.0}):
        features = X if params["kernel"] == "poly" else X * 1e200
        for where in (None, device):
            with pytest.raises(ValueError, match=r"NaN or infinite values.*scale the features"):
                KernelRidgeRanker(device=where, **params).fit(features, ranks_from_scores(X))
    with pytest.raises(ValueError, match="too large for floating point numbers: scale X"):
        KernelRidgeRanker(device=device).fit(X * 1e200, ranks_from_scores(X))


def test_groups_and_targets_in_tensors(device):
    groups = torch.as_tensor(GROUPS, device=device)
    expected, found = fit(device), fit(device, groups=groups)
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    y = torch.as_tensor(Y, device=device).requires_grad_()  # np.asarray refuses it, as it does tensors on a GPU
    assert found.score(X, y, groups=groups) == found.score(X, Y, groups=GROUPS)
    ranker, ranks = KernelRidgeRanker(device=device), ranks_from_scores(X)
    targets = torch.as_tensor(ranks, device=device).requires_grad_()
    assert ranker.fit(X, targets).score(X, targets, targets[:, 0]) == ranker.score(X, ranks, ranks[:, 0])


def test_held_out_scores_of_tensors(device):
    """The features come back from the device where they are needed."""
    model = RankRLS(kernel="rbf", n_basis=20, random_state=0, device=device)
    held_out = [model._held_out(Z, Y, None, GROUPS, np.array([1.0])) for Z in (X, torch.as_tensor(X, device=device))]
    np.testing.assert_allclose(*held_out, atol=1e-9)


def test_one_group_and_dependent_basis_vectors(device):
    twice = np.vstack([X, X])[:300]
    twice[150:] = X[:150]
    with pytest.warns(UserWarning, match="numerical rank"):
        found = fit(device, twice, None, kernel="rbf", basis=[0, 1, 150, 151])
    with pytest.warns(UserWarning, match="numerical rank"):
        expected = fit(None, twice, None, kernel="rbf", basis=[0, 1, 150, 151])
    np.testing.assert_allclose(found.predict(X), expected.predict(X), rtol=1e-6)


def test_a_tiny_penalty(device):
    """Rounding forbids a Cholesky factor; eigenvectors do."""
    wide = np.hstack([X, X])
    with pytest.warns(UserWarning, match="left out"):
        found = fit(device, wide, alpha=1e-20)
    np.testing.assert_allclose(found.predict(wide), fit(None, X, alpha=1e-9).predict(X), atol=1e-5)


def test_what_has_no_version_is_an_error(device):
    for X_, params, words in [
        (sparse.csr_array(X), {}, "sparse features"),
        (sparse.csr_array(X), {"kernel": "rbf"}, "sparse features"),
        (X, {"kernel": "rbf"}, "pass n_basis"),
        (np.tile(X, 100), {}, "pass n_basis"),
        (X, {"kernel": lambda a, b: a @ b.T}, "precomputed or a function"),
        (X, {"kernel": lambda a, b: a @ b.T, "n_basis": 3}, "precomputed or a function"),
    ]:
        with pytest.raises(ValueError, match=f"device='{device}' does not support.*{words}"):
            fit(device, X_, **params)
    np.testing.assert_allclose(fit("auto", kernel="rbf").dual_coef_, fit(None, kernel="rbf").dual_coef_, atol=1e-9)


@pytest.mark.parametrize("alpha", [1.0, 1e-18])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("n", [80, 6])
def test_kernel_ridge(device, kernel, alpha, n):
    rng = np.random.default_rng(1)
    X, weight = rng.normal(size=(n, 9)), rng.integers(0, 3, size=n)
    y = ranks_from_scores(rng.normal(size=(n, 4)) + X[:, :4])
    expected, found = (KernelRidgeRanker(alpha, kernel=kernel, device=where) for where in (None, device))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the tiny penalty
        expected.fit(X, y, weight)
        found.fit(X, y, weight)
    scores = expected.decision_function(X)
    np.testing.assert_allclose(found.decision_function(X), scores, atol=1e-6 * abs(scores).max())
    np.testing.assert_allclose(found.loss_curve_, expected.loss_curve_, atol=1e-6 * expected.loss_curve_[0])
    assert isinstance(found.intercept_, np.ndarray)


@pytest.mark.filterwarnings("ignore:Sparse:UserWarning")  # of PyTorch, about its own class
def test_kernel_ridge_of_tensors(device, monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 9))
    tensor, y = torch.as_tensor(X, device=device), ranks_from_scores(X[:, :4])
    for kernel in ("linear", "rbf"):
        expected = KernelRidgeRanker(kernel=kernel, device=device).fit(X, y)
        found = KernelRidgeRanker(kernel=kernel, device=device).fit(tensor, torch.as_tensor(y, device=device))
        np.testing.assert_allclose(found.decision_function(tensor), expected.decision_function(X), atol=1e-6)
    with pytest.raises(ValueError, match="sparse features"):
        KernelRidgeRanker(device=device).fit(tensor.to_sparse_csr(), y)
    y[0, 0] = np.nan
    expected = KernelRidgeRanker().fit(X, y)
    monkeypatch.setattr("labelrank.rankers.kernel_ridge.find_device", lambda _: torch.device(device))
    monkeypatch.setattr("labelrank.torch.find_device", lambda _: torch.device(device))
    found = KernelRidgeRanker(device="auto").fit(tensor, y)
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-9)


def test_kernel_ridge_on_incomplete_rankings(device):
    y = [[1, 2, np.nan], [2, 1, 3], [1, 2, 3]]
    with pytest.raises(ValueError, match="incomplete rankings"):
        KernelRidgeRanker(device=device).fit(np.eye(3), y)
    with pytest.raises(ValueError, match="label_features"):
        KernelRidgeRanker(device=device, label_features=np.eye(3)).fit(np.eye(3), np.ones((3, 3)).cumsum(1))
    coefs = [KernelRidgeRanker(device=where).fit(np.eye(3), y).coef_ for where in (None, "auto")]
    np.testing.assert_allclose(*coefs, atol=1e-9)
