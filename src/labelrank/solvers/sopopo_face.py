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
        Number of rows to multiply with, about. With too many rows for a few steps, nothing is done.
    overhead : float
        What each step costs besides, in rows.

    Returns
    -------
    gain, cost : float
        By how much the dual objective is larger, and its cost in rows.
    """
    from labelrank._kernels import sopopo_face as kernels
    from labelrank._kernels.sopopo import make_feasible

    movable = np.empty(loss.shape[0], dtype=bool)
    kernels.can_move(duals, bound, movable, loss.structure)
    rows = np.flatnonzero(movable)
    each = len(rows) + overhead
    if not len(rows) or _LEAST * each > budget:
        return 0.0, 0.0
    sizes = loss.head[rows + 1, 1] - loss.head[rows, 1]
    at = np.concatenate([[0], np.cumsum(sizes)])
    where = np.repeat(loss.head[rows, 1] - at[:-1], sizes) + np.arange(at[-1])  # of compact vectors in duals
    before = duals[where].astype(np.float64)
    part = model.part(rows)
    scores = part.scores()
    held = np.empty((len(rows), loss.shape[1]))
    gradient, direction = np.empty(at[-1]), np.zeros(at[-1])
    square = kernels.face_gradient(rows, at, scores, duals, bound, gradient, loss.structure)
    first, last, gain, cost = square, 0.0, 0.0, each
    for _ in range(int(budget / each)):
        if square <= 1e-24 * first or square == 0.0:
            break
        cost += each
        direction *= square / last if last > 0.0 else 0.0
        direction += gradient
        kernels.hold(rows, at, direction, held, loss.structure)
        response = part.response(held)
        curvature = float(np.vdot(held, response))
        slope = float(gradient @ direction)
        limit = kernels.largest_step(rows, at, duals, direction, bound, loss.structure)
        step = slope / curvature if curvature > 0.0 else np.inf
        if not np.isfinite(min(step, limit)) or slope <= 0.0:
            break
        if step < limit:
            kernels.move(rows, at, duals, direction, step, bound, loss.structure)
            scores += step * response
            gain += 0.5 * step * slope
            last = square
        else:
            # At the edge of the face another one begins, and the directions so far are of no use on it.
            last = 0.0
            sure = limit * (slope - 0.5 * limit * curvature)
            old = duals[where]
            if np.isfinite(step):
                kernels.move_beyond(rows, at, duals, direction, step, bound, loss.structure)
                change = duals[where] - old
                kernels.hold(rows, at, change, held, loss.structure)
                beyond = part.response(held)
                cost += each
                more = kernels.slope_of(rows, at, scores, change, loss.structure) - 0.5 * float(np.vdot(held, beyond))
            if np.isfinite(step) and more > sure:
                scores += beyond
                gain += more
            else:
                duals[where] = old
                kernels.move(rows, at, duals, direction, limit, bound, loss.structure)
                scores += limit * response
                gain += sure
        square = kernels.face_gradient(rows, at, scores, duals, bound, gradient, loss.structure)
    make_feasible(rows, duals, bound, loss.structure)  # many small steps add up their rounding
    kernels.hold(rows, at, duals[where] - before, held, loss.structure)
    model.add(rows, held)
    return gain, cost
