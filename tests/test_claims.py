"""The table of claims in the documentation."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture
def record():
    spec = importlib.util.spec_from_file_location("_record", ROOT / "benchmarks" / "_record.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_shows_the_docstrings_of_the_benchmarks(record, tmp_path, monkeypatch):
    results = record.RESULTS
    monkeypatch.setattr(record, "RESULTS", tmp_path)
    found = json.loads((results / "claims.json").read_text(encoding="utf-8"))
    for run in found.values():
        run["versions"] = dict(reversed(run["versions"].items()))  # a new run has its own order
    record.write(found)
    expected = (tmp_path / "claims.inc").read_text(encoding="utf-8")
    assert (results / "claims.inc").read_text(encoding="utf-8") == expected, "run python benchmarks/_record.py"


def test_benchmarks_without_a_record_name_the_pages_with_their_results(record):
    found = json.loads((record.RESULTS / "claims.json").read_text(encoding="utf-8"))
    scripts = {path.stem for path in record.HERE.glob("bench_*.py")}
    assert scripts - set(found) == set(record.ELSEWHERE)
    for text in record.ELSEWHERE.values():
        pages = re.findall(r":doc:`([^`]+)`", text)
        assert pages
        assert all((ROOT / f"docs{page}.rst").exists() for page in pages)
