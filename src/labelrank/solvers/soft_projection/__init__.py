"""Soft projections: the projection itself, and dual ascent by projections (SOPOPO)."""

from labelrank.solvers.soft_projection.projection import project_polyhedron, soft_projection

__all__ = ["project_polyhedron", "soft_projection"]
