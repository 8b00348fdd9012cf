"""What goes in: sparse blocks, frames with names, parquet folders, shards, battles, classes; and what does not."""

import os

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask import delayed
from numpy.testing import assert_allclose
from partitioned import assert_same, both, chunked, frame, rankings
from scipy import sparse

import labelrank
import labelrank.dask
from labelrank import PreferenceGraphs, as_graphs
from labelrank.dask import PartitionedGraphs, read_shards, save_shard

PARAMS = {"max_iter": 6, "tol": 0, "on_empty": "ignore"}


def thin_rankings():
    X, y = rankings()
    return np.where(np.abs(X) > 0.7, X, 0.0), y


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_array])
def test_sparse_blocks(client, kind):
    X, y = thin_rankings()
    sizes = (25, 0, 35)
    collection = chunked(X, sizes).map_blocks(kind)
    for solver in ("lbfgs", "boosting"):
        params = PARAMS | {"solver": solver}
        found, local = both("LogLinearRanker", params, (sparse.csr_array(X), y), (collection, chunked(y, sizes)))
        assert_same(found, local)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_shards(client, tmp_path, form):
    X, y = thin_rankings()
    weight = np.linspace(0.5, 2, len(X))
    for i, rows in enumerate((slice(0, 30), slice(30, 30), slice(30, 60))):
        save_shard(tmp_path / f"{i}.npz", form(X[rows]), frame(y, "label")[rows], weight[rows])
    found, local = both("LogLinearRanker", PARAMS, (form(X), frame(y, "label"), weight), read_shards(tmp_path))
    assert_same(found, local)
    with pytest.raises(FileNotFoundError, match="no file"):
        read_shards(tmp_path / "nowhere")
    np.savez(tmp_path / "other.npz", a=1)
    with pytest.raises(ValueError, match=r"not a shard .* \['a'\]"):
        read_shards([tmp_path / "other.npz"])


def test_shards_that_change_after_they_are_named(client, tmp_path):
    X, y = rankings()
    save_shard(tmp_path / "0.npz", X[:30], y[:30])
    save_shard(tmp_path / "1.npz", X[30:], y[30:])
    shards = read_shards(tmp_path)
    os.truncate(tmp_path / "1.npz", 300)
    with pytest.raises(ValueError, match=r"1.npz is not a shard .*, or is damaged; save it again"):
        labelrank.dask.LogLinearRanker(client=client).fit(*shards)


def test_local_instances_with_partitioned_graphs():
    X, y = rankings()
    with pytest.raises(TypeError, match="y is partitioned, and X is of type ndarray; partition X in the same way"):
        labelrank.dask.LogLinearRanker().fit(X, PartitionedGraphs([as_graphs(y)]))


def test_bad_shards(tmp_path):
    X, y = rankings()
    path, thin, damaged = (tmp_path / f"{name}.npz" for name in ("rows", "thin", "damaged"))
    for bad, match in [
        ((X, y, np.ones(3)), r"sample_weight.shape == \(3,\), expected \(60,\)"),
        ((X, y, np.full(60, np.nan)), "sample_weight contains NaN"),
        ((X[:, 0], y), "Expected 2D array"),
        ((X.astype(str).astype(object) + "?", y), "could not convert string"),
        ((X[:9], y), "X has 9 rows, y has 60"),
    ]:
        with pytest.raises(ValueError, match=match):
            save_shard(path, *bad)
    assert not path.exists()
    save_shard(path, X, y)
    assert read_shards(str(path)).X.shape == X.shape
    damaged.write_bytes(path.read_bytes()[:100])
    with pytest.raises(ValueError, match=r"damaged.npz is not a shard .*, or is damaged"):
        read_shards([path, damaged])
    save_shard(thin, sparse.csr_array(X), y)
    with pytest.raises(ValueError, match=r"rows.npz has dense features and .*thin.npz has sparse ones"):
        read_shards([thin, path])


def test_graphs_of_battles(client, tmp_path):
    rng = np.random.default_rng(0)
    names = np.array(["gpt", "llama", "qwen", "phi"])
    pairs = np.array([rng.choice(4, 2, replace=False) for _ in range(80)])
    table = pd.DataFrame({"id": np.sort(rng.integers(0, 30, 80)), "a": names[pairs[:, 0]], "b": names[pairs[:, 1]]})
    table["winner"] = rng.choice(["a", "b", "tie"], 80)
    ids, X = pd.Series(range(30)), rng.normal(size=(30, 3))
    columns = {"a": "a", "b": "b", "winner": "winner", "instance": "id"}
    graphs = PreferenceGraphs.from_battles(table, instances=ids, **columns)
    parts = [table[table.id < 12], table[table.id >= 12]]
    battles = dd.from_delayed([delayed(part) for part in parts], meta=table.iloc[:0])
    instances = dd.from_delayed([delayed(ids[:12]), delayed(ids[12:])], meta=ids.iloc[:0])
    y = PartitionedGraphs.from_battles(battles, instances=instances, **columns)
    found, local = both("LogLinearRanker", PARAMS, (X, graphs), (chunked(X, (12, 18)), y))
    assert_same(found, local)
    for i, rows in enumerate((slice(0, 12), slice(12, 30))):
        save_shard(tmp_path / f"{i}.npz", X[rows], graphs[rows])
    found, _ = both("LogLinearRanker", PARAMS, (X, graphs), read_shards(tmp_path))
    assert_same(found, local)
    for change, error, match in [
        ({"winer": "winner"}, TypeError, "winer"),
        ({"winner": "who"}, ValueError, "frame has no column 'who', given as winner"),
        ({"instances": ids.to_numpy()}, TypeError, "instances must be a Dask series or index, got ndarray"),
    ]:
        with pytest.raises(error, match=match):
            PartitionedGraphs.from_battles(battles, **{"instances": instances, **columns, **change})
    with pytest.raises(TypeError, match=r"got PreferenceGraphs; use \[graphs\] for one"):
        PartitionedGraphs(graphs)
    parts = PartitionedGraphs([graphs[:12], graphs[12:]])
    assert parts.sizes == (12, 18)
    found, _ = both("GraphRanker", PARAMS, (X, graphs), (chunked(X, (12, 18)), parts))
    assert_allclose(found.coef_, local.coef_, atol=1e-8)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"covering": "two_sets", "solver": "boosting"},
        {"solver": "boosting", "alpha": 0.1, "templates": np.eye(5) / 2},
    ],
    ids=["hamming", "boosting", "templates"],
)
def test_label_covering(client, params):
    X, _ = rankings()
    Y = (np.random.default_rng(3).random((60, 3)) < 0.4).astype(float)
    Y[4, 1] = np.nan
    sizes = (20, 0, 40)
    data = (chunked(3 * X, sizes), chunked(Y, sizes))
    found, local = both("LabelCoveringClassifier", PARAMS | params, (3 * X, Y), data)
    assert_same(found, local)
    np.testing.assert_array_equal(found.predict(data[0]).compute(), local.predict(3 * X))


def test_a_vector_of_classes(client):
    X, _ = rankings()
    y = np.where(X[:, 0] > 0, "yes", "no")
    order = np.argsort(y)  # the first partition has one class alone
    X, y, sizes = X[order], y[order], (10, 0, 50)
    found, local = both("LabelCoveringClassifier", PARAMS, (X, y), (chunked(X, sizes), chunked(y, sizes)))
    assert_same(found, local)
    series = dd.from_pandas(pd.Series(y), npartitions=2)
    found, _ = both("LabelCoveringClassifier", PARAMS, (X, y), (dd.from_pandas(frame(X, "x"), npartitions=2), series))
    assert found.classes_.tolist() == ["no", "yes"]
    assert_allclose(found.coef_, local.coef_, atol=1e-8)
    with pytest.raises(ValueError, match="multiclass with 3 classes"):
        labelrank.dask.LabelCoveringClassifier().fit(chunked(X, (30, 30)), chunked(np.arange(60) // 20, (30, 30)))


def unknown_sizes(X):
    X = chunked(X, (20, 40))
    return X[X[:, 0] > -9]


@pytest.mark.parametrize(
    ("X", "y", "match"),
    [
        (lambda X: da.from_array(X, chunks=(20, 2)), None, r"X is chunked along its columns .* X.rechunk\(\{1: -1\}\)"),
        (None, lambda y: da.from_array(y, chunks=(30, 3)), "y is chunked along its columns"),
        (None, lambda y: chunked(y, (10, 50)), "partition 0 has 30 and 10 rows; partition y as X is"),
        (None, lambda y: chunked(y, (60,)), "X has 2 partitions and y has 1; partition y"),
        (unknown_sizes, lambda y: chunked(y, (60,)), r"chunk sizes of X are not known, compute_chunk_sizes\(\)"),
        (unknown_sizes, None, r"inconsistent numbers of samples: X has [24]0, y has 30"),
        (None, lambda y: y, "X is partitioned, and y is of type ndarray; partition it in the same way"),
        (None, lambda y: None, "requires y to be passed"),
        (lambda X: delayed(X), None, "X must be a Dask array or frame, or the path of a parquet folder, got Delayed"),
        (lambda X: [delayed(X)], None, r"got a list of Delayed\w*; make one by dask.array.from_delayed"),
        (lambda X: chunked(np.where(X > 2, np.nan, X), (30, 30)), None, "Input X contains NaN"),
        (lambda X: chunked(X[:0], (0, 0)), lambda y: chunked(y[:0], (0, 0)), "X has no rows"),
    ],
    ids=[
        "columns",
        "label_columns",
        "sizes",
        "count",
        "unknown_count",
        "unknown_size",
        "local_y",
        "no_y",
        "delayed",
        "list",
        "NaN",
        "empty",
    ],
)
def test_bad_arrays(client, X, y, match):
    features, ranks = rankings()
    X = chunked(features, (30, 30)) if X is None else X(features)
    y = chunked(ranks, (30, 30)) if y is None else y(ranks)
    model = labelrank.dask.LogLinearRanker(client=client)
    with pytest.raises((ValueError, TypeError), match=match):
        model.fit(X, y)
    assert not hasattr(model, "coef_")


def test_unknown_chunk_sizes_that_do_not_matter(client):
    X, y = rankings()
    parts = [chunked(part, (20, 40)) for part in (X, y)]
    kept = parts[0][:, 0] > -1
    unknown = [part[kept] for part in parts]
    assert np.isnan(unknown[0].chunks[0]).all()
    rows = X[:, 0] > -1
    found, local = both("LogLinearRanker", PARAMS, (X[rows], y[rows]), unknown)
    assert_same(found, local)


@pytest.mark.parametrize(
    ("of_X", "change", "match"),
    [
        (
            False,
            lambda part: part[part.columns[::-1]],
            r"partition 1 of y has the labels \['label4', ",
        ),
        (False, lambda part: part.rename(columns={"label0": "other"}), "partition 1 of y has the labels"),
        (False, lambda part: part[part.columns[::-1]].iloc[:0], "partition 1 of y has the labels"),
        (True, lambda part: part[part.columns[::-1]], "partition 1 of X has the feature names"),
        (
            True,
            lambda part: part.drop(columns="x0"),
            r"has the feature names \['x1', 'x2', 'x3'\], partition 0",
        ),
    ],
    ids=["order", "names", "order without rows", "features", "number"],
)
def test_partitions_that_differ(client, of_X, change, match):
    X, y = rankings()
    X, y = frame(X, "x"), frame(y, "label")
    X, y = ([part[:30], part[30:]] for part in (X, y))
    changed, other = (X, y) if of_X else (y, X)
    changed[1] = change(changed[1])
    other[1] = other[1][: len(changed[1])]
    X, y = (dd.from_delayed(list(map(delayed, p)), meta=p[0].iloc[:0], verify_meta=False) for p in (X, y))
    with pytest.raises(ValueError, match=match):
        labelrank.dask.LogLinearRanker(client=client).fit(X, y)


def test_solvers_that_need_rows_are_refused(client):
    X, y = rankings()
    data = [chunked(part, (30, 30)) for part in (X, y)]
    with pytest.raises(ValueError, match=r'solver="soft_projection" processes rows .* solver="lbfgs"'):
        labelrank.dask.GraphRanker("soft_margin", solver="soft_projection", on_empty="ignore").fit(*data)
    Y = data[1] < 3
    with pytest.raises(ValueError, match=r'templates="sequential" processes rows .*; use templates="parallel"$'):
        labelrank.dask.LabelCoveringClassifier(solver="boosting", templates="sequential", alpha=0).fit(data[0], Y * 1)


def test_label_features_and_own_losses(client):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3, 2)), np.argsort(rng.random((40, 3)), axis=1) + 1.0
    data = (chunked(X, (15, 25)), chunked(y, (15, 25)))
    for params in ({"model": "label_features"}, {"model": "label_features", "solver": "boosting"}):
        found, local = both("GraphRanker", PARAMS | params, (X, y), data)
        assert_same(found, local)
    X, y = rankings()
    data = [chunked(part, (30, 30)) for part in (X, y)]
    found, local = both("GraphRanker", PARAMS | {"loss": "plackett_luce"}, (X, y), data)
    assert_same(found, local)


@pytest.mark.filterwarnings("ignore:RankRLS.fit was called without groups")
def test_partitions_without_any_weight(client):
    X, y = rankings()
    weight = np.linspace(0.5, 2, len(X))
    weight[:21] = 0
    sizes = (20, 1, 39)
    data = [chunked(part, sizes) for part in (X, y, weight)]
    found, local = both("LogLinearRanker", PARAMS, (X, y, weight), data)
    assert_same(found, local)
    scores = X[:, 0] + X[:, 1] ** 2
    found, local = both("RankRLS", {}, (X, scores, weight), (data[0], chunked(scores, sizes), data[2]))
    assert_allclose(found.coef_, local.coef_, rtol=1e-8)
    with pytest.raises(TypeError, match=r"sample_weight is of type ndarray; .*X.chunks\[:1\]\)\) or a Dask series"):
        found.fit(data[0], data[0][:, 0], weight)
    for weight, match in [
        (0 * data[2], "sample_weight is zero in all partitions"),
        (1e-320 * data[2], r"sample_weight sums to \S*e-319, too little to divide by"),
    ]:
        with pytest.raises(ValueError, match=match):
            found.fit(data[0], data[0][:, 0], weight)
    weight = chunked(np.ones(70), (10, 60))  # its sizes are not known any more
    with pytest.raises(ValueError, match=r"sample_weight.shape == \(10,\), expected \(0,\)") as caught:
        found.fit(chunked(X, (0, 60)), chunked(scores, (0, 60)), weight[weight > 0])
    assert caught.value.__notes__ == ["This is about partition 0; rows are counted from its first."]
