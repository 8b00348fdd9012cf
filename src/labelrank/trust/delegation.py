"""Pair probabilities, confidence and partial orders of a ranker inside of a pipeline or a search."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from labelrank._arrays import FloatArray
from labelrank.supervision import PreferenceGraphs
from labelrank.supervision.names import unwrapped

_OF_PAIRS = ": it has no pair probabilities; wrap the ranker in PairwiseCalibrator, which learns them from predictions"
_CONFORMAL = "; wrap the ranker in ConformalRanker"
_ADVICE = {
    "pairwise_proba": _OF_PAIRS,
    "confidence": _OF_PAIRS,
    "predict_partial": _OF_PAIRS,
    "predict_buckets": _CONFORMAL,
    "predict_set": f'{_CONFORMAL} with target="top_k"',
}


def innermost(model: Any, X: Any, method: str) -> tuple[Any, Any]:
    """The estimator inside of pipelines and searches that has a method, and `X` transformed for it.

    Parameters
    ----------
    model : fitted estimator
        A ranker, a :class:`~sklearn.pipeline.Pipeline`, or a meta-estimator with ``best_estimator_`` or
        ``estimator_``, nested in any way.
    X : array-like of shape (n_samples, n_features)
        Instances.
    method : str
        Name of the method.

    Returns
    -------
    estimator : fitted estimator
    X : array-like
        Instances, transformed by the steps before the estimator.
    """
    transformers, inner = estimator_with(model, method)
    for steps in transformers:
        X = steps.transform(X)
    return inner, X


def estimator_with(model: Any, method: str) -> tuple[list[Any], Any]:
    """The transformers before, and the estimator inside of pipelines and searches that has a method."""
    transformers, inner = [], model
    while not hasattr(type(inner), method):
        check_is_fitted(inner)
        steps, inside = unwrapped(inner)
        if inside is None:
            raise AttributeError(f"{type(inner).__name__} has no {method}{_ADVICE.get(method, '')}")
        transformers += [] if steps is None else [steps]
        inner = inside
    try:
        getattr(inner, method)
    except AttributeError as error:  # methods that depend on parameters explain why they are missing
        raise AttributeError(str(error.__cause__ or error)) from error
    return transformers, inner


def has_proba(model: Any) -> bool:
    """Whether a model, or the ranker inside of it, has pair probabilities."""
    while model is not None and not hasattr(model, "pairwise_proba"):
        model = unwrapped(model)[1]
    return model is not None


def pairwise_proba(model: Any, X: Any) -> FloatArray:
    """Probability that label i comes before label j, also through pipelines and searches.

    Parameters
    ----------
    model : fitted estimator
        A ranker with `pairwise_proba`, or a pipeline, search or other meta-estimator around one.
    X : array-like of shape (n_samples, n_features)
        Instances.

    Returns
    -------
    ndarray of shape (n_samples, n_labels, n_labels)
        1/2 on the diagonal.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> import labelrank
    >>> from labelrank.datasets import load_iris_rankings
    >>> X, y = load_iris_rankings(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), labelrank.LogLinearRanker()).fit(X, y)
    >>> labelrank.pairwise_proba(model, X[:1]).shape
    (1, 3, 3)
    """
    inner, X = innermost(model, X, "pairwise_proba")
    return inner.pairwise_proba(X)


def confidence(model: Any, X: Any) -> FloatArray:
    """Estimated share of the pairs that a prediction orders correctly, also through pipelines and searches.

    Parameters
    ----------
    model : fitted estimator
        A ranker with `pairwise_proba`, or a pipeline, search or other meta-estimator around one.
    X : array-like of shape (n_samples, n_features)
        Instances.

    Returns
    -------
    ndarray of shape (n_samples,)
        From 0 to 1.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> import labelrank
    >>> from labelrank.datasets import load_iris_rankings
    >>> X, y = load_iris_rankings(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), labelrank.LogLinearRanker()).fit(X, y)
    >>> bool((labelrank.confidence(model, X) > 0.5).all())
    True
    """
    inner, X = innermost(model, X, "confidence")
    return inner.confidence(X)


def predict_partial(model: Any, X: Any, threshold: float | None = None, groups: Any = None) -> PreferenceGraphs:
    """Partial orders of the preferences that a model asserts, also through pipelines and searches.

    Parameters
    ----------
    model : fitted estimator
        A ranker with `predict_partial`, or a pipeline, search or other meta-estimator around one.
    X : array-like of shape (n_samples, n_features)
        Instances.
    threshold : float, optional
        Probability above which a pair is asserted; by default 0.8. Not for :class:`~labelrank.ConformalRanker`.
    groups : array-like of shape (n_samples,), optional
        Groups, for a :class:`~labelrank.ConformalRanker` that was fitted with groups.

    Returns
    -------
    PreferenceGraphs of shape (n_samples, n_labels)
        Strict partial orders.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> import labelrank
    >>> from labelrank.datasets import load_iris_rankings
    >>> X, y = load_iris_rankings(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), labelrank.LogLinearRanker()).fit(X, y)
    >>> labelrank.predict_partial(model, X[:1], threshold=0.9).to_edges().better
    array([0, 0, 1])
    """
    inner, X = innermost(model, X, "predict_partial")
    if hasattr(inner, "thresholds_"):  # conformal
        if threshold is not None:
            raise ValueError(
                f"threshold={threshold} is for pair probabilities; {type(inner).__name__} computes its own from alpha"
            )
        return inner.predict_partial(X, groups=groups)
    if groups is not None:
        raise ValueError(f"groups are for ConformalRanker; {type(inner).__name__} does not support them")
    return inner.predict_partial(X) if threshold is None else inner.predict_partial(X, threshold)
