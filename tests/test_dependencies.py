"""Other libraries are used where they should be: private helpers in one place, extras only in their rooms."""

import ast
import re
from pathlib import Path

import pytest

import labelrank

ROOT = Path(__file__).parents[1]
PACKAGE = Path(labelrank.__file__).parent
SOURCES = {path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}

# The modules that may import a library: a file, or all files of a folder.
HOMES = {
    "numba": ("_kernels/compile.py",),
    "llvmlite": (),
    "polars": ("cli/",),
    "pandas": ("dask/",),  # whose frames have partitions of pandas
    "pyarrow": (),
    "narwhals": ("auto/", "datasets/", "supervision/", "testing/", "trees/"),
    "jinja2": ("report/",),
    "matplotlib": ("plots/", "report/"),
    "typer": ("cli/",),
    "rich": ("cli/",),
    "torch": ("torch/",),
    "triton": ("torch/gathers.py",),
}


def imported(source):
    """Dotted names of everything that a module imports, inside functions too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


IMPORTS = {module: list(imported(source)) for module, source in SOURCES.items()}


def importers(library):
    return {module for module, names in IMPORTS.items() if any(name.split(".")[0] == library for name in names)}


@pytest.mark.parametrize("library", HOMES)
def test_libraries_are_imported_where_they_belong(library):
    others = {module for module in importers(library) if not module.startswith(HOMES[library])}
    assert not others, f"{library} is imported by {sorted(others)}"


def is_private(name):
    return any(part.startswith("_") and not part.startswith("__") for part in name.split("."))


def test_private_helpers_of_scikit_learn_are_in_one_place():
    found = {
        module
        for module, names in IMPORTS.items()
        if any(name.startswith("sklearn.") and is_private(name) for name in names)
    }
    assert found == {"_compat.py"}


@pytest.mark.parametrize(
    ("source", "private"),
    [
        ("from sklearn.utils import Bunch", False),
        ("from sklearn.utils._param_validation import Interval", True),
        ("from sklearn.utils.validation import _check_sample_weight as check", True),
        ("def f():\n    import sklearn.utils._tags", True),
        ("from sklearn import __version__", False),
    ],
)
def test_private_names_are_seen(source, private):
    assert any(is_private(name) for name in imported(source)) == private


def asks_for_storage(source):
    """Whether a module asks how graphs are stored, or whether something is graphs at all."""
    nodes = list(ast.walk(ast.parse(source)))
    calls = [node for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance"]
    return any(isinstance(node, ast.Attribute) and node.attr == "storage" for node in nodes) or any(
        "PreferenceGraphs" in ast.unparse(call.args[1]) for call in calls
    )


def test_only_supervision_and_pairs_know_how_graphs_are_stored():
    found = {module for module, source in SOURCES.items() if asks_for_storage(source)}
    assert not {module for module in found if not module.startswith(("supervision/", "pairs/"))}
    assert found, "the test sees what it looks for"


def test_the_version_is_written_once():
    assert not re.search(r'^version\s*=\s*"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), flags=re.MULTILINE)
    written = {module for module, source in SOURCES.items() if labelrank.__version__ in source}
    assert written == {"__init__.py"}
