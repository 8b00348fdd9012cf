"""The table of Dekel, Manning and Singer, on generated documents."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import sklearn.datasets
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Bunch

from labelrank import LogLinearRanker, PreferenceGraphs
from labelrank.experiments import ResultCache, dekel2003, fold_of
from labelrank.experiments.dekel2003 import DECOMPOSITIONS, PRINTED, QUICK, Protocol, Runs, errors_of
from labelrank.features import BoostingSelector
from labelrank.metrics import disagreement_error, domination_error

SHORT = ["0-1", "dis", "Dom", "dom"]
TINY = Protocol(n_folds=2, n_words=30, alphas=(1.0, 0.01), max_iter=5, tol=1e-4, boosting_steps=3)


@pytest.fixture(scope="module")
def corpus():
    return dekel2003.generated_corpus(QUICK)


@pytest.fixture(scope="module")
def report():
    return dekel2003.run(quick=True)


def test_the_table(report):
    table = report.tables[0]
    assert list(table.rows) == list(table.columns) == SHORT
    assert table.values.shape == (4, 4, 3)
    assert ((table.values >= 0) & (table.values <= 1)).all()
    assert table.mean().max() < 0.5  # the generated topics can be learned
    zero_one, dis, dom_out, dom_in = np.moveaxis(table.values, 1, 0)
    assert (dis <= zero_one).all()
    assert (dom_out <= zero_one).all()
    assert (dom_in <= zero_one).all()
    assert table.printed is None  # generated documents are not those of the paper
    text = report.render()
    assert "240 documents" in text
    assert sum(line.startswith(("0-1 error", "- 0-1 error")) for line in text.splitlines()) == 1


def test_the_same_seed_gives_the_same_table(report):
    again = dekel2003.run(quick=True)
    np.testing.assert_array_equal(again.tables[0].values, report.tables[0].values)
    assert again.render("rst").partition("chosen penalty")[0] == report.render("rst").partition("chosen penalty")[0]


def test_the_printed_numbers_are_possible():
    """No error of a ranker is above its 0-1 error; read the other way round, the printed table breaks this."""
    printed = np.array(PRINTED, dtype=float)
    assert (printed[:, 1:] <= printed[:, :1]).all()
    assert not (printed.T[:, 1:] <= printed.T[:, :1]).all()
    assert (printed[2] == printed.min(axis=0)).all()  # the claim


def test_a_cell_is_what_it_says(corpus):
    """Words, penalty, training and errors of one cell, written out."""
    cells = dekel2003.cells_of(corpus, TINY)
    cell = next(c for c in cells if c["learner"]["decomposition"] == "domination" and c["fold"] == 1)
    numbers = dekel2003.compute(cell, corpus.features, corpus.graphs)

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
    assert first["loss"] == pytest.approx(ranker.loss_curve_[-1] / len(train))
    assert first["n_iter"] == numbers["path"][1]["n_iter"] == 5
    assert set(first["held_out"]) == set(DECOMPOSITIONS)
    assert json.loads(json.dumps(numbers)) == numbers


def test_cells(corpus):
    cells = dekel2003.cells_of(corpus, TINY)
    assert len(cells) == 2 * 2 * 4
    assert len({ResultCache("x").path(cell) for cell in cells}) == len(cells)
    other = dekel2003.Corpus("generated", corpus.features * 2, corpus.graphs)
    assert dekel2003.cells_of(other, TINY)[0]["data"] != cells[0]["data"]


def test_the_penalty_is_chosen_on_the_held_out_part():
    def step(alpha, held_out, measured):
        every = dict.fromkeys(DECOMPOSITIONS, measured)
        return {"alpha": alpha, "held_out": {**dict.fromkeys(DECOMPOSITIONS, 0.5), **held_out}, "errors": every}

    path = [step(1.0, {"domination": 0.1}, 0.11), step(0.1, {"zero_one": 0.2}, 0.22)]
    cells = [{"learner": {"solver": "lbfgs", "decomposition": name}} for name in DECOMPOSITIONS]
    runs = Runs(cells, [{"path": path}] * 4, "lbfgs")
    minimised = errors_of(runs)[:, :, 0]
    assert minimised[0].tolist() == [0.22] * 4  # one ranker per row
    assert minimised[1].tolist() == [0.11] * 4  # of equals, the larger penalty
    measured = errors_of(runs, "measured")[:, :, 0]
    assert measured.tolist() == [[0.22, 0.11, 0.11, 0.11]] * 4


def test_a_run_goes_on_from_its_cache(tmp_path, monkeypatch):
    first = dekel2003.run(quick=True, cache=tmp_path, protocol=TINY)
    monkeypatch.setattr(dekel2003, "compute", None)  # nothing is left to compute
    again = dekel2003.run(quick=True, cache=tmp_path, protocol=TINY)
    assert again.render() == first.render()
    with pytest.raises(TypeError):
        dekel2003.run(quick=True, cache=tmp_path, protocol=Protocol(**{**vars(TINY), "n_words": 31}))


def test_printed_numbers_stand_beside_ours(tmp_path, corpus):
    cells = dekel2003.cells_of(corpus, TINY)
    results = [dekel2003.compute(cell, corpus.features, corpus.graphs) for cell in cells]
    markdown = dekel2003.report(corpus, TINY, cells, results).render("markdown")
    assert "| minimised | 0-1 | paper | dis | paper | Dom | paper | dom | paper |" in markdown
    assert "0.049" in markdown


def test_reuters_from_a_folder(tmp_path):
    topics = {"wheat": "commodity", "corn": "commodity", "gas": "energy", "crude": "energy", "ship": "ROOT-MISC"}
    rows = "".join(f"{group}\t{topic}\n" for topic, group in topics.items())
    (tmp_path / "reuters21578_topic_groups.tsv").write_text("group\ttopic\n" + rows)
    rng = np.random.RandomState(0)
    with open(tmp_path / "reuters21578_topics.jsonl", "w") as file:
        for i in range(60):
            topic = list(topics)[i % 5]
            body = " ".join([topic] * rng.randint(1, 4) + [f"word{rng.randint(20)}"])
            document = {"id": i, "split": "train", "title": topic, "body": body, "topics": [topic]}
            file.write(json.dumps(document) + "\n")
    report = dekel2003.run(folder=tmp_path, cache=tmp_path / "cache", protocol=TINY)
    assert "reuters: 60 documents" in report.protocol[0]
    assert report.tables[0].mean()[2].max() < 0.1  # each topic is named in its documents
    corpus = dekel2003.load_corpus("reuters", tmp_path, TINY)
    assert corpus.features.data.max() == pytest.approx(np.log(4) + 1)


def test_rcv1_without_the_network(tmp_path, monkeypatch, corpus):
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
    report = dekel2003.run("rcv1", cache=tmp_path, protocol=TINY)
    assert "rcv1: 64 documents" in report.protocol[0]  # those with a topic
    assert report.tables[0].values.shape == (4, 4, 2)


def test_what_is_not_there(monkeypatch, tmp_path):
    monkeypatch.delenv("LABELRANK_DATA", raising=False)
    with pytest.raises(ValueError, match="set LABELRANK_DATA; a quick run"):
        dekel2003.run()
    monkeypatch.setenv("LABELRANK_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="reuters21578_topics"):
        dekel2003.run()
    with pytest.raises(ValueError, match="no data set 'mnist'; known: reuters, rcv1"):
        dekel2003.run("mnist")


def test_as_a_module(tmp_path):
    environment = {name: value for name, value in os.environ.items() if name != "LABELRANK_DATA"}
    call = [sys.executable, "-m", "labelrank.experiments.dekel2003"]
    done = subprocess.run([*call, "--quick", "-f", "csv"], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("table,row,column,mean,std,runs,printed\n")
    failed = subprocess.run(call, capture_output=True, text=True, env=environment)
    assert failed.returncode == 2
    assert "set LABELRANK_DATA" in failed.stderr


@pytest.mark.data
def test_the_corpus(data_dir):
    corpus = dekel2003.load_corpus("reuters", data_dir / "text", Protocol())
    assert corpus.features.shape[0] == len(corpus.graphs) == 10377
    assert corpus.features.shape[1] > 3200
    assert isinstance(corpus.graphs, PreferenceGraphs)
    assert corpus.graphs.storage == "levels"
