"""Label names of models, and columns put in the order of names."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from labelrank.supervision.vectors import Labels

# Where meta-estimators keep the fitted estimator that predicts: searches, self-training and the like, frozen ones.
_INNER = ("best_estimator_", "estimator_", "regressor_", "estimator")


def fitted_ranker(model: Any) -> Any:
    """Return the estimator that has labels in a pipeline, a search or another meta-estimator; None if there is none."""
    while model is not None and _own_labels(model) is None:
        model = unwrapped(model)[1]
    return model


def unwrapped(model: Any) -> tuple[Any, Any]:
    """Return the transformers in front of the next estimator inside of a model, or None, and that estimator, or None.

    A model that is not a pipeline, a search or another meta-estimator has none inside.
    """
    if getattr(model, "steps", None):  # a pipeline
        return (model[:-1] if len(model.steps) > 1 else None), model.steps[-1][1]
    return None, next((found for name in _INNER if (found := getattr(model, name, None)) is not None), None)


def labels_of(model: Any) -> Labels | None:
    """Return the labels that a model, or the model inside of it, was fitted with; None if it has none."""
    ranker = fitted_ranker(model)
    return None if ranker is None else _own_labels(ranker)


def model_names(model: Any) -> Labels | None:
    """Return the labels of a model if they were given names, otherwise None."""
    labels = labels_of(model)
    return labels if labels is not None and labels.dtype == object else None


def _own_labels(model: Any) -> Labels | None:
    for name in ("labels_", "classes_"):  # of rankers, of multilabel classifiers
        labels = getattr(model, name, None)
        if isinstance(labels, np.ndarray) and labels.ndim == 1:
            return labels
    return None


def columns_for(model: Any, graphs: Any) -> npt.NDArray[np.intp]:
    """Columns of the scores of a model in the order of the labels of graphs; raise ValueError for other labels."""
    labels, name = labels_of(model), type(model if (ranker := fitted_ranker(model)) is None else ranker).__name__
    columns = np.arange(graphs.shape[1])
    if labels is None:
        return columns
    if len(labels) != graphs.shape[1]:
        raise ValueError(f"y has {graphs.shape[1]} labels, but {name} was fitted with {len(labels)}")
    names = graphs.labels if graphs.has_names else None
    return np.asarray(in_order_of(names, columns[np.newaxis], model_names(model), ("y", name))[0])


def in_order_of(
    wanted: Labels | None, matrix: npt.NDArray[Any], names: Labels | None, who: tuple[str, str]
) -> npt.NDArray[Any]:
    """Put the columns of a matrix, called `names`, in the order of other names; without names they stay as they are.

    `who` says in an error whose names do not match: those that are wanted, and those of the matrix.
    """
    if wanted is None or names is None or list(wanted) == list(names):
        return matrix
    column = {name: i for i, name in enumerate(names)}
    if column.keys() != set(wanted):
        only = [
            f"only {whose} has [{', '.join(sorted(map(repr, mine - theirs)))}]"
            for whose, mine, theirs in ((who[0], set(wanted), column.keys()), (who[1], column.keys(), set(wanted)))
            if mine - theirs
        ]
        raise ValueError(
            f"{who[0]} and {who[1]} name different labels: {', '.join(only)}; rename "
            "the columns, or add an empty one for a label without observations"
        )
    return np.ascontiguousarray(matrix[:, [column[name] for name in wanted]])
