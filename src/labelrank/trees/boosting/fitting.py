"""The boosting loop: derivatives of the loss, a tree, new scores, and when to stop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from labelrank._arrays import BoolArray, FloatArray
from labelrank._threads import n_threads
from labelrank.trees.boosting.binning import Binning
from labelrank.trees.boosting.data import BoostingData
from labelrank.trees.boosting.growth import Grower, Limits
from labelrank.trees.boosting.prediction import Trees, as_trees
from labelrank.trees.boosting.rows import BoostedRows
from labelrank.trees.boosting.splitting import Rules

_SMALLEST_PENALTY = 1e-6  # of the constant scores; without it they are infinite if all rows agree on a pair


class Settings(NamedTuple):
    """Parameters of the boosting loop."""

    learning_rate: float
    rules: Rules
    limits: Limits
    subsample: float
    n_iter_no_change: int
    tol: float
    n_jobs: int | None


class Step(NamedTuple):
    """One iteration: a tree, and the mean losses with it."""

    tree: Trees
    train_loss: float
    validation_loss: float  # NaN without held-out rows


class Boosting:
    """Boosting of trees on rows with scores.

    Parameters
    ----------
    rows : BoostedRows
        The rows, whose scores change with each tree.
    binning : Binning
        The bins.
    settings : Settings
        Parameters.
    """

    def __init__(self, rows: BoostedRows, binning: Binning, settings: Settings) -> None:
        self.rows, self.binning, self.settings = rows, binning, settings
        self.grower = Grower(rows, binning, settings.rules, settings.limits, n_threads(settings.n_jobs))
        self.train_loss, self.validation_loss = self._losses()

    def run(self, first: int, last: int, seed: int, earlier: Sequence[float] = ()) -> Iterator[Step]:
        """Iterations `first` to `last`; each has its own random numbers, so that a warm start can continue.

        `earlier` are validation losses of previous iterations, for early stopping.
        """
        settings, held_out = self.settings, [*earlier, self.validation_loss]
        if self._is_done(held_out):
            return
        for iteration in range(first, last):
            rng = np.random.default_rng([seed, iteration])
            nodes = self.grower.grow(self._draw_rows(rng), rng)
            tree = as_trees(nodes, self.binning, self.rows.n_labels, settings.rules.l2, settings.learning_rate)
            self.rows.add(tree)
            self.train_loss, self.validation_loss = self._losses()
            held_out.append(self.validation_loss)
            yield Step(tree, self.train_loss, self.validation_loss)
            if self._is_done(held_out):
                return

    def _is_done(self, held_out: list[float]) -> bool:
        settings = self.settings
        return self.rows.weights[1] is not None and no_better(held_out, settings.n_iter_no_change, settings.tol)

    def _draw_rows(self, rng: np.random.Generator) -> BoolArray | None:
        """Training rows of a tree; None for all."""
        if self.settings.subsample >= 1:
            return None
        size = max(1, round(self.settings.subsample * self.rows.n_train))
        drawn = np.zeros(self.rows.n_train, dtype=bool)
        drawn[rng.choice(self.rows.n_train, size, replace=False)] = True
        return drawn

    def _losses(self) -> tuple[float, float]:
        """Mean losses of the training rows and of the held-out rows; NaN if there are none."""
        (value, held_out), (weight, other_weight) = self.rows.losses(), self.rows.weights
        if not np.isfinite(value):
            raise ValueError(
                f"the loss is not finite ({value}); use a smaller learning_rate or a larger l2_regularization"
            )
        return value / weight, np.nan if other_weight is None else held_out / other_weight


def no_better(losses: list[float], n_iter_no_change: int, tol: float) -> bool:
    """Whether none of the last losses is better than the one before them."""
    if len(losses) <= n_iter_no_change:
        return False
    return min(losses[-n_iter_no_change:]) >= losses[-n_iter_no_change - 1] - tol


def constant_scores(data: BoostingData, l2: float) -> FloatArray:
    """The scores that minimize the penalized loss if they are equal for all rows."""
    total, l2 = data.measures()[1], max(l2, _SMALLEST_PENALTY)

    def mean(scores: FloatArray) -> tuple[float, FloatArray]:
        sums = data.value_and_gradient(scores)
        return float(l2 / 2 * scores @ scores + sums[0]) / total, (l2 * scores + sums[1:]) / total

    options: Any = {"gtol": 1e-8, "ftol": 1e-14}
    return np.asarray(minimize(mean, np.zeros(data.n_labels), jac=True, method="L-BFGS-B", options=options).x)


def mean_curvature(data: BoostingData) -> float:
    """Mean of the positive curvatures at scores of zero, per weight; 1/4 for a binary log loss."""
    total, weight = data.curvature()
    return float(total / weight) if weight > 0 else 0.25
