"""Checks that a ranker keeps the contract of rankers, also for third-party estimators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labelrank.testing import behavior, learning

__all__ = ["check_ranker", "ranker_checks"]


def check_ranker(estimator: Any) -> None:
    """Check that an estimator keeps the contract of rankers.

    The checks of :func:`sklearn.utils.estimator_checks.check_estimator` hold; every kind of supervision is accepted
    (ranks with ties and missing labels, frames, graphs of pairs with cycles, sets of relevant labels); predictions
    are complete ranks in the order of the scores; a weight is equivalent to repeating a row; the order of the rows does
    not matter; models survive pickling and a second fit that fails; errors name bad parameters; inputs are not
    modified; names of labels are preserved; callbacks are called, and an interrupted fit keeps what was learned.

    An estimator with the tag ``non_deterministic`` need not give the same model for the same data in another form.
    Sparse features, pairwise probabilities, confidences, callbacks and parameter constraints are checked if the
    estimator has them.

    Parameters
    ----------
    estimator : ranker
        An instance, with the parameters to check. It is cloned. The problems are small (60 samples, 3 features,
        4 labels), and are fitted some hundred times.

    Raises
    ------
    AssertionError
        If a check fails; the message says what is wrong.

    See Also
    --------
    ranker_checks : The single checks, one per test.

    Examples
    --------
    >>> from labelrank import DummyRanker
    >>> from labelrank.testing import check_ranker
    >>> check_ranker(DummyRanker())
    >>> class CountsFromZero(DummyRanker):
    ...     def predict(self, X):
    ...         return super().predict(X) - 1
    >>> check_ranker(CountsFromZero())
    Traceback (most recent call last):
        ...
    AssertionError: CountsFromZero: predict must be 1 + the number of labels with a larger decision_function after ...
    """
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        raise TypeError(f"estimator must be an instance of a ranker, got {estimator!r}")
    for check in ranker_checks():
        check(estimator)


def ranker_checks() -> list[Callable[[Any], None]]:
    """List the single checks of :func:`check_ranker`, for one test each.

    Returns
    -------
    list of callables
        Functions of an estimator that raise AssertionError if the check fails.

    Examples
    --------
    Tests of two rankers, one per check:

    >>> import pytest
    >>> from labelrank import DummyRanker, LogLinearRanker
    >>> from labelrank.testing import ranker_checks
    >>> @pytest.mark.parametrize("check", ranker_checks(), ids=lambda check: check.__name__)
    ... @pytest.mark.parametrize("estimator", [DummyRanker(), LogLinearRanker()], ids=str)
    ... def test_contract(estimator, check):
    ...     check(estimator)
    """
    # Inputs first: an estimator that modifies them would fail other checks with misleading messages.
    others = [check for check in (*learning.CHECKS, *behavior.CHECKS) if check is not behavior.check_inputs_unchanged]
    return [behavior.check_inputs_unchanged, *others]
