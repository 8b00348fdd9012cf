"""Rankers that minimize an objective: on partitions they learn what they learn from all rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from partitioned import chunked, rankings

import labelrank
import labelrank.dask


@pytest.mark.parametrize("sizes", [(60,), (20, 20, 20), (3, 1, 0, 56), (0, 30, 0, 0, 25, 5)], ids=str)
@pytest.mark.parametrize("solver", ["lbfgs", "boosting"])
def test_coefficients_are_those_of_the_local_class(client, sizes, solver):
    X, y = rankings()
    weight = np.random.default_rng(1).random(60) + 0.5
    weight[7] = 0
    params = {"solver": solver, "max_iter": 7, "tol": 0, "on_empty": "ignore"}
    with pytest.warns(match="did not converge"):
        local = labelrank.LogLinearRanker(**params).fit(X, y, weight)
    with pytest.warns(match="did not converge"):
        found = labelrank.dask.LogLinearRanker(**params, client=client).fit(
            chunked(X, sizes), chunked(y, sizes), chunked(weight, sizes)
        )
    for name in ("coef_", "intercept_", "loss_curve_", "bound_curve_", "gap_", "n_iter_", "labels_", "observed_"):
        assert_allclose(getattr(found, name), getattr(local, name), rtol=1e-8, atol=1e-10, err_msg=name)


@pytest.mark.filterwarnings("ignore:.*did not converge")
@pytest.mark.parametrize("n_bytes", [2**26, 1], ids=["one batch", "a batch for each partition"])
def test_partitions_that_one_worker_holds(client, n_bytes, monkeypatch):
    monkeypatch.setattr("labelrank.dask.lanes._BATCH", n_bytes)
    X, y = rankings()
    worker = min(client.nthreads())
    data = [client.persist(chunked(part, (25, 0, 10, 20, 5)), workers=[worker]) for part in (X, y)]
    params = {"max_iter": 3, "tol": 0, "on_empty": "ignore"}
    found = labelrank.dask.LogLinearRanker(**params, client=client).fit(*data)
    assert_allclose(found.coef_, labelrank.LogLinearRanker(**params).fit(X, y).coef_, rtol=1e-8, atol=1e-10)
