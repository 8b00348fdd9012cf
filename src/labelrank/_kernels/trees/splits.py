"""Search for the split of a node: the best threshold of a sorted feature, or one threshold drawn at random.

A criterion depends on a set of rows only through sums: the weight W, and for each target a sum S and a sum M. A target
is a pair a < b of labels, with the sum S of the signs, +1 if a is before b and -1 if b is before a, and the sum M of
their absolute values; or it is a label, with the sums of these over all of its pairs. If all rankings are complete, M
is W times the `unit`, 1 or the number of other labels, for every target, and not stored. The criteria are

- pair Gini: the sum over pairs of S²/M, which is a constant minus twice the Gini impurity N_ab N_ba / (N_ab + N_ba);
- Mallows: W theta, where theta is looked up in a table by the share of discordant pairs, (ΣM - Σ|S|) / (2 ΣM), which is
  the distance to the majority in each pair;
- variance of the votes: the sum over labels of S²/M, which is a constant minus the variance.

The value of a split is the sum over its two sides; larger is better. `table` is None except for Mallows. Arrays of sums
have the S of all targets, padded with zeros, then the M of all targets, padded likewise.
"""

import math
from typing import NamedTuple

import numpy as np

from labelrank._kernels.compile import kernel

ROW = 0xFFFFFFFF  # bits of a sorted item with its row; the higher bits are the code of its value
MISSING = 1 << 30  # code of a missing value, larger than all others
BETTER = 1.0 + 1e-12  # smaller improvements are rounding errors, and the first split found is kept
_FAST = {"contract", "reassoc", "nsz"}  # sums over pairs in any order, so that they are vectorized
_LOOK = 0xFFFF  # rows between two checks whether to stop, minus 1
_PRIOR = 1.0  # random rankings added to the rows of a side, so that theta of a single row is finite


class Split(NamedTuple):
    """A split of a node."""

    value: float  # of the criterion, larger is better
    threshold: float
    missing_left: bool


@kernel(inline="always")
def draw(state):
    """Draw a uniform number from [0, 1) by splitmix64."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.float64(z >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@kernel(fastmath=False)  # otherwise inherited from the caller, which would change the rounding of thresholds
def midpoint(low, high):
    """Midpoint of two numbers, below the larger one even after rounding."""
    middle = 0.5 * low + 0.5 * high
    return middle if low <= middle < high else low


@kernel(fastmath=False)
def between(low, high, share):
    """Number at a relative position between two numbers, below the larger one even after rounding."""
    at = low + share * (high - low)
    return at if at < high else low


@kernel(inline="always")
def add_row(sums, signs, weight, row):
    """Add a row to sums and return its weight; an array with a single weight is for all rows."""
    w = weight[row if weight.shape[0] > 1 else 0]
    for p in range(sums.shape[0]):
        sums[p] += w * signs[row, p]
    return w


@kernel(error_model="numpy")
def theta_of(agreement, observed, n_targets, table):
    """Theta of rows with Σ|S| = agreement and ΣM = observed."""
    prior = _PRIOR * max(n_targets, 1)
    share = (observed - agreement + prior) / (observed + prior)
    if share < 0.0:
        return table[0]
    at = math.sqrt(math.sqrt(share)) * (table.shape[0] - 1)
    i = int(at)
    if i >= table.shape[0] - 1:
        return table[-1]
    return table[i] + (at - i) * (table[i + 1] - table[i])


@kernel(inline="always")
def value_of(left, w, total, whole, sample, table):
    """Value of the split of the sums `total` with weight `whole` into `left` with weight w and the rest."""
    complete, n_targets, unit = sample.complete, sample.n_targets, sample.unit
    n_lanes = left.shape[0] if complete else left.shape[0] // 2
    a, b, rest = 0.0, 0.0, whole - w
    m, o = n_targets * unit * w, n_targets * unit * rest
    if table is not None:
        for p in range(n_lanes):
            a += abs(left[p])
            b += abs(total[p] - left[p])
        if not complete:
            m, o = 0.0, 0.0
            for p in range(n_lanes, 2 * n_lanes):
                m += left[p]
                o += total[p] - left[p]
        return w * theta_of(a, m, n_targets, table) + rest * theta_of(b, o, n_targets, table)
    # |S| <= M, except for rounding errors on a side of tiny weight.
    if complete:
        for p in range(n_lanes):
            s = left[p]
            r = total[p] - s
            a += s * s
            b += r * r
        return min(a / (unit * w), m) + min(b / (unit * rest), o)
    for p in range(n_lanes):
        s, m = left[p], left[n_lanes + p]
        r, o = total[p] - s, total[n_lanes + p] - m
        a += (s * s if s * s < m * m else m * m) / m if m > 0.0 else 0.0
        b += (r * r if r * r < o * o else o * o) / o if o > 0.0 else 0.0
    return a + b


@kernel(error_model="numpy", fastmath=_FAST)
def best_threshold(sample, f, items, total, whole, table, least, buffers, best):
    """Try all thresholds of feature f, with a weight of at least `least` on both sides; `items` are its sorted values.

    Returns whether the feature has more than one value, and the best of `best` and the splits found.
    """
    signs, weight, start, left, n = sample.signs, sample.weight, buffers.start, buffers.left, items.shape[0]
    if items[0] >> 32 == items[-1] >> 32:
        return False, best
    known = n
    while items[known - 1] >> 32 == MISSING:
        known -= 1
    categorical = sample.is_categorical[f]
    one_value = items[0] >> 32 == items[known - 1] >> 32
    value, at, missing_left = best.value, -1, False
    start[:] = 0.0
    start_w = 0.0
    for with_missing in range(2 if known < n and not one_value else 1):
        for i in range(known, n if with_missing else known):
            start_w += add_row(start, signs, weight, items[i] & ROW)
        for p in range(start.shape[0]):
            left[p] = start[p]
        w = start_w
        for i in range(known):
            if i & _LOOK == 0 and buffers.stop[0]:
                return False, best
            w += add_row(left, signs, weight, items[i] & ROW)
            if i + 1 < n and items[i] >> 32 == items[i + 1] >> 32:
                continue
            # Rows tell whether a side is empty: its weight is not always 0, because of rounding.
            full = i + 1 == known and not categorical and (with_missing or known == n)
            if not full and w >= least and whole - w >= least:
                found = value_of(left, w, total, whole, sample, table)
                if found > value * BETTER:
                    value, at, missing_left = found, i, with_missing == 1
            if categorical:  # one category against the rest
                for p in range(start.shape[0]):
                    left[p] = start[p]
                w = start_w
    if at < 0:
        return True, best
    threshold = sample.x[f, items[at] & ROW]
    if not categorical:
        if at + 1 == known:
            threshold = np.inf  # known values go left, missing ones right
        else:
            threshold = midpoint(threshold, sample.x[f, items[at + 1] & ROW])
    return True, Split(value, threshold, missing_left)


@kernel(error_model="numpy", fastmath=_FAST)
def random_threshold(sample, f, rows, values, uniform, total, whole, table, least, buffers, best):
    """Try one threshold of feature f, at the relative position `uniform` between its smallest and largest value.

    `values` is a buffer. Returns whether the feature has more than one value, and the better of `best` and the split.
    """
    signs, weight, x, n = sample.signs, sample.weight, sample.x, rows.shape[0]
    left, chosen = buffers.left, buffers.items
    low, high, n_missing = np.inf, -np.inf, 0
    for i in range(n):
        v = x[f, rows[i]]
        values[i] = v
        low = v if v < low else low
        high = v if v > high else high
        n_missing += v != v
    if n_missing == n or (low == high and n_missing == 0):
        return False, best
    categorical = sample.is_categorical[f]
    threshold = between(low, high, uniform)
    if categorical:
        above = high
        for i in range(n):
            if threshold <= values[i] < above:
                above = values[i]
        threshold = above
    elif low == high:
        threshold = np.inf  # known values go left, missing ones right
    # The rows of the left side at the front of `chosen`, the others at the back, without branches.
    n_left, n_right = 0, 0
    for i in range(n):
        v = values[i]
        goes_left = v == threshold if categorical else v <= threshold
        chosen[n_left if goes_left else n - 1 - n_right] = rows[i]
        n_left += goes_left
        n_right += not goes_left
    # The value does not depend on which side is summed, unless missing values are added to the left one.
    first, last = (0, n_left) if n_left <= n_right or n_missing > 0 else (n_left, n)
    left[:] = 0.0
    w = 0.0
    for i in range(first, last):
        w += add_row(left, signs, weight, chosen[i])
    for with_missing in range(2 if n_missing > 0 and low < high else 1):
        for i in range(n if with_missing else 0):
            if values[i] != values[i]:
                w += add_row(left, signs, weight, rows[i])
        if w >= least and whole - w >= least:
            value = value_of(left, w, total, whole, sample, table)
            if value > best.value * BETTER:
                best = Split(value, threshold, with_missing == 1)
    return True, best
