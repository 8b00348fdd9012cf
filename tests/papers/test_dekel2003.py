"""The table of Dekel, Manning and Singer, on generated documents and small files."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
import sklearn.datasets
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Bunch

from labelrank import LogLinearRanker, PreferenceGraphs
from labelrank.features import BoostingSelector
from labelrank.metrics import disagreement_error, domination_error
from papers.dekel2003 import EXPERIMENT
from papers.dekel2003.data import QUICK, Protocol
from papers.dekel2003.learners import DECOMPOSITIONS, compute
from papers.dekel2003.report import PRINTED, errors
from papers.frame import Outcome, fold_of

SHORT = ["0-1", "dis", "Dom", "dom"]
TINY = Protocol(n_folds=2, n_words=30, alphas=(1.0, 0.01), max_iter=5, tol=1e-4, boosting_steps=3)


@pytest.fixture(scope="module")
def corpus():
    return EXPERIMENT.generate(QUICK)


@pytest.fixture(scope="module")
def found():
    return EXPERIMENT.outcome(quick=True)


def test_the_table(found):
    report = EXPERIMENT.report(found)
    table = report.tables[0]
    assert list(table.rows) == list(table.columns) == SHORT
    assert table.values.shape == (4, 4, 3)
    assert ((table.values >= 0) & (table.values <= 1)).all()
    assert table.mean().max() < 0.5  # the generated topics can be learned
    zero_one, dis, dom_out, dom_in = np.moveaxis(table.values, 1, 0)
    assert (np.maximum(np.maximum(dis, dom_out), dom_in) <= zero_one).all()
    assert table.printed is None  # generated documents are not those of the paper
    text = report.render()
    assert "240 documents" in text
    assert sum(line.startswith("- 0-1 error") for line in text.splitlines()) == 1
    markdown = EXPERIMENT.report(dataclasses.replace(found, quick=False)).render("markdown")
    assert "| minimized | 0-1 | paper | dis | paper | Dom | paper | dom | paper |" in markdown
    assert "0.049" in markdown


def test_the_printed_numbers_are_possible():
    """No error of a ranker is above its 0-1 error; read the other way around, the printed table breaks this."""
    printed = np.array(PRINTED, dtype=float)
    assert (printed[:, 1:] <= printed[:, :1]).all()
    assert not (printed.T[:, 1:] <= printed.T[:, :1]).all()
    assert (printed[2] == printed.min(axis=0)).all()  # the claim


def test_a_cell_is_what_it_says(corpus):
    """Words, penalty, training and errors of one cell, written out."""
    cells = EXPERIMENT.cells_of(corpus, TINY)
    cell = next(c for c in cells if c["learner"]["decomposition"] == "domination" and c["fold"] == 1)
    numbers = compute(cell, corpus)

    train, test = fold_of(len(corpus.graphs), n_folds=2, fold=1)
    X, y = corpus.features, corpus.graphs
    words = BoostingSelector(30, decomposition="disagreement").fit(X[train], y[train])
    ranker = LogLinearRanker("domination", solver="lbfgs", alpha=1.0, max_iter=5)
    with pytest.warns(ConvergenceWarning):
        ranker.fit(words.transform(X[train]), y[train])
    predicted = ranker.predict(words.transform(X[test]))
    first = numbers["path"][0]
    assert first["alpha"] == 1.0
    assert first["errors"]["domination"] == pytest.approx(domination_error(y[test], predicted), abs=1e-12)
    assert first["errors"]["disagreement"] == pytest.approx(disagreement_error(y[test], predicted), abs=1e-12)
    assert first["loss"] == pytest.approx(ranker.loss_curve_[-1])
    assert first["n_iter"] == numbers["path"][1]["n_iter"] == 5
    assert set(first["held_out"]) == set(DECOMPOSITIONS)
    assert json.loads(json.dumps(numbers)) == numbers


def test_other_data_are_another_cell(corpus):
    other = dataclasses.replace(corpus, features=corpus.features * 2)
    assert EXPERIMENT.cells_of(other, TINY)[0]["data"] != EXPERIMENT.cells_of(corpus, TINY)[0]["data"]


def test_the_penalty_is_chosen_on_the_held_out_part():
    def step(alpha, held_out, measured):
        every = dict.fromkeys(DECOMPOSITIONS, measured)
        return {"alpha": alpha, "held_out": {**dict.fromkeys(DECOMPOSITIONS, 0.5), **held_out}, "errors": every}

    path = [step(1.0, {"domination": 0.1}, 0.11), step(0.1, {"zero_one": 0.2}, 0.22)]
    cells = [{"learner": {"solver": "lbfgs", "decomposition": name}} for name in DECOMPOSITIONS]
    found = Outcome(None, None, cells, [{"path": path}] * 4)
    minimized = errors(found, "lbfgs")[:, :, 0]
    assert minimized[0].tolist() == [0.22] * 4  # one ranker per row
    assert minimized[1].tolist() == [0.11] * 4  # of equals, the larger penalty
    assert errors(found, "lbfgs", "measured")[:, :, 0].tolist() == [[0.22, 0.11, 0.11, 0.11]] * 4


def test_reuters_from_a_folder(tmp_path, write_reuters):
    write_reuters(tmp_path)
    report = EXPERIMENT.run(folder=tmp_path, cache=tmp_path / "cache", protocol=TINY)
    assert "reuters: 61 documents" in report.protocol[0]
    assert report.tables[0].mean()[2].max() < 0.1  # each topic is named in its documents
    corpus = EXPERIMENT.load("reuters", tmp_path, TINY)
    assert corpus.features.data.max() == pytest.approx(np.log(4) + 1)


def test_rcv1_without_the_network(tmp_path, monkeypatch):
    names = ["CCAT", "C15", "C151", "C152", "GCAT", "GSPO"]
    rng = np.random.RandomState(0)
    paths = {"C151": [0, 1, 2], "C152": [0, 1, 3], "GSPO": [4, 5], "C15": [0, 1], "nothing": []}
    target = np.zeros((80, 6), dtype=np.uint8)
    data = np.zeros((80, 30))
    for i, path in enumerate(list(paths.values()) * 16):
        target[i, path] = 1
        data[i, [*path, *rng.randint(6, 30, 3)]] = 0.5
    rcv1 = Bunch(
        data=sparse.csr_array(data), target=sparse.csr_array(target), target_names=names, sample_id=np.arange(80)
    )
    monkeypatch.setattr(sklearn.datasets, "fetch_rcv1", lambda **options: rcv1)
    report = EXPERIMENT.run("rcv1", cache=tmp_path, protocol=TINY)
    assert "rcv1: 64 documents" in report.protocol[0]  # those with a topic
    assert report.tables[0].values.shape == (4, 4, 2)


@pytest.mark.data
def test_the_corpus(data_dir):
    corpus = EXPERIMENT.load("reuters", data_dir / "text", Protocol())
    assert corpus.features.shape[0] == len(corpus.graphs) == 10377
    assert corpus.features.shape[1] > 3200
    assert isinstance(corpus.graphs, PreferenceGraphs)
