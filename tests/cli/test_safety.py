"""Files that were edited, names that control a terminal, and outputs that are inputs."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import sys
import zipfile

import polars as pl
import pytest
from cli.conftest import invoke

from labelrank.cli.output import RowWriter


def edited(model, path, **changes):
    """Write a copy of a model file with other values in what it says about itself, and the checksum of that."""
    with zipfile.ZipFile(model) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "labelrank.json":
                about = json.loads(data) | changes
                others = {key: about[key] for key in about if key != "sha256_about"}
                seal = hashlib.sha256(json.dumps(others, sort_keys=True).encode()).hexdigest()
                data = json.dumps(about | {"sha256_about": seal}).encode()
            new.writestr(name, data)
    return path


@pytest.mark.parametrize(
    "changes",
    [
        {"notes": ["x"]},
        {"notes": {"reading": "labels"}},
        {"notes": {"reading": {"labels": ["a"]}}},
        {"notes": {"reading": {"kind": "orders"}}},
        {"notes": {"reading": {"names": "a"}}},
    ],
)
def test_notes_that_cannot_be_those_of_fit(folder, model, tmp_path, changes):
    path = edited(model, tmp_path / "edited.lrk", **changes)
    for arguments in (
        ["inspect", path],
        ["predict", path, folder / "new.csv"],
        ["evaluate", path, folder / "test.csv"],
    ):
        told = invoke(*arguments, status=1).stderr
        assert str(path) in told
        assert told.count("\n") == 1


def test_control_characters_are_not_sent_to_the_terminal(folder, model, tmp_path):
    notes = {"reading": {"labels": "\x1b[2J*"}, "data": "a\x9bb\nlabels: none"}
    path = edited(model, tmp_path / "edited.lrk", type="\x1b[2J", notes=notes)
    for result in (invoke("inspect", path), invoke("evaluate", path, folder / "test.csv", status=1)):
        assert not {"\x1b", "\x9b"} & set(result.output)
        assert r"\x1b[2J" in result.output
    assert "\nlabels: none" not in invoke("inspect", path).stdout


@pytest.mark.parametrize(
    ("suffix", "part"), [(".csv", pl.DataFrame({"label_1": ["\x9b2J"]})), (".jsonl", [{"a": "\x9b2J"}])]
)
@pytest.mark.parametrize("terminal", [False, True])
def test_predictions_are_escaped_on_a_terminal_only(monkeypatch, suffix, part, terminal):
    written = io.StringIO()
    written.isatty = lambda: terminal
    monkeypatch.setattr(sys, "stdout", written)
    RowWriter(None, suffix).write(part)
    assert (r"\x9b2J" in written.getvalue()) == terminal
    assert ("\x9b" in written.getvalue()) != terminal


def test_an_input_is_not_overwritten(folder, model, tmp_path):
    data = (folder / "train.csv").read_bytes()
    (tmp_path / "d.csv").write_bytes(data)
    (tmp_path / "m.jsonl").write_bytes(model.read_bytes())
    os.link(tmp_path / "d.csv", tmp_path / "same.csv")
    d, same, m = tmp_path / "d.csv", tmp_path / "same.csv", tmp_path / "m.jsonl"
    for arguments in (["fit", d, "-o", d], ["fit", d, "-o", same], ["predict", m, d, "-o", same],
                      ["predict", m, d, "-o", m], ["convert", d, d]):  # fmt: skip
        assert "it is an input file; give the output another name" in invoke(*arguments, status=2).stderr
    assert d.read_bytes() == data
    assert m.read_bytes() == model.read_bytes()


@pytest.mark.parametrize("name", ["m.csv", "m.JSONL", "m.csv.gz", "m.arff"])
def test_a_model_has_no_name_of_data(folder, tmp_path, name):
    told = invoke("fit", folder / "train.csv", "-o", tmp_path / name, status=2).stderr
    assert f"such as {tmp_path / 'm.lrk'}" in told


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="there is no /proc")
def test_a_folder_in_which_nothing_can_be_made(folder):
    assert "cannot save /proc/x.lrk: " in invoke("fit", folder / "train.csv", "-o", "/proc/x.lrk", status=2).stderr


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_full_disk_is_no_misuse(folder, model, tmp_path, monkeypatch, suffix):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), None)

    monkeypatch.setattr("labelrank._atomic.os.fsync", full)
    told = invoke("predict", model, folder / "new.csv", "-o", tmp_path / f"out.{suffix}", status=1).stderr
    assert "cannot save" in told
    assert "no space left" in told.lower()
    assert list(tmp_path.iterdir()) == []
