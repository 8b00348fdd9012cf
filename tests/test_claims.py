"""The table of claims in the documentation."""

import importlib.util
import json
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_table_shows_the_docstrings_of_the_benchmarks(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("_record", ROOT / "benchmarks" / "_record.py")
    record = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(record)
    results = record.RESULTS
    monkeypatch.setattr(record, "RESULTS", tmp_path)
    found = json.loads((results / "claims.json").read_text(encoding="utf-8"))
    for run in found.values():
        run["versions"] = dict(reversed(run["versions"].items()))  # a new run has its own order
    record.write(found)
    expected = (tmp_path / "claims.inc").read_text(encoding="utf-8")
    assert (results / "claims.inc").read_text(encoding="utf-8") == expected, "run python benchmarks/_record.py"
