"""Predictions for rows that a model has not learned from."""

from __future__ import annotations

from typing import Any, NamedTuple

from sklearn.base import clone
from sklearn.model_selection import KFold, check_cv
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from labelrank._arrays import FloatArray
from labelrank._compat import check_sample_weight, num_samples, safe_indexing
from labelrank.supervision import PreferenceGraphs, as_graphs


class Fold(NamedTuple):
    """Rows, and a model that has not learned from them."""

    model: Any
    X: Any
    graphs: PreferenceGraphs
    weight: FloatArray
    rows: Any  # indices of the rows


def held_out(estimator: Any, X: Any, y: Any, sample_weight: Any, cv: Any, random_state: Any) -> tuple[Any, list[Fold]]:
    """Fit a ranker on parts of the rows; return the final ranker, and the folds with the rankers for them.

    With one split the final ranker is that of the split; with several it learns from all rows.
    """
    graphs = as_graphs(y, ensure_min_samples=1)
    n = num_samples(X)
    if n != len(graphs):
        raise ValueError(f"Found input variables with inconsistent numbers of samples: X has {n}, y has {len(graphs)}")
    weight = check_sample_weight(sample_weight, graphs.has_pairs()[:, None], dtype=float, ensure_non_negative=True)
    if isinstance(cv, str):  # "prefit"
        check_is_fitted(estimator)
        return estimator, [Fold(estimator, X, graphs, weight, slice(None))]
    splitter = KFold(cv, shuffle=True, random_state=random_state) if isinstance(cv, int) else check_cv(cv)
    splits = list(splitter.split(X, graphs))

    def fitted(rows: Any) -> Any:
        params = {} if sample_weight is None else {"sample_weight": weight[rows]}
        return clone(estimator).fit(safe_indexing(X, rows), graphs[rows], **params)

    if sample_weight is not None and not has_fit_parameter(estimator, "sample_weight"):
        raise ValueError(
            f"{type(estimator).__name__} takes no sample_weight in fit; leave it out, or put the pipeline around this "
            "estimator instead of inside of it"
        )
    folds = [Fold(fitted(train), safe_indexing(X, test), graphs[test], weight[test], test) for train, test in splits]
    return (folds[0].model if len(folds) == 1 else fitted(slice(None))), folds
