"""Decompositions of preference graphs into subgraphs, and coverings: decompositions of graphs with a dummy label."""

from labelrank.decompositions import coverings
from labelrank.decompositions.coverings import (
    Covering,
    FunctionCovering,
    hamming,
    two_sets,
    weighted_negative,
    weighted_positive,
)
from labelrank.decompositions.function import FunctionDecomposition, InstanceGraph
from labelrank.decompositions.graph import (
    Decomposition,
    EdgeWeighted,
    adjacent_levels,
    all_level_pairs,
    disagreement,
    dominated,
    domination,
    levels,
    zero_one,
)
from labelrank.decompositions.registry import (
    covering_names,
    decomposition_names,
    get_covering,
    get_decomposition,
    register,
)
from labelrank.decompositions.subgraphs import Subgraph, Subgraphs

__all__ = [
    "Covering",
    "Decomposition",
    "EdgeWeighted",
    "FunctionCovering",
    "FunctionDecomposition",
    "InstanceGraph",
    "Subgraph",
    "Subgraphs",
    "adjacent_levels",
    "all_level_pairs",
    "covering_names",
    "coverings",
    "decomposition_names",
    "disagreement",
    "dominated",
    "domination",
    "get_covering",
    "get_decomposition",
    "hamming",
    "levels",
    "register",
    "two_sets",
    "weighted_negative",
    "weighted_positive",
    "zero_one",
]
