"""Rows of boosted trees in partitions, which workers keep sorted by the nodes of the tree that grows.

Scores, derivatives and the node of each row change with every split. They are kept beside the data of a partition, in
the memory of its worker, and are no result of a task: they follow from the data and from the trees and splits so far,
which the client knows. Each request contains the number of previous changes. If the rows of a worker are behind,
because another worker was lost or a partition has moved, the worker reports this, receives the history, and computes
its rows again.
"""

from __future__ import annotations

import uuid
from typing import Any, NamedTuple

import numpy as np

from labelrank._arrays import BoolArray, FloatArray
from labelrank.dask.client import result, send
from labelrank.dask.sums import tree_sum
from labelrank.trees.boosting.binning import Binning
from labelrank.trees.boosting.data import BoostingData
from labelrank.trees.boosting.prediction import Trees, join
from labelrank.trees.boosting.rows import BoostedRows, NodeRows
from labelrank.trees.boosting.splitting import Split

_BEHIND = "behind"  # the answer of a worker whose rows lack changes that the client has requested


class Request(NamedTuple):
    """What is asked of the rows of all partitions."""

    fit: str
    number: int  # of requests that have changed the rows before
    changes: bool  # whether this one does
    method: str
    arguments: tuple[Any, ...]


class History(NamedTuple):
    """Trees and splits so far, from which rows are computed again."""

    binning: Binning
    baseline: FloatArray
    trees: Trees
    begun: bool  # whether a tree is growing
    splits: list[tuple[int, Split, tuple[int, int]]]  # of that tree


class KeptRows:
    """The data of a partition and, in the memory of one worker, its rows as the last request has left them.

    A copy is made of the data alone.
    """

    def __init__(self, data: BoostingData) -> None:
        self.data = data
        self.state: tuple[str, int] | None = None  # fit, and number of requests that have changed the rows
        self.last: Any = None  # answer to the last of them

    def __reduce__(self) -> Any:
        return KeptRows, (self.data,)

    def answer(self, request: Request, drawn: BoolArray | None, history: History | None) -> Any:
        """Answer a request; without a history, only if the rows are up to date."""
        before, after = (request.fit, request.number), (request.fit, request.number + 1)
        if self.state == after and request.changes:  # asked again, since an answer was lost
            return self.last
        if self.state != before:
            if history is None:
                return _BEHIND
            self.rows = self.data.rows(history.binning, history.baseline, history.trees)
            self.rows.losses()
            if history.begun:
                self.rows.begin(drawn)
            for split in history.splits:
                self.rows.part(*split)
            self.state = before
        found = _METHODS[request.method](self.rows, drawn, *request.arguments)
        if request.changes:
            self.state, self.last = after, found
        return found


class PartitionedRows:
    """Rows in partitions, with the methods of :class:`~labelrank.trees.boosting.rows.BoostedRows`.

    Parameters
    ----------
    data : PartitionedData
        The data, which are taken over.
    binning : Binning
        The bins.
    baseline : ndarray of shape (n_labels,)
        Scores without trees.
    trees : Trees
        Trees that there are already.
    """

    is_sparse = False  # histograms of sparse features are added up as those of dense ones

    def __init__(self, data: Any, binning: Binning, baseline: FloatArray, trees: Trees) -> None:
        self.client, self.groups, self.cuts = data.client, data.groups, np.cumsum(data.sizes)[:-1]
        self.n_train, self.n_labels = int(sum(data.sizes)), data.n_labels
        n_entries, train, held_out = data.measures()
        self.weights = (train, held_out if data.n_held_out else None)
        self.n_channels = BoostedRows.width(self.n_labels)
        self.n_bytes = int(8 * self.n_train * self.n_labels + n_entries)
        self.binning, self.baseline, self.trees = binning, baseline, [trees]
        self.drawn: list[Any] = [None] * len(data.parts)
        self.begun = False
        self.splits: list[Any] = []
        self.grown: Trees | None = None
        self.fit, self.number = uuid.uuid4().hex, 0
        self.kept = self.client.map(KeptRows, data.parts, pure=False)
        data.parts = []

    def losses(self) -> tuple[float, float]:
        """Loss of the training rows, whose derivatives are kept for the next tree, and of those that are held out."""
        if self.grown is None:
            return self._ask("losses")
        found = self._ask("advance", self.grown)
        self.trees.append(self.grown)
        self.begun, self.splits, self.grown = False, [], None
        return found

    def begin(self, drawn: BoolArray | None) -> NodeRows:
        """Put the training rows, or those that are drawn, into the root of a new tree."""
        if drawn is not None:
            self.drawn = np.split(drawn, self.cuts)
        found = self._ask("begin")
        self.begun = True
        return found

    def part(self, parent: int, split: Split, children: tuple[int, int]) -> tuple[NodeRows, NodeRows]:
        """Sort the rows of a node into its two children."""
        found = self._ask("part", parent, split, children)
        self.splits.append((parent, split, children))
        return found

    def histogram(self, node: int, first: int, last: int, out: FloatArray) -> None:
        """Write the sums of the channels in each bin of the features `first` to `last` into `out`."""
        out[:] = self._ask("histogram", node, first, last, changes=False)

    def add(self, tree: Trees) -> None:
        """Add the tree that has grown to the scores, together with the next losses."""
        self.grown = tree

    def _ask(self, method: str, *arguments: Any, changes: bool = True) -> Any:
        """Add up the answers of all partitions."""
        request = Request(self.fit, self.number, changes, method, arguments)
        some = self.drawn if method == "begin" else [None] * len(self.kept)
        found = _BEHIND if self.number == 0 else self._sum(request, some, None)
        if isinstance(found, str):
            history = History(self.binning, self.baseline, join(self.trees), self.begun, self.splits)
            found = self._sum(request, self.drawn, send(self.client, history))
        self.number += changes
        return found

    def _sum(self, request: Request, drawn: list[Any], history: Any) -> Any:
        sent = send(self.client, request) if request.method == "advance" else request
        answers = self.client.map(_answer, self.kept, drawn, request=sent, history=history, pure=False)
        return result(self.client, tree_sum(self.client, answers, self.groups, _added))


# --- On workers


def _answer(kept: KeptRows, drawn: BoolArray | None, request: Request, history: History | None) -> Any:
    return kept.answer(request, drawn, history)


def _added(a: Any, b: Any) -> Any:
    if isinstance(a, str) or isinstance(b, str):
        return _BEHIND
    if isinstance(a, NodeRows):
        return NodeRows(a.n_rows + b.n_rows, a.total + b.total)
    return tuple(map(_added, a, b)) if isinstance(a, tuple) else a + b


def _losses(rows: BoostedRows, drawn: Any) -> tuple[float, float]:
    return rows.losses()


def _begin(rows: BoostedRows, drawn: BoolArray | None) -> NodeRows:
    return rows.begin(drawn)


def _part(rows: BoostedRows, drawn: Any, *split: Any) -> tuple[NodeRows, NodeRows]:
    return rows.part(*split)


def _histogram(rows: BoostedRows, drawn: Any, node: int, first: int, last: int) -> FloatArray:
    out = np.empty((int(rows.start[last] - rows.start[first]), rows.n_channels))
    rows.histogram(node, first, last, out)
    return out


def _advance(rows: BoostedRows, drawn: Any, tree: Trees) -> tuple[float, float]:
    rows.add(tree)
    return rows.losses()


_METHODS: dict[str, Any] = {
    "losses": _losses,
    "begin": _begin,
    "part": _part,
    "histogram": _histogram,
    "advance": _advance,
}
