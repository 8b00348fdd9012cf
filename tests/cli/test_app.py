"""``labelrank`` as it is called."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import select
import shlex
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest
import rich.progress
from sklearn.model_selection import RepeatedKFold, cross_val_score
from typer.testing import CliRunner

import labelrank
from labelrank import DummyRanker
from labelrank.cli.app import app
from labelrank.cli.compare import available_rankers
from labelrank.cli.progress import progress_bar
from labelrank.datasets import load_iris_rankings, make_label_ranking

BASELINES = [f"dummy-{strategy}" for strategy in ("borda", "copeland", "kemeny", "random")]
QUICK = ["--folds", "3", "--repeats", "2", "--rankers", ",".join(BASELINES)]  # a later --rankers takes over


def invoke(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments])


def command(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "labelrank", *map(str, arguments)], capture_output=True, check=False, **options
    )


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
    assert lines[-1].startswith("mean ± standard deviation over 6 folds, best marked, ↓ smaller is better")


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
    assert {row["ranker"] for row in csv.DictReader(io.StringIO(result.stdout))} == set(available_rankers())


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
    assert borda_tau(tmp_path / "drinks.parquet", "--ignore", "id,")[0] == expected
    frame.drop("id").write_csv(tmp_path / "drinks.tsv", separator="\t")
    assert borda_tau(tmp_path / "drinks.tsv", "--labels", "/rank_(.*)/")[0] == expected
    assert borda_tau(path, "--labels", "rank_tea,rank_milk,rank_water")[0] == expected
    assert borda_tau(path, "--labels", "rank_tea,rank_milk")[1]["n_features"] == 3


def test_scores_are_turned_round(table, tmp_path):
    path, frame, _, _ = table
    negated = frame.drop("id").with_columns(-pl.col("^rank_.*$"))
    negated.write_csv(tmp_path / "scores.csv")

    def top1(*arguments):  # tau would be the same the other way round
        result = invoke("compare", *arguments, *QUICK, "-f", "json", "--rankers", "dummy-borda", "--metric", "top1")
        return json.loads(result.stdout)["results"][0]["scores"]["top1"]["folds"]

    assert top1(tmp_path / "scores.csv", "--scores") == top1(path)
    assert top1(tmp_path / "scores.csv") != top1(path)


def test_empty_cells_of_costs(table, tmp_path):
    _, frame, _, _ = table
    costs = frame.drop("id").with_columns(pl.col("^rank_.*$") * 1.7)
    costs = costs.with_columns(pl.when(pl.int_range(40) < 20).then(pl.col("rank_tea")).alias("rank_tea"))
    path = tmp_path / "runs.csv"
    costs.write_csv(path)
    for options in ([], ["--costs"], ["--scores"]):
        refused = invoke("compare", path, *QUICK, *options)
        assert_refused(
            refused, "runs.csv, line 22: nothing for the label 'tea'", "--unsolved last or --unsolved missing"
        )

    def tau(meaning):
        return borda_tau(path, "--costs", "--unsolved", meaning)[0]

    assert tau("last") != tau("missing")
    hidden = pl.col("rank_tea").fill_null(99.0)
    costs.with_columns(hidden).write_csv(tmp_path / "filled.csv")
    assert tau("last") == borda_tau(tmp_path / "filled.csv", "--costs")[0]
    assert_refused(invoke("compare", path, "--costs", "--scores"), "give one of them")


def test_the_limit(table):
    path, _, _, _ = table
    assert_refused(invoke("compare", path, "--max-bytes", "100"), "drinks.csv", "max_bytes=100", "--max-bytes")


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
    note = "5 of 40 instances have no label before another: not learned from, not scored\n"
    assert note in result.stderr
    assert "no label before another" not in result.stdout
    # All labels tied: the one metric that compares ties scores it.
    tied = frame.drop("id").with_columns(
        pl.when(pl.int_range(40) < 5).then(1).otherwise(pl.col("^rank_.*$")).name.keep()
    )
    tied.write_csv(tmp_path / "tied.csv")
    assert note in invoke("compare", tmp_path / "tied.csv", *QUICK, "--metric", "tau,ndcg").stderr
    told = invoke("compare", tmp_path / "tied.csv", *QUICK, "--metric", "tau,tau_x").stderr
    assert "5 of 40 instances have no label before another: not learned from, only tau_x scores their ties\n" in told


# ---------------------------------------------------------------------------------------------------------------
# Mistakes
# ---------------------------------------------------------------------------------------------------------------


def assert_refused(result, *parts):
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    for part in parts:
        assert part in result.stderr


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["irsi"], ["there is no data set or file 'irsi'; did you mean 'iris'?"]),
        (["nothing-like-it"], ["there is no data set or file 'nothing-like-it'.", "Built in: iris, wine"]),
        (["."], ["is a folder"]),
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
        invoke("compare", path, "--labels", "score_"), "drinks.csv: there is no label column", "--labels PREFIX"
    )
    assert_refused(invoke("compare", path, "--labels", "tea,milk"), "labels names 'tea'", "--labels a,b,c")
    assert_refused(invoke("compare", path, "--labels", "/(/"), "/(/ is not a pattern")
    (tmp_path / "notes.docx").write_text("")
    assert_refused(invoke("compare", tmp_path / "notes.docx"), "the format of notes.docx is not known", ".parquet")
    near = invoke("compare", tmp_path / "note.docx")
    assert_refused(near, "there is no data set or file")
    assert "did you mean" not in near.stderr  # notes.docx could not be read either
    (tmp_path / "fine.csv.gz").write_bytes(b"")
    assert_refused(invoke("compare", tmp_path / "fin.csv.gz"), "did you mean", "fine.csv.gz")
    (tmp_path / "packed.parquet.gz").write_bytes(b"")
    assert_refused(invoke("compare", tmp_path / "packed.parquet.gz"), "the format of packed.parquet.gz is not known")
    (tmp_path / "semicolons.csv").write_text("x;rank_a;rank_b\n1;1;2\n")
    assert_refused(
        invoke("compare", tmp_path / "semicolons.csv"), "semicolons.csv, line 1", "a .csv file is read with commas"
    )
    (tmp_path / "bad.csv").write_text("x,rank_a,rank_b\n1,1,2\n2,first,2\n")
    assert_refused(invoke("compare", tmp_path / "bad.csv"), "bad.csv, line 3", "first")
    (tmp_path / "bad.xarff").write_text("@relation r\n@attribute x numeric\n@data\n1\n")
    assert_refused(invoke("compare", tmp_path / "bad.xarff"), "bad.xarff")
    assert_refused(invoke("compare", tmp_path / "bad.xarff", "--scores"), "are for tables")


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
# A real process
# ---------------------------------------------------------------------------------------------------------------


def test_version_and_help():
    assert invoke("--version").stdout == f"labelrank {labelrank.__version__}\n"
    assert "compare" in invoke("--help").stdout
    assert "--missing-how" in invoke("compare", "--help").stdout


def test_help_imports_nothing_heavy():
    heavy = {"numba", "polars", "scipy", "sklearn"}
    code = f"import sys, labelrank.cli.app; sys.exit(' '.join({heavy} & set(sys.modules)) or None)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_extra_that_is_missing():
    code = "import sys; sys.modules['rich'] = None; from labelrank.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    assert "needs rich" in done.stderr
    assert 'pip install "labelrank[cli]"' in done.stderr


def test_a_pipe_gets_plain_text():
    environment = {**os.environ, "COLUMNS": "30"}
    environment.pop("FORCE_COLOR", None)
    done = command("compare", "iris", *QUICK, "--metric", "tau,tau_b,rho,ndcg,top1,zero_one", env=environment)
    assert done.returncode == 0
    assert done.stderr == b""  # no progress bar
    text = done.stdout.decode()
    assert "\x1b" not in text
    assert "…" not in text
    rows = [line for line in text.splitlines() if line.startswith("dummy-")]
    assert len(rows) == len(BASELINES)
    assert all(row.count("±") == 6 for row in rows)  # nothing cut off, nothing wrapped


def test_a_pipe_without_unicode():
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = command("compare", "iris", *QUICK, env=environment)
    assert done.returncode == 0, done.stderr
    assert b"150 instances x 4 features" in done.stdout
    assert b"+-" in done.stdout


@pytest.mark.parametrize("how", ["markdown", "csv", "json"])
def test_other_formats_to_a_pipe_without_unicode(tmp_path, how):
    path = tmp_path / "Tee-Ü.csv"
    path.write_text("x,rank_a,rank_b\n" + "1,1,2\n2,2,1\n" * 5)
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = command("compare", path, *QUICK, "-f", how, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()
    assert b"Tee-" in done.stdout


@pytest.mark.parametrize(
    ("where", "message"),
    [(">&-", b"standard output is closed"), ("> /dev/full", b"cannot write to standard output")],
)
def test_standard_output_that_cannot_be_written_to(where, message):
    line = shlex.join([sys.executable, "-m", "labelrank", "compare", "iris", *QUICK, "--rankers", "dummy-borda"])
    done = subprocess.run(f"{line} {where}", shell=True, capture_output=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(b"labelrank: error: " + message)
    assert done.stderr.count(b"\n") == 1


def test_closed_standard_error():
    line = shlex.join([sys.executable, "-m", "labelrank", "compare", "iris", *QUICK, "-f", "csv"])
    done = subprocess.run(f"{line} 2>&-", shell=True, capture_output=True, check=False)
    assert done.returncode == 0
    assert done.stdout.startswith(b"data,ranker,")


def test_an_error_in_a_process():
    done = command("compare", "irsi")
    assert done.returncode == 2
    assert done.stdout == b""
    assert b"did you mean 'iris'" in done.stderr
    assert b"Traceback" not in done.stderr


def on_a_terminal(columns, *arguments):
    """What a terminal of this width is sent."""
    primary, secondary = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(columns), "LINES": "30"}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen(
        [sys.executable, "-m", "labelrank", *arguments],
        stdin=secondary,
        stdout=secondary,
        stderr=secondary,
        env=environment,
    )
    os.close(secondary)
    shown = b""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if select.select([primary], [], [], 1)[0]:
            try:
                part = os.read(primary, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            shown += part
        elif process.poll() is not None:
            break
    os.close(primary)
    assert process.wait(timeout=60) == 0
    return shown.decode()


def test_a_terminal_gets_a_progress_bar():
    text = on_a_terminal(100, "compare", "iris", *QUICK)
    assert f"/{len(BASELINES) * 6}" in text  # folds done of all
    assert "\x1b[" in text
    assert "dummy-borda" in text


@pytest.mark.parametrize(("stdout", "stderr"), [(True, True), (True, False), (False, True), (False, False)])
def test_the_progress_bar_needs_a_terminal_on_both_sides(monkeypatch, stdout, stderr):
    shown = []

    class Bar(rich.progress.Progress):
        def start(self):
            shown.append(True)

    monkeypatch.setattr(rich.progress, "Progress", Bar)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: stdout)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: stderr)
    with progress_bar("folds", 3) as advance:
        advance()
    assert bool(shown) is (stdout and stderr)


@pytest.mark.parametrize("columns", [30, 62, 200])
def test_nothing_is_lost_on_a_narrow_terminal(columns):
    text = on_a_terminal(columns, "compare", "iris", *QUICK, "--metric", "tau,zero_one,ndcg,top1")
    assert "…" not in text.split("ranker")[-1]
    for name in BASELINES:
        assert name in text
    X, y = load_iris_rankings(return_X_y=True)
    tau = expected_tau(X, y)
    assert f"* {tau.mean():.3f}" in text
    assert f"± {tau.std():.3f}" in text
    assert "predict" in text
