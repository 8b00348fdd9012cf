"""How often each label takes each position, in observed and in predicted rankings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from labelrank._arrays import FloatArray, competition_ranks
from labelrank.plots._inputs import observed_for
from labelrank.plots._matrix import draw_matrices
from labelrank.supervision import as_graphs, label_names
from labelrank.supervision.names import in_order_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.image import AxesImage


class RankPositionDisplay:
    """Share of the rankings in which a label (row) takes a position (column), observed, predicted or both.

    A position is 1 + the number of labels of the same ranking before the label; tied labels take the first position of
    the tie. In incomplete rankings it is the position among the labels that were observed. Labels are sorted by their
    mean position, the best first; a label that was never ranked is hatched.

    Parameters
    ----------
    shares : dict of str to array-like of shape (n_labels, n_labels)
        One or two matrices of shares with their titles; the first determines the order of the labels.
    labels : array-like of shape (n_labels,), optional
        Names of the labels; by default 0, 1, ...

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the first matrix.
    axes_ : list of matplotlib Axes
        Axes of all matrices.
    figure_ : matplotlib Figure
        The figure of the axes.
    images_ : list of matplotlib AxesImage
        The matrices, with rows in the order of :attr:`order_`.
    order_ : ndarray of shape (n_labels,)
        Labels in the order in which they are drawn, as column numbers.

    See Also
    --------
    PairMatrixDisplay : Who beats whom.

    Examples
    --------
    >>> from labelrank.plots import RankPositionDisplay
    >>> rankings = [[2, 1, 3], [1, 2, float("nan")]]
    >>> display = RankPositionDisplay.from_predictions(rankings, labels=["tea", "milk", "water"])
    >>> display.images_[0].get_array().tolist()
    [[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    """

    ax_: Axes
    axes_: list[Axes]
    figure_: Figure | SubFigure
    images_: list[AxesImage]
    order_: npt.NDArray[np.intp]

    def __init__(self, shares: dict[str, Any], *, labels: Any = None) -> None:
        self.shares = {title: np.asarray(matrix, dtype=np.float64) for title, matrix in shares.items()}
        shapes = {matrix.shape for matrix in self.shares.values()}
        if not 1 <= len(self.shares) <= 2 or len(shapes) != 1:
            raise ValueError(f"shares must hold one or two matrices of one shape, got {len(self.shares)}: {shapes}")
        first = next(iter(self.shares.values()))
        if first.ndim != 2 or not first.size or np.isnan(first).all():
            raise ValueError(f"there is no position to draw: no label is ranked in a matrix of shape {first.shape}")
        self.labels = np.arange(len(first)) if labels is None else np.asarray(labels, dtype=object)
        if len(self.labels) != len(first):
            raise ValueError(f"labels has {len(self.labels)} names, but there are {len(first)} labels")
        mean = first @ np.arange(1, first.shape[1] + 1)
        self.order_ = np.argsort(mean, kind="stable")  # NaN, a label that was never ranked, is last

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any = None, *, ax: Axes | None = None) -> RankPositionDisplay:
        """Draw the positions that a fitted model predicts, beside the observed ones.

        Parameters
        ----------
        estimator : fitted ranker
            Or a pipeline, a search or another meta-estimator around one.
        X : array-like of shape (n_samples, n_features)
            Instances.
        y : rank matrix or layered PreferenceGraphs of shape (n_samples, n_labels), optional
            Observed rankings; by default only predictions are drawn.
        ax : matplotlib Axes, optional
            As in :meth:`plot`.

        Returns
        -------
        RankPositionDisplay
        """
        ranks = np.asarray(estimator.predict(X), dtype=np.float64)
        graphs, columns, labels = observed_for(estimator, ranks if y is None else y)
        return cls.from_predictions(ranks[:, columns], None if y is None else graphs, labels=labels, ax=ax)

    @classmethod
    def from_predictions(
        cls, y_pred: Any, y_true: Any = None, *, labels: Any = None, ax: Axes | None = None
    ) -> RankPositionDisplay:
        """Draw the positions of labels in rankings.

        Parameters
        ----------
        y_pred : rank matrix or layered PreferenceGraphs of shape (n_samples, n_labels)
            Rankings, such as predictions.
        y_true : rank matrix or layered PreferenceGraphs of shape (n_samples, n_labels), optional
            Rankings to draw beside them, such as observations.
        labels : array-like of shape (n_labels,), optional
            Names of the labels; by default those of `y_true` or `y_pred`.
        ax : matplotlib Axes, optional
            As in :meth:`plot`.

        Returns
        -------
        RankPositionDisplay
        """
        predicted = as_graphs(y_pred, input_name="y_pred")
        names = label_names(predicted)
        if y_true is None:
            return cls(
                {"": _shares(predicted.rank_values())}, labels=predicted.labels if labels is None else labels
            ).plot(ax)
        true = as_graphs(y_true, input_name="y_true")
        ranks = in_order_of(label_names(true), predicted.rank_values(), names, ("y_true", "y_pred"))
        shares = {"observed": _shares(true.rank_values()), "predicted": _shares(ranks)}
        if labels is None:
            labels = true.labels if true.has_names else predicted.labels
        return cls(shares, labels=labels).plot(ax)

    def plot(self, ax: Axes | None = None) -> RankPositionDisplay:
        """Draw the matrices, side by side.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes that they share; by default those of a new figure of suitable size.

        Returns
        -------
        self
        """
        names = self.labels[self.order_].tolist()
        shares = {title: matrix[self.order_] for title, matrix in self.shares.items()}
        positions = range(1, next(iter(shares.values())).shape[1] + 1)
        largest = max(float(np.nanmax(matrix)) for matrix in shares.values())
        self.axes_, self.images_ = draw_matrices(
            ax, "RankPositionDisplay.plot", shares, names, positions, "share of rankings", largest
        )
        for each in self.axes_:
            each.set_xlabel("position")
        self.ax_ = self.axes_[0]
        self.figure_ = self.ax_.figure
        return self


def _shares(ranks: FloatArray) -> FloatArray:
    """Share of the rankings of each label in which it takes each position; NaN for labels that are never ranked."""
    k = ranks.shape[1]
    positions = competition_ranks(ranks) if ranks.size else ranks
    row, label = np.nonzero(~np.isnan(positions))
    counts = np.zeros((k, k))
    np.add.at(counts, (label, positions[row, label].astype(np.intp) - 1), 1.0)
    total = counts.sum(axis=1, keepdims=True)
    return np.where(total > 0, counts / np.where(total > 0, total, 1), np.nan)
