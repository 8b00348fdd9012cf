"""Pair probabilities of any ranker, calibrated on held-out rows."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression
from sklearn.utils.validation import check_is_fitted

from labelrank._arrays import FloatArray, row_blocks
from labelrank._compat import HasMethods, StrOptions, fit_context, safe_indexing
from labelrank.rankers.base import refitting
from labelrank.supervision.names import columns_for
from labelrank.trust.delegation import has_proba, pairwise_proba
from labelrank.trust.wrapper import Fold, RankerWrapper

_MOST_PAIRS = 2**22  # largest number of pairs to fit the calibration to
_LARGEST = 30.0  # largest margin, since no data support a probability of exp(-30)


class PairwiseCalibrator(RankerWrapper):
    r"""Calibrated pair probabilities, and thereby confidence, for any ranker.

    The margin of a pair is the logit of the ranker's probability, or the difference of the two scores if it has none.
    On held-out rows, the calibrator learns the probability that a pair with a given margin is ordered correctly:
    :math:`P(i \succ j) = 1 / (1 + e^{-a (f_i - f_j)})`, or an isotonic function of the margin. Both are symmetric, so
    that P(i before j) and P(j before i) add up to 1. Rankings and scores are those of the ranker.

    Parameters
    ----------
    estimator : ranker
        A ranker, or a pipeline that ends in one.
    cv : int, cross-validation generator or "prefit", default=5
        Folds. With one split, the ranker is fitted to one part and calibrated on the other. With several, each part is
        predicted by a ranker fitted to the others, and the final ranker is fitted to all rows. With ``"prefit"`` the
        ranker is already fitted, and all rows are used for calibration.
    method : {"sigmoid", "isotonic"}, default="sigmoid"
        Calibration function. The isotonic function needs at least some hundred rows.
    random_state : int, RandomState instance or None, default=None
        Seed for shuffling the rows before the split, and for sampling pairs if there are more than four million.

    Attributes
    ----------
    estimator_ : ranker
        The fitted ranker.
    margins_, probabilities_ : ndarray of shape (n_steps,)
        The isotonic function, linear between its steps; absent for the sigmoid.
    slope_ : float
        a of the sigmoid; absent for the isotonic function.
    labels_ : ndarray of shape (n_labels,)
        Names of the labels.

    See Also
    --------
    ConformalRanker : Partial orders with a guarantee.

    Examples
    --------
    >>> from labelrank import PairwiseCalibrator, SoftProjectionRanker
    >>> from labelrank.datasets import load_wine_rankings
    >>> X, y = load_wine_rankings(return_X_y=True)
    >>> ranker = PairwiseCalibrator(SoftProjectionRanker(kernel="rbf"), random_state=0).fit(X, y)
    >>> ranker.pairwise_proba(X[:1]).round(1).shape
    (1, 3, 3)
    >>> ranker.confidence(X).shape
    (178,)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"])],
        "cv": ["cv_object", StrOptions({"prefit"})],
        "method": [StrOptions({"sigmoid", "isotonic"})],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: Any,
        cv: Any = 5,
        method: Literal["sigmoid", "isotonic"] = "sigmoid",
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.cv = cv
        self.method = method
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the ranker and learn the probabilities of its pairs.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.
        y : rank matrix or PreferenceGraphs of shape (n_samples, n_labels)
            Observed preferences. Missing and tied pairs are not used for calibration.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights of the instances, for the ranker and for the calibration.

        Returns
        -------
        self
        """
        with refitting(self):
            folds = self._fit_folds(X, y, sample_weight, 5 if self.cv is None else self.cv, self.random_state, None)
            margin, weight = _observed_margins(folds, np.random.default_rng(_seed(self.random_state)))
            if not len(margin):
                raise ValueError("y has no observed pair to calibrate on; pass rankings of at least two labels")
            if self.method == "sigmoid":
                self.slope_ = _slope(margin, weight)
            else:
                self.margins_, self.probabilities_ = _isotonic(margin, weight)
        return self

    def pairwise_proba(self, X: Any) -> FloatArray:
        """Calibrated probability that label i comes before label j.

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
        margin = pair_margins(self.estimator_, X)
        if self.method == "sigmoid":
            return np.asarray(expit(self.slope_ * margin))
        return 0.5 + 0.5 * (
            np.interp(margin, self.margins_, self.probabilities_)
            - np.interp(-margin, self.margins_, self.probabilities_)
        )


def pair_margins(model: Any, X: Any) -> FloatArray:
    """Logits of a model's pair probabilities, or differences of its scores; (n_samples, n_labels, n_labels)."""
    if has_proba(model):
        return np.clip(logit(pairwise_proba(model, X)), -_LARGEST, _LARGEST)
    scores = np.asarray(model.decision_function(X), dtype=np.float64)
    return scores[:, :, np.newaxis] - scores[:, np.newaxis, :]


def _observed_margins(folds: list[Fold], random: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Margins of the preferred labels of observed pairs over the others, and the weights of the pairs."""
    margins, weights = [], []
    for fold in folds:
        kept = np.arange(len(fold.graphs))
        k = fold.graphs.shape[1]
        most = max(1, _MOST_PAIRS // max(k * (k - 1) // 2, 1) // len(folds))
        if len(kept) > most:
            kept = np.sort(random.choice(len(kept), most, replace=False))
        for block in row_blocks(len(kept), k * k, 2**22):
            rows = kept[block]
            columns = columns_for(fold.model, fold.graphs)
            margin = pair_margins(fold.model, safe_indexing(fold.X, rows))[:, columns[:, np.newaxis], columns]
            graphs = fold.graphs[rows]
            edges = graphs.to_edges()
            margins.append(margin[edges.instance, edges.better, edges.worse])
            weights.append(graphs.edge_weights() * fold.weight[rows][edges.instance])
    return np.concatenate(margins), np.concatenate(weights)


def _slope(margin: FloatArray, weight: FloatArray) -> float:
    """A ≥ 0 that minimizes the log loss of 1 / (1 + exp(-a margin)) for margins of pairs in their true order."""
    scale = float(np.abs(margin).max())
    if scale == 0.0:
        return 0.0

    def loss(log_a: float) -> float:
        return float(weight @ np.logaddexp(0.0, -np.exp(log_a) * (margin / scale)))

    best = minimize_scalar(loss, bounds=(-15.0, 15.0), method="bounded", options={"xatol": 1e-6})
    return 0.0 if loss(-np.inf) <= best.fun else float(np.exp(best.x) / scale)


def _isotonic(margin: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Steps of an isotonic function from margins to probabilities; each pair counts in both directions."""
    least = 0.5 / (weight.sum() / weight.max() + 1.0)
    model = IsotonicRegression(y_min=least, y_max=1.0 - least, out_of_bounds="clip")
    model.fit(np.append(margin, -margin), np.repeat([1.0, 0.0], len(margin)), np.append(weight, weight))
    return model.X_thresholds_, model.y_thresholds_


def _seed(random_state: Any) -> Any:
    return random_state.randint(2**31) if hasattr(random_state, "randint") else random_state
