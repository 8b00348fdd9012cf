"""What is public is on the API page, and CI can find the commands of the README."""

import ast
import builtins
import codeop
import importlib
import inspect
import re
import shlex
import textwrap
from pathlib import Path

import pytest
import typer

import labelrank
import papers
from papers.__main__ import main as main_of_papers

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


COMMANDS = "fit|predict|evaluate|explain|compare|inspect|convert|warmup"


def commands_on_pages():
    """Each `labelrank ...` of a block of bash or console, with the page it is on."""
    for page in sorted([*ROOT.glob("docs/*.rst"), *ROOT.glob("docs/learn/*.rst"), ROOT / "README.md"]):
        for line in page.read_text(encoding="utf-8").splitlines():
            for part in re.split(r" \| | && |; ", line):
                if match := re.match(rf"\s*(?:\$ |\.venv/bin/)?labelrank ((?:{COMMANDS})\b.*)$", part):
                    yield pytest.param(match[1].split(" #")[0].split(" >")[0], id=f"{page.name}: {match[1][:40]}")


@pytest.mark.parametrize("command", list(commands_on_pages()))
def test_commands_on_pages_have_the_options_they_name(command):
    app = typer.main.get_command(importlib.import_module("labelrank.cli.app").app)
    name, *arguments = shlex.split(command)
    app.commands[name].make_context(name, arguments)  # parses, runs nothing


def test_pages_have_commands():
    assert len(list(commands_on_pages())) > 30


def test_commands_of_papers_name_papers_data_and_options(monkeypatch, capsys):
    page = (ROOT / "docs" / "results" / "index.rst").read_text(encoding="utf-8")
    commands = re.findall(r"^   python -m papers(.*?)(?:  #.*)?$", page, flags=re.MULTILINE)
    real, asked = papers.find, []

    class Asked:
        def __init__(self, name):
            self.title, self.data = real(name).title, real(name).data

        def run(self, data, **options):
            assert data is None or data in (*self.data, "all")
            asked.append(self.title)
            return self

        def print(self, kind):
            pass

    monkeypatch.setattr(papers, "find", Asked)
    assert all(main_of_papers(shlex.split(command)) == 0 for command in commands)
    assert len(asked) == len(commands) - 1 > 8  # the first lists the papers


PAGES = [*ROOT.glob("docs/*.rst"), *ROOT.glob("docs/learn/*.rst"), *ROOT.glob("docs/results/*.rst")]


@pytest.mark.parametrize("page", [pytest.param(page, id=page.stem) for page in sorted(PAGES)])
def test_what_copy_buttons_copy_can_be_pasted_into_an_interpreter(page):
    for block in re.findall(r"(?:^ {3}(?:>>>|\.\.\.)?.*\n)+", page.read_text(encoding="utf-8"), flags=re.MULTILINE):
        prompted = re.findall(r"^ {3}(?:>>>|\.\.\.)( .*)?$", block, flags=re.MULTILINE)
        if "class " in block:  # classes with empty lines are for files and notebooks
            continue
        statement: list[str] = []
        for line in [*(line[1:] for line in prompted), ""]:
            statement.append(line)
            if codeop.compile_command("\n".join(statement)) is not None:
                statement = []
        assert not any(statement), f"{page.name}: add a line ... after {statement[0]}"


def test_the_python_part_of_the_first_page_can_be_pasted_into_a_new_session():
    text = (ROOT / "docs" / "start.rst").read_text(encoding="utf-8").split("\nIn Python\n---------\n")[1]
    nodes = list(ast.walk(ast.parse("\n".join(re.findall(r"^ {3}(?:>>>|\.\.\.) ?(.*)$", text, flags=re.MULTILINE)))))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    known = {node.id for node in names if isinstance(node.ctx, ast.Store)} | set(dir(builtins))
    known |= {node.asname or node.name for node in nodes if isinstance(node, ast.alias)}
    known |= {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    known |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    assert {node.id for node in names} <= known


COPIED = {
    "label_covering": "amit2007",
    "log_linear": "dekel2003",
    "rank_rls": "tsivtsivadze2008",
    "soft_projection": "sopopo2006",
}


@pytest.mark.parametrize("page", COPIED)
def test_results_on_the_page_of_a_learner_are_those_of_the_page_of_the_paper(page):
    decimals = r"(?<![\w.])\d+\.\d+"
    results = (ROOT / "docs" / "results" / f"{COPIED[page]}.rst").read_text(encoding="utf-8")
    known = [float(number) for number in re.findall(decimals, results)]
    section = (ROOT / "docs" / f"{page}.rst").read_text(encoding="utf-8").split("\nResults\n-------\n")[1]
    numbers = re.findall(decimals, section.split(":doc:`results/")[0])
    assert len(numbers) > 3
    for number in numbers:
        digits = len(number.split(".")[1])
        assert any(round(value, digits) == float(number) for value in known), number


def blocks_that_are_not_run():
    """Blocks of Python that need a cluster or a GPU, which CI does not have."""
    for page in sorted(PAGES):
        blocks = re.findall(
            r"^\.\. code-block:: python\n\n((?: {3}.*\n|\n)+)", page.read_text("utf-8"), flags=re.MULTILINE
        )
        for i, block in enumerate(blocks):
            yield pytest.param(textwrap.dedent(block), id=f"{page.stem}-{i}")


def named_by(node):
    """The object of labelrank that an expression names, or None for those of other packages and for local names."""
    if isinstance(node, ast.Name):
        public = {name: getattr(labelrank, name) for name in labelrank.__all__} | {"labelrank": labelrank}
        return public.get(node.id)
    if isinstance(node, ast.Call):  # an instance has the methods of its class
        made = named_by(node.func)
        return made if inspect.isclass(made) else None
    home = named_by(node.value) if isinstance(node, ast.Attribute) else None
    return None if home is None else getattr(home, node.attr)


@pytest.mark.parametrize("block", list(blocks_that_are_not_run()))
def test_blocks_that_are_not_run_call_what_exists_with_arguments_it_takes(block):
    importlib.import_module("labelrank.dask")
    for node in ast.walk(ast.parse(block)):
        if isinstance(node, ast.Attribute):
            named_by(node)
        elif isinstance(node, ast.Call) and (called := named_by(node.func)) is not None:
            of_instance = isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Call)
            given = [*([None] * of_instance), *node.args]
            inspect.signature(called).bind(*given, **{keyword.arg: None for keyword in node.keywords})
