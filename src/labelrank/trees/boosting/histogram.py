"""Histograms of nodes, in a pool of bounded size."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from labelrank._arrays import FloatArray, IntArray
from labelrank.trees.boosting.binning import Codes, SparseCodes

_SMALLEST_POOL = 2**23  # bytes
_LANES = 4  # channels are padded to a multiple of it


def make_channels(n_rows: int, n_labels: int) -> npt.NDArray[np.float32]:
    """Zeros for the gradients, the curvatures and the weight of each row."""
    return np.zeros((n_rows, _LANES * -(-(2 * n_labels + 1) // _LANES)), dtype=np.float32)


class Histograms:
    """Histograms of nodes on dense bins, of shape (n_bins, n_channels) each.

    As many are kept as fit into the pool, whose size is proportional to the data. If not even three of all features do,
    none is kept: the features are treated in blocks whose histogram fits. Sparse bins have no histograms that last; see
    :func:`~labelrank.trees.boosting.splitting.find_sparse_split`.

    Attributes
    ----------
    pool : ndarray of shape (n_slots, n_bins, n_channels)
        Memory.
    blocks : list of tuple
        First and last feature of each block; a single one if histograms are kept.
    """

    def __init__(
        self, bins: Codes | SparseCodes, channels: npt.NDArray[np.float32], start: IntArray, scores: FloatArray
    ) -> None:
        self.bins, self.channels, self.start = bins, channels, start
        n_channels, n_features = channels.shape[1], len(start) - 1
        self.blocks = [(0, n_features)]
        if isinstance(bins, SparseCodes):
            self.pool = np.empty((0, 0, n_channels))
            return
        room = max((scores.nbytes + bins.nbytes) // 2, _SMALLEST_POOL) // (8 * n_channels)  # bins
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

    def build(self, slot: int, node: Any, rows: Any, first: int, last: int, block: int = 0) -> FloatArray:
        """Compute the histogram of the features `first` to `last` of a node, in the block that begins at `block`."""
        from labelrank._kernels.trees.boosting.histogram import dense_histogram

        out = self.view(slot, first, last, block)
        dense_histogram(self.bins, self.channels, rows[node.first : node.last], first, last, self.start, out)
        return out

    def view(self, slot: int, first: int, last: int, block: int = 0) -> FloatArray:
        """The part of a slot for the features `first` to `last`, in the block that begins at `block`."""
        return self.pool[slot, self.start[first] - self.start[block] : self.start[last] - self.start[block]]
