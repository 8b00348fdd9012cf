"""What all rankers share: tags, the checks of ``fit``, ``predict`` from scores, ``score``, the names of the labels."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, Literal, NoReturn, TypeVar, cast

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import _check_sample_weight, _num_samples, validate_data

from labelrank.supervision import PreferenceGraphs, check_rankings, label_names, ranks_from_scores, stacklevel_of_user

OnEmpty = Literal["warn", "error", "ignore"]
Fit = TypeVar("Fit", bound=Callable[..., Any])


def all_or_nothing(fit: Fit) -> Fit:
    """A `fit` that raises leaves the estimator as it was, with the model of the last call if there was one."""

    @functools.wraps(fit)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
        state = vars(self)
        before = {name: value for name, value in state.items() if name.endswith("_")}
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            for name in [name for name in state if name.endswith("_")]:
                del state[name]
            state.update(before)
            raise

    return cast(Fit, wrapped)


class RankerMixin:
    """Mixin of all rankers.

    A ranker is a scikit-learn estimator with

    - ``fit(X, y, sample_weight=None)``: `y` is a rank matrix (smaller is better, equal is tied, NaN is not observed) as
      an array or a pandas or polars frame, or :class:`~labelrank.PreferenceGraphs`;
    - ``decision_function(X)``: scores, larger is better;
    - ``predict(X)``: complete ranks from 1, labels with the same score tied;
    - ``pairwise_proba(X)``: P(i before j), where it has a model of it;
    - ``score(X, y)``: the mean Kendall tau over the observed pairs;
    - ``labels_``: the names of the labels, and no ``classes_``.

    The mixin brings ``predict``, ``score``, the tags and, for ``fit``, the method ``_validate_fit``. It stands to the
    left of :class:`~sklearn.base.BaseEstimator`.

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
        """Does not exist; ``labels_`` has the names of the labels."""
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
        return ranks_from_scores(np.asarray(self.decision_function(X)))  # type: ignore[attr-defined]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Mean Kendall tau over the observed pairs; see :func:`labelrank.metrics.kendall_tau`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.
        y : rank matrix or PreferenceGraphs of shape (n_samples, n_labels)
            What was observed.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the instances.

        Returns
        -------
        float
            From -1 to 1.
        """
        from labelrank.metrics import kendall_tau

        predicted = self.predict(X)
        names = _names(y)
        if names is not None and list(names) != list(self.labels_) and self.labels_.dtype == object:
            raise ValueError(
                f"y has the labels {list(names)}, but {type(self).__name__} was fitted with {list(self.labels_)}; "
                "give the columns the same names and order"
            )
        return kendall_tau(y, predicted, sample_weight=sample_weight)

    def _validate_fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, on_empty: OnEmpty = "warn", **check_params: Any
    ) -> tuple[Any, Any, npt.NDArray[np.float64]]:
        """Check what ``fit`` is called with; set ``labels_``, ``n_features_in_`` and ``feature_names_in_``.

        Parameters
        ----------
        X, y, sample_weight
            The arguments of ``fit``.
        on_empty : {"warn", "error", "ignore"}
            What to do about rows of `y` in which no label is preferred to another.
        **check_params
            For :func:`sklearn.utils.validation.validate_data` of `X`, such as ``accept_sparse="csr"``.

        Returns
        -------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
        y : ndarray or PreferenceGraphs of shape (n_samples, n_labels)
            :func:`labelrank.as_graphs` makes graphs of both.
        sample_weight : ndarray of shape (n_samples,)
        """
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        X = validate_data(self, X, **check_params)
        names = _names(y)
        # Not by validate_data(multi_output=True), which rejects NaN in y and drops the mask of a masked array.
        y = y if isinstance(y, PreferenceGraphs) else check_rankings(y)
        if not len(y):
            raise ValueError(f"y has 0 sample(s) (shape={y.shape}) while a minimum of 1 is required")
        if names is not None:
            _refuse_repeats(names)
        if _num_samples(X) != len(y):
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has {_num_samples(X)}, y has {len(y)}"
            )
        if not y.shape[1]:
            raise ValueError(f"y has no labels (shape={y.shape}); a ranker needs at least one")
        weight = _check_sample_weight(sample_weight, np.empty((len(y), 0)), dtype=np.float64, ensure_non_negative=True)
        report_empty_rows(y, weight, on_empty)
        self.labels_ = np.arange(y.shape[1]) if names is None else names
        return X, y, weight


def _names(y: Any) -> npt.NDArray[Any] | None:
    """Names of the labels, None when they have none."""
    if isinstance(y, PreferenceGraphs):
        return y.labels if y.has_names else None
    return label_names(y)


def _refuse_repeats(names: npt.NDArray[Any]) -> None:
    """Labels are told apart by their names."""
    listed = names.tolist()
    twice = [name for i, name in enumerate(listed) if name in listed[:i]]
    if twice:
        raise ValueError(f"y has the column {twice[0]!r} more than once; give each label a name of its own")


def report_empty_rows(y: Any, weight: npt.NDArray[np.float64], on_empty: OnEmpty) -> None:
    """Say which rows have no pair to learn from: all missing, a single label, or all tied."""
    if on_empty not in ("warn", "error", "ignore"):
        raise ValueError(f'on_empty must be "warn", "error" or "ignore", got {on_empty!r}')
    if on_empty == "ignore" or y.shape[1] < 2:
        return
    if isinstance(y, PreferenceGraphs):
        empty = y.edge_counts() == 0
    else:
        empty = ~(np.fmin.reduce(y, axis=1) < np.fmax.reduce(y, axis=1))
    rows = np.flatnonzero(empty & (weight > 0))
    if not len(rows):
        return
    message = (
        f"y has {len(rows)} row{'s' * (len(rows) != 1)} without any observed pair (first: row {rows[0]}); drop "
        f'{"them" if len(rows) != 1 else "it"} or pass on_empty="ignore"'
    )
    if on_empty == "error":
        raise ValueError(message)
    warnings.warn(message, UserWarning, stacklevel=stacklevel_of_user())
