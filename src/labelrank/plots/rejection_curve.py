"""Risk of the instances that are kept when those of low confidence are rejected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from labelrank._arrays import FloatArray
from labelrank.metrics.inputs import graphs_and_ranks
from labelrank.plots._axes import legend, next_style
from labelrank.plots._inputs import name_of, observed_for
from labelrank.plots._matplotlib import axes_or_new
from labelrank.trust import area_under_risk_coverage, confidence, risk_coverage_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

_MOST_MARKERS = 12


class RejectionCurveDisplay:
    """Risk of the most confident instances by their share, with those of an oracle and of random rejection.

    The risk is the mean loss of the instances that are kept when the least confident are rejected and left to a person.
    The oracle rejects those with the largest loss first; rejecting at random keeps the mean loss. Several models can be
    drawn on the same axes: pass ``ax_`` of the first display as `ax`.

    Parameters
    ----------
    loss : array-like of shape (n_samples,)
        Loss of each instance, finite; NaN is left out.
    confidence : array-like of shape (n_samples,)
        Confidence in each prediction.
    name : str, optional
        Name of the curve in the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the picture.
    figure_ : matplotlib Figure
        The figure of the axes.
    line_, oracle_line_, mean_line_ : matplotlib Line2D
        The curve, the curve of the oracle, and the mean loss; None if not drawn.
    area_, oracle_area_ : float
        Mean risk over all shares, by the confidence and by the oracle.

    See Also
    --------
    ReliabilityDisplay : Whether pair probabilities are calibrated.

    Examples
    --------
    >>> from labelrank import RandomForestRanker
    >>> from labelrank.datasets import load_wine_rankings
    >>> from labelrank.plots import RejectionCurveDisplay
    >>> X, y = load_wine_rankings(return_X_y=True)
    >>> forest = RandomForestRanker(random_state=0).fit(X[::2], y[::2])
    >>> display = RejectionCurveDisplay.from_estimator(forest, X[1::2], y[1::2])
    >>> display.oracle_area_ <= display.area_ <= display.mean_line_.get_ydata()[0]
    True
    """

    ax_: Axes
    figure_: Figure | SubFigure
    line_: Line2D
    oracle_line_: Line2D | None
    mean_line_: Line2D | None

    def __init__(self, loss: Any, confidence: Any, *, name: str | None = None) -> None:
        self.loss: FloatArray = np.asarray(loss, dtype=np.float64)
        self.curve = risk_coverage_curve(self.loss, confidence)
        if np.isinf(self.loss).any():
            row = int(np.argmax(np.isinf(self.loss)))
            raise ValueError(
                f"loss must be finite, or NaN to leave an instance out; instance {row} has {self.loss[row]}. Replace "
                "infinite losses by the largest possible loss"
            )
        if not len(self.curve.risk):
            raise ValueError("there is no instance to draw: no loss is known; has y a row with an observed pair?")
        known = self.loss[~np.isnan(self.loss)]
        self.oracle = risk_coverage_curve(known, -known)
        self.area_ = area_under_risk_coverage(self.loss, confidence)
        self.oracle_area_ = area_under_risk_coverage(known, -known)
        self.name = name

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, name: str | None = None, ax: Axes | None = None, **line_kwargs: Any
    ) -> RejectionCurveDisplay:
        """Draw the curve of a fitted model, on rows that it has not learned from.

        Parameters
        ----------
        estimator : fitted ranker
            With `confidence`, or a pipeline, a search or another meta-estimator around one.
        X : array-like of shape (n_samples, n_features)
            Instances.
        y : rank matrix or PreferenceGraphs of shape (n_samples, n_labels)
            Observed preferences. The loss of a row is the share of its observed pairs that are predicted in the wrong
            order; tied pairs count 1/2.
        name : str, optional
            Name in the legend; by default the class of the ranker.
        ax, **line_kwargs
            As in :meth:`plot`.

        Returns
        -------
        RejectionCurveDisplay
        """
        graphs, columns, _ = observed_for(estimator, y)
        ranks = np.asarray(estimator.predict(X), dtype=np.float64)[:, columns]
        name = name_of(estimator) if name is None else name
        return cls.from_predictions(graphs, ranks, confidence(estimator, X), name=name, ax=ax, **line_kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        confidence: Any,
        *,
        name: str | None = None,
        ax: Axes | None = None,
        **line_kwargs: Any,
    ) -> RejectionCurveDisplay:
        """Draw the curve of predicted rankings and the confidence in them.

        Parameters
        ----------
        y_true : rank matrix or PreferenceGraphs of shape (n_samples, n_labels)
            Observed preferences.
        y_pred : rank matrix of shape (n_samples, n_labels)
            Predicted ranks, complete.
        confidence : array-like of shape (n_samples,)
            Confidence in each prediction.
        name : str, optional
            Name in the legend.
        ax, **line_kwargs
            As in :meth:`plot`.

        Returns
        -------
        RejectionCurveDisplay
        """
        graphs, ranks = graphs_and_ranks(y_true, y_pred)
        balance, total = graphs.concordance(ranks)
        loss = np.where(total > 0, (1 - balance / np.where(total > 0, total, 1)) / 2, np.nan)
        return cls(loss, confidence, name=name).plot(ax, **line_kwargs)

    def plot(
        self, ax: Axes | None = None, *, name: str | None = None, ref_lines: bool = True, **line_kwargs: Any
    ) -> RejectionCurveDisplay:
        """Draw the curve, that of the oracle, and the mean loss.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        name : str, optional
            Name in the legend; by default that of the constructor.
        ref_lines : bool, default=True
            Whether to draw the oracle and the mean loss; for several models on the same axes, usually only once.
        **line_kwargs
            Passed to ``ax.plot`` for the curve.

        Returns
        -------
        self
        """
        ax = axes_or_new(ax, "RejectionCurveDisplay.plot")
        name = self.name if name is None else name
        coverage, risk = self.curve
        areas = f"area {self.area_:.3f} (oracle {self.oracle_area_:.3f}, mean {risk[-1]:.3f})"
        label, every = ", ".join(filter(None, [name, areas])), max(1, len(risk) // _MOST_MARKERS)
        first = not any(line.get_label() == "oracle" for line in ax.lines)
        (self.line_,) = ax.plot(coverage, risk, **next_style(ax, line_kwargs, label=label, markevery=every))
        self.oracle_line_ = self.mean_line_ = None
        if ref_lines:
            thin: dict[str, Any] = {"color": self.line_.get_color(), "linewidth": 1.0, "zorder": 1}
            labels = ("oracle", "mean: reject at random") if first else ("_", "_")
            (self.oracle_line_,) = ax.plot(*self.oracle, linestyle=(0, (4, 3)), label=labels[0], **thin)
            self.mean_line_ = ax.axhline(float(risk[-1]), linestyle=":", label=labels[1], **thin)
        ax.set(xlabel="share of instances kept", ylabel="risk: mean loss of those kept", xlim=(0, 1.02))
        ax.set_ylim(bottom=min(0.0, float(np.min(self.loss[~np.isnan(self.loss)]))))
        highest = max(float(np.max(line.get_ydata())) for line in ax.lines)
        ax.set_ylim(top=1.4 * highest if highest > 0 else 1.0)  # the legend is above the curves
        legend(ax, loc="upper left")
        self.ax_, self.figure_ = ax, ax.figure
        return self
