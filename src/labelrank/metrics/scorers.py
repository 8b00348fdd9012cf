"""Every metric as a scikit-learn scorer, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.metrics import make_scorer
from sklearn.utils import get_tags

from labelrank.decompositions import covering_names, decomposition_names
from labelrank.metrics import graph_errors, groups, rank_correlation, sets, top_of_ranking
from labelrank.supervision import is_graphs

_OF_SCORES = ("decision_function", "predict_proba")


class CheckedScorer:
    """A scorer that checks the estimator and `y_true`; the metric itself never sees the estimator.

    Parameters
    ----------
    scorer : scorer of :func:`sklearn.metrics.make_scorer`
        Does the scoring, and knows what to request.
    check : callable
        ``check(estimator, y_true, params)`` raises an error about a call that would give a wrong number.
    """

    def __init__(self, scorer: Any, check: Callable[[Any, Any, dict[str, Any]], None]) -> None:
        self._scorer = scorer
        self._check = check

    def __call__(self, estimator: Any, X: Any, y_true: Any, **params: Any) -> float:
        """The score of the predictions for `X`, larger is better."""
        self._check(estimator, y_true, params)
        return self._scorer(estimator, X, y_true, **params)

    def __repr__(self) -> str:
        return repr(self._scorer)

    def set_score_request(self, **requests: Any) -> CheckedScorer:
        """Request metadata for the metric, such as ``groups=True``."""
        self._scorer.set_score_request(**requests)
        return self

    def get_metadata_routing(self) -> Any:
        """Requests for metadata, such as `groups`."""
        return self._scorer.get_metadata_routing()

    # scikit-learn asks its scorers for these two.

    @property
    def _sign(self) -> int:
        return self._scorer._sign

    def _accept_sample_weight(self) -> bool:
        return self._scorer._accept_sample_weight()


def _refuse_indicators(estimator: Any, y_true: Any, params: dict[str, Any]) -> None:
    """Raise for a ranker and a 0/1 matrix, in which it takes 0 as the best rank and the metric takes 1 as relevant."""
    if is_graphs(y_true) or not hasattr(estimator, "__sklearn_tags__"):
        return
    if get_tags(estimator).estimator_type == "ranker":
        raise TypeError(
            f"y must be PreferenceGraphs for this scorer, got {type(y_true).__name__}: {type(estimator).__name__} is a "
            "ranker, to which 0 in a matrix is the best rank, while the metric takes 1 as relevant. Pass "
            "y = PreferenceGraphs.from_multilabel(Y) to fit and to score"
        )


def _require_groups(estimator: Any, y_true: Any, params: dict[str, Any]) -> None:
    """Raise without groups, as all items of a fold would be compared."""
    if "groups" not in params:
        raise ValueError(
            "group_disagreement needs groups, and none were routed to its scorer: call "
            "sklearn.set_config(enable_metadata_routing=True), then set_score_request(groups=True) on the scorer, and "
            'pass params={"groups": groups} to cross_validate. If all items are one group, say '
            'get_scorer("group_disagreement", groups=None)'
        )


# metric, whether larger is better, what the estimator is asked for, arguments
_Entry = tuple[Callable[..., float], bool, Any, dict[str, Any]]


def _table() -> dict[str, _Entry]:
    table: dict[str, _Entry] = {
        "kendall_tau": (rank_correlation.kendall_tau, True, "predict", {}),
        "kendall_tau_b": (rank_correlation.kendall_tau_b, True, "predict", {}),
        "kendall_tau_x": (rank_correlation.kendall_tau_x, True, "predict", {}),
        "spearman_rho": (rank_correlation.spearman_rho, True, "predict", {}),
        "top_k_accuracy": (top_of_ranking.top_k_accuracy, True, "predict", {}),
        "ndcg": (top_of_ranking.ndcg, True, "predict", {}),
        "zero_one_error": (graph_errors.zero_one_error, False, "predict", {}),
        "disagreement_error": (graph_errors.disagreement_error, False, "predict", {}),
        "domination_error": (graph_errors.domination_error, False, "predict", {}),
        "dominated_error": (graph_errors.dominated_error, False, "predict", {}),
        "one_error": (sets.one_error, False, _OF_SCORES, {}),
        "coverage": (sets.coverage, False, _OF_SCORES, {}),
        "average_precision": (sets.average_precision, True, _OF_SCORES, {}),
        "group_disagreement": (groups.group_disagreement, False, "predict", {}),
    }
    for name in decomposition_names():
        arguments = {"decomposition": name}
        table[f"generalized_error:{name}"] = (graph_errors.generalized_error, False, "predict", arguments)
    for name in covering_names():
        table[f"covering_error:{name}"] = (sets.covering_error, False, _OF_SCORES, {"covering": name})
    return table


def get_scorer_names() -> list[str]:
    """Names that :func:`get_scorer` knows."""
    return sorted(_table())


def get_scorer(name: str, **arguments: Any) -> Any:
    """A metric as a scikit-learn scorer: ``scorer(estimator, X, y)``, larger is better.

    Errors are negated, as in scikit-learn; ``"neg_domination_error"`` is another name of ``"domination_error"``.
    Ranking metrics call ``predict``, metrics of sets ``decision_function``. ``"covering_error"`` and
    ``"generalized_error"`` take their covering and decomposition as an argument or behind a colon:
    ``"covering_error:hamming"``. The scorer of ``"group_disagreement"`` needs `groups`, by metadata routing.

    With a ranker, metrics of sets take :meth:`PreferenceGraphs.from_multilabel
    <labelrank.PreferenceGraphs.from_multilabel>` as `y`: in a matrix of 0 and 1 a ranker sees ranks.

    Parameters
    ----------
    name : str
        Name of the metric; see :func:`get_scorer_names`.
    **arguments
        Further arguments of the metric, such as ``k=3``.

    Returns
    -------
    scorer

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from labelrank import DummyRanker
    >>> from labelrank.datasets import load_iris_rankings
    >>> from labelrank.metrics import get_scorer
    >>> X, y = load_iris_rankings(return_X_y=True)
    >>> scores = cross_val_score(DummyRanker(), X, y, scoring=get_scorer("top_k_accuracy", k=2))
    >>> len(scores)
    5
    """
    metric, greater, response, fixed = _entry(name, arguments)
    scorer = make_scorer(metric, greater_is_better=greater, response_method=response, **fixed, **arguments)
    if response is _OF_SCORES:
        return CheckedScorer(scorer, _refuse_indicators)
    if metric is groups.group_disagreement and "groups" not in arguments:
        return CheckedScorer(scorer, _require_groups)
    return scorer


def _entry(name: Any, arguments: dict[str, Any]) -> _Entry:
    """Return the entry of a metric by name; the name of an error may have the prefix "neg_"."""
    table = _table()
    table["generalized_error"] = (graph_errors.generalized_error, False, "predict", {})
    table["covering_error"] = (sets.covering_error, False, _OF_SCORES, {})
    key = name if isinstance(name, str) and name in table else str(name).removeprefix("neg_")
    if key not in table or (key != name and table[key][1]):
        raise ValueError(f"scorer {name!r} is not known; choose one of {get_scorer_names()}")
    for metric, argument, example in (
        ("generalized_error", "decomposition", "domination"),
        ("covering_error", "covering", "hamming"),
    ):
        if key == metric and argument not in arguments:
            raise ValueError(
                f'{metric} needs {argument}=: get_scorer("{metric}", {argument}=...), or a name behind a colon, as in '
                f'"{metric}:{example}"'
            )
    return table[key]
