"""Checkpoints: a fit that was killed resumes, and a file of another fit is refused."""

import errno
import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from callbacks import Steps
from numpy.testing import assert_allclose, assert_array_equal

import labelrank
from labelrank import GradientBoostingRanker, GraphRanker, LabelCoveringClassifier, LogLinearRanker
from labelrank.datasets import load_iris_rankings

X, Y = load_iris_rankings(return_X_y=True)
TREES = {"max_iter": 12, "max_leaf_nodes": 4, "random_state": 0}
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


class KilledError(Exception):
    """Ends a fit in the midst of it."""


class Kill(Steps):
    """Ends a fit after some steps."""

    def __init__(self, after):
        super().__init__()
        self.after = after

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        super().on_fit_task_end(estimator, context, fitted_estimator=fitted_estimator)
        if len(self.names) == self.after:
            raise KilledError


def kill(model, after, y=Y):
    with pytest.raises(KilledError):
        model.set_callbacks(Kill(after)).fit(X, y)
    assert not hasattr(model, "labels_")


@pytest.mark.parametrize(
    ("make", "exact"),
    [
        (lambda **p: LogLinearRanker(solver="boosting", alpha=0.1, tol=0, max_iter=12, **p), True),
        (lambda **p: LogLinearRanker(tol=1e-7, alpha=0.1, **p), False),
        (lambda **p: GraphRanker("plackett_luce", tol=1e-7, alpha=0.1, **p), False),
        (lambda **p: GradientBoostingRanker(subsample=0.5, **TREES, **p), True),
        (lambda **p: GradientBoostingRanker(early_stopping=True, n_iter_no_change=2, tol=0.02, **TREES, **p), True),
    ],
    ids=["boosting", "lbfgs", "plackett_luce", "trees", "early_stopping"],
)
def test_a_fit_that_was_killed_resumes(tmp_path, make, exact):
    path = tmp_path / "fit.ckpt"
    whole = make().fit(X, Y)
    kill(make(checkpoint=(path, 2)), 5)
    steps = Steps()
    resumed = make(checkpoint=(path, 2)).set_callbacks(steps).fit(X, Y)
    assert len(steps.names) == resumed.n_iter_ - 4  # what was written after the fourth is not done again
    if exact:
        assert resumed.n_iter_ == whole.n_iter_
        assert_allclose(resumed.loss_curve_, whole.loss_curve_, rtol=1e-12)
        assert_array_equal(resumed.decision_function(X), whole.decision_function(X))
    else:
        assert_allclose(resumed.loss_curve_[:5], whole.loss_curve_[:5], rtol=1e-12)
        assert_allclose(resumed.decision_function(X), whole.decision_function(X), atol=1e-3)
    again = make(checkpoint=str(path)).set_callbacks(steps).fit(X, Y)  # it was finished
    assert not steps.names
    assert_allclose(again.decision_function(X), resumed.decision_function(X))
    assert again.n_iter_ == resumed.n_iter_
    assert os.listdir(tmp_path) == ["fit.ckpt"]


@pytest.mark.skipif(os.name == "nt", reason="needs a signal of POSIX")
def test_a_process_that_was_killed(tmp_path):
    code = f"""
        import os, signal
        from labelrank import LogLinearRanker
        from labelrank.datasets import load_iris_rankings

        class Kill:
            steps = 0
            def setup(self, estimator, context): pass
            def teardown(self, estimator, context): pass
            def on_fit_task_begin(self, estimator, context): pass
            def on_fit_task_end(self, estimator, context):
                self.steps += 1
                if self.steps == 8:
                    os.kill(os.getpid(), signal.SIGKILL)

        ranker = LogLinearRanker(solver="boosting", checkpoint=({str(tmp_path / "fit")!r}, 3))
        ranker.set_callbacks(Kill()).fit(*load_iris_rankings(return_X_y=True))
    """
    killed = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    steps = Steps()
    resumed = LogLinearRanker(solver="boosting", max_iter=9, checkpoint=tmp_path / "fit").set_callbacks(steps).fit(X, Y)
    assert len(steps.names) == 3
    assert_array_equal(resumed.coef_, LogLinearRanker(solver="boosting", max_iter=9).fit(X, Y).coef_)


def test_files_of_other_fits_are_refused(tmp_path):
    path = tmp_path / "fit.ckpt"
    other = Y[:, ::-1].copy()
    LogLinearRanker(max_iter=3, checkpoint=path).fit(X, Y)
    before = path.read_bytes()
    for make, y, why in [
        (lambda: LogLinearRanker(alpha=2, checkpoint=path), Y, "was written with alpha=1.0, but alpha is now 2"),
        (
            lambda: LogLinearRanker("zero_one", checkpoint=path),
            Y,
            "decomposition='domination', but decomposition is now",
        ),
        (lambda: LogLinearRanker(checkpoint=path), other, "the objective of its coefficients is .*, but was "),
        (lambda: LogLinearRanker(checkpoint=path), Y[:, :2], "its labels are"),
        (lambda: LogLinearRanker(max_iter=2, checkpoint=path), Y, "max_iter=2 is smaller than the 3 iterations of"),
        (lambda: GraphRanker(checkpoint=path), Y, "was written by LogLinearRanker, not by GraphRanker"),
        (lambda: GradientBoostingRanker(checkpoint=path), Y, "was written by LogLinearRanker"),
    ]:
        with pytest.raises(ValueError, match=f"not match this fit: it {why}|{why}.*pass another path as checkpoint"):
            make().fit(X, y)
        assert path.read_bytes() == before
    with pytest.raises(ValueError, match=r"coefficients have shape \(5, 3\), the data need \(3, 3\)"):
        LogLinearRanker(checkpoint=path).fit(X[:, :2], Y)
    trees = tmp_path / "trees.ckpt"
    GradientBoostingRanker(**TREES, checkpoint=trees).fit(X, Y)
    with pytest.raises(ValueError, match="the training loss of its trees is"):
        GradientBoostingRanker(**TREES, checkpoint=trees).fit(X, other)
    with pytest.raises(ValueError, match="max_iter=3 is smaller than the 12 iterations of the checkpoint"):
        GradientBoostingRanker(**TREES | {"max_iter": 3}, checkpoint=trees).fit(X, Y)
    wrong_end = bytearray(before)
    wrong_end[-5] ^= 0xFF  # the place of the directory of the archive
    for damaged in (b"", before[:100], bytes(wrong_end)):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="is not a checkpoint, or is damaged"):
            LogLinearRanker(checkpoint=path).fit(X, Y)


def test_a_full_disk_leaves_the_last_checkpoint(tmp_path, monkeypatch):
    path = tmp_path / "fit.ckpt"
    kill(LogLinearRanker(tol=0, max_iter=20, checkpoint=(path, 2)), 5)
    before = path.read_bytes()

    def savez(file, **_):
        file.write(b"some of it")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(np, "savez", savez)
    model = LogLinearRanker(tol=0, max_iter=20, checkpoint=(path, 2))
    with pytest.raises(OSError, match=r"^cannot save .*fit.ckpt: no space left on device$"):
        model.fit(X, Y)
    assert not hasattr(model, "coef_")
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["fit.ckpt"]


def test_places_and_parameters_are_checked_before_learning(tmp_path):
    for checkpoint, error, match in [
        (tmp_path / "no" / "fit", FileNotFoundError, "there is no folder"),
        (tmp_path, IsADirectoryError, "it is a folder"),
        (("fit", 0), ValueError, "a path and a number of iterations ≥ 1"),
        (("fit",), ValueError, "checkpoint must be a path"),
        (("fit", True), ValueError, "checkpoint must be a path"),
        (5, ValueError, "checkpoint must be a path"),
        ("", ValueError, "checkpoint must be a path"),
    ]:
        with pytest.raises(error, match=match):
            LogLinearRanker(checkpoint=checkpoint).fit(X, Y)
    LogLinearRanker(checkpoint=(tmp_path / "fit", np.int64(2))).fit(X, Y)
    with pytest.raises(ValueError, match="'soft_projection' cannot start from the coefficients of a checkpoint"):
        GraphRanker("soft_margin", solver="soft_projection", checkpoint=tmp_path / "fit").fit(X, Y)


def test_models_are_saved_without_the_path(tmp_path):
    model = LabelCoveringClassifier(checkpoint=tmp_path / "fit").fit(X, Y == 1)
    labelrank.save(model, tmp_path / "model.lrk")
    loaded = labelrank.load(tmp_path / "model.lrk")
    assert loaded.checkpoint is None
    assert_array_equal(loaded.predict(X), model.predict(X))
    assert model.checkpoint == tmp_path / "fit"
