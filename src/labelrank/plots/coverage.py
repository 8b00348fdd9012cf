"""Empirical against nominal coverage of conformal rankers, and their completeness."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from labelrank._arrays import FloatArray
from labelrank.plots._axes import legend, next_style, panel
from labelrank.plots._inputs import name_of, vector_of
from labelrank.plots._matplotlib import FAINT, GRAY, axes_or_new
from labelrank.supervision import PreferenceGraphs, as_graphs, label_names
from labelrank.supervision.names import in_order_of
from labelrank.trust.delegation import innermost

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

_ALPHAS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
_BAND = 0.95
_BAND_OF = "labelrank-band"


class CoverageDisplay:
    """Empirical coverage by nominal coverage, with the band around the guarantee, and the completeness below.

    A point below the band means that the guarantee does not hold on these rows, for example because their distribution
    differs from that of the calibration rows; a point above it, that fewer pairs are asserted than possible. Several
    rankers can be drawn on the same axes: pass ``ax_`` of the first display as `ax`.

    Parameters
    ----------
    alphas : array-like of shape (n_alphas,)
        Admitted probabilities of an error.
    coverage : array-like of shape (n_alphas,)
        Share of instances for which the guarantee held.
    completeness : array-like of shape (n_alphas,)
        Share of pairs that were asserted.
    n_samples : int
        Number of instances that the coverage was measured on.
    n_calibration : float, optional
        Number of calibration rows. Without it the band covers 95 % of the binomial distribution with the nominal
        coverage; with it, 95 % of the beta-binomial distribution of a ranker calibrated on that many rows, which is
        wider.
    name : str, optional
        Name of the curve in the legend.
    band : bool, default=True
        Whether to draw the band. It assumes that each row is covered or not, by one threshold for all rows.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the coverage.
    completeness_ax_ : matplotlib Axes
        Axes of the completeness, below.
    figure_ : matplotlib Figure
        The figure of the axes.
    line_, completeness_line_ : matplotlib Line2D
        The two curves.
    band_ : ndarray of shape (2, n_alphas) or None
        Lower and upper end of the band, if there is one.

    See Also
    --------
    labelrank.ConformalRanker : Partial orders with a guarantee.

    Examples
    --------
    >>> from labelrank import ConformalRanker, ExtraTreesRanker
    >>> from labelrank.datasets import load_wine_rankings
    >>> from labelrank.plots import CoverageDisplay
    >>> X, y = load_wine_rankings(return_X_y=True)
    >>> ranker = ConformalRanker(ExtraTreesRanker(random_state=0), cv=5, random_state=0).fit(X[::2], y[::2])
    >>> display = CoverageDisplay.from_estimator(ranker, X[1::2], y[1::2], alphas=[0.1, 0.2])
    >>> display.line_.get_xdata()
    array([0.8, 0.9])
    """

    ax_: Axes
    completeness_ax_: Axes
    figure_: Figure | SubFigure
    line_: Line2D
    completeness_line_: Line2D

    def __init__(
        self,
        alphas: Any,
        coverage: Any,
        completeness: Any,
        n_samples: int,
        *,
        n_calibration: float | None = None,
        name: str | None = None,
        band: bool = True,
    ) -> None:
        alphas, coverage, completeness = (
            np.atleast_1d(np.asarray(values, dtype=np.float64)) for values in (alphas, coverage, completeness)
        )
        if alphas.ndim != 1 or not len(alphas) or not alphas.shape == coverage.shape == completeness.shape:
            raise ValueError(
                "alphas, coverage and completeness must be vectors of one length, at least 1; got shapes "
                f"{alphas.shape}, {coverage.shape} and {completeness.shape}"
            )
        _check_alphas(alphas)
        if np.isnan(coverage).any():
            raise ValueError("coverage is NaN: there is no row with an observed pair to measure it on")
        if n_samples < 1:
            raise ValueError(f"n_samples must be at least 1, got {n_samples}")
        order = np.argsort(-alphas)
        self.alphas, self.coverage, self.completeness = alphas[order], coverage[order], completeness[order]
        self.n_samples, self.n_calibration, self.name = n_samples, n_calibration, name
        self.band_ = _band(self.alphas, n_samples, n_calibration) if band else None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        alphas: Sequence[float] = _ALPHAS,
        groups: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
        **line_kwargs: Any,
    ) -> CoverageDisplay:
        """Draw the coverage of a fitted conformal ranker, on rows that it was not fitted to.

        The band is left out for ``target="decomposition"``, where the coverage is a mean of shares and varies less than
        a share of covered rows, and for several groups, each of which has its own threshold and calibration rows.

        Parameters
        ----------
        estimator : fitted ConformalRanker
            Around any ranker or pipeline; or a pipeline, a search or another meta-estimator around it. It is not
            refitted.
        X : array-like of shape (n_samples, n_features)
            Instances.
        y : rank matrix or PreferenceGraphs of shape (n_samples, n_labels)
            Observed preferences.
        alphas : sequence of float, default=(0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
            Admitted probabilities of an error.
        groups : array-like of shape (n_samples,), optional
            Segments, if `fit` got any.
        name : str, optional
            Name in the legend; by default the class of the ranker inside.
        ax, **line_kwargs
            As in :meth:`plot`.

        Returns
        -------
        CoverageDisplay
        """
        _check_alphas(vector_of(alphas, "alphas"))
        try:
            ranker, X = innermost(estimator, X, "with_alpha")
        except AttributeError as error:
            found = type(estimator).__name__
            raise TypeError(f"CoverageDisplay draws a ConformalRanker, got {found}; wrap it in one") from error
        rankers = [ranker.with_alpha(alpha) for alpha in alphas]
        graphs = as_graphs(y)
        return cls(
            alphas,
            [each.coverage(X, graphs, groups) for each in rankers],
            [each.completeness(X, groups) for each in rankers],
            int(graphs.has_pairs().sum()),
            n_calibration=float(ranker.n_calibration_.sum()),
            name=name_of(ranker.estimator_) if name is None else name,
            band=ranker.target != "decomposition" and len(ranker.n_calibration_) == 1,
        ).plot(ax, **line_kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        partial: Sequence[PreferenceGraphs],
        alphas: Sequence[float],
        *,
        n_calibration: float | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        **line_kwargs: Any,
    ) -> CoverageDisplay:
        """Draw the coverage of predicted partial orders: the share of rows in which no asserted pair is reversed.

        Parameters
        ----------
        y_true : rank matrix or PreferenceGraphs of shape (n_samples, n_labels)
            Observed preferences; labels are matched by name. Rows without any observed pair are left out.
        partial : sequence of PreferenceGraphs of shape (n_samples, n_labels)
            Partial orders, one for each of `alphas`.
        alphas : sequence of float
            Admitted probabilities of an error.
        n_calibration : float, optional
            As in :class:`CoverageDisplay`.
        name : str, optional
            Name in the legend.
        ax, **line_kwargs
            As in :meth:`plot`.

        Returns
        -------
        CoverageDisplay
        """
        graphs = as_graphs(y_true, input_name="y_true")
        n_alphas = len(vector_of(alphas, "alphas"))
        if len(partial) != n_alphas:
            raise ValueError(f"partial must have one prediction for each of the {n_alphas} alphas, got {len(partial)}")
        partial = [as_graphs(orders, input_name="partial") for orders in partial]
        covered = [_covered(graphs, orders) for orders in partial]
        n, k = graphs.shape
        complete = [orders.n_edges / max(n * k * (k - 1) / 2, 1) for orders in partial]
        n_samples = int(graphs.has_pairs().sum())
        return cls(alphas, covered, complete, n_samples, n_calibration=n_calibration, name=name).plot(ax, **line_kwargs)

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **line_kwargs: Any) -> CoverageDisplay:
        """Draw coverage and completeness.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure. The completeness takes a part of their space.
        name : str, optional
            Name in the legend; by default that of the constructor.
        **line_kwargs
            Passed to ``ax.plot`` for both curves.

        Returns
        -------
        self
        """
        ax = axes_or_new(ax, "CoverageDisplay.plot", (4.8, 5.4))
        name = self.name if name is None else name
        style = next_style(ax, line_kwargs, label=name)
        below = panel(ax, "bottom", size=0.34)
        nominal = 1 - self.alphas
        if not below.lines:
            ax.plot([0, 1], [0, 1], linestyle=":", color=GRAY, linewidth=1.2, label="guaranteed", zorder=1)
            below.set(xlabel="nominal coverage 1 - alpha", ylabel="completeness", ylim=(-0.03, 1.03))
            ax.set(ylabel="empirical coverage", xlim=(nominal[0] - 0.03, min(nominal[-1] + 0.03, 1.0)))
        if self.band_ is not None:
            _draw_band(ax, nominal, self.band_, style["linestyle"])
        (self.line_,) = ax.plot(nominal, self.coverage, **style)
        (self.completeness_line_,) = below.plot(nominal, self.completeness, **style)
        lowest = min(*self.coverage, *(float(np.min(line.get_ydata())) for line in ax.lines if line.get_gid()))
        ax.set_ylim(max(lowest - 0.02, 0.0), 1.02)
        legend(ax, loc="lower right")
        self.ax_, self.completeness_ax_, self.figure_ = ax, below, ax.figure
        return self


def _draw_band(ax: Axes, nominal: FloatArray, band: FloatArray, dashes: Any) -> None:
    """Draw the band, unless an equal one has been drawn for another ranker."""
    drawn = [line for line in ax.lines if line.get_gid() == _BAND_OF]
    if any(np.array_equal(line.get_xydata(), np.column_stack([nominal, band[0]])) for line in drawn):
        return
    if not drawn:
        ax.fill_between(nominal, *band, color=FAINT, alpha=0.4, linewidth=0, zorder=0)
    for edge in band:
        ax.plot(nominal, edge, color=GRAY, linewidth=0.7, linestyle=dashes, marker="_", zorder=1, gid=_BAND_OF)


def _check_alphas(alphas: FloatArray) -> None:
    if not ((alphas > 0) & (alphas < 1)).all():
        raise ValueError(f"alphas must be between 0 and 1, got {alphas.tolist()}")


def _band(alphas: FloatArray, n: int, n_calibration: float | None) -> FloatArray:
    """Ends of the interval that contains the share of covered instances, out of n, with probability 95 %."""
    from scipy import stats

    if n_calibration is None:
        low, high = stats.binom.interval(_BAND, n, 1 - alphas)
    else:  # the threshold is the l-th largest slack of the calibration rows
        rejected = np.maximum(np.floor(alphas * (n_calibration + 1) + 1e-9), 1)
        low, high = stats.betabinom.interval(_BAND, n, np.maximum(n_calibration + 1 - rejected, 1), rejected)
    return np.array([low, high]) / n


def _covered(graphs: PreferenceGraphs, orders: PreferenceGraphs) -> float:
    """Share of the rows with an observed pair in which no asserted pair is reversed; labels are matched by name."""
    if orders.shape != graphs.shape:
        raise ValueError(f"partial orders have shape {orders.shape}, y_true has {graphs.shape}")
    n, k = graphs.shape
    columns = np.arange(k)[np.newaxis]
    (place,) = in_order_of(label_names(orders), columns, label_names(graphs), ("partial", "y_true"))
    seen, asserted = graphs.to_edges(), orders.to_edges()
    wrong = np.isin(
        (asserted.instance * k + place[asserted.worse]) * k + place[asserted.better],
        (seen.instance * k + seen.better) * k + seen.worse,
    )
    bad = np.zeros(n, dtype=bool)
    bad[asserted.instance[wrong]] = True
    known = graphs.has_pairs()
    return float(1 - bad[known].mean()) if known.any() else float("nan")
