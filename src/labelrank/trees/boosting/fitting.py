"""The boosting loop: derivatives of the loss, a tree, new scores, and when to stop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from scipy.optimize import minimize

from labelrank._arrays import FloatArray, row_blocks
from labelrank.losses import Loss
from labelrank.trees.boosting.binning import Binning, Codes, SparseCodes
from labelrank.trees.boosting.growth import Grower, Limits
from labelrank.trees.boosting.histogram import Histograms, make_channels
from labelrank.trees.boosting.prediction import Trees, add_tree, as_trees
from labelrank.trees.boosting.splitting import Rules

# A row that is ranked far too wrong has a gradient, but hardly any curvature: Newton steps are at most this inverse.
_SMALLEST_CURVATURE = 1e-3
_ENTRIES = 2**16  # scores of a block of rows whose derivatives are computed at a time
_SMALLEST_PENALTY = 1e-6  # of the constant scores, which would be infinite if all rows agree on a pair


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
    validation_loss: float  # NaN without rows that are held out


class Boosting:
    """Boosting of trees from given scores.

    Parameters
    ----------
    bins : Codes or SparseCodes
        Bins of the rows: first those of `train`, then those of `validation`.
    binning : Binning
        The bins.
    train : Loss
        Loss of the training rows.
    validation : Loss, optional
        Loss of the rows that are held out.
    scores : ndarray of shape (n_rows, n_labels)
        Scores to start from; changed in place.
    settings : Settings
        Parameters.
    """

    def __init__(
        self,
        bins: Codes | SparseCodes,
        binning: Binning,
        train: Loss,
        validation: Loss | None,
        scores: FloatArray,
        settings: Settings,
    ) -> None:
        self.binning, self.train, self.validation = binning, train, validation
        self.scores, self.settings = scores, settings
        self.n_train, n_labels = train.shape
        self.channels = make_channels(self.n_train, n_labels)
        histograms = Histograms(bins, self.channels, binning.start, scores)
        n_threads = effective_n_jobs(settings.n_jobs)
        self.grower = Grower(histograms, binning, settings.rules, settings.limits, len(scores), n_threads)
        self.train_loss = self._differentiate()
        self.validation_loss = self._held_out_loss()

    def run(self, first: int, last: int, seed: int) -> Iterator[Step]:
        """Iterations `first` to `last`; each draws its own random numbers, so that a warm start continues."""
        from labelrank._kernels.trees.boosting.growth import add_to_rows

        settings, n_labels = self.settings, self.train.shape[1]
        held_out = [self.validation_loss]
        for iteration in range(first, last):
            rng = np.random.default_rng([seed, iteration])
            rows, others = self._draw_rows(rng)
            nodes = self.grower.grow(rows, rng)
            tree = as_trees(nodes, self.binning, n_labels, settings.rules.l2, settings.learning_rate)
            for node in nodes:
                if node.left is None:
                    add_to_rows(rows[node.first : node.last], tree.value[node.number], self.scores)
            add_tree(self.grower, nodes, tree.value, others, self.scores)
            self.train_loss = self._differentiate()
            self.validation_loss = self._held_out_loss()
            held_out.append(self.validation_loss)
            yield Step(tree, self.train_loss, self.validation_loss)
            if self.validation is not None and no_better(held_out, settings.n_iter_no_change, settings.tol):
                return

    def _draw_rows(self, rng: np.random.Generator) -> tuple[Any, Any]:
        """Rows that a tree is grown on, and all others."""
        n = len(self.scores)
        if self.settings.subsample >= 1:
            return np.arange(self.n_train, dtype=np.int32), np.arange(self.n_train, n, dtype=np.int32)
        size = max(1, round(self.settings.subsample * self.n_train))
        drawn = np.zeros(n, dtype=bool)
        drawn[rng.choice(self.n_train, size, replace=False)] = True
        return np.flatnonzero(drawn).astype(np.int32), np.flatnonzero(~drawn).astype(np.int32)

    def _differentiate(self) -> float:
        """Mean training loss; the channels are overwritten with its derivatives."""
        from labelrank._kernels.trees.boosting.histogram import fill_channels

        value = 0.0
        for rows in row_blocks(*self.train.shape, _ENTRIES):
            scores = self.scores[rows]
            gradient, curvature = np.empty(scores.shape), np.empty(scores.shape)
            value += self.train.value_and_derivatives(scores, gradient, curvature, rows)
            fill_channels(self.channels[rows], gradient, curvature, self.train.weight[rows], _SMALLEST_CURVATURE)
        if not np.isfinite(value):
            raise ValueError(
                f"the loss {self.train.name!r} is not finite ({value}); use a smaller learning_rate or a larger "
                "l2_regularization"
            )
        return value / self.train.total_weight

    def _held_out_loss(self) -> float:
        if self.validation is None:
            return np.nan
        return mean_loss(self.validation, self.scores[self.n_train :])


def mean_loss(loss: Loss, scores: FloatArray) -> float:
    """Mean loss of all rows, summed over blocks of them."""
    return sum(loss.value(scores[rows], rows) for rows in row_blocks(*loss.shape, _ENTRIES)) / loss.total_weight


def no_better(losses: list[float], n_iter_no_change: int, tol: float) -> bool:
    """Whether none of the last losses is better than the one before them."""
    if len(losses) <= n_iter_no_change:
        return False
    return min(losses[-n_iter_no_change:]) >= losses[-n_iter_no_change - 1] - tol


def constant_scores(loss: Loss, l2: float) -> FloatArray:
    """The scores that minimize the penalized loss if all rows have the same."""
    n, k = loss.shape
    total, l2 = loss.total_weight, max(l2, _SMALLEST_PENALTY)

    def mean(scores: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = l2 / 2 * scores @ scores, l2 * scores
        for rows in row_blocks(n, k, _ENTRIES):
            same = np.tile(scores, (len(range(n)[rows]), 1))
            out = np.empty_like(same)
            value += loss.value_and_gradient(same, out, rows)
            gradient = gradient + out.sum(axis=0)
        return float(value) / total, gradient / total

    options: Any = {"gtol": 1e-8, "ftol": 1e-14}
    return np.asarray(minimize(mean, np.zeros(k), jac=True, method="L-BFGS-B", options=options).x)


def mean_curvature(loss: Loss) -> float:
    """Mean curvature of a label that has one, per weight, where all scores are zero; 1/4 for a binary log loss."""
    n, k = loss.shape
    total, weight = 0.0, 0.0
    for rows in row_blocks(n, k, _ENTRIES):
        scores = np.zeros((len(range(n)[rows]), k))
        out = np.empty_like(scores)
        loss.curvature(scores, out, rows)
        total += float(out.sum())
        weight += float(loss.weight[rows] @ (out > 0).sum(axis=1))
    return total / weight if weight > 0 else 0.25
