"""ONNX graphs under construction, and the values in them. All numbers are computed in double precision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from onnx import TensorProto, helper, numpy_helper

OPSET, ML_OPSET, IR_VERSION = 19, 3, 9
DTYPES = {"float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE}


class TextNeededError(Exception):
    """A part of the model requires text, so each column must be a separate input."""


class Graph:
    """Nodes, constants and inputs of a graph; results are identified by name.

    Parameters
    ----------
    dtype : {"float32", "float64"}
        Type of the numeric inputs and outputs.
    """

    def __init__(self, dtype: str) -> None:
        self.dtype = dtype
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: dict[str, Any] = {}

    def op(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add a node, and return the name of its result."""
        name = f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=name, domain=domain, **attributes))
        return name

    def constant(self, value: npt.ArrayLike) -> str:
        """Add a constant, and return its name."""
        array, name = np.asarray(value), f"constant_{len(self.constants)}"
        if array.dtype.kind in "OU":
            strings: Any = [str(text).encode() for text in array.ravel()]
            self.constants.append(helper.make_tensor(name, TensorProto.STRING, array.shape, strings))
        else:
            self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def number(self, value: npt.ArrayLike) -> str:
        """Add a constant of floating-point numbers, and return its name."""
        return self.constant(np.asarray(value, dtype=np.float64))

    def cast(self, name: str, to: int = TensorProto.DOUBLE) -> str:
        """Convert a result to another type."""
        return self.op("Cast", name, to=to)

    def input(self, name: str, width: int, *, text: bool) -> str:
        """Add an input if it is new, and return its name."""
        kind = TensorProto.STRING if text else DTYPES[self.dtype]
        known = self.inputs.setdefault(name, helper.make_tensor_value_info(name, kind, ["n_samples", width]))
        if known.type.tensor_type.elem_type != kind:
            raise ValueError(f"the column {name!r} is used both as text and as numbers, which ONNX does not support")
        return name

    def model(self, outputs: dict[str, tuple[str, int | None]], metadata: dict[str, str]) -> Any:
        """Return the graph as an ONNX model; outputs have names, and a width or None if they are vectors."""
        values = []
        for name, (result, width) in outputs.items():
            self.nodes.append(helper.make_node("Cast", [result], [name], name=name, to=DTYPES[self.dtype]))
            shape: list[str | int | None] = ["n_samples"] if width is None else ["n_samples", width]
            values.append(helper.make_tensor_value_info(name, DTYPES[self.dtype], shape))
        graph = helper.make_graph(self.nodes, "labelrank", [*self.inputs.values()], values, self.constants)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="labelrank")
        helper.set_model_props(model, metadata)
        return model


class Value:
    """A matrix in the graph, of numbers unless `is_text`."""

    def __init__(self, graph: Graph, name: str, width: int, *, is_text: bool = False) -> None:
        self.graph, self.name, self.width, self.is_text = graph, name, width, is_text

    def number(self) -> Value:
        """The matrix as numbers."""
        if self.is_text:
            raise ValueError("the model uses text as numbers, which ONNX does not support")
        return self

    def text(self) -> Value:
        """The matrix as text."""
        if not self.is_text:
            raise TextNeededError
        return self

    def select(self, columns: Sequence[int]) -> Value:
        """Some columns."""
        if list(columns) == list(range(self.width)):
            return self
        chosen = self.graph.op("Gather", self.name, self.graph.constant(np.array(columns, dtype=np.int64)), axis=1)
        return Value(self.graph, chosen, len(columns), is_text=self.is_text)

    def then(self, kind: str, *others: str) -> Value:
        """An operation that keeps the shape."""
        return Value(self.graph, self.graph.op(kind, self.name, *others), self.width, is_text=self.is_text)

    def where(self, true: str, false: Value) -> Value:
        """Select from two values, using this matrix as the condition."""
        name = self.graph.op("Where", self.name, true, false.name)
        return Value(self.graph, name, self.width, is_text=false.is_text)


class Columns(Value):
    """Columns of a data frame; each is added to the graph as an input when its type is known."""

    def __init__(self, graph: Graph, names: Sequence[str]) -> None:
        super().__init__(graph, "", len(names))
        self.names = list(names)

    def number(self) -> Value:
        """The columns as one matrix of numbers."""
        return joined([Value(self.graph, self.graph.cast(self._input(name, text=False)), 1) for name in self.names])

    def text(self) -> Value:
        """The columns as one matrix of text."""
        return joined([Value(self.graph, self._input(name, text=True), 1, is_text=True) for name in self.names])

    def select(self, columns: Sequence[int]) -> Value:
        """Some columns."""
        return Columns(self.graph, [self.names[column] for column in columns])

    def _input(self, name: str, *, text: bool) -> str:
        return self.graph.input(name, 1, text=text)


def joined(values: Sequence[Value]) -> Value:
    """Concatenate matrices horizontally."""
    values = [value for value in values if value.width]
    if not values:
        raise ValueError("the model has no features")
    if len(values) == 1:
        return values[0]
    graph, width = values[0].graph, sum(value.width for value in values)
    name = graph.op("Concat", *(value.name for value in values), axis=1)
    return Value(graph, name, width, is_text=values[0].is_text)
