"""Least squares on pairs: one eigendecomposition for all penalties."""
