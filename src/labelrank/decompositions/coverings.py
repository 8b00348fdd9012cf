"""Coverings of the labels: decompositions of the graph with a dummy label.

A relevant set is a graph with one more label, the dummy of score 0: each relevant label is preferred to the
dummy, the dummy to each irrelevant label. A cover element is a set of labels that are right or wrong
together: the subgraph of the edges between them and the dummy.

=========================  =============================================================
name                       elements
=========================  =============================================================
zero_one                   all labels together
hamming                    each label by itself
two_sets                   the relevant labels together, the irrelevant labels together
weighted_positive(6)       the relevant labels together, counted 6 times; each other by itself
weighted_negative(4)       the irrelevant labels together, counted 4 times; each other by itself
=========================  =============================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from labelrank.decompositions.graph import Decomposition
from labelrank.decompositions.subgraphs import IntArray, Subgraph, Subgraphs, expand_ranges, from_lists, pointers
from labelrank.supervision import PreferenceGraphs
from labelrank.supervision.vectors import is_integer


class Covering(Decomposition):
    """A covering: `cut` takes graphs of relevant sets and returns subgraphs with the dummy as the last label."""

    def __repr__(self) -> str:
        return f"<covering {self.name}>"


class SetCovering(Covering):
    """A covering that treats all relevant labels alike and all irrelevant labels alike.

    Parameters
    ----------
    name : str
        Name of the covering.
    positive, negative : {"together", "each"}
        Whether the relevant (irrelevant) labels form one element or one each.
    joined : bool
        Whether relevant and irrelevant labels together form a single element.
    positive_weight, negative_weight : float
        Weight of an element of relevant (irrelevant) labels.
    """

    def __init__(
        self,
        name: str,
        positive: str,
        negative: str,
        *,
        joined: bool = False,
        positive_weight: float = 1.0,
        negative_weight: float = 1.0,
    ) -> None:
        self.name = name
        self.positive, self.negative, self.joined = positive, negative, joined
        self.positive_weight, self.negative_weight = float(positive_weight), float(negative_weight)

    @property
    def is_separate(self) -> bool:
        """Whether every label is an element by itself and counts once."""
        weights = self.positive_weight, self.negative_weight
        return (self.positive, self.negative, self.joined, *weights) == ("each", "each", False, 1.0, 1.0)

    def cut(self, graphs: PreferenceGraphs) -> Subgraphs:
        """The cover elements of all instances, as subgraphs of the graph with a dummy label."""
        levels = graphs.set_levels("a covering")
        n, dummy = levels.shape
        # Members of an instance: its relevant labels, the dummy, its irrelevant labels.
        positives, negatives = (levels == 0).sum(axis=1), (levels == 1).sum(axis=1)
        member_ptr = np.concatenate([[0], np.cumsum(positives + negatives + 1)]).astype(np.intp)
        at_dummy = member_ptr[:-1] + positives
        rows, columns = np.nonzero(levels >= 0)
        members = np.full(member_ptr[-1], dummy, dtype=np.intp)
        order = np.argsort(rows * 2 + levels[rows, columns], kind="stable")
        members[np.delete(np.arange(len(members)), at_dummy)] = columns[order]

        upper = _elements(self.positive, member_ptr[:-1], at_dummy, self.positive_weight)
        lower = _elements(self.negative, at_dummy + 1, member_ptr[1:], self.negative_weight)
        row = np.concatenate([upper[0], lower[0]])
        start, stop = np.concatenate([upper[1], lower[1]]), np.concatenate([upper[2], lower[2]])
        weight = np.concatenate([upper[3], lower[3]])
        relevant = np.concatenate([np.ones(len(upper[0]), dtype=bool), np.zeros(len(lower[0]), dtype=bool)])
        order = np.lexsort((start, row))
        row, start, stop, weight, relevant = (a[order] for a in (row, start, stop, weight, relevant))
        hub = at_dummy[row]
        if self.joined:
            rows_with = np.unique(row)
            subgraph_ptr = pointers(rows_with, n)
            block_ptr = np.append(pointers(row, n)[rows_with], len(row))
            weight = np.ones(len(rows_with))
        else:
            subgraph_ptr, block_ptr = pointers(row, n), np.arange(len(row) + 1)
        return Subgraphs(
            n_labels=dummy + 1,
            members=members,
            member_ptr=member_ptr,
            subgraph_ptr=subgraph_ptr,
            block_ptr=block_ptr,
            better_start=np.where(relevant, start, hub),
            better_stop=np.where(relevant, stop, hub + 1),
            worse_start=np.where(relevant, hub, start),
            worse_stop=np.where(relevant, hub + 1, stop),
            weight=weight,
        )


def _elements(
    how: str, start: IntArray, stop: IntArray, weight: float
) -> tuple[IntArray, IntArray, IntArray, npt.NDArray[np.float64]]:
    """Row, start, stop and weight of the elements of one side."""
    if how == "each":
        rows, at = expand_ranges(start, stop)
        return rows, at, at + 1, np.full(len(rows), weight)
    rows = np.flatnonzero(stop > start)
    return rows, start[rows], stop[rows], np.full(len(rows), weight)


zero_one = SetCovering("zero_one", "together", "together", joined=True)
hamming = SetCovering("hamming", "each", "each")
two_sets = SetCovering("two_sets", "together", "together")


def _check_weight(weight: Any) -> float:
    if isinstance(weight, bool) or not isinstance(weight, (int, float, np.number)) or not 0 < weight < np.inf:
        raise ValueError(f"weight must be a positive number, got {weight!r}")
    return float(weight)


def weighted_positive(weight: float = 6) -> SetCovering:
    """The relevant labels together, counted `weight` times; each irrelevant label by itself.

    Examples
    --------
    >>> from labelrank import PreferenceGraphs
    >>> from labelrank.decompositions import weighted_positive
    >>> weighted_positive(6).cut(PreferenceGraphs.from_multilabel([[1, 1, 0, 0]])).weight
    array([6., 1., 1.])
    """
    weight = _check_weight(weight)
    return SetCovering(f"weighted_positive({weight:g})", "together", "each", positive_weight=weight)


def weighted_negative(weight: float = 4) -> SetCovering:
    """The irrelevant labels together, counted `weight` times; each relevant label by itself.

    Examples
    --------
    >>> from labelrank import PreferenceGraphs
    >>> from labelrank.decompositions import weighted_negative
    >>> weighted_negative(4).cut(PreferenceGraphs.from_multilabel([[1, 1, 0, 0]])).weight
    array([1., 1., 4.])
    """
    weight = _check_weight(weight)
    return SetCovering(f"weighted_negative({weight:g})", "each", "together", negative_weight=weight)


class DecompositionAsCovering(Covering):
    """Any decomposition of graphs, applied to the graph with the dummy label."""

    def __init__(self, decomposition: Decomposition) -> None:
        self.decomposition = decomposition
        self.name = decomposition.name

    def cut(self, graphs: PreferenceGraphs) -> Subgraphs:
        """The subgraphs of the graph with a dummy label."""
        return self.decomposition.cut(graphs.with_dummy())


class FunctionCovering(Covering):
    """A covering given by a function of one example's labels.

    Parameters
    ----------
    function : callable
        Takes the boolean vector of relevant labels and returns the cover elements, each an iterable of label
        indices. Elements may overlap and repeat: a repeated element counts twice. Every label must be covered.
        The function is called once for each distinct labeling.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import PreferenceGraphs
    >>> from labelrank.decompositions import FunctionCovering
    >>> pairs = FunctionCovering(lambda relevant: [(0, 1), (2, 3), (2, 3)])
    >>> len(pairs.cut(PreferenceGraphs.from_multilabel([[1, 0, 0, 1]])))
    3
    """

    def __init__(self, function: Callable[[npt.NDArray[np.bool_]], Iterable[Iterable[int]]]) -> None:
        self.function = function
        self.name = getattr(function, "__name__", type(function).__name__)

    def cut(self, graphs: PreferenceGraphs) -> Subgraphs:
        """The cover elements of all instances, as subgraphs of the graph with a dummy label."""
        levels = graphs.set_levels("a covering")
        if (levels < 0).any():
            row = int(np.flatnonzero((levels < 0).any(axis=1))[0])
            raise ValueError(f"instance {row} has unknown labels, and {self.name!r} needs all labels to be known")
        known: dict[bytes, list[Subgraph]] = {}
        rows = []
        for i, row_levels in enumerate(levels):
            key = row_levels.tobytes()
            if key not in known:
                known[key] = self._subgraphs(row_levels == 0, i)
            rows.append(known[key])
        return from_lists(rows, graphs.shape[1] + 1)

    def _elements(self, relevant: npt.NDArray[np.bool_], i: int) -> list[list[int]]:
        """The labels of each element, sorted."""
        returned = self.function(relevant.copy())
        try:
            elements = [list(element) for element in returned]
        except TypeError:
            elements = None
        if elements is None or not all(is_integer(label) for element in elements for label in element):
            raise TypeError(
                f"the covering {self.name!r} must return a list of elements, each a list of label indices; for "
                f"instance {i} it returned {returned!r}"
            )
        return [sorted({int(label) for label in element}) for element in elements]

    def _subgraphs(self, relevant: npt.NDArray[np.bool_], i: int) -> list[Subgraph]:
        dummy = len(relevant)
        covered = np.zeros(dummy, dtype=bool)
        found = []
        for labels in self._elements(relevant, i):
            if not labels:
                raise ValueError(f"the covering {self.name!r} returned an empty element for instance {i}")
            unknown = [label for label in labels if not 0 <= label < dummy]
            if unknown:
                raise ValueError(
                    f"the covering {self.name!r} names the label {unknown[0]} for instance {i}; there are {dummy} "
                    f"labels, 0 to {dummy - 1}"
                )
            covered[labels] = True
            upper = tuple(label for label in labels if relevant[label])
            lower = tuple(label for label in labels if not relevant[label])
            blocks = [(upper, (dummy,))] * bool(upper) + [((dummy,), lower)] * bool(lower)
            found.append(Subgraph(tuple(blocks)))
        if not covered.all():
            missing = np.flatnonzero(~covered).tolist()
            raise ValueError(f"the covering {self.name!r} leaves the labels {missing} of instance {i} uncovered")
        return found
