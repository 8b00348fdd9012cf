"""``python -m papers`` as it is called, and what holds for every paper."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import papers
from papers.__main__ import main
from papers.frame import ResultCache


@pytest.mark.parametrize("name", papers.PAPERS)
def test_a_quick_run_and_its_continuation(name, tmp_path, monkeypatch):
    monkeypatch.delenv("LABELRANK_DATA", raising=False)
    paper = papers.find(name)
    assert paper.name == name
    report = paper.run(quick=True, cache=tmp_path)
    results = list((tmp_path / name).iterdir())
    again = dataclasses.replace(paper, compute=None).run(quick=True, cache=tmp_path)  # nothing is left to compute
    assert again.render() == report.render()
    assert len(list((tmp_path / name).iterdir())) == len(results) > 0
    rows = list(csv.DictReader(io.StringIO(report.render("csv"))))
    assert {row["table"] for row in rows} == {table.title for table in report.tables}


@pytest.mark.parametrize("name", papers.PAPERS)
def test_cells_differ_and_are_json(name):
    paper = papers.find(name)
    cells = paper.cells_of(paper.generate(paper.quick), paper.quick)
    assert len({ResultCache("x").path(cell) for cell in cells}) == len(cells)
    assert json.loads(json.dumps(cells)) == cells


def test_the_list(capsys):
    assert main([]) == 0
    listed = capsys.readouterr().out
    for name in papers.PAPERS:
        assert name in listed
    assert "--data reuters, rcv1" in listed


def test_formats(capsys, tmp_path):
    said = set()
    for how in ("table", "csv", "markdown", "rst"):
        assert main(["tsivtsivadze2008", "--quick", "--cache", str(tmp_path), "--format", how]) == 0
        said.add(capsys.readouterr().out)
    assert len(said) == 4
    assert all("sparse RankRLS" in text for text in said)
    assert len(list((tmp_path / "tsivtsivadze2008").iterdir())) == 8


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["dekel2030"], "there is no paper 'dekel2030'; did you mean 'dekel2003'?"),
        (["x"], "there is no paper 'x'. Known: dekel2003"),
        (["dekel2003", "--data", "mnist"], "dekel2003 has no data set 'mnist'; known: reuters, rcv1"),
        (["dekel2003", "--jobs", "0"], "--jobs must not be 0"),
        (["dekel2003"], "set LABELRANK_DATA"),
        (["dekel2003", "--folder", "no-such-folder"], "there is no file reuters21578_topics.jsonl"),
        (["sopopo2006", "--folder", "somewhere"], "all data are generated"),
    ],
)
def test_errors(monkeypatch, capsys, arguments, message):
    monkeypatch.delenv("LABELRANK_DATA", raising=False)
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert message in capsys.readouterr().err


def test_an_interrupted_run(monkeypatch, capsys):
    def interrupted(name):
        raise KeyboardInterrupt

    monkeypatch.setattr(papers, "find", interrupted)
    assert main(["dekel2003", "--quick"]) == 130
    assert "run the same command again" in capsys.readouterr().err


def test_as_a_module():
    root = Path(papers.__file__).parents[1]
    call = [sys.executable, "-m", "papers", "dekel2030"]
    done = subprocess.run(call, capture_output=True, text=True, cwd=root, env=dict(os.environ))
    assert done.returncode == 2
    assert "did you mean 'dekel2003'?" in done.stderr
