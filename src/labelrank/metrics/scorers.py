"""Every metric as a scikit-learn scorer, by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from sklearn.utils import get_tags

from labelrank._arrays import of_tensor
from labelrank._compat import scorer_class
from labelrank.decompositions import covering_names, decomposition_names
from labelrank.metrics import costs, graph_errors, groups, rank_correlation, sets, top_of_ranking
from labelrank.supervision import PreferenceGraphs, is_graphs, label_names
from labelrank.supervision.indicators import rows_of_sets
from labelrank.supervision.names import fitted_ranker, in_order_of, labels_of, model_names

Scorer: Any = scorer_class()
_OF_SCORES = ("decision_function", "predict_proba")
_OF_COSTS = (costs.mean_cost, costs.regret, costs.closed_gap)
_OF_RANKINGS = (
    rank_correlation.kendall_tau,
    rank_correlation.kendall_tau_b,
    rank_correlation.kendall_tau_x,
    rank_correlation.spearman_rho,
    top_of_ranking.top_k_accuracy,
    top_of_ranking.ndcg,
    graph_errors.zero_one_error,
    graph_errors.disagreement_error,
    graph_errors.domination_error,
    graph_errors.dominated_error,
    graph_errors.generalized_error,
)


class NamedScorer(Scorer):
    """A scorer of scikit-learn that aligns predictions with `y` by the names of the labels.

    The labels of a model are its ``labels_``, found through pipelines, searches and other meta-estimators.
    """

    def _score(self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **params: Any) -> float:
        y_true, params = of_tensor(y_true), {name: of_tensor(value) for name, value in params.items()}
        names, ranker = model_names(estimator), fitted_ranker(estimator)
        if self._score_func in _OF_COSTS + _OF_RANKINGS and _estimator_type(ranker) == "classifier":
            raise TypeError(
                f"{self._score_func.__name__} needs predicted ranks, of which smaller is better, and "
                f"{type(ranker).__name__} predicts 1 for relevant labels; use a metric of sets, such as one_error or "
                "average_precision"
            )
        if self._score_func is groups.group_disagreement:
            _require_groups({**self._kwargs, **params})
        elif self._score_func in _OF_COSTS and hasattr(ranker, "_preferences_of"):
            if ranker._preferences_of(y_true) is not y_true:
                raise TypeError(
                    f"{self._score_func.__name__} reads y as costs (smaller is better), but {type(ranker).__name__} "
                    'reads y as scores (larger is better); use targets="ranks" and fit on costs'
                )
        elif self._score_func in _OF_RANKINGS and hasattr(ranker, "_preferences_of"):
            y_true = ranker._preferences_of(y_true)
        elif self._response_method == _OF_SCORES and not is_graphs(y_true):
            _refuse_indicators(estimator, y_true)
            y_true = list(y_true) if isinstance(y_true, Iterator) else y_true  # it is looked at twice
            if names is not None and rows_of_sets(y_true, "y", named=True) is not None:
                y_true = PreferenceGraphs.from_multilabel(y_true, labels=names)

        labels = labels_of(estimator)
        one_label = _estimator_type(ranker) == "classifier" and labels is not None and len(labels) == 1

        def predictions(model: Any, method: str, X: Any, **kwargs: Any) -> Any:
            # Of a single class scikit-learn would negate the scores.
            found = getattr(model, method)(X) if one_label else method_caller(model, method, X, **kwargs)
            return in_order_of(label_names(y_true), found, names, ("y", "the model"))

        return float(super()._score(predictions, estimator, X, y_true, **params))


def _estimator_type(estimator: Any) -> str | None:
    return get_tags(estimator).estimator_type if hasattr(estimator, "__sklearn_tags__") else None


def _refuse_indicators(estimator: Any, y_true: Any) -> None:
    """Raise for a ranker and a 0/1 matrix: for the ranker 0 is the best rank, for the metric 1 is relevant."""
    if _estimator_type(estimator) == "ranker":
        raise TypeError(
            f"y must be PreferenceGraphs for this scorer, got {type(y_true).__name__}: {type(estimator).__name__} is a "
            "ranker, for which 0 in a matrix is the best rank, whereas for the metric 1 is relevant. Pass "
            "y = PreferenceGraphs.from_multilabel(Y) to fit and to score"
        )


def _require_groups(params: dict[str, Any]) -> None:
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
        "mean_cost": (costs.mean_cost, False, "predict", {}),
        "regret": (costs.regret, False, "predict", {}),
        "closed_gap": (costs.closed_gap, True, "predict", {}),
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

    If `y` names its labels (a data frame, graphs, sets of names), its columns are matched with the ``labels_`` of the
    model by name, through pipelines and searches; names that do not match are an error.

    `y` is what ``fit`` takes: for a ranker of scores (``targets="scores"``) larger is better in `y` here too.

    Errors are negated, as in scikit-learn; ``"neg_domination_error"`` is another name of ``"domination_error"``, and
    ``"top_3"`` of ``"top_k_accuracy"`` with ``k=3``. Ranking metrics call ``predict``, metrics of sets
    ``decision_function``. ``"covering_error"`` and
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
    return NamedScorer(metric, 1 if greater else -1, {**fixed, **arguments}, response)


def make_scorer(
    metric: Callable[..., float], *, response_method: Any = "predict", greater_is_better: bool = True, **arguments: Any
) -> Any:
    """A metric of your own as a scorer that aligns predictions with `y` by the names of the labels.

    :func:`sklearn.metrics.make_scorer` compares column by column: predictions are arrays, and a metric does not see the
    model, which has the names.

    Parameters
    ----------
    metric : callable
        ``metric(y_true, y_pred, **arguments)``.
    response_method : str or sequence of str, default="predict"
        What the model is asked for.
    greater_is_better : bool, default=True
        Whether `metric` is a score, or an error, which the scorer negates.
    **arguments
        Further arguments of the metric.

    Returns
    -------
    scorer

    Examples
    --------
    >>> import pandas as pd
    >>> from labelrank import DummyRanker
    >>> from labelrank.metrics import kendall_tau, make_scorer
    >>> X, y = [[0], [1]], pd.DataFrame({"tea": [1, 1], "milk": [2, 2]})
    >>> model = DummyRanker().fit(X, y)
    >>> make_scorer(kendall_tau)(model, X, y[["milk", "tea"]])
    1.0
    """
    return NamedScorer(metric, 1 if greater_is_better else -1, arguments, response_method)


def get_scorers(*names: str) -> dict[str, Any]:
    """Several metrics as the dictionary of scorers that scikit-learn takes as `scoring`.

    Parameters
    ----------
    *names : str
        Names of metrics; see :func:`get_scorer`.

    Returns
    -------
    dict
        The scorer of each name.

    Examples
    --------
    >>> from sklearn.model_selection import cross_validate
    >>> from labelrank import DummyRanker
    >>> from labelrank.datasets import load_iris_rankings
    >>> from labelrank.metrics import get_scorers
    >>> X, y = load_iris_rankings(return_X_y=True)
    >>> sorted(cross_validate(DummyRanker(), X, y, scoring=get_scorers("kendall_tau", "top_1")))
    ['fit_time', 'score_time', 'test_kendall_tau', 'test_top_1']
    """
    return {name: get_scorer(name) for name in names}


def _entry(name: Any, arguments: dict[str, Any]) -> _Entry:
    """Return the entry of a metric by name; the name of an error may have the prefix "neg_"."""
    table = _table()
    top = re.fullmatch("top_([1-9][0-9]*)", name) if isinstance(name, str) else None
    if top:
        table[name] = (top_of_ranking.top_k_accuracy, True, "predict", {"k": int(top[1])})
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
