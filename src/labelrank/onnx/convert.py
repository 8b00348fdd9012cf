"""Convert fitted models to ONNX."""

from __future__ import annotations

import json
from typing import Any, Literal

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from labelrank.auto import WeightedRanker
from labelrank.models.gram import Kernel
from labelrank.rankers import (
    ConstraintClassificationRanker,
    DummyRanker,
    GraphRanker,
    KernelRidgeRanker,
    LabelCoveringClassifier,
    RankRLS,
    SoftProjectionRanker,
)
from labelrank.supervision.names import labels_of
from labelrank.trees.base import BaseTreeRanker
from labelrank.trees.boosting.base import BoostedTreesMixin
from labelrank.trust.wrapper import RankerWrapper

_CAN = (
    "supported are linear models, kernel ridge regression, soft projections, trees, forests and boosted trees, with "
    "scalers, imputers and encoders of scikit-learn in a pipeline"
)

_SAME = 1e-7  # relative spread of equal scores; the operator for trees has single precision


def to_onnx(model: Any, *, dtype: Literal["float32", "float64"] = "float64") -> Any:
    """Convert a fitted model to an ONNX model.

    The graph computes the scores of :meth:`decision_function` and, for a ranker, the ranks of :meth:`predict`. It
    computes in double precision for all input types, so that instances reach the same leaves as in Python.

    Parameters
    ----------
    model : fitted estimator
        A linear model, kernel ridge regression, soft projections, a tree, a forest or boosted trees; also in a pipeline
        with scalers, imputers and encoders of scikit-learn, a search or another meta-estimator.
    dtype : {"float32", "float64"}, default="float64"
        Type of the numeric inputs and outputs. Inputs rounded to single precision may fall on the other side of a
        threshold.

    Returns
    -------
    onnx.ModelProto
        With the output ``scores`` of shape (n_samples, n_labels) and, for rankers, ``ranks``. The input is ``X`` of
        shape (n_samples, n_features). If the model has text columns, each column of the data frame is an input of shape
        (n_samples, 1) with its name, and missing text is the empty string. The metadata entry ``labels`` has the names
        of the labels as JSON.

    See Also
    --------
    save : Save a model for Python.

    Examples
    --------
    >>> import labelrank
    >>> from labelrank.datasets import load_iris_rankings
    >>> X, y = load_iris_rankings(return_X_y=True)
    >>> model = labelrank.to_onnx(labelrank.LogLinearRanker().fit(X, y))
    >>> [output.name for output in model.graph.output]
    ['scores', 'ranks']
    """
    try:
        from labelrank.onnx import graph as onnx
    except ImportError as error:
        raise ImportError('to_onnx needs onnx; install it with: pip install "labelrank[onnx]"') from error
    if dtype not in onnx.DTYPES:
        raise ValueError(f"dtype must be one of {sorted(onnx.DTYPES)}, got {dtype!r}")
    check_is_fitted(model)
    columns = getattr(model, "feature_names_in_", None)
    graph = onnx.Graph(dtype)
    try:
        matrix = graph.input("X", model.n_features_in_, text=False)
        scores = _scores(model, onnx.Value(graph, graph.cast(matrix), model.n_features_in_))
    except onnx.TextNeededError:
        if columns is None:
            raise ValueError("the model has text columns without names; fit it on a data frame") from None
        graph = onnx.Graph(dtype)
        scores = _scores(model, onnx.Columns(graph, [str(name) for name in columns]))
    outputs: dict[str, tuple[str, int | None]] = {"scores": (scores.name, scores.width)}
    if _is_vector(model):
        outputs = {"scores": (graph.op("Squeeze", scores.name, graph.constant(np.array([1]))), None)}
    elif get_tags(model).estimator_type == "ranker":
        outputs["ranks"] = (_ranks(scores), scores.width)
    labels = labels_of(model)
    names = [] if labels is None else labels.tolist()
    return graph.model(outputs, {"model": type(model).__name__, "labels": json.dumps(names, default=str)})


def _is_vector(model: Any) -> bool:
    """Whether there is one score for each row."""
    final = _unwrapped(model)
    return isinstance(final, RankRLS) or getattr(final, "outputs_2d_", True) is False


def _unwrapped(model: Any) -> Any:
    """The innermost model of pipelines and meta-estimators."""
    while True:
        if isinstance(model, Pipeline):
            model = model.steps[-1][1]
        elif hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif isinstance(model, RankerWrapper):
            model = model.estimator_
        else:
            return model


def _scores(model: Any, value: Any) -> Any:
    """Add a model to the graph."""
    from labelrank.onnx.preparation import transform
    from labelrank.onnx.trees import boosted, constant_scores, forest

    if isinstance(model, Pipeline):
        for _, step in model.steps[:-1]:
            value = value if step is None else transform(step, value)
        return _scores(model.steps[-1][1], value)
    if hasattr(model, "best_estimator_"):
        return _scores(model.best_estimator_, value)
    if isinstance(model, RankerWrapper):
        return _scores(model.estimator_, value)
    if isinstance(model, WeightedRanker):
        return _weighted_scores(model, value)
    if isinstance(model, BaseTreeRanker):
        return forest(model, value)
    if isinstance(model, BoostedTreesMixin):
        return boosted(model, value)
    value = value.number()
    if isinstance(model, (KernelRidgeRanker, SoftProjectionRanker, RankRLS)) and model.kernel not in (None, "linear"):
        return _kernel_scores(model, value)
    if isinstance(model, DummyRanker) and model.strategy != "random":
        return constant_scores(value, model.scores_)
    kinds = (ConstraintClassificationRanker, GraphRanker, KernelRidgeRanker, LabelCoveringClassifier, RankRLS)
    if isinstance(model, (*kinds, SoftProjectionRanker)) and getattr(model, "model", "linear") == "linear":
        return _label_gram(model, _product(value, np.atleast_2d(model.coef_).T, getattr(model, "intercept_", 0.0)))
    raise ValueError(f"{type(model).__name__} cannot be converted to ONNX; {_CAN}")


def _weighted_scores(model: WeightedRanker, value: Any) -> Any:
    """Weighted sum of the standardized scores of several rankers."""
    from labelrank.onnx.graph import Value

    graph, parts = value.graph, []
    for ranker, weight in zip(model.rankers_, model.weights, strict=True):
        parts.append(graph.op("Mul", _comparable(_scores(ranker, value)), graph.number(weight)))
    return Value(graph, graph.op("Sum", *parts), len(model.labels_))


def _comparable(scores: Any) -> str:
    """Standardize the scores in each row; constant rows become 0."""
    graph, axis = scores.graph, scores.graph.constant(np.array([1]))
    centered = graph.op("Sub", scores.name, graph.op("ReduceMean", scores.name, axis, keepdims=1))
    spread = graph.op("Sqrt", graph.op("ReduceMean", graph.op("Mul", centered, centered), axis, keepdims=1))
    largest = graph.op("ReduceMax", graph.op("Abs", scores.name), axis, keepdims=1)
    known = graph.op("Greater", spread, graph.op("Mul", largest, graph.number(_SAME)))
    safe = graph.op("Where", known, spread, graph.number(1))
    return str(graph.op("Where", known, graph.op("Div", centered, safe), graph.number(0)))


def _product(value: Any, matrix: Any, intercept: Any) -> Any:
    """A matrix product, plus intercepts."""
    from labelrank.onnx.graph import Value

    graph = value.graph
    product = graph.op("MatMul", value.name, graph.number(matrix))
    return Value(graph, graph.op("Add", product, graph.number(intercept)), matrix.shape[1])


def _label_gram(model: Any, scores: Any) -> Any:
    return _product(scores, model.label_gram_, 0.0) if hasattr(model, "label_gram_") else scores


def _kernel_scores(model: Any, value: Any) -> Any:
    """Scores k(x, z) A, for the basis vectors z of a model."""
    from labelrank.onnx.graph import Value

    kernel = Kernel.of(model, getattr(model, "gamma_", None))
    if not kernel.has_gamma:
        raise ValueError(f"{type(model).__name__}(kernel={model.kernel!r}) cannot be converted to ONNX; {_CAN}")
    basis = next(getattr(model, name) for name in ("X_fit_", "support_vectors_", "basis_") if hasattr(model, name))
    basis = np.asarray(basis.toarray() if hasattr(basis, "toarray") else basis, dtype=np.float64)
    coef = np.asarray(model.dual_coef_)
    coef = coef.T if isinstance(model, SoftProjectionRanker) else coef.reshape(len(basis), -1)
    graph, gamma = value.graph, value.graph.number(kernel.gamma)
    if kernel.name == "rbf":
        origin = np.median(basis, axis=0)  # centering reduces cancellation in the squares
        value, basis = value.then("Sub", graph.number(origin)), basis - origin
        squares = graph.op("ReduceSumSquare", value.name, graph.constant(np.array([1])), keepdims=1)
        cross = graph.op("MatMul", value.name, graph.number(-2 * basis.T))
        distance = graph.op("Sum", squares, cross, graph.number((basis**2).sum(axis=1)[np.newaxis]))
        values = graph.op("Exp", graph.op("Mul", graph.op("Neg", graph.op("Max", distance, graph.number(0))), gamma))
    else:
        inner = graph.op("Mul", graph.op("MatMul", value.name, graph.number(basis.T)), gamma)
        inner = graph.op("Add", inner, graph.number(kernel.coef0))
        degree = graph.number(kernel.degree)
        values = graph.op("Pow", inner, degree) if kernel.name == "poly" else graph.op("Tanh", inner)
    similar = Value(graph, values, len(basis))
    return _label_gram(model, _product(similar, coef, getattr(model, "intercept_", 0.0)))


def _ranks(scores: Any) -> str:
    """1 + the number of labels with a larger score."""
    graph = scores.graph
    mine = graph.op("Unsqueeze", scores.name, graph.constant(np.array([2])))
    others = graph.op("Unsqueeze", scores.name, graph.constant(np.array([1])))
    better = graph.cast(graph.op("Greater", others, mine))
    return str(
        graph.op("Add", graph.op("ReduceSum", better, graph.constant(np.array([2])), keepdims=0), graph.number(1))
    )
