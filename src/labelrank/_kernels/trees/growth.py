"""Growth of one ranking tree: the queue of nodes to split, their sums, and the partition of rows and sorted features.

Nodes are numbered in the order in which they are made: a parent comes before its children, which are neighbors. Every
node owns a stretch of the array of rows, and the same stretch of each sorted feature. The records `sample`, `rules`,
`nodes` and `work` are those of ``labelrank.trees.data`` and ``labelrank.trees.growth``.
"""

import numpy as np

from labelrank._kernels.compile import kernel
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

_NOTHING = 1e-12  # share of the votes in the root that rounding can leave where nothing is left


@kernel(error_model="numpy")
def describe(sums, w, root, root_w, complete, parent, balance, table, shrinkage):
    """Write the balances of a node; return its value, its impurity and whether its rows agree about all pairs.

    With c = shrinkage and the balance of the parent, P(a before b) - P(b before a) = (S + c parent) / (M + c). The
    impurity is Σ 2 N_ab N_ba / (N_ab + N_ba) / (n_pairs W) for the pair Gini, and how much theta is below the largest
    possible for Mallows.
    """
    n_pairs, n_lanes = balance.shape[0], sums.shape[0] // 2
    agreement, observed, gini, against = 0.0, 0.0, 0.0, 0.0
    for p in range(n_pairs):
        s, e = sums[p], np.float64(parent[p])
        m, nothing = w, _NOTHING * root_w
        if not complete:
            m, nothing = sums[n_lanes + p], _NOTHING * root[n_lanes + p]
        agreement += abs(s)
        observed += m
        if m > nothing:
            gini += m - s * s / m
            rest = m - abs(s) - 1e-9 * m - nothing
            against = rest if rest > against else against
            e = (s + shrinkage * e) / (m + shrinkage)
        balance[p] = e
    pure = against <= 0.0
    if table is not None:
        theta = theta_of(agreement, observed, n_pairs, table)
        return w * theta, table[0] - theta, pure
    return observed - gini, 0.0 if pure else 0.5 * gini / (n_pairs * w), pure


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
    """Mark which rows go left, by the values x of a feature; return the number of missing values."""
    n_missing = 0
    for row in rows:
        v = x[row]
        goes_left[row] = v == threshold if categorical else v <= threshold
        if v != v:
            goes_left[row] = missing_left
            n_missing += 1
    return n_missing


@kernel(error_model="numpy")
def grow(sample, rules, table, order, values, rows, state, nodes, work):
    """Grow a tree on `rows`, fill `nodes` and return their number.

    table : theta at equally spaced shares of discordant pairs from 0 to 1/2, for Mallows; None for the pair Gini.
    order : (n_features, n_rows), each row has (code of the value) * 2^32 + row in ascending order and is overwritten;
    None if thresholds are drawn at random. values : a buffer, (n_rows,); None if features are sorted. rows : (n_rows,),
    overwritten. state : (1,), of the random numbers.
    """
    x, signs, weight, complete = sample.x, sample.signs, sample.weight, sample.complete
    sums, start, depth, gain, queue, goes_left = (
        work.sums,
        work.first,
        work.depth,
        work.gain,
        work.queue,
        work.goes_left,
    )
    node_weight, n_rows, features, n_features = nodes.weight, nodes.n_rows, work.features, x.shape[0]
    least = rules.min_samples_leaf

    n_rows[0], node_weight[0] = rows.shape[0], 0.0
    for row in rows:
        add_row(sums[0], signs, row, weight[row])
        node_weight[0] += weight[row]
    n_nodes, n_leaves, n_queued = 1, 1, 0
    parent, new = 0, 0  # the nodes from `new` on are the children of `parent`, or the root
    while True:
        to_split = False
        for node in range(new, n_nodes):
            w, before = node_weight[node], nodes.balance[parent]
            value, nodes.impurity[node], pure = describe(
                sums[node], w, sums[0], node_weight[0], complete, before, nodes.balance[node], table, rules.shrinkage
            )
            gain[node] = -value
            small = w < rules.min_samples_split or w < 2 * least or n_rows[node] < 2
            work.is_leaf[node] = pure or small or depth[node] >= rules.max_depth
            to_split |= not work.is_leaf[node]
        if order is not None and to_split and new > 0:
            for f in range(n_features):
                partition(order[f, start[parent] : start[parent] + n_rows[parent]], goes_left, work.items)
        for node in range(new, n_nodes):
            if work.is_leaf[node]:
                continue
            first, last = start[node], start[node] + n_rows[node]
            whole, perfect = node_weight[node], np.inf
            if table is None:  # the value of two sides that agree about all pairs, beyond which no split can go
                perfect = (2 * sample.n_pairs * nodes.impurity[node] * whole - gain[node]) / BETTER
            best, tried = Split(-1.0, np.nan, False), 0
            for j in range(n_features):
                if tried == rules.max_features or best.value >= perfect:
                    break
                if rules.max_features < n_features:
                    other = j + int(draw(state) * (n_features - j))
                    features[j], features[other] = features[other], features[j]
                f, before_f, varies = features[j], best.value, False
                if order is not None:
                    varies, best = best_threshold(
                        sample, f, order[f, first:last], sums[node], whole, table, least, work, best
                    )
                if values is not None:
                    uniform = draw(state)
                    varies, best = random_threshold(
                        sample, f, rows[first:last], values, uniform, sums[node], whole, table, least, work, best
                    )
                tried += varies
                if best.value > before_f:
                    nodes.feature[node] = f
            if best.value >= 0.0:
                nodes.threshold[node], nodes.missing_left[node] = best.threshold, best.missing_left
                gain[node] += best.value
                queue[n_queued] = node
                n_queued += 1
        if n_queued == 0 or n_leaves == rules.max_leaf_nodes:
            break

        # Split the node that was found last; with a limit on the leaves, the one with the largest gain.
        n_queued -= 1
        at = n_queued
        if rules.max_leaf_nodes > 0:
            for i in range(n_queued - 1, -1, -1):
                if gain[queue[i]] >= gain[queue[at]]:
                    at = i
        parent, queue[at] = queue[at], queue[n_queued]
        first, last = start[parent], start[parent] + n_rows[parent]
        f, threshold, missing_left = nodes.feature[parent], nodes.threshold[parent], nodes.missing_left[parent]
        n_missing = mark(x[f], rows[first:last], sample.is_categorical[f], threshold, missing_left, goes_left)
        n_left = partition(rows[first:last], goes_left, work.items)
        new, n_nodes, n_leaves = n_nodes, n_nodes + 2, n_leaves + 1
        nodes.left[parent], nodes.right[parent] = new, new + 1
        start[new], n_rows[new] = first, n_left
        start[new + 1], n_rows[new + 1] = first + n_left, last - first - n_left
        depth[new] = depth[new + 1] = depth[parent] + 1
        # The smaller child is summed over its rows; the other has what is left of the parent.
        fewer = new + (n_rows[new] > n_rows[new + 1])
        more = new + new + 1 - fewer
        node_weight[fewer] = 0.0
        for row in rows[start[fewer] : start[fewer] + n_rows[fewer]]:
            add_row(sums[fewer], signs, row, weight[row])
            node_weight[fewer] += weight[row]
        node_weight[more] = node_weight[parent] - node_weight[fewer]
        for p in range(sums.shape[1]):
            sums[more, p] = sums[parent, p] - sums[fewer, p]
        if n_missing == 0:  # nothing was learned about missing values: they go to the heavier side
            nodes.missing_left[parent] = node_weight[new] >= node_weight[new + 1]
    for i in range(n_queued):
        leaf = queue[i]
        nodes.feature[leaf], nodes.threshold[leaf], nodes.missing_left[leaf] = -1, np.nan, False
    return n_nodes
