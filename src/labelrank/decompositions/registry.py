"""Registry of decompositions and coverings, which are accepted by name wherever an object is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labelrank.decompositions import coverings, graph
from labelrank.decompositions.coverings import Covering, DecompositionAsCovering, FunctionCovering
from labelrank.decompositions.function import FunctionDecomposition
from labelrank.decompositions.graph import Decomposition

# A name may stand for a decomposition of a graph and for a covering: zero_one is both.
_REGISTRY: dict[tuple[bool, str], Callable[[], Decomposition]] = {}


_WRAP = "wrap a function of a graph in FunctionDecomposition, one of relevant labels in FunctionCovering"


def register(decomposition: Decomposition | Callable[[], Decomposition], *, name: str | None = None) -> None:
    """Register a decomposition or a covering under a name.

    Parameters
    ----------
    decomposition : Decomposition, Covering, or callable without arguments that returns one
        What to register.
    name : str, optional
        By default its own name. Raises ValueError if the name is taken.

    Examples
    --------
    >>> from labelrank.decompositions import FunctionDecomposition, get_decomposition, register
    >>> def first_edge(graph):
    ...     return [graph.edges[:1]]
    >>> register(FunctionDecomposition(first_edge))
    >>> get_decomposition("first_edge")
    <decomposition first_edge>
    """
    try:
        made = decomposition if isinstance(decomposition, Decomposition) else decomposition()
    except TypeError as error:
        raise TypeError(f"register cannot make a decomposition from {decomposition!r}; {_WRAP}") from error
    if not isinstance(made, Decomposition):
        raise TypeError(f"register takes a Decomposition or a Covering, got {type(made).__name__}; {_WRAP}")
    key = (isinstance(made, Covering), name if name is not None else made.name)
    if key in _REGISTRY:
        raise ValueError(f"the {'covering' if key[0] else 'decomposition'} {key[1]!r} is already registered")
    _REGISTRY[key] = (lambda: made) if isinstance(decomposition, Decomposition) else decomposition


for _item in (
    graph.zero_one,
    graph.disagreement,
    graph.domination,
    graph.dominated,
    graph.levels,
    graph.adjacent_levels,
    graph.all_level_pairs,
    coverings.zero_one,
    coverings.hamming,
    coverings.two_sets,
):
    register(_item)
register(coverings.weighted_positive, name="weighted_positive")
register(coverings.weighted_negative, name="weighted_negative")


def decomposition_names() -> list[str]:
    """Names of the decompositions of graphs."""
    return sorted(name for covering, name in _REGISTRY if not covering)


def covering_names() -> list[str]:
    """Names of the coverings."""
    return sorted(name for covering, name in _REGISTRY if covering)


def get_decomposition(decomposition: str | Decomposition | Callable[..., Any]) -> Decomposition:
    """Return the decomposition given by a name, an object, or a function of one instance's graph.

    Examples
    --------
    >>> from labelrank.decompositions import get_decomposition
    >>> get_decomposition("domination")
    <decomposition domination>
    >>> get_decomposition(lambda graph: [[edge] for edge in graph.edges])
    <decomposition <lambda>>
    """
    if isinstance(decomposition, Covering):
        raise TypeError(
            f"{decomposition!r} is a covering of labels, which needs relevant sets and a score for the dummy label; "
            "use covering_error, or a decomposition of graphs here"
        )
    if isinstance(decomposition, Decomposition):
        return decomposition
    if isinstance(decomposition, str):
        if (False, decomposition) not in _REGISTRY:
            raise ValueError(
                f"decomposition {decomposition!r} is not known; choose one of {decomposition_names()}, or pass a "
                "function of one instance's graph"
            )
        return _REGISTRY[False, decomposition]()
    if callable(decomposition):
        return FunctionDecomposition(decomposition)
    raise TypeError(f"decomposition must be a name, a Decomposition or a function, got {type(decomposition).__name__}")


def get_covering(covering: str | Decomposition | Callable[..., Any]) -> Covering:
    """Return the covering given by a name, an object, or a function of one example's labels.

    A decomposition of graphs is accepted too, and applied to the graph with the dummy label.

    Examples
    --------
    >>> from labelrank.decompositions import get_covering
    >>> get_covering("weighted_positive")
    <covering weighted_positive(6)>
    """
    if isinstance(covering, Covering):
        return covering
    if isinstance(covering, Decomposition):
        return DecompositionAsCovering(covering)
    if isinstance(covering, str):
        if (True, covering) not in _REGISTRY:
            raise ValueError(
                f"covering {covering!r} is not known; choose one of {covering_names()}, or pass a function of one "
                "example's labels"
            )
        made = _REGISTRY[True, covering]()
        assert isinstance(made, Covering)
        return made
    if callable(covering):
        if covering in (coverings.weighted_positive, coverings.weighted_negative):  # factories, with default weights
            return covering()
        return FunctionCovering(covering)
    raise TypeError(f"covering must be a name, a Covering or a function, got {type(covering).__name__}")
