"""What every solver shares: warnings, and the check that a loss can do what a solver needs."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from labelrank import GraphRanker, as_graphs
from labelrank.losses import PlackettLuceLoss
from labelrank.models import LinearModel, Objective
from labelrank.solvers import Boosting, State, Stop, get_solver


def test_silent_when_converged():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        State(np.zeros(2), [3.0, 1.0], converged=True).warn("Solver", Stop(5, 1e-4))


def test_says_how_far_it_got():
    state = State(np.zeros(2), [3.0, 2.0, 1.0], gap=0.01234)
    assert state.n_iter == 2
    with pytest.warns(ConvergenceWarning) as caught:
        state.warn("Ranker(solver='boosting')", Stop(2, 1e-4))
    message = str(caught[0].message)
    assert message.startswith("Ranker(solver='boosting') did not converge: after max_iter=2 iterations")
    assert "the gap is 0.012, tol=0.0001" in message
    assert "increase max_iter" in message


def test_says_that_it_was_interrupted_and_how_to_go_on():
    state = State(np.zeros(2), [3.0, 2.0], interrupted=True)
    with pytest.warns(UserWarning, match="interrupted after 1 iterations") as caught:
        state.warn("Ranker", Stop(5, 1e-4))
    assert len(caught) == 1
    assert caught[0].category is UserWarning  # not a matter of convergence
    assert "warm_start=True" in str(caught[0].message)


def test_says_why_it_stopped_early():
    state = State(np.zeros(2), [3.0, 2.0], gap=0.5, message="ABNORMAL")
    with pytest.warns(ConvergenceWarning, match=r"after 1 iterations \(ABNORMAL\)"):
        state.warn("Ranker", Stop(50, 1e-4))


def test_says_what_could_not_move():
    state = State(np.zeros(2), [3.0], gap=0.5, converged=True, remark="left 2 coefficients in place")
    with pytest.warns(ConvergenceWarning, match="Ranker left 2 coefficients in place"):
        state.warn("Ranker", Stop(5, 1e-4))


def test_a_loss_must_have_what_a_solver_needs():
    """The error names the loss, the solver, and the solvers that would do."""
    message = (
        "solver 'boosting' needs a loss with flows, but the loss 'plackett_luce' has curvature; use solver='lbfgs'"
    )
    y = [[1, 2], [2, 1]]
    with pytest.raises(ValueError, match=message):
        GraphRanker("plackett_luce", solver="boosting").fit([[0.0], [1.0]], y)
    objective = Objective(LinearModel(np.zeros((2, 1)), 2), PlackettLuceLoss(as_graphs(y)))
    with pytest.raises(ValueError, match=message):
        Boosting().solve(objective, np.zeros((2, 2)), Stop(5, 1e-4))


def test_names_of_solvers():
    assert get_solver("lbfgs").name == "lbfgs"
    boosting = Boosting(0.1)
    assert get_solver(boosting) is boosting
    with pytest.raises(ValueError, match="solver 'newton' is not known; choose one of"):
        get_solver("newton")
