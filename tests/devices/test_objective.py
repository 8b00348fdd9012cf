"""Objectives on a device have the values, gradients and weights of those without PyTorch."""

import weakref

import numpy as np
import pytest
from scipy import sparse

from labelrank import PreferenceGraphs, as_graphs
from labelrank.decompositions import FunctionCovering, weighted_positive
from labelrank.losses import CoveringLoss, LogLinearLoss
from labelrank.models import LinearModel, Objective

torch = pytest.importorskip("torch")

from labelrank.torch import as_numpy  # noqa: E402
from labelrank.torch import objective as objectives  # noqa: E402
from labelrank.torch.objective import TorchObjective  # noqa: E402

CUTS = ["zero_one", "disagreement", "domination", "dominated", "levels"]
COVERINGS = ["zero_one", "hamming", "two_sets", weighted_positive(6), FunctionCovering(lambda _: [(0, 1, 2), range(7)])]


def check(model, loss, device, alpha=0.5, accuracy=1e-6, of_value=1e-6):
    objective = Objective(model, loss, alpha=alpha)
    other = TorchObjective(objective, torch.device(device))
    coef = np.random.default_rng(1).normal(size=objective.coef_shape)
    value, gradient = objective.value_and_gradient(coef)
    found, slope = other.value_and_gradient(other.asarray(coef))
    assert found == pytest.approx(value, rel=of_value)
    _, *weights = objective.value_and_weights(coef)
    found, *others = other.value_and_weights(other.asarray(coef))
    assert found == pytest.approx(value, rel=of_value)
    largest = max(w.max() for w in weights)
    np.testing.assert_allclose(as_numpy(slope), gradient, rtol=0, atol=accuracy * largest)
    for mine, theirs in zip(weights, others, strict=True):
        np.testing.assert_allclose(as_numpy(theirs), mine, rtol=0, atol=accuracy * largest)
        assert np.array_equal(as_numpy(theirs) > 0, mine > 0) or accuracy > 1e-5
    assert other.largest_change == pytest.approx(objective.largest_change, rel=1e-5)
    np.testing.assert_allclose(other.widths, objective.widths, rtol=1e-5)


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("levels", [2, 3, 7])
def test_layered_graphs(problem, device, cut, levels):
    graphs = as_graphs(np.minimum(problem.ranks, levels))
    model = LinearModel(problem.X, 7)
    check(model, LogLinearLoss(graphs, cut, problem.weight), device)


@pytest.mark.parametrize("covering", COVERINGS)
def test_coverings(problem, device, covering):
    graphs = PreferenceGraphs.from_multilabel(problem.sets)
    model = LinearModel(problem.X, 7, fit_intercept=False)
    check(model, CoveringLoss(graphs, covering, problem.weight), device)


@pytest.mark.parametrize("cut", CUTS[:4])
def test_battles(device, cut):
    rng = np.random.default_rng(0)
    battles = [(0, 0, 1), (0, 1, 2), (0, 2, 0), (2, 3, 1), (3, 0, 3), (3, 0, 1), (3, 0, 2), (4, 2, 0), (4, 1, 0)]
    graphs = PreferenceGraphs.from_pairs(*zip(*battles, strict=True), rng.random(9), n_instances=20, n_labels=4)
    loss = LogLinearLoss(graphs, cut, rng.random(20))
    check(LinearModel(rng.normal(size=(20, 3)), 4), loss, device)


def test_scores_far_apart(device):
    """No exponential of a difference of 1,000 is taken."""
    loss = LogLinearLoss(as_graphs([[1, 2, 3], [3, 2, 1]]), "domination")
    objective = Objective(LinearModel(np.array([[1.0], [1.0]]), 3, fit_intercept=False), loss)
    other = TorchObjective(objective, torch.device(device))
    coef = np.array([[0.0, 1000.0, -1000.0]])
    assert other.value_and_gradient(other.asarray(coef))[0] == pytest.approx(objective.value_and_gradient(coef)[0])


def test_small_losses_of_edges(device):
    """Float32 has no digits left for 1 + x if x is small, but for x it has."""
    loss = LogLinearLoss(PreferenceGraphs.from_pairs([0, 0], [0, 1], [1, 2], n_labels=3))
    objective = Objective(LinearModel(np.ones((1, 1)), 3, fit_intercept=False), loss)
    other = TorchObjective(objective, torch.device(device))
    coef = np.array([[24.0, 12.0, 0.0]])
    assert other.value_and_gradient(other.asarray(coef))[0] == pytest.approx(objective.value_and_gradient(coef)[0])


def test_large_scores_in_float64(device):
    """The loss of a large difference is not just the difference; a search along a line would see the step."""
    for k, loss in [
        (2, LogLinearLoss(as_graphs([[1, 2]]))),
        (1, CoveringLoss(PreferenceGraphs.from_multilabel([[1]]))),
    ]:
        objective = Objective(LinearModel(np.ones((1, 1)), k, fit_intercept=False), loss)
        other = TorchObjective(objective, torch.device(device), torch.float64)
        for score in (19.0, 21.0, 30.0):
            coef = np.array([[-score, 0.0]])[:, :k]
            expected = np.logaddexp(0, score)
            assert abs(other.value_and_gradient(other.asarray(coef))[0] - expected) < 1e-14


def test_more_levels_than_16_bits_hold(device):
    ranks = np.random.default_rng(0).permutation(40_000)[np.newaxis] + 1.0
    loss = LogLinearLoss(as_graphs(ranks))
    check(LinearModel(np.ones((1, 1)), 40_000, fit_intercept=False), loss, device)


@pytest.mark.parametrize("free", [0.0, 1e5, np.inf])
def test_data_in_parts(problem, device, monkeypatch, free):
    """Data that do not fit are sent in parts; a system may not say what is free."""
    loss = LogLinearLoss(as_graphs(problem.ranks), "domination", problem.weight)
    monkeypatch.setattr("labelrank.torch.objective.free_memory", lambda device: free)
    check(LinearModel(problem.X, 7), loss, device)


def test_more_nonzeros_than_pytorch_sorts(few, device, monkeypatch):
    monkeypatch.setattr("labelrank.torch.objective.NONZEROS", 100)
    model, loss = LinearModel(few.X, 5), LogLinearLoss(as_graphs(few.ranks))
    other = TorchObjective(Objective(model, loss), torch.device(device))
    assert len(other.slices) == (-(-few.X.nnz // 100) if model.is_sparse else 1)
    check(model, loss, device)


@pytest.mark.parametrize("rows", [3, 2000])
def test_the_largest_change_of_rows_with_many_entries(device, rows):
    """A bound: float32 sums would round it."""
    X = sparse.csr_array(np.full((2, rows), 0.1, dtype=np.float32).astype(np.float64))
    objective = Objective(LinearModel(X, 2, fit_intercept=False), LogLinearLoss(as_graphs([[1, 2], [2, 1]])))
    other = TorchObjective(objective, torch.device(device))
    assert other.largest_change == pytest.approx(objective.largest_change, rel=1e-12)


@pytest.mark.parametrize("where", ["matrix_on", "_flows"])
def test_parts_that_do_not_fit_are_cut(problem, device, monkeypatch, where):
    """What was free when the parts were made is an estimate."""
    rows = []

    def guarded(X, *arguments):
        n = X.shape[0] if where == "matrix_on" else X.matrix.scores(*empty).shape[0]
        if n > 50:
            raise torch.OutOfMemoryError("no memory")
        rows.append(n)
        return original(X, *arguments)

    original = getattr(objectives, where)
    empty = torch.zeros((90, 1), device=device), torch.zeros(1, device=device)
    monkeypatch.setattr(objectives, where, guarded)
    loss = LogLinearLoss(as_graphs(problem.ranks), "disagreement", problem.weight)
    check(LinearModel(problem.X, 7), loss, device)
    assert max(rows) <= 50


def test_one_part_at_a_time(few, device, monkeypatch):
    """Where all parts together need more than is free, each is made in every evaluation, after the last one is gone."""
    alive = weakref.WeakKeyDictionary()

    def guarded(X, *arguments):
        if sum(alive.values()) + X.shape[0] > 30:
            raise torch.OutOfMemoryError("no memory")
        made = original(X, *arguments)
        alive[made] = X.shape[0]
        return made

    original = objectives.matrix_on
    monkeypatch.setattr(objectives, "matrix_on", guarded)
    model, loss = LinearModel(few.X, 5), LogLinearLoss(as_graphs(few.ranks))
    other = TorchObjective(Objective(model, loss), torch.device(device))
    assert len(other.slices) == 4
    check(model, loss, device)
    other.value_and_weights(other.asarray(np.zeros(other.coef_shape)))
    assert other.largest_change > 0
    assert len(other.slices) == 4


def test_parts_stay_where_there_is_room(few, device, monkeypatch):
    made = []

    def counted(X, *arguments):
        made.append(X.shape[0])
        return original(X, *arguments)

    original = objectives.matrix_on
    monkeypatch.setattr(objectives, "matrix_on", counted)
    monkeypatch.setattr(objectives, "NONZEROS", 100)
    objective = Objective(LinearModel(few.X, 5), LogLinearLoss(as_graphs(few.ranks)))
    other = TorchObjective(objective, torch.device(device))
    for _ in range(3):
        other.value_and_gradient(other.asarray(np.zeros(other.coef_shape)))
    assert sum(made) == 100


def test_dense_data_are_not_copied_as_a_whole(device, monkeypatch):
    """Data that just fit would be sent again in every iteration if a copy of them did not."""
    monkeypatch.setattr("labelrank.torch.matrix.BLOCK", 100)
    X = np.random.default_rng(0).normal(size=(60, 20))
    loss = LogLinearLoss(as_graphs(np.tile([1.0, 2.0], (60, 1))))
    objective = Objective(LinearModel(X, 2), loss)
    other = TorchObjective(objective, torch.device(device), torch.float64)
    for name in ("to", "abs", "square", "__pow__", "clamp"):
        original = getattr(torch.Tensor, name)

        def guarded(self, *arguments, _original=original, **named):
            assert self.numel() <= 200
            return _original(self, *arguments, **named)

        monkeypatch.setattr(torch.Tensor, name, guarded)
    np.testing.assert_allclose(other.root_mean_square(), objective.root_mean_square())
    assert other.largest_change == pytest.approx(objective.largest_change)
    coef = np.zeros(objective.coef_shape)
    found, expected = other.value_and_weights(other.asarray(coef)), objective.value_and_weights(coef)
    for mine, theirs in zip(found[1:], expected[1:], strict=True):
        np.testing.assert_allclose(as_numpy(mine), theirs)


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("levels", [2, 4])
def test_sixteen_bits(few, device, levels):
    """Large sparse data have flows in 16 bits: weights are right to 1e-3 of the largest."""
    loss = LogLinearLoss(as_graphs(np.minimum(few.ranks, levels)), "domination", few.weight)
    check(LinearModel(few.X, 5), loss, device, accuracy=1e-3, of_value=2e-5)


def losses_of_many_kinds(device, sizes):
    """Some rows of each with scores, and whether one array has both flows."""
    rng = np.random.default_rng(0)
    for n in sizes:
        scores = torch.as_tensor(rng.normal(size=(n, 6)), dtype=torch.float32, device=device)
        ranks = rng.random((n, 6)).argsort(axis=1) + 1.0
        sets = PreferenceGraphs.from_multilabel(ranks < 3)
        losses = [CoveringLoss(sets, covering) for covering in COVERINGS[:3]]
        losses += [LogLinearLoss(as_graphs(np.minimum(ranks, levels)), cut) for levels in (2, 6) for cut in CUTS[:3]]
        for loss in losses:
            yield objectives.row_loss(loss, slice(0, n), torch.device(device)), scores, torch.tensor(1.0).to(device)


def test_many_losses_are_compiled(device, monkeypatch):
    """More of them than the number after which PyTorch stops compiling a function by default."""
    runs = []

    def backend(graph, _):
        def run(*arguments):
            runs.append(graph)
            return graph(*arguments)

        return run

    compiled = torch.compile(objectives._evaluate, backend=backend)
    monkeypatch.setattr(objectives, "_compiler", lambda: compiled)
    for n, (loss, scores, scale) in enumerate(losses_of_many_kinds(device, [20, 30]), 1):
        found = objectives._compiled(loss, scores, scale, False, False)
        for mine, plain in zip(found, objectives._evaluate(loss, scores, scale, False, False), strict=True):
            torch.testing.assert_close(mine, plain)
        assert len(runs) == n


def test_losses_that_cannot_be_compiled(device, monkeypatch):
    """They are evaluated all the same, with one warning and not with another attempt in every iteration."""

    def fail(*arguments):
        raise RuntimeError("no compiler")

    loss, scores, scale = next(losses_of_many_kinds(device, [20]))
    monkeypatch.setattr(objectives, "_compiler", lambda: fail)
    monkeypatch.setattr(type(loss), "compiles", True)
    with pytest.warns(UserWarning, match=r"cannot compile SetLoss \(no compiler\)"):
        value, *_ = objectives._compiled(loss, scores, scale, False, True)
    assert value == objectives._evaluate(loss, scores, scale, False, True)[0]
    assert not loss.compiles
