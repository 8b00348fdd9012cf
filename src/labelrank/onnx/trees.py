"""Trees, forests and boosted trees in an ONNX graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from onnx import numpy_helper

from labelrank._arrays import FloatArray
from labelrank.onnx.graph import Graph, Value, joined
from labelrank.onnx.preparation import place_of
from labelrank.trees.prediction import balance_of, scores_of


def forest(model: Any, value: Value) -> Value:
    """Mean over the trees; scores are linear in the balances of a leaf, so each leaf stores its scores."""
    k = len(model.labels_)
    middle = np.full(k, (k - 1) / 2)  # added in double precision
    trees, scores = model._trees(), scores_of(balance_of(model), k) - middle
    features = with_codes(model, value)
    inner = trees.left >= 0
    equal = np.zeros(len(inner), dtype=bool)
    equal[inner] = trees.is_categorical[trees.feature[inner]]
    feature = np.where(inner, trees.feature, 0)
    return _ensemble(features, trees, feature, trees.threshold, equal, scores, "AVERAGE", middle)


def boosted(model: Any, value: Value) -> Value:
    """Sum of the trees; a categorical split becomes a split on an indicator of the categories that go right."""
    trees, binning = model._trees(), model._binning()
    features, graph = with_codes(model, value), value.graph
    if not len(trees.left):
        return constant_scores(features, model.baseline_)
    feature, threshold = np.where(trees.left >= 0, trees.feature, 0), trees.threshold.copy()
    parts, width = [features], features.width
    for f in np.flatnonzero(binning.is_categorical):
        nodes = np.flatnonzero((trees.left >= 0) & (trees.feature == f))
        if len(nodes):
            goes_right = ~trees.left_bins[trees.category_set[nodes], : len(binning.edges[f]) + 1]
            place = place_of(features.select([int(f)]), binning.edges[f])
            parts.append(Value(graph, graph.op("Gather", graph.number(goes_right.T), place, axis=0), len(nodes)))
            feature[nodes], threshold[nodes] = width + np.arange(len(nodes)), 0.5
            width += len(nodes)
    equal = np.zeros(len(feature), dtype=bool)
    return _ensemble(joined(parts), trees, feature, threshold, equal, trees.value, "SUM", model.baseline_)


def with_codes(model: Any, value: Value) -> Value:
    """The features as numbers; categories of a data frame are replaced by their codes."""
    if not hasattr(model, "categories_"):
        return value.number()
    graph, parts = value.graph, []
    for f, known in enumerate(model.categories_):
        column = value.select([f])
        if known is not None:
            place = place_of(column, np.array([*known, None], dtype=object))
            codes = graph.number([[code] for code in [*range(len(known)), np.nan, -1.0]])
            column = Value(graph, graph.op("Gather", codes, place, axis=0), 1)
        parts.append(column.number())
    return joined(parts)


def _ensemble(
    features: Value,
    trees: Any,
    feature: npt.NDArray[Any],
    threshold: FloatArray,
    equal: npt.NDArray[np.bool_],
    values: FloatArray,
    aggregate: str,
    base: FloatArray,
) -> Value:
    """The operator for all trees; `feature`, `threshold` and `equal` (splits x = threshold) are those of the nodes."""
    graph, k = features.graph, values.shape[1]
    sizes = np.diff(trees.offsets)
    tree = np.repeat(np.arange(len(sizes)), sizes)
    node = np.arange(len(tree)) - np.repeat(trees.offsets[:-1], sizes)
    leaf = trees.left < 0
    modes = np.where(leaf, "LEAF", np.where(equal, "BRANCH_EQ", "BRANCH_LEQ"))
    leaves = np.flatnonzero(leaf)
    result = graph.op(
        "TreeEnsembleRegressor",
        features.name,
        domain="ai.onnx.ml",
        n_targets=k,
        aggregate_function=aggregate,
        post_transform="NONE",
        nodes_treeids=tree.tolist(),
        nodes_nodeids=node.tolist(),
        nodes_featureids=feature.tolist(),
        nodes_modes=modes.tolist(),
        nodes_values_as_tensor=_tensor(np.where(leaf, 0.0, threshold)),
        nodes_truenodeids=np.where(leaf, 0, trees.left).tolist(),
        nodes_falsenodeids=np.where(leaf, 0, trees.right).tolist(),
        nodes_missing_value_tracks_true=np.where(leaf, 0, trees.missing_left).astype(int).tolist(),
        target_treeids=np.repeat(tree[leaves], k).tolist(),
        target_nodeids=np.repeat(node[leaves], k).tolist(),
        target_ids=np.tile(np.arange(k), len(leaves)).tolist(),
        target_weights_as_tensor=_tensor(values[leaves].ravel()),
    )
    return Value(graph, graph.op("Add", graph.cast(result), graph.number(base)), k)


def _tensor(values: FloatArray) -> Any:
    return numpy_helper.from_array(np.asarray(values, dtype=np.float64), "values")


def constant_scores(features: Value, scores: FloatArray) -> Value:
    """The same scores for all rows."""
    graph: Graph = features.graph
    zeros = graph.op("Where", graph.op("IsNaN", features.select([0]).name), graph.number(0), graph.number(0))
    return Value(graph, graph.op("Add", zeros, graph.number(scores[np.newaxis])), len(scores))
