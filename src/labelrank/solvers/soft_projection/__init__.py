"""Soft projections: a single projection, and dual ascent by projections in batch and online."""

from labelrank.solvers.soft_projection.projection import project_polyhedron, soft_projection

__all__ = ["project_polyhedron", "soft_projection"]
