"""What a solver says when it did not get where it should."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from labelrank.solvers import SolverState


def test_silent_when_converged():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SolverState(np.zeros(2), [3.0, 1.0], converged=True).warn("Solver", 5, 1e-4)


def test_says_how_far_it_got():
    state = SolverState(np.zeros(2), [3.0, 2.0, 1.0], gap=0.01234)
    assert state.n_iter == 2
    with pytest.warns(ConvergenceWarning) as caught:
        state.warn("Ranker(solver='boosting')", 2, 1e-4)
    message = str(caught[0].message)
    assert message.startswith("Ranker(solver='boosting') stopped after max_iter=2 iterations")
    assert "0.012 as the largest entry of the gradient of the mean loss, tol=0.0001" in message
    assert "increase max_iter" in message


def test_says_that_it_was_interrupted_and_how_to_go_on():
    state = SolverState(np.zeros(2), [3.0, 2.0], interrupted=True)
    with pytest.warns(UserWarning, match="interrupted after 1 iterations") as caught:
        state.warn("Ranker", 5, 1e-4)
    assert len(caught) == 1
    assert caught[0].category is UserWarning  # not a matter of convergence
    assert "warm_start=True" in str(caught[0].message)


def test_says_why_it_stopped_early():
    state = SolverState(np.zeros(2), [3.0, 2.0], gap=0.5, message="ABNORMAL")
    with pytest.warns(ConvergenceWarning, match=r"stopped after 1 iterations \(ABNORMAL\)"):
        state.warn("Ranker", 50, 1e-4)


def test_says_what_could_not_move():
    state = SolverState(np.zeros(2), [3.0], gap=0.5, converged=True, left_in_place=2)
    with pytest.warns(ConvergenceWarning, match="left 2 coefficients in place.*smoothing > 0"):
        state.warn("Ranker", 5, 1e-4)
