"""Online learning by soft projections: each instance is visited once, and its duals are not kept."""

from __future__ import annotations

import numpy as np

from labelrank._arrays import FloatArray
from labelrank.losses.soft_margin import SoftMarginLoss
from labelrank.models import LinearModel
from labelrank.solvers.soft_projection.models import ascent_of


def project_online(
    model: LinearModel, loss: SoftMarginLoss, C: float, iterate: FloatArray, mean: FloatArray, seen: int
) -> tuple[FloatArray, FloatArray, int]:
    """Project onto each instance once, in order, without keeping its duals.

    Parameters
    ----------
    model : LinearModel
        Instances; those without weight are left out.
    loss : SoftMarginLoss
        The loss.
    C : float
        Its weight.
    iterate, mean : ndarray of shape (n_labels, n_features + 1)
        Coefficients to start from, intercepts last, and the mean of the iterates so far.
    seen : int
        Number of instances in that mean.

    Returns
    -------
    iterate, mean : ndarray of shape (n_labels, n_features + 1)
    seen : int
    """
    from labelrank._kernels.solvers.soft_projection.ascent import Duals, Pace

    ascent, blocks = ascent_of(model), loss.blocks
    rows = np.flatnonzero(loss.weight > 0)
    ascent.check_range(C, blocks, rows)
    duals = Duals(np.zeros(blocks.head[-1, 1]), float(C))
    rests = np.zeros((len(loss.weight), 2), dtype=np.int32)
    ascent.coef[:], ascent.bias[:] = iterate[:, :-1], iterate[:, -1]
    ascent.epoch(ascent.record, rows, Pace(0, rests, 0.0, -1.0), duals, blocks)
    # The mean lags behind the last iterate: a step is missing from all iterates before it.
    lag = (iterate - mean) * seen
    iterate = np.column_stack([ascent.coef, ascent.bias])
    before = np.zeros(len(loss.weight))
    before[rows] = seen + np.arange(len(rows))
    ascent.restore(duals, blocks, before)
    lag += np.column_stack([ascent.coef, ascent.bias])
    seen += len(rows)
    return iterate, iterate - lag / max(seen, 1), seen
