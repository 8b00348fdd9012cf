"""Transformers of scikit-learn in an ONNX graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn import compose, feature_selection, impute, pipeline, preprocessing

from labelrank._arrays import is_missing
from labelrank.auto.preprocessing import MissingAsNaN
from labelrank.onnx.graph import Value, joined


def transform(step: Any, value: Value) -> Value:
    """Add a fitted transformer to the graph."""
    if isinstance(step, str) and step == "passthrough":
        return value
    if isinstance(step, preprocessing.FunctionTransformer) and step.func is None:  # a ColumnTransformer's passthrough
        return value
    for kind, function in CONVERTERS.items():
        if type(step) is kind:
            return function(step, value)
    if isinstance(step, feature_selection.SelectorMixin) and hasattr(step, "get_support"):
        return value.number().select(np.flatnonzero(step.get_support()).tolist())
    raise ValueError(f"{type(step).__name__} cannot be converted to ONNX; supported transformers: {_names()}")


def _names() -> str:
    return ", ".join(sorted(kind.__name__ for kind in CONVERTERS))


def _pipeline(step: Any, value: Value) -> Value:
    for _, inner in step.steps:
        value = value if inner is None else transform(inner, value)
    return value


def _columns(step: Any, value: Value) -> Value:
    parts = []
    names = list(getattr(step, "feature_names_in_", []))
    for name, inner, columns in step.transformers_:
        if isinstance(inner, str) and inner == "drop":
            continue
        chosen = _indices(columns, value.width, names)
        if not chosen:
            continue
        if isinstance(columns, str) or (np.ndim(columns) == 0 and not isinstance(columns, slice)):
            raise ValueError(
                f"the part {name!r} of the ColumnTransformer takes a single column as a vector, like text vectorizers, "
                "and cannot be converted to ONNX"
            )
        parts.append(transform(inner, value.select(chosen)).number())
    return joined(parts)


def _indices(columns: Any, width: int, names: list[Any]) -> list[int]:
    """Indices of the input columns of a part of a ColumnTransformer."""
    everything = np.arange(width)
    if isinstance(columns, slice):
        if any(isinstance(end, str) for end in (columns.start, columns.stop)):
            first = 0 if columns.start is None else names.index(columns.start)
            last = width if columns.stop is None else names.index(columns.stop) + 1
            return everything[first : last : columns.step].tolist()
        return everything[columns].tolist()
    columns = np.atleast_1d(np.asarray(columns))
    if columns.dtype.kind in "OU":
        return [names.index(column) if isinstance(column, str) else int(column) for column in columns]
    return [int(i) for i in everything[columns]] if columns.size else []


def _union(step: Any, value: Value) -> Value:
    weights = step.transformer_weights or {}
    parts = []
    for name, inner in step.transformer_list:
        if inner != "drop":
            part = transform(inner, value).number()
            parts.append(part.then("Mul", part.graph.number(weights[name])) if name in weights else part)
    return joined(parts)


def _linear(value: Value, shift: Any, divisor: Any) -> Value:
    """(x - shift) / divisor; either may be None."""
    value = value.number()
    value = value if shift is None else value.then("Sub", value.graph.number(shift))
    return value if divisor is None else value.then("Div", value.graph.number(divisor))


def _standard(step: Any, value: Value) -> Value:
    return _linear(value, step.mean_ if step.with_mean else None, step.scale_)


def _robust(step: Any, value: Value) -> Value:
    return _linear(value, step.center_ if step.with_centering else None, step.scale_ if step.with_scaling else None)


def _largest(step: Any, value: Value) -> Value:
    return _clipped(_linear(value, None, step.scale_), getattr(step, "clip", False), (-1, 1))


def _min_max(step: Any, value: Value) -> Value:
    value = value.number()
    value = value.then("Mul", value.graph.number(step.scale_)).then("Add", value.graph.number(step.min_))
    return _clipped(value, step.clip, step.feature_range)


def _clipped(value: Value, clips: bool, limits: tuple[float, float]) -> Value:
    return value.then("Clip", *map(value.graph.number, limits)) if clips else value


def _imputer(step: Any, value: Value) -> Value:
    graph = value.graph
    statistics = np.asarray(step.statistics_)
    if statistics.dtype.kind in "OU":
        if step.add_indicator:
            raise ValueError("SimpleImputer(add_indicator=True) of text cannot be converted to ONNX")
        value = value.text()
        return value.then("Equal", graph.constant([""])).where(graph.constant(statistics.astype(str)), value)
    value = value.number()
    if not is_missing(step.missing_values):
        raise ValueError(f"SimpleImputer(missing_values={step.missing_values!r}) cannot be converted to ONNX; use NaN")
    known = np.arange(len(statistics)) if step.keep_empty_features else np.flatnonzero(~np.isnan(statistics))
    kept = value.select(known.tolist())
    filled = kept.then("IsNaN").where(graph.number(statistics[known]), kept)
    if not step.add_indicator or not len(step.indicator_.features_):
        return filled
    flags = value.select(step.indicator_.features_.tolist()).then("IsNaN")
    return joined([filled, Value(graph, graph.cast(flags.name), flags.width)])


def _unchanged(step: Any, value: Value) -> Value:
    return value  # a missing text is the empty string, a missing number NaN


def _polynomial(step: Any, value: Value) -> Value:
    """Products of features, each a product of `degree` columns, padded by ones."""
    value = value.number()
    graph, powers = value.graph, step.powers_.astype(int)
    degree = int(powers.sum(axis=1).max(initial=0))
    # The column of ones is not computed as 0 · x + 1, which would be NaN for infinite x.
    first = value.select([0])
    ones = Value(graph, graph.op("Where", graph.op("IsNaN", first.name), graph.number(1), graph.number(1)), 1)
    table, factors = joined([value, ones]), np.full((len(powers), max(degree, 1)), value.width)
    for row, exponents in enumerate(powers):
        repeated = np.repeat(np.arange(value.width), exponents)
        factors[row, : len(repeated)] = repeated
    product = table.select(factors[:, 0].tolist())
    for column in factors.T[1:]:
        product = product.then("Mul", table.select(column.tolist()).name)
    return product


def _one_hot(step: Any, value: Value) -> Value:
    """Add a row of a table for each category to the encoding of the first categories.

    The rows are computed by the encoder, so that its rules for rare, unknown and dropped categories apply.
    """
    graph, parts = value.graph, []
    first = [categories[0] for categories in step.categories_]

    def encoded(feature: int, category: Any) -> npt.NDArray[np.float64]:
        row = np.array([[*first[:feature], category, *first[feature + 1 :]]], dtype=object)
        row = row if any(isinstance(entry, str) or entry is None for entry in row[0]) else row.astype(np.float64)
        found = _without_names(step).transform(row)
        return np.asarray(found.toarray() if hasattr(found, "toarray") else found, dtype=np.float64)[0]

    base = encoded(0, first[0])
    for feature, categories in enumerate(step.categories_):
        rows = [encoded(feature, category) - base for category in categories]
        unknown = "\0" if isinstance(first[feature], str) else _other_than(categories)
        rows.append(encoded(feature, unknown) - base if step.handle_unknown != "error" else np.zeros(len(base)))
        place = place_of(value.select([feature]), categories)
        parts.append(graph.op("Gather", graph.number(np.array(rows)), place, axis=0))
    total = graph.op("Sum", *parts, graph.number(base[np.newaxis]))
    return Value(graph, total, len(base))


def _ordinal(step: Any, value: Value) -> Value:
    graph, parts = value.graph, []
    if getattr(step, "infrequent_categories_", None) and any(c is not None for c in step.infrequent_categories_):
        raise ValueError("OrdinalEncoder with infrequent categories cannot be converted to ONNX")
    for feature, categories in enumerate(step.categories_):
        unknown = step.unknown_value if step.handle_unknown == "use_encoded_value" else np.nan
        codes = [step.encoded_missing_value if is_missing(c) else float(i) for i, c in enumerate(categories)]
        place = place_of(value.select([feature]), categories)
        parts.append(Value(graph, graph.op("Gather", graph.number([[code] for code in [*codes, unknown]]), place), 1))
    return joined(parts)


def place_of(column: Value, categories: npt.NDArray[Any]) -> str:
    """Index of the category of each row, or the number of categories if it is unknown; of shape (n_samples,)."""
    graph, known = column.graph, [not is_missing(category) for category in categories]
    if any(isinstance(category, str) for category in categories) or not any(known):
        names = ["" if is_missing(category) else category for category in categories]
        equal = graph.op("Equal", column.text().name, graph.constant([names]))
    else:
        column = column.number()
        numbers = [
            float(category) if is_known else np.nan for category, is_known in zip(categories, known, strict=True)
        ]
        equal = graph.op("Equal", column.name, graph.number([numbers]))
        missing = graph.op("And", graph.op("IsNaN", column.name), graph.constant(~np.array([known])))
        equal = graph.op("Or", equal, missing)
    points = graph.cast(equal)  # an additional column with 0.5 stands for unknown categories
    most = graph.op("ReduceMax", points, graph.constant(np.array([1])), keepdims=1)
    none = graph.op("Add", graph.op("Mul", most, graph.number(0)), graph.number(0.5))
    return graph.op("ArgMax", graph.op("Concat", points, none, axis=1), axis=1, keepdims=0)


def _without_names(step: Any) -> Any:
    """A copy of an encoder that does not warn about missing feature names."""
    if not hasattr(step, "feature_names_in_"):
        return step
    copy = type(step)(**step.get_params())
    copy.__dict__.update({name: value for name, value in vars(step).items() if name != "feature_names_in_"})
    return copy


def _other_than(categories: npt.NDArray[Any]) -> float:
    numbers = [float(category) for category in categories if not is_missing(category)]
    return max(numbers, default=0.0) + 1.0


CONVERTERS: dict[type, Callable[[Any, Value], Value]] = {
    pipeline.Pipeline: _pipeline,
    pipeline.FeatureUnion: _union,
    compose.ColumnTransformer: _columns,
    impute.SimpleImputer: _imputer,
    preprocessing.StandardScaler: _standard,
    preprocessing.MinMaxScaler: _min_max,
    preprocessing.MaxAbsScaler: _largest,
    preprocessing.RobustScaler: _robust,
    preprocessing.PolynomialFeatures: _polynomial,
    MissingAsNaN: _unchanged,
    preprocessing.OneHotEncoder: _one_hot,
    preprocessing.OrdinalEncoder: _ordinal,
}
