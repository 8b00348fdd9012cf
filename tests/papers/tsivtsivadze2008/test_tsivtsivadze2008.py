"""The parse-ranking table: its learners against literal formulas, its protocol, its report."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import dump_svmlight_file
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GroupKFold

from labelrank import RankRLS
from labelrank.metrics import group_disagreement, signed_rank_test
from papers.frame import Outcome
from papers.tsivtsivadze2008 import EXPERIMENT
from papers.tsivtsivadze2008.data import Problem, Protocol
from papers.tsivtsivadze2008.draws import compute, draw_of, group_errors
from papers.tsivtsivadze2008.learners import METHODS, RLSRegressor
from papers.tsivtsivadze2008.report import Draws, report

TINY = Protocol(n_basis=2, n_more=3, n_folds=2, n_draws=2, alphas=(0.1, 10.0))
RBF = {"view": "x", "kernel": "rbf", "gamma": 0.3}


@pytest.fixture(scope="module")
def problem():
    return EXPERIMENT.generate(TINY)


@pytest.fixture
def items():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    return X, np.sin(X[:, 0]) + X[:, 1] + 3, np.sort(rng.permutation(40)[:15])


# --- The regressors


@pytest.mark.parametrize("alpha", [1e-3, 0.5, 20.0])
def test_the_sparse_regressor_is_the_subset_of_regressors(items, alpha):
    X, y, basis = items
    model = RLSRegressor(RBF).fit(X, y, basis)
    K = rbf_kernel(X, gamma=0.3)
    K_MR, K_RR = K[:, basis], K[np.ix_(basis, basis)]
    A = np.linalg.solve(K_MR.T @ K_MR + alpha * K_RR, K_MR.T @ (y - y.mean()))
    found = model.scores(X, [alpha, 1.0])
    assert found.shape == (40, 2)
    assert_allclose(found[:, 0], K_MR @ A + y.mean(), atol=1e-8)
    theirs = Nystroem(gamma=0.3, n_components=15, random_state=0).fit(X[basis])
    ridge = Ridge(alpha, fit_intercept=False).fit(theirs.transform(X), y - y.mean())
    assert_allclose(found[:, 0], ridge.predict(theirs.transform(X)) + y.mean(), atol=1e-6)


@pytest.mark.parametrize("kernel", [RBF, {"kernel": "linear"}])
def test_with_every_item_it_is_kernel_ridge_regression(items, kernel):
    X, y, _ = items
    found = RLSRegressor(kernel).fit(sparse.csr_array(X), y, np.arange(40)).scores(sparse.csr_array(X), [0.5])[:, 0]
    theirs = KernelRidge(alpha=0.5, kernel=kernel["kernel"], gamma=kernel.get("gamma")).fit(X, y - y.mean())
    assert_allclose(found, theirs.predict(X) + y.mean(), atol=1e-8)


def test_duplicates_in_the_basis_change_nothing(items):
    X, y, basis = items
    once = RLSRegressor(RBF).fit(X, y, basis).scores(X, [0.1])
    assert_allclose(RLSRegressor(RBF).fit(X, y, np.repeat(basis, 2)).scores(X, [0.1]), once, atol=1e-6)


# --- The protocol


def test_draws(problem):
    first, second = (draw_of(problem, vars(TINY), draw) for draw in (0, 1))
    groups = problem.groups
    assert set(first.basic) < set(first.sparse)
    assert not set(groups[first.sparse]) & set(groups[first.test])
    assert_array_equal(np.unique(groups[first.basic], return_counts=True)[1], np.full(20, 2))
    assert_array_equal(np.unique(groups[first.sparse], return_counts=True)[1], np.full(20, 5))
    assert len(first.test) == 20 * 8
    assert first.basic.tolist() != second.basic.tolist()
    assert_array_equal(first.basic, draw_of(problem, vars(TINY), 0).basic)
    given = np.arange(len(groups)) < 80
    drawn = draw_of(replace(problem, test=given), vars(TINY), 0)
    assert_array_equal(drawn.test, np.arange(80))
    assert set(groups[drawn.basic]) == set(groups[80:])


def test_a_group_with_few_items_gives_what_it_has():
    groups, test = np.array([0, 0, 1, 1, 1, 2]), np.array([False] * 5 + [True])
    problem = Problem("few", ("groups", "items"), {}, [], np.zeros(6), groups, test)
    drawn = draw_of(problem, {"seed": 0, "n_basis": 2, "n_more": 5}, 0)
    assert_array_equal(drawn.sparse, np.arange(5))
    assert len(drawn.basic) == 4


def test_errors_of_a_group():
    rng = np.random.default_rng(1)
    for _ in range(20):
        y, f = rng.integers(0, 4, 9).astype(float), rng.integers(0, 4, 9).astype(float)
        every, untied = group_errors(y, f)
        assert every == pytest.approx(group_disagreement(y, f, None))
        pairs = [(a, b) for a in range(9) for b in range(9) if y[a] > y[b]]
        assert untied == pytest.approx(np.mean([(f[a] < f[b]) + (f[a] == f[b]) / 2 for a, b in pairs]))
    assert group_errors(np.ones(3), np.arange(3.0)) == (0.5, None)
    assert group_errors(np.array([1.0, 1.0]), np.array([0.3, 0.1 + 0.2])) == (0.0, None)  # rounding errors are no order


@pytest.mark.filterwarnings("ignore:the kernel of the .* basis vectors:UserWarning")
@pytest.mark.parametrize("method", list(METHODS))
def test_a_cell(problem, method):
    """Each kernel and penalty fitted by itself in each fold, the best fitted to all, and the test sentences ranked."""
    cell = next(c for c in EXPERIMENT.cells_of(problem, TINY) if c["method"] == method and c["draw"] == 1)
    numbers = compute(cell, problem)
    y, groups = problem.y, problem.groups
    drawn = draw_of(problem, vars(TINY), 1)
    rows = drawn.sparse if method.startswith("sparse") else drawn.basic

    def scores(X, train, test, alpha):
        basis = np.flatnonzero(np.isin(train, drawn.basic))
        if method.endswith("rank_rls"):
            ranker = RankRLS(alpha, basis=basis) if method == "sparse_rank_rls" else RankRLS(alpha)
            return ranker.fit(X[train].toarray(), y[train], groups=groups[train]).predict(X[test].toarray())
        return (
            RLSRegressor({"kernel": "linear"}).fit(X[train].toarray(), y[train], basis).scores(X[test], [alpha])[:, 0]
        )

    errors = {}
    for view, X in problem.views.items():
        for alpha in TINY.alphas:
            held_out = np.empty(len(y))
            folds = GroupKFold(2, shuffle=True, random_state=0).split(rows, groups=groups[rows])
            for train, test in folds:
                held_out[rows[test]] = scores(X, rows[train], rows[test], alpha)
            errors[view, alpha] = group_disagreement(y[rows], held_out[rows], groups[rows])
    chosen = (numbers["kernel"]["view"], numbers["alpha"])
    assert numbers["cv_error"] == pytest.approx(errors[chosen]) == pytest.approx(min(errors.values()))
    final = np.full(len(y), np.nan)
    final[drawn.test] = scores(problem.views[chosen[0]], rows, drawn.test, chosen[1])
    expected = group_disagreement(y[drawn.test], final[drawn.test].round(9), groups[drawn.test])
    assert np.mean(numbers["disagreement"]) == pytest.approx(expected)
    assert (numbers["n_items"], numbers["n_basis"], numbers["n_groups"]) == (len(rows), len(drawn.basic), 20)
    assert json.loads(json.dumps(numbers)) == numbers


# --- The report


def test_learners_that_know_of_sentences_win():
    means = EXPERIMENT.run(quick=True).tables[0].mean()[:, 0]
    assert (means[2:] < means[:2].min()).all()
    assert means[3] < 0.2


def test_order_and_tests_are_told(problem):
    errors = {
        "rls": [0.4] * 7,
        "sparse_rls": [0.3] * 7,
        "rank_rls": [0.2, 0.1] * 3 + [0.1],
        "sparse_rank_rls": [0.0] * 7,
    }
    numbers = {"kernel": {"view": "links"}, "alpha": 0.1, "cv_error": 0.2, "n_items": 9, "n_basis": 9, "n_groups": 5}
    cells = EXPERIMENT.cells_of(problem, TINY)
    results = [
        {**numbers, "seconds": 1.0, "disagreement": errors[c["method"]], "untied": [None, *errors[c["method"]][1:]]}
        for c in cells
    ]
    outcome = Outcome(replace(problem, name="parse"), TINY, cells, results)
    made = report(outcome)
    markdown = made.render("markdown")
    assert "| RLS regressor | 0.400 | 0.27 | 0.400 |" in markdown
    assert "holds in the first draw, holds for the mean of the draws, and holds in 2 of 2 draws" in markdown
    assert made.tables[1].mean()[3, 0] == signed_rank_test(np.zeros(7), np.full(7, 0.4))
    assert made.tables[3].mean()[3].tolist()[:3] == [2, 2, 2]
    swapped = [
        {**r, "disagreement": [0.5] * 7} if c["method"] == "rank_rls" else r
        for c, r in zip(cells, results, strict=True)
    ]
    assert "does not hold in the first draw" in report(replace(outcome, results=swapped)).render("markdown")
    assert Draws(outcome).means(0)[2, 1] == pytest.approx(np.mean(errors["rank_rls"][1:]))


# --- Files


def write_parses(folder, n_sentences=12):
    rng = np.random.default_rng(0)
    with open(folder / "pud_linkgrammar_parses_1-500.jsonl", "w") as file:
        for i in range(n_sentences):
            found = []
            for k in range(5):
                kind = rng.permutation(4)[0] if k > 1 else k + 2 * (i % 2)  # the first two always differ
                links = [[0, 1, "Wd", 1], [1, 2, ["Ss", "Mp", "Os", "Js"][kind], 1], [2, 0, "RW", 1]]
                words = ["LEFT-WALL", "it", "is.v", "RIGHT-WALL"]
                found.append({"words": words, "links": links, "f1": int(kind) / 4})
            file.write(json.dumps({"tokens": ["it", "is"], "parses": found}) + "\n")


def test_parses_from_a_folder(tmp_path):
    write_parses(tmp_path)
    report = EXPERIMENT.run(folder=tmp_path, cache=tmp_path / "cache", protocol=TINY)
    assert "parse: 12 sentences, 60 parses" in report.protocol[0]
    assert_array_equal(report.tables[0].mean()[1::2], 0)  # the link says it all, and equal parses have equal scores
    assert "0.21" in report.render()


def test_documents_from_a_folder(tmp_path):
    rng = np.random.default_rng(0)
    for part, n in (("train", 8), ("test", 4)):
        X = rng.random((6 * n, 5))
        dump_svmlight_file(X, (4 * X[:, 0]).round(), str(tmp_path / f"rank.{part}"), zero_based=False)
        (tmp_path / f"rank.{part}.query").write_text("6\n" * n)
    report = EXPERIMENT.run("letor", folder=tmp_path, cache=tmp_path / "cache", protocol=TINY)
    assert "letor: 12 queries, 72 documents" in report.protocol[0]
    assert "8 queries to train on" in report.protocol[1]
    assert (report.tables[0].mean()[:, 1] < 0.25).all()
    assert "paper" not in report.render().splitlines()[6]
    (tmp_path / "rank.test.query").write_text("5\n")
    with pytest.raises(ValueError, match=r"rank\.test\.query: counts 5 documents, and rank\.test has 24"):
        EXPERIMENT.load("letor", tmp_path, TINY)


@pytest.mark.parametrize("data", ["parse", "letor"])
def test_what_is_not_there(tmp_path, data):
    with pytest.raises(FileNotFoundError, match=r"pud_linkgrammar|rank\.train"):
        EXPERIMENT.run(data, folder=tmp_path)


@pytest.mark.data
def test_the_data(data_dir):
    parses = EXPERIMENT.load("parse", data_dir / "parse", TINY)
    assert parses.y.shape == parses.groups.shape == (8962,)
    assert {X.shape[0] for X in parses.views.values()} == {8962}
    documents = EXPERIMENT.load("letor", data_dir / "letor" / "lightgbm", TINY)
    assert documents.views["features"].shape == (3005 + 768, 300)
    assert len(np.unique(documents.groups)) == 251
    assert documents.test.sum() == 768
