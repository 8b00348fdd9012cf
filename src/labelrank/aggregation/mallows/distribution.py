"""The Mallows distribution: fit, probabilities, draws."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from labelrank._compat import StrOptions, check_sample_weight, fit_context
from labelrank.aggregation import consensus
from labelrank.aggregation.mallows._checks import check_center, check_count, check_theta
from labelrank.aggregation.mallows.extension import log_probability, most_probable_extension
from labelrank.aggregation.mallows.sampling import draw_around
from labelrank.supervision import PreferenceGraphs, check_rankings, label_names, stacklevel_of_user

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]

_ROUNDS = 100  # completions of the rows; a few are enough, and a cycle ends them too


class Mallows(BaseEstimator):
    r"""The Mallows model of rankings around a centre, fitted to complete or incomplete rankings.

    .. math::

       P(r) = \frac{e^{-\theta\, d(r, c)}}{\phi(\theta)}, \qquad
       \phi(\theta) = \prod_{j=1}^n \frac{1 - e^{-j \theta}}{1 - e^{-\theta}}

    where *c* is the centre, the most probable ranking, *d* is Kendall's distance (the number of pairs of labels on
    which two rankings disagree) and :math:`\theta \ge 0` tells how close to the centre the rankings are: 0 makes all
    rankings equally probable, infinity leaves the centre alone.

    Parameters
    ----------
    center : {"borda", "copeland", "kemeny"}, default="borda"
        How the centre is found.

        - ``"borda"``: by the number of (generalised) Borda votes. If labels are missing, every ranking is completed as
          is most probable with respect to this centre, votes are counted again on the completed rankings, and so on
          until the centre no longer changes;
        - ``"copeland"``: by the number of majorities won among the observed pairs; equal labels by their Borda votes;
        - ``"kemeny"``: the ranking that disagrees with the fewest observed pairs, which for complete rankings has the
          largest likelihood; exact as far as :func:`labelrank.aggregation.consensus.kemeny` is.

        Labels that are still equal are ranked by their index.
    spread : {"pairwise", "completed"}, default="pairwise"
        Where theta comes from when labels are missing.

        - ``"pairwise"``: the composite likelihood of the observed pairs, in which every pair has its probability in
          the model, as if it stood alone;
        - ``"completed"``: the mean distance from the completed rankings to the centre. A completed ranking agrees with
          the centre wherever it can, so theta becomes too large, and the more so the more is missing.

        With complete rankings without ties both are the estimate of maximum likelihood for the centre.

    Attributes
    ----------
    center_ : ndarray of shape (n_labels,)
        The ranks of the centre, 1, ..., n_labels.
    theta_ : float
        The spread; infinity if all rankings agree with the centre, 0 if they are no nearer to it than random ones, or
        say nothing.
    n_iter_ : int
        How often the rankings were completed; 0 for complete rankings, for centres other than Borda's, and for
        :meth:`from_params`.
    labels_ : ndarray of shape (n_labels,)
        The names of the labels.

    See Also
    --------
    labelrank.aggregation.mallows.mean_distance : The mean distance to the centre for a given theta.
    labelrank.aggregation.mallows.most_probable_extension : Complete rankings with respect to a centre.

    Notes
    -----
    A tied pair has no place in the model, which is about rankings without ties. It is read as a pair of which the order
    is not known: :meth:`logpmf` sums over both orders, ``spread="pairwise"`` leaves the pair out, and
    ``spread="completed"`` counts it as 1/2, the mean over both. A ranking with fewer than two observed labels says
    nothing and changes nothing.

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

    center_: Vector
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
        """Make a model with a known centre and spread.

        Parameters
        ----------
        center : array-like of shape (n_labels,)
            The ranks of the centre, without ties.
        theta : float
            The spread, at least 0; infinity is allowed.

        Returns
        -------
        Mallows
            Fitted.

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
        """Estimate the centre and theta.

        Parameters
        ----------
        rankings : array-like or data frame of shape (n_samples, n_labels), or PreferenceGraphs
            Ranks: smaller is better, equal is tied, NaN is not observed. Graphs that are no rankings (cycles, single
            pairs) have nothing to complete: their centre comes from the pairs alone, and ``spread="completed"`` is
            refused.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights of the rankings.

        Returns
        -------
        Mallows
        """
        names = rankings.labels if isinstance(rankings, PreferenceGraphs) else label_names(rankings)
        rankings = _ranks_or_edges(rankings)
        if isinstance(rankings, PreferenceGraphs) and self.spread == "completed":
            raise ValueError(
                'spread="completed" needs rankings, but these graphs are stored as edges and cannot be completed; '
                'use spread="pairwise"'
            )
        weight = check_sample_weight(
            sample_weight,
            np.empty((rankings.shape[0], 0)),
            dtype=np.float64,
            ensure_non_negative=True,
            allow_all_zero_weights=True,
        )
        self.center_, self.n_iter_ = self._find_center(rankings, weight)
        self.theta_ = self._find_theta(rankings, weight)
        self.labels_ = np.arange(len(self.center_)) if names is None else np.asarray(names)
        return self

    def _find_center(self, rankings: Any, weight: Vector) -> tuple[Vector, int]:
        if self.center == "kemeny":
            return consensus.kemeny(rankings, weight), 0
        if self.center == "borda" and not isinstance(rankings, PreferenceGraphs):
            return _borda_of_completed(rankings, weight)
        votes = consensus.borda_scores(rankings, weight)
        first = votes if self.center == "borda" else consensus.copeland_scores(rankings, weight)
        center = np.empty(len(votes))
        center[np.lexsort((-votes, -first))] = np.arange(1, len(votes) + 1)
        return center, 0

    def _find_theta(self, rankings: Any, weight: Vector) -> float:
        from labelrank._kernels.aggregation.mallows import kendall_distances, theta_from_mean_distance, theta_from_pairs

        if not isinstance(rankings, PreferenceGraphs):
            # A single label would be completed to the centre, and count as a perfect ranking.
            informative = ((~np.isnan(rankings)).sum(axis=1) >= 2) & (weight > 0)
            rankings, weight = rankings[informative], weight[informative]
            if not len(rankings):
                return 0.0
            in_order = np.sort(rankings, axis=1)
            strict = bool((in_order[:, 1:] > in_order[:, :-1]).all())  # no NaN either
            if strict or self.spread == "completed":
                completed = rankings if strict else most_probable_extension(rankings, self.center_)
                distance = np.average(kendall_distances(completed, self.center_), weights=weight)
                return float(theta_from_mean_distance(distance, len(self.center_), np.inf))
        return float(theta_from_pairs(consensus.pair_counts(rankings, weight), self.center_, np.inf))

    def logpmf(self, rankings: Any) -> Vector:
        """Log-probability of rankings; of an incomplete one, of all complete rankings that extend it.

        Parameters
        ----------
        rankings : array-like or data frame of shape (n_samples, n_labels), or PreferenceGraphs of rankings
            Ranks. A missing label may stand anywhere and tied labels in any order among themselves, so a row without
            a preference has probability 1.

        Returns
        -------
        ndarray of shape (n_samples,)

        Raises
        ------
        ValueError
            If a row leaves more than 18 labels free: tied, or missing and between two observed labels in the centre.
            The sum over its extensions takes time and memory proportional to 2 to the power of this number. Rows with
            two observed labels are never refused.

        Examples
        --------
        >>> import numpy as np
        >>> from labelrank.aggregation.mallows import Mallows
        >>> model = Mallows.from_params([1, 2, 3], theta=1.0)
        >>> np.exp(model.logpmf([[1, 2, 3], [3, 2, 1], [2, None, 1], [None, None, 1]])).round(3)
        array([0.486, 0.024, 0.156, 1.   ])
        """
        check_is_fitted(self)
        rankings = _ranks_or_edges(rankings, ensure_min_samples=0)
        if isinstance(rankings, PreferenceGraphs):
            raise ValueError("rankings must be rankings, but these graphs are stored as edges; give a rank matrix")
        if rankings.shape[1] != len(self.center_):
            raise ValueError(f"rankings has {rankings.shape[1]} labels, but the model has {len(self.center_)}")
        return log_probability(rankings, self.center_, self.theta_)

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Matrix:
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

    def pairwise_proba(self) -> Matrix:
        """P(label i comes before label j).

        It depends only on how many places the labels are apart in the centre.

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
        from labelrank._kernels.aggregation.mallows import pair_probabilities

        check_is_fitted(self)
        p = np.empty(len(self.center_))
        pair_probabilities(self.theta_, p)
        apart = (self.center_ - self.center_[:, np.newaxis]).astype(np.intp)
        return np.where(apart >= 0, p[np.abs(apart)], 1 - p[np.abs(apart)])


def _ranks_or_edges(rankings: Any, ensure_min_samples: int = 1) -> Any:
    """A rank matrix, or the graphs as they are if they are no rankings."""
    if isinstance(rankings, PreferenceGraphs):
        if rankings.storage == "edges":
            return rankings
        rankings = np.where(rankings.levels < 0, np.nan, rankings.levels)
    return check_rankings(rankings, ensure_min_samples=ensure_min_samples, input_name="rankings")


def _borda_of_completed(rankings: Matrix, weight: Vector) -> tuple[Vector, int]:
    """Centre by Borda counts of rankings that are completed again and again, and the number of rounds."""
    from labelrank._kernels.aggregation.mallows import center_and_distance

    center = np.empty(rankings.shape[1])
    rounds, distance = center_and_distance(rankings, weight, center, _ROUNDS)
    if rounds < 0:
        warnings.warn(
            f"the Borda centre of the completed rankings did not settle: after {-rounds} rounds (of {_ROUNDS}) its "
            f"values came round in a cycle; the one nearest to its completed rankings is kept (mean distance "
            f'{distance:.3g}). center="copeland" and center="kemeny" need no completion',
            ConvergenceWarning,
            stacklevel=stacklevel_of_user(),
        )
    return center, abs(rounds)
