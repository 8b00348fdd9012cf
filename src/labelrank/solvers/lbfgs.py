"""L-BFGS of SciPy on any smooth objective, with features scaled to have the same curvature."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.optimize import minimize

from labelrank._arrays import FloatArray, largest
from labelrank.models.base import Objective
from labelrank.solvers.base import Run, Solver

_SETTLED = 1e-8
TINY_GAP = 1e-6  # too small to be worth a warning where the loss no longer moves


class LBFGS(Solver):
    """SciPy's L-BFGS, with the gradient of the mean loss as the gap.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import as_graphs
    >>> from labelrank.losses import LogLinearLoss
    >>> from labelrank.models import LinearModel, Objective
    >>> from labelrank.solvers import LBFGS, Stop
    >>> model = LinearModel(np.array([[1.0], [-1.0]]), 2, fit_intercept=False)
    >>> objective = Objective(model, LogLinearLoss(as_graphs([[1, 2], [2, 1]])), alpha=1.0)
    >>> LBFGS().solve(objective, np.zeros((1, 2)), Stop(max_iter=50, tol=1e-6)).coef.round(3)
    array([[ 0.521, -0.521]])
    """

    name: ClassVar[str] = "lbfgs"
    needs: ClassVar[frozenset[str]] = frozenset({"smoothness"})

    def _minimize(self, objective: Objective, run: Run) -> None:
        scale = objective.total_weight  # the mean loss: steps and tolerance do not depend on the number of rows
        state, shape = run.state, objective.coef_shape
        start = np.array(state.coef, dtype=np.float64)
        value, gradient = objective.value_and_gradient(start)
        if run.step(start, value, largest(gradient) / scale):
            return
        unit = objective.widths.reshape((-1,) + (1,) * (len(shape) - 1))
        at_start = [(value, gradient)]
        gaps = [0.0]  # gap of the last evaluation, which is the point that a line search accepts

        def scaled(flat: FloatArray) -> tuple[float, FloatArray]:
            value, gradient = at_start.pop() if at_start else objective.value_and_gradient(flat.reshape(shape) / unit)
            gaps[0] = largest(gradient) / scale
            gradient /= unit * scale
            return value / scale, gradient.ravel()

        def after_iteration(intermediate_result: Any) -> None:
            coef = intermediate_result.x.reshape(shape) / unit
            if run.step(coef, float(intermediate_result.fun) * scale, gaps[0]):
                raise StopIteration

        options: Any = {
            "maxiter": run.stop.max_iter,
            "maxfun": 20 * run.stop.max_iter,
            "gtol": 0.0,  # for the scaled coordinates; run.step compares the gap of the original ones
            "ftol": 64 * np.finfo(np.float64).eps,
            "maxls": 50,
        }
        start = (start * unit).ravel()
        result = minimize(scaled, start, jac=True, method="L-BFGS-B", callback=after_iteration, options=options)
        if not state.converged:
            state.coef = result.x.reshape(shape) / unit
            state.message = str(result.message)
            state.gap = largest(result.jac.reshape(shape) * unit)
            # tol may be smaller than rounding allows. If the loss no longer decreases, and both the gap and the squared
            # scaled gradient, an estimate of the decrease that is left, are tiny, a warning would not help.
            settled = bool(result.success) and float(result.jac @ result.jac) <= _SETTLED * abs(result.fun)
            state.converged = state.gap <= run.stop.tol or (settled and (run.stop.tol == 0 or state.gap <= TINY_GAP))
