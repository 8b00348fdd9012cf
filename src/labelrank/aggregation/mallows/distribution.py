"""The Mallows distribution: fitting, probabilities, sampling."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from labelrank._arrays import FloatArray
from labelrank._compat import StrOptions, fit_context
from labelrank._doc_links import DocLinkMixin
from labelrank.aggregation.borda import borda_scores
from labelrank.aggregation.copeland import copeland_scores
from labelrank.aggregation.kemeny import kemeny
from labelrank.aggregation.mallows.checks import check_center, check_count, check_theta
from labelrank.aggregation.mallows.extension import most_probable_extension
from labelrank.aggregation.mallows.probability import log_probability
from labelrank.aggregation.mallows.sampling import draw_around
from labelrank.aggregation.mallows.spread import pair_probabilities, spread_of_counts
from labelrank.supervision import PreferenceGraphs, as_graphs, stacklevel_of_user
from labelrank.supervision.weights import row_weights

_ROUNDS = 100  # of completing the rankings; a few are usually enough


class Mallows(DocLinkMixin, BaseEstimator):
    r"""Mallows model of rankings around a center, fitted to complete or incomplete rankings.

    .. math::

       P(r) = \frac{e^{-\theta\, d(r, c)}}{\phi(\theta)}, \qquad
       \phi(\theta) = \prod_{j=1}^n \frac{1 - e^{-j \theta}}{1 - e^{-\theta}}

    where *c* is the center, the most probable ranking, *d* is Kendall's distance (the number of pairs of labels on
    which two rankings disagree) and :math:`\theta \ge 0` is the concentration of the rankings around the center: at 0
    all rankings are equally probable, at infinity only the center is possible.

    Parameters
    ----------
    center : {"borda", "copeland", "kemeny"}, default="borda"
        How the center is found.

        - ``"borda"``: by the number of (generalized) Borda votes. If labels are missing, every ranking is replaced by
          its most probable completion with respect to this center, votes are counted again on the completed rankings,
          and so on until the center no longer changes;
        - ``"copeland"``: by the number of majorities won among the observed pairs, then by Borda votes;
        - ``"kemeny"``: the ranking that disagrees with the fewest observed pairs, which for complete rankings has the
          largest likelihood; as exact as :func:`labelrank.aggregation.kemeny`.

        Remaining ties are broken by index.
    spread : {"pairwise", "completed"}, default="pairwise"
        How theta is estimated when labels are missing.

        - ``"pairwise"``: the expected number of observed pairs that disagree with the center equals the actual number;
        - ``"completed"``: from the mean distance of the completed rankings to the center. A completed ranking agrees
          with the center wherever it can, so theta is overestimated, the more so the more labels are missing.

        For complete rankings without ties both are the maximum likelihood estimate given the center.

    Attributes
    ----------
    center_ : ndarray of shape (n_labels,)
        The ranks of the center, 1, ..., n_labels.
    theta_ : float
        The spread; infinity if all rankings agree with the center, 0 if they are no closer to it than random ones, or
        have no preferences.
    n_iter_ : int
        Number of times that the rankings were completed; 0 for complete rankings, for centers other than Borda's, and
        for :meth:`from_params`.
    labels_ : ndarray of shape (n_labels,)
        The names of the labels.

    See Also
    --------
    labelrank.aggregation.mallows.mean_distance : The mean distance to the center for a given theta.
    labelrank.aggregation.mallows.most_probable_extension : Complete rankings with respect to a center.

    Notes
    -----
    The model is a distribution of rankings without ties. A tied pair is treated as a pair of unknown order:
    :meth:`logpmf` sums over both orders, ``spread="pairwise"`` leaves the pair out, and ``spread="completed"`` counts
    it as 1/2, the mean over both. A ranking with fewer than two observed labels has no effect.

    References
    ----------
    Mallows, C. L. (1957). Non-null ranking models. Biometrika 44.

    Cheng, W., Hühn, J., Hüllermeier, E. (2009). Decision tree and instance-based learning for label ranking. ICML.

    Examples
    --------
    >>> from labelrank import mask_rankings
    >>> from labelrank.aggregation.mallows import Mallows
    >>> true = Mallows.from_params(center=[1, 2, 3, 4, 5], theta=0.8)
    >>> rankings = true.sample(20000, random_state=0)
    >>> model = Mallows().fit(rankings)
    >>> model.center_
    array([1., 2., 3., 4., 5.])
    >>> print(f"{model.theta_:.1f}")
    0.8
    >>> incomplete = mask_rankings(rankings, 0.6, random_state=0)
    >>> print(f"{Mallows().fit(incomplete).theta_:.1f}")
    0.8
    >>> print(f"{Mallows(spread='completed').fit(incomplete).theta_:.1f}")
    1.8
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "center": [StrOptions({"borda", "copeland", "kemeny"})],
        "spread": [StrOptions({"pairwise", "completed"})],
    }

    center_: FloatArray
    theta_: float
    n_iter_: int
    labels_: npt.NDArray[Any]

    def __init__(
        self,
        center: Literal["borda", "copeland", "kemeny"] = "borda",
        spread: Literal["pairwise", "completed"] = "pairwise",
    ) -> None:
        self.center = center
        self.spread = spread

    @classmethod
    def from_params(cls, center: Any, theta: float) -> Mallows:
        """Make a model with a known center and spread.

        Parameters
        ----------
        center : array-like of shape (n_labels,)
            The ranks of the center, without ties.
        theta : float
            The spread, ≥ 0; infinity is allowed.

        Returns
        -------
        Mallows
            A fitted model.

        Examples
        --------
        >>> from labelrank.aggregation.mallows import Mallows
        >>> Mallows.from_params([2, 1, 3], theta=1.0).pairwise_proba().round(2)
        array([[0.5 , 0.27, 0.73],
               [0.73, 0.5 , 0.84],
               [0.27, 0.16, 0.5 ]])
        """
        model = cls()
        model.center_ = check_center(center)
        model.theta_ = check_theta(theta)
        model.n_iter_ = 0
        model.labels_ = np.arange(len(model.center_))
        return model

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, rankings: Any, sample_weight: Any = None) -> Mallows:
        """Estimate the center and theta.

        Parameters
        ----------
        rankings : array-like or data frame of shape (n_samples, n_labels), or PreferenceGraphs
            Ranks: smaller is better, equal is tied, NaN is not observed. Graphs that are not rankings (cycles, single
            pairs) cannot be completed: their center is estimated from the pairs alone, and ``spread="completed"``
            raises ValueError.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights of the rankings.

        Returns
        -------
        Mallows
        """
        graphs = as_graphs(rankings, ensure_min_samples=1, input_name="rankings")
        weight = row_weights(sample_weight, len(graphs))
        if self.spread == "completed" and not graphs.is_ranked:
            raise ValueError(
                'spread="completed" needs rankings, but these graphs are stored as edges and cannot be completed; '
                'use spread="pairwise"'
            )
        center, n_iter = self._find_center(graphs, weight)
        self.theta_ = self._find_theta(graphs, weight, center)
        self.center_, self.n_iter_ = center, n_iter
        self.labels_ = np.asarray(graphs.labels)
        return self

    def _find_center(self, graphs: PreferenceGraphs, weight: FloatArray) -> tuple[FloatArray, int]:
        if self.center == "kemeny":
            return kemeny(graphs, weight), 0
        if self.center == "borda" and graphs.is_ranked:
            return _borda_of_completed(graphs, weight)
        votes = borda_scores(graphs, weight)
        first = votes if self.center == "borda" else copeland_scores(graphs, weight)
        center = np.empty(len(votes))
        center[np.lexsort((-votes, -first))] = np.arange(1, len(votes) + 1)
        return center, 0

    def _find_theta(self, graphs: PreferenceGraphs, weight: FloatArray, center: FloatArray) -> float:
        if self.spread == "completed":
            # A single label would be completed to the center and count as a perfect ranking.
            used = graphs.observed().sum(axis=1) >= 2
            completed = most_probable_extension(graphs[used].rank_values(), center)
            counts = as_graphs(completed).pair_counts(weight[used] if used.any() else None, ties=0.5)
        else:
            counts = graphs.pair_counts(weight)
        return float(spread_of_counts(counts[np.newaxis], center[np.newaxis], largest=np.inf)[0])

    def logpmf(self, rankings: Any) -> FloatArray:
        """Log-probability of rankings; that of an incomplete ranking sums over its completions.

        Parameters
        ----------
        rankings : array-like or data frame of shape (n_samples, n_labels), or PreferenceGraphs of rankings
            Ranks. A missing label may be anywhere and tied labels may have any order among themselves, so a row without
            a preference has probability 1.

        Returns
        -------
        ndarray of shape (n_samples,)

        Raises
        ------
        ValueError
            If a row leaves more than 18 labels free: tied, or missing and between two observed labels in the center.
            The sum over its extensions takes time and memory proportional to 2 to the power of this number. There is no
            limit for rows with two observed labels.

        Examples
        --------
        >>> import numpy as np
        >>> from labelrank.aggregation.mallows import Mallows
        >>> model = Mallows.from_params([1, 2, 3], theta=1.0)
        >>> np.exp(model.logpmf([[1, 2, 3], [3, 2, 1], [2, None, 1], [None, None, 1]])).round(3)
        array([0.486, 0.024, 0.156, 1.   ])
        """
        check_is_fitted(self)
        graphs = as_graphs(rankings, input_name="rankings")
        if not graphs.is_ranked:
            raise ValueError("rankings must be rankings, but these graphs are stored as edges; pass a rank matrix")
        if graphs.shape[1] != len(self.center_):
            raise ValueError(f"rankings has {graphs.shape[1]} labels, but the model has {len(self.center_)}")
        return log_probability(graphs, self.center_, self.theta_)

    def sample(self, n_samples: int = 1, random_state: Any = None) -> FloatArray:
        """Draw rankings.

        Parameters
        ----------
        n_samples : int, default=1
            How many.
        random_state : int, RandomState instance or None, default=None
            Pass an int for reproducible output.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Ranks from 1, without ties.

        Examples
        --------
        >>> from labelrank.aggregation.mallows import Mallows
        >>> Mallows.from_params([2, 1, 3], theta=0.5).sample(3, random_state=1)
        array([[2., 1., 3.],
               [1., 2., 3.],
               [2., 1., 3.]])
        """
        check_is_fitted(self)
        n_samples = check_count("n_samples", n_samples, minimum=0)
        centers = np.tile(self.center_, (n_samples, 1))
        return draw_around(check_random_state(random_state), centers, self.theta_)

    def pairwise_proba(self) -> FloatArray:
        """P(label i comes before label j).

        It depends only on the number of places between the labels in the center.

        Returns
        -------
        ndarray of shape (n_labels, n_labels)
            1/2 on the diagonal.

        Examples
        --------
        >>> from labelrank.aggregation.mallows import Mallows
        >>> Mallows.from_params([1, 2, 3], theta=0.5).pairwise_proba().round(2)
        array([[0.5 , 0.62, 0.7 ],
               [0.38, 0.5 , 0.62],
               [0.3 , 0.38, 0.5 ]])
        """
        check_is_fitted(self)
        return pair_probabilities(self.center_[np.newaxis], [self.theta_])[0]


def _borda_of_completed(graphs: PreferenceGraphs, weight: FloatArray) -> tuple[FloatArray, int]:
    """Center by Borda counts of rankings that are completed with respect to it, and the number of rounds."""
    from labelrank._kernels.aggregation.completion import center_of_completed

    center = np.empty(graphs.shape[1])
    rounds = center_of_completed(graphs.rank_values(), weight, center, _ROUNDS)
    if rounds < 0:
        warnings.warn(
            f"the Borda center of the completed rankings still changed after {_ROUNDS} rounds; the last one is kept. "
            'center="copeland" and center="kemeny" need no completion',
            ConvergenceWarning,
            stacklevel=stacklevel_of_user(),
        )
    return center, abs(rounds)
