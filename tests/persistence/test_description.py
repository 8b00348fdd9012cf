"""What a file says about its model: its types, its checksum, and what is not JSON."""

import json
import math
import os
import re
import zipfile

import pandas as pd
import pytest
from persistence.forged import archived

from labelrank import LogLinearRanker, inspect_file, load, save
from labelrank.datasets import make_label_ranking

pytest.importorskip("skops")

X, Y = make_label_ranking(30, 3, n_labels=3, random_state=0)
MODEL = LogLinearRanker().fit(pd.DataFrame(X, columns=["a", "b", "c"]), pd.DataFrame(Y, columns=["x", "y", "z"]))


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "model.lrk"
    save(MODEL, path)
    return path


def taken_apart(path):
    with zipfile.ZipFile(path) as archive:
        return archive.read("labelrank.json").decode(), archive.read("model.skops")


def put_together(path, text, data):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("labelrank.json", text)
        archive.writestr("model.skops", data)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("notes", value) for value in ([1, 2], None, "x")),
        *(("schema", value) for value in ([1], {"a": 1}, "x")),
        *(("features", value) for value in ("abc", [1], {})),
        *(("n_features", value) for value in (-1, True, 2.0, "3")),
        *(("labels", value) for value in ("xyz", [None], [["x"]])),
        *(("metrics", value) for value in ("x", {"x": "y"}, {"x": True}, {"x": 10**400}, None)),
        *(("format", value) for value in (True, -3, 0, None, "1", 1.0)),
        *((name, 1) for name in ("labelrank", "scikit-learn", "numpy", "type", "model", "sha256")),
    ],
)
def test_entries_of_other_types(saved, name, value):
    text, data = taken_apart(saved)
    archived(saved, json.loads(text) | {name: value}, data)
    for function in (inspect_file, load):
        told = f"{saved}: the description of the model is damaged: '{name}' must be "
        with pytest.raises(ValueError, match=re.escape(told)):
            function(saved)


@pytest.mark.parametrize("name", ["notes", "labels", "sha256", "sha256_about"])
def test_entries_that_are_missing(saved, name):
    text, data = taken_apart(saved)
    about = json.loads(text)
    del about[name]
    put_together(saved, json.dumps(about), data)
    with pytest.raises(ValueError, match=f"description of the model is damaged: it has no '{name}'"):
        inspect_file(saved)


@pytest.mark.parametrize("changes", [{"notes": {"x": 1}}, {"type": "Pipeline"}, {"other": 1}, {"sha256": "0" * 64}])
def test_a_checksum_covers_all_of_it(saved, changes):
    text, data = taken_apart(saved)
    put_together(saved, json.dumps(json.loads(text) | changes), data)
    for function in (inspect_file, load):
        with pytest.raises(ValueError, match="description of the model is damaged: its checksum does not match"):
            function(saved)


@pytest.mark.parametrize(
    ("name", "value"),
    [("labels", ["x", "z", "y"]), ("labels", None), ("features", None), ("features", ["a", "b"]), ("n_features", 4)],
)
def test_labels_and_features_of_another_model(saved, name, value):
    text, data = taken_apart(saved)
    archived(saved, json.loads(text) | {name: value}, data)
    with pytest.raises(ValueError, match=rf"model.lrk: the description .* is damaged: '{name}' are not those of the"):
        load(saved)


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
def test_numbers_that_are_not_json(saved, number):
    text, data = taken_apart(saved)
    put_together(saved, text.replace('"notes": {}', f'"notes": {{"x": {number}}}'), data)
    with pytest.raises(ValueError, match=r"the description of the model is damaged: .* not JSON"):
        inspect_file(saved)


def test_metrics_that_are_not_finite_are_null(saved):
    save(MODEL, saved, metrics={"x": math.nan, "y": math.inf, "z": 1})
    text, _ = taken_apart(saved)
    assert json.loads(text, parse_constant=pytest.fail)["metrics"] == {"x": None, "y": None, "z": 1.0}
    assert inspect_file(saved)["metrics"] == {"x": None, "y": None, "z": 1.0}


def test_a_description_that_is_too_long(saved):
    _, data = taken_apart(saved)
    with zipfile.ZipFile(saved, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("labelrank.json", bytes(2**24 + 1))
        archive.writestr("model.skops", data)
    with pytest.raises(ValueError, match=r"labelrank.json is larger than 16,777,216 bytes; no description"):
        load(saved)


def test_a_link_stays_and_so_do_permissions(saved, tmp_path):
    (tmp_path / "folder").mkdir()
    link = tmp_path / "folder" / "link.lrk"
    link.symlink_to("../model.lrk")
    os.chmod(saved, 0o640)
    save(MODEL, link, notes={"new": True})
    assert link.is_symlink()
    assert inspect_file(saved)["notes"] == {"new": True}
    assert saved.stat().st_mode & 0o777 == 0o640
