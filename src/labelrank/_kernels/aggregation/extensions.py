"""The sum over all extensions of an incomplete ranking, by dynamic programming over subsets."""

from __future__ import annotations

import numpy as np

from labelrank._kernels.compile import kernel


@kernel
def _bit_count(x):
    count = 0
    while x:
        x &= x - 1
        count += 1
    return count


@kernel
def log_weight_of_extensions(level, theta):
    """Logarithm of the sum of exp(-theta d) over the strict rankings that put smaller levels before larger ones.

    level : (n,) of labels in the order of the center; -1 is a missing label, equal levels are tied: both may have any
    order. Rankings are built from the top. The next label costs one for each label that is not placed yet but before it
    in the center. Labels alone at their level have a fixed order, so the state is the number of levels done and the set
    S of missing and tied labels that are already placed; f(S) is kept for one level at a time.
    """
    n = len(level)
    n_levels = 0
    for x in range(n):
        n_levels = max(n_levels, level[x] + 1)
    size = np.zeros(n_levels, np.int64)
    for x in range(n):
        if level[x] >= 0:
            size[level[x]] += 1
    # The free labels: their bits, and for every label the bits of the free ones before it in the center.
    label_of_bit, below = np.empty(n, np.int64), np.empty(n, np.int64)
    bits = 0
    for x in range(n):
        below[x] = (1 << bits) - 1
        if level[x] < 0 or size[level[x]] > 1:
            label_of_bit[bits] = x
            bits += 1
    everything = (1 << bits) - 1
    f = np.full(1 << bits, -np.inf)
    f[0] = 0.0
    ahead = np.empty(bits, np.int64)
    for now in range(n_levels + 1):
        group = 0
        for j in range(bits):  # later single labels that are before label j in the center; -1 if j is not allowed
            x = label_of_bit[j]
            if level[x] == now:
                group |= 1 << j
            ahead[j] = 0 if level[x] < 0 or level[x] == now else -1
            if ahead[j] == 0:
                for z in range(x):
                    ahead[j] += level[z] >= now and size[level[z]] == 1
        for members in range(everything + 1):
            here = f[members]
            if here == -np.inf or (group and members & group == group):
                continue  # a complete group first moves to the next level, otherwise its successors would count twice
            for j in range(bits):
                if ahead[j] >= 0 and not members >> j & 1:
                    cost = ahead[j] + _bit_count(below[label_of_bit[j]] & ~members)
                    target = members | 1 << j
                    value, other = here - theta * cost, f[target]
                    if other > value:
                        value, other = other, value
                    f[target] = value + np.log1p(np.exp(other - value))
        if now == n_levels:
            break
        if group:
            for members in range(everything + 1):
                if members & group != group:
                    f[members] = -np.inf
        else:
            x = 0
            while level[x] != now:
                x += 1
            fixed = 0
            for z in range(x):
                fixed += level[z] > now and size[level[z]] == 1
            for members in range(everything + 1):
                f[members] -= theta * (fixed + _bit_count(below[x] & ~members))
    return f[everything]
