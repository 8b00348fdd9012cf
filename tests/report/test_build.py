"""What is in a report, for models and data of different kinds."""

import html
import math
import sys
from html.parser import HTMLParser
from importlib import resources

import numpy as np
import pandas as pd
import polars as pl
import pytest
from report.pages import HOSTILE, cells, make_tickets, ridge_report, section, text_of
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.inspection import permutation_importance
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from labelrank import DummyRanker, LabelCoveringClassifier, LogLinearRanker, PreferenceGraphs, RandomForestRanker
from labelrank.metrics import kendall_tau
from labelrank.report import Report, build_report

SECTIONS = [
    "quality",
    "leaderboard",
    "data",
    "labels",
    "pairs",
    "calibration",
    "coverage",
    "rejection",
    "curve",
    "importance",
    "hardest",
]


VOID = {"meta", "input", "img", "br", "link"}


class Page(HTMLParser):
    """Elements with their attributes, and whether every element is closed."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.mark.parametrize("name", ["tickets", "ridge", "battles"])
def test_the_page_is_well_formed_and_loads_nothing(name, request):
    report = request.getfixturevalue(name)
    page = Page(report.html)
    assert not page.open
    assert [each["id"] for each in page.all("section")] == SECTIONS
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = [attributes[key] for _, attributes in page.elements for key in ("href", "src") if key in attributes]
    assert all(link.startswith(("#", "data:")) for link in links)
    assert {link[1:] for link in links if link.startswith("#")} <= set(ids)
    assert len(page.all("script")) == 1
    assert not page.all("img")
    assert all(each.get("role") == "img" and each.get("aria-label") for each in page.all("svg"))
    assert all(not any(name.startswith("on") for name in attributes) for _, attributes in page.elements)


def test_names_from_the_data_are_escaped_everywhere(tickets):
    assert HOSTILE not in tickets.html
    assert "<img" not in tickets.html
    for key in ("leaderboard", "data", "labels", "pairs", "importance", "hardest"):
        assert html.escape("<script>fail(", quote=False) in section(tickets, key)
    assert html.escape(HOSTILE) in tickets._repr_html_() or html.escape(html.escape(HOSTILE)) in tickets._repr_html_()


def test_scores_are_those_of_the_metrics(tickets):
    _, y = make_tickets(360, 0)
    first = cells(section(tickets, "quality"), "Scores")[0]
    assert first[0] == "Kendall's tau"
    rows = int(first[4])
    assert rows == PreferenceGraphs.from_rankings(y[240:]).has_pairs().sum()
    mean, error = map(float, first[1].split(" ± "))
    assert -1 <= mean <= 1
    assert 0 < error < 0.2


def test_the_standard_error_is_that_of_the_mean():
    X, y = pd.DataFrame(np.zeros((4, 1))), [[1, 2], [1, 2], [1, 2], [2, 1]]  # a column without a name
    report = build_report(DummyRanker().fit(X, y), X, y, learning_curve=False)
    tau = kendall_tau(y, [[1, 2]] * 4, average=None)
    expected = f"{tau.mean():.3f} ± {tau.std(ddof=1) / math.sqrt(4):.3f}"
    assert cells(section(report, "quality"), "Scores")[0][1] == expected


def test_the_leaderboard_is_sorted_with_errors(tickets):
    rows = cells(section(tickets, "leaderboard"), "Candidates")
    assert [row[1] for row in rows] == ["0.700 ± 0.010", "0.500 ± 0.020", "–"]
    assert [row[2] for row in rows] == ["30 s", "1.25 s", "2 s"]


def test_the_data_are_described(tickets):
    rows = {row[0]: row[1:] for row in cells(section(tickets, "data"), "Features")}
    assert rows["text"][0] == "text"
    assert rows["product"][0] == "category"
    kind, missing, *_ = rows["<script>fail('column')</script>"]
    assert kind == "number"
    assert 15 < float(missing.removesuffix(" %")) < 35
    assert " % observed" in text_of(section(tickets, "data"))


def test_the_hardest_instances_are_named_and_explained(tickets):
    part = section(tickets, "hardest")
    listed = cells(part, "Instances")
    assert all(row[0].startswith("T0") for row in listed)
    tau = [float(row[1].replace("−", "-")) for row in listed]
    assert tau == sorted(tau)
    assert max(tau) < 1
    assert "Why the model ranks" in part
    assert "exact, by coefficients" in part


def test_what_a_model_lacks_is_said_in_a_sentence(ridge, battles):
    assert "KernelRidgeRanker has no pair probabilities" in section(ridge, "calibration")
    assert "has no guarantee" in section(ridge, "coverage")
    assert "would have to be fitted again" in section(ridge, "curve")
    assert "No leaderboard was given" in section(ridge, "leaderboard")
    assert "estimated from" in section(ridge, "hardest")
    assert "Labels have no ranks, because" in section(battles, "labels")
    for report, keys in ((ridge, ("calibration", "coverage", "rejection", "curve")), (battles, ("labels",))):
        assert all(f'<section id="{key}" class="absent"' in report.html for key in keys)


def test_battles_and_guarantees(battles):
    data = text_of(section(battles, "data"))
    assert "rows with cycles 10 " in data
    assert "given for 80.0 %" in text_of(section(battles, "coverage"))
    wins = cells(section(battles, "pairs"), "Labels")
    assert {row[0]: row[2] for row in wins}["3"] == "0 %"


def test_the_same_seed_gives_the_same_page(ridge):
    assert ridge_report().html == ridge.html


def rankings(n, k, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)), np.argsort(rng.random((n, k)), axis=1) + 1.0


def test_one_row_of_many_labels():
    X, y = rankings(12, 100)
    report = build_report(LogLinearRanker(max_iter=5, alpha=100.0, tol=1.0).fit(X, y), X[:1], y[:1])
    assert "The 25 most frequently compared labels of 100" in section(report, "pairs")
    assert len(cells(section(report, "labels"), "Labels")) == 100
    assert "At least" in section(report, "importance")
    assert "±" not in text_of(section(report, "quality")).partition("Scores")[2]


def test_sparse_features_and_two_labels():
    X = np.random.default_rng(0).poisson(1.0, size=(400, 3)).astype(float)
    y = np.where(X[:, [0]] + 3 * X[:, [1]] > 4, [[1, 2]], [[2, 1]])
    model = LogLinearRanker().fit(X, y)
    report = build_report(model, sparse.csr_array(X), y, random_state=0, learning_curve=False)
    assert "sparse, " in text_of(section(report, "data"))
    found = {row[0]: row[1] for row in cells(section(report, "importance"), "Features")}
    expected = permutation_importance(model, X, y, n_repeats=5, random_state=0).importances_mean
    for name, fall in zip(["x0", "x1", "x2"], expected, strict=True):
        assert float(found[name].split()[0].replace("−", "-")) == pytest.approx(fall, abs=0.05)


def test_weighted_pairs():
    X, _ = rankings(12, 3)
    graphs = PreferenceGraphs.from_pairs(np.arange(12), [0] * 12, [1, 2] * 6, weight=np.linspace(1, 2, 12))
    report = build_report(LogLinearRanker().fit(X, graphs), X, graphs, learning_curve=False)
    assert "single pairs" in section(report, "quality")


def test_texts():
    _, y = rankings(12, 3)
    X = pd.Series(["red tea" if i % 2 else "blue milk" for i in range(12)])
    report = build_report(make_pipeline(TfidfVectorizer(), LogLinearRanker()).fit(X, y), X, y)
    assert "Instances are texts" in section(report, "importance")
    assert "red tea" in section(report, "hardest")
    assert "exact, by coefficients" in section(report, "hardest")


def test_nothing_observed():
    X, y = rankings(12, 3)
    report = build_report(LogLinearRanker().fit(X, y), X, np.full_like(y, np.nan))
    assert report.html.count("no row has an observed pair") >= 5
    assert "12 without an observed pair" in text_of(section(report, "data"))


def test_frames_are_matched_by_the_names_of_their_labels():
    X = pl.DataFrame({"a": range(12), "b": [0.5] * 12})
    y = pl.DataFrame({"tea": [1] * 12, "milk": [2] * 12, "water": [3] * 12})
    model = make_pipeline(StandardScaler(), LogLinearRanker()).fit(X, y)
    report = build_report(model, X, y[["water", "tea", "milk"]], learning_curve=False)
    assert cells(section(report, "quality"), "Scores")[0][1] == "1.000 ± 0.000"
    assert [row[0] for row in cells(section(report, "labels"), "Labels")] == ["water", "tea", "milk"]
    assert {row[0] for row in cells(section(report, "importance"), "Features")} == {"a", "b"}
    assert "The model orders all observed pairs of all rows correctly." in section(report, "hardest")


def test_large_reports_stay_small():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_000, 4))
    y = np.argsort(np.argsort(X @ rng.normal(size=(4, 8)) + rng.normal(size=(100_000, 8)), axis=1), axis=1) + 1.0
    model = RandomForestRanker(5, max_depth=6, random_state=0).fit(X[:500], y[:500])
    report = build_report(model, X, y, random_state=0, learning_curve=False)
    assert len(report.html.encode()) < 1_000_000
    assert "5,000 of 100,000 rows, drawn at random" in section(report, "rejection")


class Chosen(DummyRanker):
    """A ranker that was chosen from others."""

    leaderboard_ = pl.DataFrame(
        {"name": ["fast", "a", "b"], "mean": [0.9, 0.1, 0.2], "std": [0.0, 0.02, 0.04], "folds": [1, 4, 4]}
    )
    weights_ = {"a": 0.25, "b": 0.75, "c": 0.0}  # noqa: RUF012


def test_a_leaderboard_needs_no_instances():
    report = build_report(Chosen().fit([[0]], [[1, 2]]))
    assert [row[1] for row in cells(report.html, "Candidates")] == ["0.200 ± 0.020", "0.100 ± 0.010", "0.900"]
    assert [row[:2] for row in cells(report.html, "Ensemble")] == [["a", "0.250"], ["b", "0.750"]]
    assert "standard error" in text_of(section(report, "leaderboard"))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, ValueError, "a report on DummyRanker needs X and y"),
        ({"X": [[0]]}, ValueError, "X and y belong together"),
        ({"X": [[0], [1]], "y": [[1, 2]]}, ValueError, "X has 2 rows, but y has 1"),
        ({"X": [[0]], "y": [[1, 2, 3]]}, ValueError, "y has 3 labels, but DummyRanker was fitted with 2"),
        ({"leaderboard": [1]}, TypeError, r"leaderboard must be a data frame or a list of dicts, got \[1\]"),
        ({"leaderboard": 3}, TypeError, "leaderboard must be a data frame or a list of dicts, got 3"),
    ],
)
def test_wrong_arguments(arguments, error, message):
    model = DummyRanker().fit([[0]], [[1, 2]])
    with pytest.raises(error, match=message):
        build_report(model, **arguments)


def test_a_model_must_be_fitted():
    with pytest.raises(NotFittedError, match="This LogLinearRanker instance is not fitted yet"):
        build_report(LogLinearRanker(), [[0]], [[1, 2]])


def test_classifiers_of_sets_are_refused():
    model = LabelCoveringClassifier().fit([[0], [1]], [[0, 1], [1, 0]])
    with pytest.raises(TypeError, match=r"model must be a fitted ranker, .*, got LabelCoveringClassifier"):
        build_report(model, [[0]], [[0, 1]])


def test_save_replaces_a_file_as_a_whole(tmp_path):
    target = tmp_path / "report.html"
    target.write_text("old")
    broken = Report("broken", "\ud800")  # cannot be encoded
    with pytest.raises(UnicodeEncodeError):
        broken.save(target)
    assert target.read_text() == "old"
    assert Report("new", "<p>ü").save(target) == target
    assert target.read_text(encoding="utf-8") == "<p>ü"
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        broken.save(tmp_path / "missing" / "report.html")
    with pytest.raises(IsADirectoryError, match=f"^cannot save {tmp_path}: it is a folder"):
        broken.save(tmp_path)


@pytest.mark.parametrize("library", ["jinja2", "matplotlib"])
def test_a_missing_library_is_named_with_the_extra(library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    model = DummyRanker().fit([[0]], [[1, 2]])
    with pytest.raises(ImportError, match=rf'build_report needs {library}; .*: pip install "labelrank\[plot\]"'):
        build_report(model, [[0]], [[1, 2]])


def test_the_template_is_part_of_the_package():
    folder = resources.files("labelrank.report").joinpath("template")
    assert {"report.html", "report.css", "report.js"} <= {each.name for each in folder.iterdir()}
