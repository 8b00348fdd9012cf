"""Every metric as a scikit-learn scorer, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.metrics import make_scorer

from labelrank.decompositions import covering_names, decomposition_names
from labelrank.metrics import graph_errors, groups, rank_correlation, sets, top_of_ranking

_OF_SCORES = ("decision_function", "predict_proba")


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
    ``"covering_error:hamming"``. The scorer of ``"group_disagreement"`` takes `groups` by metadata routing.

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
    table = _table()
    entry: _Entry
    key = name.removeprefix("neg_") if isinstance(name, str) else name
    if key == "generalized_error" and "decomposition" in arguments:
        entry = (graph_errors.generalized_error, False, "predict", {})
    elif key == "covering_error" and "covering" in arguments:
        entry = (sets.covering_error, False, _OF_SCORES, {})
    elif key in table:
        entry = table[key]
    else:
        raise ValueError(f"scorer {name!r} is not known; choose one of {sorted(table)}")
    metric, greater, response, fixed = entry
    return make_scorer(metric, greater_is_better=greater, response_method=response, **fixed, **arguments)
