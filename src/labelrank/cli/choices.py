"""Names of rankers and metrics on the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sklearn.base import BaseEstimator

from labelrank import metrics
from labelrank.cli.columns import closest


@dataclass(frozen=True)
class Metric:
    """A ranking metric: its name, the function ``f(y_true, y_pred)``, and its direction."""

    name: str
    function: Callable[..., float]
    larger_is_better: bool = True


METRICS = {
    metric.name: metric
    for metric in (
        Metric("tau", metrics.kendall_tau),
        Metric("tau_b", metrics.kendall_tau_b),
        Metric("tau_x", metrics.kendall_tau_x),
        Metric("rho", metrics.spearman_rho),
        Metric("ndcg", metrics.ndcg),
        Metric("top1", metrics.top_k_accuracy),
        Metric("zero_one", metrics.zero_one_error, larger_is_better=False),
        Metric("disagreement", metrics.disagreement_error, larger_is_better=False),
        Metric("domination", metrics.domination_error, larger_is_better=False),
        Metric("dominated", metrics.dominated_error, larger_is_better=False),
    )
}


def choose_rankers(rankers: Mapping[str, BaseEstimator], names: str | None) -> dict[str, BaseEstimator]:
    """Return the rankers named in a comma-separated list, ignoring case; all if the list is None."""
    if names is None:
        return dict(rankers)
    return {name: rankers[name] for name in _choose("ranker", rankers, names.split(","))}


def choose_metrics(names: Sequence[str]) -> list[Metric]:
    """Return the metrics named in comma-separated lists, by the names above or those of `labelrank.metrics`."""
    full = {metric.function.__name__: metric.name for metric in METRICS.values()}
    wanted = [full.get(name.strip(), name) for text in names for name in text.split(",")]
    return [METRICS[name] for name in _choose("metric", METRICS, wanted)]


def _choose(what: str, known: Iterable[str], names: Iterable[str]) -> list[str]:
    by_lower_case = {name.lower(): name for name in known}
    listed = ", ".join(by_lower_case.values())
    chosen = [name.strip().lower() for name in names if name.strip()]
    for name in chosen:
        if name not in by_lower_case:
            hint = closest(name, by_lower_case.values()) or "."
            raise ValueError(f"there is no {what} {name!r}{hint} Known: {listed}")
    if not chosen:
        raise ValueError(f"no {what} is named; known: {listed}")
    return [by_lower_case[name] for name in dict.fromkeys(chosen)]
