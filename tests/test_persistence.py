"""Model files: what comes back, what is refused, and files that are damaged."""

import contextlib
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import labelrank
from labelrank import (
    ConformalRanker,
    ExtraTreesRanker,
    GraphRanker,
    KernelRidgeRanker,
    LogLinearRanker,
    PairwiseCalibrator,
    PairwiseRanker,
    all_rankers,
    inspect_file,
    load,
    save,
)
from labelrank.datasets import make_label_ranking
from labelrank.decompositions import domination

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
    "search": GridSearchCV(LogLinearRanker(), {"alpha": [0.1, 1.0]}, cv=2),
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


def own_function(X):
    return X


def test_functions_and_classes_of_others_are_refused(tmp_path):
    model = make_pipeline(FunctionTransformer(own_function), LogLinearRanker()).fit(X, Y)
    with pytest.raises(ValueError, match=r"may not contain: .*own_function"):
        save(model, tmp_path / "model.lrk")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["system", "popen"])
def test_a_file_that_would_run_code_is_refused(tmp_path, name):
    import hashlib

    import skops.io

    data = skops.io.dumps(make_pipeline(FunctionTransformer(getattr(os, name)), LogLinearRanker().fit(X, Y)))
    about = {"format": 1, "sha256": hashlib.sha256(data).hexdigest()}
    with zipfile.ZipFile(tmp_path / "model.lrk", "w") as archive:
        archive.writestr("labelrank.json", json.dumps(about))
        archive.writestr("model.skops", data)
    with pytest.raises(ValueError, match=rf"refused, since the file contains .*{name}"):
        load(tmp_path / "model.lrk")


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "model.lrk"
    save(LogLinearRanker().fit(X, RANKS), path)
    return path


def rewritten(path, **changes):
    """Change entries of labelrank.json."""
    with zipfile.ZipFile(path) as archive:
        about, data = json.loads(archive.read("labelrank.json")), archive.read("model.skops")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("labelrank.json", json.dumps(about | changes))
        archive.writestr("model.skops", data)


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
    with pytest.raises(ValueError, match="does not have the checksum"):
        load(saved)


def test_a_bomb_is_refused(saved):
    with zipfile.ZipFile(saved, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("labelrank.json", json.dumps({"format": 1}))
        archive.writestr("model.skops", bytes(10**7))
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
    with pytest.raises((TypeError, ValueError)):
        save(LogLinearRanker().fit(X, Y), saved, metrics={"tau": "good"})
    assert saved.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["model.lrk"]


def test_a_killed_save_leaves_the_old_file(saved):
    before = saved.read_bytes()
    code = (
        "import os, signal, sys, labelrank\n"
        "os.replace = lambda *args: os.kill(os.getpid(), signal.SIGKILL)\n"
        "model = labelrank.load(sys.argv[1])\n"
        "labelrank.save(model, sys.argv[1])\n"
    )
    source = Path(labelrank.__file__).parents[1]
    environment = os.environ | {"PYTHONPATH": str(source)}
    done = subprocess.run([sys.executable, "-c", code, str(saved)], env=environment, check=False)
    assert done.returncode == -9
    assert saved.read_bytes() == before
    assert (load(saved).predict(X) >= 1).all()
