"""Learning from incomplete rankings: the score by the share of missing labels in training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import KFold, check_cv
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from labelrank._arrays import FloatArray
from labelrank._compat import safe_indexing
from labelrank.metrics import get_scorer
from labelrank.plots._axes import legend, next_style
from labelrank.plots._inputs import name_of, vector_of
from labelrank.plots._matplotlib import axes_or_new
from labelrank.supervision import as_graphs, mask_rankings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

_RATES = (0.0, 0.2, 0.4, 0.6)


class MissingRateDisplay:
    """Score by the share of missing labels: the mean over folds, plus and minus one standard deviation.

    Several learners can be drawn on the same axes: pass ``ax_`` of the first display as `ax`.

    Parameters
    ----------
    rates : array-like of shape (n_rates,)
        Shares of missing labels, from 0 to 1.
    scores : array-like of shape (n_rates, n_folds)
        Scores of the folds.
    score_name : str, default="score"
        Name of the vertical axis.
    name : str, optional
        Name of the curve in the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the picture.
    figure_ : matplotlib Figure
        The figure of the axes.
    line_ : matplotlib Line2D
        The mean scores.

    See Also
    --------
    labelrank.mask_rankings : Hide labels.

    Examples
    --------
    >>> from labelrank import DecisionTreeRanker
    >>> from labelrank.datasets import load_iris_rankings
    >>> from labelrank.plots import MissingRateDisplay
    >>> X, y = load_iris_rankings(return_X_y=True)
    >>> tree = DecisionTreeRanker(random_state=0)
    >>> display = MissingRateDisplay.from_estimator(tree, X, y, rates=[0, 0.3], random_state=0)
    >>> display.scores.shape, display.ax_.get_ylabel()
    ((2, 5), "Kendall's tau")
    """

    ax_: Axes
    figure_: Figure | SubFigure
    line_: Line2D

    def __init__(self, rates: Any, scores: Any, *, score_name: str = "score", name: str | None = None) -> None:
        self.rates: FloatArray = _check_rates(rates)
        self.scores: FloatArray = np.asarray(scores, dtype=np.float64)
        if self.scores.ndim != 2 or len(self.scores) != len(self.rates) or not self.scores.shape[1]:
            raise ValueError(
                f"scores must have a row for each of the {len(self.rates)} rates and a column for each fold, got shape "
                f"{self.scores.shape}"
            )
        if not np.isfinite(self.scores).all():
            rate = self.rates[np.argwhere(~np.isfinite(self.scores))[0, 0]]
            raise ValueError(f"scores must be finite; a fold has no score at the rate {rate:g}")
        self.score_name, self.name = score_name, name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        rates: Sequence[float] = _RATES,
        how: Literal["random", "top"] = "random",
        cv: Any = 5,
        scoring: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        score_name: str | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        **line_kwargs: Any,
    ) -> MissingRateDisplay:
        """Cross-validate a learner with labels hidden in the training folds, and draw its scores.

        Parameters
        ----------
        estimator : ranker
            A ranker, or a pipeline or a search around one; it is cloned, and need not be fitted.
        X : array-like of shape (n_samples, n_features)
            Instances.
        y : rank matrix or PreferenceGraphs of shape (n_samples, n_labels)
            Observed preferences. Test folds keep all of them. Training rows without a remaining pair are left out.
        rates : sequence of float, default=(0.0, 0.2, 0.4, 0.6)
            Shares of labels to hide.
        how : {"random", "top"}, default="random"
            As in :func:`labelrank.mask_rankings`.
        cv : int or cross-validation generator, default=5
            Folds, shuffled if given by their number; the same for all rates.
        scoring : str, callable or None, default=None
            A name that :func:`labelrank.metrics.get_scorer` knows, or a scorer that takes PreferenceGraphs as `y`; by
            default the `score` of the ranker.
        n_jobs : int, optional
            Number of fits to run in parallel.
        random_state : int, RandomState instance or None, default=None
            Determines the folds and the labels to hide. Pass an int to compare several learners on the same ones.
        score_name : str, optional
            Name of the vertical axis; by default that of the score.
        name : str, optional
            Name in the legend; by default the class of the ranker, also inside of a pipeline or a search.
        ax, **line_kwargs
            As in :meth:`plot`.

        Returns
        -------
        MissingRateDisplay
        """
        rates = _check_rates(rates).tolist()
        graphs = as_graphs(y, ensure_min_samples=1)
        random = check_random_state(random_state)
        splitter = KFold(cv, shuffle=True, random_state=random) if isinstance(cv, int) else check_cv(cv)
        splits = list(splitter.split(X, graphs))
        masked = [mask_rankings(graphs, rate, how, random_state=random) for rate in rates]
        scorer = check_scoring(estimator, get_scorer(scoring) if isinstance(scoring, str) else scoring)

        def score_of(hidden: Any, train: Any, test: Any) -> tuple[float, str]:
            train = train[hidden[train].has_pairs()]
            if not len(train):
                raise ValueError(f"no training row has an observed pair left at one of the rates {rates}")
            model = clone(estimator).fit(safe_indexing(X, train), hidden[train])
            return float(scorer(model, safe_indexing(X, test), graphs[test])), name_of(model)

        found, names = zip(
            *Parallel(n_jobs=n_jobs)(
                delayed(score_of)(hidden, train, test) for hidden in masked for train, test in splits
            ),
            strict=True,
        )
        if score_name is None:
            scoring = getattr(estimator, "scoring", None) if scoring is None else scoring  # a search has its own
            score_name = "Kendall's tau" if scoring is None else scoring if isinstance(scoring, str) else "score"
        scores = np.reshape(found, (len(masked), len(splits)))
        name = names[0] if name is None else name
        return cls(rates, scores, score_name=score_name, name=name).plot(ax, **line_kwargs)

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **line_kwargs: Any) -> MissingRateDisplay:
        """Draw the mean scores and their spread.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        name : str, optional
            Name in the legend; by default that of the constructor.
        **line_kwargs
            Passed to ``ax.plot`` for the mean scores.

        Returns
        -------
        self
        """
        ax = axes_or_new(ax, "MissingRateDisplay.plot")
        style = next_style(ax, line_kwargs, label=self.name if name is None else name)
        order = np.argsort(self.rates)
        rates, scores = self.rates[order], self.scores[order]
        mean = scores.mean(axis=1)
        (self.line_,) = ax.plot(rates, mean, **style)
        if scores.shape[1] > 1:
            spread = scores.std(axis=1, ddof=1)
            ax.fill_between(rates, mean - spread, mean + spread, color=self.line_.get_color(), alpha=0.15, linewidth=0)
        ax.set(xlabel="share of missing labels", ylabel=self.score_name)
        legend(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _check_rates(rates: Any) -> FloatArray:
    found = vector_of(rates, "rates")
    if not len(found) or not ((found >= 0) & (found <= 1)).all():
        raise ValueError(f"rates must be shares from 0 to 1, at least one; got {found.tolist()}")
    return found
