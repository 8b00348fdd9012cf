"""The instances that a model ranks worst."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from labelrank._arrays import FloatArray, competition_ranks
from labelrank._compat import Interval, validate_params
from labelrank.supervision import PreferenceGraphs, as_graphs, label_names, orders_from_ranks
from labelrank.supervision.frames import frame_like
from labelrank.supervision.names import in_order_of, labels_of, model_names
from labelrank.trust.delegation import confidence, has_proba


@validate_params(n=[Interval(Integral, 1, None, closed="left")])
def hardest(model: Any, X: Any, y: Any, n: int = 20) -> Any:
    """Return the instances on which a model is worst, with true and predicted rankings.

    Parameters
    ----------
    model : fitted ranker
        A ranker, or a pipeline or search around one.
    X : array-like or data frame of shape (n_samples, n_features)
        Instances.
    y : rank matrix or PreferenceGraphs of shape (n_samples, n_labels)
        Observed preferences.
    n : int, default=20
        Largest number of instances.

    Returns
    -------
    data frame
        With the index of `X`, if any. The columns are "row": the number of the instance; "tau": Kendall's tau over its
        observed pairs, smallest first; "confidence", if the model has it; "observed" and "predicted": the labels, best
        first, with ``=`` between tied ones. Battles are listed pair by pair. Instances without an observed pair are
        omitted.

    Examples
    --------
    >>> from labelrank import LogLinearRanker
    >>> from labelrank.datasets import load_iris_rankings
    >>> from labelrank.trust import hardest
    >>> X, y = load_iris_rankings(return_X_y=True)
    >>> list(hardest(LogLinearRanker().fit(X, y), X, y, n=3).columns)
    ['row', 'tau', 'confidence', 'observed', 'predicted']
    """
    graphs = as_graphs(y)
    ranks = np.asarray(model.predict(X), dtype=np.float64)
    ranks = in_order_of(label_names(graphs), ranks, model_names(model), ("y", "the model"))
    names = graphs.labels if graphs.has_names or labels_of(model) is None else labels_of(model)
    rows, tau = worst_rows(graphs, ranks, n)
    columns: dict[Any, Any] = {"row": rows, "tau": tau}
    if has_proba(model):
        columns["confidence"] = confidence(model, X)[rows]
    observed = [observed_text(graphs[[row]], names) for row in rows]
    predicted = [joined(order) for order in orders_from_ranks(ranks[rows], labels=names)]
    columns |= {"observed": np.array(observed, dtype=object), "predicted": np.array(predicted, dtype=object)}
    return frame_like(X, columns, rows=rows)


def worst_rows(graphs: PreferenceGraphs, ranks: FloatArray, n: int) -> tuple[npt.NDArray[np.intp], FloatArray]:
    """The `n` rows with the smallest tau, smallest first, and their tau; rows without a pair are omitted."""
    balance, total = graphs.concordance(ranks)
    known = np.flatnonzero(total > 0)
    tau = balance[known] / total[known]
    order = np.argsort(tau, kind="stable")[:n]
    return known[order], tau[order]


def observed_text(graph: PreferenceGraphs, names: Any) -> str:
    """Format the observed preferences of one instance as an order or pairs."""
    if graph.is_ranked:
        return joined(orders_from_ranks(competition_ranks(graph.rank_values()), labels=names)[0])
    edges = graph.to_edges()
    return ", ".join(f"{names[a]} > {names[b]}" for a, b in zip(edges.better, edges.worse, strict=True))


def joined(order: list[Any]) -> str:
    """Format an order as text, with ``=`` between tied labels."""
    return " > ".join(" = ".join(map(str, part)) if isinstance(part, tuple) else str(part) for part in order)
