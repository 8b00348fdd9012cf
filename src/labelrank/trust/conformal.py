"""Conformal label ranking: partial rankings with a guaranteed probability of being correct."""

from __future__ import annotations

import copy
import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import ShuffleSplit
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from labelrank._arrays import BoolArray, FloatArray, is_missing, row_blocks
from labelrank._compat import HasMethods, Interval, StrOptions, fit_context, num_samples
from labelrank.pairs import buckets_of_scores, graphs_of_relation
from labelrank.rankers.base import refitting
from labelrank.supervision import PreferenceGraphs, as_graphs, label_names, stacklevel_of_user
from labelrank.supervision.names import columns_for, in_order_of, model_names
from labelrank.trust.delegation import confidence, has_proba, pairwise_proba
from labelrank.trust.slacks import Slacks, kth_largest, slacks_of_parts, slacks_of_top, smallest_threshold
from labelrank.trust.wrapper import Fold, RankerWrapper

_LEAST = 0.1  # difficulty of the easiest instance, relative to the hardest
_EASY = 0.95  # quantile of the spread of scores above which an instance counts as easy


def _has_orders(self: Any) -> bool:
    if self.target == "top_k":
        raise AttributeError('target="top_k" predicts sets, see predict_set; use target="ranking" for partial orders')
    return True


def _has_proba(self: Any) -> bool:
    return has_proba(getattr(self, "estimator_", self.estimator))


def _has_sets(self: Any) -> bool:
    if self.target != "top_k":
        raise AttributeError(f'target={self.target!r} predicts partial orders; use target="top_k" for predict_set')
    return True


class ConformalRanker(RankerWrapper):
    r"""Partial orders and sets with a guarantee, for any ranker.

    Label a is asserted to be before b if :math:`f_a - f_b > t\,g(x)`, which is a strict partial order for every t. The
    threshold t is computed on held-out rows: the slack of a row is the largest amount by which its scores contradict
    the observed preferences, divided by the difficulty g(x), and t is the
    :math:`\lceil (n + 1)(1 - \alpha) \rceil`-th smallest of the n slacks. For a new instance from the same
    distribution, **no asserted pair is reversed with probability at least 1 - alpha**, for any ranker and any data.

    Parameters
    ----------
    estimator : ranker
        A ranker, or a pipeline that ends in one.
    alpha : float, default=0.1
        Largest probability of an error, between 0 and 1.
    cv : None, int, cross-validation generator or "prefit", default=None
        How to obtain calibration rows. None holds out a quarter of the rows. With folds, each row is predicted by a
        ranker fitted to the other folds, and the final ranker is fitted to all rows. The guarantee is exact for one
        split; with folds it assumes that the final ranker is not worse than those of the folds. With ``"prefit"`` the
        ranker is already fitted, and all rows are used for calibration.
    target : {"ranking", "top_k", "decomposition"}, default="ranking"
        The guarantee. ``"ranking"``: no asserted pair is reversed. ``"decomposition"``: the mean share of the parts of
        a decomposition with a reversed pair is at most `alpha` (conformal risk control), which asserts many more pairs.
        ``"top_k"``: a set of labels contains the true top `k`.
    k : int, default=1
        The number of top labels for ``target="top_k"``.
    decomposition : str, Decomposition or callable, default="disagreement"
        The parts for ``target="decomposition"``; by default the observed pairs.
    normalize : {"ambiguity"}, callable or None, default="ambiguity"
        The difficulty g. ``"ambiguity"``: an instance is difficult if its scores are close together; g = 0.1 + 1 - s,
        with s the standard deviation of its scores relative to that of easy instances, at most 1. For rankers whose
        scores are positions (neighbors), s is twice the confidence of its pair probabilities less 1. A callable gets
        the fitted ranker and X and returns positive numbers. None is a constant difficulty.
    random_state : int, RandomState instance or None, default=None
        Seed for shuffling the rows before the split.

    Attributes
    ----------
    estimator_ : ranker
        The fitted ranker.
    thresholds_ : ndarray of shape (n_groups,)
        t of each group; a single one without groups.
    groups_ : ndarray of shape (n_groups,) or None
        Names of the groups; None without groups.
    n_calibration_ : ndarray of shape (n_groups,)
        Number (weight) of the calibration rows of each group.
    slacks_, slack_weights_, slack_groups_ : ndarray of shape (n_slacks,)
        The positive slacks of these rows, their weights and their groups, which determine t.
    spread_ : float
        Standard deviation of the scores of easy instances; 0 if the difficulty is computed from pair probabilities.
    labels_ : ndarray of shape (n_labels,)
        Names of the labels.

    See Also
    --------
    PairwiseCalibrator : Calibrated pair probabilities.

    Notes
    -----
    With incomplete rankings, slacks are computed from observed pairs only, and the guarantee is for pairs that are
    observed in the same way. Rows without any observed pair are not used for calibration. With a decomposition, top
    lists and battles are used unchanged.

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from labelrank import ConformalRanker, RandomForestRanker
    >>> from labelrank.datasets import load_wine_rankings
    >>> X, y = load_wine_rankings(return_X_y=True)
    >>> X, X_test, y, y_test = train_test_split(X, y, random_state=0)
    >>> ranker = ConformalRanker(RandomForestRanker(random_state=0), cv=5, random_state=0).fit(X, y)
    >>> ranker.predict_partial(X_test[:1]).to_edges().better
    array([0, 0, 1])
    >>> ranker.coverage(X_test, y_test) > 0.8
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict", "decision_function"])],
        "alpha": [Interval(Real, 0, 1, closed="neither")],
        "cv": ["cv_object", StrOptions({"prefit"}), None],
        "target": [StrOptions({"ranking", "top_k", "decomposition"})],
        "k": [Interval(Integral, 1, None, closed="left")],
        "decomposition": [str, callable, HasMethods("cut")],
        "normalize": [StrOptions({"ambiguity"}), callable, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: Any,
        alpha: float = 0.1,
        cv: Any = None,
        target: Literal["ranking", "top_k", "decomposition"] = "ranking",
        k: int = 1,
        decomposition: Any = "disagreement",
        normalize: Any = "ambiguity",
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.alpha = alpha
        self.cv = cv
        self.target = target
        self.k = k
        self.decomposition = decomposition
        self.normalize = normalize
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the ranker and calibrate the threshold.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.
        y : rank matrix or PreferenceGraphs of shape (n_samples, n_labels)
            Observed preferences.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights for the ranker. In calibration all rows of positive weight count once, because weights
            are not additional evidence.
        groups : array-like of shape (n_samples,), optional
            Groups of the rows: the guarantee holds within each of them. Predictions then need groups, too.

        Returns
        -------
        self
        """
        with refitting(self):
            cv = ShuffleSplit(1, test_size=0.25, random_state=self.random_state) if self.cv is None else self.cv
            folds = self._fit_folds(X, y, sample_weight, cv, self.random_state, groups)
            if self.target == "top_k" and self.k > len(self.labels_):
                raise ValueError(f"k={self.k} is larger than the number of labels, {len(self.labels_)}")
            scores = [_scores(fold.model, fold.X) for fold in folds]
            spread = np.concatenate([f.std(axis=1)[fold.weight > 0] for f, fold in zip(scores, folds, strict=True)])
            self.spread_ = float(np.quantile(spread, _EASY)) if len(spread) else 0.0
            if len(spread) and np.ptp(spread) <= 1e-9 * self.spread_ and has_proba(self.estimator_):
                self.spread_ = 0.0  # scores are positions, which are not informative about difficulty
            self.groups_, code = _check_groups(groups, num_samples(X))
            self._calibrate(folds, scores, code)
            self.thresholds_ = self._thresholds()
        return self

    def with_alpha(self, alpha: float) -> Self:
        """Return a copy for another `alpha`, calibrated on the same rows, without fitting again.

        Parameters
        ----------
        alpha : float
            Largest probability of an error, between 0 and 1.

        Returns
        -------
        ConformalRanker
            A copy that shares the fitted ranker.

        Examples
        --------
        >>> from labelrank import ConformalRanker, LogLinearRanker
        >>> from labelrank.datasets import load_wine_rankings
        >>> X, y = load_wine_rankings(return_X_y=True)
        >>> ranker = ConformalRanker(LogLinearRanker(), cv=5, random_state=0).fit(X, y)
        >>> ranker.with_alpha(0.02).completeness(X) < ranker.completeness(X)
        True
        """
        check_is_fitted(self)
        other = copy.copy(self).set_params(alpha=alpha)
        other._validate_params()
        other.thresholds_ = other._thresholds()
        return other

    def _calibrate(self, folds: list[Fold], scores: list[FloatArray], code: npt.NDArray[np.intp]) -> None:
        """Compute the slacks that determine the thresholds; `code` is the group of each row."""
        times = np.bincount(np.concatenate([fold.rows for fold in folds]), minlength=len(code))
        slack, weight, group, total = [], [], [], np.zeros(int(code.max(initial=0)) + 1)
        for fold, f in zip(folds, scores, strict=True):
            found, of_row = self._slacks(fold.graphs, f[:, columns_for(fold.model, fold.graphs)]), code[fold.rows]
            # A row counts once, regardless of its weight and of the number of folds that contain it.
            counts = (fold.weight > 0) / times[fold.rows]
            slack.append(found.slack / self._difficulty(fold.model, fold.X, f)[found.row])
            weight.append(found.weight * counts[found.row])
            group.append(of_row[found.row])
            informative = np.unique(found.row)
            total += np.bincount(of_row[informative], weights=counts[informative], minlength=len(total))
        s, w, g = (np.concatenate(parts) for parts in (slack, weight, group))
        positive = s > 0
        self.slacks_, self.slack_weights_, self.slack_groups_ = s[positive], w[positive], g[positive]
        self.n_calibration_ = total

    def _thresholds(self) -> FloatArray:
        """Threshold of each group."""
        thresholds = np.empty(len(self.n_calibration_))
        for i, rows in enumerate(self.n_calibration_):
            own = self.slack_groups_ == i
            thresholds[i] = smallest_threshold(self.slacks_[own], self.slack_weights_[own], rows, self.alpha)
            if np.isinf(thresholds[i]):
                where = "" if self.groups_ is None else f" of the group {self.groups_.tolist()[i]!r}"
                warnings.warn(
                    f"{rows:g} calibration rows{where} are too few for alpha={self.alpha}, so nothing will be "
                    f"asserted; at least {np.ceil(1 / self.alpha) - 1:g} are needed",
                    UserWarning,
                    stacklevel=stacklevel_of_user(),
                )
        return thresholds

    def _slacks(self, graphs: PreferenceGraphs, scores: FloatArray) -> Slacks:
        if self.target == "top_k":
            return slacks_of_top(graphs, scores, self.k)
        return slacks_of_parts(graphs, scores, "zero_one" if self.target == "ranking" else self.decomposition)

    def _difficulty(self, model: Any, X: Any, scores: FloatArray) -> FloatArray:
        if self.normalize is None:
            return np.ones(len(scores))
        if self.normalize == "ambiguity":
            if self.spread_ > 0:
                share = np.minimum(scores.std(axis=1) / self.spread_, 1.0)
            else:
                share = 2.0 * confidence(model, X) - 1.0 if has_proba(model) else np.zeros(len(scores))
            return np.asarray(_LEAST + 1.0 - share)
        difficulty = np.asarray(self.normalize(model, X), dtype=np.float64)
        if difficulty.shape != (len(scores),) or not (np.isfinite(difficulty) & (difficulty > 0)).all():
            raise ValueError(
                f"normalize must return {len(scores)} positive, finite numbers, one for each instance; got an array of "
                f"shape {difficulty.shape}"
            )
        return difficulty

    def _gaps(self, X: Any, groups: Any) -> tuple[FloatArray, FloatArray]:
        """Scores, and the gaps between them above which a pair is asserted."""
        check_is_fitted(self)
        scores = _scores(self.estimator_, X)
        names, code = _check_groups(groups, len(scores))
        if (names is None) != (self.groups_ is None):
            raise ValueError("groups must be passed in prediction if and only if they were passed to fit")
        if names is not None and self.groups_ is not None:
            place = {name: i for i, name in enumerate(self.groups_.tolist())}
            unknown = [name for name in names.tolist() if name not in place]
            if unknown:
                raise ValueError(f"groups has {unknown}, which were not passed to fit; known are {list(place)}")
            code = np.array([place[name] for name in names.tolist()], dtype=np.intp)[code]
        gaps = self.thresholds_[code] * self._difficulty(self.estimator_, X, scores)
        return np.where(self.observed_, scores, -np.inf), gaps  # labels that were never observed are last

    @available_if(_has_proba)
    def pairwise_proba(self, X: Any) -> FloatArray:
        """Probability that label i comes before label j, by the fitted ranker, without a guarantee.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        ndarray of shape (n_samples, n_labels, n_labels)
            1/2 on the diagonal.
        """
        check_is_fitted(self)
        return pairwise_proba(self.estimator_, X)

    @available_if(_has_orders)
    def predict_partial(self, X: Any, groups: Any = None) -> PreferenceGraphs:
        """Predict partial orders of the asserted preferences.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.
        groups : array-like of shape (n_samples,), optional
            Groups, required if `fit` had groups.

        Returns
        -------
        PreferenceGraphs of shape (n_samples, n_labels)
            Strict partial orders. Labels without any observed pair in `fit` are below all others.
        """
        scores, gaps = self._gaps(X, groups)
        parts = [
            graphs_of_relation(_asserted(scores[rows], gaps[rows]), self.labels_)
            for rows in row_blocks(len(scores), scores.shape[1] ** 2, 2**22)
        ]
        return PreferenceGraphs.concatenate(parts)

    @available_if(_has_orders)
    def predict_buckets(self, X: Any, groups: Any = None) -> FloatArray:
        """Predict rankings with ties from the asserted preferences.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.
        groups : array-like of shape (n_samples,), optional
            Groups, required if `fit` had groups.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Ranks from 1. Labels that are not asserted to differ, directly or through others, are tied.
        """
        return buckets_of_scores(*self._gaps(X, groups))

    @available_if(_has_sets)
    def predict_set(self, X: Any, groups: Any = None) -> BoolArray:
        """Predict the set that contains the true top `k`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.
        groups : array-like of shape (n_samples,), optional
            Groups, required if `fit` had groups.

        Returns
        -------
        bool ndarray of shape (n_samples, n_labels)
            At least `k` labels of each row.
        """
        scores, gaps = self._gaps(X, groups)
        return np.asarray(scores >= (kth_largest(scores, self.k) - gaps)[:, np.newaxis])

    def coverage(self, X: Any, y: Any, groups: Any = None) -> float:
        """Share of instances for which the guarantee held.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.
        y : rank matrix or PreferenceGraphs of shape (n_samples, n_labels)
            Observed preferences; labels are matched by name. Rows without any observed pair are ignored.
        groups : array-like of shape (n_samples,), optional
            Groups, required if `fit` had groups.

        Returns
        -------
        float
            To be compared with ``1 - alpha``. With ``target="decomposition"``, 1 - the mean share of violated parts.
        """
        scores, gaps = self._gaps(X, groups)
        scores = in_order_of(label_names(y), scores, model_names(self), ("y", type(self).__name__))
        found = self._slacks(as_graphs(y), scores)
        total = len(np.unique(found.row))
        return 1.0 - float(found.weight @ (found.slack > gaps[found.row])) / total if total else float("nan")

    def completeness(self, X: Any, groups: Any = None) -> float:
        """Mean share of asserted pairs, or of labels outside of the set.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.
        groups : array-like of shape (n_samples,), optional
            Groups, required if `fit` had groups.

        Returns
        -------
        float
            From 0 (nothing is asserted) to 1 (a complete ranking, or sets of `k` labels).
        """
        if self.target == "top_k":
            chosen = self.predict_set(X, groups)
            return float((~chosen).sum(axis=1).mean() / max(chosen.shape[1] - self.k, 1))
        scores, gaps = self._gaps(X, groups)
        k = scores.shape[1]
        count = sum(_asserted(scores[rows], gaps[rows]).sum() for rows in row_blocks(len(scores), k * k, 2**22))
        return float(count / max(len(scores) * k * (k - 1) / 2, 1))


def _scores(model: Any, X: Any) -> FloatArray:
    scores = np.asarray(model.decision_function(X), dtype=np.float64)
    if not np.isfinite(scores).all():
        raise ValueError(f"{type(model).__name__} computes infinite or NaN scores; scale X")
    return scores


def _asserted(scores: FloatArray, gaps: FloatArray) -> BoolArray:
    with np.errstate(invalid="ignore"):  # infinity - infinity, for two labels that were never observed
        return np.asarray(scores[:, :, np.newaxis] - scores[:, np.newaxis, :] > gaps[:, np.newaxis, np.newaxis])


def _check_groups(groups: Any, n: int) -> tuple[npt.NDArray[Any] | None, npt.NDArray[np.intp]]:
    """Names of the groups, None without groups, and the number of the group of each row."""
    if groups is None:
        return None, np.zeros(n, dtype=np.intp)
    each = np.asarray(groups)
    if any(is_missing(name) for name in each.ravel().tolist()):
        raise ValueError("groups has missing values; assign every row to a group")
    if each.shape != (n,):
        raise ValueError(f"groups must have one value for each of the {n} rows of X, got shape {each.shape}")
    names, code = np.unique(each, return_inverse=True)
    return names, np.asarray(code)
