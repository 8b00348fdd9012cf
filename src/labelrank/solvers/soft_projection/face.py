"""Conjugate gradients on the face of the duals: the end of the way, where single projections make small steps.

Near the optimum most duals stay at zero or at their bound, and the others solve a linear system. Projections solve it
one subgraph at a time, in ever smaller steps; conjugate gradients need no more steps than there are coefficients. Only
instances whose duals can move take part.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from labelrank.losses.soft_margin import SoftMarginLoss

FloatArray = npt.NDArray[np.float64]

_LEAST = 5  # steps
_MEMORY = 2**24  # numbers, in vectors of one for each dual and each score that take part


def climb_face(
    model: Any, loss: SoftMarginLoss, duals: npt.NDArray[Any], bound: FloatArray, budget: float, overhead: float
) -> tuple[float, float]:
    """Increase the dual objective by moving duals along their face; model and duals are changed in place.

    Parameters
    ----------
    model : ScoreModel
        The model of the duals.
    loss : SoftMarginLoss
        The loss.
    duals : ndarray of shape (loss.n_duals,)
        Feasible duals.
    bound : ndarray of shape (n_subgraphs,)
        Largest sum of each subgraph.
    budget : float
        Number of rows to multiply with, about. With too many rows for a few steps, or for the memory, nothing is
        done.
    overhead : float
        What each step costs besides, in rows.

    Returns
    -------
    gain, cost : float
        By how much the dual objective is larger, and its cost in rows.
    """
    from labelrank._kernels.solvers.soft_projection import face as kernels

    n_rows, n_subgraphs, n_duals = kernels.size_of_face(duals, bound, loss.structure)
    each = n_rows + overhead
    if not n_rows or _LEAST * each > budget or 9 * n_duals + 4 * n_rows * loss.shape[1] > _MEMORY:
        return 0.0, 0.0
    rows, where = np.empty(n_rows, dtype=np.intp), np.empty(n_duals, dtype=np.intp)
    face = (
        np.empty(n_subgraphs + 1, dtype=np.intp),
        np.empty(n_subgraphs, dtype=np.intp),
        np.empty(n_subgraphs),
        np.empty(n_duals, dtype=np.intp),
        np.empty(n_duals),
    )
    kernels.collect_face(duals, bound, loss.shape[1], rows, where, face, loss.structure)
    before = duals[where].astype(np.float64)
    x = before.copy()
    part = model.part(rows)
    scores = np.ascontiguousarray(part.scores())
    f = scores.reshape(-1)
    held = np.empty_like(scores)
    gradient, direction = np.empty(n_duals), np.zeros(n_duals)
    square = kernels.gradient_on(face, x, f, gradient)
    first, last, gain, cost = square, 0.0, 0.0, each
    for _ in range(int(budget / each)):
        if square <= 1e-24 * first or square == 0.0:
            break
        cost += each
        direction *= square / last if last > 0.0 else 0.0
        direction += gradient
        kernels.hold_on(face, direction, held.reshape(-1))
        response = part.response(held)
        curvature = float(np.vdot(held, response))
        slope = float(gradient @ direction)
        limit = kernels.largest_step(face, x, direction)
        step = slope / curvature if curvature > 0.0 else np.inf
        if not np.isfinite(min(step, limit)) or slope <= 0.0:
            break
        if step < limit:
            kernels.move(face, x, direction, step, False)
            scores += step * response
            gain += 0.5 * step * slope
            last = square
        else:
            # At the edge of the face another one begins, and the directions so far are of no use on it.
            last = 0.0
            sure = limit * (slope - 0.5 * limit * curvature)
            old = x.copy()
            if np.isfinite(step):
                kernels.move(face, x, direction, step, True)
                change = x - old
                kernels.hold_on(face, change, held.reshape(-1))
                beyond = part.response(held)
                cost += each
                more = kernels.slope_of(face, f, change) - 0.5 * float(np.vdot(held, beyond))
            if np.isfinite(step) and more > sure:
                scores += beyond
                gain += more
            else:
                x[:] = old
                kernels.move(face, x, direction, limit, False)
                scores += limit * response
                gain += sure
        square = kernels.gradient_on(face, x, f, gradient)
    kernels.level_all(face, x)  # many small steps add up their rounding
    duals[where] = x
    kernels.hold_on(face, duals[where] - before, held.reshape(-1))  # as stored
    model.add(rows, held)
    return gain, cost
