"""What is public is on the API page, and CI can find the commands of the README."""

import importlib
import re
from pathlib import Path

import pytest

import labelrank

ROOT = Path(__file__).parents[1]
API = ROOT / "docs" / "api.rst"
MODULES = [
    "aggregation",
    "datasets",
    "decompositions",
    "features",
    "losses",
    "metrics",
    "models",
    "neighbors",
    "pairs",
    "plots",
    "rankers",
    "report",
    "solvers",
    "supervision",
    "testing",
    "trees",
]


def names_on_api_page():
    names = set()
    module = "labelrank"
    for line in API.read_text(encoding="utf-8").splitlines():
        if line.startswith(".. currentmodule::"):
            module = line.split("::")[1].strip()
        elif re.fullmatch(r"   \w[\w.]*", line):
            names.add(f"{module}.{line.strip()}")
        elif match := re.match(r"   \* - `(\w+)`", line):
            names.add(f"{module}.{match[1]}")
    return names


@pytest.mark.parametrize("module", ["", *MODULES])
def test_public_names_are_on_the_api_page(module):
    names = names_on_api_page()
    home = importlib.import_module(f"labelrank.{module}".rstrip("."))
    aliases = {name.split(".")[1] for name in names if name.count(".") == 1}  # listed as labelrank.<name>
    missing = []
    for name in home.__all__:
        is_module = isinstance(getattr(home, name), type(labelrank))
        if not is_module and name not in aliases and f"{home.__name__}.{name}" not in names:
            missing.append(name)
    assert not missing, f"{home.__name__} exports names that docs/api.rst does not list: {missing}"


def readme_block(name):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    match = re.search(rf"^<!-- {name} -->\n```\w*\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    assert match, f"README.md needs the line <!-- {name} --> right before a fenced block"
    return match[1]


def test_readme_commands_are_marked_for_ci():
    assert "labelrank compare" in readme_block("run")
    assert "pytest" in readme_block("tests")
