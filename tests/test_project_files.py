"""What stands around the code agrees with it: README, citation, recipe, forms, workflow, links of estimators."""

import importlib.metadata
import inspect
import re
import tomllib
from pathlib import Path

import pytest
import yaml
from sklearn.base import BaseEstimator
from test_docs import names_on_api_page

import labelrank
from labelrank._show_versions import OPTIONAL, REQUIRED

ROOT = Path(__file__).parents[1]
FORGE = "https://github.com/labelrank/labelrank"
RAW = "https://raw.githubusercontent.com/labelrank/labelrank"
SITE = "https://labelrank.readthedocs.io"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
TEXTS = ["README.md", "SECURITY.md", "CODE_OF_CONDUCT.md"]


def read_yaml(name):
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def package(requirement):
    return re.match(r"[\w-]+", requirement)[0]


@pytest.mark.parametrize("name", TEXTS)
def test_links_are_absolute_and_lead_to_files_of_the_project(name):
    links = re.findall(r"\]\(([^)]+)\)", (ROOT / name).read_text(encoding="utf-8"))
    assert links
    for link in links:
        assert link.startswith("https://"), f"{link} does not work on PyPI"
        if match := re.match(
            rf"(?:{FORGE}/(?:blob|tree)|https://raw.githubusercontent.com/labelrank/labelrank)/main/(.*)", link
        ):
            assert (ROOT / match[1]).exists(), link
        if match := re.match(rf"{SITE}/en/latest/(.+)\.html", link):
            source = match[1].replace("gallery/index", "../examples/GALLERY_HEADER")
            assert (ROOT / "docs" / f"{source}.rst").exists(), link


def test_readme_examples_print_what_they_say(capsys):
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.M | re.S)
    assert len(blocks) == 2
    for block in blocks:
        exec(block, {})
        assert capsys.readouterr().out.strip() == block.rsplit("  # ", 1)[1].strip()


def test_citation_and_recipe_are_of_this_version_and_these_requirements():
    citation, recipe = read_yaml("CITATION.cff"), read_yaml("conda/recipe.yaml")
    version = labelrank.__version__.split(".dev")[0]
    assert citation["version"] == recipe["context"]["version"] == version
    assert citation["license"] == recipe["about"]["license"] == PROJECT["project"]["license"]
    assert len(citation["references"]) == 5
    for reference in citation["references"]:
        assert all(hasattr(labelrank, learner) for learner in reference["notes"].split(", "))
    needed = [*PROJECT["project"]["dependencies"], *PROJECT["project"]["optional-dependencies"]["cli"]]
    assert sorted(recipe["requirements"]["run"]) == sorted(
        line.replace(">=", " >=") for line in [*needed, f"python{PROJECT['project']['requires-python']}"]
    )
    released = [one["name"] for one in read_yaml("docs/_static/versions.json") if one["version"] == "stable"]
    assert released == [f"{version.rpartition('.')[0]} (stable)"]
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## {re.escape(version)}\b", changes, flags=re.MULTILINE)


def test_workflow_runs_what_is_there_on_every_supported_python():
    workflow = read_yaml(".github/workflows/ci.yml")
    jobs = workflow["jobs"]
    classifiers = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["project"]["classifiers"]))
    assert jobs["all"]["strategy"]["matrix"]["python"] == classifiers
    commands = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    for command in commands:
        for script in re.findall(r"\.ci/[\w.]+", command):
            assert (ROOT / script).exists(), script
        for group in re.findall(r"--group (\w+)", command):
            assert group in PROJECT["dependency-groups"], group
    assert "bash .ci/run" in commands
    coverage = (ROOT / ".ci" / "coverage").read_text(encoding="utf-8")
    install = re.search(r"^#   pip (install .*) && bash .ci/coverage$", coverage, flags=re.MULTILINE)[1]
    assert [step["run"] for step in jobs["coverage"]["steps"][-2:]] == [f"python -m pip {install}", "bash .ci/coverage"]
    learners = jobs["wheel"]["env"]["LEARNERS"].split()
    assert all((ROOT / folder).is_dir() for folder in learners)


def test_extras_are_quoted_since_some_shells_expand_brackets():
    folders = [Path(labelrank.__file__).parent, ROOT / "docs", ROOT / "examples", ROOT / "benchmarks"]
    paths = [path for folder in folders for end in ("py", "rst") for path in folder.rglob(f"*.{end}")]
    found = [
        path for path in [ROOT / "README.md", *paths] if "pip install labelrank[" in path.read_text(encoding="utf-8")
    ]
    assert not found


@pytest.mark.parametrize("name", ["bug", "feature"])
def test_issue_forms_have_what_a_forge_asks_for(name):
    form = read_yaml(f".github/ISSUE_TEMPLATE/{name}.yml")
    assert form["name"]
    assert form["description"]
    assert all(part["type"] == "textarea" and part["attributes"]["label"] for part in form["body"])
    assert len({part["id"] for part in form["body"]}) == len(form["body"])


def test_show_versions_names_every_requirement(capsys):
    extras = PROJECT["project"]["optional-dependencies"]
    listed = {package(line) for lines in extras.values() for line in lines} - {"labelrank"}
    assert {package(line) for line in PROJECT["project"]["dependencies"]} == set(REQUIRED)
    assert listed <= set(OPTIONAL)
    labelrank.show_versions()
    printed = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert printed["labelrank"] == labelrank.__version__
    assert printed["scikit-learn"] == importlib.metadata.version("scikit-learn")


def public_estimators():
    for module in (labelrank, labelrank.aggregation, labelrank.auto, labelrank.features):
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isclass(value) and issubclass(value, BaseEstimator):
                yield pytest.param(value, id=value.__name__)


@pytest.mark.parametrize("estimator", list(public_estimators()))
def test_links_in_the_picture_of_an_estimator_lead_to_its_page(estimator):
    link = estimator.__new__(estimator)._get_doc_link()
    page = re.fullmatch(rf"{SITE}/en/(?:latest|stable)/api/generated/(.+)\.html", link)
    assert page, link
    assert page[1] in names_on_api_page()


def test_estimators_of_others_get_no_link():
    class Mine(labelrank.DummyRanker):
        pass

    assert Mine()._get_doc_link() == ""
    assert labelrank.DummyRanker()._get_doc_link() in labelrank.DummyRanker()._repr_html_()
