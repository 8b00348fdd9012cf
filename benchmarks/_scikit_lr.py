"""scikit-lr 0.3.0 as a rival in benchmarks, in a separate process: it needs another environment than this library.

The environment variable ``LABELRANK_SCIKIT_LR_PYTHON`` names an interpreter in which ``scikit-lr`` is installed;
without it `run` returns None and says how to set it up. The same file is what that interpreter runs: it reads the data
from an ``.npz`` file, fits and predicts, and prints one line of JSON.

    from _scikit_lr import run
    found = run("tree", X_train, y_train, X_test, y_test, {"min_samples_split": 8})
    found["fit"], found["predict"]  # CPU seconds of one thread, the smallest of `repeat` runs
    found["tau"], found["predicted"]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

VARIABLE = "LABELRANK_SCIKIT_LR_PYTHON"
MODELS = ("neighbors", "tree", "search")
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def available():
    """Whether the rival can be run; print what is missing otherwise."""
    if os.environ.get(VARIABLE):
        return True
    print(f"scikit-lr is not compared: set {VARIABLE} to a Python 3.13 with `pip install scikit-lr==0.3.0`")
    return False


def run(model, X_train, y_train, X_test, y_test, params=None, repeat=3):
    """Fit and predict with scikit-lr.

    `model` is "neighbors" (KNeighborsLabelRanker), "tree" (DecisionTreeLabelRanker) or "search" (scikit-learn's bare
    NearestNeighbors in the same process). `y_train` are ranks without ties, NaN is not observed. Returns a dict with
    "fit" and "predict" (CPU seconds, the smallest of `repeat`), "tau" (mean Kendall tau over the observed pairs of
    `y_test`), "predicted" (ranks) and "version"; None if the rival is not available.
    """
    if model not in MODELS:
        raise ValueError(f"model must be one of {MODELS}, got {model!r}")
    if not available():
        return None
    with tempfile.TemporaryDirectory() as folder:
        data, predicted = Path(folder, "data.npz"), Path(folder, "predicted.npy")
        np.savez(data, X_train=X_train, y_train=_dense(y_train), X_test=X_test, y_test=y_test)
        options = [json.dumps(params or {}), str(repeat)]
        command = [os.environ[VARIABLE], __file__, model, str(data), str(predicted), *options]
        done = subprocess.run(command, env=os.environ | ONE_THREAD, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"scikit-lr failed:\n{done.stderr}")
        found = json.loads(done.stdout.splitlines()[-1])
        if predicted.exists():
            found["predicted"] = np.load(predicted)
    return found


def _dense(ranks):
    """Ranks 1, 2, ... of the observed labels of each row, as scikit-lr requires."""
    ranks = np.asarray(ranks, dtype=np.float64)
    position = 1.0 + np.sum(ranks[:, None, :] < ranks[:, :, None], axis=2)
    return np.where(np.isnan(ranks), np.nan, position)


# ---------------------------------------------------------------------------------------------------------------
# Run by the other interpreter: nothing of labelrank is imported from here on.
# ---------------------------------------------------------------------------------------------------------------


def _estimator(model, params):
    if model == "search":
        from sklearn.neighbors import NearestNeighbors

        return NearestNeighbors(**params)
    if model == "neighbors":
        from sklr.neighbors import KNeighborsLabelRanker

        return KNeighborsLabelRanker(**params)
    from sklr.tree import DecisionTreeLabelRanker

    return DecisionTreeLabelRanker(**params)


def _tau(observed, predicted):
    """Mean over the rows of the Kendall tau over the observed pairs."""
    signs = np.sign(observed[:, :, None] - observed[:, None, :])
    known = np.isfinite(signs) & (signs != 0)
    agreement = np.where(known, signs, 0) * np.sign(predicted[:, :, None] - predicted[:, None, :])
    pairs = known.sum(axis=(1, 2))
    return float(np.mean(agreement.sum(axis=(1, 2))[pairs > 0] / pairs[pairs > 0]))


def _cpu_seconds(function):
    start = time.process_time()
    found = function()
    return time.process_time() - start, found


def _main(model, data, predicted_file, params, repeat):
    import warnings

    warnings.simplefilter("ignore")
    with np.load(data) as arrays:
        X_train, y_train, X_test, y_test = (arrays[name] for name in ("X_train", "y_train", "X_test", "y_test"))
    estimator = _estimator(model, json.loads(params))
    fits, predicts = [], []
    ask = estimator.kneighbors if model == "search" else estimator.predict
    for _ in range(int(repeat)):
        fits.append(_cpu_seconds(lambda: estimator.fit(X_train, y_train))[0])
        seconds, predicted = _cpu_seconds(lambda: ask(X_test))
        predicts.append(seconds)
    found = {"fit": min(fits), "predict": min(predicts)}
    if model != "search":
        import sklr

        found["tau"] = _tau(y_test, predicted)
        found["version"] = sklr.__version__
        np.save(predicted_file, predicted.astype(np.float64))
    print(json.dumps(found))


if __name__ == "__main__":
    _main(*sys.argv[1:])
