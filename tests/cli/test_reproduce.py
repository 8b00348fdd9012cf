"""``labelrank reproduce`` as it is called."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from typer.testing import CliRunner

from labelrank.cli import app
from labelrank.experiments import EXPERIMENTS, dekel2003


def invoke(*arguments):
    return CliRunner().invoke(app, ["reproduce", *map(str, arguments)])


def test_quick(monkeypatch):
    monkeypatch.delenv("LABELRANK_DATA", raising=False)
    result = invoke("dekel2003", "--quick", "--format", "csv")
    assert result.exit_code == 0, result.output
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    first = [row for row in rows if row["table"] == rows[0]["table"]]
    assert len(first) == 16
    direct = dekel2003.run(quick=True).tables[0].mean().ravel()
    np.testing.assert_array_equal([float(row["mean"]) for row in first], direct)


@pytest.mark.parametrize("how", ["table", "markdown", "rst"])
def test_formats(tmp_path, how, monkeypatch):
    monkeypatch.setattr(dekel2003, "QUICK", dekel2003.Protocol(2, n_words=20, alphas=(1.0,), boosting_steps=2))
    result = invoke("dekel2003", "--quick", "--cache", tmp_path, "--format", how)
    assert result.exit_code == 0, result.output
    assert "generated: 240 documents" in result.stdout
    assert len(list((tmp_path / "dekel2003").iterdir())) == 16


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["dekel2030"], "there is no experiment 'dekel2030'; did you mean 'dekel2003'?"),
        (["x"], "there is no experiment 'x'. Known: dekel2003"),
        (["dekel2003", "--data", "mnist"], "dekel2003 has no data set 'mnist'; known: reuters, rcv1"),
        (["dekel2003", "--jobs", "0"], "--jobs 0 leaves nobody to do the work"),
        (["dekel2003"], "set LABELRANK_DATA"),
        (["dekel2003", "--folder", "no-such-folder"], "there is no file reuters21578_topics.jsonl"),
    ],
)
def test_errors(monkeypatch, arguments, message):
    monkeypatch.delenv("LABELRANK_DATA", raising=False)
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_interrupted(monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(dekel2003, "run", interrupted)
    result = invoke("dekel2003", "--quick")
    assert result.exit_code == 130
    assert "the same command goes on from there" in result.stderr


def test_all_are_there():
    for name in EXPERIMENTS:
        assert name in invoke("--help").stdout
