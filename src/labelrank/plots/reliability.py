"""Calibration of pair probabilities: the share of pairs that were observed as predicted, by probability."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from labelrank.plots._axes import legend, next_style, panel
from labelrank.plots._inputs import name_of, observed_for
from labelrank.plots._matplotlib import GRAY, axes_or_new
from labelrank.supervision import as_graphs
from labelrank.trust import pairwise_proba, reliability_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D


class ReliabilityDisplay:
    """Observed share of pairs in the predicted order by their probability, with the number of pairs in each bin.

    Points on the diagonal are calibrated; below it the model is overconfident. Several models can be drawn on the same
    axes: pass ``ax_`` of the first display as `ax`.

    Parameters
    ----------
    predicted, observed, weight : array-like of shape (n_bins,)
        Mean probability of the pairs of a bin, share of them that were observed in this order, and their number, as
        :func:`labelrank.trust.reliability_curve` computes them.
    name : str, optional
        Name of the curve in the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the curve.
    histogram_ax_ : matplotlib Axes
        Axes of the numbers of pairs, below.
    figure_ : matplotlib Figure
        The figure of the axes.
    line_ : matplotlib Line2D
        The curve.
    error_ : float
        Expected calibration error: the mean distance from the diagonal over the pairs.

    See Also
    --------
    RejectionCurveDisplay : Whether instances of low confidence have larger losses.

    Examples
    --------
    >>> from labelrank import LogLinearRanker
    >>> from labelrank.datasets import load_wine_rankings
    >>> from labelrank.plots import ReliabilityDisplay
    >>> X, y = load_wine_rankings(return_X_y=True)
    >>> display = ReliabilityDisplay.from_estimator(LogLinearRanker().fit(X[::2], y[::2]), X[1::2], y[1::2])
    >>> display.histogram_ax_.get_xlabel(), display.line_.get_label()[:22]
    ('predicted probability', 'LogLinearRanker, error')
    """

    ax_: Axes
    histogram_ax_: Axes
    figure_: Figure | SubFigure
    line_: Line2D
    error_: float

    def __init__(self, predicted: Any, observed: Any, weight: Any, *, name: str | None = None) -> None:
        self.predicted, self.observed, self.weight = (
            np.asarray(values, dtype=np.float64) for values in (predicted, observed, weight)
        )
        shapes = [each.shape for each in (self.predicted, self.observed, self.weight)]
        if self.predicted.ndim != 1 or len(set(shapes)) != 1:
            raise ValueError(f"predicted, observed and weight must be vectors of one length, got shapes {shapes}")
        if not len(self.predicted):
            raise ValueError("there is no pair to draw: y has no row in which a label is preferred to another")
        if not np.isfinite([self.predicted, self.observed, self.weight]).all():
            raise ValueError("predicted, observed and weight must be finite, without NaN")
        self.name = name
        self.error_ = float(np.average(np.abs(self.predicted - self.observed), weights=self.weight))

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        n_bins: int = 10,
        sample_weight: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
        **line_kwargs: Any,
    ) -> ReliabilityDisplay:
        """Draw the curve of a fitted model, on rows that it was not fitted to.

        Parameters
        ----------
        estimator : fitted ranker
            With `pairwise_proba`, or a pipeline, a search or another meta-estimator around one.
        X : array-like of shape (n_samples, n_features)
            Instances.
        y : rank matrix or PreferenceGraphs of shape (n_samples, n_labels)
            Observed preferences.
        n_bins, sample_weight
            As in :func:`labelrank.trust.reliability_curve`.
        name : str, optional
            Name in the legend; by default the class of the ranker.
        ax, **line_kwargs
            As in :meth:`plot`.

        Returns
        -------
        ReliabilityDisplay
        """
        graphs, columns, _ = observed_for(estimator, y)
        proba = pairwise_proba(estimator, X)[:, columns[:, np.newaxis], columns]
        curve = reliability_curve(graphs, proba, n_bins=n_bins, sample_weight=sample_weight)
        return cls(*curve, name=name_of(estimator) if name is None else name).plot(ax, **line_kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        proba: Any,
        *,
        n_bins: int = 10,
        sample_weight: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
        **line_kwargs: Any,
    ) -> ReliabilityDisplay:
        """Draw the curve of predicted probabilities.

        Parameters
        ----------
        y_true : rank matrix or PreferenceGraphs of shape (n_samples, n_labels)
            Observed preferences.
        proba : ndarray of shape (n_samples, n_labels, n_labels)
            P(i before j).
        n_bins, sample_weight
            As in :func:`labelrank.trust.reliability_curve`.
        name : str, optional
            Name in the legend.
        ax, **line_kwargs
            As in :meth:`plot`.

        Returns
        -------
        ReliabilityDisplay
        """
        curve = reliability_curve(
            as_graphs(y_true, input_name="y_true"), proba, n_bins=n_bins, sample_weight=sample_weight
        )
        return cls(*curve, name=name).plot(ax, **line_kwargs)

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **line_kwargs: Any) -> ReliabilityDisplay:
        """Draw the curve and the histogram of its bins.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure. The histogram takes a part of their space.
        name : str, optional
            Name in the legend; by default that of the constructor.
        **line_kwargs
            Passed to ``ax.plot`` for the curve.

        Returns
        -------
        self
        """
        ax = axes_or_new(ax, "ReliabilityDisplay.plot", (4.8, 5.4))
        name = self.name if name is None else name
        label = ", ".join(filter(None, [name, f"error {self.error_:.3f}"]))
        style = next_style(ax, line_kwargs, label=label)
        below = panel(ax, "bottom", size=0.22)
        if not below.lines:
            ax.plot([0.5, 1], [0.5, 1], linestyle=":", color=GRAY, linewidth=1.2, label="calibrated", zorder=1)
            below.set(xlabel="predicted probability", ylabel="pairs", ylim=(0, None))
        (self.line_,) = ax.plot(self.predicted, self.observed, **style)
        below.vlines(self.predicted, 0, self.weight, color=style["color"], linewidth=1.2)
        below.plot(self.predicted, self.weight, **style | {"linestyle": "none", "label": "_"})
        lowest = min(0.5, *(float(np.min(line.get_ydata())) for line in ax.lines))
        ax.set(xlim=(0.48, 1.02), ylim=(lowest - 0.02, 1.02), ylabel="observed share")
        below.set_ylim(0, 1.15 * max(float(np.max(line.get_ydata())) for line in below.lines))
        legend(ax)
        self.ax_, self.histogram_ax_, self.figure_ = ax, below, ax.figure
        return self
