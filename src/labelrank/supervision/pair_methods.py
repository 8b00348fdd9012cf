"""Methods of preference graphs that answer questions about pairs of labels, by the functions of ``labelrank.pairs``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy.typing as npt

from labelrank._arrays import FloatArray


class PairMethods:
    """Counts, signs, votes and concordance as methods of :class:`~labelrank.PreferenceGraphs`."""

    def pair_counts(self, sample_weight: Any = None, *, ties: float = 0.0) -> FloatArray:
        """Weight of the instances that prefer each label to each other one; see :func:`labelrank.pairs.pair_counts`."""
        from labelrank.pairs import pair_counts

        return pair_counts(self, sample_weight, ties=ties)

    def pair_signs(self) -> npt.NDArray[Any]:
        """Sign of each pair of labels in each instance; see :func:`labelrank.pairs.pair_signs`."""
        from labelrank.pairs import pair_signs

        return pair_signs(self)

    def pair_totals(self) -> npt.NDArray[Any]:
        """Votes on each pair of labels in each instance; see :func:`labelrank.pairs.pair_totals`."""
        from labelrank.pairs import pair_totals

        return pair_totals(self)

    def label_pairs(self, sample_weight: Any = None) -> Iterator[Any]:
        """Iterate over the pairs of labels and their instances; see :func:`labelrank.pairs.label_pairs`."""
        from labelrank.pairs import label_pairs

        return label_pairs(self, sample_weight)

    def votes(self) -> FloatArray:
        """Borda votes of each instance; see :func:`labelrank.pairs.votes`."""
        from labelrank.pairs import votes

        return votes(self)

    def mean_votes(self, sample_weight: Any = None) -> FloatArray:
        """Mean Borda votes of all instances; see :func:`labelrank.pairs.mean_votes`."""
        from labelrank.pairs import mean_votes

        return mean_votes(self, sample_weight)

    def concordance(self, ranks: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Agreement of rankings with the pairs of each instance; see :func:`labelrank.pairs.concordance`."""
        from labelrank.pairs import concordance

        return concordance(self, ranks)
