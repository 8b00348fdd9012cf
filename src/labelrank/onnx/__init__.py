"""Fitted models as ONNX graphs, which run without Python."""

from labelrank.onnx.convert import to_onnx

__all__ = ["to_onnx"]
