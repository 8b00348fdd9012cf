"""How it is minimised: free functions on an objective, each with a small state that it returns."""

from labelrank.solvers.boosting import boost
from labelrank.solvers.lbfgs import lbfgs
from labelrank.solvers.sequential import boost_sequentially
from labelrank.solvers.state import SolverState

__all__ = ["SolverState", "boost", "boost_sequentially", "lbfgs"]
