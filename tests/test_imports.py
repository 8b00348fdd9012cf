"""Imports run one way, `import labelrank` is light, and every public name is there."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import labelrank

PACKAGE = Path(labelrank.__file__).parent

# What each part may import of the others:
# supervision <- pairs <- decompositions <- losses <- models <- solvers <- torch <- rankers <- everything else.
# Metrics and aggregation stand beside the losses: rankers score and summarize with them, and they know no ranker.
BASE = {"_kernels", "_compat", "_arrays", "_atomic", "_doc_links", "_memory", "_refitting", "_threads"}
SUPERVISION = BASE | {"supervision"}
PAIRS = SUPERVISION | {"pairs"}
CUT = PAIRS | {"decompositions"}
LOSSES = CUT | {"losses"}
MODELS = LOSSES | {"models"}
SOLVERS = MODELS | {"solvers"}
RANKERS = SOLVERS | {"aggregation", "rankers", "torch"}
LIBRARY = RANKERS | {"neighbors", "trees", "metrics", "features", "datasets", "_discovery"}
ALLOWED = {
    "_kernels": set(),
    "_compat": set(),
    "_arrays": set(),
    "_atomic": set(),
    "_doc_links": set(),
    "_memory": set(),
    "_refitting": set(),
    "_threads": set(),
    "supervision": BASE,
    "pairs": SUPERVISION,
    "decompositions": PAIRS,
    "losses": CUT,
    "models": LOSSES,
    "solvers": MODELS,
    "torch": SOLVERS,
    "metrics": CUT,
    "aggregation": CUT,
    "features": MODELS,
    "datasets": CUT | {"aggregation"},
    "rankers": RANKERS,
    "neighbors": RANKERS,
    "trees": RANKERS | {"metrics"},
    "_discovery": RANKERS | {"neighbors", "trees"},
    "prediction": SUPERVISION,
    "testing": LIBRARY,
    "trust": LIBRARY,
    "onnx": LIBRARY | {"auto", "trust"},
    "persistence": LIBRARY,
    "dask": LIBRARY | {"trust"},
    "auto": LIBRARY | {"report"},
    "plots": LIBRARY | {"trust"},
    "report": LIBRARY | {"plots", "trust"},
    "cli": LIBRARY | {"auto", "persistence", "plots", "report", "trust"},
    "_show_versions": set(),
    "__main__": {"cli"},
}
# score() is a metric, so the mixins of rankers and classifiers and the ranker of items ask for it when it is called.
# What is known about pairs is reached by methods of the graphs. An explanation draws itself.
EXCEPTIONS = {
    ("supervision/pair_methods.py", "pairs"),
    ("rankers/base.py", "metrics"),
    ("trust/explanation.py", "plots"),
    ("rankers/items.py", "metrics"),
    ("rankers/relevant_sets.py", "metrics"),
}

MODULES = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))


def room(module):
    """The part of the library that a file is in."""
    return module.parts[0].removesuffix(".py")


def imported_rooms(source, module):
    """Parts of the library that a module imports anywhere, inside functions too; "" is labelrank itself."""
    package = ["labelrank", *module.parent.parts]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*base, *([node.module] if node.module else [])])
            names = [f"{stem}.{alias.name}" for alias in node.names] if stem == "labelrank" else [stem]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module") and node.args:
            names = [node.args[0].value] if isinstance(node.args[0], ast.Constant) else []
        else:
            continue
        for name in names:
            if name.split(".")[0] == "labelrank" and name != "labelrank.__version__":
                first = ([*name.split("."), ""])[1]
                yield labelrank._HOMES.get(first, first)


def violations(source, module):
    home = room(module)
    allowed = ALLOWED[home] | {home}
    found = set(imported_rooms(source, module))
    return {other for other in found - allowed if (module.as_posix(), other) not in EXCEPTIONS}


@pytest.mark.parametrize("module", [m for m in MODULES if m != Path("__init__.py")], ids=lambda m: m.as_posix())
def test_imports_run_one_way(module):
    home = room(module)
    assert home in ALLOWED, f"say in ALLOWED what {home!r} may import"
    assert not violations((PACKAGE / module).read_text(encoding="utf-8"), module)


@pytest.mark.parametrize(
    ("module", "source", "expected"),
    [
        ("supervision/x.py", "from labelrank.metrics import kendall_tau", {"metrics"}),
        ("supervision/x.py", "def f():\n    import labelrank.rankers.dummy", {"rankers"}),
        ("supervision/x.py", "from ..decompositions import levels", {"decompositions"}),
        ("supervision/x.py", "from .graphs import PreferenceGraphs", set()),
        ("decompositions/x.py", "from labelrank import PreferenceGraphs, __version__", set()),
        ("decompositions/x.py", "from labelrank import DummyRanker, metrics", {"rankers", "metrics"}),
        ("decompositions/x.py", "import importlib\nimportlib.import_module('labelrank.losses')", {"losses"}),
        ("decompositions/x.py", "import labelrank", {""}),
        ("decompositions/x.py", "from labelrank.supervision.graphs import PreferenceGraphs\nimport numpy", set()),
        ("_kernels/x.py", "from labelrank.supervision import as_graphs", {"supervision"}),
        ("rankers/x.py", "from labelrank.metrics import kendall_tau", {"metrics"}),
        ("rankers/base.py", "def score():\n    from labelrank.metrics import kendall_tau", set()),
        ("metrics/x.py", "from labelrank.rankers import DummyRanker", {"rankers"}),
    ],
)
def test_the_check_sees_what_it_should(module, source, expected):
    assert violations(source, Path(module)) == expected


def test_the_table_has_no_circle():
    order = []
    left = dict(ALLOWED)
    while left:
        free = [name for name, allowed in left.items() if not (allowed - {name}) & set(left)]
        assert free, f"these import each other: {sorted(left)}"
        order += free
        for name in free:
            del left[name]
    chain = ["supervision", "decompositions", "losses", "solvers", "rankers", "cli"]
    assert [name for name in order if name in chain] == chain


def test_import_is_light():
    heavy = ["numba", "matplotlib", "polars", "pandas", "typer", "rich", "scipy.stats", "jinja2", "dask", "torch"]
    code = f"import sys, labelrank; print([m for m in {heavy!r} if m in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == "[]"


@pytest.mark.parametrize("name", labelrank.__all__)
def test_every_public_name_is_there(name):
    assert getattr(labelrank, name) is not None
    assert name in dir(labelrank)


def test_other_names_are_not():
    with pytest.raises(AttributeError, match="module 'labelrank' has no attribute 'no_such_name'"):
        _ = labelrank.no_such_name
