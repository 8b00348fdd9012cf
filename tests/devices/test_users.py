"""What users do with learners on a device: odd data and weights, searches, copies and files."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from labelrank import (
    GraphRanker,
    KernelRidgeRanker,
    LabelCoveringClassifier,
    LogLinearRanker,
    PreferenceGraphs,
    RankRLS,
    load,
    save,
)

pytest.importorskip("torch")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = np.argsort(np.argsort(X + 0.1 * RNG.normal(size=X.shape), axis=1), axis=1) + 1.0

WITHOUT_TORCH = """
import pickle, sys
import numpy as np

class Missing:
    def find_spec(self, name, *_):
        if name == "torch":
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Missing())
import labelrank
models = labelrank.load("model.labelrank"), pickle.load(open("model.pickle", "rb"))
np.save("ranks.npy", [model.predict(np.load("X.npy")) for model in models])
"""


@pytest.mark.parametrize("solver", ["lbfgs", "boosting"])
@pytest.mark.parametrize("rows", [1, 40])
@pytest.mark.parametrize("n_labels", [1, 3])
@pytest.mark.parametrize("make", [np.array, sparse.csr_array, lambda X: sparse.csr_array(X * 0)])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore:.*without any observed pair")
def test_small_and_empty_data(device, solver, rows, n_labels, make):
    few, y = make(X[:rows]), Y[:rows, :n_labels].copy()
    y[rows // 2] = np.nan
    for model, target in [
        (GraphRanker(solver=solver, max_iter=5), y),
        (LabelCoveringClassifier(solver=solver, max_iter=5), y > 1),
    ]:
        expected, found = clone(model).fit(few, target), model.set_params(device=device).fit(few, target)
        np.testing.assert_allclose(found.coef_, expected.coef_, atol=0.05)


@pytest.mark.parametrize("factor", [1e-50, 1e-3, 1e40])
def test_weights_that_float32_has_no_room_for(device, factor):
    weight = factor * np.arange(40)
    models = [LogLinearRanker(alpha=factor, device=where).fit(X, Y, weight) for where in (None, device)]
    np.testing.assert_allclose(models[1].decision_function(X), models[0].decision_function(X), atol=0.05)


@pytest.mark.filterwarnings("error")
def test_features_that_float32_has_no_room_for(device):
    for large in (X * 1e60, sparse.csr_array(X * 1e60)):
        with pytest.raises(ValueError, match="scale the features"):
            LogLinearRanker(device=device).fit(large, Y)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("model", [LogLinearRanker(tol=1e-7), KernelRidgeRanker(), RankRLS()], ids=str)
def test_data_that_are_not_writable(device, model):
    """As they are in frames of pandas, and in the workers of a parallel search; PyTorch would warn."""
    dense, thin = X.copy(), sparse.csr_array(X)
    for part in (dense, thin.data, thin.indices, thin.indptr):
        part.flags.writeable = False
    model = clone(model).set_params(device=device)
    if isinstance(model, RankRLS):
        model.fit(dense, Y[:, 0], groups=None)
    else:
        model.fit(dense, Y)
    if isinstance(model, LogLinearRanker):
        model.fit(thin, Y)


@pytest.mark.parametrize("model", [LogLinearRanker(tol=1e-7), KernelRidgeRanker(), RankRLS()], ids=str)
def test_arrays_in_reverse(device, model):
    """Their strides are negative, which those of tensors cannot be."""
    found = clone(model).set_params(device=device)
    more = {"groups": None} if isinstance(model, RankRLS) else {}
    for rows in (X[::-1], X[:, ::-1]):
        y = Y[:, 0] if isinstance(model, RankRLS) else Y
        expected = model.fit(rows, y, **more).coef_
        np.testing.assert_allclose(found.fit(rows, y, **more).coef_, expected, atol=1e-4)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_the_default_type_of_tensors_does_not_matter(device, dtype):
    import torch

    battles = PreferenceGraphs.from_pairs(instance=np.arange(40), better=Y.argmin(axis=1), worse=Y.argmax(axis=1))
    before, found = torch.get_default_dtype(), []
    for default in (before, getattr(torch, dtype)):
        torch.set_default_dtype(default)
        try:
            found.append([LogLinearRanker(device=device).fit(sparse.csr_array(X), y).coef_ for y in (Y, battles)])
        finally:
            torch.set_default_dtype(before)
    np.testing.assert_allclose(found[1], found[0], rtol=1e-6)


def test_autocast_does_not_matter(device, tmp_path):
    import torch

    plain = LogLinearRanker(device=device, checkpoint=tmp_path / "saved").fit(X, Y)
    with torch.autocast(device, dtype=torch.bfloat16):
        found = LogLinearRanker(device=device).fit(X, Y)
        LogLinearRanker(device=device, checkpoint=tmp_path / "saved").fit(X, Y)  # resumes
    np.testing.assert_allclose(found.coef_, plain.coef_, rtol=1e-6)


def test_search_over_devices(device):
    search = GridSearchCV(LogLinearRanker(), {"alpha": [0.1, 1.0], "device": [None, device, "auto"]}, cv=2).fit(X, Y)
    assert not np.isnan(search.cv_results_["mean_test_score"]).any()
    scores = search.cv_results_["mean_test_score"].reshape(2, 3)
    np.testing.assert_allclose(scores, scores[:, :1].repeat(3, axis=1), atol=0.05)


def test_a_fitted_model_needs_no_torch(device, tmp_path):
    """Copied, pickled or in a file, it predicts where PyTorch is not installed."""
    model = LogLinearRanker(device=device).fit(X, Y)
    assert clone(model).get_params() == model.get_params()
    save(model, tmp_path / "model.labelrank")
    np.testing.assert_array_equal(load(tmp_path / "model.labelrank").predict(X), model.predict(X))
    (tmp_path / "model.pickle").write_bytes(pickle.dumps(model))
    np.save(tmp_path / "X.npy", X)
    subprocess.run([sys.executable, "-c", WITHOUT_TORCH], cwd=tmp_path, check=True)
    for ranks in np.load(tmp_path / "ranks.npy"):
        np.testing.assert_array_equal(ranks, model.predict(X))


def test_a_warm_start_may_change_the_device(device):
    model = LogLinearRanker(warm_start=True, max_iter=3)
    for where in (device, None, device):
        with pytest.warns(ConvergenceWarning):
            model.set_params(device=where, tol=0.0).fit(X, Y)
    assert model.n_iter_ == 9
    assert (np.diff(model.loss_curve_) < 1e-6).all()
