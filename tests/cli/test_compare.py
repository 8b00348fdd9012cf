"""``labelrank compare``."""

from __future__ import annotations

import csv
import io
import json
import re

import numpy as np
import polars as pl
import pytest
from sklearn.model_selection import RepeatedKFold, cross_val_score
from typer.testing import CliRunner

import labelrank
from labelrank import DummyRanker
from labelrank.cli.app import app
from labelrank.cli.comparison import available_rankers
from labelrank.datasets import load_iris_rankings, make_label_ranking
from labelrank.metrics import paired_comparison

BASELINES = [f"dummy-{strategy}" for strategy in ("borda", "copeland", "kemeny", "random")]
QUICK = ["--folds", "3", "--repeats", "2", "--rankers", ",".join(BASELINES)]  # a later --rankers takes over


def invoke(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments])


@pytest.fixture
def table(tmp_path):
    X, y = make_label_ranking(n_samples=40, n_features=2, n_labels=3, random_state=0)
    frame = pl.DataFrame({"id": [f"p{i}" for i in range(40)], "age": X[:, 0], "size": X[:, 1]})
    frame = frame.with_columns(pl.Series(f"rank_{name}", y[:, j]) for j, name in enumerate(["tea", "milk", "water"]))
    path = tmp_path / "drinks.csv"
    frame.drop("id").write_csv(path)
    return path, frame, X, y


def expected_tau(X, y, strategy="borda", seed=0):
    cv = RepeatedKFold(n_splits=3, n_repeats=2, random_state=seed)
    return cross_val_score(DummyRanker(strategy, random_state=seed), X, y, cv=cv)


# ---------------------------------------------------------------------------------------------------------------
# Formats
# ---------------------------------------------------------------------------------------------------------------


def test_table():
    result = invoke("compare", "iris", *QUICK, "--metric", "tau,zero_one")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "iris: 150 instances × 4 features × 3 labels"
    assert lines[1] == "2 × 3-fold cross-validation, seed 0"
    assert lines[3].split() == ["ranker", "tau", "zero_one", "↓", "fit", "predict"]
    rows = [line for line in lines if line.startswith("dummy-")]
    assert len(rows) == len(BASELINES)
    X, y = load_iris_rankings(return_X_y=True)
    tau = expected_tau(X, y)
    borda = next(row for row in rows if row.startswith("dummy-borda"))
    assert f"* {tau.mean():.3f} ± {tau.std():.3f}" in borda
    assert "*" not in next(row for row in rows if row.startswith("dummy-random"))
    means = [float(re.search(r"(-?\d\.\d{3}) ±", row)[1]) for row in rows]
    assert means == sorted(means, reverse=True)
    assert re.search(r"\d (ms|µs|s)\b.*\d (ms|µs|s)$", borda)
    assert lines[-1].startswith("mean ± standard deviation over 6 folds, best marked, ≈ not significantly different")


def test_csv_can_be_read_back():
    result = invoke("compare", "wine", *QUICK, "--format", "csv", "--metric", "tau", "--metric", "ndcg")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    X, y = labelrank.datasets.load_wine_rankings(return_X_y=True)
    assert {row["ranker"] for row in rows} == set(BASELINES)
    for row in rows:
        strategy = row["ranker"].removeprefix("dummy-")
        tau = expected_tau(X, y, strategy)
        assert float(row["tau_mean"]) == tau.mean()
        assert float(row["tau_std"]) == tau.std()
        assert 0 < float(row["ndcg_mean"]) <= 1
        assert float(row["fit_seconds"]) > 0
        assert row["folds"] == "6"
    means = [float(row["tau_mean"]) for row in rows]
    assert means == sorted(means, reverse=True)


def test_without_a_choice_all_rankers_run():
    result = invoke("compare", "iris", "--folds", "2", "--repeats", "1", "--format", "csv")
    assert {row["ranker"] for row in csv.DictReader(io.StringIO(result.stdout))} == set(
        available_rankers(np.zeros((2, 1)))
    )


def test_json_has_every_fold():
    result = invoke("compare", *QUICK, "-f", "json", "--rankers", "dummy-kemeny", "--missing", "0.3")
    document = json.loads(result.stdout)
    assert document["data"] == {"name": "iris", "n_instances": 150, "n_features": 4, "n_labels": 3}
    assert document["protocol"]["missing"] == 0.3
    (row,) = document["results"]
    assert len(row["scores"]["tau"]["folds"]) == 6
    assert row["scores"]["tau"]["mean"] == pytest.approx(np.mean(row["scores"]["tau"]["folds"]))
    assert row["error"] is None


def test_markdown():
    lines = invoke("compare", "synthetic", *QUICK, "-f", "markdown", "--rankers", "dummy-borda,dummy-random").stdout
    lines = lines.splitlines()
    assert lines[3] == "| ranker | tau | fit | predict |"
    assert lines[4] == "|---|---:|---:|---:|"
    assert re.fullmatch(r"\| \*\*dummy-borda\*\* \| \*\*-?\d\.\d{3} ± \d\.\d{3}\*\* \| [^|*]+ \| [^|*]+ \|", lines[5])
    assert lines[6].startswith("| dummy-random | ")


def test_the_seed_decides():
    def scores(*options):
        rows = json.loads(invoke("compare", "synthetic", *QUICK, "-f", "json", *options).stdout)["results"]
        return {row["ranker"]: row["scores"]["tau"]["folds"] for row in rows}

    assert scores("--seed", 1, "--missing", 0.5) == scores("--seed", 1, "--missing", 0.5)
    assert scores("--seed", 1) != scores("--seed", 2)


# ---------------------------------------------------------------------------------------------------------------
# Files
# ---------------------------------------------------------------------------------------------------------------


def borda_tau(*arguments):
    result = invoke("compare", *arguments, *QUICK, "-f", "json", "--rankers", "dummy-borda")
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    return document["results"][0]["scores"]["tau"]["folds"], document["data"]


def test_tables(table, tmp_path):
    path, frame, X, y = table
    expected = expected_tau(X, y).tolist()
    scores, data = borda_tau(path)
    assert scores == expected
    assert data == {"name": "drinks.csv", "n_instances": 40, "n_features": 2, "n_labels": 3}
    frame.write_parquet(tmp_path / "drinks.parquet")
    assert borda_tau(tmp_path / "drinks.parquet", "--ignore", "id")[0] == expected
    frame.drop("id").write_csv(tmp_path / "drinks.tsv", separator="\t")
    assert borda_tau(tmp_path / "drinks.tsv", "--labels", "rank_*")[0] == expected
    assert borda_tau(path, "--labels", "rank_tea,rank_milk,rank_water")[0] == expected
    assert borda_tau(path, "--labels", "rank_tea,rank_milk")[1]["n_features"] == 3


def test_scores_are_turned_round(table, tmp_path):
    path, frame, _, _ = table
    negated = frame.drop("id").with_columns(-pl.col("^rank_.*$"))
    negated.write_csv(tmp_path / "scores.csv")

    def top1(*arguments):  # tau would be the same the other way round
        result = invoke("compare", *arguments, *QUICK, "-f", "json", "--rankers", "dummy-borda", "--metric", "top1")
        return json.loads(result.stdout)["results"][0]["scores"]["top1"]["folds"]

    assert top1(tmp_path / "scores.csv", "--kind", "scores") == top1(path)
    assert top1(tmp_path / "scores.csv") != top1(path)


def test_empty_cells_of_costs(table, tmp_path):
    _, frame, _, _ = table
    costs = frame.drop("id").with_columns(pl.col("^rank_.*$") * 1.7)
    costs = costs.with_columns(pl.when(pl.int_range(40) < 20).then(pl.col("rank_tea")).alias("rank_tea"))
    path = tmp_path / "runs.csv"
    costs.write_csv(path)
    for options in (["--kind", "ranks"], ["--kind", "costs"], ["--kind", "scores"]):
        refused = invoke("compare", path, *QUICK, *options)
        assert_refused(
            refused, "runs.csv, line 22: nothing for the label 'tea'", "--unsolved last", "--unsolved missing", status=1
        )

    def tau(meaning):
        return borda_tau(path, "--kind", "costs", "--unsolved", meaning)[0]

    assert tau("last") != tau("missing")
    hidden = pl.col("rank_tea").fill_null(99.0)
    costs.with_columns(hidden).write_csv(tmp_path / "filled.csv")
    assert tau("last") == borda_tau(tmp_path / "filled.csv", "--kind", "costs")[0]


def test_the_limit(table):
    path, _, _, _ = table
    assert_refused(invoke("compare", path, "--max-bytes", "100"), "drinks.csv", "--max-bytes 100", status=1)


def test_xarff(tmp_path):
    path = tmp_path / "drinks.xarff"
    rows = ["0.3,tea>milk>water", "0.1,milk>tea", "0.5,tea>water", "0.2,tea>milk>water"] * 3
    header = "@relation drinks\n@attribute x numeric\n@attribute L ranking {tea,milk,water}\n@data\n"
    path.write_text(header + "\n".join(rows) + "\n")
    assert borda_tau(path)[1] == {"name": "drinks.xarff", "n_instances": 12, "n_features": 1, "n_labels": 3}
    # Chains are a partial order, which comes as graphs.
    path.write_text(header + "\n".join(rows) + "\n0.4,tea>milk|water>milk\n")
    assert borda_tau(path)[1]["n_instances"] == 13


def test_instances_without_a_pair_are_counted(table, tmp_path):
    _, frame, _, _ = table
    hidden = frame.drop("id").with_columns(
        pl.when(pl.int_range(40) < 5).then(None).otherwise(pl.col("^rank_.*$")).name.keep()
    )
    hidden.write_csv(tmp_path / "hidden.csv")
    result = invoke("compare", tmp_path / "hidden.csv", *QUICK)
    assert result.exit_code == 0, result.output
    note = "5 of 40 instances have no preferences: ignored in training, not scored\n"
    assert note in result.stderr
    assert "no preferences" not in result.stdout
    # All labels tied: the one metric that compares ties scores it.
    tied = frame.drop("id").with_columns(
        pl.when(pl.int_range(40) < 5).then(1).otherwise(pl.col("^rank_.*$")).name.keep()
    )
    tied.write_csv(tmp_path / "tied.csv")
    assert note in invoke("compare", tmp_path / "tied.csv", *QUICK, "--metric", "tau,ndcg").stderr
    told = invoke("compare", tmp_path / "tied.csv", *QUICK, "--metric", "tau,tau_x").stderr
    assert "5 of 40 instances have no preferences: ignored in training, only tau_x scores their ties\n" in told


# ---------------------------------------------------------------------------------------------------------------
# Mistakes
# ---------------------------------------------------------------------------------------------------------------


def assert_refused(result, *parts, status=2):
    assert result.exit_code == status, result.output
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    for part in parts:
        assert part in result.stderr


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["irsi"], ["there is no data set or file 'irsi'; did you mean 'iris'?"]),
        (["nothing-like-it"], ["there is no data set or file 'nothing-like-it'.", "Built in: iris, wine"]),
        (["."], ["is a folder without a description.txt"]),
        (["iris", "--labels", "rank_"], ["are for files"]),
        (["iris", "--folds", "151"], ["--folds 151", "iris has 150"]),
        (["iris", "--rankers", "dummy-bord"], ["did you mean 'dummy-borda'?"]),
        (["iris", "--metric", "kendal_tau,tua"], ["there is no metric"]),
        (["iris", "--jobs", "0"], ["--jobs must not be 0"]),
        (["iris", "--folds", "1"], ["--folds"]),
        (["iris", "--missing", "1.5"], ["--missing"]),
        (["iris", "--format", "html"], ["--format"]),
        (["iris", "--flods", "3"], ["No such option", "--folds"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_mistakes(arguments, parts):
    assert_refused(invoke("compare", *arguments), *parts)


def test_mistakes_with_files(table, tmp_path):
    path, _, _, _ = table
    assert_refused(invoke("compare", path.with_name("drink.csv")), "there is no data set or file", "drinks.csv")
    assert_refused(
        invoke("compare", path, "--labels", "rank_te"), "--labels names 'rank_te'", "did you mean 'rank_tea'?", "'age'"
    )
    assert_refused(invoke("compare", path, "--labels", "score_*"), "--labels names 'score_*'", "'rank_water'")
    (tmp_path / "notes.docx").write_text("")
    assert_refused(invoke("compare", tmp_path / "notes.docx"), "the format of notes.docx is unknown", ".parquet")
    near = invoke("compare", tmp_path / "note.docx")
    assert_refused(near, "there is no data set or file")
    assert "did you mean" not in near.stderr  # notes.docx could not be read either
    (tmp_path / "fine.csv.gz").write_bytes(b"")
    assert_refused(invoke("compare", tmp_path / "fin.csv.gz"), "did you mean", "fine.csv.gz")
    (tmp_path / "packed.parquet.gz").write_bytes(b"")
    assert_refused(invoke("compare", tmp_path / "packed.parquet.gz"), "the format of packed.parquet.gz is unknown")
    (tmp_path / "semicolons.csv").write_text("x;rank_a;rank_b\n1;1;2\n")
    assert_refused(
        invoke("compare", tmp_path / "semicolons.csv"), "semicolons.csv, line 1", "give --separator ';'", status=1
    )
    (tmp_path / "bad.csv").write_text("x,rank_a,rank_b\n1,1,2\n2,first,2\n")
    assert_refused(invoke("compare", tmp_path / "bad.csv"), "bad.csv, line 3", "first", status=1)
    (tmp_path / "bad.xarff").write_text("@relation r\n@attribute x numeric\n@data\n1\n")
    assert_refused(invoke("compare", tmp_path / "bad.xarff"), "bad.xarff", status=1)
    assert_refused(invoke("compare", tmp_path / "bad.xarff", "--kind", "scores"), "are for tables")


def test_rankers_that_fail(monkeypatch):
    def broken(self, X, y, sample_weight=None):
        if self.strategy == "kemeny":
            raise ValueError("no rankings today")
        return fit(self, X, y, sample_weight)

    fit = DummyRanker.fit
    monkeypatch.setattr(DummyRanker, "fit", broken)
    result = invoke("compare", "iris", *QUICK)
    assert result.exit_code == 0
    assert "dummy-kemeny failed: ValueError: no rankings today" in result.stderr
    kemeny = [line for line in result.stdout.splitlines() if line.startswith("dummy-")][-1]
    assert kemeny.split() == ["dummy-kemeny", "–", "–", "–"]
    assert json.loads(invoke("compare", "iris", *QUICK, "-f", "json").stdout)["results"][-1]["error"]
    assert invoke("compare", "iris", *QUICK, "--rankers", "dummy-kemeny").exit_code == 1


# ---------------------------------------------------------------------------------------------------------------
# Significance and code
# ---------------------------------------------------------------------------------------------------------------


def test_rows_that_are_not_worse_are_marked():
    options = (
        "compare",
        "iris",
        "--folds",
        "10",
        "--repeats",
        "1",
        "--rankers",
        "dummy-borda,dummy-kemeny,dummy-random",
    )
    document = json.loads(invoke(*options, "--json").stdout)
    rows = {row["ranker"]: row["scores"]["tau"] for row in document["results"]}
    best = document["results"][0]["ranker"]
    other = ({"dummy-borda", "dummy-kemeny"} - {best}).pop()
    assert rows[best]["p"] is None
    assert rows[other]["p"] == 1.0
    p = paired_comparison(rows[best]["folds"], rows["dummy-random"]["folds"], test_share=0.1).p
    assert rows["dummy-random"]["p"] == pytest.approx(2 * p)  # Holm, the smaller of two
    lines = invoke(*options).stdout.splitlines()
    assert [line.split()[0] for line in lines if "≈ " in line and line.startswith("dummy")] == [other]


def test_a_report(tmp_path):
    path = tmp_path / "compare.html"
    options = ("--folds", 2, "--repeats", 1, "--rankers", "KNeighborsRanker,dummy-borda", "--report", path)
    assert f"{path} written" in invoke("compare", "wine", *options).stderr
    page = path.read_text()
    for part in ("KNeighborsRanker on wine", "dummy-borda"):
        assert part in page


def run_code(*arguments):
    code = invoke("compare", *arguments, "--code").stdout
    names: dict = {}
    exec(compile(code, "printed", "exec"), names)
    return names["results"]


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_the_code_gives_exactly_the_rows(table, tmp_path, capsys, missing):
    _, frame, _, _ = table
    frame = frame.with_columns(
        pl.when(pl.int_range(40) % 7 == 0).then(None).otherwise(pl.col("age")).alias("age"),
        pl.Series("town", ["Ulm", "Bonn"] * 20),
        pl.Series("note", [f"it is {'cold' if i % 3 else 'warm'} here, says {i}" for i in range(40)]),
    )
    path = tmp_path / "people.csv"
    frame.write_csv(path)
    rankers = "LogLinearRanker,RandomForestRanker,GradientBoostingRanker,PairwiseRanker,dummy-random"
    options = (path, "--ignore", "id", "--folds", 2, "--repeats", 1, "--seed", 5, "--rankers", rankers)
    options += ("--missing", missing, "--metric", "top1" if missing else "tau,rho")
    expected = json.loads(invoke("compare", *options, "--json").stdout)["results"]
    assert not any(row["error"] for row in expected)
    found = run_code(*options)
    assert found == {row["ranker"]: {name: of["folds"] for name, of in row["scores"].items()} for row in expected}
    printed = capsys.readouterr().out
    for row in expected:
        means = [f"{name} {of['mean']:.3f} ± {of['std']:.3f}" for name, of in row["scores"].items()]
        assert f"{row['ranker']}: {', '.join(means)}\n" in printed


def test_the_code_of_all_rankers_runs():
    code = invoke("compare", "synthetic", "--code", "--seed", 1, "--folds", 2, "--repeats", 1).stdout
    names: dict = {}
    exec(compile(code[: code.index("cv = ")], "printed", "exec"), names)
    expected = available_rankers(names["X"], 1)
    assert {name: repr(ranker) for name, ranker in names["rankers"].items()} == {
        name: repr(ranker) for name, ranker in expected.items()
    }


def test_class_names_as_for_fit():
    assert "AutoRanker(" in invoke("compare", "iris", "--rankers", "autoranker", "--code").stdout
    options = ("--rankers", "dummyranker,graphranker", "--folds", 2, "--repeats", 1, "--json")
    rows = json.loads(invoke("compare", "iris", *options).stdout)["results"]
    assert {row["ranker"] for row in rows} == {"DummyRanker", "GraphRanker"}
