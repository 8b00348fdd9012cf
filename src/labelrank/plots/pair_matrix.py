"""Pairwise shares: for each pair of labels, how often the first is before the second, observed and predicted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from labelrank._arrays import BoolArray, FloatArray, row_blocks
from labelrank.metrics.inputs import graphs_and_ranks
from labelrank.pairs import pair_counts, pair_shares
from labelrank.plots._inputs import observed_for
from labelrank.plots._matplotlib import FAINT, VERMILLION
from labelrank.plots._matrix import draw_matrices
from labelrank.supervision import PreferenceGraphs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.image import AxesImage


class PairMatrixDisplay:
    """Share of the instances in which the label of a row is before that of a column, observed and predicted.

    Both matrices count only pairs that were observed, so that they are comparable. Labels are sorted by the observed
    shares, the best first. Pairs that were never observed are hatched; predictions whose majority is not the observed
    one are framed.

    Parameters
    ----------
    observed, predicted : array-like of shape (n_labels, n_labels)
        Shares from 0 to 1, NaN for pairs that were not observed.
    labels : array-like of shape (n_labels,), optional
        Names of the labels; by default 0, 1, ...

    Attributes
    ----------
    ax_, predicted_ax_ : matplotlib Axes
        Axes of the observed and the predicted shares.
    figure_ : matplotlib Figure
        The figure of the axes.
    images_ : list of matplotlib AxesImage
        The two matrices, in the order of :attr:`order_`.
    order_ : ndarray of shape (n_labels,)
        Labels in the order in which they are drawn, as column numbers.
    reversed_ : bool ndarray of shape (n_labels, n_labels)
        Pairs whose predicted majority is not the observed one.

    See Also
    --------
    RankPositionDisplay : How often each label takes each position.

    Examples
    --------
    >>> import pandas as pd
    >>> from labelrank import LogLinearRanker
    >>> from labelrank.datasets import load_iris_rankings
    >>> from labelrank.plots import PairMatrixDisplay
    >>> X, y = load_iris_rankings(return_X_y=True)
    >>> y = pd.DataFrame(y, columns=["setosa", "versicolor", "virginica"])
    >>> display = PairMatrixDisplay.from_estimator(LogLinearRanker().fit(X, y), X, y)
    >>> [text.get_text() for text in display.ax_.get_yticklabels()]
    ['versicolor', 'virginica', 'setosa']
    """

    ax_: Axes
    predicted_ax_: Axes
    figure_: Figure | SubFigure
    images_: list[AxesImage]
    order_: npt.NDArray[np.intp]
    reversed_: BoolArray

    def __init__(self, observed: Any, predicted: Any, *, labels: Any = None) -> None:
        self.observed: FloatArray = np.asarray(observed, dtype=np.float64)
        self.predicted: FloatArray = np.asarray(predicted, dtype=np.float64)
        k = len(self.observed)
        if not self.observed.shape == self.predicted.shape == (k, k):
            raise ValueError(
                f"observed and predicted must be square matrices of one shape, got {self.observed.shape} and "
                f"{self.predicted.shape}"
            )
        self.labels = np.arange(k) if labels is None else np.asarray(labels, dtype=object)
        if len(self.labels) != k:
            raise ValueError(f"labels has {len(self.labels)} names, but there are {k} labels")
        off = ~np.eye(k, dtype=bool)
        if k < 2 or np.isnan(self.observed[off]).all():
            raise ValueError(f"there is no pair to draw: none was observed among {k} label{'s' * (k != 1)}")
        mean = np.where(off, self.observed, np.nan)
        known = ~np.isnan(mean)
        mean = np.where(known, mean, 0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
        self.order_ = np.argsort(np.where(known.any(axis=1), -mean, 1), kind="stable")
        self.reversed_ = off & ((self.observed - 0.5) * (self.predicted - 0.5) < 0)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Axes | None = None) -> PairMatrixDisplay:
        """Draw the predictions of a fitted model and the observations.

        Parameters
        ----------
        estimator : fitted ranker
            Or a pipeline, a search or another meta-estimator around one.
        X : array-like of shape (n_samples, n_features)
            Instances.
        y : rank matrix or PreferenceGraphs of shape (n_samples, n_labels)
            Observed preferences.
        ax : matplotlib Axes, optional
            As in :meth:`plot`.

        Returns
        -------
        PairMatrixDisplay
        """
        graphs, columns, labels = observed_for(estimator, y)
        ranks = np.asarray(estimator.predict(X), dtype=np.float64)[:, columns]
        return cls.from_predictions(graphs, ranks, labels=labels, ax=ax)

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_pred: Any, *, labels: Any = None, ax: Axes | None = None
    ) -> PairMatrixDisplay:
        """Draw predicted and observed rankings.

        Parameters
        ----------
        y_true : rank matrix or PreferenceGraphs of shape (n_samples, n_labels)
            Observed preferences.
        y_pred : rank matrix of shape (n_samples, n_labels)
            Predicted ranks, complete. A tied pair counts 1/2 for each side.
        labels : array-like of shape (n_labels,), optional
            Names of the labels; by default those of `y_true`.
        ax : matplotlib Axes, optional
            As in :meth:`plot`.

        Returns
        -------
        PairMatrixDisplay
        """
        graphs, ranks = graphs_and_ranks(y_true, y_pred)
        observed, wrong = pair_counts(graphs), reversed_counts(graphs, ranks)
        shares = [shares_of_counts(counts) for counts in (observed, observed - wrong + wrong.T)]
        return cls(*shares, labels=graphs.labels if labels is None else labels).plot(ax)

    def plot(self, ax: Axes | None = None) -> PairMatrixDisplay:
        """Draw both matrices, side by side.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes that both share; by default those of a new figure of suitable size.

        Returns
        -------
        self
        """
        from matplotlib.patches import Rectangle

        at = np.ix_(self.order_, self.order_)
        names = self.labels[self.order_].tolist()
        shares = {"observed": _without_diagonal(self.observed[at]), "predicted": _without_diagonal(self.predicted[at])}
        axes, self.images_ = draw_matrices(
            ax, "PairMatrixDisplay.plot", shares, names, names, "share: row before column"
        )
        for row, column in np.argwhere(self.reversed_[at]):
            frame = Rectangle((column - 0.43, row - 0.43), 0.86, 0.86, fill=False, edgecolor=VERMILLION, linewidth=2)
            axes[1].add_patch(frame)
        for each in axes:  # the diagonal has no pairs
            for i in range(len(names)):
                each.add_patch(Rectangle((i - 0.5, i - 0.5), 1, 1, facecolor=FAINT, in_layout=False))
        self.ax_, self.predicted_ax_ = axes
        self.figure_ = self.ax_.figure
        return self


def reversed_counts(graphs: PreferenceGraphs, ranks: FloatArray) -> FloatArray:
    """Weight of the pairs observed with the label of the row first and predicted in reverse order.

    Pairs that are tied in the prediction count 1/2.
    """
    k = graphs.shape[1]
    counts = np.zeros(k * k)
    for rows in row_blocks(len(graphs), k * k):
        part = graphs[rows]
        edges, weight = part.to_edges(), part.edge_weights()
        sign = np.sign(ranks[rows][edges.instance, edges.worse] - ranks[rows][edges.instance, edges.better])
        counts += np.bincount(edges.better * k + edges.worse, weights=weight * (1 - sign) / 2, minlength=k * k)
    return counts.reshape(k, k)


def shares_of_counts(counts: FloatArray) -> FloatArray:
    """Share of the weight of each pair with the label of the row first; NaN for pairs of weight 0."""
    return np.where(counts + counts.T > 0, pair_shares(counts), np.nan)


def _without_diagonal(matrix: FloatArray) -> FloatArray:
    return np.where(np.eye(len(matrix), dtype=bool), np.nan, matrix)
