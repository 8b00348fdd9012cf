"""``labelrank evaluate``."""

from __future__ import annotations

import json
import sys

import numpy as np
import polars as pl
import pytest
from cli.conftest import LABELS, invoke

import labelrank
from labelrank import load, metrics


@pytest.fixture(scope="module")
def held_out(frame):
    test = frame[100:]
    y = labelrank.ranks_from_scores(test.select(f"score_{name}" for name in LABELS).rename(lambda n: n[6:]))
    return test.select("age", "size", "weight", "city"), y


def test_metrics_with_errors(folder, model, held_out):
    X, y = held_out
    document = json.loads(invoke("evaluate", model, folder / "test.csv", "--json").stdout)
    predicted = load(model).predict(X)
    tau = metrics.kendall_tau(y, predicted, average=None)
    assert document["metrics"]["tau"] == pytest.approx({"mean": tau.mean(), "error": tau.std(ddof=1) / np.sqrt(60)})
    assert document["metrics"]["top1"]["mean"] == pytest.approx(metrics.top_k_accuracy(y, predicted))
    assert document["metrics"]["zero_one"]["mean"] == pytest.approx(metrics.zero_one_error(y, predicted))
    assert [quarter["rows"] for quarter in document["quarters"]] == [15] * 4
    sure = [quarter["confidence"] for quarter in document["quarters"]]
    assert sure == sorted(sure)
    assert np.mean([quarter["tau"] for quarter in document["quarters"]]) == pytest.approx(tau.mean())
    expected = labelrank.trust.expected_calibration_error(y, labelrank.pairwise_proba(load(model), X))
    assert document["calibration_error"] == pytest.approx(expected)
    text = invoke("evaluate", model, folder / "test.csv").stdout
    assert "test.csv: 60 instances × 4 features × 4 labels" in text
    assert f"{tau.mean():.3f} ± " in text
    assert "least sure" in text


def test_coverage(folder, careful_model, held_out):
    X, y = held_out
    document = json.loads(invoke("evaluate", careful_model, folder / "test.csv", "--json").stdout)
    fitted = load(careful_model)
    assert document["coverage"] == pytest.approx(
        {"wanted": 0.8, "found": fitted.coverage(X, y), "completeness": fitted.completeness(X)}
    )
    assert "the safe part is right for" in invoke("evaluate", careful_model, folder / "test.csv").stdout


def test_label_columns_in_another_order(folder, frame, model, tmp_path):
    others = [name for name in frame.columns if not name.startswith("score_")]
    frame[100:].select(*(f"score_{name}" for name in reversed(LABELS)), *others).write_csv(tmp_path / "test.csv")
    first = json.loads(invoke("evaluate", model, folder / "test.csv", "--json").stdout)
    second = json.loads(invoke("evaluate", model, tmp_path / "test.csv", "--json").stdout)
    assert second["calibration_error"] == pytest.approx(first["calibration_error"])
    assert second["metrics"]["tau"] == pytest.approx(first["metrics"]["tau"])


def test_a_report(folder, careful_model, tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    result = invoke("evaluate", careful_model, folder / "test.csv", "--report", path)
    assert f"{path} written" in result.stderr
    page = path.read_text()
    assert page.lstrip().lower().startswith("<!doctype html")
    for part in (*LABELS, "careful.lrk on test.csv"):
        assert part in page
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for arguments in (["evaluate", careful_model, folder / "test.csv"], ["compare", "iris"]):
        assert "labelrank[plot]" in invoke(*arguments, "--report", tmp_path / "other.html", status=2).stderr


def test_mistakes(folder, frame, model, tmp_path):
    told = invoke("evaluate", model, folder / "new.csv", status=1).stderr
    assert told == "labelrank: error: the model was fitted with the label columns score_*; new.csv has none of them\n"
    told = invoke("evaluate", model, folder / "test.csv", "--labels", "rank_*", status=2).stderr
    assert "--labels names 'rank_*'" in told
    told = invoke("evaluate", model, "iris", status=1).stderr  # no table, to which options of the model do not apply
    assert "cannot be evaluated on iris" in told
    assert "--" not in told
    frame[100:].drop("score_tea").write_csv(tmp_path / "fewer.csv")
    assert "'tea'" in invoke("evaluate", model, tmp_path / "fewer.csv", status=1).stderr
    assert "must end in .html" in invoke("evaluate", model, folder / "test.csv", "--report", "r.pdf", status=2).stderr


def test_rows_that_the_model_has_learned_from_are_told_of(folder, frame, model, tmp_path):
    (tmp_path / "copy.csv").write_bytes((folder / "train.csv").read_bytes())
    told = invoke("evaluate", model, tmp_path / "copy.csv", "--report", tmp_path / "report.html").stderr
    assert told.startswith("labelrank: warning: the model was fitted on copy.csv; ")
    assert "model.lrk on copy.csv, its training data</h1>" in (tmp_path / "report.html").read_text()
    assert not invoke("evaluate", model, folder / "test.csv").stderr
    frame[100:101].drop("id").write_csv(tmp_path / "one.csv")  # without the column that was ignored
    text = invoke("evaluate", model, tmp_path / "one.csv").stdout
    assert "Kendall's tau" in text
    assert "nan" not in text


def test_columns_that_the_model_does_not_need_may_hold_anything(folder, frame, model, tmp_path):
    frame[100:].with_columns(pl.lit("2020-01-01").str.to_date().alias("day")).write_parquet(tmp_path / "more.parquet")
    expected = invoke("evaluate", model, folder / "test.csv", "--json").stdout
    found = invoke("evaluate", model, tmp_path / "more.parquet", "--json").stdout
    assert found == expected.replace("test.csv", "more.parquet")
    frame[100:].with_columns(pl.lit("2020-01-01").str.to_date().alias("age")).write_parquet(tmp_path / "age.parquet")
    told = invoke("evaluate", model, tmp_path / "age.parquet", status=1).stderr
    assert "the column 'age' has values of type Date" in told
    assert "--ignore" not in told  # not an option of evaluate
    frame[100:].drop("size").write_csv(tmp_path / "fewer.csv")
    told = invoke("evaluate", model, tmp_path / "fewer.csv", status=2).stderr
    assert "has no column 'size', which the model needs. Its columns are ['age', 'weight', 'city']" in told


def test_texts_that_are_numbers_in_this_file_are_the_same_categories(tmp_path):
    rows = [f"{['7', '8', '?', 'A-9'][i % 4]},{1 + i % 2},{2 - i % 2}" for i in range(40)]
    (tmp_path / "train.csv").write_text("\n".join(["code,rank_a,rank_b", *rows]))
    (tmp_path / "test.csv").write_text("\n".join(["code,rank_a,rank_b", *(row for row in rows if row[0] in "78")]))
    model = tmp_path / "m.lrk"
    invoke("fit", tmp_path / "train.csv", "-o", model, "--ranker", "DecisionTreeRanker")
    assert json.loads(invoke("evaluate", model, tmp_path / "test.csv", "--json").stdout)["metrics"]["tau"]["mean"] == 1
    first = invoke("predict", model, tmp_path / "test.csv", "--top", 1).stdout
    assert [line[0] for line in first.splitlines()[1:]] == ["a", "b"] * 10
