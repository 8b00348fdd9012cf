"""Soft projections: a single projection, and batch and online learning by dual ascent."""

from labelrank.solvers.soft_projection.projection import project_polyhedron, soft_projection

__all__ = ["project_polyhedron", "soft_projection"]
