"""Frames go in: names, parquet folders and their columns, partitions without rows."""

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from partitioned import assert_same, both, frame, rankings

import labelrank
import labelrank.dask

PARAMS = {"max_iter": 6, "tol": 0, "on_empty": "ignore"}


def test_frames_with_names_and_parquet_folders(client, tmp_path):
    X, y = rankings()
    X, y = frame(X, "x"), frame(y, "label")
    frames = [dd.from_pandas(part, npartitions=3) for part in (X, y)]
    found, local = both("LogLinearRanker", PARAMS, (X, y), frames)
    assert_same(found, local)
    assert found.labels_.tolist() == list(y.columns)
    folders = [tmp_path / "X", str(tmp_path / "y")]
    for part, folder in zip(frames, folders, strict=True):
        part.to_parquet(folder, write_index=False)
    found, _ = both("LogLinearRanker", PARAMS, (X, y), folders)
    assert_same(found, local)
    with pytest.raises(FileNotFoundError, match=r"y names the parquet folder .*no, which does not exist"):
        found.fit(folders[0], tmp_path / "no")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"X names .*empty, which cannot be read as a parquet folder: No files"):
        found.fit(tmp_path / "empty", folders[1])
    with pytest.raises(FileNotFoundError, match=r"X names the parquet folder .*no, which does not exist"):
        found.predict(tmp_path / "no")


def test_columns_of_a_parquet_folder(client, tmp_path):
    X, y = rankings()
    table = frame(X, "x").join(frame(np.nan_to_num(y, nan=9), "label"))
    table = table.assign(weight=np.linspace(0.5, 2, len(X)), group=np.arange(len(X)) // 15, kind=["a", "b", "c"] * 20)
    dd.from_pandas(table, npartitions=6).to_parquet(tmp_path / "rows", write_index=False)
    partitioned = dd.read_parquet(tmp_path / "rows")
    names = [["x0", "x1"], ["label0", "label1"], "weight"]
    assert len(partitioned["weight"].to_delayed()) < 6  # Dask joins small ones
    found, local = both("LogLinearRanker", PARAMS, [table[n] for n in names], [partitioned[n] for n in names])
    assert_same(found, local)
    found = labelrank.dask.RankRLS().fit(partitioned[["x0"]], partitioned["x1"], groups=partitioned["group"] % 2)
    local = labelrank.RankRLS().fit(table[["x0"]], table["x1"], groups=table["group"] % 2)
    assert_allclose(found.coef_, local.coef_, rtol=1e-8)
    names = [["x0", "kind"], ["label0", "label1"], "weight"]
    params = {"n_estimators": 2, "random_state": 0, "categorical_features": ["kind"], "on_empty": "ignore"}
    found, local = both("ExtraTreesRanker", params, [table[n] for n in names], [partitioned[n] for n in names])
    np.testing.assert_array_equal(found.feature_, local.feature_)
    ranker = labelrank.LogLinearRanker(**PARAMS | {"tol": 1}).fit(table[["x0"]], table[["label0", "label1"]])
    sets = labelrank.ConformalRanker(ranker, cv="prefit").fit(table[["x0"]], y[:, :2], groups=table["group"] % 2)
    parts = labelrank.dask.predict(sets, partitioned[["x0"]], "predict_partial", groups=partitioned["group"] % 2)
    assert [len(part) for part in dask.compute(*parts)] == [10] * 6
    with pytest.raises(ValueError, match="X has 6 partitions and y has 2; partition y as X is"):
        labelrank.dask.LogLinearRanker().fit(partitioned[["x0"]], partitioned["label0"].repartition(npartitions=2))


@pytest.mark.parametrize(
    ("name", "params", "columns"),
    [("LogLinearRanker", PARAMS, [0, 1]), ("LabelCoveringClassifier", {"max_iter": 3}, [0, 1]), ("RankRLS", {}, [0])],
)
@pytest.mark.filterwarnings("ignore:A column-vector y", "ignore:RankRLS.fit was called without groups")
def test_frames_with_partitions_without_rows(client, name, params, columns):
    X, _ = rankings()
    Y = pd.DataFrame(np.where(X[:, columns] > 0, 1, 0), columns=[f"label{i}" for i in columns])
    data = [pd.DataFrame(X)[20:], Y[20:]]  # numbers as names of features
    parts = [dd.from_pandas(all_rows, npartitions=3) for all_rows in (pd.DataFrame(X), Y)]
    parts = [part.map_partitions(lambda rows: rows[rows.index >= 20]) for part in parts]
    found, local = both(name, params, data, parts)
    assert_allclose(found.coef_, local.coef_, rtol=1e-8)
