"""The candidates of AutoRanker, each in a pipeline that preprocesses raw data for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.utils import check_random_state, get_tags

from labelrank._compat import num_samples, safe_indexing
from labelrank.auto.costs import CostRegressionRanker, CostWeightedRanker
from labelrank.auto.preprocessing import pipeline_for
from labelrank.neighbors import KNeighborsRankerCV
from labelrank.rankers import KernelRidgeRankerCV, LogLinearRanker
from labelrank.trees import ExtraTreesRanker, GradientBoostingRanker, RandomForestRanker

_MANY_ROWS = 5000  # above, forests are smaller, and kernels are not used
_WIDE = 60  # above this number of columns, quadratic features are not used


def default_candidates(n_rows: int, with_costs: bool = False) -> dict[str, Any]:
    """Default candidates by name, fast ones first, so that at least one is fitted if the time is short.

    Examples
    --------
    >>> from labelrank.auto.candidates import default_candidates
    >>> list(default_candidates(100))  # doctest: +NORMALIZE_WHITESPACE
    ['linear', 'penalized linear', 'quadratic', 'neighbors', 'kernel ridge', 'extra trees', 'random forest',
     'boosted trees', 'small boosted trees']
    """
    many = n_rows > _MANY_ROWS
    forest: dict[str, Any] = {"n_estimators": 100 if many else 300}
    if not many:
        forest["min_samples_split"] = 2
    small = GradientBoostingRanker(learning_rate=0.05, max_leaf_nodes=8, subsample=0.7, max_features=0.5)
    trees = {"extra trees": ExtraTreesRanker(**forest), "random forest": RandomForestRanker(**forest)}
    if with_costs:
        return {
            "forest of log costs": CostRegressionRanker(RandomForestRegressor()),
            "extra trees of log costs": CostRegressionRanker(ExtraTreesRegressor()),
            "forest of costs": CostRegressionRanker(RandomForestRegressor(min_samples_leaf=2), log=False),
            "extra trees of costs": CostRegressionRanker(ExtraTreesRegressor(min_samples_leaf=2), log=False),
            "forest": CostWeightedRanker(RandomForestRanker(150)),
            "extra trees": CostWeightedRanker(ExtraTreesRanker(150)),
        }
    quadratic = PolynomialFeatures(include_bias=False), StandardScaler(), LogLinearRanker("disagreement", alpha=0.3)
    return {
        "linear": LogLinearRanker("disagreement", alpha=0.1),
        "penalized linear": LogLinearRanker("disagreement"),
        "quadratic": make_pipeline(*quadratic),
        "neighbors": KNeighborsRankerCV(weights="dudani"),
        **({} if many else {"kernel ridge": KernelRidgeRankerCV()}),
        **trees,
        "boosted trees": GradientBoostingRanker(),
        "small boosted trees": small,
    }


def prepared_candidates(
    candidates: Mapping[str, Any] | Sequence[Any] | None,
    X: Any,
    text_columns: Any,
    random_state: Any,
    with_costs: bool = False,
) -> dict[str, Any]:
    """Pipelines by name: rankers get the preprocessing for X, pipelines passed by the user are unchanged."""
    rng = check_random_state(random_state)
    if candidates is None:
        defaults = default_candidates(num_samples(X), with_costs)
        found = {name: pipeline_for(ranker, X, text_columns=text_columns) for name, ranker in defaults.items()}
        if "quadratic" in found:
            some = _preprocessed(found["linear"], X)
            if some.shape[1] > _WIDE:
                del found["quadratic"]
            elif sparse.issparse(some):
                found["quadratic"][-2].set_params(with_mean=False)  # sparse matrices cannot be centered
    else:
        found = {
            name: clone(ranker) if isinstance(ranker, Pipeline) else pipeline_for(ranker, X, text_columns=text_columns)
            for name, ranker in _named(candidates).items()
        }
    for model in found.values():
        settings: dict[str, Any] = {}
        for name, value in model.get_params().items():
            if name.rpartition("__")[2] == "random_state" and value is None:
                settings[name] = int(rng.randint(np.iinfo(np.int32).max))
            elif name.rpartition("__")[2] == "on_empty":
                settings[name] = "ignore"  # warn once, not for every model and fold
        model.set_params(**settings)
    return found


def _named(candidates: Mapping[str, Any] | Sequence[Any]) -> dict[str, Any]:
    if isinstance(candidates, Mapping):
        named = dict(candidates)
    else:
        named = {}
        for ranker in candidates:
            name = type(ranker.steps[-1][1] if isinstance(ranker, Pipeline) else ranker).__name__
            count = sum(other == name or other.startswith(f"{name} ") for other in named)
            named[f"{name} {count + 1}" if count else name] = ranker
    if not named:
        raise ValueError("candidates is empty; name at least one ranker, or pass None for the default ones")
    for ranker in named.values():
        is_fittable = hasattr(ranker, "fit") and not isinstance(ranker, type)
        if not is_fittable or (hasattr(ranker, "__sklearn_tags__") and get_tags(ranker).estimator_type != "ranker"):
            raise TypeError(f"candidates must be rankers, such as LogLinearRanker(), got {ranker!r}")
    return named


def _preprocessed(model: Any, X: Any) -> Any:
    """Some rows as they are after preprocessing."""
    if not isinstance(model, Pipeline):
        return X
    some = safe_indexing(X, np.arange(min(num_samples(X), 1000)))
    return clone(model[:-1]).fit_transform(some)
