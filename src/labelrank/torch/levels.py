"""Sums of exponentials over the better and over the worse labels of layered graphs, kept as logarithms."""

from __future__ import annotations

import torch
from torch import Tensor

FEW = 4  # with at most as many levels, a pass for each of them is faster than sorted labels


class Levels:
    """Levels of the labels of some rows, -1 for a label that is not there.

    Parameters
    ----------
    levels : Tensor of shape (n, k), integers
        Level of each label; 0 is the best.
    depth : int
        Number of levels.

    Examples
    --------
    >>> import torch
    >>> from labelrank.torch.levels import Levels
    >>> levels = Levels(torch.tensor([[0, 1, 1]]), 2)
    >>> levels.below(torch.zeros(1, 3)).exp()  # two labels are worse than the first
    tensor([[2., 0., 0.]])
    """

    def __init__(self, levels: Tensor, depth: int) -> None:
        self.levels, self.depth = levels, depth
        if depth > FEW:
            k = levels.shape[1]
            key = torch.where(levels < 0, depth, levels.long())
            order = torch.argsort(key, dim=1)
            ordered = torch.gather(key, 1, order)
            present = (levels >= 0).sum(1, keepdim=True)
            start, stop = torch.searchsorted(ordered, key), torch.searchsorted(ordered, key, right=True)
            there = levels >= 0
            small = torch.int16 if k < 2**15 else torch.int32
            self.order = order.to(small)
            self.start = torch.where(there, start, 0).to(small)
            self.stop = torch.where(there, torch.minimum(stop, present), present).to(small)
            self.absent = torch.arange(k, device=levels.device) >= present

    def below(self, f: Tensor) -> Tensor:
        """Logarithm of the sum of e^f over the labels of lower levels than each label; -inf if there are none."""
        if self.depth <= FEW:
            return self._by_level(f, range(self.depth - 1, -1, -1))
        sums = torch.logcumsumexp(self._sorted(f).flip(1), 1).flip(1)
        return torch.nn.functional.pad(sums, (0, 1), value=-torch.inf).gather(1, self.stop.long())

    def above(self, f: Tensor) -> Tensor:
        """Logarithm of the sum of e^f over the labels of higher levels than each label; -inf if there are none."""
        if self.depth <= FEW:
            return self._by_level(f, range(self.depth))
        sums = torch.logcumsumexp(self._sorted(f), 1)
        return torch.nn.functional.pad(sums, (1, 0), value=-torch.inf).gather(1, self.start.long())

    def _sorted(self, f: Tensor) -> Tensor:
        return f.gather(1, self.order.long()).masked_fill(self.absent, -torch.inf)

    def _by_level(self, f: Tensor, order: range) -> Tensor:
        """Sums over the levels that come before that of each label."""
        found = torch.full_like(f, -torch.inf)
        so_far: Tensor | None = None
        for at, level in enumerate(order):
            here = self.levels == level
            if so_far is not None:
                found = torch.where(here, so_far, found)
            if at < len(order) - 1:
                sum_here = torch.logsumexp(torch.where(here, f, -torch.inf), 1, keepdim=True)
                so_far = sum_here if so_far is None else torch.logaddexp(so_far, sum_here)
        return found
