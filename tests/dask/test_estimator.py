"""A distributed estimator is made of the local class, and what is fitted is a local model."""

import asyncio
import pickle
import subprocess
import sys
import textwrap
import warnings

import dask
import numpy as np
import pytest
from distributed import Client
from partitioned import chunked, rankings
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning, NotFittedError

import labelrank
import labelrank.dask
from labelrank import PreferenceGraphs


@pytest.fixture(scope="module")
def fitted(client):
    X, y = rankings()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = labelrank.dask.LogLinearRanker(alpha=2, client=client).fit(chunked(X, (40, 20)), chunked(y, (40, 20)))
    return X, model, [str(w.message) for w in caught]


def test_warnings_are_given_once_with_the_rows_of_all_partitions(client):
    X, y = rankings()
    y[50] = np.nan
    y[:, 2] = np.nan
    sizes = (3, 17, 40)
    with warnings.catch_warnings(record=True) as expected:
        warnings.simplefilter("always")
        local = labelrank.LogLinearRanker().fit(X, y)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = labelrank.dask.LogLinearRanker(client=client).fit(chunked(X, sizes), chunked(y, sizes))
    assert [str(w.message) for w in caught] == [str(w.message) for w in expected]
    assert len(caught) == 2
    assert {w.filename for w in caught} == {__file__}
    assert found.observed_.tolist() == local.observed_.tolist()
    with pytest.raises(ValueError, match=r"2 rows without any observed pair \(first: row 3\)"):
        found.set_params(on_empty="error").fit(chunked(X, sizes), chunked(y, sizes))
    np.testing.assert_allclose(found.coef_, local.coef_, atol=1e-8)  # a fit that fails leaves the model as it was


def test_warnings_of_partitions_are_given_once(client):
    X, _ = rankings()
    with pytest.warns(DataConversionWarning, match="column-vector y") as caught:
        labelrank.dask.RankRLS(client=client).fit(chunked(X, (20, 40)), chunked(X[:, :1], (20, 40)), groups=None)
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_copies_are_local(fitted, tmp_path):
    X, model, _ = fitted
    copies = [model.to_local(), pickle.loads(pickle.dumps(model))]
    labelrank.save(model, tmp_path / "model.lrk")
    copies.append(labelrank.load(tmp_path / "model.lrk"))
    for copy in copies:
        assert type(copy) is labelrank.LogLinearRanker
        assert copy.get_params()["alpha"] == 2
        np.testing.assert_array_equal(copy.predict(X), model.predict(X))


def test_a_fitted_model_is_used_without_dask(fitted, tmp_path):
    X, model, _ = fitted
    (tmp_path / "model.pkl").write_bytes(pickle.dumps(model))
    np.save(tmp_path / "X.npy", X)
    code = f"""
        import pickle, sys
        import numpy as np
        sys.modules["dask"] = sys.modules["distributed"] = None
        model = pickle.loads(open({str(tmp_path / "model.pkl")!r}, "rb").read())
        np.save({str(tmp_path / "ranks.npy")!r}, model.predict(np.load({str(tmp_path / "X.npy")!r})))
        try:
            import labelrank.dask
        except ImportError as error:
            print(error)
    """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert 'pip install "labelrank[dask]"' in run.stdout
    np.testing.assert_array_equal(np.load(tmp_path / "ranks.npy"), model.predict(X))


def test_parameters_are_those_of_the_local_class_and_the_client(client):
    model = labelrank.dask.LogLinearRanker("zero_one", alpha=3, client=client)
    assert model.get_params() == {**labelrank.LogLinearRanker("zero_one", alpha=3).get_params(), "client": client}
    twin = clone(model)
    assert twin.client is client
    assert type(twin) is type(model)
    assert "alpha=3" in repr(model)
    with pytest.raises(ValueError, match="'client' parameter"):
        labelrank.dask.LogLinearRanker(client="tcp://somewhere").fit([[0.0]], [[1, 2]])


def test_parameters_are_validated_before_a_cluster_is_asked(client):
    X, y = (chunked(part, (40, 20)) for part in rankings())
    with pytest.raises(ValueError, match=r"'client' parameter of LogLinearRanker must be an instance of .*Client"):
        labelrank.dask.LogLinearRanker(client=client.cluster).fit(X, y)
    with pytest.raises(ValueError, match="'alpha' parameter"):
        labelrank.dask.LogLinearRanker(alpha=-1, client=client).fit(X, y)

    async def fit():
        async with Client(client.scheduler.address, asynchronous=True, set_as_default=False) as other:
            labelrank.dask.LogLinearRanker(client=other).fit(X, y)

    with pytest.raises(ValueError, match=r"client is asynchronous.*; pass Client\("):
        asyncio.run(fit())


def test_local_data_are_fitted_locally():
    X, y = rankings()
    found = labelrank.dask.LogLinearRanker(on_empty="ignore").fit(X, y)
    np.testing.assert_array_equal(found.coef_, labelrank.LogLinearRanker(on_empty="ignore").fit(X, y).coef_)


def test_predictions_of_collections_are_lazy(fitted):
    X, model, _ = fitted
    for method in ("predict", "decision_function", "pairwise_proba", "confidence"):
        lazy = getattr(model, method)(chunked(X, (10, 0, 50)))
        np.testing.assert_array_equal(lazy.compute(), getattr(model, method)(X))
    assert not hasattr(labelrank.dask.GraphRanker(), "confidence")
    parts = model.predict_partial(chunked(X, (10, 0, 50)), 0.6)  # an argument by its place
    graphs = PreferenceGraphs.concatenate(dask.compute(*parts))
    assert len(graphs.to_edges()[0]) == len(model.predict_partial(X, 0.6).to_edges()[0]) > 0
    with pytest.raises(TypeError, match="score is for local data, and X is partitioned"):
        model.score(chunked(X, (10, 0, 50)), None)


def test_predictions_that_cannot_work_are_refused_at_once(fitted):
    X, model, _ = fitted
    with pytest.raises(NotFittedError, match="LogLinearRanker instance is not fitted yet"):
        clone(model).predict(chunked(X, (10, 50)))
    with pytest.raises(ValueError, match="X has 3 features, but LogLinearRanker is expecting 4"):
        model.predict(chunked(X[:, :3], (10, 50)))
