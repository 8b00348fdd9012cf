"""Calibrated label ranking: a cut between relevant and other labels is learned along with the ranking."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from labelrank._arrays import FloatArray
from labelrank.models import Model
from labelrank.rankers.base import Training
from labelrank.rankers.empty import report_empty_rows, report_unseen_labels
from labelrank.rankers.log_linear import LogLinearRanker
from labelrank.rankers.relevant_sets import are_relevant
from labelrank.supervision import PreferenceGraphs, is_graphs


class CalibratedRanker(LogLinearRanker):
    """Log-linear ranking of sets of relevant labels, with a learned cut.

    A dummy label is ranked below the relevant and above the other labels. Scores are differences to its score, so that
    a label is predicted to be relevant when its score is above 0.

    Parameters
    ----------
    decomposition, solver, alpha, max_iter, tol, fit_intercept, smoothing, warm_start
        As in :class:`LogLinearRanker`.
    n_jobs, device, checkpoint, on_empty
        As in :class:`LogLinearRanker`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_labels, n_features)
        Coefficients minus those of the dummy label.
    intercept_ : ndarray of shape (n_labels,)
        Intercepts minus that of the dummy label.
    dummy_coef_ : ndarray of shape (n_features,)
        Coefficients of the dummy label. Scores do not need them; a warm start does, since the penalty is on the
        coefficients before the subtraction.
    dummy_intercept_ : float
        Intercept of the dummy label.
    loss_curve_, bound_curve_, n_iter_, gap_, labels_, n_features_in_
        As in :class:`LogLinearRanker`.

    See Also
    --------
    LabelCoveringClassifier : Multilabel classifier, trained for the error that a covering defines.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.metrics import hamming_loss
    >>> from labelrank import CalibratedRanker, PreferenceGraphs
    >>> X, Y = make_multilabel_classification(random_state=0)
    >>> ranker = CalibratedRanker().fit(X, PreferenceGraphs.from_multilabel(Y))
    >>> hamming_loss(Y, ranker.predict_relevant(X)) < 0.2
    True
    """

    dummy_coef_: FloatArray
    dummy_intercept_: float

    def predict_relevant(self, X: Any) -> npt.NDArray[np.bool_]:
        """Predict the relevant labels: those ranked above the dummy.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        bool ndarray of shape (n_samples, n_labels)
        """
        return are_relevant(self.decision_function(X), self)

    def _validate(self, X: Any, y: Any, sample_weight: Any) -> Training:
        X, graphs, weight = self._validate_fit(X, y, sample_weight, on_empty="ignore", **self._checks())
        if not is_graphs(y) and np.isin(graphs.rank_values(), [0, 1]).all():
            raise ValueError(
                "y contains only 0 and 1, like an indicator matrix of relevant labels, but a matrix is read as ranks "
                "(smaller is better); pass PreferenceGraphs.from_multilabel(y)"
            )
        graphs = with_learned_dummy(graphs)  # with the dummy, a row of relevant labels alone has pairs
        has_pairs = graphs.has_pairs()
        report_empty_rows(has_pairs | (weight == 0), self.on_empty)
        seen = graphs.compared_labels(has_pairs & (weight > 0))[:-1]
        report_unseen_labels(seen, self.labels_, self.on_empty)
        return Training(X, graphs, weight)

    def _attributes(self, model: Model, coef: FloatArray) -> dict[str, Any]:
        attributes = model.attributes(coef)
        weights, intercepts = attributes["coef_"], attributes["intercept_"]
        return {
            "coef_": weights[:-1] - weights[-1],
            "intercept_": intercepts[:-1] - intercepts[-1],
            "dummy_coef_": weights[-1],
            "dummy_intercept_": float(intercepts[-1]),
        }

    def _coefficients(self, model: Model) -> FloatArray:
        weights = np.vstack([self.coef_ + self.dummy_coef_, self.dummy_coef_])
        intercepts = np.append(self.intercept_ + self.dummy_intercept_, self.dummy_intercept_)
        return np.vstack([weights.T, intercepts]) if self.fit_intercept else weights.T


def with_learned_dummy(graphs: PreferenceGraphs) -> PreferenceGraphs:
    """Relevant labels above a dummy, the last label, and the dummy above the others: three levels."""
    levels = graphs.to_levels().levels
    if levels.size and levels.max() > 1:
        row = int(np.flatnonzero((levels > 1).any(axis=1))[0])
        raise ValueError(
            f"CalibratedRanker needs relevant and irrelevant labels, two levels, and row {row} of y has more; build y "
            "with PreferenceGraphs.from_multilabel"
        )
    known = (levels >= 0).any(axis=1)
    wide = np.where(levels > 0, 2, levels).astype(np.int8)
    return PreferenceGraphs(
        levels=np.column_stack([wide, np.where(known, 1, -1).astype(np.int8)]), n_labels=wide.shape[1] + 1
    )
