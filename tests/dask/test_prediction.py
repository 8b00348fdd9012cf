"""Predictions over partitions equal those of the model on all rows, and stay lazy."""

import cloudpickle
import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import labelrank.dask
from labelrank import (
    ConformalRanker,
    KernelRidgeRanker,
    KNeighborsRanker,
    LabelCoveringClassifier,
    LogLinearRanker,
    PreferenceGraphs,
    RandomForestRanker,
)
from labelrank.datasets import load_wine_rankings

X, Y = load_wine_rankings(return_X_y=True)
CHUNKS = ((50, 0, 70, 58), (X.shape[1],))  # with an empty partition


def local(scheduler="sync"):
    return dask.config.set(scheduler=scheduler)


@pytest.fixture(scope="module")
def forest():
    return RandomForestRanker(5, random_state=0).fit(X, Y)


@pytest.fixture(scope="module")
def frames():
    names = [f"x{i}" for i in range(X.shape[1])]
    return pd.DataFrame(X, columns=names, index=np.arange(1000, 1000 + len(X))), pd.DataFrame(Y, columns=list("abc"))


@pytest.mark.parametrize("method", ["predict", "decision_function", "pairwise_proba", "confidence", "predict_spread"])
def test_arrays(forest, method):
    expected = getattr(forest, method)(X)
    found = labelrank.dask.predict(forest, da.from_array(X, chunks=CHUNKS), method)
    assert isinstance(found, da.Array)
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    assert found.chunks[0] == CHUNKS[0]
    with local():
        np.testing.assert_array_equal(found.compute(), expected)


def test_sparse_blocks():
    thin = sparse.csr_array(np.where(X.mean(axis=0) < X, X, 0.0))
    model = LogLinearRanker(max_iter=3).fit(thin, Y)
    blocks = da.from_array(thin.toarray(), chunks=CHUNKS).map_blocks(sparse.csr_array)
    with local():
        np.testing.assert_array_equal(labelrank.dask.predict(model, blocks).compute(), model.predict(thin))
        confidence = labelrank.dask.predict(model, blocks, "confidence")
        np.testing.assert_allclose(confidence.compute(), model.confidence(thin))


def test_unknown_chunk_sizes(forest, frames):
    unknown = dd.from_pandas(frames[0], npartitions=3).to_dask_array()
    with local():
        np.testing.assert_array_equal(labelrank.dask.predict(forest, unknown).compute(), forest.predict(X))


def test_a_pipeline_and_a_search_with_pair_probabilities():
    pipeline = make_pipeline(StandardScaler(), LogLinearRanker(max_iter=5))
    search = GridSearchCV(pipeline, {"loglinearranker__alpha": [1e-3, 1e-2]}, cv=2).fit(X, Y)
    found = labelrank.dask.predict(search, da.from_array(X, chunks=CHUNKS), "pairwise_proba")
    with local():
        np.testing.assert_allclose(found.compute(), labelrank.pairwise_proba(search, X))


def test_frames_keep_names_and_index(forest, frames):
    features, ranks = frames
    model = RandomForestRanker(3, random_state=0).fit(features, ranks)
    partitioned = dd.from_pandas(features, npartitions=3)
    found = labelrank.dask.predict(model, partitioned)
    assert list(found.columns) == ["a", "b", "c"]
    confidence = labelrank.dask.predict(model, partitioned, "confidence")
    proba = labelrank.dask.predict(model, partitioned, "pairwise_proba")
    assert isinstance(confidence, dd.Series)
    assert isinstance(proba, da.Array)
    with local():
        expected = pd.DataFrame(model.predict(features), columns=list("abc"), index=features.index)
        pd.testing.assert_frame_equal(found.compute(), expected)
        np.testing.assert_array_equal(confidence.compute().to_numpy(), model.confidence(features))
        np.testing.assert_array_equal(proba.compute(), model.pairwise_proba(features))


def test_frames_with_an_empty_partition(forest, frames):
    model = RandomForestRanker(3, random_state=0).fit(*frames)
    partitioned = dd.from_pandas(frames[0], npartitions=3)
    partitioned = partitioned.map_partitions(lambda part: part[part.index >= 1100])
    with local():
        assert len(partitioned.get_partition(0).compute()) == 0
        found = labelrank.dask.predict(model, partitioned).compute()
    np.testing.assert_array_equal(found.to_numpy(), model.predict(frames[0][100:]))


def recoded(part):
    """The same rows, with a category for each value that they have, in another order."""
    color = part["color"].cat.remove_unused_categories()
    return part.assign(color=color.cat.reorder_categories(color.cat.categories[::-1]))


def test_partitions_whose_categories_differ(frames):
    colors = np.array(["red", "blue", "green", "gray"])[np.arange(len(X)) // 50]  # one or two in each partition
    features = pd.DataFrame({"acid": X[:, 1], "color": pd.Series(colors, dtype="category")})
    model = RandomForestRanker(3, random_state=0, categorical_features=["color"]).fit(features, frames[1])
    partitioned = dd.from_pandas(features, npartitions=3).map_partitions(recoded, meta=features[:0])
    with local():
        found = labelrank.dask.predict(model, partitioned, "decision_function").compute()
    np.testing.assert_array_equal(found.to_numpy(), model.decision_function(features))


def test_missing_strings_are_those_of_a_local_frame(frames):
    colors = np.array(["red", "blue", None, "gray"], dtype=object)[(X[:, 0] * 7).astype(int) % 4]
    features = pd.DataFrame({"color": pd.Series(colors), "acid": X[:, 1]})
    encoder = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["color"]), remainder="passthrough")
    features["color"] = features["color"].where(features["color"].notna(), np.nan)
    model = make_pipeline(encoder, LogLinearRanker()).fit(features, frames[1])
    partitioned = dd.from_pandas(features, npartitions=3)
    assert partitioned["color"].dtype != features["color"].dtype
    with local():
        found = labelrank.dask.predict(model, partitioned, "decision_function").compute()
    np.testing.assert_allclose(found.to_numpy(), model.decision_function(features))


def test_parquet_folder(tmp_path, frames):
    features, ranks = frames
    model = RandomForestRanker(3, random_state=0).fit(features, ranks)
    stored = features[features.columns[::-1]].assign(other="text")
    with local():
        dd.from_pandas(stored, npartitions=3).to_parquet(tmp_path / "rows")
        found = labelrank.dask.predict(model, tmp_path / "rows").compute()
        np.testing.assert_array_equal(found.to_numpy(), model.predict(features))
        assert found.index.tolist() == features.index.tolist()
        dd.from_pandas(stored.drop(columns="x2"), npartitions=3).to_parquet(tmp_path / "fewer")
    with pytest.raises(ValueError, match=r"X names .*fewer, which lacks the columns \['x2'\]"):
        labelrank.dask.predict(model, tmp_path / "fewer")


def test_conformal_orders_and_sets_with_groups():
    groups = np.where(X[:, 0] > 13, "strong", "light")
    kwargs = {"cv": "prefit", "alpha": 0.3}
    ranker = RandomForestRanker(5, random_state=0).fit(X[::2], Y[::2])
    orders = ConformalRanker(ranker, **kwargs).fit(X, Y, groups=groups)
    sets = ConformalRanker(ranker, target="top_k", **kwargs).fit(X, Y, groups=groups)
    rows = da.from_array(X, chunks=CHUNKS)
    by_rows = da.from_array(groups, chunks=(CHUNKS[0],))
    with local():
        chosen = labelrank.dask.predict(sets, rows, "predict_set", groups=by_rows)
        assert chosen.dtype == bool
        np.testing.assert_array_equal(chosen.compute(), sets.predict_set(X, groups))
        buckets = labelrank.dask.predict(orders, rows, "predict_buckets", groups=by_rows)
        np.testing.assert_array_equal(buckets.compute(), orders.predict_buckets(X, groups))
        parts = labelrank.dask.predict(orders, rows, "predict_partial", groups=by_rows)
        graphs = PreferenceGraphs.concatenate(dask.compute(*parts))
    expected = orders.predict_partial(X, groups)
    assert len(parts) == 4
    assert graphs.shape == expected.shape
    for found, wanted in zip(graphs.to_edges(), expected.to_edges(), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_classifiers():
    model = LabelCoveringClassifier(alpha=1).fit(X, (Y == 1).astype(int))
    two = LabelCoveringClassifier(alpha=1).fit(X, np.where(Y[:, 0] == 1, "yes", "no"))
    rows = da.from_array(X, chunks=CHUNKS)
    for fitted in (model, two):
        for method in ("predict", "decision_function", "predict_proba"):
            found, expected = labelrank.dask.predict(fitted, rows, method), getattr(fitted, method)(X)
            assert found.dtype == expected.dtype
            assert found.shape == expected.shape
            with local():
                values = found.compute()
            if method == "predict":
                np.testing.assert_array_equal(values, expected)
            else:
                np.testing.assert_allclose(values, expected)


def test_labels_that_fit_has_not_seen():
    features = np.random.default_rng(0).normal(size=(5, 2))
    model = KernelRidgeRanker(label_features=features[:3]).fit(X, Y)
    found = labelrank.dask.predict(model, da.from_array(X, chunks=CHUNKS), label_features=features)
    assert found.shape == (len(X), 5)
    with local():
        np.testing.assert_array_equal(found.compute(), model.predict(X, label_features=features))


def test_tasks_do_not_each_contain_the_model(forest):
    (found,) = dask.optimize(
        labelrank.dask.predict(forest, da.from_array(X, chunks=(10, -1)).persist(scheduler="sync"))
    )
    assert len(found.dask) > 18
    size = len(cloudpickle.dumps(forest))
    assert sum(len(cloudpickle.dumps(task)) > size for task in found.dask.values()) == 1
    with local():
        np.testing.assert_array_equal(found.compute(), forest.predict(X))


def test_bad_input(forest):
    rows = da.from_array(X, chunks=CHUNKS)
    with pytest.raises(ValueError, match=r"4 chunks of columns; rows must be whole"):
        labelrank.dask.predict(forest, da.from_array(X, chunks=(-1, 4)))
    with pytest.raises(TypeError, match=r"X must be a Dask array.*got ndarray"):
        labelrank.dask.predict(forest, X)
    with pytest.raises(ValueError, match="'method' parameter of predict must be"):
        labelrank.dask.predict(forest, rows, "fit")
    with pytest.raises(AttributeError, match="KNeighborsRanker has no predict_set; wrap the ranker in ConformalRanker"):
        labelrank.dask.predict(KNeighborsRanker().fit(X, Y), rows, "predict_set")
    conformal = ConformalRanker(forest, cv="prefit").fit(X, Y, groups=np.arange(len(X)) % 2)
    with pytest.raises(ValueError, match="groups is not partitioned as X is"):
        labelrank.dask.predict(conformal, rows, "predict_buckets", groups=da.zeros(len(X), chunks=10))
