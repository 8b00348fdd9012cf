"""Codes of the decompositions of layered graphs that kernels evaluate on levels, without listing edges."""

ZERO_ONE, DISAGREEMENT, DOMINATION, DOMINATED, LEVELS, ADJACENT_LEVELS, ALL_LEVEL_PAIRS = range(7)
