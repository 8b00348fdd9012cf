"""``labelrank predict`` and ``labelrank explain``."""

from __future__ import annotations

import json
import warnings

import numpy as np
import polars as pl
import pytest
from cli.conftest import LABELS, invoke
from polars.testing import assert_frame_equal

import labelrank
from labelrank import load
from labelrank.cli.predictions import Predictor
from labelrank.cli.saved import SavedModel

FEATURES = ("age", "size", "weight", "city")


def test_names_scores_and_confidence(folder, frame, model):
    rows = pl.read_csv(invoke("predict", model, folder / "new.csv").stdout.encode())
    X = frame[100:].select(FEATURES)
    fitted = load(model)
    scores = np.asarray(fitted.decision_function(X))
    expected = np.array(LABELS)[np.argsort(-scores, axis=1)]
    assert rows.columns == [*(f"label_{i}" for i in range(1, 5)), *(f"score_{i}" for i in range(1, 5)), "confidence"]
    for place in range(4):
        assert rows[f"label_{place + 1}"].to_list() == expected[:, place].tolist()
        np.testing.assert_allclose(rows[f"score_{place + 1}"], -np.sort(-scores, axis=1)[:, place])
    np.testing.assert_allclose(rows["confidence"], labelrank.confidence(fitted, X))


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "jsonl"])
def test_all_formats_say_the_same_some_rows_at_a_time(folder, frame, model, tmp_path, monkeypatch, suffix):
    expected = pl.read_csv(invoke("predict", model, folder / "new.csv", "--top", 2).stdout.encode())
    monkeypatch.setattr(SavedModel, "batch", 7)
    new = frame[100:]
    source, out = tmp_path / f"new.{suffix}", tmp_path / f"out[1].{suffix}"
    {
        "csv": new.write_csv,
        "tsv": lambda path: new.write_csv(path, separator="\t"),
        "parquet": new.write_parquet,
        "jsonl": new.write_ndjson,
    }[suffix](source)
    invoke("predict", model, source, "-o", out, "--top", 2, "--keep", "id")
    if suffix == "jsonl":
        rows = [json.loads(line) for line in out.read_text().splitlines()]
        assert rows[0].keys() == {"id", "labels", "scores", "confidence"}
        written = pl.DataFrame(
            {"id": row["id"], "label_1": row["labels"][0], "label_2": row["labels"][1], "score_1": row["scores"][0],
             "score_2": row["scores"][1], "confidence": row["confidence"]} for row in rows
        )  # fmt: skip
    else:
        written = (
            pl.read_parquet(out.read_bytes())
            if suffix == "parquet"
            else pl.read_csv(out.read_bytes(), separator="\t" if suffix == "tsv" else ",")
        )
    assert written["id"].to_list() == new["id"].to_list()
    assert_frame_equal(written.drop("id"), expected)
    assert {path.name for path in tmp_path.iterdir()} == {source.name, out.name}  # nothing else is left


def test_columns_in_another_order_and_further_ones_do_not_matter(frame, model, tmp_path):
    new = frame[100:110]
    new.select(FEATURES).write_csv(tmp_path / "a.csv")
    new.select("city", "score_tea", "weight", "size", "age").write_csv(tmp_path / "b.csv", separator=";")
    first = invoke("predict", model, tmp_path / "a.csv").stdout
    assert invoke("predict", model, tmp_path / "b.csv", "--separator", ";").stdout == first


def test_the_safe_part(folder, frame, careful_model):
    rows = [
        json.loads(line) for line in invoke("predict", careful_model, folder / "new.csv", "--json").stdout.splitlines()
    ]
    buckets = load(careful_model).predict_buckets(frame[100:].select(FEATURES))
    for row, ranks in zip(rows, buckets, strict=True):
        groups = [set(group.split("=")) for group in row["safe"].split(">")]
        expected = [{LABELS[i] for i in np.flatnonzero(ranks == rank)} for rank in np.unique(ranks)]
        assert groups == expected


def test_a_pipe(frame, model):
    lines = frame[100:103].write_ndjson().splitlines()
    answers = invoke("predict", model, "-", input="\n".join([lines[0], "", *lines[1:]])).stdout.splitlines()
    assert len(answers) == 3
    assert json.loads(answers[0])["labels"][0] in LABELS
    # What comes before a line that is wrong is answered.
    broken = invoke("predict", model, "-", input=f"{lines[0]}\n{lines[1]}\n{{oops\n", status=1)
    labels = [json.loads(line)["labels"] for line in broken.stdout.splitlines()]
    assert labels == [json.loads(line)["labels"] for line in answers[:2]]
    assert "standard input, line 3: expected a JSON object" in broken.stderr
    huge = lines[1].replace('"age":', '"age":1e999,"was":')
    broken = invoke("predict", model, "-", input=f"{lines[0]}\n{huge}\n", status=1)
    assert [json.loads(line)["labels"] for line in broken.stdout.splitlines()] == labels[:1]
    assert "standard input, line 2: expected a finite number in the column 'age'" in broken.stderr
    without = json.dumps({"age": 1, "size": 2, "wieght": 3, "city": "Ulm"})
    refused = invoke("predict", model, "-", input=f"{without}\n", status=1)
    assert "standard input, line 1 has no column 'weight'" in refused.stderr
    assert "did you mean 'wieght'?" in refused.stderr


def test_mistakes(folder, frame, model, tmp_path):
    def refused(*arguments, status=2):
        return invoke("predict", model, *arguments, status=status).stderr

    new = folder / "new.csv"
    assert "--top 9 is more than the 4 labels" in refused(new, "--top", 9)
    assert "must end in .csv" in refused(new, "-o", tmp_path / "out.xlsx")
    assert "there is no folder" in refused(new, "-o", tmp_path / "no" / "out.csv")
    assert "--keep names 'di'" in refused(new, "--keep", "di")
    assert "did you mean" in refused(folder / "nwe.csv")
    frame[100:].rename({"weight": "Weight"}).write_csv(tmp_path / "other.csv")
    assert "has no column 'weight', which the model needs; did you mean 'Weight'?" in refused(tmp_path / "other.csv")
    text = new.read_text().splitlines()
    text[5] = text[5].replace(",", ",heavy", 1)
    (tmp_path / "bad.csv").write_text("\n".join(text))
    out = tmp_path / "out.csv"
    assert "bad.csv, line 6: expected a number in the column 'age'" in refused(
        tmp_path / "bad.csv", "-o", out, status=1
    )
    assert not out.exists()
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 is not all")
    assert "expected a Parquet file" in refused(tmp_path / "bad.parquet", status=1)
    missing = invoke("predict", folder / "modle.lrk", new, status=2).stderr
    assert "did you mean 'model.lrk'?" in missing
    (tmp_path / "broken.lrk").write_bytes(b"nothing")
    assert "not a model file" in invoke("predict", tmp_path / "broken.lrk", new, status=1).stderr


def test_no_rows(model, folder, tmp_path):
    (tmp_path / "none.csv").write_text((folder / "new.csv").read_text().splitlines()[0] + "\n")
    assert invoke("predict", model, tmp_path / "none.csv", "--top", 1).stdout == "label_1,score_1,confidence\n"


def test_reasons(folder, model, careful_model):
    for path in (model, careful_model):
        rows = invoke("predict", path, folder / "new.csv", "--explain", "--json").stdout.splitlines()
        assert all("=" in json.loads(row)["because"] for row in rows)


def test_explain_a_row(folder, frame, model):
    found = json.loads(invoke("explain", model, folder / "new.csv", "--row", 3, "--json").stdout)
    assert found["order"] == "before"
    assert found["better"] == found["labels"][0]
    assert {part["item"]: part["value"] for part in found["contributions"]}["city"] == frame["city"][103]
    total = found["base"] + sum(part["contribution"] for part in found["contributions"])
    assert total == pytest.approx(found["difference"])
    assert found["difference"] == pytest.approx(found["scores"][0] - found["scores"][1])
    text = invoke("explain", model, folder / "new.csv", "--row", 3, "--better", "cola", "--worse", "tea").stdout
    assert text.startswith("row 3: ")
    assert "cola before tea" in text or "cola after tea" in text
    for options, part in (
        (["--row", 60], "has 60 rows"),
        (["--better", "coal"], "did you mean 'cola'?"),
        (["--better", "tea", "--worse", "tea"], "are the same label"),
    ):
        assert part in invoke("explain", model, folder / "new.csv", *options, status=2).stderr


def test_reasons_are_columns_and_words(tmp_path):
    kinds = [("printer is on fire", "high"), ("salary was not paid", "low")]
    rows = [
        {"age": None if i == 4 else 20.0 + i, "subject": f"{kinds[i % 2][0]} {i}", "priority": kinds[i % 2][1],
         "score_it": 1 - i % 2, "score_hr": i % 2}
        for i in range(40)
    ]  # fmt: skip
    pl.DataFrame(rows).write_csv(tmp_path / "d.csv")
    invoke("fit", tmp_path / "d.csv", "-o", tmp_path / "m.lrk", "--ranker", "LogLinearRanker", "--text", "subject")
    arguments = ("explain", tmp_path / "m.lrk", tmp_path / "d.csv", "--row", 2)
    found = json.loads(invoke(*arguments, "--json").stdout)
    values = {part["item"]: part["value"] for part in found["contributions"]}
    assert (values["age"], values["priority"], values['subject: "printer"']) == (22.0, "high", "")
    assert values.keys() == {"age", "priority", *(f'subject: "{word}"' for word in ["printer", "is", "on", "fire"])}
    total = sum(part["contribution"] for part in found["contributions"])
    assert total + found["base"] == pytest.approx(found["difference"])
    text = invoke(*arguments).stdout
    assert 'subject: "printer"\n' in text
    assert "priority" in text
    assert "__" not in text


def test_kept_numbers_are_numbers_in_json(model, folder):
    line = invoke("predict", model, folder / "new.csv", "--json", "--keep", "id,size").stdout.splitlines()[0]
    assert json.loads(line)["id"] == "p100"
    assert isinstance(json.loads(line)["size"], float)


def test_a_kept_column_is_not_lost(folder, model, tmp_path):
    text = (folder / "new.csv").read_text().replace("id,", "confidence,", 1)
    (tmp_path / "d.csv").write_text(text)
    for options in ([], ["--json"]):
        refused = invoke("predict", model, tmp_path / "d.csv", "--keep", "confidence", *options, status=2).stderr
        assert "--keep names 'confidence', which is also a column of the predictions" in refused


def test_estimated_reasons_need_rows_to_compare_with(folder, frame, tmp_path):
    path = tmp_path / "m.lrk"
    invoke("fit", folder / "train.csv", "-o", path, "--ranker", "PairwiseRanker", "--ignore", "id")
    frame[100:101].write_csv(tmp_path / "one.csv")
    told = "unreliable with few rows; give more rows"
    assert told in invoke("explain", path, tmp_path / "one.csv").stderr
    assert told not in invoke("explain", path, folder / "new.csv").stderr
    # On a pipe the rows come one after the other.
    predictor = Predictor(load(path), np.array(LABELS), reasons=True)
    X = frame.select(FEATURES)
    for i in range(70):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            predictor(X[i : i + 1])
    assert predictor.background.equals(X[:50])
