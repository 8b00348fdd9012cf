"""The table of Amit, Dekel and Singer, on generated documents and small files."""

from __future__ import annotations

import json

import numpy as np
import pytest
import sklearn.datasets
from scipy import sparse, stats
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Bunch

from labelrank import LabelCoveringClassifier
from labelrank.datasets import topics_of_rcv1
from labelrank.metrics import average_precision, coverage, covering_error, one_error
from papers.amit2007 import EXPERIMENT
from papers.amit2007.data import MULAN, QUICK, Protocol, problem_of_rcv1
from papers.amit2007.learners import compute
from papers.amit2007.measures import COVERINGS, MEASURES, covering_errors, mistakes, pack, unpack
from papers.amit2007.pictures import plot_training_errors
from papers.amit2007.report import PRINTED
from papers.amit2007.study import WAYS, Study, compare_diagonal, studies
from papers.frame import fold_of

SHORT = ["ZO", "HM", "TS", "WP", "WN"]
TINY = Protocol(
    terms_per_topic=5,
    min_documents=2,
    rounds=4,
    alphas=(1.0, 0.1),
    max_iter=5,
    text_alphas=(1.0, 0.1),
    text_max_iter=5,
    tol=1e-4,
)


@pytest.fixture(scope="module")
def problem():
    [problem] = EXPERIMENT.generate(QUICK)
    return problem


@pytest.fixture(scope="module")
def outcome():
    return EXPERIMENT.outcome(quick=True)


@pytest.fixture(scope="module")
def found(outcome):
    [study] = studies(outcome)
    return study


@pytest.fixture(scope="module")
def report(outcome):
    return EXPERIMENT.report(outcome)


def test_the_tables(found, report):
    assert len(report.tables) == 3 * 5 + 1
    test, p, train = report.tables[:3]
    assert list(test.rows) == list(p.columns) == SHORT
    assert list(test.columns) == [*SHORT, "OneErr", "Coverage", "AvgP"]
    assert test.values.shape == train.values.shape == (5, 8, 1)
    zero_one, hamming, two_sets, positive, negative = test.mean()[:, :5].T
    assert (zero_one <= two_sets).all()
    assert (two_sets <= np.minimum(hamming, 2 * zero_one)).all()
    assert (positive <= 6 * hamming).all()
    assert (negative <= 4 * hamming).all()
    assert zero_one.max() < 0.6  # the generated topics can be learned
    assert (test.mean()[:, 6] >= 1).all()  # coverage is counted from 1
    assert np.isnan(np.diag(p.mean())).all()
    assert train.mean()[0, 0] < test.mean()[0, 0]
    text = report.render()
    assert "300 examples to train on, 100 to test on" in text
    assert test.printed is None
    counts = report.tables[-1]
    assert counts.values.shape == (3, 6, 1)
    best, clearly = counts.mean()[:, 3], counts.mean()[:, 4]
    assert (clearly <= best).all()
    np.testing.assert_array_equal(best, [found.diagonal(way, "test").best.sum() for way in WAYS])


def test_what_the_covering_brings(found, report):
    [line] = [line for line in report.findings if line.startswith("boosting, test data, the diagonal compared with HM")]
    errors = found.errors("boosting", "test")
    change = errors[3, 3].mean() / errors[1, 3].mean() - 1
    p = stats.ttest_rel(errors[3, 3], errors[1, 3]).pvalue
    assert f"WP {100 * change:+.1f} % (p = {p:.2g})" in line


def test_average_precision_is_best_when_largest(report):
    table = report.tables[0]
    mean = table.mean()
    np.testing.assert_array_equal(table.is_best()[:, -1], mean[:, -1] == mean[:, -1].max())
    np.testing.assert_array_equal(table.is_best()[:, 1], np.isclose(mean[:, 1], mean[:, 1].min(), rtol=1e-9))


def test_the_printed_diagonal_wins():
    """The claim, and what any table of these errors satisfies."""
    printed = np.array(PRINTED, dtype=float)
    assert printed.shape == (5, len(MEASURES))
    assert compare_diagonal(printed[:, :5, None]).best.all()
    assert (printed[:, 0] <= printed[:, 2]).all()
    assert (printed[:, 2] <= printed[:, 1]).all()


def test_a_cell_of_boosting_is_what_it_says(problem):
    cells = EXPERIMENT.cells_of([problem], TINY)
    cell = next(c for c in cells if c["learner"]["covering"] == "two_sets")
    numbers = compute(cell, [problem])
    with pytest.warns(ConvergenceWarning):
        model = LabelCoveringClassifier("two_sets", solver="boosting", alpha=0.0, max_iter=4, tol=0).fit(
            problem.X, problem.Y
        )
    [step] = numbers["path"]
    for part, X, Y in (("train", problem.X, problem.Y), ("test", problem.X_test, problem.Y_test)):
        scores = model.decision_function(X)
        measured = step[part]["measures"]
        assert list(measured) == list(MEASURES)
        for name in COVERINGS:
            assert measured[name] == pytest.approx(covering_error(Y, scores, name), abs=1e-12)
            assert numbers["curves"][part][name][-1] == measured[name]
            assert numbers["curves"][part][name][0] == covering_error(Y, np.zeros(Y.shape), name)
            assert len(numbers["curves"][part][name]) == 5
        assert measured["one_error"] == one_error(Y, scores)
        assert measured["coverage"] == coverage(Y, scores)
        assert measured["average_precision"] == pytest.approx(average_precision(Y, scores))
        assert unpack(step[part]["missed"]).tolist() == mistakes(Y, scores)[0].tolist()
    assert step["loss"] == pytest.approx(model.loss_curve_[-1])
    assert step["n_iter"] == 4
    assert json.loads(json.dumps(numbers)) == numbers


def test_a_cell_of_lbfgs_is_what_it_says(problem):
    cells = EXPERIMENT.cells_of([problem], TINY)
    cell = next(c for c in cells if c["learner"] == {**c["learner"], "covering": "hamming", "solver": "lbfgs"})
    numbers = compute(cell, [problem])
    model = LabelCoveringClassifier("hamming", solver="lbfgs", alpha=1.0, max_iter=5)
    with pytest.warns(ConvergenceWarning):
        model.fit(problem.X, problem.Y)
    expected = covering_error(problem.Y_test, model.decision_function(problem.X_test), "weighted_negative")
    assert numbers["path"][0]["test"]["measures"]["weighted_negative"] == pytest.approx(expected, abs=1e-12)
    assert [step["alpha"] for step in numbers["path"]] == [1.0, 0.1]
    fit, rest = fold_of(len(problem.Y), n_folds=5, fold=0)
    with pytest.warns(ConvergenceWarning):
        model.fit(problem.X[fit], problem.Y[fit])
    expected = covering_error(problem.Y[rest], model.decision_function(problem.X[rest]), "hamming")
    assert numbers["held_out"][0] == pytest.approx(expected, abs=1e-12)
    assert len(numbers["held_out"]) == 2


def test_the_errors_are_those_of_the_metric():
    rng = np.random.RandomState(0)
    Y = rng.rand(60, 7) < rng.rand(60, 1)  # some rows with all labels, some with none
    Y[0], Y[1] = True, False
    scores = rng.normal(size=Y.shape)
    scores[2, :3] = 0.0  # not predicted
    errors = covering_errors(*mistakes(Y, scores))
    assert list(errors) == list(COVERINGS)
    for name, values in errors.items():
        each = [covering_error(Y[[i]], scores[[i]], name) for i in range(len(Y))]
        np.testing.assert_allclose(values, each, atol=1e-12)


def test_the_chosen_penalty():
    def step(alpha):
        return {"alpha": alpha}

    cells = [{"learner": {"solver": solver, "covering": c}} for solver in ("boosting", "lbfgs") for c in COVERINGS]
    path = [step(10.0), step(1.0), step(0.1)]
    results = [{"path": [step(0.0)]}] * 5 + [
        {"path": path, "held_out": held_out}
        for held_out in ([0.1, 0.2, 0.3], [0.3, 0.2, 0.2], [0.3, 0.2, 0.1], [0.1, 0.1, 0.1], [2.0, 1.0, 3.0])
    ]
    outcome = Study(None, TINY, list(zip(cells, results, strict=True)))
    assert [numbers["alpha"] for numbers in outcome.of("chosen")] == [10.0, 1.0, 0.1, 10.0, 1.0]
    assert [numbers["alpha"] for numbers in outcome.of("same")] == [0.1] * 5
    assert [numbers["alpha"] for numbers in outcome.of("boosting")] == [0.0] * 5


def test_where_the_diagonal_wins():
    """A made-up table: the columns are won clearly, won by chance, tied, lost by chance, lost clearly."""
    n = 200
    errors = np.ones((5, 5, n))
    errors[0, 0] = 0.0
    errors[0, 0, 0] = 1.0
    errors[1, 1, 0] = 0.0
    errors[0, 3, 0] = 0.0
    errors[1, 4] = 0.0
    errors[1, 4, 0] = 1.0
    diagonal = compare_diagonal(errors)
    assert diagonal.best.tolist() == [True, True, False, False, False]
    assert diagonal.clearly_best.tolist() == [True, False, False, False, False]
    assert diagonal.clearly_beaten.tolist() == [False, False, False, False, True]
    assert diagonal.difference[1, 0] == pytest.approx(-(n - 1) / n)


def test_the_test_is_paired():
    rng = np.random.RandomState(0)
    errors = rng.poisson(1.0, size=(3, 3, 50)).astype(float)
    diagonal = compare_diagonal(errors)
    for row in range(3):
        for column in range(3):
            if row == column:
                assert np.isnan(diagonal.p[row, column])
                continue
            expected = stats.ttest_rel(errors[column, column], errors[row, column])
            assert diagonal.p[row, column] == pytest.approx(expected.pvalue)
            assert np.sign(diagonal.difference[row, column]) == np.sign(expected.statistic)
    same = compare_diagonal(np.ones((2, 2, 9)))
    assert np.isnan(same.p).all()
    assert not same.best.any()
    assert not same.clearly_beaten.any()


def test_packing():
    counts = np.array([0, 3, 0, 103, 65535])
    assert unpack(pack(counts)).tolist() == counts.tolist()
    assert unpack(pack([])).tolist() == []


def test_picture(found):
    axes = plot_training_errors(found).axes
    assert [axis.get_title() for axis in axes] == SHORT
    curves = found.curves()
    assert curves.shape == (5, 5, QUICK.rounds + 1)
    np.testing.assert_array_equal(axes[3].lines[1].get_ydata(), curves[1, 3])
    assert axes[3].lines[3].get_linewidth() > axes[3].lines[1].get_linewidth()


def write_mulan(folder, name, *, is_sparse=False):
    folder.mkdir(parents=True)
    (folder / f"{name}.xml").write_text('<labels><label name="a"/><label name="b"/></labels>')
    head = (
        "@relation r\n@attribute x numeric\n@attribute c {red,green}\n@attribute a {0,1}\n@attribute b {0,1}\n@data\n"
    )
    rng = np.random.RandomState(0)
    for part in ("train", "test"):
        x = rng.normal(size=30).round(3) * 100
        color = rng.choice(["red", "green"], 30)
        rows = [(v, c, int(v > 0), int(c == "red" or v <= 0)) for v, c in zip(x, color, strict=True)]
        form = "{{0 {}, 1 {}, 2 {}, 3 {}}}" if is_sparse else "{},{},{},{}"
        (folder / f"{name}-{part}.arff").write_text(head + "\n".join(form.format(*row) for row in rows) + "\n")


def test_reuters_from_a_folder(tmp_path, write_reuters):
    write_reuters(tmp_path / "text")
    [problem] = EXPERIMENT.load("reuters", tmp_path / "text", TINY)
    assert problem.Y.shape == (40, 5)  # one topic is too rare, and its document is left out
    assert problem.Y_test.shape == (20, 5)
    assert (problem.Y.sum(axis=1) == 1).all()
    assert problem.X.shape[1] == problem.X_test.shape[1]
    report = EXPERIMENT.run(folder=tmp_path / "text", cache=tmp_path / "cache", protocol=TINY)
    assert "reuters: 40 examples to train on, 20 to test on" in report.protocol[0]
    assert "trained | ZO | paper | HM | paper" in report.render("markdown")
    assert "in the paper from 0" in report.render()


@pytest.mark.parametrize("is_sparse", [False, True])
def test_mulan_from_a_folder(tmp_path, is_sparse):
    write_mulan(tmp_path / "flags", "flags", is_sparse=is_sparse)
    [problem] = EXPERIMENT.load("flags", tmp_path / "flags", TINY)
    assert problem.X.shape == problem.X_test.shape == (30, 3)  # a nominal attribute of two values is two columns
    assert problem.Y.dtype == np.uint8
    if is_sparse:
        assert abs(problem.X).max() == 1
    else:
        np.testing.assert_allclose(problem.X.mean(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(problem.X.std(axis=0), 1)
        assert abs(problem.X_test.mean(axis=0)).max() > 1e-6  # scaled as the training data are
    report = EXPERIMENT.run("flags", folder=tmp_path / "flags", cache=tmp_path / "cache", protocol=TINY)
    assert report.tables[0].printed is None


def test_all(tmp_path, write_reuters, monkeypatch):
    write_reuters(tmp_path / "text")
    for name in MULAN:
        write_mulan(tmp_path / "multilabel" / name, name)
    monkeypatch.setenv("LABELRANK_DATA", str(tmp_path))
    report = EXPERIMENT.run("all", cache=tmp_path / "cache", protocol=TINY)
    counts = report.tables[0]
    assert len(counts.rows) == 3 * 6
    assert counts.rows[0] == "reuters, L-BFGS, chosen penalty"
    assert counts.rows[-1] == "flags, boosting"
    assert len(report.findings) == 6 * 11
    assert len(report.tables) == 1 + 18


def test_rcv1_without_the_network(tmp_path, monkeypatch):
    names = ["CCAT", "C15", "C151", "C152", "GCAT", "GSPO"]
    rng = np.random.RandomState(0)
    paths = {"C151": [0, 1, 2], "C152": [0, 1, 3], "GSPO": [4, 5], "C15": [0, 1]}
    target = np.zeros((80, 6), dtype=np.uint8)
    data = np.zeros((80, 30))
    for i, path in enumerate(list(paths.values()) * 20):
        target[i, path] = 1
        data[i, [*path, *rng.randint(6, 30, 3)]] = 0.5
    numbers = rng.permutation(80) + 2286  # the order of the files is not that of the dates
    rcv1 = Bunch(data=sparse.csr_array(data), target=sparse.csr_array(target), target_names=names, sample_id=numbers)
    problem = problem_of_rcv1(topics_of_rcv1(rcv1), TINY)
    assert problem.Y.shape == (59, 6)
    assert problem.Y_test.shape == (21, 6)
    np.testing.assert_array_equal(problem.Y_test, target[np.argsort(numbers)][59:])
    assert problem.X.shape[1] <= 30
    monkeypatch.setattr(sklearn.datasets, "fetch_rcv1", lambda **options: rcv1)
    report = EXPERIMENT.run("rcv1", cache=tmp_path, protocol=TINY)
    assert report.tables[0].printed == PRINTED
    assert "rcv1: 59 examples to train on, 21 to test on" in report.protocol[0]


@pytest.mark.parametrize(("data", "missing"), [("reuters", "reuters21578_topics"), ("yeast", "yeast-train")])
def test_what_is_not_there(tmp_path, data, missing):
    with pytest.raises(FileNotFoundError, match=missing):
        EXPERIMENT.run(data, folder=tmp_path)


@pytest.mark.data
@pytest.mark.parametrize(("name", "shape", "n_test"), [("yeast", (1500, 14), 917), ("enron", (1123, 53), 579)])
def test_the_files_of_mulan(data_dir, name, shape, n_test):
    [problem] = EXPERIMENT.load(name, data_dir / "multilabel" / name, Protocol())
    assert problem.Y.shape == shape
    assert len(problem.Y_test) == n_test
