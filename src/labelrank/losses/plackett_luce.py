r"""The Plackett-Luce loss: the negative log-likelihood of the observed rankings.

.. math:: L(f) = \sum_i w_i \sum_{r} \left[\log \sum_{s \ge r} e^{f_i(\sigma_i(s))} - f_i(\sigma_i(r))\right]

The labels are chosen one after the other, best first, each with a probability proportional to :math:`e^f` among the
remaining ones. Missing labels are absent, and labels of the last level are not chosen, so a top-k ranking has k
choices. The d labels of a tied level are chosen together by Efron's approximation: the denominator of the m-th of these
choices lacks the share (m - 1)/d of the level itself.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrank._arrays import FloatArray
from labelrank.losses.base import ALL, Loss
from labelrank.supervision import PreferenceGraphs


class PlackettLuceLoss(Loss):
    """Plackett-Luce loss of layered graphs: rankings with ties and missing labels, top-k lists, relevant sets, classes.

    With one class per instance it is the multinomial logistic loss. :func:`labelrank.aggregation.plackett_luce` treats
    ties by Breslow's approximation instead: all labels of a tie are chosen from the same set.

    Parameters
    ----------
    graphs : PreferenceGraphs
        Observed preferences; they must be layered.
    decomposition : None
        Must be None; the loss does not use a decomposition.
    sample_weight : ndarray of shape (n_instances,), optional
        Weights of the instances.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import as_graphs
    >>> from labelrank.losses import PlackettLuceLoss
    >>> loss = PlackettLuceLoss(as_graphs([[1, 2, 3]]))
    >>> print(f"{np.exp(-loss.value(np.zeros((1, 3)))):.4f}")  # six rankings, equally likely
    0.1667
    """

    name: ClassVar[str] = "plackett_luce"
    abilities: ClassVar[frozenset[str]] = frozenset({"curvature"})

    def __init__(
        self, graphs: PreferenceGraphs, decomposition: Any = None, sample_weight: FloatArray | None = None
    ) -> None:
        try:
            graphs = graphs.to_levels()
        except ValueError as error:
            raise ValueError(
                f"the loss 'plackett_luce' needs layered graphs, but y has others: {error}; use the loss 'log_linear', "
                "which takes any graphs"
            ) from error
        super().__init__(graphs, decomposition, sample_weight)

    def value_and_gradient(self, scores: FloatArray, out: FloatArray, rows: slice = ALL) -> float:
        """Loss of some instances; `out` is overwritten with the gradient."""
        c = choices(self.graphs.levels[rows], scores)
        weight = self.weight[rows]
        value = weight @ np.where(c.chosen, c.log_sum - c.f, 0.0).sum(axis=1)
        np.put_along_axis(out, c.order, weight[:, None] * (_expected(c, 1) - c.chosen), axis=1)
        return float(value)

    def curvature(self, scores: FloatArray, out: FloatArray, rows: slice = ALL) -> None:
        """Write the diagonal of the Hessian with respect to the scores of some instances into `out`."""
        c = choices(self.graphs.levels[rows], scores)
        diagonal = self.weight[rows][:, None] * (_expected(c, 1) - _expected(c, 2))
        np.put_along_axis(out, c.order, diagonal, axis=1)


class Choices(NamedTuple):
    """Labels of some instances sorted by level, absent ones last, and the choices among them."""

    order: npt.NDArray[np.intp]  # label at each position
    f: FloatArray  # its score, -inf if it is absent
    chosen: npt.NDArray[np.bool_]  # whether it is chosen: there are worse labels
    start: npt.NDArray[np.intp]  # where the level of a position begins
    stop: npt.NDArray[np.intp]  # and where it ends
    share: FloatArray  # of the level that the denominator of the choice lacks
    log_level: FloatArray  # log Σ e^f from the start of the level on
    log_sum: FloatArray  # logarithm of the denominator


def choices(levels: npt.NDArray[Any], scores: FloatArray) -> Choices:
    """Sort the labels by level; sums of exponentials are kept as logarithms."""
    n, k = levels.shape
    depth = int(levels.max(initial=0)) + 1
    order = np.argsort(np.where(levels < 0, depth, levels), axis=1, kind="stable")
    level = np.take_along_axis(np.where(levels < 0, depth, levels), order, axis=1)
    position = np.broadcast_to(np.arange(k), (n, k))
    new = np.diff(level, axis=1, prepend=-1) != 0
    start = np.maximum.accumulate(np.where(new, position, 0), axis=1)
    ends = np.where(np.diff(level, axis=1, append=depth + 1) != 0, position + 1, k)
    stop = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
    present = (level < depth).sum(axis=1, keepdims=True)
    f = np.where(position < present, np.take_along_axis(scores, order, axis=1), -np.inf)
    chosen = (position < present) & (stop < present)
    # log Σ e^f from each position on, and -inf after the last
    tail = np.full((n, k + 1), -np.inf)
    tail[:, :-1] = np.logaddexp.accumulate(f[:, ::-1], axis=1)[:, ::-1]
    log_level = np.take_along_axis(tail, start, axis=1)
    lower = np.take_along_axis(tail, stop, axis=1)
    share = (position - start) / (stop - start)
    with np.errstate(invalid="ignore"):  # of the absent labels
        log_sum = log_level + np.log1p(-share * -np.expm1(lower - log_level))
    return Choices(order, f, chosen, start, stop, share, log_level, log_sum)


def _expected(c: Choices, power: int) -> FloatArray:
    """Sum over the choices of the probability (to a power) that a label is chosen, by sorted position."""
    n, k = c.f.shape
    # Choices of higher levels, whose denominators have the whole label.
    before = np.full((n, k + 1), -np.inf)
    inverse = np.where(c.chosen, -power * c.log_sum, -np.inf)
    before[:, 1:] = np.logaddexp.accumulate(inverse, axis=1)
    higher = np.exp(power * c.f + np.take_along_axis(before, c.start, axis=1))
    # Choices of its own level, relative to the sum from the start of the level on.
    with np.errstate(invalid="ignore"):
        own = np.where(c.chosen, ((1 - c.share) * np.exp(c.log_level - c.log_sum)) ** power, 0.0)
        relative = np.where(c.chosen, np.exp(power * (c.f - c.log_level)), 0.0)
    sums = np.concatenate([np.zeros((n, 1)), np.cumsum(own, axis=1)], axis=1)
    of_level = np.take_along_axis(sums, c.stop, axis=1) - np.take_along_axis(sums, c.start, axis=1)
    return np.asarray(higher + relative * of_level)
