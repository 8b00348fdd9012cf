"""``labelrank fit``, and what ``inspect`` tells of its files."""

from __future__ import annotations

import json
import re

import numpy as np
import polars as pl
import pytest
from cli.conftest import LABELS, invoke
from sklearn.model_selection import KFold, cross_val_score

import labelrank
from labelrank import LogLinearRanker, inspect_file, load, save
from labelrank.auto.preprocessing import pipeline_for
from labelrank.datasets import load_iris_rankings


def test_the_score_is_that_of_cross_validation(folder, frame, tmp_path):
    options = ("--ranker", "loglinearranker", "--ignore", "id,city", "--set", "alpha=0.5", "--seed", 3)
    printed = invoke("fit", folder / "train.csv", "-o", tmp_path / "m.lrk", *options, "--json").stdout
    train = frame[:100]
    X = train.select("age", "size", "weight")
    y = labelrank.ranks_from_scores(train.select(f"score_{name}" for name in LABELS).rename(lambda n: n[6:]))
    ranker = pipeline_for(labelrank.LogLinearRanker(alpha=0.5, n_jobs=1, on_empty="ignore"), X)
    tau = cross_val_score(ranker, X, y, cv=KFold(5, shuffle=True, random_state=3))
    document = json.loads(printed)
    assert document["metrics"]["kendall_tau"] == pytest.approx(tau.mean(), abs=1e-12)
    assert document["metrics"]["kendall_tau_error"] == pytest.approx(tau.std(ddof=1) / np.sqrt(5), abs=1e-12)
    assert document["reading"] == {"labels": "score_*", "kind": "scores", "ignore": "id,city"}
    assert document["data"] == {"name": "train.csv", "n_instances": 100, "n_features": 3, "n_labels": 4}
    np.testing.assert_allclose(load(tmp_path / "m.lrk").decision_function(X), ranker.fit(X, y).decision_function(X))


def test_the_file_knows_how_it_was_made(model):
    about = inspect_file(model)
    assert about["labels"] == LABELS
    assert about["schema"] == {"age": "Float64", "size": "Float64", "weight": "Float64", "city": "String"}
    assert about["notes"]["reading"] == {"labels": "score_*", "kind": "scores", "ignore": "id"}
    assert 0.5 < about["metrics"]["kendall_tau"] <= 1
    assert json.loads(invoke("inspect", model, "--json").stdout) == about
    text = invoke("inspect", model).stdout
    for part in ("'tea', 'milk', 'water', 'cola'", "age (Float64)", "train.csv", "--labels 'score_*'", "kendall_tau"):
        assert part in text


def test_people_are_told_what_was_done(folder, tmp_path):
    lines = invoke("fit", folder / "train.csv", "-o", tmp_path / "m.lrk", "--ranker", "DummyRanker").stdout.splitlines()
    assert lines[0] == "train.csv: 100 instances × 5 features × 4 labels (score_*: scores)"
    assert lines[1].startswith("DummyRanker: Kendall's tau 0.")
    assert "(5-fold cross-validation)" in lines[1]
    assert f"labelrank predict {tmp_path / 'm.lrk'}" in lines[2]


def test_autoranker_is_the_default(folder, tmp_path):
    path = tmp_path / "auto.lrk"
    options = ("--budget", "1", "--conformal", "0.3", "--ignore", "id")
    lines = invoke("fit", folder / "train.csv", "-o", path, *options).stdout.splitlines()
    found = r"0\.\d+ (± 0\.\d+ \(\d folds|\(one of 5 folds: the budget was too short for more); .*%\)"
    assert re.match(rf"AutoRanker: Kendall's tau {found}", lines[1])
    assert isinstance(load(path).estimator_, labelrank.AutoRanker)
    assert load(path).estimator_.time_budget == 1
    row = json.loads(invoke("predict", path, folder / "new.csv", "--json").stdout.splitlines()[0])
    assert row.keys() == {"labels", "scores", "confidence", "safe"}
    assert "pairs" in invoke("evaluate", path, folder / "test.csv").stdout
    assert " before " in invoke("explain", path, folder / "new.csv").stdout
    assert json.loads(invoke("inspect", path, "--json").stdout)["metrics"]["kendall_tau"] > 0.5


def test_identifiers_are_told_of(folder, tmp_path):
    told = invoke("fit", folder / "train.csv", "-o", tmp_path / "m.lrk", "--ranker", "DummyRanker").stderr
    assert (
        told
        == "labelrank: the column 'id' has a different value in every row; if it is an identifier, give --ignore id\n"
    )


def test_pairs_have_no_top(tmp_path):
    rows = ["x,tea:milk,milk:cola", *(f"{i},{1 - 2 * (i % 2)},{i % 3 - 1}" for i in range(30))]
    (tmp_path / "pairs.csv").write_text("\n".join(rows))
    options = ("-o", tmp_path / "m.lrk", "--ranker", "LogLinearRanker", "--json")
    assert json.loads(invoke("fit", tmp_path / "pairs.csv", *options).stdout)["metrics"].keys() == {
        "kendall_tau",
        "kendall_tau_error",
    }
    assert "Kendall's tau" in invoke("evaluate", tmp_path / "m.lrk", tmp_path / "pairs.csv").stdout


def test_data_from_which_nothing_can_be_learned(tmp_path):
    for rows, part in (("1,,\n" * 20, "no instance in which a label is preferred"), ("1,1,2\n", "has 1 instances")):
        (tmp_path / "d.csv").write_text("x,rank_a,rank_b\n" + rows)
        assert part in invoke("fit", tmp_path / "d.csv", "-o", tmp_path / "m.lrk", status=1).stderr
    (tmp_path / "d.csv").write_text("x,rank_a,rank_b\n" + "1,1,2\n2,2,1\n" * 10 + "3,,\n")
    options = ("-o", tmp_path / "m.lrk", "--ranker", "DummyRanker", "--conformal", "0.01")
    told = invoke("fit", tmp_path / "d.csv", *options).stderr.splitlines()
    assert "labelrank: 1 of 21 instances have no preferences and are ignored" in told
    assert any(line.startswith("labelrank: warning: ") and "too few for alpha=0.01" in line for line in told)
    (tmp_path / "d.csv").write_text("x,rank_a,rank_b,rank_c\n" + "1,1,2,\n2,2,1,\n" * 10)
    told = invoke("fit", tmp_path / "d.csv", *options[:4]).stderr
    assert "warning: no row compares ['c'] with another label" in told


def test_parameters_have_the_types_of_json(folder, tmp_path):
    path = tmp_path / "m.lrk"
    settings = (
        "--set",
        "n_estimators=3",
        "--set",
        "max_depth=null",
        "--set",
        "bootstrap=False",
        "--set",
        "criterion=auto",
    )
    invoke("fit", folder / "train.csv", "-o", path, "--ranker", "RandomForestRanker", *settings)
    forest = load(path)
    assert (forest.n_estimators, forest.max_depth, forest.bootstrap, forest.criterion) == (3, None, False, "auto")


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (["--ranker", "LogLinaerRanker"], ["there is no ranker 'LogLinaerRanker'; did you mean 'LogLinearRanker'?"]),
        (["--ranker", "LogLinearRanker", "--set", "alhpa=1"], ["no parameter 'alhpa'; did you mean 'alpha'?"]),
        (["--ranker", "LogLinearRanker", "--set", "alpha"], ["--set alpha: expected NAME=VALUE"]),
        (["--ranker", "LogLinearRanker", "--set", "alpha=-1"], ["'alpha' parameter of LogLinearRanker must be"]),
        (["--ranker", "LogLinearRanker", "--budget", "5"], ["--budget is for AutoRanker"]),
        (["--set", "scoring=mean_cost"], ["--set scoring=mean_cost needs the values of costs", "in Python"]),
        (["--ranker", "DummyRanker", "--conformal", "1"], ["--conformal must be between 0 and 1"]),
        (["--ranker", "DummyRanker", "--jobs", "0"], ["--jobs must not be 0"]),
        (["--labels", "scor_tea"], ["--labels names 'scor_tea'", "did you mean 'score_tea'?"]),
        (["--ignore", "idd"], ["--ignore names 'idd'", "did you mean 'id'?"]),
        (["--text", "cty"], ["--text names 'cty'", "did you mean 'city'?"]),
    ],
)
def test_mistakes(folder, tmp_path, options, parts):
    refused = invoke("fit", folder / "train.csv", "-o", tmp_path / "m.lrk", *options, status=2)
    for part in parts:
        assert part in refused.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("where", "part"), [("missing/m.lrk", "there is no folder"), (".", "it is a folder; add the name of a file")]
)
def test_a_place_that_cannot_be_written_to_is_told_before_anything_is_read(tmp_path, where, part):
    (tmp_path / "broken.csv").write_text("a,rank_b\n1\n")
    refused = invoke("fit", tmp_path / "broken.csv", "-o", tmp_path / where, status=2)
    assert part in refused.stderr


def test_a_model_that_fails_leaves_the_last_one(folder, tmp_path):
    path = tmp_path / "m.lrk"
    path.write_bytes(b"the good one")
    options = ("--ranker", "KNeighborsRanker", "--set", "n_neighbors=9999")
    invoke("fit", folder / "train.csv", "-o", path, *options, status=1)
    assert path.read_bytes() == b"the good one"
    assert list(tmp_path.iterdir()) == [path]


def test_text_columns(tmp_path):
    words = ["my printer is on fire again", "the salary of last month is missing", "a red printer that is loud",
             "salary slip for the tax office"]  # fmt: skip
    rows = [{"question": f"{words[i % 4]} {i}", "score_it": 1 - i % 2, "score_hr": i % 2} for i in range(40)]
    pl.DataFrame(rows).write_ndjson(tmp_path / "tickets.jsonl")
    for options in ([], ["--text", "question"]):  # found by its content, or named
        path = tmp_path / "m.lrk"
        invoke("fit", tmp_path / "tickets.jsonl", "-o", path, "--ranker", "LogLinearRanker", *options)
        line = json.dumps({"question": "the printer, is it loud?"}) + "\n" + json.dumps({"question": None})
        answers = [json.loads(line) for line in invoke("predict", path, "-", input=line).stdout.splitlines()]
        assert answers[0]["labels"] == ["it", "hr"]
        assert len(answers) == 2


@pytest.mark.parametrize("reading", [[1], {"separator": 5}, {"other": "x"}])
def test_notes_that_fit_does_not_write(tmp_path, reading):
    X, y = load_iris_rankings(return_X_y=True)
    save(LogLinearRanker().fit(X, y), tmp_path / "m.lrk", notes={"reading": reading})
    for command in (["inspect", tmp_path / "m.lrk"], ["predict", tmp_path / "m.lrk", "iris"]):
        assert "'reading' in the notes must map options" in invoke(*command, status=1).stderr


def test_a_metric_that_is_not_known(tmp_path):
    X, y = load_iris_rankings(return_X_y=True)
    save(LogLinearRanker().fit(X, y), tmp_path / "m.lrk", metrics={"tau": float("nan")})
    assert "tau unknown" in invoke("inspect", tmp_path / "m.lrk").stdout


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([0.5, 0.7], "0.600 ± 0.100 (2 folds; linear 100%)"),
        ([0.5], "0.500 (one of 5 folds: the budget was too short for more; linear 100%)"),
    ],
)
def test_how_many_folds_a_score_is_from(folder, tmp_path, monkeypatch, scores, expected):
    class Quick(labelrank.AutoRanker):
        def fit(self, X, y):
            self.fold_scores_, self.best_score_, self.weights_ = np.array(scores), np.mean(scores), {"linear": 1.0}
            return self

    monkeypatch.setattr("labelrank.cli.training.AutoRanker", Quick)
    monkeypatch.setattr("labelrank.cli.training.save", lambda *_, **__: None)
    assert expected in invoke("fit", folder / "train.csv", "-o", tmp_path / "m.lrk", "--ignore", "id").stdout


def test_features_that_look_like_labels_are_told_of(folder, tmp_path):
    options = ("--labels", "score_tea,score_milk", "--ignore", "id", "--ranker", "DummyRanker")
    told = invoke("fit", folder / "train.csv", "-o", tmp_path / "m.lrk", *options).stderr
    assert told.count("\n") == 1
    assert "['score_water', 'score_cola'] look like labels" in told
    assert "--ignore score_water,score_cola" in told


def test_texts_that_are_numbers_are_told_of(tmp_path):
    rows = [
        {"day": f"2024-01-{i % 28 + 1:02}", "price, net": f"{i},5", "age": ["18-25", "26-40"][i % 2],
         "opened at": f"{i}:00", "rank_a": 1 + i % 2, "rank_b": 2 - i % 2} for i in range(40)
    ]  # fmt: skip
    pl.DataFrame(rows).write_csv(tmp_path / "d.csv")
    told = invoke("fit", tmp_path / "d.csv", "-o", tmp_path / "m.lrk", "--ranker", "DummyRanker").stderr.splitlines()
    assert len(told) == 3
    assert "the column 'day' has texts such as '2024-01-01', which are treated as categories; convert dates" in told[0]
    assert told[0].endswith("give --ignore day")
    assert told[1].endswith("give --ignore 'price, net'")
    assert told[2].endswith("give --ignore 'opened at'")
    lines = [f"{'NULL' if i % 9 == 4 else i / 7},{1 + i % 2},{2 - i % 2}\n" for i in range(40)]
    (tmp_path / "null.csv").write_text("age,rank_a,rank_b\n" + "".join(lines))
    (null,) = invoke(
        "fit", tmp_path / "null.csv", "-o", tmp_path / "m.lrk", "--ranker", "DummyRanker"
    ).stderr.splitlines()
    assert "the column 'age' has numbers and texts such as 'NULL'; all are treated as categories" in null
    options = ("--ignore", "price, net", "--ranker", "DummyRanker", "--json")
    document = json.loads(invoke("fit", tmp_path / "d.csv", "-o", tmp_path / "m.lrk", *options).stdout)
    assert document["data"]["n_features"] == 3
