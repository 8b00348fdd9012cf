"""The table of Cheng, Hühn and Hüllermeier, on small sets."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from labelrank import PreferenceGraphs, mask_rankings
from labelrank.datasets import load_iris_rankings, make_label_ranking
from labelrank.experiments import ResultCache, cheng2009, fold_of
from labelrank.experiments.cheng2009 import METHODS, Problem, Protocol
from labelrank.experiments.cheng2009_printed import _TABLE, RATES, printed
from labelrank.experiments.cheng2009_report import Runs, report
from labelrank.experiments.friedman import friedman_test
from labelrank.metrics import kendall_tau
from labelrank.rankers.constraint_classification import ConstraintClassificationRanker

TINY = Protocol(n_repeats=2, n_folds=2, rates=(0.0, 0.6), curve_rates=(0.0, 0.3, 0.6), curve_sets=("b",), n_trees=2)


@pytest.fixture(scope="module")
def problems():
    return {
        name: Problem(name, *make_label_ranking(40, 3, n_labels=4, random_state=seed))
        for seed, name in enumerate("abc")
    }


@pytest.fixture(scope="module")
def quick():
    return cheng2009.run(quick=True)


def invented(problems, protocol, tau=lambda cell: 0.5):
    """Cells with results that were not computed."""
    cells = cheng2009.cells_of(problems, protocol)
    results = [
        {"tau": tau(cell), "fit_seconds": 1.0, "predict_seconds": 0.5, "leaves": 6, "class_leaves": 4} for cell in cells
    ]
    return cells, results


# --- What is printed


def test_the_printed_ranks_follow_from_the_printed_numbers():
    """The last line of the printed table; one tie of its numbers is broken there by digits that are not printed."""
    for rate, line in zip(RATES, [(2.25, 1.44, 2.31), (2.19, 1.50, 2.31), (1.75, 1.88, 2.38)], strict=True):
        scores = [[float(x) for x in printed(name, rate)[:3]] for name in _TABLE]
        assert len(scores) == 16
        np.testing.assert_allclose(friedman_test(scores).average_ranks, line, atol=0.037 if rate == 0.6 else 0.006)


def test_sets_are_known_by_their_names():
    assert printed("cpu-small", 0.0) == printed("CPU_small", 0.0) == printed("cpusmall", 0.0)
    assert printed("housing", 0.3) == (".655", ".697", ".734", "2.4")
    assert printed("housing", 0.5) == printed("houses", 0.3) == printed("", 0.3) == ("", "", "", "")


def test_friedman():
    scores = np.random.default_rng(0).integers(0, 8, (14, 4)) * np.array([1.0, 1.0, 1.0, 2.0])  # with ties
    test = friedman_test(scores)
    by_hand = [[1 + sum(row > x) + (sum(row == x) - 1) / 2 for x in row] for row in scores]
    np.testing.assert_allclose(test.average_ranks, np.mean(by_hand, axis=0))
    expected = stats.friedmanchisquare(*scores.T)
    assert test.statistic == pytest.approx(expected.statistic)
    assert test.p == pytest.approx(expected.pvalue)
    for k, q in ((3, 2.343), (4, 2.569), (10, 3.164)):  # Demšar (2006), Table 5
        difference = friedman_test(np.random.default_rng(0).random((14, k))).critical_difference
        assert difference == pytest.approx(q * np.sqrt(k * (k + 1) / (6 * 14)), abs=1e-3)
    for few in ([[0.1, 0.2, 0.3]], [[0.1, 0.2], [0.3, 0.1]]):
        assert np.isnan(friedman_test(few).p)
    same = friedman_test(np.ones((3, 3)))
    assert np.isnan(same.p)
    assert same.average_ranks.tolist() == [2, 2, 2]
    with pytest.raises(ValueError, match=r"got shape \(3,\)"):
        friedman_test([0.1, 0.2, 0.3])


# --- The cells


def test_cells(problems):
    cells = cheng2009.cells_of(problems, TINY)
    # 3 sets, 2 rates, 2 repetitions of 2 folds; and for one set another rate once.
    assert len(cells) == 4 * (3 * 2 * 4 + 2)
    assert len({ResultCache("x").path(cell) for cell in cells}) == len(cells)
    assert json.loads(json.dumps(cells)) == cells
    other = {**problems, "a": Problem("a", problems["a"].X + 1, problems["a"].y)}
    assert cheng2009.cells_of(other, TINY)[0]["data"] != cells[0]["data"]
    assert cheng2009.cells_of(problems, TINY, scaled=False)[0] != cells[0]
    assert "margin" in next(cell for cell in cells if cell["method"] == "CC")["learner"]


def test_a_cell_is_what_it_says(problems):
    """Folds, coins, training and tau of one cell, written out."""
    cells = cheng2009.cells_of(problems, TINY)
    wanted = {"method": "CC", "missing": 0.6, "repeat": 1, "fold": 1}
    cell = next(c for c in cells if wanted.items() <= c.items() and c["data"][0] == "b")
    X, y = problems["b"].X, problems["b"].y
    train, test = fold_of(40, n_folds=2, fold=1, repeat=1)
    seed = int(np.random.SeedSequence([0, 1, 1]).generate_state(1)[0])
    hidden = np.random.RandomState(seed).random_sample((20, 4)) < 0.6
    ranker = ConstraintClassificationRanker(random_state=0, on_empty="ignore")
    ranker.fit(X[train], np.where(hidden, np.nan, y[train]))
    numbers = cheng2009.compute(cell, problems)
    assert numbers["tau"] == pytest.approx(kendall_tau(y[test], ranker.predict(X[test])))
    assert numbers["fit_seconds"] >= 0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("missing", [0.0, 0.6])
def test_every_method(problems, method, missing):
    cells = cheng2009.cells_of(problems, TINY)
    cell = next(c for c in cells if c["method"] == method and c["missing"] == missing)
    numbers = cheng2009.compute(cell, problems)
    assert json.loads(json.dumps(numbers)) == numbers
    assert -1 <= numbers["tau"] <= 1
    assert ("leaves" in numbers) == (method == "LRT")
    assert cheng2009.compute(cell, problems)["tau"] == numbers["tau"]
    with pytest.raises(ValueError, match="no method 'SVM'"):
        cheng2009.learner("SVM")


def test_coins_are_tossed_for_training_rankings_and_shared(problems, monkeypatch):
    seen = {}

    class Spy:
        def __init__(self, cell):
            self.cell = cell

        def fit(self, X, y):
            seen[self.cell["method"], self.cell["missing"]] = y
            return self

        def predict(self, X):
            return np.tile([1.0, 2.0, 3.0, 4.0], (len(X), 1))

    def tau_of(y, predicted):
        assert not np.isnan(y).any()
        return 0.0

    monkeypatch.setattr("labelrank.metrics.kendall_tau", tau_of)
    for cell in cheng2009.cells_of(problems, TINY):
        if cell["data"][0] == "b" and cell["fold"] == cell["repeat"] == 0 and cell["method"] in ("CC", "IBLR"):
            monkeypatch.setattr(cheng2009, "learner", lambda method, n_trees, cell=cell: Spy(cell))
            cheng2009.compute(cell, problems)
    assert not np.isnan(seen["CC", 0.0]).any()
    missing = np.isnan(seen["CC", 0.6])
    assert 0.4 < missing.mean() < 0.8
    np.testing.assert_array_equal(np.isnan(seen["IBLR", 0.6]), missing)
    assert (missing >= np.isnan(seen["CC", 0.3])).all()
    assert np.isnan(seen["CC", 0.3]).any()


def test_the_size_of_a_classification_tree():
    from sklearn.tree import DecisionTreeClassifier

    X, y = load_iris_rankings(return_X_y=True)
    expected = DecisionTreeClassifier(min_samples_split=6, random_state=0).fit(X, y.argmin(axis=1)).get_n_leaves()
    assert cheng2009._leaves_of_classification(X, y) == expected > 2
    assert cheng2009._leaves_of_classification(X, PreferenceGraphs.from_rankings(y)) == expected
    hidden = mask_rankings(y, 0.6, random_state=0)
    assert cheng2009._leaves_of_classification(X, hidden) > 1
    assert cheng2009._leaves_of_classification(X, np.full(y.shape, np.nan)) == 1


# --- The report


def test_the_tables(quick):
    by_title = {table.title: table for table in quick.tables}
    first = quick.tables[0]
    assert first.title == "tau, complete"
    assert first.columns == list(METHODS)
    assert first.rows == ["generated", "iris", "wine"]
    assert first.values.shape == (3, 4, 3)
    assert first.printed is None
    assert (first.mean() > 0.4).all()  # all of them learn
    assert (first.mean() >= quick.tables[1].mean() - 0.05).all()  # with less, hardly more is learned
    ranks = by_title["average rank, 3 sets"].mean()
    np.testing.assert_allclose(ranks.sum(axis=1), 10)
    assert by_title["tau by the rate of missing labels: iris"].rows == ["0 %", "30 %", "60 %"]
    sizes = by_title["leaves of LRT relative to those of a classification tree for the first label"]
    assert (sizes.values > 0).all()
    assert (by_title["CPU seconds to fit and predict one fold"].values >= 0).all()
    assert sum("Friedman" in line for line in quick.findings) == 2


def test_the_same_seed_gives_the_same_table(quick):
    again = cheng2009.run(quick=True)
    for table, other in zip(quick.tables[:-1], again.tables[:-1], strict=True):  # the last has seconds
        np.testing.assert_array_equal(table.values, other.values)


def test_printed_numbers_stand_beside_ours():
    X, y = make_label_ranking(20, 2, n_labels=3, random_state=0)
    sets = {name: Problem(name, X, y) for name in ("glass", "housing", "mine")}
    taus = {"CC": 0.84, "IBLR": 0.75, "LRT": 0.8, "forest": 0.81}
    made = report(sets, Protocol(n_repeats=1, n_folds=2), *invented(sets, Protocol(n_repeats=1, n_folds=2),
                  lambda cell: taus[cell["method"]]))  # fmt: skip
    markdown = made.render("markdown")
    assert "| set | CC | paper | IBLR | paper | LRT | paper | forest |" in markdown
    assert "| glass | 0.840 ± 0.000 | .846 | 0.750 ± 0.000 | .865 | 0.800 ± 0.000 | .883 | 0.810 ± 0.000 |" in markdown
    assert "| mine | 0.840 ± 0.000 | – |" in markdown
    by_title = {table.title: table for table in made.tables}
    ranks = by_title["average rank among the learners of the paper, 2 sets"]
    assert ranks.printed[0] == ["3.00", "2.00", "1.00"]
    np.testing.assert_allclose(ranks.mean()[0], [1, 3, 2])
    gaps = by_title["tau minus the printed tau"]
    assert gaps.columns[3] == "IBLR, complete"
    np.testing.assert_allclose(gaps.mean()[:, 3], [0.75 - 0.865, 0.75 - 0.745, np.nan])
    assert "IBLR, complete: within 0.015 of the printed tau or above it on 1 of 2 sets; not on glass (-0.115)" in (
        made.findings
    )
    assert "forest, complete: above the best printed tau on 1 of 2 sets; not on glass (-0.073)" in made.findings
    sizes = by_title["leaves of LRT relative to those of a classification tree for the first label"]
    np.testing.assert_allclose(sizes.mean(), 1.5)
    assert list(sizes.printed[0]) == ["2.5", "2.0", "2.0"]


def test_some_methods_and_other_rates():
    X, y = make_label_ranking(20, 2, n_labels=3, random_state=0)
    sets = {"glass": Problem("glass", X, y)}
    protocol = Protocol(n_repeats=1, n_folds=2, rates=(0.0, 0.5), methods=("CC", "forest"), curve_rates=())
    made = report(sets, protocol, *invented(sets, protocol))
    titles = [table.title for table in made.tables]
    assert not any("classification tree" in title or "of the paper" in title for title in titles)
    assert not any("Friedman" in line for line in made.findings)  # two learners, one set
    every = Protocol(n_repeats=1, n_folds=2, rates=(0.0, 0.5), curve_rates=())
    ranks = next(t for t in report(sets, every, *invented(sets, every)).tables if "of the paper" in t.title)
    assert ranks.printed[1] == ["", "", ""]


def test_runs_by_repetition(problems):
    cells, results = invented(problems, TINY, lambda cell: cell["repeat"] + cell["fold"] / 10)
    runs = Runs(cells, results)
    assert runs.values("a", "CC", 0.0, "tau") == [0.0, 0.1, 1.0, 1.1]
    assert runs.values("b", "CC", 0.3, "tau", repeat=0) == [0.0, 0.1]
    assert runs.taus(["a", "b"], METHODS, 0.6).shape == (2, 4, 4)


def test_the_curves_as_a_picture(quick):
    axes = cheng2009.plot_curves(quick)
    assert len(axes) == 1
    assert axes[0].get_title() == "iris"
    assert [line.get_label() for line in axes[0].lines] == list(METHODS)
    table = next(t for t in quick.tables if t.title.endswith(": iris"))
    np.testing.assert_allclose(axes[0].lines[0].get_xydata(), np.column_stack([[0, 30, 60], table.mean()[:, 0]]))
    with pytest.raises(ValueError, match="axes has 2 entries, but there are 1 sets"):
        cheng2009.plot_curves(quick, axes=[axes[0], axes[0]])
    with pytest.raises(ValueError, match="no tables of tau"):
        cheng2009.plot_curves(type(quick)([], []))


# --- Files and runs


def write_sets(folder, problems):
    for name, problem in problems.items():
        header = [f"x{j}" for j in range(3)] + [f"rank_{label}" for label in "pqrs"]
        lines = [",".join(map(str, [*x, *ranks])) for x, ranks in zip(problem.X, problem.y, strict=True)]
        (folder / f"{name}.csv").write_text("\n".join([",".join(header), *lines]))


def test_a_folder_of_csv_and_xarff_files(tmp_path, problems):
    write_sets(tmp_path, {"a": problems["a"]})
    (tmp_path / "notes.txt").write_text("nothing to rank")
    rows = [
        f"{x[0]},{x[1]},{'>'.join('pqrs'[i] for i in ranks.argsort())}"
        for x, ranks in zip(problems["b"].X, problems["b"].y, strict=True)
    ]
    rows[0] = "0.1,0.2,p>q|r>q"  # no ranking: graphs
    head = ["@relation b", "@attribute u numeric", "@attribute v numeric", "@attribute L RANKING {p,q,r,s}", "@data"]
    (tmp_path / "b.xarff").write_text("\n".join([*head, *rows]))
    loaded = cheng2009.load_problems("lr16", tmp_path)
    assert list(loaded) == ["a", "b"]
    np.testing.assert_allclose(loaded["a"].X, problems["a"].X)
    np.testing.assert_array_equal(loaded["a"].y, problems["a"].y)
    assert isinstance(loaded["b"].y, PreferenceGraphs)
    protocol = Protocol(n_repeats=1, n_folds=2, rates=(0.0, 0.3), curve_rates=(0.3,), methods=("CC", "IBLR"))
    made = cheng2009.run(folder=tmp_path, protocol=protocol, cache=tmp_path / "cache")
    assert made.tables[0].rows == ["a", "b"]
    assert not np.isnan(made.tables[0].values).any()
    (tmp_path / "a.xarff").write_text("\n".join([*head, *rows]))
    with pytest.raises(ValueError, match="two files for the set 'a'"):
        cheng2009.load_problems("lr16", tmp_path)


def test_raw_features_are_scaled_on_the_training_fold(tmp_path, problems):
    raw = {"a": Problem("a", problems["a"].X * [1.0, 1e6, 1e-3], problems["a"].y)}
    raw["a"].X[3, 1] = np.nan
    write_sets(tmp_path, raw)
    protocol = Protocol(n_repeats=1, n_folds=2, rates=(0.0,), curve_rates=(), methods=("CC", "IBLR"))
    made = cheng2009.run("raw", folder=tmp_path, protocol=protocol, cache=tmp_path / "cache")
    plain = cheng2009.compute(cheng2009.cells_of(problems, protocol)[1], problems)
    assert made.tables[0].mean()[0, 1] == pytest.approx(plain["tau"], abs=0.2)
    assert made.tables[0].mean()[0, 1] > 0.5
    with pytest.raises(ValueError, match="NaN"):
        cheng2009.run(folder=tmp_path, protocol=protocol, cache=tmp_path / "cache")


def test_a_run_goes_on_from_its_cache(tmp_path, monkeypatch):
    protocol = Protocol(**{**vars(cheng2009.QUICK), "n_folds": 2, "methods": ("CC",)})
    first = cheng2009.run(quick=True, cache=tmp_path, protocol=protocol)
    monkeypatch.setattr(cheng2009, "compute", None)  # nothing is left to compute
    assert cheng2009.run(quick=True, cache=tmp_path, protocol=protocol).render() == first.render()
    with pytest.raises(TypeError):
        cheng2009.run(quick=True, cache=tmp_path, protocol=Protocol(**{**vars(protocol), "seed": 1}))


def test_what_is_not_there(monkeypatch, tmp_path):
    monkeypatch.delenv("LABELRANK_DATA", raising=False)
    with pytest.raises(ValueError, match="or set LABELRANK_DATA to a folder with lr16 in it; a quick run"):
        cheng2009.run()
    monkeypatch.setenv("LABELRANK_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        cheng2009.run()
    with pytest.raises(ValueError, match=r"give the folder of their files"):
        cheng2009.run("raw")
    with pytest.raises(ValueError, match="no CSV or XARFF file in"):
        cheng2009.run(folder=tmp_path)
    with pytest.raises(ValueError, match="no data set 'mnist'; known: lr16, raw"):
        cheng2009.run("mnist")


def test_as_a_module():
    environment = {name: value for name, value in os.environ.items() if name != "LABELRANK_DATA"}
    call = [sys.executable, "-m", "labelrank.experiments.cheng2009"]
    failed = subprocess.run(call, capture_output=True, text=True, env=environment)
    assert failed.returncode == 2
    assert "set LABELRANK_DATA" in failed.stderr


@pytest.mark.data
def test_the_sets(data_dir):
    loaded = cheng2009.load_problems("lr16", data_dir / "lr16")
    assert {"bodyfat", "calhousing", "housing", "wisconsin"} <= set(loaded)
    assert sum(bool(printed(name, 0.0)[0]) for name in loaded) == 11
    assert loaded["housing"].size == "housing (506 instances, 6 features, 6 labels)"
