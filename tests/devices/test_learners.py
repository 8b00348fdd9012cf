"""Learners on a device find what they find without PyTorch."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from labelrank import GraphRanker, LabelCoveringClassifier, LogLinearRanker
from labelrank.losses import LogLinearLoss

torch = pytest.importorskip("torch")

from labelrank.torch import solvers  # noqa: E402


def boosted(model, X, y, weight=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.set_params(solver="boosting", max_iter=20, tol=0).fit(X, y, weight)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("cut", ["domination", "disagreement"])
def test_boosting_takes_the_same_steps(problem, device, cut, alpha):
    model, X = LogLinearRanker(cut, alpha=alpha), problem.X
    expected = boosted(model, X, problem.ranks, problem.weight)
    coef, curve = expected.coef_, expected.loss_curve_
    ranks = expected.predict(X)
    found = boosted(model.set_params(device=device), X, problem.ranks, problem.weight)
    assert isinstance(found.coef_, np.ndarray)
    np.testing.assert_allclose(found.coef_, coef, rtol=0, atol=1e-3 * abs(coef).max())
    np.testing.assert_allclose(found.loss_curve_, curve, rtol=1e-5)
    assert (found.predict(X) == ranks).mean() >= 0.999
    assert (-np.diff(found.loss_curve_) >= found.bound_curve_ * (1 - 1e-3)).all()


def test_boosting_with_smoothing(problem, device):
    coefs = [
        boosted(LabelCoveringClassifier(smoothing=0.1, alpha=0, device=where), problem.X, problem.sets).coef_
        for where in (None, device)
    ]
    np.testing.assert_allclose(coefs[1], coefs[0], rtol=0, atol=1e-3 * abs(coefs[0]).max())


@pytest.mark.parametrize(
    "model", [LogLinearRanker(tol=2e-5), GraphRanker(decomposition="zero_one", tol=2e-5), "covering"]
)
def test_lbfgs_finds_the_same_minimum(problem, device, model):
    y = problem.ranks
    if model == "covering":
        model, y = LabelCoveringClassifier("two_sets", tol=2e-5), problem.sets
    expected, found = (type(model)(**{**model.get_params(), "device": where}) for where in (None, device))
    expected.fit(problem.X, y, problem.weight)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        found.fit(problem.X, y, problem.weight)
    assert found.loss_curve_[-1] == pytest.approx(expected.loss_curve_[-1], rel=1e-5)
    assert found.gap_ <= found.tol
    assert (np.diff(found.loss_curve_) <= 1e-7).all()
    assert np.isnan(found.bound_curve_).all()
    assert (found.predict(problem.X) == expected.predict(problem.X)).mean() >= 0.99


@pytest.mark.parametrize("cut", ["zero_one", "disagreement", "domination", "levels"])
def test_lbfgs_ends_in_float64(device, cut, few):
    """Where float32 numbers are too coarse for `tol`; rankings are then those that are found without PyTorch."""
    expected, found = (LogLinearRanker(cut, tol=1e-8, device=where, on_empty="ignore") for where in (None, device))
    for model in (expected, found):
        model.fit(few.X, few.ranks, few.weight)
    assert found.gap_ <= 1e-8
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-5)
    np.testing.assert_array_equal(found.predict(few.X), expected.predict(few.X))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_lbfgs_of_large_features(few, device):
    """Float32 scores are too coarse for their gradients: float64 ones follow."""
    expected, found = (LogLinearRanker(device=where, on_empty="ignore") for where in (None, device))
    for model in (expected, found):
        model.fit(few.X * 1e5, few.ranks)
    assert found.n_iter_ < expected.n_iter_ + 30
    assert found.loss_curve_[-1] == pytest.approx(expected.loss_curve_[-1], rel=1e-6)


def test_a_search_that_fails_is_not_convergence(device, few, monkeypatch):
    """The rule is that without PyTorch: a gap that is worth a warning gets one."""
    original = solvers._search
    monkeypatch.setattr(solvers, "_search", lambda *a: None if a[-1] == torch.float64 else original(*a))
    model = LogLinearRanker(tol=1e-8, device=device, on_empty="ignore")
    with pytest.warns(ConvergenceWarning, match="rounding errors prevent"):
        model.fit(few.X, few.ranks, few.weight)
    assert 1e-6 < model.gap_ <= 1e-5


def test_warm_start_continues(problem, device):
    model = LogLinearRanker(solver="boosting", max_iter=5, warm_start=True, device=device)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for _ in range(2):
            model.fit(problem.X, problem.ranks)
        whole = LogLinearRanker(solver="boosting", max_iter=10).fit(problem.X, problem.ranks)
    np.testing.assert_allclose(model.coef_, whole.coef_, rtol=0, atol=1e-3 * abs(whole.coef_).max())
    assert model.n_iter_ == 10


@pytest.mark.parametrize("is_due", [False, True])
def test_coefficients_come_back_for_checkpoints_that_are_due(device, few, tmp_path, monkeypatch, is_due):
    def counted(tensor):
        copies.extend([tensor] * (tensor.shape == (21, 5)))
        return original(tensor)

    copies, original = [], torch.Tensor.cpu
    monkeypatch.setattr(torch.Tensor, "cpu", counted)
    checkpoint = (tmp_path / "saved", 1 if is_due else 100)
    model = LogLinearRanker(max_iter=8, tol=0, checkpoint=checkpoint, device=device, on_empty="ignore")
    with pytest.warns(ConvergenceWarning):
        model.fit(few.X, few.ranks)
    assert len(copies) == 1 + 8 * is_due


def test_checkpoints(problem, device, tmp_path):
    model = LogLinearRanker(solver="boosting", checkpoint=(tmp_path / "saved", 5), device=device)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for max_iter in (5, 10):
            model.set_params(max_iter=max_iter).fit(problem.X, problem.ranks)
        whole = LogLinearRanker(solver="boosting", max_iter=10).fit(problem.X, problem.ranks)
    assert model.n_iter_ == 10
    np.testing.assert_allclose(model.coef_, whole.coef_, rtol=0, atol=1e-3 * abs(whole.coef_).max())


@pytest.mark.parametrize("solver", ["boosting", "lbfgs"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_checkpoints_and_warm_starts_on_another_device(problem, device, solver, tmp_path):
    """The objective is the same up to the rounding of float32, in which a fit on a device begins."""
    model = LogLinearRanker(solver=solver, tol=1e-9, checkpoint=tmp_path / "saved")
    warm = LogLinearRanker(solver=solver, tol=1e-9, warm_start=True)
    for more, where in ((25, device), (2, None), (2, device), (2, device)):
        max_iter = getattr(warm, "n_iter_", 0) + more
        model.set_params(max_iter=max_iter, device=where).fit(problem.X, problem.ranks)
        warm.set_params(max_iter=more, device=where).fit(problem.X, problem.ranks)
        assert model.n_iter_ == warm.n_iter_ == max_iter


def test_what_has_no_version_is_an_error(device):
    X, y = np.eye(3), [[1, 2], [2, 1], [1, 2]]
    for model, words in [
        (GraphRanker("plackett_luce", device=device), "the loss 'plackett_luce'"),
        (GraphRanker("squared", solver="least_squares", device=device), "the loss 'squared'"),
        (GraphRanker(type("Mine", (LogLinearLoss,), {}), device=device), r"\(Mine\), only LogLinearLoss"),
        (
            LabelCoveringClassifier(solver="boosting", templates="sequential", alpha=0, device=device),
            "sequential boosting",
        ),
        (LabelCoveringClassifier(solver="boosting", templates=np.eye(4) / 4, alpha=0, device=device), "templates"),
    ]:
        with pytest.raises(ValueError, match=words):
            model.fit(X, [[1, 0], [0, 1], [1, 1]] if isinstance(model, LabelCoveringClassifier) else y)


def test_auto_falls_back(device):
    """What has no version for a device is learned without one."""
    X, y = np.eye(3), [[1, 2], [2, 1], [1, 2]]
    coefs = [GraphRanker("plackett_luce", device=where).fit(X, y).coef_ for where in (None, "auto")]
    np.testing.assert_array_equal(*coefs)
