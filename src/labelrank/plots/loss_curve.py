"""The loss by iteration, and for boosting its guaranteed bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from labelrank._arrays import FloatArray
from labelrank.plots._axes import merged_style
from labelrank.plots._matplotlib import BLUE, VERMILLION, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D


class LossCurveDisplay:
    """Loss by iteration, with the bound that boosting guarantees.

    Parameters
    ----------
    loss_curve : array-like of shape (n_iter + 1,)
        The mean loss before the first iteration and after each.
    bound_curve : array-like of shape (n_iter,), optional
        The decrease that was guaranteed for each iteration. The second line is the first loss minus their cumulative
        sum: the loss is never above it.
    name : str, optional
        Name of the line in the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the picture.
    figure_ : matplotlib Figure
        The figure of the axes.
    line_ : matplotlib Line2D
        The line of the loss.
    bound_line_ : matplotlib Line2D or None
        The line of the bound.

    Examples
    --------
    >>> from labelrank import LogLinearRanker
    >>> from labelrank.datasets import load_iris_rankings
    >>> from labelrank.plots import LossCurveDisplay
    >>> X, y = load_iris_rankings(return_X_y=True)
    >>> ranker = LogLinearRanker(solver="boosting", max_iter=20, tol=1.0).fit(X, y)
    >>> display = LossCurveDisplay.from_estimator(ranker)
    >>> display.ax_.get_xlabel(), display.bound_line_ is None
    ('iteration', False)
    """

    ax_: Axes
    figure_: Figure | SubFigure
    line_: Line2D
    bound_line_: Line2D | None

    def __init__(self, loss_curve: Any, *, bound_curve: Any = None, name: str | None = None) -> None:
        self.loss_curve: FloatArray = np.asarray(loss_curve, dtype=np.float64)
        self.bound_curve = None if bound_curve is None else np.asarray(bound_curve, dtype=np.float64)
        self.name = name
        if self.loss_curve.ndim != 1 or not len(self.loss_curve):
            raise ValueError(f"loss_curve must be a vector of at least one loss, got shape {self.loss_curve.shape}")
        if self.bound_curve is not None and self.bound_curve.shape != (len(self.loss_curve) - 1,):
            raise ValueError(
                f"bound_curve has shape {self.bound_curve.shape}; expected one decrease for each of the "
                f"{len(self.loss_curve) - 1} iterations of loss_curve, or None"
            )

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, name: str | None = None, ax: Axes | None = None, **line_kwargs: Any
    ) -> LossCurveDisplay:
        """Draw the curve of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
            With ``loss_curve_`` and, after boosting, ``bound_curve_``.
        name : str, optional
            Name in the legend; by default the class and the solver.
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        **line_kwargs
            Passed to :meth:`plot`.

        Returns
        -------
        LossCurveDisplay
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "loss_curve_"):
            raise TypeError(f"{type(estimator).__name__} has no loss_curve_; it does not record its loss")
        if name is None:
            solver = getattr(estimator, "solver", None)
            name = type(estimator).__name__ + (f", {solver}" if isinstance(solver, str) else "")
        bounds = getattr(estimator, "bound_curve_", None)
        if bounds is not None and not np.isfinite(bounds).all():  # L-BFGS guarantees none
            bounds = None
        return cls(estimator.loss_curve_, bound_curve=bounds, name=name).plot(ax, **line_kwargs)

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **line_kwargs: Any) -> LossCurveDisplay:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        name : str, optional
            Name in the legend; by default that of the constructor.
        **line_kwargs
            Passed to ``ax.plot`` for the line of the loss.

        Returns
        -------
        self
        """
        ax = axes_or_new(ax, "LossCurveDisplay.plot")
        name = self.name if name is None else name
        iterations = np.arange(len(self.loss_curve))
        style = merged_style({"color": BLUE, "label": name if name is not None else "loss"}, line_kwargs)
        (self.line_,) = ax.plot(iterations, self.loss_curve, **style)
        self.bound_line_ = None
        if self.bound_curve is not None:
            bound = self.loss_curve[0] - np.concatenate([[0.0], np.cumsum(self.bound_curve)])
            (self.bound_line_,) = ax.plot(iterations, bound, "--", color=VERMILLION, label="guaranteed: not above")
        ax.set(xlabel="iteration", ylabel="mean loss")
        if self.bound_line_ is not None or name is not None:
            ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self
