"""Decompositions of layered graphs: labels are sorted by level, so that both sides of every block are slices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from labelrank.decompositions.subgraphs import IntArray, Subgraphs, expand_ranges, one_block_each, pointers

Slices = tuple[IntArray, IntArray]  # starts and stops in members


@dataclass(frozen=True)
class LevelGroups:
    """Labels of all instances sorted by instance and level; a group is one level of one instance."""

    n_labels: int
    members: IntArray
    member_ptr: IntArray  # of instances into members
    row: IntArray  # instance of each group
    start: IntArray  # of each group in members
    stop: IntArray
    group_ptr: IntArray  # of instances into groups

    @classmethod
    def of(cls, levels: npt.NDArray[Any]) -> LevelGroups:
        """Groups of a matrix of levels, -1 for an absent label."""
        n_rows, n_labels = levels.shape
        rows, columns = np.nonzero(levels >= 0)
        depth = int(levels.max(initial=0)) + 1
        key = rows * depth + levels[rows, columns]
        order = np.argsort(key, kind="stable")
        rows, columns, key = rows[order], columns[order], key[order]
        start = np.flatnonzero(np.diff(key, prepend=-1))
        return cls(
            n_labels=n_labels,
            members=columns,
            member_ptr=pointers(rows, n_rows),
            row=rows[start],
            start=start,
            stop=np.append(start, len(key))[1:],
            group_ptr=pointers(rows[start], n_rows),
        )

    @property
    def row_start(self) -> IntArray:
        """Where the labels of each group's instance begin."""
        return self.member_ptr[self.row]

    @property
    def row_stop(self) -> IntArray:
        """Where the labels of each group's instance end."""
        return self.member_ptr[self.row + 1]

    def blocks(self, rows: IntArray, better: Slices, worse: Slices) -> Subgraphs:
        """Subgraphs of one block each, given by the slices of their two sides."""
        return one_block_each(self.n_labels, self.members, self.member_ptr, rows, better, worse)


def levels(groups: LevelGroups) -> Subgraphs:
    """Each level against all lower ones."""
    upper = groups.stop < groups.row_stop
    stop = groups.stop[upper]
    return groups.blocks(groups.row[upper], (groups.start[upper], stop), (stop, groups.row_stop[upper]))


def zero_one(groups: LevelGroups) -> Subgraphs:
    """All levels against all lower ones, together."""
    parts = levels(groups)
    rows = np.flatnonzero(np.diff(parts.subgraph_ptr))  # the blocks of an instance form one subgraph
    return Subgraphs(
        n_labels=groups.n_labels,
        members=groups.members,
        member_ptr=groups.member_ptr,
        subgraph_ptr=pointers(rows, parts.n_instances),
        block_ptr=np.append(parts.subgraph_ptr[rows], len(parts)),
        better_start=parts.better_start,
        better_stop=parts.better_stop,
        worse_start=parts.worse_start,
        worse_stop=parts.worse_stop,
        weight=np.ones(len(rows)),
    )


def domination(groups: LevelGroups) -> Subgraphs:
    """Each label against all labels of lower levels."""
    upper = np.flatnonzero(groups.stop < groups.row_stop)
    which, member = expand_ranges(groups.start[upper], groups.stop[upper])
    group = upper[which]
    return groups.blocks(groups.row[group], (member, member + 1), (groups.stop[group], groups.row_stop[group]))


def dominated(groups: LevelGroups) -> Subgraphs:
    """All labels of higher levels against each label."""
    lower = np.flatnonzero(groups.start > groups.row_start)
    which, member = expand_ranges(groups.start[lower], groups.stop[lower])
    group = lower[which]
    return groups.blocks(groups.row[group], (groups.row_start[group], groups.start[group]), (member, member + 1))


def disagreement(groups: LevelGroups) -> Subgraphs:
    """Each edge by itself."""
    stars = domination(groups)
    star, member = expand_ranges(stars.worse_start, stars.worse_stop)
    head = stars.better_start[star]
    return groups.blocks(stars.instance[star], (head, head + 1), (member, member + 1))


def adjacent_levels(groups: LevelGroups) -> Subgraphs:
    """Each level against the next."""
    upper = np.flatnonzero(groups.stop < groups.row_stop)
    better = (groups.start[upper], groups.stop[upper])
    return groups.blocks(groups.row[upper], better, (groups.start[upper + 1], groups.stop[upper + 1]))


def all_level_pairs(groups: LevelGroups) -> Subgraphs:
    """Each level against each lower one."""
    upper = np.arange(len(groups.row))
    which, lower = expand_ranges(upper + 1, groups.group_ptr[groups.row + 1])
    better = (groups.start[which], groups.stop[which])
    return groups.blocks(groups.row[which], better, (groups.start[lower], groups.stop[lower]))
