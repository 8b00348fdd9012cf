"""Growth of one ranking tree: the queue of nodes to split, their sums, and the partition of rows and sorted features.

Nodes are numbered in the order in which they are made: a parent comes before its children, which are adjacent. Every
node owns a slice of the array of rows, and the same slice of each sorted feature. The records `sample`, `rules`,
`nodes` and `work` are those of ``labelrank.trees.data`` and ``labelrank.trees.growth``.
"""

import numpy as np

from labelrank._kernels.compile import kernel
from labelrank._kernels.trees.sparse import gather, sparse_threshold, spread
from labelrank._kernels.trees.splits import (
    BETTER,
    ROW,
    Split,
    add_row,
    best_threshold,
    draw,
    random_threshold,
    theta_of,
)

_NOTHING = 1e-12  # share of the votes in the root up to which a difference is a rounding error


@kernel(error_model="numpy")
def describe(sums, w, root, root_w, square, unit, complete, parent, balance, table, shrinkage):
    """Write the balances of a node; return its value, its impurity and whether its rows agree.

    With c = shrinkage and the balance of the parent, the balance of a target is (S + c parent) / (M + c), which for a
    pair is P(a before b) - P(b before a). If targets are labels, the last balance is that of the squares, whose sum is
    `square`; for pairs `square` is negative. The impurity is Σ 2 N_ab N_ba / (N_ab + N_ba) / (n_targets W) for the pair
    Gini, half of the mean variance for votes, and the largest possible theta minus theta for Mallows.
    """
    of_labels, n_lanes, c = square >= 0.0, sums.shape[0] // 2, shrinkage * unit
    n_targets = balance.shape[0] - of_labels
    agreement, observed, explained, left, against = 0.0, 0.0, 0.0, 0.0, 0.0
    for p in range(n_targets):
        s, e = sums[p], np.float64(parent[p])
        m, nothing = unit * w, _NOTHING * unit * root_w
        if not complete:
            m, nothing = sums[n_lanes + p], _NOTHING * root[n_lanes + p]
        agreement += abs(s)
        observed += m
        if m > nothing:
            explained += s * s / m
            left += m - s * s / m
            rest = m - abs(s) - 1e-9 * m - nothing
            against = rest if rest > against else against
            e = (s + c * e) / (m + c)
        balance[p] = e
    if of_labels:
        left = square - explained
        against = left - 1e-9 * square
        balance[n_targets] = (square + c * n_targets * parent[n_targets]) / (observed + c * n_targets)
    pure = against <= 0.0
    if table is not None:
        theta = theta_of(agreement, observed, n_targets, table)
        return w * theta, table[0] - theta, pure
    return explained, 0.0 if pure else 0.5 * left / (n_targets * unit * w), pure


@kernel
def partition(items, goes_left, buffer):
    """Move the rows that go left to the front, keeping the order on both sides; return their number."""
    ahead, behind = 0, 0
    for i in range(items.shape[0]):
        item = items[i]
        left = goes_left[item & ROW]
        items[ahead] = item
        buffer[behind] = item
        ahead += left
        behind += 1 - left
    for i in range(behind):
        items[ahead + i] = buffer[i]
    return ahead


@kernel
def mark(x, rows, categorical, threshold, missing_left, goes_left):
    """Mark the rows that go left, by the values x of a feature; return the number of missing values."""
    n_missing = 0
    for row in rows:
        v = x[row]
        goes_left[row] = v == threshold if categorical else v <= threshold
        if v != v:
            goes_left[row] = missing_left
            n_missing += 1
    return n_missing


@kernel(inline="always")
def find_split(sample, rules, table, order, values, csr, rows, state, node, nodes, work):
    """Find the best split of a node and write it to `nodes`; return whether there is one."""
    features, n_features, buffers = work.features, work.features.shape[0], work.buffers
    first, last = work.first[node], work.first[node] + nodes.n_rows[node]
    total, whole, least = work.sums[node], nodes.weight[node], rules.min_samples_leaf
    perfect = np.inf
    if table is None:  # the value of two sides that agree about all pairs, which no split can exceed
        perfect = (work.value[node] + 2 * sample.n_targets * sample.unit * nodes.impurity[node] * whole) / BETTER
    best, tried = Split(-1.0, np.nan, False), 0
    if csr is not None:
        gather(csr, rows[first:last])
    for j in range(n_features):
        if tried == rules.max_features or best.value >= perfect or work.buffers.stop[0]:
            break
        if rules.max_features < n_features:
            other = j + int(draw(state) * (n_features - j))
            features[j], features[other] = features[other], features[j]
        f, before, varies = features[j], best.value, False
        if order is not None:
            items = order[f, first:last]
            varies, best = best_threshold(sample, f, items, total, whole, table, least, buffers, best)
        if values is not None:
            uniform, inside = draw(state), rows[first:last]
            varies, best = random_threshold(
                sample, f, inside, values, uniform, total, whole, table, least, buffers, best
            )
        if csr is not None:
            uniform, n = draw(state) if rules.random else -1.0, last - first
            varies, best = sparse_threshold(sample, f, csr, n, uniform, total, whole, table, least, buffers, best)
        tried += varies
        if best.value > before:
            nodes.feature[node] = f
    nodes.threshold[node], nodes.missing_left[node] = best.threshold, best.missing_left
    work.gain[node] = best.value - work.value[node]
    return best.value >= 0.0


@kernel(inline="always")
def add_rows(sample, rows, node, nodes, work):
    """Sum rows for a node."""
    nodes.weight[node] = 0.0
    for row in rows:
        nodes.weight[node] += add_row(work.sums[node], sample.signs, sample.weight, row)
    if sample.squares.shape[0]:
        work.square[node] = 0.0
        for row in rows:
            work.square[node] += sample.weight[row if sample.weight.shape[0] > 1 else 0] * sample.squares[row]


@kernel(inline="always")
def make_children(sample, csr, rows, node, new, nodes, work):
    """Divide the rows of a node between its children `new` and `new + 1`."""
    start, n_rows, weight, sums = work.first, nodes.n_rows, nodes.weight, work.sums
    f, threshold, missing_left = nodes.feature[node], nodes.threshold[node], nodes.missing_left[node]
    inside = rows[start[node] : start[node] + n_rows[node]]
    if csr is None:
        x = sample.x[f]
    if csr is not None:
        x = csr.column
        spread(csr, f, inside)
    n_missing = mark(x, inside, sample.is_categorical[f], threshold, missing_left, work.goes_left)
    n_left = partition(inside, work.goes_left, work.buffers.items)
    nodes.left[node], nodes.right[node] = new, new + 1
    start[new], n_rows[new] = start[node], n_left
    start[new + 1], n_rows[new + 1] = start[node] + n_left, n_rows[node] - n_left
    work.depth[new] = work.depth[new + 1] = work.depth[node] + 1
    # The smaller child is summed over its rows; the other has the rest of the parent.
    fewer = new + (n_rows[new] > n_rows[new + 1])
    more = new + new + 1 - fewer
    add_rows(sample, rows[start[fewer] : start[fewer] + n_rows[fewer]], fewer, nodes, work)
    weight[more] = weight[node] - weight[fewer]
    if sample.squares.shape[0]:
        work.square[more] = max(work.square[node] - work.square[fewer], 0.0)
    for p in range(sums.shape[1]):
        sums[more, p] = sums[node, p] - sums[fewer, p]
    if n_missing == 0:  # without missing values in the node, they go to the heavier side
        nodes.missing_left[node] = weight[new] >= weight[new + 1]


@kernel(error_model="numpy")
def grow(sample, rules, table, order, values, csr, rows, state, nodes, work):
    """Grow a tree on `rows`, fill `nodes` and return their number.

    table : theta of `theta_table` for Mallows; None for other criteria. One of three is not None: order, (n_features,
    n_rows), where each row has (code of the value) * 2^32 + row in ascending order and is overwritten, to try all
    thresholds; values, a buffer, (n_rows,), to draw them; or csr, a record of sparse features. rows : (n_rows,),
    overwritten. state : (1,), of the random numbers. Growth stops once another thread sets ``work.buffers.stop[0]``.
    """
    queue, gain, sums = work.queue, work.gain, work.sums
    nodes.n_rows[0] = rows.shape[0]
    add_rows(sample, rows, 0, nodes, work)
    n_nodes, n_leaves, n_queued = 1, 1, 0
    parent, new = 0, 0  # the nodes from `new` on are the children of `parent`, or the root
    while True:
        to_split = False
        for node in range(new, n_nodes):
            w = nodes.weight[node]
            work.value[node], nodes.impurity[node], pure = describe(
                sums[node], w, sums[0], nodes.weight[0], work.square[node], sample.unit, sample.complete,
                nodes.balance[parent], nodes.balance[node], table, rules.shrinkage
            )  # fmt: skip
            small = w < rules.min_samples_split or w < 2 * rules.min_samples_leaf or nodes.n_rows[node] < 2
            work.is_leaf[node] = pure or small or work.depth[node] >= rules.max_depth
            to_split |= not work.is_leaf[node]
        if order is not None and to_split and new > 0:
            first, last = work.first[parent], work.first[parent] + nodes.n_rows[parent]
            for f in range(order.shape[0]):
                partition(order[f, first:last], work.goes_left, work.buffers.items)
        for node in range(new, n_nodes):
            if not work.is_leaf[node] and find_split(
                sample, rules, table, order, values, csr, rows, state, node, nodes, work
            ):
                queue[n_queued] = node
                n_queued += 1
        if n_queued == 0 or n_leaves == rules.max_leaf_nodes or work.buffers.stop[0]:
            break
        # Split the node that was queued last; with a limit on the leaves, the one with the largest gain.
        n_queued -= 1
        at = n_queued
        if rules.max_leaf_nodes > 0:
            for i in range(n_queued - 1, -1, -1):
                if gain[queue[i]] >= gain[queue[at]]:
                    at = i
        parent, queue[at] = queue[at], queue[n_queued]
        new, n_nodes, n_leaves = n_nodes, n_nodes + 2, n_leaves + 1
        make_children(sample, csr, rows, parent, new, nodes, work)
    for i in range(n_queued):
        leaf = queue[i]
        nodes.feature[leaf], nodes.threshold[leaf], nodes.missing_left[leaf] = -1, np.nan, False
    return n_nodes
