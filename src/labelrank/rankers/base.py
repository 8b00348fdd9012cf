"""Base classes of the rankers: validation in ``fit``, predictions from scores, and names of labels."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, NamedTuple, NoReturn, Self, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.callback import CallbackSupportMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from labelrank._arrays import FloatArray, competition_ranks, of_tensor, row_blocks
from labelrank._compat import StrOptions, fit_context, num_samples, safe_indexing
from labelrank._doc_links import DocLinkMixin
from labelrank._refitting import refitting as refitting
from labelrank.pairs import asserted_pairs, graphs_of_relation, share_of_pairs
from labelrank.rankers.empty import Observed
from labelrank.rankers.empty import OnEmpty as OnEmpty
from labelrank.rankers.empty import report_empty_rows as report_empty_rows
from labelrank.supervision import PreferenceGraphs, as_graphs, label_names, stacklevel_of_user
from labelrank.supervision.names import in_order_of, model_names
from labelrank.supervision.weights import fit_weights
from labelrank.torch import validate_features

Result = TypeVar("Result")


def _has_pairwise_proba(ranker: Any) -> bool:
    if not hasattr(ranker, "pairwise_proba"):
        raise AttributeError(
            f"{type(ranker).__name__} has no pair probabilities; wrap it in PairwiseCalibrator, which "
            "learns them from predictions"
        )
    return True


class RankerMixin(DocLinkMixin):
    """Mixin of all rankers.

    A ranker is a scikit-learn estimator with

    - ``fit(X, y, sample_weight=None)``: `y` is a rank matrix (smaller is better, equal is tied, NaN is not observed) as
      an array or a pandas or polars frame, or :class:`~labelrank.PreferenceGraphs`;
    - ``decision_function(X)``: scores, larger is better;
    - ``predict(X)``: complete ranks from 1, labels with the same score tied;
    - ``pairwise_proba(X)``, optional: P(i before j). Rankers with this method also have ``confidence(X)``, the
      estimated share of pairs in the right order, and ``predict_partial(X, threshold)``, the pairs that are more
      probable than the threshold;
    - ``score(X, y)``: the mean Kendall tau over the observed pairs;
    - ``labels_``: the names of the labels, and no ``classes_``.

    The mixin provides ``predict``, ``score``, the estimator tags, and ``_validate_fit`` for use in ``fit``. List it
    before :class:`~sklearn.base.BaseEstimator` in the base classes.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.base import BaseEstimator
    >>> from sklearn.utils.validation import check_is_fitted, validate_data
    >>> from labelrank import RankerMixin
    >>> class FeaturesAsScores(RankerMixin, BaseEstimator):
    ...     def fit(self, X, y, sample_weight=None):
    ...         X, y, sample_weight = self._validate_fit(X, y, sample_weight)
    ...         return self
    ...     def decision_function(self, X):
    ...         check_is_fitted(self)
    ...         return validate_data(self, X, reset=False)[:, : len(self.labels_)]
    >>> X, y = np.array([[0.1, 0.9], [0.8, 0.3]]), np.array([[2, 1], [1, 2]])
    >>> FeaturesAsScores().fit(X, y).score(X, y)
    1.0
    """

    labels_: npt.NDArray[Any]
    n_features_in_: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.estimator_type = "ranker"
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        return tags

    @property
    def classes_(self) -> NoReturn:
        """Not available; the names of the labels are in ``labels_``."""
        # cross_val_predict label-encodes y column by column for decision_function and then asks for classes_. With an
        # answer it would go on, with ranks that have become codes and NaN that has become a rank.
        raise AttributeError(
            f"{type(self).__name__} has no classes_: it ranks labels, see labels_. If this comes from "
            'cross_val_predict(method="decision_function"), which encodes y as classes, use method="predict", or fit '
            "and call decision_function fold by fold"
        )

    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        """Predict a ranking of all labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Ranks: 1 + the number of labels with a larger score.
        """
        scores = np.asarray(self.decision_function(X), dtype=np.float64)  # type: ignore[attr-defined]
        if not np.isfinite(scores).all():
            raise ValueError(
                f"{type(self).__name__} computes scores for X that are infinite or NaN, which have no order; scale X "
                "in fit and in predict, for example by StandardScaler in a pipeline"
            )
        return competition_ranks(-scores)

    @available_if(_has_pairwise_proba)
    def confidence(self, X: Any) -> FloatArray:
        """Estimate the share of pairs that the predicted ranking orders correctly.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        ndarray of shape (n_samples,)
            The mean probability of the predicted order of a pair, from 0 to 1. Tied pairs, and pairs with a label that
            was not compared with any other label in ``fit``, count 1/2.
        """
        ranks = self.predict(X)
        found, done = np.empty(len(ranks)), 0
        for block in self._blocks(X):
            proba = self.pairwise_proba(block)  # type: ignore[attr-defined]
            rows = slice(done, done := done + len(proba))
            found[rows] = share_of_pairs(self._known(proba), ranks[rows])
        return found

    @available_if(_has_pairwise_proba)
    def predict_partial(self, X: Any, threshold: float = 0.8) -> PreferenceGraphs:
        """Predict the preferences that are more probable than a threshold.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.
        threshold : float, default=0.8
            From 0.5 to 1.

        Returns
        -------
        PreferenceGraphs of shape (n_samples, n_labels)
            Strict partial orders that agree with :meth:`predict`. If the pairs above the threshold are not transitive,
            a pair is kept only if every label below the worse label is below the better one, and every label above the
            better label is above the worse one; cycles lose all of their pairs. Labels that were not compared with any
            other label in ``fit`` are below all other labels.
        """
        if not 0.5 <= threshold <= 1:
            raise ValueError(f"threshold must be a probability from 0.5 to 1, got {threshold!r}")
        ranks = self.predict(X)
        parts, done = [], 0
        for block in self._blocks(X):
            proba = self.pairwise_proba(block)  # type: ignore[attr-defined]
            rows = slice(done, done := done + len(proba))
            relation = asserted_pairs(self._known(proba), ranks[rows], threshold)
            if hasattr(self, "observed_"):
                relation |= self.observed_[:, np.newaxis] & ~self.observed_
            parts.append(graphs_of_relation(relation, self.labels_))
        return PreferenceGraphs.concatenate(parts)

    def _known(self, proba: FloatArray) -> FloatArray:
        """Pair probabilities, 1/2 for labels that were not compared with any other label in ``fit``."""
        seen = getattr(self, "observed_", None)
        if seen is None or seen.all():
            return proba
        return np.where(seen[:, np.newaxis] & seen, proba, 0.5)

    def _blocks(self, X: Any) -> Iterable[Any]:
        """Rows of `X` in blocks whose pairs of labels fit into memory."""
        n, k = num_samples(X), len(self.labels_)
        blocks = list(row_blocks(n, k * k, 2**22))
        return [X] if len(blocks) <= 1 else (safe_indexing(X, rows) for rows in blocks)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Mean Kendall tau over the observed pairs; see :func:`labelrank.metrics.kendall_tau`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.
        y : rank matrix or PreferenceGraphs of shape (n_samples, n_labels)
            Observed preferences, in any form that ``fit`` accepts. If the labels have names, they are matched with
            ``labels_`` by name.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the instances.

        Returns
        -------
        float
            From -1 to 1.
        """
        from labelrank.metrics import kendall_tau

        y, sample_weight = self._preferences_of(of_tensor(y)), of_tensor(sample_weight)
        names = label_names(y), model_names(self)
        predicted = in_order_of(names[0], self.predict(X), names[1], ("y", type(self).__name__))
        return kendall_tau(y, predicted, sample_weight=sample_weight)

    def _preferences_of(self, y: Any) -> Any:
        """Ranks or graphs of what ``fit`` takes as `y`, for ``score`` and for scorers."""
        return y

    def _validate_fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, on_empty: OnEmpty = "warn", **check_params: Any
    ) -> tuple[Any, PreferenceGraphs, FloatArray]:
        """Check what ``fit`` is called with; set ``labels_``, ``n_features_in_`` and ``feature_names_in_``.

        Parameters
        ----------
        X, y, sample_weight
            The arguments of ``fit``.
        on_empty : {"warn", "error", "ignore"}
            What to do about rows of `y` in which no label is preferred to another, and about labels that no row
            compares with another.
        **check_params
            For :func:`sklearn.utils.validation.validate_data` of `X`, such as ``accept_sparse="csr"``.

        Returns
        -------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
        y : PreferenceGraphs of shape (n_samples, n_labels)
        sample_weight : ndarray of shape (n_samples,)
        """
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        X = validate_features(self, X, **check_params)
        # Not by validate_data(multi_output=True), which rejects NaN in y and drops the mask of a masked array.
        graphs = as_graphs(of_tensor(y), ensure_min_samples=1)
        if num_samples(X) != len(graphs):
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has {num_samples(X)}, y has "
                f"{len(graphs)}"
            )
        if not graphs.shape[1]:
            raise ValueError(f"y has no labels (shape={graphs.shape}); a ranker needs at least one")
        weight = fit_weights(of_tensor(sample_weight), len(graphs))
        self._set_observed(Observed.of_pairs(graphs, weight), graphs.labels, on_empty)
        self._set_labels(graphs.labels)
        return X, graphs, weight

    def _set_observed(self, observed: Observed, labels: npt.NDArray[Any], on_empty: OnEmpty) -> None:
        """Report rows and labels of y without observed pairs, and set ``observed_``."""
        observed.report(labels, on_empty)
        if (compared := observed.compared) is not None:
            self.observed_ = compared if compared.any() else np.ones(len(compared), dtype=bool)

    def _set_labels(self, labels: npt.NDArray[Any]) -> None:
        check_same_labels(self, getattr(self, "labels_", None), labels)
        self.labels_ = labels


class Training(NamedTuple):
    """The validated arguments of ``fit``."""

    X: Any  # ndarray or CSR matrix of shape (n_samples, n_features)
    graphs: PreferenceGraphs  # of shape (n_samples, n_labels)
    weight: FloatArray  # of shape (n_samples,)


class BaseRanker(RankerMixin, CallbackSupportMixin, BaseEstimator):
    """Base class of the rankers of this library.

    A subclass writes ``_learn``, which sets the fitted attributes, and ``decision_function``. It may override
    ``_checks`` (how `X` is validated, in ``fit`` and in prediction alike) and ``_validate`` (when `y` needs more than
    that). The base class provides parameter validation, names of labels, warnings about rows without pairs, callbacks
    and warm starts with the same labels. If ``fit`` raises an error, the estimator keeps its previous state.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import BaseRanker
    >>> class MeanRanker(BaseRanker):
    ...     def __init__(self, on_empty="warn"):
    ...         self.on_empty = on_empty
    ...
    ...     def _learn(self, data, progress):
    ...         self.votes_ = data.graphs.mean_votes(data.weight)
    ...
    ...     def decision_function(self, X):
    ...         return np.tile(self.votes_, (len(self._check_X(X)), 1))
    >>> MeanRanker().fit([[0.0], [1.0]], [[1, 3, 2], [2, 3, 1]]).predict([[0.5]])
    array([[1., 3., 1.]])
    """

    on_empty: OnEmpty
    _parameter_constraints: ClassVar[dict[str, Any]] = {"on_empty": [StrOptions({"warn", "error", "ignore"})]}

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from preferences.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.
        y : rank matrix or PreferenceGraphs of shape (n_samples, n_labels)
            Observed preferences: ranks (smaller is better, equal is tied, NaN is not observed) or graphs.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights of the instances.

        Returns
        -------
        self
        """
        with refitting(self):
            data = self._validate(X, y, sample_weight)
            progress = Progress(self, data.X, y)
            self._learn(data, progress)
            progress.end()
        return self

    def _checks(self) -> dict[str, Any]:
        """Arguments of :func:`sklearn.utils.validation.validate_data` for `X`."""
        return {"dtype": np.float64}

    def _validate(self, X: Any, y: Any, sample_weight: Any) -> Training:
        """Validate the arguments of ``fit``; sets ``labels_`` and ``n_features_in_``."""
        return Training(*self._validate_fit(X, y, sample_weight, on_empty=self.on_empty, **self._checks()))

    def _observed(self, data: Training) -> Observed:
        """What y tells about rows and labels, for the totals of partitioned data."""
        return Observed.of_pairs(data.graphs, data.weight)

    def _learn(self, data: Training, progress: Progress) -> None:
        """Learn and set the fitted attributes."""
        raise NotImplementedError(f"{type(self).__name__} must define _learn(data, progress)")

    def _check_X(self, X: Any) -> Any:
        """Validate the instances of a prediction."""
        check_is_fitted(self)
        return validate_features(self, X, reset=False, **self._checks())


class Progress:
    """Report the steps of a fit to callbacks, and stop early if a callback or control-C requests it.

    Parameters
    ----------
    estimator : estimator
        The estimator that is fitted.
    X, y : array-like
        Its data, which callbacks may look at.
    """

    def __init__(self, estimator: Any, X: Any, y: Any) -> None:
        self.estimator, self.X, self.y = estimator, X.as_tensor() if hasattr(X, "as_tensor") else X, y
        self.root: Any = None

    def begin(self, max_steps: int | None) -> None:
        """Announce the number of steps; None if it is not known. Without a call the fit is a single task."""
        self.root = self.estimator._init_callback_context(max_subtasks=max_steps)
        self.root.call_on_fit_task_begin(estimator=self.estimator, X=self.X, y=self.y)

    def step(self, name: str, attributes: Callable[[], dict[str, Any]] | None = None) -> bool:
        """Report a finished step; `attributes` makes a fitted estimator of what is known. True asks to stop."""
        task = self.root.subcontext(task_name=name)
        task.call_on_fit_task_begin(estimator=self.estimator)
        return bool(task.call_on_fit_task_end(estimator=self.estimator, reconstruction_attributes=attributes))

    def collect(
        self,
        name: str,
        results: Iterable[Result],
        total: int,
        attributes: Callable[[list[Result]], dict[str, Any]] | None = None,
    ) -> list[Result]:
        """Report each result of an iterator as a step, and return the list of them.

        The list ends early if a callback asks to stop or, with a warning, on control-C. If there is no result yet,
        control-C raises KeyboardInterrupt.
        """
        self.begin(total)
        done: list[Result] = []
        try:
            for result in results:
                done.append(result)
                if self.step(name, None if attributes is None else lambda: attributes(done)):
                    break
        except KeyboardInterrupt:
            if not done:
                raise
            warn_interrupted(type(self.estimator).__name__, f"{len(done)} of {total} {name}s")
        return done

    def end(self) -> None:
        """Report the end of the fit."""
        if self.root is None:
            self.begin(0)
        self.root.call_on_fit_task_end(estimator=self.estimator, X=self.X, y=self.y, reconstruction_attributes={})


def warn_interrupted(name: str, done: str, advice: str = "") -> None:
    """Warn that control-C ended a fit early and that the estimator keeps the model fitted so far."""
    warnings.warn(
        f"{name} was interrupted after {done} and keeps the model fitted so far{advice}",
        UserWarning,
        stacklevel=stacklevel_of_user(),
    )


def check_same_labels(estimator: Any, old: npt.NDArray[Any] | None, new: npt.NDArray[Any]) -> None:
    """Raise if a warm start would continue with coefficients of other labels."""
    if getattr(estimator, "warm_start", False) and old is not None and not np.array_equal(old, new):
        raise ValueError(
            f"warm_start=True continues with the labels {old.tolist()}, but y has {new.tolist()}; give them in the "
            "same order, or fit a new estimator"
        )
