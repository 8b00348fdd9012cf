"""Histograms of nodes, in a pool of bounded size."""

from __future__ import annotations

import numpy as np

from labelrank._arrays import FloatArray, IntArray
from labelrank.trees.boosting.rows import BoostedRows

_SMALLEST_POOL = 2**23  # bytes


class Histograms:
    """Histograms of nodes on dense bins, of shape (n_bins, n_channels) each.

    As many are kept as fit into the pool, whose size is proportional to the data. If fewer than three fit, none is
    kept: the features are processed in blocks whose histograms fit. For sparse bins no histograms are kept; see
    :func:`~labelrank.trees.boosting.splitting.find_sparse_split`.

    Attributes
    ----------
    pool : ndarray of shape (n_slots, n_bins, n_channels)
        Memory.
    blocks : list of tuple
        First and last feature of each block; a single one if histograms are kept.
    """

    def __init__(self, rows: BoostedRows, start: IntArray) -> None:
        self.rows, self.start = rows, start
        n_channels, n_features = rows.n_channels, len(start) - 1
        self.blocks = [(0, n_features)]
        if rows.is_sparse:
            self.pool = np.empty((0, 0, n_channels))
            return
        room = max(rows.n_bytes // 2, _SMALLEST_POOL) // (8 * n_channels)  # bins
        n_slots = int(room // max(start[-1], 1))
        if n_slots >= 3:
            self.pool = np.empty((min(n_slots, 64), int(start[-1]), n_channels))
            return
        self.blocks, first = [], 0
        while first < n_features:
            last = max(first + 1, int(np.searchsorted(start, start[first] + room, side="right")) - 1)
            self.blocks.append((first, min(last, n_features)))
            first = last
        widest = max((int(start[b] - start[a]) for a, b in self.blocks), default=0)
        self.pool = np.empty((1, widest, n_channels))

    @property
    def kept(self) -> bool:
        """Whether the histogram of a node is kept until the node is split."""
        return len(self.pool) > 1

    def build(self, slot: int, node: int, first: int, last: int, block: int = 0) -> FloatArray:
        """Compute the histogram of the features `first` to `last` of a node, in the block that begins at `block`."""
        out = self.view(slot, first, last, block)
        self.rows.histogram(node, first, last, out)
        return out

    def view(self, slot: int, first: int, last: int, block: int = 0) -> FloatArray:
        """The part of a slot for the features `first` to `last`, in the block that begins at `block`."""
        return self.pool[slot, self.start[first] - self.start[block] : self.start[last] - self.start[block]]
