"""Split search of the ranking trees: the best threshold of a sorted feature, or the one threshold drawn at random.

A row is a vector of pair signs, one lane for each pair a < b: S = +1 if a is before b, -1 if b is before a, 0 if
neither was observed, times the weight of the edge; it is added with the weight of the row. Where pairs can be
unobserved a second block of lanes counts the observed ones, M = |S|. A child of a split is the sum of its rows, and a
criterion is a function of these sums:

- pair Gini: the sum over pairs of S^2/M, a constant less twice the Gini impurity N_ab N_ba/(N_ab + N_ba);
- Mallows: the weight of the rows times theta, where theta is read from a table at the share of discordant pairs,
  (sum M - sum |S|)/(2 sum M): the distance to the majority in each pair.

Larger is better. What was found so far is kept in ``found``: value, threshold, whether missing values go left, 1 if the
last call improved on it, and of a sorted feature the code of the largest value that goes left.
"""

from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import overload

from labelrank._kernels.compile import kernel
from labelrank._kernels.trees.lanes import add_lanes, clear_lanes, fetch_lanes, magnitudes, square_shares, squares

_TINY = 1e-30  # makes 0/0 = 0 for a pair that nobody ordered
_BETTER = 1.0 + 5e-7  # two values that differ by the rounding of float32 are equal: the first one found is kept
_BETTER_64 = 1.0 + 1e-14
_AHEAD = 16  # rows are fetched so many steps before they are added
MISSING_CODE = 1 << 30  # code of a missing value, behind all others

# For functions that only kernels call: no entry from Python or C, whose compilation takes as long as that of a small
# function. No _nrt: no counts of references to arrays, which are atomic and which the compiler cannot always remove;
# whoever calls the outermost kernel keeps the arrays alive, and nothing is allocated within.
_INNER: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "forceinline": True,
    "_nrt": False,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}


@kernel(inline="always")
def draw(state):
    """A uniform number from [0, 1): splitmix64."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.float64(z >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@njit(**_INNER)
def theta_of(agreement, observed, n_pairs, prior, table):
    """Theta of rows with sum |S| = agreement and sum M = observed, with `prior` random rankings among them.

    table : theta at equally spaced shares of discordant pairs, from 0 to 1/2.
    """
    padded = prior * n_pairs
    at = (observed - agreement + padded) / (observed + padded + _TINY) * (table.shape[0] - 1)
    i = int(at)
    if at < 0.0:
        return table[0]
    if i >= table.shape[0] - 1:
        return table[table.shape[0] - 1]
    return table[i] + (at - i) * (table[i + 1] - table[i])


def score(
    left: Any,
    total: Any,
    w: Any,
    m: Any,
    whole_w: Any,
    whole_m: Any,
    n_pairs: Any,
    width: Any,
    complete: Any,
    prior: Any,
    table: Any,
) -> Any:
    """Value of the split with the sums `left` of weight w and m observed pairs; the node has `total`, whole_w, whole_m.

    The criterion is the pair Gini if `table` is None. That is known when it is compiled: a choice within the loop over
    thresholds makes the loop four times slower.
    """


@overload(score, jit_options=_INNER)
def _score(left, total, w, m, whole_w, whole_m, n_pairs, width, complete, prior, table):
    if isinstance(table, types.NoneType):

        def pair_gini(left, total, w, m, whole_w, whole_m, n_pairs, width, complete, prior, table):
            if complete:
                a, b = squares(left, total, width)
                rest = whole_w - w
                # Each sum is at most the weight; rounding must not make more of a side that weighs next to nothing.
                a, b = a / w, b / rest
                return (a if a < n_pairs * w else n_pairs * w) + (b if b < n_pairs * rest else n_pairs * rest)
            a, b = square_shares(left, total, width, _TINY)
            return a + b

        return pair_gini

    def mallows(left, total, w, m, whole_w, whole_m, n_pairs, width, complete, prior, table):
        a, b = magnitudes(left, total, width)
        theta_left = theta_of(a, m, n_pairs, prior, table)
        return w * theta_left + (whole_w - w) * theta_of(b, whole_m - m, n_pairs, prior, table)

    return mallows


def best_threshold(
    x, order, f, rows, first, last, state, lanes, weight, observed, categorical, min_leaf, total, whole_w, whole_m,
    n_pairs, width, complete, prior, table, left, missing, both, values, chosen, found
):  # fmt: skip
    """Try every threshold of feature f; order[f, first:last] is code * 2^32 + row, ascending.

    Returns 1 if the feature could split the node at all, else 0.
    """
    segment, n_lanes = order[f], left.shape[0]
    weighted, counted = weight.shape[0] > 1, observed.shape[0] > 1
    better = _BETTER if left.itemsize == 4 else _BETTER_64
    found[3] = 0.0
    if segment[first] >> 32 == segment[last - 1] >> 32:
        return 0
    present, lost_w, lost_m = last, 0.0, 0.0
    if segment[last - 1] >> 32 == MISSING_CODE:
        clear_lanes(missing)
        while present > first and segment[present - 1] >> 32 == MISSING_CODE:
            present -= 1
            row = segment[present] & 0xFFFFFFFF
            add_lanes(missing, lanes, row, weight[row * weighted])
            lost_w += weight[row * weighted]
            lost_m += observed[row * counted]
    clear_lanes(left)
    w, m = 0.0, 0.0
    # A side without rows can have a little weight by rounding; it is no side.
    end = present if categorical else last - 1  # at this place all rows are left
    end_both = present if categorical else present - 1
    if segment[first] >> 32 == segment[present - 1] >> 32:  # only one value is known
        end_both = first
    # The best value so far, and twice the place behind which its threshold is, + 1 if missing values go left.
    top, place = found[0], -1
    code = segment[first] >> 32
    for i in range(first, present):
        fetch_lanes(lanes, segment[i + _AHEAD if i + _AHEAD < last else i] & 0xFFFFFFFF)
        row = segment[i] & 0xFFFFFFFF
        add_lanes(left, lanes, row, weight[row * weighted])
        w += weight[row * weighted]
        m += observed[row * counted]
        here, code = code, segment[i + 1] >> 32 if i + 1 < last else -1
        if here == code:
            continue
        if i < end and w >= min_leaf and whole_w - w >= min_leaf:
            value = score(left, total, w, m, whole_w, whole_m, n_pairs, width, complete, prior, table)
            if value > top * better:
                top, place = value, 2 * i
        if present < last and i < end_both and w + lost_w >= min_leaf and whole_w - w - lost_w >= min_leaf:
            for p in range(n_lanes):
                both[p] = left[p] + missing[p]
            value = score(both, total, w + lost_w, m + lost_m, whole_w, whole_m, n_pairs, width, complete, prior, table)
            if value > top * better:
                top, place = value, 2 * i + 1
        if categorical:  # one category against the rest
            clear_lanes(left)
            w, m = 0.0, 0.0
    if place >= 0:
        at = place >> 1
        found[0], found[2], found[3], found[4] = top, place & 1, 1.0, segment[at] >> 32
        below = x[f, segment[at] & 0xFFFFFFFF]
        if categorical:
            found[1] = below
        elif at + 1 == present:
            found[1] = np.inf  # all that is not missing goes left
        else:
            above = x[f, segment[at + 1] & 0xFFFFFFFF]
            middle = 0.5 * below + 0.5 * above
            found[1] = middle if below <= middle < above else below
    return 1


def random_threshold(
    x, order, f, rows, first, last, state, lanes, weight, observed, categorical, min_leaf, total, whole_w, whole_m,
    n_pairs, width, complete, prior, table, left, missing, both, values, chosen, found
):  # fmt: skip
    """Try one threshold of feature f, drawn between the smallest and the largest value of rows[first:last].

    values, chosen : buffers for as many numbers. Returns 1 if the feature could split the node at all, else 0.
    """
    uniform = draw(state)
    n, n_lanes = last - first, left.shape[0]
    weighted, counted = weight.shape[0] > 1, observed.shape[0] > 1
    better = _BETTER if left.itemsize == 4 else _BETTER_64
    found[3] = 0.0
    low, high, n_missing = np.inf, -np.inf, 0
    for i in range(n):
        v = x[f, rows[first + i]]
        values[i] = v
        low = v if v < low else low
        high = v if v > high else high
        n_missing += v != v
    if n_missing == n or (low == high and n_missing == 0):
        return 0
    threshold = low + uniform * (high - low)
    if categorical:
        above = high
        for i in range(n):
            if threshold <= values[i] < above:
                above = values[i]
        threshold = above
    elif low == high:
        threshold = np.inf  # all that is not missing goes left
    elif threshold >= high:
        threshold = low
    # Rows of the left child from the front of `chosen`, the others from its back, without a branch.
    n_left, n_right = 0, 0
    for i in range(n):
        v = values[i]
        goes = v == threshold if categorical else v <= threshold
        chosen[n_left if goes else n - 1 - n_right] = rows[first + i]
        n_left += goes
        n_right += not goes
    # The sums of the smaller child; which of the two is left makes no difference to the value.
    clear_lanes(left)
    w, m = 0.0, 0.0
    fewer = n_left <= n_right or n_missing > 0
    for i in range(0 if fewer else n_left, n_left if fewer else n):
        row = chosen[i]
        add_lanes(left, lanes, row, weight[row * weighted])
        w += weight[row * weighted]
        m += observed[row * counted]
    if w >= min_leaf and whole_w - w >= min_leaf:
        value = score(left, total, w, m, whole_w, whole_m, n_pairs, width, complete, prior, table)
        if value > found[0] * better:
            found[0], found[1], found[2], found[3] = value, threshold, 0.0, 1.0
    if n_missing > 0:
        clear_lanes(missing)
        for i in range(n):
            if values[i] != values[i]:
                row = rows[first + i]
                add_lanes(missing, lanes, row, weight[row * weighted])
                w += weight[row * weighted]
                m += observed[row * counted]
        for p in range(n_lanes):
            both[p] = left[p] + missing[p]
        if low < high and w >= min_leaf and whole_w - w >= min_leaf:
            value = score(both, total, w, m, whole_w, whole_m, n_pairs, width, complete, prior, table)
            if value > found[0] * better:
                found[0], found[1], found[2], found[3] = value, threshold, 1.0, 1.0
    return 1


def try_feature(*arguments: Any) -> Any:
    """All thresholds of feature f if `order` has its sorted values, one at random if `order` is None."""


@overload(try_feature, jit_options=_INNER)
def _try_feature(
    x, order, f, rows, first, last, state, lanes, weight, observed, categorical, min_leaf, total, whole_w, whole_m,
    n_pairs, width, complete, prior, table, left, missing, both, values, chosen, found
):  # fmt: skip
    # Chosen when compiled, so that a tree does not wait for the compilation of the search that it does not use.
    return random_threshold if isinstance(order, types.NoneType) else best_threshold
