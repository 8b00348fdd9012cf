"""Least squares on partitions: the solutions are those of all rows."""

import numpy as np
import pytest
from partitioned import assert_same, both, chunked, rankings
from scipy import sparse

import labelrank.dask

SIZES = (25, 0, 30, 5)


def complete(seed=0):
    X, y = rankings(seed=seed)
    return X, np.argsort(np.argsort(np.nan_to_num(y), axis=1), axis=1) + 1.0


@pytest.mark.parametrize("thin", [False, True])
@pytest.mark.parametrize("data", [complete, rankings])
def test_kernel_ridge(client, data, thin):
    X, y = data()
    blocks = chunked(X, SIZES)
    local = (sparse.csr_array(X) if thin else X, y)
    blocks = blocks.map_blocks(sparse.csr_array) if thin else blocks
    assert_same(*both("KernelRidgeRanker", {"on_empty": "ignore"}, local, (blocks, chunked(y, SIZES))))


def test_kernel_ridge_with_features_of_labels(client):
    X, y = complete()
    params = {"label_features": np.eye(5) + 0.1, "on_empty": "ignore", "fit_intercept": False}
    assert_same(*both("KernelRidgeRanker", params, (X, y), (chunked(X, SIZES), chunked(y, SIZES))))
    _, y = rankings()
    with pytest.raises(ValueError, match="leave out label_features, or drop incomplete rows"):
        labelrank.dask.KernelRidgeRanker(**params).fit(chunked(X, SIZES), chunked(y, SIZES))


def test_more_features_than_rows(client):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 30)), np.argsort(rng.random((12, 4)), axis=1) + 1.0
    assert_same(*both("KernelRidgeRanker", {}, (X, y), (chunked(X, (5, 7)), chunked(y, (5, 7)))))


def test_kernels_of_all_pairs_of_rows_are_refused(client):
    X, y = rankings()
    with pytest.raises(ValueError, match=r"kernel='rbf' compares all pairs of rows.*Nystroem"):
        labelrank.dask.KernelRidgeRanker(kernel="rbf", on_empty="ignore").fit(chunked(X, SIZES), chunked(y, SIZES))


def test_graph_ranker_with_the_squared_loss(client):
    X, y = rankings()
    params = {"loss": "squared", "solver": "least_squares", "tol": 1e-12, "on_empty": "ignore"}
    assert_same(*both("GraphRanker", params, (X, y), (chunked(X, SIZES), chunked(y, SIZES))))


ITEMS = (10, 0, 15, 15)


def items():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 3)) * [1, 5, 0.1] + 2
    groups = np.repeat(list("abcde"), [4, 12, 1, 16, 7])  # b and d are cut by partitions
    groups[39] = "a"
    weight = rng.integers(0, 3, 40) + 0.5 * (np.arange(40) % 2)
    return X, X @ [1, -1, 2] + rng.normal(size=40), groups, weight


LISTED = {"basis": [3, 30, 12, 4]}
RBF = {"kernel": "rbf", "n_basis": 6, "random_state": 0}
POLY = {"kernel": "poly", "gamma": "auto", "degree": 2, "n_basis": 4, "random_state": 1}


@pytest.mark.parametrize(
    ("params", "weighting", "thin"),
    [
        ({}, "pairs", False),
        ({}, "groups", True),
        (LISTED, "groups", False),
        (RBF, "pairs", True),
        (RBF, "groups", False),
        (POLY, "pairs", False),
    ],
)
@pytest.mark.filterwarnings("ignore:the kernel of the .* basis vectors has numerical rank")
def test_rank_rls(client, params, weighting, thin):
    X, y, groups, weight = items()
    form = sparse.csr_array if thin else np.asarray
    local = labelrank.RankRLS(0.3, **params, weighting=weighting).fit(form(X), y, weight, groups=groups)
    data = [chunked(array, ITEMS) for array in (X, y, weight)]
    data[0] = data[0].map_blocks(form)
    found = labelrank.dask.RankRLS(0.3, **params, weighting=weighting)
    found.fit(*data, groups=chunked(groups, ITEMS))
    np.testing.assert_allclose(found.predict(form(X)), local.predict(form(X)), rtol=1e-8, atol=1e-8)
    for name in ("coef_", "dual_coef_", "gamma_", "n_groups_", "n_features_in_", "basis_indices_"):
        assert hasattr(found, name) == hasattr(local, name)
        if hasattr(local, name):
            np.testing.assert_allclose(getattr(found, name), getattr(local, name), rtol=1e-8, atol=1e-8)
    assert found.route_ == local.route_
    np.testing.assert_allclose(found.path([0.1, 1.0]), local.path([0.1, 1.0]), rtol=1e-7, atol=1e-8)


def test_rank_rls_of_one_group_and_what_is_refused(client):
    X, y, groups, _ = items()
    data = [chunked(array, ITEMS) for array in (X, y)]
    found = labelrank.dask.RankRLS(client=client).fit(*data, groups=None)
    np.testing.assert_allclose(found.coef_, labelrank.RankRLS().fit(X, y, groups=None).coef_, atol=1e-8)
    with pytest.raises(ValueError, match=r"kernel='rbf' compares all pairs of items.*pass n_basis"):
        labelrank.dask.RankRLS(kernel="rbf").fit(*data, groups=None)
    with pytest.raises(ValueError, match="basis='kmeans' needs all rows"):
        labelrank.dask.RankRLS(n_basis=3, basis="kmeans").fit(*data, groups=None)
    with pytest.raises(TypeError, match="groups is of type ndarray; partition it"):
        labelrank.dask.RankRLS().fit(*data, groups=groups)
    with pytest.raises(ValueError, match="groups has NaN") as caught:
        labelrank.dask.RankRLS().fit(*data, groups=chunked(np.where(np.arange(40) == 12, np.nan, 0), ITEMS))
    assert caught.value.__notes__ == ["This is about partition 2; rows are counted from its first."]
    both_names = np.column_stack([groups == "b", np.arange(40) % 2])
    found.fit(*data, groups=chunked(both_names, ITEMS))
    np.testing.assert_allclose(found.coef_, labelrank.RankRLS().fit(X, y, groups=both_names).coef_, atol=1e-8)
    with pytest.warns(UserWarning, match="no group has two items"):
        labelrank.dask.RankRLS().fit(*data, groups=chunked(np.arange(40), ITEMS))
