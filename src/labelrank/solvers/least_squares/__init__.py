"""Least squares on pairs: one decomposition for all penalties."""
