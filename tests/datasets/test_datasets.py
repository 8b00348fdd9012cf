from __future__ import annotations

import subprocess
import sys

import labelrank.datasets


def test_public_names_exist_and_are_documented():
    for name in labelrank.datasets.__all__:
        doc = getattr(labelrank.datasets, name).__doc__
        assert ">>>" in doc, name


def test_import_is_light():
    code = (
        "import sys, labelrank.supervision\nbefore = set(sys.modules)\nimport labelrank.datasets\n"
        "heavy = {'polars', 'pandas', 'sklearn.datasets', 'scipy.stats', 'sklearn.naive_bayes'}\n"
        "print(sorted(heavy & (set(sys.modules) - before)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
