"""Input columns of the output columns of transformers."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import OneToOneFeatureMixin
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.feature_selection import SelectorMixin
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, OneHotEncoder

IndexArray = npt.NDArray[np.intp]


def origins(transformer: Any, n_features: int) -> IndexArray | None:
    """Input column of each output column of a fitted transformer; None if an output may mix several inputs.

    Supported are scikit-learn transformers that work column by column (scalers, imputers, one-hot and ordinal
    encoders), selectors, and column transformers, unions and pipelines of them. A column transformer may apply any
    transformer to a single column, such as a text vectorizer.

    Parameters
    ----------
    transformer : fitted transformer, "passthrough" or None
    n_features : int
        Number of input columns.

    Returns
    -------
    int ndarray of shape (n_outputs,) or None

    Examples
    --------
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> from labelrank.trust.origins import origins
    >>> origins(OneHotEncoder().fit([["red", 1], ["blue", 1], ["red", 2]]), 2)
    array([0, 0, 1, 1])
    """
    if transformer is None or (isinstance(transformer, str) and transformer == "passthrough"):
        return np.arange(n_features)
    if isinstance(transformer, Pipeline):
        found: IndexArray = np.arange(n_features)
        for _, step in transformer.steps:
            ahead = origins(step, len(found))
            if ahead is None:
                return None
            found = found[ahead]
        return found
    if isinstance(transformer, ColumnTransformer):
        return _of_column_transformer(transformer)
    if isinstance(transformer, FeatureUnion):
        parts = [origins(step, n_features) for _, step in transformer.transformer_list if step != "drop"]
        return None if any(part is None for part in parts) else np.concatenate([p for p in parts if p is not None])
    if isinstance(transformer, (Normalizer, TfidfTransformer)):  # divide by a norm of the row
        return None
    if isinstance(transformer, OneToOneFeatureMixin):
        return np.arange(n_features)
    if isinstance(transformer, SelectorMixin):
        return np.asarray(transformer.get_support(indices=True))
    if isinstance(transformer, (OneHotEncoder, SimpleImputer)):  # parse the output names of numbered inputs
        renamed = copy(transformer)
        vars(renamed).pop("feature_names_in_", None)
        if isinstance(renamed, OneHotEncoder):
            renamed.feature_name_combiner = "concat"
        names = renamed.get_feature_names_out([f"{i}_" for i in range(n_features)])
        numbers = [name.removeprefix("missingindicator_").split("_", 1)[0] for name in names]
        return np.array(numbers, dtype=np.intp)
    if isinstance(transformer, FunctionTransformer) and transformer.func is None:
        return np.arange(n_features)
    return None


def words(transformer: Any) -> dict[int, str]:
    """Output columns of a fitted transformer that are words of a text column, with the words."""
    if isinstance(transformer, CountVectorizer):
        return dict(enumerate(transformer.get_feature_names_out().tolist()))
    if not isinstance(transformer, ColumnTransformer):
        return {}
    found: dict[int, str] = {}
    for name, step, _ in transformer.transformers_:
        place = transformer.output_indices_[name]
        found |= {place.start + i: word for i, word in words(step).items()}
    return found


def _of_column_transformer(transformer: ColumnTransformer) -> IndexArray | None:
    found: IndexArray = np.empty(max(part.stop for part in transformer.output_indices_.values()), dtype=np.intp)
    for name, step, columns in transformer.transformers_:
        place = transformer.output_indices_[name]
        if place.start == place.stop or (isinstance(step, str) and step == "drop"):
            continue
        chosen = _positions(columns, transformer)
        own = origins(step, len(chosen))
        if own is None and len(chosen) == 1:  # any transformer of a single column
            own = np.zeros(place.stop - place.start, dtype=np.intp)
        if own is None or len(own) != place.stop - place.start:
            return None
        found[place] = chosen[own]
    return found


def _positions(columns: Any, transformer: ColumnTransformer) -> IndexArray:
    """Positions of the columns that a part of a column transformer takes."""
    names = getattr(transformer, "feature_names_in_", None)
    everything = np.arange(transformer.n_features_in_)
    chosen = [columns] if isinstance(columns, (str, int)) else columns
    if isinstance(chosen, slice) and not isinstance(chosen.start or chosen.stop, str):
        return everything[chosen]
    chosen = np.asarray(chosen)
    if chosen.dtype.kind in "OUT" and names is not None:
        place = {name: position for position, name in enumerate(names)}
        return np.array([place[name] for name in chosen.tolist()], dtype=np.intp)
    return everything[chosen]
