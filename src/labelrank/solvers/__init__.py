"""How it is minimised: free functions on an objective, each with a small state that it returns."""

from labelrank.solvers.boosting.parallel import boost
from labelrank.solvers.boosting.sequential import boost_sequentially
from labelrank.solvers.lbfgs import lbfgs
from labelrank.solvers.state import SolverState

__all__ = ["SolverState", "boost", "boost_sequentially", "lbfgs"]
