"""Model files: what comes back, what is refused, and files that are damaged."""

import contextlib
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from persistence.forged import archived
from sklearn import config_context
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import labelrank
from labelrank import (
    ConformalRanker,
    ExtraTreesRanker,
    GradientBoostingCoveringClassifier,
    GradientBoostingRanker,
    GraphRanker,
    KernelRidgeRanker,
    KNeighborsRanker,
    LabelCoveringClassifier,
    LogLinearRanker,
    PairwiseCalibrator,
    PairwiseRanker,
    RandomForestRanker,
    RankRLS,
    RankRLSCV,
    SoftProjectionRanker,
    all_rankers,
    inspect_file,
    load,
    save,
)
from labelrank.datasets import make_label_ranking
from labelrank.decompositions import domination
from labelrank.losses import PlackettLuceLoss
from labelrank.metrics import get_scorer
from labelrank.solvers import LBFGS

pytest.importorskip("skops")

X, Y = make_label_ranking(60, 3, n_labels=3, random_state=0)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"]).assign(color=np.where(X[:, 0] > 0, "red", "blue"))
RANKS = pd.DataFrame(Y, columns=["tea", "milk", "cola"])
COLUMNS = make_column_transformer((StandardScaler(), ["a", "b", "c"]), (OneHotEncoder(), ["color"]))

MODELS = {name: ranker() for name, ranker in all_rankers().items()} | {
    "pairwise": PairwiseRanker(LogisticRegression()),
    "conformal": ConformalRanker(make_pipeline(StandardScaler(), ExtraTreesRanker(5)), cv=3, alpha=0.3),
    "calibrated": PairwiseCalibrator(KernelRidgeRanker(kernel="rbf"), method="isotonic"),
    "cut": LogLinearRanker(domination),
    "loss": GraphRanker(loss="plackett_luce"),
    "search": GridSearchCV(LogLinearRanker(), {"alpha": [0.1, 1.0]}, cv=KFold(2), scoring=get_scorer("ndcg")),
    "parts": GraphRanker(loss=PlackettLuceLoss, solver=LBFGS()),
    "warm": GradientBoostingRanker(max_iter=3, warm_start=True),
    "kernel": SoftProjectionRanker(kernel="rbf"),
    "ball": KNeighborsRanker(algorithm="ball_tree", metric="minkowski", p=3),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MODELS)
def test_models_come_back(name, tmp_path):
    model = MODELS[name].fit(X, RANKS)
    save(model, tmp_path / "model.lrk")
    again = load(tmp_path / "model.lrk")
    assert (again.decision_function(X) == model.decision_function(X)).all()
    assert inspect_file(tmp_path / "model.lrk")["labels"] == ["tea", "milk", "cola"]


def test_what_a_file_says(tmp_path):
    model = make_pipeline(COLUMNS, LogLinearRanker()).fit(FRAME, RANKS)
    save(model, tmp_path / "model.lrk", X=FRAME, metrics={"kendall_tau": np.float32(0.5)})
    about = inspect_file(tmp_path / "model.lrk")
    assert about["labelrank"] == labelrank.__version__
    assert about["features"] == ["a", "b", "c", "color"]
    assert about["schema"] == {"a": "Float64", "b": "Float64", "c": "Float64", "color": "String"}
    assert about["metrics"] == {"kendall_tau": 0.5}
    assert about["type"] == "Pipeline"
    assert (load(tmp_path / "model.lrk").predict(FRAME) == model.predict(FRAME)).all()
    assert [path.name for path in tmp_path.iterdir()] == ["model.lrk"]


@pytest.mark.parametrize("ranker", [GradientBoostingRanker(max_iter=4), RandomForestRanker(3)])
def test_categories_of_a_frame_come_back(ranker, tmp_path):
    model = ranker.set_params(categorical_features=["color"]).fit(FRAME, RANKS)
    save(model, tmp_path / "model.lrk")
    assert (load(tmp_path / "model.lrk").predict(FRAME) == model.predict(FRAME)).all()


@pytest.mark.filterwarnings("ignore:RankRLS")
@pytest.mark.parametrize("model", [RankRLS(kernel="rbf"), RankRLSCV()])
def test_rankers_of_items_come_back(model, tmp_path):
    model.fit(X, Y[:, 0], groups=np.arange(60) // 10)
    save(model, tmp_path / "model.lrk")
    assert (load(tmp_path / "model.lrk").predict(X) == model.predict(X)).all()


@pytest.mark.parametrize("model", [LabelCoveringClassifier(), GradientBoostingCoveringClassifier(max_iter=4)])
def test_classifiers_come_back(model, tmp_path):
    model.fit(X, Y <= 1)
    save(model, tmp_path / "model.lrk")
    assert (load(tmp_path / "model.lrk").decision_function(X) == model.decision_function(X)).all()


def own_function(X):
    return X


def test_functions_and_classes_of_others_are_refused(tmp_path):
    model = make_pipeline(FunctionTransformer(own_function), LogLinearRanker()).fit(X, Y)
    with pytest.raises(ValueError, match=r"not allowed in model files: .*own_function"):
        save(model, tmp_path / "model.lrk")
    assert not list(tmp_path.iterdir())


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "model.lrk"
    save(LogLinearRanker().fit(X, RANKS), path)
    return path


def rewritten(path, **changes):
    """Change entries of labelrank.json."""
    with zipfile.ZipFile(path) as archive:
        about, data = json.loads(archive.read("labelrank.json")), archive.read("model.skops")
    archived(path, about | changes, data)


def test_a_newer_file_is_told_apart(saved):
    rewritten(saved, format=2, labelrank="9.0")
    for function in (load, inspect_file):
        with pytest.raises(ValueError, match=r"written by labelrank 9.0 in format 2.*install a newer version"):
            function(saved)


def test_other_versions_of_scikit_learn_are_warned_about(saved):
    rewritten(saved, **{"scikit-learn": "0.1"})
    with pytest.warns(UserWarning, match=r"saved with scikit-learn 0.1"):
        load(saved)


def test_a_wrong_checksum(saved):
    rewritten(saved, sha256="0" * 64)
    with pytest.raises(ValueError, match="checksum of the model does not match"):
        load(saved)


def test_a_bomb_is_refused(saved):
    archived(saved, inspect_file(saved), bytes(10**7))
    with pytest.raises(ValueError, match=r"model.skops is larger than 1,000,000 bytes.*max_bytes"):
        load(saved, max_bytes=10**6)


def test_damaged_files_raise_only_our_error(saved):
    data = saved.read_bytes()
    rng = np.random.default_rng(0)
    for case in range(60):
        changed = bytearray(data[: rng.integers(len(data))] if case % 10 == 0 else data)
        for place in rng.integers(0, max(len(changed), 1), rng.integers(1, 4)):
            if changed:
                changed[place] = rng.integers(256)
        saved.write_bytes(changed)
        with contextlib.suppress(ValueError):  # of the damaged file; a change may also do no harm
            load(saved).predict(X)


@pytest.mark.parametrize("text", [b"", b"PK", b"not a model", b"\x80\x04K\x01."])
def test_other_files_are_no_models(tmp_path, text):
    path = tmp_path / "other.lrk"
    path.write_bytes(text)
    with pytest.raises(ValueError, match="not a model file of labelrank"):
        load(path)


def test_a_failed_save_leaves_the_old_file(saved, tmp_path):
    before = saved.read_bytes()
    with pytest.raises(NotFittedError):
        save(LogLinearRanker(), saved)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        save(LogLinearRanker().fit(X, Y), tmp_path / "no" / "model.lrk")
    with pytest.raises(IsADirectoryError, match=f"^cannot save {tmp_path}: it is a folder"):
        save(LogLinearRanker().fit(X, Y), tmp_path)
    with pytest.raises(TypeError, match="metrics must be numbers, got 'tau': 'good'"):
        save(LogLinearRanker().fit(X, Y), saved, metrics={"tau": "good"})
    with pytest.raises(TypeError, match="metrics must be a dict, got list"):
        save(LogLinearRanker().fit(X, Y), saved, metrics=[0.5])
    assert saved.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["model.lrk"]


KILLED = """
import os, signal, sys, tempfile, zipfile, labelrank

def die(*args, **options):
    os.kill(os.getpid(), signal.SIGKILL)

def half(self, name, data):
    archive = self.open(name, "w", force_zip64=True)
    archive.write(data[: len(data) // 2].encode() if isinstance(data, str) else data[: len(data) // 2])
    self.fp.flush()
    die()

moments = [(tempfile, "mkdtemp", die), (zipfile.ZipFile, "writestr", half), (zipfile.ZipFile, "close", die),
           (os, "fsync", die), (os, "chmod", die), (os, "replace", die)]
model = labelrank.load(sys.argv[1])
for owner, name, function in moments:
    child = os.fork()
    if not child:
        setattr(owner, name, function)
        labelrank.save(model, sys.argv[1], notes={"new": "a" * 10**6})
        os._exit(0)
    print(name, os.WTERMSIG(os.waitpid(child, 0)[1]), labelrank.inspect_file(sys.argv[1])["notes"])
"""


def test_a_killed_save_leaves_the_old_file(saved):
    before = saved.read_bytes()
    environment = os.environ | {"PYTHONPATH": str(Path(labelrank.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(saved)], env=environment, check=True, capture_output=True, text=True
    )
    names = ("mkdtemp", "writestr", "close", "fsync", "chmod", "replace")
    assert done.stdout.splitlines() == [f"{name} 9 {{}}" for name in names]
    assert saved.read_bytes() == before


def test_notes_come_back(saved):
    notes = {"labels": ["rank_a", "rank_b"], "kind": "ranks", "depth": {"x": [1, 2.5, None, True]}}
    save(load(saved), saved, notes=notes)
    assert inspect_file(saved)["notes"] == notes


@pytest.mark.parametrize(
    ("notes", "told"),
    [
        ({"x": np.zeros(2)}, "as in JSON.*ndarray"),
        ({"x": float("nan")}, "as in JSON"),
        ({"x": "a" * 2**24}, "larger than 16,777,216 bytes"),
        (["x"], "must be a dict, got list"),
    ],
)
def test_notes_that_cannot_be_kept(saved, notes, told):
    before = saved.read_bytes()
    with pytest.raises((TypeError, ValueError), match=told):
        save(load(saved), saved, notes=notes)
    assert saved.read_bytes() == before


class OwnLoss(PlackettLuceLoss):
    pass


def test_an_own_loss_is_refused(tmp_path):
    model = GraphRanker(loss=OwnLoss).fit(X, Y)
    with pytest.raises(ValueError, match=r"not allowed in model files: .*OwnLoss; functions and types other than"):
        save(model, tmp_path / "model.lrk")


def test_requests_for_metadata_are_left_out(tmp_path):
    with config_context(enable_metadata_routing=True):
        model = LogLinearRanker().set_fit_request(sample_weight=True).fit(X, Y)
        save(model, tmp_path / "model.lrk")
        assert model.get_metadata_routing().fit.requests == {"sample_weight": True}
    assert (load(tmp_path / "model.lrk").predict(X) == model.predict(X)).all()


def test_nothing_in_the_library_unpickles():
    """labelrank.testing pickles in memory, to check that estimators can be; nothing else may."""
    pattern = re.compile(
        r"\b(pickle|cloudpickle|dill|marshal|shelve|joblib\.load|allow_pickle=True|eval|exec)\b(?=[.( ;])"
    )
    package = Path(labelrank.__file__).parent
    found = {
        str(path.relative_to(package)): match.group()
        for path in package.rglob("*.py")
        if (match := pattern.search(path.read_text()))
    }
    assert not {path: word for path, word in found.items() if not path.startswith("testing/")}
